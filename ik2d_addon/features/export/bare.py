# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs without their controls: what moves them goes, and all else of the file that they do not carry.

For a copy of the file that nobody saves.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

import bpy
import numpy as np

from ...core.inputs import Floats
from ...rig.animation import actions
from ...rig.animation.key_columns import BY_HAND, add, new_keys
from ...rig.animation.versions import HAS_SLOTS
from .motion import Curves, RigMotion, Skeleton, Transforms, curves_of, local_transforms, moved_properties
from .motion import object_transforms as transforms_of_object

_LINEAR = 1  # Blender's number


def carried(armatures: Sequence[bpy.types.Object]) -> list[bpy.types.Object]:
    """Return armatures with the objects shown that are parented to them, or deformed by them."""
    found = set(armatures)
    layer, before = bpy.context.view_layer, 0
    while before != len(found):
        before = len(found)
        found |= {ob for ob in layer.objects if ob.parent in found or _deformers(ob) & found}
    controls = _followed(armatures) - set(armatures)
    return [
        ob
        for ob in layer.objects
        if ob in found and ob not in controls and (ob.visible_get() or ob in armatures)
    ]


def hidden_skins(scene: bpy.types.Scene, armatures: Iterable[bpy.types.Object]) -> list[str]:
    """Return the names of objects that armatures deform, and that stay out because they are hidden."""
    rigs = set(armatures)
    return [ob.name for ob in scene.objects if _deformers(ob) & rigs and not ob.visible_get()]


def _deformers(ob: bpy.types.Object) -> set[bpy.types.Object | None]:
    return {modifier.object for modifier in ob.modifiers if modifier.type == 'ARMATURE'} - {None}


def _followed(armatures: Iterable[bpy.types.Object]) -> set[bpy.types.Object]:
    """Return the empties that chains and mechanisms follow, or that were made for them."""
    parts = [part for armature in armatures for part in (*armature.ik2d.chains, *armature.ik2d.mechanisms)]
    return {ob for part in parts for ob in _pointed_to(part) if ob.type == 'EMPTY'}


def _pointed_to(settings: bpy.types.PropertyGroup) -> Iterator[bpy.types.Object]:
    """Yield the objects that settings point to."""
    for setting in settings.bl_rna.properties:
        if setting.type not in {'POINTER', 'COLLECTION'} or setting.identifier == "rna_type":
            continue
        value = getattr(settings, setting.identifier)
        for each in value if setting.type == 'COLLECTION' else [value]:
            if isinstance(each, bpy.types.Object):
                yield each
            elif isinstance(each, bpy.types.PropertyGroup):
                yield from _pointed_to(each)


@contextmanager
def others_hidden(scene: bpy.types.Scene) -> Iterator[None]:
    """Hide what has a shape: Blender then evaluates of it what the armatures depend on."""
    hidden = [ob for ob in scene.objects if ob.type not in {'ARMATURE', 'EMPTY'} and not ob.hide_viewport]
    for ob in hidden:
        ob.hide_viewport = True
    try:
        yield
    finally:
        for ob in hidden:
            ob.hide_viewport = False


def make_local(objects: Iterable[bpy.types.Object]) -> None:
    """Make objects and what they hold the file's own: constraints of an override cannot be removed."""
    for ob in objects:
        for block in (ob, ob.data):
            if block is not None and (block.library or block.override_library):
                block.make_local(clear_liboverride=True)
    bpy.context.view_layer.update()  # poses find the bones of their new armatures


def strip(armatures: Sequence[bpy.types.Object], kept: Sequence[bpy.types.Object], deform_only: bool) -> None:
    """Remove constraints, drivers, animation, chains, mechanisms and bone shapes; then objects not kept."""
    scene = bpy.context.scene
    world = {ob: ob.matrix_world.copy() for ob in kept}
    for ob in kept:
        ob.constraints.clear()
        ob.animation_data_clear()
        if ob.parent is not None and ob.parent not in kept:
            ob.parent = None
            ob.matrix_world = world[ob]
    for armature in armatures:
        armature.data.animation_data_clear()
        armature.ik2d.chains.clear()
        armature.ik2d.mechanisms.clear()
        armature.data.pose_position = 'POSE'
        _bare_bones(armature)
    _remove_others(scene, kept)
    for armature in armatures:
        disconnect(armature, deform_only)


