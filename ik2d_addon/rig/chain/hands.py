# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands and feet: the bones on a chain's tip that can have an orientation of their own."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ...core.affine import orientations
from ...core.inputs import Floats
from ...core.words import noted, say
from ..animation import versions
from ..animation.remembered import put_back_on_error
from ..animation.value_keys import driven_paths
from ..rest import rest_axes, rest_bone
from .dependencies import acts_now
from .foot.bones import FOOT, foot_bones
from .foot.foot import Foot
from .native_state import is_own_empty
from .post import turned_bones_of
from .renames import chain_named

# A hand's orientation: kept, whatever turns above it; or as the target's.
KEPT, FOLLOWING = 'WORLD', 'TARGET'
# How to let a hand turn with the limb, in the sidebar's words.
_OFF = noted("Foot or Hand to With the Limb")
# Hands begin at the tip's end, beyond this part of its length. Twist bones do not.
_AT_END = 0.75
# Matrices further from a rotation than this come from a damaged file.
_DAMAGED = 1e-3
# The rest values of a pose bone's rotation channels.
REST = {
    "rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
    "rotation_euler": (0.0, 0.0, 0.0),
    "rotation_axis_angle": (0.0, 0.0, 1.0, 0.0),
}


@dataclass(frozen=True, eq=False)
class Hands:
    """The bones on a chain's tip that have an orientation of their own."""

    bones: tuple[str, ...]  # parents first
    follow: bool  # the target's rotation; else they keep theirs in the armature object
    # (3, 3) the armature's orientation as the target sees it where it is not turned; of hands that are kept,
    # their turn from rest
    offset: Floats
    parts: tuple[int, ...]  # of the foot, of each bone: FOOT or TOES


def hanging_bones(tip: bpy.types.PoseBone) -> list[bpy.types.PoseBone]:
    """Return the bones that hang on the end of a chain's tip and turn with it."""
    into, end = tip.bone.matrix_local.inverted_safe(), _AT_END * tip.bone.length
    return [
        tip.id_data.pose.bones[bone.name]
        for bone in tip.bone.children  # a pose bone would look for its own among all bones
        if bone.use_inherit_rotation and (into @ bone.head_local).y >= end
    ]


def read_hands(
    settings: bpy.types.PropertyGroup, tip: bpy.types.PoseBone, foot: Foot | None = None
) -> tuple[Hands | None, tuple[str, ...]]:
    """Return the hands of a chain that ends in `tip`, or None, and a sentence for each bone left alone.

    foot: that of the chain, whose bones follow the target's rotation.
    """
    if settings.hand_rotation not in (KEPT, FOLLOWING) and foot is None:
        return None, ()
    name, follow = settings.name, foot is not None or settings.hand_rotation == FOLLOWING
    bones, parts, notes = [], [], []
    hanging = hanging_bones(tip)
    ends = [(bone, FOOT) for bone in hanging] if foot is None else foot_bones(hanging, foot.is_toe)
    for bone, kind in ends:
        reason = _why_left(settings, bone)
        if reason:
            notes.append(
                say(
                    "Chain '{name}': '{bone}' on its tip is left as it is: {reason}",
                    name=name,
                    bone=bone.name,
                    reason=reason,
                )
            )
        else:
            bones.append(bone.name)
            parts.append(kind)
    if not hanging:
        notes.append(
            say(
                "Chain '{name}': no bone hangs on the end of '{tip}' that could be a hand or foot",
                name=name,
                tip=tip.name,
            )
        )
    if not bones:
        return None, tuple(notes)
    offset = _offset(settings) if follow else _sound(settings.hand_turn)
    return Hands(tuple(bones), follow, offset, tuple(parts)), tuple(notes)


