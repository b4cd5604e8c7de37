# SPDX-License-Identifier: GPL-3.0-or-later
"""Few keys for a bone's rotation: cubics that stay within an angle of it."""

import numpy as np
import pytest
from rigs import add_leg

from ik2d_addon.bake.keys.hand_keys import ASTRAY, _between, _TurnCubics, _with_handles, _woven
from ik2d_addon.bake.keys.handles import halves
from ik2d_addon.bake.keys.keying import KeyPlan, fewest, handles_of, keyed_at
from ik2d_addon.rig.animation.bone_channels import BoneRotation, matrices
from ik2d_addon.rig.pose.hand_rotations import angles_between
from ik2d_addon.rig.scene.samples import finished

TIMES = np.arange(0.0, 40.5, 0.5)


def swaying(mode: str) -> np.ndarray:
    """Return the channels of a rotation that sways about two axes."""
    angles = np.column_stack((np.sin(TIMES / 5.0), 0.4 * np.cos(TIMES / 7.0), 0.1 * TIMES / 40.0))
    if mode == 'XYZ':
        return angles
    quaternions = np.column_stack((np.ones(len(TIMES)), 0.5 * angles))
    return quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)


@pytest.mark.parametrize("mode", ['XYZ', 'QUATERNION'])
@pytest.mark.parametrize("bound", [0.03, 0.001])
def test_what_is_played_stays_within_the_angle(mode, bound):
    channels = swaying(mode)
    candidates = list(range(0, len(TIMES), 2))
    rows, slopes = finished(fewest(_TurnCubics(TIMES, channels, mode), candidates, bound))
    assert 3 < len(rows) < len(candidates) / 2
    plan = KeyPlan(TIMES[::2].tolist(), TIMES.tolist(), bound)
    rotation = keyed_at(BoneRotation("hand", "", channels), plan, rows)
    few = BoneRotation(
        "hand", "", rotation.values, "", None, rotation.frames, handles_of(rotation.values, slopes)
    )
    played = _between(plan, few)
    assert played[rows] == pytest.approx(channels[rows])
    assert angles_between(matrices(mode, played), matrices(mode, channels)).max() <= bound


def test_a_smaller_angle_takes_more_keys():
    cubics, candidates = _TurnCubics(TIMES, swaying('XYZ'), 'XYZ'), list(range(len(TIMES)))
    counts = [len(finished(fewest(cubics, candidates, bound))[0]) for bound in (0.1, 0.01, 0.001)]
    assert counts == sorted(counts) and counts[0] < counts[-1]


def test_handles_lead_through_what_lies_between_only_where_it_is_known_and_astray():
    armature = add_leg()
    armature.pose.bones["shin"].rotation_mode = 'XYZ'
    values = np.zeros((9, 3))  # frames, and halves between them
    values[[3, 5, 7], 0] = 0.1, 0.5 * ASTRAY, 0.1
    rotation = BoneRotation("shin", "rotation_euler", values)
    found = _with_handles(armature, rotation, np.array([True, True, True, False]))
    assert (found.values == values[::2]).all()
    assert (~np.isnan(found.handles[1, :, 0])).tolist() == [False, True, False, False, False]
    assert halves(found)[1] == pytest.approx(values[3])
    assert (_woven(values[::2], values[1::2]) == values).all()
    steady = BoneRotation("shin", "rotation_euler", np.zeros((5, 3)))
    assert _with_handles(armature, steady, np.ones(2, bool)).handles is None
