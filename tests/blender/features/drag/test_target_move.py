# SPDX-License-Identifier: GPL-3.0-or-later
"""Moving a target by hand."""

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_target, evaluated_place

from ik2d_addon.features.drag.target_move import TargetMove


def moved_by(target, subtarget, by):
    """Move a target; return by how much it went in the world."""
    before = evaluated_place(target, subtarget)
    move = TargetMove.of(target, subtarget, np.array(before))
    move.to(np.array(before) + by)
    bpy.context.view_layer.update()
    went = np.array(evaluated_place(target, subtarget) - before)
    move.put_back()
    bpy.context.view_layer.update()
    assert evaluated_place(target, subtarget) == before
    return went


@pytest.mark.parametrize("location_is_local", [True, False])
def test_a_bone_goes_where_it_is_sent_whatever_holds_it(location_is_local):
    armature = add_armature(
        {
            "root": ((0, 0, 0), (0.3, 0.5, 0.2), "", 0.3),
            "ctrl": ((1, 0.2, 0.3), (0, 0.5, 0.3), "root", 0.8),
        }
    )
    armature.rotation_euler, armature.scale = (0.3, 0.2, 0.1), (2.0, 1.0, 0.5)
    armature.data.bones["ctrl"].use_local_location = location_is_local
    armature.pose.bones["root"].rotation_mode = 'XYZ'
    armature.pose.bones["root"].rotation_euler = (0.4, 0.5, 0.6)
    bpy.context.view_layer.update()
    by = (0.3, -0.2, 0.5)
    assert np.abs(moved_by(armature, "ctrl", by) - by).max() < 1e-5


def test_an_object_goes_where_it_is_sent_under_a_parent_and_with_a_delta():
    target, parent = add_target({}), add_target({}, "Parent")
    parent.rotation_euler, parent.scale = (0.3, 0.2, 0.1), (2.0, 1.0, 0.5)
    target.parent, target.delta_location = parent, (1, 2, 3)
    bpy.context.view_layer.update()
    by = (0.3, -0.2, 0.5)
    assert np.abs(moved_by(target, "", by) - by).max() < 1e-5


def test_what_is_scaled_to_nothing_cannot_be_moved():
    target, parent = add_target({}), add_target({}, "Parent")
    target.parent, parent.scale = parent, (0, 1, 1)
    bpy.context.view_layer.update()
    assert TargetMove.of(target, "", np.zeros(3)) is None
