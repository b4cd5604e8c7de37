# SPDX-License-Identifier: GPL-3.0-or-later
"""The scenes that are baked, built in an empty file."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import bpy
import numpy as np

from ik2d_addon.chains import adopt
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.ui.settings.joint_list import sync_joints

from .pose_paths import PosePath

# Frames from one key of a target to the next.
KEY_EVERY = 50
# What makes a mesh heavy: a Suzanne whose faces are divided twice before its armature bends it.
SUBDIVISIONS = 2


def chains(
    count: int, bones: int, frames: int, every: int = KEY_EVERY, rounds: float = 1.0
) -> bpy.types.Object:
    """Empty the file, and add one armature with so many chains, each with an empty that circles in front.

    Each chain has a reach of about 1, is slightly bent, and has its settings in `Object.ik2d`. every: frames
    from one key of an empty to the next; rounds: so many in 1,000 frames.
    """
    bpy.ops.wm.read_factory_settings(use_empty=True)
    armature = _armature(count, bones)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, frames
    for k in range(count):
        settings = armature.ik2d.chains.add()
        settings.name = settings.tip = f"{k}.{bones - 1}"
        settings.bone_count, settings.target = (
            bones,
            _circling_empty(k, frames, (0.0, 0.0, 0.5 * k), every, rounds),
        )
    bpy.context.view_layer.update()
    return armature


def posed_chain(path: PosePath) -> bpy.types.Object:
    """Empty the file, and add a chain along y whose last bone follows its target: the tip of a path's poses.

    Its limits are those of the path's chain.
    """
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene, data = bpy.context.scene, bpy.data.armatures.new("Arm")
    armature, target = bpy.data.objects.new("Arm", data), bpy.data.objects.new("Target", None)
    for thing in (armature, target):
        scene.collection.objects.link(thing)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    ends = np.concatenate(([0.0], np.cumsum(path.chain.lengths)))
    for i, (head, tail) in enumerate(pairwise(ends.tolist())):
        bone = data.edit_bones.new(f"b{i}")
        bone.head, bone.tail = (0.0, head, 0.0), (0.0, tail, 0.0)
        bone.parent, bone.use_connect = data.edit_bones.get(f"b{i - 1}"), i > 0
    bpy.ops.object.mode_set(mode='OBJECT')
    scene.frame_start, scene.frame_end = 1, len(path.poses)
    for frame, (tip, heading) in enumerate(zip(*path.goals, strict=True), start=1):
        target.location, target.rotation_euler = (0.0, *tip), (heading, 0.0, 0.0)
        target.keyframe_insert("location", frame=frame)
        target.keyframe_insert("rotation_euler", frame=frame)
    settings = armature.ik2d.chains.add()
    settings.name = settings.tip = f"b{len(path.chain) - 1}"
    settings.bone_count, settings.target = len(path.chain), target
    settings.tip_rotation = 'TARGET'
    sync_joints(settings)
    scene.frame_set(1)
    sign = float(np.sign(read_chain(armature, settings).plane.normal[0]))
    if path.chain.is_limited:
        for joint, limits in zip(settings.joints, sign * path.chain.ranges, strict=True):
            joint.use_limit, (joint.limit_min, joint.limit_max) = True, sorted(limits.tolist())
    bpy.context.view_layer.update()
    return armature


def constrained(count: int, frames: int) -> bpy.types.Object:
    """Add chains of two bones as in `chains`, each with limits of Blender's own on its bones, which act."""
    armature = chains(count, 2, frames)
    for k in range(count):
        for i in range(2):
            limit = armature.pose.bones[f"{k}.{i}"].constraints.new('LIMIT_ROTATION')
            limit.use_limit_x = limit.use_limit_y = True
            limit.owner_space = 'LOCAL'
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


def humans(frames: int) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Empty the file, and add Rigify's human twice, hands and feet moving; adopt the first one's limbs."""
    human = _generated_human()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "human.blend"
        path.write_bytes(human)
        rigs = [_add_human(path, frames) for _ in range(2)]
    adopt(rigs[0])
    for settings in rigs[0].ik2d.chains:
        settings.live = False
    bpy.context.scene.frame_set(1)
    return rigs[0], rigs[1]


@cache
def _generated_human() -> bytes:
    """Empty the file; return one with Rigify's human and its widgets, each in a collection; made once."""
    import addon_utils  # which is there once bpy is

    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon_utils.enable("rigify", default_set=True)
    try:
        bpy.ops.object.armature_human_metarig_add()
        metarig = bpy.context.object
        bpy.ops.object.mode_set(mode='POSE')
        bpy.ops.pose.rigify_generate()
        bpy.ops.object.mode_set(mode='OBJECT')
        bpy.data.objects.remove(metarig)
    finally:
        addon_utils.disable("rigify", default_set=True)
    own = bpy.data.collections.new("Human")
    for ob in bpy.context.scene.collection.objects:
        own.objects.link(ob)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "human.blend"
        bpy.data.libraries.write(str(path), {own, bpy.data.collections["WGTS_rig"]})
        return path.read_bytes()


def _add_human(path: Path, frames: int) -> bpy.types.Object:
    """Add the human of a file in a collection of its own, its hands and feet keyed every ten frames."""
    with bpy.data.libraries.load(str(path)) as (_, added):
        added.collections = ["WGTS_rig", "Human"]
    widgets, own = added.collections
    for collection in added.collections:
        bpy.context.scene.collection.children.link(collection)
    bpy.context.view_layer.layer_collection.children[widgets.name].exclude = True  # as Rigify leaves it
    (rig,) = (ob for ob in own.objects if ob.type == 'ARMATURE')
    for name, far in (("hand_ik.L", 0.15), ("hand_ik.R", 0.15), ("foot_ik.L", 0.2), ("foot_ik.R", 0.2)):
        bone = rig.pose.bones[name]
        for frame in range(1, frames + 1, 10):
            turns = np.array((0.13, 0.11, 0.07)) * frame + (len(name), np.pi / 2.0, 0.0)
            bone.location = far * np.sin(turns) * (1.0, 1.0, 0.5)
            bone.keyframe_insert("location", frame=frame)
    return rig


@contextmanager
def alone(armature: bpy.types.Object, limbs: bool = False) -> Iterator[None]:
    """Have the scene hold one of the humans alone; limbs: with the bones of its arms and legs selected."""
    layer = bpy.context.view_layer
    others = [one for one in layer.layer_collection.children if armature.name not in one.collection.objects]
    for one in others:
        one.exclude = True
    layer.objects.active = armature
    armature.select_set(True)
    bpy.ops.object.mode_set(mode='POSE')
    for bone in armature.pose.bones:
        on = limbs and bone.name.startswith(("thigh_ik.", "MCH-shin_ik.", "upper_arm_ik.", "MCH-forearm_ik."))
        (bone if hasattr(bone, "select") else bone.bone).select = on
    try:
        yield
    finally:
        bpy.ops.object.mode_set(mode='OBJECT')
        for one in others:
            one.exclude = False


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


def _circling_empty(
    k: int, frames: int, root: tuple[float, float, float], every: int = KEY_EVERY, rounds: float = 1.0
) -> bpy.types.Object:
    """Add an empty with keys on a circle in front of a chain's root, from k on, as `chains` has them."""
    empty = bpy.data.objects.new(f"Target {k}", None)
    bpy.context.scene.collection.objects.link(empty)
    for frame in range(1, frames + every, every):
        turn = rounds * frame / 1000.0 * 2.0 * np.pi + k
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