def _bare_bones(armature: bpy.types.Object) -> None:
    for bone in armature.pose.bones:
        while len(bone.constraints):
            bone.constraints.remove(bone.constraints[0])
        bone.custom_shape = None
        bone.rotation_mode = 'QUATERNION'
        bone.matrix_basis.identity()
        bone.bone.use_inherit_rotation = bone.bone.use_local_location = True
        bone.bone.use_relative_parent = False
        bone.bone.inherit_scale = 'FULL'
    armature.rotation_mode = 'QUATERNION'
    for name in ("delta_location", "delta_rotation_euler"):
        setattr(armature, name, (0.0, 0.0, 0.0))
    armature.delta_rotation_quaternion, armature.delta_scale = (1.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0)


def _remove_others(scene: bpy.types.Scene, kept: Sequence[bpy.types.Object]) -> None:
    for other in [other for other in bpy.data.scenes if other != scene]:
        bpy.data.scenes.remove(other)
    bpy.data.batch_remove([ob for ob in bpy.data.objects if ob not in kept])
    bpy.data.batch_remove(list(bpy.data.actions))
    for ob in kept:
        ob.hide_select = False
    show(scene, kept)


def show(scene: bpy.types.Scene, objects: Iterable[bpy.types.Object]) -> None:
    """Show objects, also those of collections that are hidden or excluded: Blender poses no others."""
    for ob in objects:
        ob.hide_viewport = False
        if scene.objects.get(ob.name) != ob or not ob.visible_get():
            if ob.name not in scene.collection.objects:
                scene.collection.objects.link(ob)
        ob.hide_set(False)


def disconnect(armature: bpy.types.Object, deform_only: bool = False) -> None:
    """Disconnect bones, so that each takes a location; with deform_only remove bones that deform nothing."""
    left = {bone.name for bone in armature.data.bones}
    if deform_only:
        deforming = [bone for bone in armature.data.bones if bone.use_deform]
        left = {each.name for bone in deforming for each in (bone, *bone.parent_recursive)}
    if len(left) == len(armature.data.bones) and not any(bone.use_connect for bone in armature.data.bones):
        return
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    for bone in list(armature.data.edit_bones):
        bone.use_connect = False
        if bone.name not in left:
            armature.data.edit_bones.remove(bone)
    bpy.ops.object.mode_set(mode='OBJECT')


def keyed_clips(
    armature: bpy.types.Object, motions: Mapping[str, RigMotion], stashed: bool = True, titled: str = ""
) -> dict[str, str]:
    """Give an armature an action for each of its clips, from frame 0 on; return the actions' names.

    stashed: each in an NLA track of its clip's name, which `titled` comes before.
    """
    skeleton = Skeleton.of(armature)
    own = {name: transforms_of_object(motion) for name, motion in motions.items()}
    bones = {name: local_transforms(skeleton, motion) for name, motion in motions.items()}
    animation = armature.animation_data_create()
    made = {}
    paths = {"": moved_properties(list(own.values()))}
    paths |= {bone: moved_properties([clip[bone] for clip in bones.values()]) for bone in skeleton.bones}
    for clip, motion in motions.items():
        action = bpy.data.actions.new(f"{armature.name}|{clip}")
        animation.action = action
        with ExitStack() as undo:
            holder = actions.channels(armature, undo)
            for owner, names in paths.items():
                place = f"{armature.pose.bones[owner].path_from_id()}." if owner else ""
                of_clip: Transforms = bones[clip][owner] if owner else own[clip]
                for name in names:
                    _write(holder, place + name, owner, curves_of(of_clip[name]), motion.frames, undo)
            undo.pop_all()
        made[clip] = action
    animation.action = None
    if stashed:
        for clip, action in made.items():
            _stash(animation, titled + clip, action)
    return {clip: action.name for clip, action in made.items()}


def _write(holder: object, path: str, group: str, curves: Curves, frames: int, undo: ExitStack) -> None:
    times = np.arange(frames, dtype=np.float32) if curves.moves else np.array([0.0, max(frames - 1, 1)], "f4")
    values, before, after = (_long(each, len(times)) for each in (curves.values, curves.before, curves.after))
    wanted = [(path, index, group or "Object Transforms") for index in range(values.shape[1])]
    made = actions.fcurves(holder, wanted, undo, holder)
    if curves.moves:
        add(made, new_keys(times, values, np.stack([before, after]), BY_HAND))
    else:
        add(made, new_keys(times, values, None, BY_HAND, _LINEAR))


def _long(values: Floats, count: int) -> Floats:
    """Return two keys for a clip of one frame."""
    return np.repeat(values, count, axis=0) if len(values) == 1 else values


def _stash(animation: bpy.types.AnimData, name: str, action: bpy.types.Action) -> None:
    track = animation.nla_tracks.new()
    track.name = name
    strip = track.strips.new(name, 0, action)
    strip.name = name
    strip.extrapolation = 'NOTHING'
    if HAS_SLOTS:
        strip.action_slot = action.slots[0]
