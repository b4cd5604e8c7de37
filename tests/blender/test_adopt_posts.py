# SPDX-License-Identifier: GPL-3.0-or-later
"""IK with locks that leave a post and hinges is adopted as a chain whose plane turns about that post."""

from math import radians

import bpy
import numpy as np
import pytest
from faulty_posts import arm_on_a_plate, inherits_none
from ik_rigs import add_ik
from post_rigs import FRAMES, robot_arm, turret
from rigs import add_target
from snapshots import differences
from test_bad_posts import REACH, worst
from whole_rig import whole_rig

from ik2d_addon.bake import bake
from ik2d_addon.features.adopt.adopt import adopt, plan_adoption
from ik2d_addon.features.adopt.difference import differences as foreseen
from ik2d_addon.rig.chain.chain import read_chain

FIRST, LAST = FRAMES[0], FRAMES[-1]


def with_ik(make=robot_arm, count=3, **settings):
    """Return a robot arm that Blender's IK moves, in Pose Mode."""
    armature, chain = make()
    target = chain.target
    armature.ik2d.chains.clear()
    add_ik(armature, "lower", target, count, iterations=500, **settings)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FIRST, LAST
    bpy.context.scene.frame_set(FIRST)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='POSE')
    return armature


def posed(armature, *names):
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(shown.pose.bones[name].matrix) for name in names])
    return np.array(found)


@pytest.mark.parametrize("made", [(robot_arm, 3), (arm_on_a_plate, 4), (arm_on_a_plate, 0)])
def test_a_robot_arm_is_adopted_with_its_post_and_baked_to_its_targets(made, capfd):
    make, count = made
    armature = with_ik(make, count)
    bones = ["base", "upper", "lower"]
    before = posed(armature, *bones)
    assert bpy.ops.ik2d.adopt(all=True) == {'FINISHED'}
    (chain,) = armature.ik2d.chains
    assert (chain.plane, chain.post, chain.post_axis, chain.bone_count) == ('POST', "base", 'Y', 2)
    said = "its plane turns about the Y axis of 'base', which IK locks leave it"
    assert said in chain.adopted.carried.splitlines() and said in capfd.readouterr().out
    assert not chain.adopted.lost and chain.adopted.joint < 2e-4 * REACH and chain.adopted.part < 2e-4
    assert bake(armature, None, FIRST, LAST).all_reached
    assert worst(armature, chain) < 2e-6
    assert np.abs(posed(armature, *bones) - before).max() < 2e-3  # of the IK itself


@pytest.mark.parametrize("make", [robot_arm, arm_on_a_plate])
def test_restored_it_is_the_same_to_the_bit(make):
    armature = with_ik(make, 0)
    armature.pose.bones["base"].rotation_mode = 'XYZ'
    bpy.context.view_layer.update()
    before = whole_rig(armature)
    assert bpy.ops.ik2d.adopt(all=True) == {'FINISHED'}
    assert differences(before, whole_rig(armature))
    bpy.context.scene.frame_set(7)
    bpy.context.scene.frame_set(1)
    assert bpy.ops.ik2d.release() == {'FINISHED'}
    bpy.context.view_layer.update()
    assert not differences(before, whole_rig(armature))


def test_what_the_dialog_foresees_changes_nothing():
    armature = with_ik()
    bpy.context.view_layer.update()
    before = whole_rig(armature)
    adoption = plan_adoption(armature, bpy.context.scene, None)
    (found,) = foreseen(adoption, bpy.context.scene).values()
    assert any("'base'" in line for line in found.carried) and found.part < 2e-4
    changed = differences(before, whole_rig(armature))
    rounded = ("/object/bound_box", "/object/dimensions")  # by the IK, from the pose before
    assert not [line for line in changed if not line.startswith(rounded)]


def test_ik_limits_of_the_post_are_its_limits():
    armature = with_ik()
    base = armature.pose.bones["base"]
    base.use_ik_limit_y, base.ik_min_y, base.ik_max_y = True, radians(-110.0), radians(60.0)
    before = posed(armature, "base", "upper", "lower")
    bpy.ops.ik2d.adopt(all=True)
    (chain,) = armature.ik2d.chains
    assert chain.use_post_limit
    assert [chain.post_limit_min, chain.post_limit_max] == pytest.approx([base.ik_min_y, base.ik_max_y])
    assert "limits of 'base'" in chain.adopted.carried.splitlines()
    bake(armature, None, FIRST, LAST)
    assert np.abs(posed(armature, "base", "upper", "lower") - before).max() < 0.02


