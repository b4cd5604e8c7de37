# SPDX-License-Identifier: GPL-3.0-or-later
"""Fingerprints of all that a live chain was read from: where one differs, it is read anew."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import bpy

from ..rig.chain.renames import bones_of

# What is read on each frame anyway, or says nothing of how a chain is solved.
_NO_SETTINGS = {"rna_type", "enabled", "live", "live_status", "softness", "influence", "active_joint"}
_NO_SETTINGS |= {"last_solve", "last_bake", "last_bake_alert", "last_solve_alert", "solve_mark", "bake_mark"}
_NO_SETTINGS |= {"bake_reached", "missed_frames", "worst_frame", "left_out", "plane_taken", "is_off_plane"}
_NO_SETTINGS |= {"is_scaled", "scale_base", "scale_posed", "slid", "slide_base", "accepted_off_plane"}
_NO_SETTINGS |= {"hands_posed", "native_before", "native_print"}
_VECTORS = {"plane_normal", "hand_offset"}
_DATA = ("name", "length", "use_connect", "use_inherit_rotation", "inherit_scale", "use_local_location")
_LOCKS = ("rotation_mode", "lock_rotations_4d", "lock_rotation_w")
# Of an object or a bone, what others move it by.
_OF_CONSTRAINTS = ("type", "mute", "enabled", "target", "subtarget")


def fingerprint(armature: bpy.types.Object, settings: bpy.types.PropertyGroup) -> tuple[Any, ...]:
    """Return all that a chain is read from: its settings and joints, its bones, and what moves its target."""
    names = bones_of(armature.data, settings.tip, settings.bone_count)
    posed = armature.pose.bones if armature.pose else {}
    bones = [posed[name] for name in names if name in posed]
    above = bones[0].parent if bones else None
    joints = map(settings.joints.get, names)
    return (
        tuple(_values(settings)),
        tuple(tuple(_values(joint)) for joint in joints if joint is not None),
        above and above.name,
        tuple(tuple(_of_bone(bone)) for bone in bones),
        tuple(_hands(armature, settings, bones[-1]) if bones and settings.hand_rotation != 'NONE' else ()),
        tuple(_moved_by(settings.target, settings.subtarget)),
    )


@cache
def _names(kind: type) -> tuple[str, ...]:
    """Return the names of a group's plain settings."""
    return tuple(
        found.identifier
        for found in kind.bl_rna.properties
        if found.type != 'COLLECTION' and found.identifier not in _NO_SETTINGS
        if found.type != 'POINTER' or found.identifier == "target"
    )


def _values(group: bpy.types.PropertyGroup) -> Iterator[Any]:
    for name in _names(type(group)):
        value = getattr(group, name)
        yield value[:] if name in _VECTORS else value


def _of_bone(bone: bpy.types.PoseBone) -> Iterator[Any]:
    data = bone.bone
    for name in _DATA:
        yield getattr(data, name)
    yield data.matrix_local.copy().freeze()
    for name in _LOCKS:
        yield getattr(bone, name)
    yield bone.lock_location[:], bone.lock_scale[:]
    locks = bone.lock_rotation[:]
    yield locks
    if any(locks):  # what is locked off its rest holds the bone
        yield (*bone.rotation_quaternion, *bone.rotation_euler, *bone.rotation_axis_angle)


def _hands(
    armature: bpy.types.Object, settings: bpy.types.PropertyGroup, tip: bpy.types.PoseBone
) -> Iterator[Any]:
    """Yield what says which bones on a chain's tip have an orientation of their own, and how they turn."""
    for bone in (armature.pose.bones[child.name] for child in tip.bone.children):
        yield (*_of_bone(bone), tuple(_of_constraints(bone)))
        yield tuple(constraint.influence > 0.0 for constraint in bone.constraints)
    yield tuple((chain.enabled, chain.tip, chain.bone_count) for chain in armature.ik2d.chains)
    if settings.subtarget and settings.target and settings.target.type == 'ARMATURE':
        aim = settings.target.data.bones.get(settings.subtarget)
        yield aim and aim.matrix_local.copy().freeze()
    yield len(armature.animation_data.drivers) if armature.animation_data else 0


def _moved_by(target: bpy.types.Object | None, subtarget: str) -> Iterator[Any]:
    """Yield what a target and its parents hang on by their own doing."""
    seen = set()
    while target is not None and target not in seen:
        seen.add(target)
        yield target.is_missing, target.parent_type, target.parent_bone, bool(target.users_scene)
        yield tuple(_of_constraints(target))
        if target.pose and subtarget in target.pose.bones:
            bone = target.pose.bones[subtarget]
            for holder in (bone, *bone.parent_recursive):
                yield holder.name, tuple(_of_constraints(holder))
        animation = target.animation_data
        yield tuple(curve.data_path for curve in animation.drivers) if animation else ()
        target, subtarget = target.parent, target.parent_bone


def _of_constraints(holder: bpy.types.Object | bpy.types.PoseBone) -> Iterator[Any]:
    for constraint in holder.constraints:
        yield tuple(getattr(constraint, name, None) for name in _OF_CONSTRAINTS)
