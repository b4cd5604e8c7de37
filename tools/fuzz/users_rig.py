# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene whose user's things can be told from the add-on's, whatever their names: in a fork, with bpy."""

from collections.abc import Iterator
from contextlib import suppress
from random import Random

import bpy

from .values import HOSTILE_NAMES

MARKER = "ZQhostileZQ"
BONES = {
    "body": ((0, 0, 2.0), (0, 0, 2.6), None),
    "thigh": ((0, 0, 2.0), (0, -0.1, 1.0), "body"),
    "shin": ((0, -0.1, 1.0), (0, 0, 0.1), "thigh"),
    "foot": ((0, 0, 0.1), (0, -0.3, 0.0), "shin"),
    "arm": ((1, 0, 2.0), (1, -0.1, 1.0), "body"),
    "hand": ((1, -0.1, 1.0), (1, 0, 0.1), "arm"),
}
FRAMES = 6


def build(random: Random) -> bpy.types.Object:
    """Add a body with a leg that an IK constraint moves and an arm that a chain does, and a user's things."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    armature = _own(bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig")))
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    for name, (head, tail, parent) in BONES.items():
        bone = armature.data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        bone.parent = armature.data.edit_bones.get(parent or "")
    bpy.ops.object.mode_set(mode='OBJECT')
    _own(bpy.data.objects.new("Mesh", bpy.data.meshes.new("Mesh")))
    leg, arm = _target("Leg", 0.0), _target("Arm", 1.0)
    bones = armature.pose.bones
    ik = bones["shin"].constraints.new('IK')
    ik.target, ik.chain_count = leg, 2
    for bone, kind in (("body", 'LIMIT_ROTATION'), ("body", 'LIMIT_SCALE'), ("thigh", 'COPY_SCALE')):
        bones[bone].constraints.new(kind)
    for k, constraint in enumerate(one for bone in bones for one in bone.constraints):
        constraint.influence = 1.0 - 0.001 * (k + 1)
    for owner, name in ((bones["body"], "location"), (ik, "mute"), (bones["body"], "scale")):
        owner.keyframe_insert(name, frame=1)
    bones["body"].driver_add("rotation_euler", 0).driver.expression = "0.0"
    chain = armature.ik2d.chains.add()
    chain.name, chain.tip, chain.bone_count, chain.target = "arm", "hand", 2, arm
    names = random.sample(HOSTILE_NAMES, len(HOSTILE_NAMES))
    for named in (chain, ik, armature, arm, *armature.data.bones):
        if random.random() < 0.5:
            with suppress(UnicodeError):
                named.name = names.pop()
    if random.random() < 0.3:
        random.choice(list(armature.data.bones)).name = MARKER
    for k, curve in enumerate(_curves()):
        curve.color_mode, curve.color = 'CUSTOM', (0.001 * (k + 1), 0.25, 0.75)
    return armature


def _own(ob: bpy.types.Object) -> bpy.types.Object:
    bpy.context.scene.collection.objects.link(ob)
    ob["users"] = len(bpy.data.objects)
    return ob


def _target(name: str, x: float) -> bpy.types.Object:
    target = _own(bpy.data.objects.new(name, None))
    for frame, y in ((1, 0.2), (FRAMES, -0.5)):
        target.location = (x, y, 0.5)
        target.keyframe_insert("location", frame=frame)
    return target


def armature_now() -> bpy.types.Object:
    """Return the armature: undo and opening a file make a new one."""
    return next(ob for ob in bpy.data.objects if ob.type == 'ARMATURE')


def users_things() -> set[str]:
    """Return the user's objects, constraints and curves, each by a key that no rename changes."""
    bones = armature_now().pose.bones
    constraints = [one for bone in bones for one in bone.constraints]
    return {
        *(f"object {ob['users']}" for ob in bpy.data.objects if "users" in ob),
        *(
            f"constraint {one.type} {one.influence:.4f}"
            for one in constraints
            if 0.99 < one.influence < 0.9999
        ),
        *(f"curve {curve.color[0]:.4f}" for curve in _curves() if curve.color_mode == 'CUSTOM'),
    }


def others_things() -> list[str]:
    """Return the left-overs of the add-on, which should be gone when no chain is native or adopted."""
    armature = armature_now()
    constraints = [(bone, one) for bone in armature.pose.bones for one in bone.constraints]
    drivers = armature.animation_data.drivers if armature.animation_data else ()
    return [
        *("an empty" for ob in bpy.data.objects if "users" not in ob),
        *(f"a {one.type} constraint" for _, one in constraints if not 0.99 < one.influence < 0.9999),
        *("a muted IK constraint" for _, one in constraints if one.type == 'IK' and one.mute),
        *("a driver" for curve in drivers if curve.color_mode != 'CUSTOM'),
        *("a muted curve" for curve in _curves() if curve.mute),
    ]


def _curves() -> Iterator[bpy.types.FCurve]:
    from .inside import _curves as of_actions

    yield from of_actions()
    animation = armature_now().animation_data
    yield from animation.drivers if animation else ()
