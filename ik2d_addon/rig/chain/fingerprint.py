# SPDX-License-Identifier: GPL-3.0-or-later
"""Fingerprints of a chain's inputs, in parts, to see later whether they have changed.

Properties with the option HIDDEN are state and do not count. The names of the others are looked up once
for each class, as live chains ask often.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import bpy
import numpy as np

from ...core.swing import POLE
from ..animation.bone_channels import locked_channels, rotation_property
from ..animation.value_keys import existing_drivers
from ..rest import rest_bone
from .dependencies import Node, acts_now, leaders, leading, walk
from .foot.foot import FOOT_NAMES, ground_of
from .native_state import is_mechanism
from .post import DECIDING, bones_to_post
from .renames import bones_of

# The contacts of a foot, or of a tip without one. Plant Feet reads them, no solve does.
CONTACTS = ("contact", "contact_heel", "contact_toe")
# Whether a chain is solved at all, and names: bones may be renamed.
_NO_SETTINGS = {"name", "enabled", "live", "tip", "post", "subtarget", "pole_subtarget", *CONTACTS}
# Settings that live chains read on each frame.
_EACH_FRAME = {"softness", "influence", *FOOT_NAMES}
_DATA = ("name", "length", "use_connect", "use_inherit_rotation", "inherit_scale", "use_local_location")
_LOCKS = ("rotation_mode", "lock_rotations_4d", "lock_rotation_w")
# Properties of the constraints of an object or a bone.
_OF_CONSTRAINTS = ("type", "mute", "enabled", "target", "subtarget")


def fingerprint(armature: bpy.types.Object, chain: bpy.types.PropertyGroup) -> tuple[Any, ...]:
    """Return the fingerprint of a chain: its settings and joints, its bones, and its target's movers."""
    names = bones_of(armature.data, chain.tip, chain.bone_count)
    posed = armature.pose.bones if armature.pose else {}
    bones = [posed[name] for name in names if name in posed]
    above = bones[0].parent if bones else None
    return (
        (chain.tip, chain.native_constraint),
        settings_of(chain, _EACH_FRAME),
        [settings_of(joint) for joint in map(chain.joints.get, names) if joint is not None],
        above and above.name,
        [tuple(_rest_of(bone)) for bone in bones],
        settings_of(chain.foot, _EACH_FRAME),
        list(_hands(armature, chain, bones[-1]) if bones and has_own_rotation(chain) else ()),
        _target_rest(chain.target, chain.subtarget) if chain.tip_rotation == 'TARGET' else None,
        [(*node, *_moved_by(*node)) for node in followed_by(chain)],
        [(*_rest_of(bone), *_held_below_post(bone)) for bone in bones_to_post(chain)],
    )


def mechanism_fingerprint(armature: bpy.types.Object, settings: Any) -> tuple[Any, ...]:
    """Return the fingerprint of a mechanism: its settings, its bones with what carries them, its targets."""
    posed = armature.pose.bones if armature.pose else {}
    bones = [posed[bone.name] for bone in settings.bones if bone.name in posed]
    ends = {name for joint in settings.joints for name in (joint.bone, joint.other) if name in posed}
    return (
        settings_of(settings),
        [(bone.name, bone.other_side) for bone in settings.bones],
        [settings_of(joint) for joint in settings.joints],
        [settings_of(driver, {"length"}) for driver in settings.drivers],
        [(*_rest_of(bone), bone.parent and bone.parent.name) for bone in bones],
        [(bone.location[:], bone.scale[:]) for bone in bones],
        [(name, *_data_of(posed[name].bone)) for name in sorted(ends)],
        [(*node, *_moved_by(*node)) for node in dragged_to(settings)],
    )


def settings_of(
    group: bpy.types.PropertyGroup, left_out: Collection[str] = frozenset()
) -> list[tuple[str, Any]]:
    """Return the settings of a rig, a chain or a joint, each with its name."""
    kind: Any = group.__class__  # of a copy that is read in its place too
    return [
        (name, tuple(value) if is_array else value)
        for name, is_array in names_of(kind)
        if name not in left_out
        for value in [getattr(group, name)]
    ]