def _why_left(settings: bpy.types.PropertyGroup, bone: bpy.types.PoseBone) -> str:
    """Return the other control of a bone and how to remove it, in words; "" for none."""
    for constraint in bone.constraints:
        if constraint.type == 'COPY_TRANSFORMS' and is_own_empty(constraint.target):
            continue  # of this chain on drivers
        if constraint.enabled and acts_now(constraint):
            return say(
                "its constraint '{constraint}' turns it; mute that, or set {off}",
                constraint=constraint.name,
                off=_OFF,
            )
    armature = settings.id_data
    for other in armature.ik2d.chains:
        if other != settings and other.enabled and bone.name in turned_bones_of(other):
            return say("it is of the chain '{other}'", other=other.name)
    return say("drivers turn it; remove them, or set {off}", off=_OFF) if _is_driven(bone) else ""


def _is_driven(bone: bpy.types.PoseBone) -> bool:
    return not driven_paths(bone.id_data).isdisjoint(map(bone.path_from_id, REST))


# --- The target where it is not turned ---------------------------------------


def note_offset(settings: bpy.types.PropertyGroup) -> None:
    """Store the armature's orientation in its target's space: there the chain's hands are as in rest."""
    target = settings.target
    if not _follows(settings):
        _forget_target(settings)
    elif target is not None:
        bpy.context.view_layer.update()
        armature, other = (_orientation(ob.matrix_world) for ob in (settings.id_data, target))
        _store(settings, other.T @ armature)


def move_offset(settings: bpy.types.PropertyGroup) -> None:
    """Store the offset by which the hands stay as they are turned now, where the target is another one.

    Where the target before is not known, there the hands are as in rest.
    """
    before, now = _noted_target(settings), (settings.target, settings.subtarget)
    if not _follows(settings):
        _forget_target(settings)
    if not _follows(settings) or now[0] is None:
        return
    if before == now:
        settings.offset_bone = now[1]
        return
    if before[0] is None:
        note_offset(settings)
        return
    bpy.context.view_layer.update()
    offset = _shown(*now).T @ _shown(*before) @ _rest(*before).T @ _sound(settings.hand_offset)
    _store(settings, _rest(*now) @ offset)


def note_target(settings: bpy.types.PropertyGroup) -> None:
    """Store which target the offset is from, where an earlier version has not."""
    if _follows(settings) and settings.offset_target is None and settings.target is not None:
        settings.offset_target, settings.offset_bone = settings.target, settings.subtarget


def _forget_target(settings: bpy.types.PropertyGroup) -> None:
    """Forget which target the offset is from, which would keep that in the file."""
    for name in ("offset_target", "offset_bone"):
        settings.property_unset(name)


def _follows(settings: bpy.types.PropertyGroup) -> bool:
    return bool(settings.hand_rotation == FOLLOWING or settings.foot.is_added)


def _noted_target(settings: bpy.types.PropertyGroup) -> tuple[bpy.types.Object | None, str]:
    """Return the target that the offset is from, by the name that its bone has now."""
    target, bone = settings.offset_target, settings.offset_bone
    is_renamed = bone and rest_bone(target, bone) is None and target == settings.target
    return target, settings.subtarget if is_renamed else bone


def _store(settings: bpy.types.PropertyGroup, offset: Floats) -> None:
    settings.hand_offset = offset.ravel().tolist()
    settings.offset_target, settings.offset_bone = settings.target, settings.subtarget


def _shown(target: bpy.types.Object, subtarget: str) -> Floats:
    """Return the orientation (3, 3) in the world of an object or a bone as posed."""
    posed = rest_bone(target, subtarget) is not None
    matrix = target.matrix_world
    return _orientation(matrix @ target.pose.bones[subtarget].matrix if posed else matrix)


def _rest(target: bpy.types.Object, subtarget: str) -> Floats:
    """Return the axes (3, 3) of a bone in rest; of an object none of its own."""
    bone = rest_bone(target, subtarget)
    return np.eye(3) if bone is None else rest_axes(bone)


