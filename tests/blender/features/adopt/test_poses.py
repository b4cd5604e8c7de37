# SPDX-License-Identifier: GPL-3.0-or-later
"""How bones stand over the frames, as Blender evaluates them."""

import bpy
import numpy as np
import pytest
from ik_rigs import from_the_tip, leg_with_foot
from rigs import add_target, evaluated_place, evaluated_tip

from ik2d_addon.features.adopt.poses import frames_of, watched


def test_joints_and_targets_are_where_blender_has_them():
    armature = from_the_tip()
    armature.location = (0.3, 0.1, -0.2)
    target = armature.pose.bones["shin"].constraints[0].target
    seen = watched(bpy.context.scene, armature, [["thigh", "shin"]], [(target, "")], [1, 7, 20])
    joints = seen.joints(armature, ["thigh", "shin"])
    for row, frame in enumerate((1, 7, 20)):
        bpy.context.scene.frame_set(frame)
        for i, bone in enumerate(("thigh", "shin")):
            place = np.array(armature.matrix_world) @ (*joints[row, i + 1], 1.0)
            assert place[:3] == pytest.approx(tuple(evaluated_tip(armature, bone)), abs=1e-5)
        assert seen.targets[target, ""][row] == pytest.approx(tuple(evaluated_place(target)), abs=1e-6)
    assert "body" in seen.poses  # the bone above


def test_the_frames_are_those_of_all_actions_that_matter():
    armature = from_the_tip()
    target = armature.pose.bones["shin"].constraints[0].target
    add_target({-50: (0, 0, 0), 900: (1, 0, 0)}, "Unrelated")
    assert frames_of(bpy.context.scene, armature, [target]) == list(range(1, 21))
    armature.pose.bones["body"].keyframe_insert("location", frame=-3)
    assert frames_of(bpy.context.scene, armature, [target]) == list(range(-3, 21))


def test_without_animation_it_is_the_frame_that_is_shown():
    bpy.context.scene.frame_set(12)
    assert frames_of(bpy.context.scene, leg_with_foot(), []) == [12]


def test_of_a_long_action_some_frames_are_looked_at():
    armature = from_the_tip()
    found = frames_of(bpy.context.scene, armature, [armature.pose.bones["shin"].constraints[0].target], 10)
    assert found == [*range(1, 20, 2), 20]
