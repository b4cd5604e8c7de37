# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps a chain with a post from being native, in words."""

import bpy
import pytest
from mathutils import Quaternion
from post_rigs import FRAMES, robot_arm, turret
from rigs import add_target
from snapshots import differences, everything

from ik2d_addon.core import IK2DError
from ik2d_addon.features.native import make_native


def tower():
    """Return a robot arm with a bone between its base and its first bone."""
    armature, chain = robot_arm()
    bpy.ops.object.mode_set(mode='EDIT')
    edit = armature.data.edit_bones
    mid = edit.new("mid")
    mid.head, mid.tail, mid.parent = (0, 0, 0.3), (0, 0.1, 0.3), edit["base"]
    edit["upper"].use_connect, edit["upper"].parent = False, mid
    bpy.ops.object.mode_set(mode='OBJECT')
    for bone in armature.pose.bones:
        bone.rotation_mode = 'XYZ'
    armature.pose.bones["base"].lock_rotation = (False, False, False)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES[0], FRAMES[-1]
    return armature, chain


def keyed(bone, name, values, frames=(1, 9)):
    for frame, value in zip(frames, values, strict=True):
        setattr(bone, name, value)
        bone.keyframe_insert(name, frame=frame)


def keys_between(armature, chain):
    keyed(armature.pose.bones["mid"], "rotation_euler", [(0, 0, 0), (0.1, 0, 0)])


def driver_between(armature, chain):
    armature.pose.bones["mid"].driver_add("location", 1).driver.expression = "frame*0.01"


def constraint_between(armature, chain):
    constraint = armature.pose.bones["mid"].constraints.new('COPY_ROTATION')
    constraint.target = add_target({1: (0, 0, 0)}, "Knob")
    constraint.owner_space = constraint.target_space = 'LOCAL'


def other_angle(armature, chain):
    keyed(armature.pose.bones["base"], "rotation_euler", [(0.1, 0, 0), (0.2, 0, 0)])


def driven_location(armature, chain):
    armature.pose.bones["base"].driver_add("location", 0).driver.expression = "frame*0.01"


def keyed_scale(armature, chain):
    keyed(armature.pose.bones["base"], "scale", [(1, 1, 1), (1.1, 1.1, 1.1)])


def mirrored(armature, chain):
    armature.pose.bones["base"].scale = (-1.0, 1.0, 1.0)


def its_own_constraint(armature, chain):
    held = armature.pose.bones["base"].constraints.new('CHILD_OF')
    held.target = chain.target


def tilting_quaternion(armature, chain):
    base = armature.pose.bones["base"]
    base.rotation_mode = 'QUATERNION'
    keyed(base, "rotation_quaternion", [(1, 0, 0, 0), Quaternion((1, 0, 0), 0.3)])


def scale_of_post(armature, chain):
    bpy.ops.object.mode_set(mode='EDIT')
    root = armature.data.edit_bones.new("root")
    root.head, root.tail = (0, 0, -1), (0, 0, 0)
    armature.data.edit_bones["base"].parent = root
    bpy.ops.object.mode_set(mode='OBJECT')
    armature.data.bones["base"].inherit_scale = 'NONE'


def location_of_first_bone(armature, chain):
    armature.pose.bones["upper"].location = (0.0, 0.1, 0.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            keys_between,
            "the bone 'mid' between its post 'base' and its first bone may be moved by its keys or",
        ),
        (
            driver_between,
            "the bone 'mid' between its post 'base' and its first bone may be moved by its keys",
        ),
        (constraint_between, "the bone 'mid' between its post .* may be moved by a constraint, and"),
        (other_angle, "the rotation about X / Z of its post 'base' is animated"),
        (driven_location, "the location of its post 'base' is animated"),
        (keyed_scale, "the scale of its post 'base' is animated"),
        (mirrored, "its post 'base' is mirrored or flat by its scale"),
        (its_own_constraint, "bone 'base' is moved by its own constraint 'Child Of'"),
        (tilting_quaternion, "its post 'base' does more than turn about its Y axis, or a bone between"),
        (scale_of_post, "the bone 'base' inherits scale by 'None'"),
        (location_of_first_bone, "the bone 'upper' is moved by its own location"),
    ],
)
def test_what_drivers_cannot_turn_is_named_with_the_way_out_and_nothing_is_made(change, words):
    armature, chain = tower()
    change(armature, chain)
    bpy.context.view_layer.update()
    before = everything()
    with pytest.raises(IK2DError, match=f"Chain 'arm' cannot be converted to drivers: {words}"):
        make_native(armature, chain)
    assert differences(before, everything()) == []


def test_keys_that_hold_still_are_no_reason():
    armature, chain = tower()
    keyed(armature.pose.bones["mid"], "rotation_euler", [(0.2, 0, 0), (0.2, 0, 0)])
    keyed(armature.pose.bones["base"], "rotation_euler", [(0.0, 0.5, 0.0), (0.0, 0.7, 0.0)])
    make_native(armature, chain)


def test_a_post_that_is_the_first_bone_is_baked_instead():
    made = turret(2, still=True)
    chain = made.add_chain()
    chain.post, chain.post_axis = made.bones[0], 'Y'
    with pytest.raises(IK2DError, match="its post 'arm0' is its own first bone, and drivers"):
        make_native(made.armature, chain)


def test_a_second_native_chain_on_a_post_is_refused_by_the_first_ones_name():
    armature, chain = robot_arm(locked=False)
    make_native(armature, chain)
    other = armature.ik2d.chains.add()
    other.name, other.tip, other.bone_count, other.target = "base alone", "base", 1, chain.target
    with pytest.raises(IK2DError, match="its bone 'base' is turned by chain 'arm' on drivers already"):
        make_native(armature, other)
