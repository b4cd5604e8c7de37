# SPDX-License-Identifier: GPL-3.0-or-later
"""The scenes that are baked, built in an empty file."""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np

# Frames from one key of a target to the next.
KEY_EVERY = 50
# What makes a mesh heavy: a Suzanne whose faces are divided twice before its armature bends it.
SUBDIVISIONS = 2


def chains(count: int, bones: int, frames: int) -> bpy.types.Object:
    """Empty the file, and add one armature with so many chains, each with an empty that circles in front.

    Each chain has a reach of about 1, is slightly bent, and has its settings in `Object.ik2d`.
    """
    bpy.ops.wm.read_factory_settings(use_empty=True)
    armature = _armature(count, bones)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, frames
    for k in range(count):
        settings = armature.ik2d.chains.add()
        settings.name = settings.tip = f"{k}.{bones - 1}"
        settings.bone_count, settings.target = bones, _circling_empty(k, frames, (0.0, 0.0, 0.5 * k))
    bpy.context.view_layer.update()
    return armature


def crowd(count: int, limbs: int, frames: int) -> list[bpy.types.Object]:
    """Empty the file, and add that many armatures with so many chains of two bones each, all selected."""
    armatures = [chains(limbs, 2, frames)]
    for place in range(1, count):
        armature = armatures[0].copy()
        armature.data = armature.data.copy()
        armature.location.y = 2.0 * place
        bpy.context.scene.collection.objects.link(armature)
        for k, settings in enumerate(armature.ik2d.chains):
            settings.target = _circling_empty(place * limbs + k, frames, (0.0, 2.0 * place, 0.5 * k))
        armature.select_set(True)
        armatures.append(armature)
    bpy.context.view_layer.update()
    return armatures


def add_meshes(count: int, frames: int) -> None:
    """Add so many subdivided meshes that an armature of their own bends on each frame."""
    import bmesh  # which is there once bpy is

    crowd = _swaying_armature(frames)
    for k in range(count):
        data = bpy.data.meshes.new("Suzanne")
        mesh = bmesh.new()
        bmesh.ops.create_monkey(mesh)
        mesh.to_mesh(data)
        mesh.free()
        ob = bpy.data.objects.new("Suzanne", data)
        ob.location = (3.0 * (k % 10), 10.0 + 3.0 * (k // 10), 0.0)
        group = ob.vertex_groups.new(name="bone")
        group.add(range(len(data.vertices)), 1.0, 'REPLACE')
        ob.modifiers.new("Subdivision", 'SUBSURF').levels = SUBDIVISIONS
        ob.modifiers.new("Armature", 'ARMATURE').object = crowd
        bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.update()


def clear_animation(*armatures: bpy.types.Object) -> None:
    """Take a bake away again, so that the next one starts alike."""
    for armature in armatures:
        armature.animation_data_clear()
        for bone in armature.pose.bones:
            bone.matrix_basis.identity()
    bpy.data.orphans_purge(do_recursive=True)
    bpy.context.view_layer.update()


@contextmanager
def ik_constraints(*armatures: bpy.types.Object) -> Iterator[None]:
    """Give the chains IK constraints for a while, and select all bones in Pose Mode, as nla.bake wants."""
    tips = []
    for armature in armatures:
        for settings in armature.ik2d.chains:
            tip = armature.pose.bones[settings.tip]
            constraint = tip.constraints.new('IK')
            constraint.target, constraint.chain_count = settings.target, settings.bone_count
            tips.append((tip, constraint))
    bpy.context.view_layer.objects.active = armatures[0]
    bpy.ops.object.mode_set(mode='POSE')  # of all that are selected
    for armature in armatures:
        for bone in armature.pose.bones:
            # Bones had it before Blender 5.0.
            (bone if hasattr(bone, "select") else bone.bone).select = True
    try:
        yield
    finally:
        bpy.ops.object.mode_set(mode='OBJECT')
        for tip, constraint in tips:
            tip.constraints.remove(constraint)


def played_back(armature: bpy.types.Object, frames: int) -> float:
    """Return the furthest that any tip is from its target on some frames, as Blender evaluates them."""
    worst = 0.0
    for frame in np.unique(np.linspace(1, frames, 12).astype(int)).tolist():
        bpy.context.scene.frame_set(frame)
        evaluated = armature.evaluated_get(bpy.context.view_layer.depsgraph)
        for settings in armature.ik2d.chains:
            tip = evaluated.matrix_world @ evaluated.pose.bones[settings.tip].tail
            worst = max(worst, (tip - settings.target.matrix_world.translation).length)
    return worst


def _armature(count: int, bones: int) -> bpy.types.Object:
    data = bpy.data.armatures.new("Rig")
    armature = bpy.data.objects.new("Rig", data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    armature.select_set(True)
    bpy.ops.object.mode_set(mode='EDIT')
    for k in range(count):
        parent = None
        for i in range(bones):
            bone = data.edit_bones.new(f"{k}.{i}")
            bone.head = (i / bones, 0.05 * (i % 2), 0.5 * k)
            bone.tail = ((i + 1) / bones, 0.05 * ((i + 1) % 2), 0.5 * k)
            bone.parent, bone.use_connect = parent, parent is not None
            parent = bone
    bpy.ops.object.mode_set(mode='OBJECT')
    return armature


def _circling_empty(k: int, frames: int, root: tuple[float, float, float]) -> bpy.types.Object:
    """Add an empty with keys on a circle in front of a chain's root, one round in 1,000 frames from k on."""
    empty = bpy.data.objects.new(f"Target {k}", None)
    bpy.context.scene.collection.objects.link(empty)
    for frame in range(1, frames + KEY_EVERY, KEY_EVERY):
        turn = frame / 1000.0 * 2.0 * np.pi + k
        empty.location = (root[0] + 0.55 + 0.3 * np.cos(turn), root[1] + 0.3 * np.sin(turn), root[2])
        empty.keyframe_insert("location", frame=frame)
    return empty


def _swaying_armature(frames: int) -> bpy.types.Object:
    data = bpy.data.armatures.new("Crowd")
    crowd = bpy.data.objects.new("Crowd", data)
    bpy.context.scene.collection.objects.link(crowd)
    active = bpy.context.view_layer.objects.active
    bpy.context.view_layer.objects.active = crowd
    bpy.ops.object.mode_set(mode='EDIT')
    data.edit_bones.new("bone").tail = (0.0, 0.0, 1.0)
    bpy.ops.object.mode_set(mode='OBJECT')
    bone = crowd.pose.bones["bone"]
    for frame, angle in ((1, 0.0), (frames, 6.0)):
        bone.rotation_mode, bone.rotation_euler.x = 'XYZ', angle
        bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.view_layer.objects.active = active
    return crowd