@cache
def names_of(kind: Any) -> tuple[tuple[str, bool], ...]:
    """Return the names of a group's settings, each with whether it holds several values."""
    return tuple(
        (setting.identifier, getattr(setting, "is_array", False))
        for setting in kind.bl_rna.properties
        if setting.type not in {'POINTER', 'COLLECTION'} and not setting.is_hidden
        if setting.identifier not in _NO_SETTINGS
    )


def key_places(curves: Iterable[bpy.types.FCurve]) -> list[tuple[int, bool, str]]:
    """Return each F-Curve's index, whether it is muted, and a digest of its keys without handles."""
    found, places = [], np.empty(0, "f4")
    for curve in curves:
        points = curve.keyframe_points
        if places.size != (count := 2 * len(points)):
            places = np.empty(count, "f4")
        points.foreach_get("co", places)
        found.append((curve.array_index, curve.mute, digest(places)))
    return found


def digest(data: Any) -> str:
    """Return a digest of bytes, or of an array."""
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


def dragged_to(mechanism: Any) -> list[Node]:
    """Return the target of each driver of a mechanism, with its bone or ""; None of a driver without one."""
    return [(driver.target, driver.subtarget) for driver in mechanism.drivers]


def followed_by(chain: bpy.types.PropertyGroup, with_ground: bool = True) -> list[Node]:
    """Return the objects that lead a chain, each with its bone or "".

    Its target, its pole where its plane has one, and, with_ground, the ground under its foot.
    """
    pole = [(chain.pole, chain.pole_subtarget)] if chain.plane == POLE else []
    ground = ground_of(chain) if with_ground else None
    return [(chain.target, chain.subtarget), *pole, *([ground] if ground else ())]


def led_by(one: bpy.types.PropertyGroup) -> list[Node]:
    """Return the target and pole of a chain, or targets of a mechanism, and those that they are blends of.

    They are what a person moves.
    """
    return leading(dragged_to(one) if is_mechanism(one) else followed_by(one, with_ground=False))


def has_own_rotation(chain: bpy.types.PropertyGroup) -> bool:
    """Return whether what hangs on a chain's tip has an orientation of its own."""
    return bool(chain.hand_rotation != 'NONE' or chain.foot.is_added)


def holders_of(
    target: bpy.types.Object | None, subtarget: str
) -> Iterator[tuple[bpy.types.Object, list[bpy.types.PoseBone]]]:
    """Yield a target, what it is a blend of, and their parents, each with the bones that move the target."""
    holders: dict[bpy.types.Object, list[bpy.types.PoseBone]] = {}
    for ob, name in walk([(target, subtarget)], leaders):
        bones = holders.setdefault(ob, [])
        if name and ob.pose is not None and name in ob.pose.bones:
            bones.append(ob.pose.bones[name])
    yield from holders.items()


def rest_fingerprint(
    bones: Sequence[bpy.types.PoseBone], target: bpy.types.Object | None, subtarget: str
) -> list[Any]:
    """Return the fingerprint of rest poses, of whose child is whose, and of the locks of a chain's bones.

    Armature data with drivers or keys counts as updated on each frame: this tells whether it was edited.
    """
    above, children = bones[0].bone.parent, bones[-1].bone.children
    parts = [list(_data_of(bone)) for bone in (*(bone.bone for bone in bones), *children)]
    locks = [list(_locks_of(bone)) for bone in bones]
    return [above and above.name, parts, locks, _target_rest(target, subtarget)]


