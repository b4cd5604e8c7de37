# SPDX-License-Identifier: GPL-3.0-or-later
"""The fixes that change an armature's bones: their rest pose and their scale."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...bake.cures.laid_flat import flat_moves
from ...bake.cures.off_plane import FLATTEN, LABELS
from ...core.words import listed, refusal, say
from ...rig.animation import versions
from ...rig.animation.bone_channels import ROTATIONS
from ...rig.animation.value_keys import existing_drivers
from ...rig.chain.chain import RigChain, read_chain
from ...rig.chain.checks.bones import rest_joints
from ...rig.chain.planes import reach_of
from ...rig.chain.renames import Settings
from ...rig.pose.measures import is_uneven
from .fixes import NAMED, fix, refuse_linked_data, refuse_nothing


@fix(LABELS[FLATTEN])
def flatten(armature: bpy.types.Object, settings: Settings) -> str:
    """Turn the chain's bones in the rest pose until its joints are in one plane; lengths stay, and
    what hangs on a bone moves with it.
    """
    rig = read_chain(armature, settings)
    refuse_shared_data(armature)
    joints = rest_joints(rig.pose_bones)
    moves = flat_moves(rig, joints)
    with edit_bones(armature) as bones:
        placed = _placed(bones, rig.bones, moves)
        for name, (head, tail, up) in placed.items():
            bone = bones[name]
            bone.head, bone.tail = head, tail
            bone.align_roll(up)
    moved = np.linalg.norm(rest_joints(rig.pose_bones) - joints, axis=1).max()
    reach = reach_of(joints)
    return say(
        "Chain '{chain}' is flat at rest: its joints have moved by up to {part:.2g} % of its reach",
        chain=settings.name,
        part=100.0 * moved / reach,
    )


def _placed(
    bones: bpy.types.bpy_prop_collection, chain: Sequence[str], moves: Sequence[Matrix]
) -> dict[str, tuple[Vector, Vector, Vector]]:
    """Return head, tail and up of the chain's bones and their descendants, parents first."""
    placed: dict[str, tuple[Vector, Vector, Vector]] = {}
    by_bone = dict(zip(chain, moves, strict=True))
    waiting = [(bones[chain[0]], moves[0])]
    while waiting:
        bone, above = waiting.pop()
        move = by_bone.get(bone.name, above)
        up = move.to_3x3() @ bone.z_axis
        placed[bone.name] = (move @ bone.head, move @ bone.tail, up)
        waiting += [(child, move) for child in bone.children]
    return placed


@contextmanager
def edit_bones(armature: bpy.types.Object) -> Iterator[bpy.types.bpy_prop_collection]:
    """Yield the armature's edit bones; afterwards restore the mode."""
    with _alone_in_object_mode(armature):
        bpy.ops.object.mode_set(mode='EDIT')
        try:
            yield armature.data.edit_bones
        finally:
            bpy.ops.object.mode_set(mode='OBJECT')


@contextmanager
def _alone_in_object_mode(armature: bpy.types.Object) -> Iterator[None]:
    """Make the armature the active and only selected object, in Object Mode; afterwards restore all."""
    layer = bpy.context.view_layer
    active, selected = layer.objects.active, [ob for ob in layer.objects if ob.select_get()]
    mode = active.mode if active is not None else 'OBJECT'
    if armature.name not in layer.objects or armature.hide_viewport or not armature.visible_get():
        raise refusal("'{armature}' is hidden; show it first", armature=armature.name)
    if mode != 'OBJECT':
        bpy.ops.object.mode_set(mode='OBJECT')
    try:
        for ob in selected:
            ob.select_set(False)
        layer.objects.active = armature
        armature.select_set(True)
        yield
    finally:
        armature.select_set(False)
        for ob in selected:
            ob.select_set(True)
        layer.objects.active = active
        if mode != 'OBJECT':
            bpy.ops.object.mode_set(mode=mode)


