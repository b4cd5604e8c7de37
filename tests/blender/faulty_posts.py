# SPDX-License-Identifier: GPL-3.0-or-later
"""A robot arm on a turntable, and ways to spoil its post: functions of the armature and its chain."""

import bpy
from post_rigs import FRAMES, robot_arm
from rigs import add_target, stored_settings


def arm_on_a_plate():
    """Add the robot arm, with a plate between base and arm that does not turn, and a stick on the base."""
    armature, chain = robot_arm()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    bones = armature.data.edit_bones
    for name, head, tail in (("plate", (0, 0, 0.3), (0, 0.2, 0.3)), ("stick", (0, 0.2, 0.3), (0, 0.5, 0.6))):
        bone = bones.new(name)
        bone.head, bone.tail, bone.parent = head, tail, bones["base"]
    bones["upper"].use_connect = False
    bones["upper"].parent = bones["plate"]
    bpy.ops.object.mode_set(mode='OBJECT')
    lock_all(armature, "plate")
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES[0], FRAMES[-1]
    return armature, chain


def unlock(armature, bone, *axes):
    """Unlock the rotation and the IK of a bone about some of its axes."""
    for axis in axes:
        armature.pose.bones[bone].lock_rotation["xyz".index(axis)] = False
        setattr(armature.pose.bones[bone], f"lock_ik_{axis}", False)


def lock_all(armature, bone):
    armature.pose.bones[bone].lock_rotation = (True, True, True)
    for axis in "xyz":
        setattr(armature.pose.bones[bone], f"lock_ik_{axis}", True)


def two_axes(armature, chain):
    unlock(armature, "base", "x")
    chain.post_axis = 'AUTO'


def no_axis(armature, chain):
    lock_all(armature, "base")
    chain.post_axis = 'AUTO'


def locked_axis(_armature, chain):
    chain.post_axis = 'X'


def below(_armature, chain):
    chain.tip, chain.bone_count, chain.post = "upper", 1, "lower"


def is_the_tip(_armature, chain):
    chain.post = "lower"


def of_another_armature(_armature, chain):
    data = bpy.data.armatures.new("Other")
    other = bpy.data.objects.new("Other", data)
    bpy.context.scene.collection.objects.link(other)
    bpy.context.view_layer.objects.active = other
    bpy.ops.object.mode_set(mode='EDIT')
    data.edit_bones.new("turntable").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode='OBJECT')
    chain.post = "turntable"


def none(_armature, chain):
    chain.post = ""


def hang(ob, armature, bone):
    ob.parent, ob.parent_type, ob.parent_bone = armature, 'BONE', bone


def on_the_post(armature, chain):
    hang(chain.target, armature, "base")


def below_the_post(armature, chain):
    hang(chain.target, armature, "stick")


def bone_of_the_post(armature, chain):
    chain.target, chain.subtarget = armature, "stick"


def the_post_itself(armature, chain):
    chain.target, chain.subtarget = armature, "base"


def through_an_object(armature, chain):
    holder = add_target({}, "Holder")
    hang(holder, armature, "base")
    chain.target.parent = holder


def copy_location(owner, target, bone=""):
    constraint = owner.constraints.new('COPY_LOCATION')
    constraint.target, constraint.subtarget = target, bone


def by_a_constraint(armature, chain):
    copy_location(chain.target, armature, "stick")


def by_a_constraint_through_an_object(armature, chain):
    holder = add_target({}, "Holder")
    copy_location(holder, armature, "base")
    chain.target.parent = holder


def by_a_driver(armature, chain):
    curve = chain.target.driver_add("delta_location", 0)
    variable = curve.driver.variables.new()
    variable.name, variable.type = "x", 'TRANSFORMS'
    variable.targets[0].id, variable.targets[0].bone_target = armature, "stick"
    curve.driver.expression = "x"


def inherits_none(bone):
    def spoil(armature, _chain):
        armature.data.bones[bone].use_inherit_rotation = False

    return spoil


def track(bone, **settings):
    """Return a function that turns a bone to something outside by a Damped Track."""

    def spoil(armature, _chain):
        constraint = armature.pose.bones[bone].constraints.new('DAMPED_TRACK')
        constraint.target = add_target({1: (3, 1, 2)}, "Outside")
        for name, value in settings.items():
            setattr(constraint, name, value)

    return spoil


def child_of(armature, _chain):
    constraint = armature.pose.bones["plate"].constraints.new('CHILD_OF')
    constraint.target = add_target({1: (3, 1, 2)}, "Outside")


def limited_in_the_world(armature, _chain):
    constraint = armature.pose.bones["plate"].constraints.new('LIMIT_ROTATION')
    constraint.owner_space, constraint.use_limit_z = 'WORLD', True


def backwards(_armature, chain):
    chain.use_post_limit = True
    stored = stored_settings(chain.id_data)["chains"][0]
    stored["post_limit_min"], stored["post_limit_max"] = 1.0, -1.0


def two_chains(armature, chain):
    other = armature.ik2d.chains.add()
    other.name, other.tip, other.bone_count, other.target = "second", "stick", 1, chain.target
    other.plane, other.post, other.post_axis = 'POST', "base", 'Y'


def a_chain_that_bends_the_post(armature, chain):
    other = armature.ik2d.chains.add()
    other.name, other.tip, other.bone_count, other.target = "second", "base", 1, chain.target


def not_a_number(_armature, chain):
    chain.use_post_limit = True
    stored_settings(chain.id_data)["chains"][0]["post_limit_min"] = float("nan")