def note_turned_offset(settings: bpy.types.PropertyGroup, turned: Floats) -> None:
    """Store the offset by which the hands are turned by `turned` (3, 3), in pose space, from rest now."""
    now = settings.target, settings.subtarget
    if now[0] is not None:
        offset = _shown(*now).T @ _orientation(settings.id_data.matrix_world) @ turned
        _store(settings, _rest(*now) @ offset)


def _offset(settings: bpy.types.PropertyGroup) -> Floats:
    """Return the stored offset (3, 3); for a target bone without its rest orientation."""
    offset: Floats = _rest(settings.target, settings.subtarget).T @ _sound(settings.hand_offset)
    return offset


def _sound(stored: Sequence[float]) -> Floats:
    """Return a stored rotation (3, 3); none in place of one that a damaged file holds."""
    noted = np.array(stored, np.float64).reshape(3, 3)
    sound = np.isfinite(noted).all() and abs(abs(np.linalg.det(noted)) - 1.0) <= _DAMAGED
    return noted if sound else np.eye(3)


def _orientation(matrix: Matrix) -> Floats:
    return orientations(np.array(matrix, np.float64)[:3, :3])


# --- Going back --------------------------------------------------------------


def posed_hands(settings: bpy.types.PropertyGroup) -> list[str]:
    """Return the existing bones on a chain's tip that its solves and bakes have turned."""
    if not settings.hands_posed or settings.id_data.pose is None:
        return []
    names = settings.hands_posed.split("\n")
    return [name for name in names if name in settings.id_data.pose.bones]


def hands_with_keys(settings: bpy.types.PropertyGroup) -> list[str]:
    """Return the hands that a chain has turned, or would turn next; not those renamed since."""
    tip = settings.id_data.pose.bones.get(settings.tip) if settings.id_data.pose else None
    hands = read_hands(settings, tip)[0] if tip is not None else None
    return list(dict.fromkeys((*posed_hands(settings), *(hands.bones if hands is not None else ()))))


def note_posed(settings: bpy.types.PropertyGroup, bones: Sequence[str]) -> None:
    """Store that bones on a chain's tip are about to be turned."""
    known = posed_hands(settings)
    if not set(bones) <= set(known):
        settings.hands_posed = "\n".join(dict.fromkeys((*known, *bones)))


@contextmanager
def hands_remembered(chains: Iterable[Any]) -> Iterator[None]:
    """Store the hands of chains (`RigChain`) that are about to be turned, unless the code inside fails."""
    hands = [
        (settings, rig.hands.bones)
        for rig in chains
        if rig.hands is not None and (settings := chain_named(rig.armature, rig.name)) is not None
    ]
    with put_back_on_error((settings, "hands_posed") for settings, _ in hands):
        for settings, bones in hands:
            note_posed(settings, bones)
        yield


def put_hands_back(settings: bpy.types.PropertyGroup, bones: Iterable[str]) -> None:
    """Reset unkeyed bones that a chain no longer turns to rest, and forget them."""
    unkeyed = unkeyed_bones(settings.id_data, bones)
    for bone in unkeyed:
        for prop, rest in REST.items():
            setattr(bone, prop, rest)
    forget_posed(settings, [bone.name for bone in unkeyed])


def unkeyed_bones(armature: bpy.types.Object, bones: Iterable[str]) -> list[bpy.types.PoseBone]:
    """Return the bones whose rotations have no keys in any rotation mode."""
    keyed = {curve.data_path for curve in versions.existing_fcurves(armature)}
    posed = [armature.pose.bones[name] for name in bones]
    return [bone for bone in posed if not keyed.intersection(map(bone.path_from_id, REST))]


def forget_posed(settings: bpy.types.PropertyGroup, bones: Iterable[str]) -> None:
    """Forget that a chain has turned bones on its tip."""
    gone = set(bones)
    settings.hands_posed = "\n".join(name for name in posed_hands(settings) if name not in gone)
