# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs for the tests, and Blender's own word on where a tip is."""

from collections.abc import Iterator, Sequence

import bpy
from mathutils import Vector

Point = Sequence[float]


def add_armature(bones: dict[str, tuple], name: str = "Rig") -> bpy.types.Object:
    """Add an armature; `bones` are name: (head, tail, parent or "", roll), parents first."""
    data = bpy.data.armatures.new(name)
    armature = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    armature.select_set(True)
    bpy.ops.object.mode_set(mode='EDIT')
    for bone_name, (head, tail, parent, roll) in bones.items():
        bone = data.edit_bones.new(bone_name)
        bone.head, bone.tail, bone.roll = head, tail, roll
        bone.parent = data.edit_bones[parent] if parent else None
        bone.use_connect = bool(parent) and (bone.parent.tail - bone.head).length < 1e-6
    bpy.ops.object.mode_set(mode='OBJECT')
    return armature


def add_leg(name: str = "Rig") -> bpy.types.Object:
    """Add a body with a leg of two bones in the plane x = 0, bent forward (-Y) at the knee."""
    return add_armature(
        {
            "body": ((0, 0, 2.0), (0, 0, 2.6), "", 0.0),
            "thigh": ((0, 0, 2.0), (0, -0.1, 1.0), "body", 0.4),
            "shin": ((0, -0.1, 1.0), (0, 0, 0.1), "thigh", -0.2),
        },
        name,
    )


def add_target(keys: dict[int, Point], name: str = "Target") -> bpy.types.Object:
    """Add an empty that is at the given places at the given frames."""
    target = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(target)
    for frame, place in keys.items():
        target.location = place
        target.keyframe_insert("location", frame=frame)
    return target


def add_chain(
    armature: bpy.types.Object, tip: str, target: bpy.types.Object | None, bone_count: int = 2, **settings
):
    """Add a chain to `armature.ik2d`, named after its tip unless the settings name it."""
    chain = armature.ik2d.chains.add()
    for key, value in {
        "name": tip,
        "tip": tip,
        "target": target,
        "bone_count": bone_count,
        **settings,
    }.items():
        setattr(chain, key, value)
    return chain


def leg_with_target(**settings) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Add the leg, and a foot target that swings within reach from frame 1 to 40."""
    armature = add_leg()
    target = add_target({1: (0, 0.2, 0.3), 20: (0, -0.9, 0.8), 40: (0, 0.8, 0.6)})
    add_chain(armature, "shin", target, **settings)
    return armature, target


def evaluated_tip(armature: bpy.types.Object, tip: str) -> Vector:
    """Return where Blender has the tail of a bone now, in the world."""
    evaluated = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return evaluated.matrix_world @ evaluated.pose.bones[tip].tail


def evaluated_place(target: bpy.types.Object, subtarget: str = "") -> Vector:
    """Return where Blender has a target now, in the world."""
    evaluated = target.evaluated_get(bpy.context.evaluated_depsgraph_get())
    if subtarget:
        return evaluated.matrix_world @ evaluated.pose.bones[subtarget].head
    return evaluated.matrix_world.translation.copy()


def played_back_errors(
    armature: bpy.types.Object, chain, frames: Sequence[int]
) -> Iterator[tuple[int, float]]:
    """Yield (frame, distance from the evaluated tip to the evaluated target)."""
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        tip = evaluated_tip(armature, chain.tip)
        yield frame, (tip - evaluated_place(chain.target, chain.subtarget)).length


def animation_of(armature: bpy.types.Object) -> dict:
    """Return every F-Curve of an object with all that its keys hold, to compare before and after."""
    from ik2d_addon.rig.compat import existing_fcurves

    return {
        (curve.data_path, curve.array_index): [
            (
                *k.co,
                *k.handle_left,
                *k.handle_right,
                k.handle_left_type,
                k.handle_right_type,
                k.interpolation,
                k.type,
            )
            for k in curve.keyframe_points
        ]
        for curve in existing_fcurves(armature)
    }
