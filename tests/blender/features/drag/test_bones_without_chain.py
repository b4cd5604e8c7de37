# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains of bones that no settings describe."""

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_leg

from ik2d_addon.core import IK2DError
from ik2d_addon.features.drag.bones_without_chain import loose_chain, usual_count


def test_bones_are_taken_as_far_as_they_go_on_end_to_end():
    armature = add_armature(
        {
            "root": ((0, 0, 0), (0, 0, 1), "", 0.0),
            "far": ((0, 0, 1.2), (0, 0, 2), "root", 0.0),
            "next": ((0, 0, 2), (0.1, 0, 3), "far", 0.0),
            "last": ((0.1, 0, 3), (0, 0, 4), "next", 0.0),
        }
    )
    assert [usual_count(armature, name) for name in ("root", "far", "next", "last")] == [1, 1, 2, 3]


def test_bones_stop_where_others_branch_off():
    armature = add_armature(
        {
            "spine": ((0, 0, 0), (0, 0, 1), "", 0.0),
            "arm.L": ((0, 0, 1), (1, 0, 1), "spine", 0.0),
            "arm.R": ((0, 0, 1), (-1, 0, 1), "spine", 0.0),
            "hand.L": ((1, 0, 1), (1.5, 0.1, 1), "arm.L", 0.0),
        }
    )
    assert usual_count(armature, "hand.L") == 2


def test_two_bones_are_solved_as_two_and_more_go_on_from_their_pose():
    armature = add_leg()
    assert loose_chain(bpy.context.scene, armature, "shin", 2).settings.solver == 'TWO_BONE'
    rig = loose_chain(bpy.context.scene, armature, "shin", 3)
    assert rig.has_memory and rig.bones == ("body", "thigh", "shin")


def test_blenders_own_limits_hold_and_are_widened_to_the_pose():
    armature = add_armature(
        {"upper": ((0, 0, 0), (0, 0, 1), "", 0.0), "fore": ((0, 0, 1), (0, 0.1, 2), "upper", 0.0)}
    )
    bone = armature.pose.bones["fore"]  # its X lies across the plane x = 0
    bone.rotation_mode = 'XYZ'
    bone.use_ik_limit_x, bone.ik_min_x, bone.ik_max_x = True, -0.1, 0.2
    limits = loose_chain(bpy.context.scene, armature, "fore", 2).joints.limits
    assert np.isnan(limits[0]).all() and np.ptp(limits[1]) == pytest.approx(0.3)
    bone.rotation_euler.x = 0.5
    bpy.context.view_layer.update()
    wider = loose_chain(bpy.context.scene, armature, "fore", 2).joints.limits
    assert np.ptp(wider[1]) == pytest.approx(0.6)


def test_one_bone_alone_turns_in_the_plane_of_those_above():
    armature = add_leg()  # in the plane x = 0, its bones rolled
    rig = loose_chain(bpy.context.scene, armature, "shin", 1)
    assert abs(rig.plane.normal[0]) > 1.0 - 1e-6
    straight = add_armature({"bone": ((0, 0, 0), (0, 0, 1), "", 0.0)}, "Other")
    assert loose_chain(bpy.context.scene, straight, "bone", 1).remarks.plane == "first bone's X"


def test_more_bones_than_there_are_is_refused():
    with pytest.raises(IK2DError, match="asks for 4 bones"):
        loose_chain(bpy.context.scene, add_leg(), "shin", 4)