@fix("Apply Scale")
def apply_scale(armature: bpy.types.Object, settings: Settings) -> str:
    """Apply the armature's scale to its bones; what is parented to it stays where it is."""
    refuse_shared_data(armature)
    curves = [*versions.existing_fcurves(armature), *existing_drivers(armature)]
    if any(curve.data_path in ("scale", "delta_scale") for curve in curves):
        raise refusal("The scale of '{armature}' is animated: it cannot be applied", armature=armature.name)
    if tuple(armature.scale) == (1.0, 1.0, 1.0):
        raise refusal("'{armature}' has no scale of its own to apply", armature=armature.name)
    bpy.context.view_layer.update()
    children = [(child, held_by(armature, child), _own_place(child)) for child in armature.children]
    with _alone_in_object_mode(armature):
        try:
            bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
        except RuntimeError as error:
            raise refusal(
                "Blender cannot apply the scale of '{armature}': {error}",
                armature=armature.name,
                error=error,
            ) from None
    bpy.context.view_layer.update()
    for (
        child,
        before,
        basis,
    ) in children:  # Blender writes into channels that may be keyed, and shears nothing
        for name, value in basis.items():
            setattr(child, name, value)
        now = held_by(armature, child).inverted_safe()
        child.matrix_parent_inverse = now @ before @ child.matrix_parent_inverse
    moved = [bone.name for bone in armature.pose.bones if bone.location.length > 0.0]
    left = (
        say("; look at the location of {names}, which it leaves as it is", names=listed(moved, NAMED))
        if moved
        else ""
    )
    return say("Applied the scale of '{armature}'{left}", armature=armature.name, left=left)


def held_by(armature: bpy.types.Object, child: bpy.types.Object) -> Matrix:
    """Return the world matrix that an armature's child hangs on, before its Parent Inverse."""
    bone = armature.pose.bones.get(child.parent_bone) if child.parent_type == 'BONE' else None
    if bone is None:
        return armature.matrix_world.copy()
    if bone.bone.use_relative_parent:
        return armature.matrix_world @ bone.matrix_channel
    place = bone.matrix.copy()
    place.translation = bone.tail
    return armature.matrix_world @ place


def _own_place(ob: bpy.types.Object) -> dict[str, object]:
    """Return an object's transform channels and its Parent Inverse, by their names."""
    places = {name: tuple(getattr(ob, name)) for name in ("location", *ROTATIONS, "scale")}
    return {**places, "matrix_parent_inverse": ob.matrix_parent_inverse.copy()}


def unevenly_scaled(rig: RigChain) -> list[str]:
    """Return the bones with an uneven scale of their own: above a chain, and in it unless it stretches."""
    bones = [*reversed(rig.pose_bones[0].parent_recursive)]
    bones += rig.pose_bones if rig.stretching is None else []
    return [bone.name for bone in bones if is_uneven(np.diag(np.array(bone.scale, np.float64))[None])]


@fix("Clear Bone Scale")
def clear_scale(armature: bpy.types.Object, settings: Settings) -> str:
    """Take the scale off bones, of the chain or above it, that have an uneven one."""
    bones = unevenly_scaled(read_chain(armature, settings))
    refuse_nothing(settings, bones, say("bone is scaled unevenly by itself"))
    curves = [*versions.existing_fcurves(armature), *existing_drivers(armature)]
    animated = {curve.data_path for curve in curves}
    for name in bones:
        if armature.pose.bones[name].path_from_id("scale") in animated:
            raise refusal("The scale of bone '{name}' is animated; delete its keys, or its driver", name=name)
    for name in bones:
        armature.pose.bones[name].scale = (1.0, 1.0, 1.0)
    return say("Cleared the scale of {names}", names=listed(bones, NAMED))


def refuse_shared_data(armature: bpy.types.Object) -> None:
    refuse_linked_data(armature)
    data = armature.data
    if data.users - data.use_fake_user > 1:
        raise refusal(
            "Other objects have the bones of '{armature}' too; make them single-user first "
            "(Object > Relations > Make Single User)",
            armature=armature.name,
        )
