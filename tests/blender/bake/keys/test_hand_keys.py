# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles of hands: only where automatic ones miss, through what is known between frames."""

import numpy as np
import pytest
from rigs import add_leg

from ik2d_addon.bake.keys.hand_keys import ANGLE_MISSED, _with_handles
from ik2d_addon.bake.keys.handles import played_between
from ik2d_addon.rig.animation.bone_channels import BoneRotation


def test_handles_lead_through_what_lies_between_only_where_it_is_known_and_off_by_more():
    armature = add_leg()
    armature.pose.bones["shin"].rotation_mode = 'XYZ'
    values = np.zeros((17, 3))  # frames, and quarters between them
    for middle, most in ((6, 0.1), (10, 0.5 * ANGLE_MISSED), (14, 0.1)):
        values[middle - 1 : middle + 2, 0] = 0.75 * most, most, 0.75 * most
    rotation = BoneRotation("shin", "rotation_euler", values)
    found = _with_handles(armature, rotation, np.array([True, True, True, False]))
    assert (found.values == values[::4]).all()
    assert (~np.isnan(found.handles[1, :, 0])).tolist() == [False, True, False, False, False]
    assert played_between(found, 0.5)[1] == pytest.approx(values[6])
    assert played_between(found, 0.25)[1] == pytest.approx(values[5])
    steady = BoneRotation("shin", "rotation_euler", np.zeros((9, 3)))
    assert _with_handles(armature, steady, np.ones(2, bool)).handles is None


def test_an_axis_that_flips_near_no_rotation_takes_no_worse_handles_than_a_parabola():
    armature = add_leg()
    armature.pose.bones["shin"].rotation_mode = 'AXIS_ANGLE'
    values = np.column_stack((np.full(9, 1e-3), *np.eye(3)[np.arange(9) % 3].T))
    values[:, 0] = 0.5, 0.3, 0.1, 0.01, 0.001, 0.01, 0.1, 0.3, 0.5
    found = _with_handles(armature, BoneRotation("shin", "rotation_axis_angle", values), np.ones(2, bool))
    assert played_between(found, 0.5) == pytest.approx(values[2::4])
