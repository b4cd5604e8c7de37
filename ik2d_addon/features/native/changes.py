# SPDX-License-Identifier: GPL-3.0-or-later
"""Fingerprint of a native chain: its drivers do not follow later changes of settings and rest pose."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import bpy
import numpy as np

from ...core.inputs import Floats
from ...core.swing import POLE, SWING
from ...core.words import say
from ...rig.chain.chain import chosen_solver
from ...rig.chain.checks.bones import rest_joints
from ...rig.chain.native_state import (
    TURNING,
    acts,
    constraints_of,
    controls_of,
    is_mechanism,
    is_native,
    is_own_empty,
)
from ...rig.chain.planes import FOLLOWING, reach_of
from ...rig.chain.post import POST
from ...rig.chain.renames import bones_of
from ...rig.rest import rest_matrix
from .mechanism.changes import mechanism_changed
from .post.building import turns_on_post
from .post.held import above_chain, held_numbers
from .swings import follows

# Edit Mode changes rest matrices a little; within this part of the reach they are the same.
_SAME = 2e-5


def changed_since_made(settings: bpy.types.PropertyGroup) -> str:
    """Return the first change that drivers do not follow: "its target is another one".

    settings: of a chain or a mechanism. Controls do not count: they act at once. "" without changes, and for
    what is not native.
    """
    if is_mechanism(settings):
        return mechanism_changed(settings)
    armature, names = settings.id_data, _bones(settings)
    if not is_native(settings) or not names:
        return ""
    if controls_of(settings) is None or not is_own_empty(settings.native_probe):
        return say("parts of it are gone")
    if settings.native_stand.parent != armature:
        return say("its empties are those of another armature")
    if turns_on_post(settings.native_stand) != (settings.plane == POST):
        return say("its settings are others")
    turning = {
        bone.name: constraint for bone, constraint in constraints_of(settings) if constraint.type in TURNING
    }
    if settings.plane == POST and settings.post not in turning:
        limited = {name for name, constraint in turning.items() if constraint.type == 'LIMIT_ROTATION'}
        gone = limited <= set(names)
        return say("parts of it are gone") if gone else say("its post is another one")
    made, numbers, held = settings.native_print.split(), _numbers(settings, names), held_numbers(settings)
    if made and len(made) - 1 != len(numbers) + len(held):
        return say("it has other bones")
    if not turning.keys() >= set(names):
        return say("parts of it are gone")
    first = turning[names[0]]
    if first.type == 'COPY_TRANSFORMS' and not _swings(settings, first):
        return say("parts of it are gone")
    copies = [settings.native_probe]
    kind = 'COPY_LOCATION'
    if settings.foot.is_added:  # the target is its control, and the copy has the ankle's place
        copies, kind = list(settings.native_stand.children), 'COPY_TRANSFORMS'
    if not any(follows(copy, kind, settings.target, settings.subtarget) for copy in copies):
        return say("its target is another one")
    if first.type == 'COPY_TRANSFORMS' and settings.plane == POLE:
        if not follows(first.target.parent, 'LOCKED_TRACK', settings.pole, settings.pole_subtarget):
            return say("its pole is another one")
    if made and made[0] != _digest(settings, names):
        return say("its settings are others")
    if made:
        off = np.abs(np.array(made[1:], np.float64) - np.concatenate((numbers, held)))
        if off[: len(numbers)].max() > _SAME:
            return say("its bones are others in rest")
        if off[len(numbers) :].max(initial=0.0) > _SAME:
            return say("its post, or a bone between it and the chain, is posed differently")
    return ""


def acts_as_set(settings: bpy.types.PropertyGroup) -> bool:
    """Return whether a chain or a mechanism is native, unmuted and unchanged since."""
    return acts(settings) and not changed_since_made(settings)


def fingerprint_of(settings: bpy.types.PropertyGroup) -> str:
    """Return the fingerprint of a chain's drivers: digest of its settings, numbers of its rest pose."""
    names = _bones(settings)
    numbers = np.concatenate((_numbers(settings, names), held_numbers(settings)))
    return " ".join((_digest(settings, names), *(f"{number:.8g}" for number in numbers)))


def _bones(settings: bpy.types.PropertyGroup) -> list[str]:
    armature = settings.id_data
    return bones_of(armature.data, settings.tip, settings.bone_count) if armature.pose else []


def _swings(settings: bpy.types.PropertyGroup, constraint: bpy.types.Constraint) -> bool:
    """Return whether the empties that turn a chain's first bone are there."""
    swing = constraint.target and constraint.target.parent
    return is_own_empty(swing) and swing.parent == settings.native_stand


def _digest(settings: bpy.types.PropertyGroup, names: Sequence[str]) -> str:
    text = repr(tuple(_settings(settings, names)))
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:12]


def _settings(settings: bpy.types.PropertyGroup, names: Sequence[str]) -> Iterator[Any]:
    """Yield the settings that go into the drivers."""
    if len(names) > 2:
        yield chosen_solver(len(names)) if settings.solver == 'AUTO' else settings.solver
        yield settings.root_turns_freely
    yield settings.plane, settings.plane == 'CUSTOM' and settings.plane_normal[:], settings.hand_rotation
    if settings.plane in FOLLOWING:  # of a straight chain its own normal counts, if it was set
        yield settings.is_property_set("plane_normal") and settings.plane_normal[:]
        if settings.plane == SWING and any(settings.swing_normal):
            yield settings.swing_normal[:]
        yield settings.plane == POLE and settings.pole_angle
        yield any(settings.id_data.pose.bones[names[0]].lock_rotation)
    foot = settings.foot
    if foot.is_added:
        yield foot.heel[:], foot.ball[:], foot.toe_tip[:], foot.use_ground, foot.ground and foot.ground.name
    if settings.plane == POST:
        yield settings.post_axis, settings.post_side
        yield settings.use_post_limit and (
            settings.post_limit_min,
            settings.post_limit_max,
            settings.post_reach_over,
        )
    yield settings.tip_rotation, settings.tip_angle_offset, settings.tip_angle_first
    if "stretch" in (controls_of(settings) or ()):
        yield settings.stretch_bones
    for joint in map(settings.joints.get, names):
        if joint is not None:
            yield joint.use_limit and (joint.limit_min, joint.limit_max), joint.weight, joint.use_slide


def _numbers(settings: bpy.types.PropertyGroup, names: Sequence[str]) -> Floats:
    """Return the log of the bones' reach at rest, their joints as parts of it, and their X axes (roll).

    Of a chain with a post the bones from there on.
    """
    bones = [*above_chain(settings), *(settings.id_data.pose.bones[name] for name in names)]
    joints = rest_joints(bones)
    reach = reach_of(joints)
    rolled = [rest_matrix(bone.bone)[:3, 0] for bone in bones]
    return np.concatenate(([np.log(reach)], joints.ravel() / reach, np.ravel(rolled)))
