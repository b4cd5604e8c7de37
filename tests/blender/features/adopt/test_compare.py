# SPDX-License-Identifier: GPL-3.0-or-later
"""How far chains pose their bones from how they stood; nothing is left behind."""

import bpy
import numpy as np
import pytest
from ik_rigs import from_the_tip
from rigs import add_chain, add_target, leg_with_target
from snapshots import differences, everything

from ik2d_addon.core import IK2DError
from ik2d_addon.features.adopt.compare import compare_each
from ik2d_addon.features.adopt.poses import watched

BONES = ("thigh", "shin")


def test_a_pose_at_rest_is_as_far_as_the_bones_turn():
    armature, _ = leg_with_target()
    seen = watched(bpy.context.scene, armature, [BONES], [], [1, 20, 40])
    before = everything()
    found = compare_each(armature, {"shin": BONES}, seen)["shin"]
    assert not differences(before, everything())
    bpy.ops.ik2d.bake(frame_start=1, frame_end=40)
    angles, tips = {}, {}
    for frame in (1, 20, 40):
        bpy.context.scene.frame_set(frame)
        for name in BONES:
            bone = armature.pose.bones[name]
            rest = bone.bone.matrix_local.to_quaternion()
            angles[name, frame] = rest.rotation_difference(bone.matrix.to_quaternion()).angle
        tips[frame] = (armature.pose.bones["shin"].tail - armature.data.bones["shin"].tail_local).length
    assert found.angle == pytest.approx(max(angles.values()), abs=1e-4)
    assert (found.bone, found.angle_frame) == max(angles, key=angles.get)
    assert found.tip == pytest.approx(max(tips.values()), abs=1e-5)
    assert found.tip_frame == max(tips, key=tips.get)


def test_ik_that_the_chain_repeats_is_next_to_nothing_away():
    armature = from_the_tip()
    constraint = armature.pose.bones["shin"].constraints[0]
    add_chain(armature, "shin", constraint.target)
    seen = watched(bpy.context.scene, armature, [BONES], [], range(1, 21))
    constraint.mute = True
    found = compare_each(armature, {"shin": BONES}, seen)["shin"]
    assert np.degrees(found.angle) < 0.1 and found.tip < 1e-3


def test_a_faulty_chain_says_why_and_others_are_compared():
    armature = from_the_tip()
    seen = watched(bpy.context.scene, armature, [BONES, ("foot",)], [], [1])
    target = add_target({1: (0, 0, 0)})
    add_chain(armature, "shin", target, bone_count=9)
    add_chain(armature, "foot", target, bone_count=1)
    found = compare_each(armature, {"shin": BONES, "foot": ("foot",)}, seen)
    assert isinstance(found["shin"], IK2DError) and "9 bones" in str(found["shin"])
    assert not isinstance(found["foot"], IK2DError)  # which others do not spoil


def test_a_pole_that_is_the_target_leaves_nothing_to_compare_with():
    armature = from_the_tip()
    constraint = armature.pose.bones["shin"].constraints[0]
    constraint.pole_target = constraint.target
    bpy.context.view_layer.objects.active = armature
    assert bpy.ops.ik2d.adopt(all=True) == {'FINISHED'}
    apart = armature.ik2d.chains[0].adopted.apart
    assert apart == "not compared with the IK: it leaves bone 'thigh' no orientation at frame 1"