def post_fingerprint(chain: bpy.types.PropertyGroup) -> list[Any]:
    """Return the fingerprint of the bones from a chain's post to its first one, without their names.

    Where they are in the armature, their rest poses to as much as Edit Mode leaves as it is, locks and
    constraints.
    """
    numbers = chain.id_data.data.bones
    parts: list[Any] = []
    for bone in bones_to_post(chain):
        rest, place = bone.bone, numbers.find(bone.name)
        above = numbers.find(rest.parent.name) if rest.parent is not None else -1
        ends = np.array((rest.head_local, rest.tail_local)) / max(rest.length, 1e-12)
        axes = np.array(rest.matrix_local.to_3x3())
        rounded = [(np.round(values, 3) + 0.0).tolist() for values in (ends, axes)]
        data = [getattr(rest, name) for name in _DATA if name not in ("name", "length")]
        parts.append((place, above, rounded, data, *_locks_of(bone), *_ik_locks(bone)))
        for constraint in bone.constraints:
            target, name = getattr(constraint, "target", None), getattr(constraint, "subtarget", "")
            there = target.data.bones.find(name) if target is not None and target.type == 'ARMATURE' else -1
            settings = tuple(getattr(constraint, each, "") for each in DECIDING)
            parts.append((constraint.type, constraint.mute, target and target.name, there, *settings))
    return parts


def _held_below_post(bone: bpy.types.PoseBone) -> Iterator[Any]:
    """Yield the inputs that decide on what a bone hangs, and whether it turns with a post or as one."""
    yield bone.parent and bone.parent.name
    yield from _ik_locks(bone)
    yield from _of_constraints(bone)
    for constraint in bone.constraints:
        yield acts_now(constraint), *(getattr(constraint, name, "") for name in DECIDING)


def _ik_locks(bone: bpy.types.PoseBone) -> Iterator[bool]:
    for axis in "xyz":
        yield getattr(bone, f"lock_ik_{axis}")


def _data_of(bone: bpy.types.Bone) -> Iterator[Any]:
    """Yield a bone's rest pose, and how it takes its parent's."""
    for name in _DATA:
        yield getattr(bone, name)
    yield bone.matrix_local.copy().freeze()


def _rest_of(bone: bpy.types.PoseBone) -> Iterator[Any]:
    """Yield a bone's rest pose and its locks."""
    yield from _data_of(bone.bone)
    yield from _locks_of(bone)
    locked = locked_channels(bone)
    if any(locked):  # what is locked off its rest holds the bone
        values = getattr(bone, rotation_property(bone.rotation_mode))
        yield tuple(value for value, is_locked in zip(values, locked, strict=True) if is_locked)


def _locks_of(bone: bpy.types.PoseBone) -> Iterator[Any]:
    """Yield a bone's rotation mode and its locks."""
    for name in _LOCKS:
        yield getattr(bone, name)
    yield bone.lock_location[:], bone.lock_scale[:], bone.lock_rotation[:]


def _hands(
    armature: bpy.types.Object, chain: bpy.types.PropertyGroup, tip: bpy.types.PoseBone
) -> Iterator[Any]:
    """Yield the inputs that decide on a chain's hands and how they turn."""
    hanging = tip.bone.children_recursive if chain.foot.is_added else tip.bone.children
    posed = (armature.pose.bones.get(child.name) for child in hanging)
    for bone in filter(None, posed):  # in Edit Mode some are not made yet
        yield (*_rest_of(bone), *_of_constraints(bone))
        yield [constraint.influence > 0.0 for constraint in bone.constraints]
    yield [(other.enabled, other.tip, other.bone_count) for other in armature.ik2d.chains]
    yield _target_rest(chain.target, chain.subtarget)
    yield len(existing_drivers(armature))


def _target_rest(target: bpy.types.Object | None, subtarget: str) -> Any:
    """Return the rest matrix of a target bone; None for an object."""
    bone = rest_bone(target, subtarget)
    return bone and bone.matrix_local.copy().freeze()


def _moved_by(target: bpy.types.Object | None, subtarget: str) -> Iterator[Any]:
    """Yield the parents, constraints and drivers of a target and its parents."""
    for ob, bones in holders_of(target, subtarget):
        yield ob.is_missing, ob.parent_type, ob.parent_bone, bool(ob.users_scene)
        for holder in (ob, *bones):
            yield holder.name, *_of_constraints(holder)
        yield [driver.data_path for driver in existing_drivers(ob)]


def _of_constraints(holder: bpy.types.Object | bpy.types.PoseBone) -> Iterator[Any]:
    for constraint in holder.constraints:
        yield tuple(getattr(constraint, name, None) for name in _OF_CONSTRAINTS)