def test_stiffness_of_the_post_is_told_to_be_lost():
    armature = with_ik()
    armature.pose.bones["base"].ik_stiffness_y = 0.5
    bpy.ops.ik2d.adopt(all=True)
    (chain,) = armature.ik2d.chains
    assert "stiffness of 'base', which turns as far as the plane needs" in chain.adopted.lost.splitlines()


def test_a_post_that_another_chain_turns_is_left_to_it():
    armature = with_ik(arm_on_a_plate, 4)
    chain = armature.ik2d.chains.add()
    chain.name, chain.tip, chain.bone_count = "stick", "stick", 1
    chain.target = add_target({1: (0, 1.0, 1.0)}, "Other")
    chain.plane, chain.post, chain.post_axis = 'POST', "base", 'Y'
    bpy.ops.ik2d.adopt(all=True)
    adopted = armature.ik2d.chains["lower"]
    assert adopted.plane != 'POST' and not adopted.post and adopted.bone_count == 2
    assert "it begins below 'base', which another chain moves" in adopted.adopted.carried.splitlines()


def test_ik_with_a_pole_or_without_locks_is_adopted_as_it_was():
    armature = with_ik(pole_target=add_target({1: (0.2, -2.0, 1.0)}, "Pole"))
    bpy.ops.ik2d.adopt(all=True)
    assert armature.ik2d.chains[0].plane != 'POST' and armature.ik2d.chains[0].bone_count == 3
    bpy.ops.object.mode_set(mode='OBJECT')
    armature = with_ik(lambda: robot_arm(locked=False))
    bpy.ops.ik2d.adopt(all=True)
    assert armature.ik2d.chains[0].plane != 'POST' and armature.ik2d.chains[0].bone_count == 3


def test_an_arm_of_three_hinges_keeps_its_hands_angle_to_the_target():
    armature = with_ik(arm_of_three, 4, use_rotation=True)
    bpy.ops.ik2d.adopt(all=True)
    (chain,) = armature.ik2d.chains
    assert (chain.plane, chain.post, chain.bone_count) == ('POST', "base", 3)
    assert chain.tip_rotation == 'TARGET'
    bake(armature, None, FIRST, LAST)
    assert worst(armature, chain) < 2e-6


def arm_of_three():
    """Add the robot arm with one more hinge, below its base."""
    armature, chain = robot_arm()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    bones = armature.data.edit_bones
    low = bones.new("low")
    low.head, low.tail, low.parent = (0, 0, 0.3), (0.1, 0, 0.7), bones["base"]
    low.align_roll((0, 1, 0))
    bones["upper"].use_connect = False
    bones["upper"].head, bones["upper"].parent = (0.1, 0, 0.7), low
    bones["upper"].align_roll((0, 1, 0))
    bpy.ops.object.mode_set(mode='OBJECT')
    for axis, letter in enumerate("xyz"):
        armature.pose.bones["low"].lock_rotation[axis] = axis != 2
        setattr(armature.pose.bones["low"], f"lock_ik_{letter}", axis != 2)
    return armature, chain


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 40))]
)
def test_a_turret_of_any_build_is_adopted_and_baked_to_its_targets(seed):
    made = turret(seed)
    armature = made.armature
    normal = read_chain(armature, made.add_chain()).plane.normal
    armature.ik2d.chains.clear()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    for name in made.bones:
        armature.data.edit_bones[name].align_roll(normal)
    bpy.ops.object.mode_set(mode='OBJECT')
    frees = {"post": made.axis, **dict.fromkeys(made.bones, 2)}
    for bone in armature.pose.bones:
        for axis, letter in enumerate("xyz"):
            setattr(bone, f"lock_ik_{letter}", bone.name != "mover" and axis != frees.get(bone.name))
    add_ik(armature, made.bones[-1], made.target, 1 + made.between + len(made.bones), iterations=500)
    bpy.context.view_layer.update()
    adopt(armature)
    (chain,) = armature.ik2d.chains
    found = chain.plane, chain.post, chain.post_axis, chain.bone_count
    assert found == ('POST', "post", "XYZ"[made.axis], len(made.bones))
    assert not chain.adopted.lost  # what turns between and the post's other axes stay as they are
    bake(armature, None, FIRST, LAST)
    assert made.miss(*FRAMES) < 2e-5


def test_a_plate_that_does_not_turn_along_leaves_the_arm_as_it_was():
    armature = with_ik(arm_on_a_plate, 4)
    inherits_none("plate")(armature, None)
    bpy.ops.ik2d.adopt(all=True)
    (chain,) = armature.ik2d.chains
    assert chain.plane != 'POST' and chain.bone_count == 4
