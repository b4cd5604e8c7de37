# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults that keep an armature's channels from taking keys, and how to fix them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import bpy

from ...core import IK2DError
from ...core.inputs import Floats
from ...core.words import refusal, say
from . import actions as made
from . import nla, versions
from .actions import KnownChannels
from .bone_channels import ROTATIONS, BoneChannels, BoneRotation, rotation_property
from .value_keys import acting_driver, existing_drivers


@dataclass(frozen=True)
class Fault:
    """A fault that keeps keys from being written, or from playing as written."""

    kind: str  # LOCKED, SAMPLES, MUTED, MODIFIED, SHARED, DRIVEN, MIXED, MODE or SILENT
    sentence: str
    blocks: bool = False  # whether no key can be written


def check_writable(
    armature: bpy.types.Object, rotations: Sequence[BoneRotation], frames: Sequence[float] | Floats
) -> list[str]:
    """Return a sentence for each fault that keeps keys from playing, and for motion that they freeze.

    frames: as in `written`, in order. Raises IK2DError, before writing, where a channel cannot take keys.
    """
    warnings = []
    holder = versions.existing_channels(armature)
    known = KnownChannels(holder) if holder is not None else None
    for fault in faults(armature, rotations, known):
        if fault.blocks:
            raise IK2DError(fault.sentence)
        warnings.append(fault.sentence)
    paths = {path_of(armature, rotation): rotation.bone for rotation in rotations}
    return warnings + list(nla.frozen_motion(armature, paths, float(frames[0]), float(frames[-1])))


def faults(
    armature: bpy.types.Object, rotations: Sequence[BoneRotation], known: KnownChannels | None = None
) -> Iterator[Fault]:
    """Yield the faults of some channels, blocking ones first. known: an index, where many are asked for.

    Reads no keys, so that a panel may call it.
    """
    late = []
    for fault in (*_curve_faults(armature, rotations, known), *_group_faults(armature, rotations, known)):
        if fault.blocks:
            yield fault
        else:
            late.append(fault)
    yield from late
    for ob in versions.sharing_channels(armature):
        if any(_moves(ob, rotation) for rotation in rotations):
            yield Fault(
                'SHARED',
                say(
                    "'{armature}': '{object}' plays the same action and gets these keys too; give it a copy",
                    armature=armature.name,
                    object=ob.name,
                ),
            )
    for sentence in _silenced(armature, rotations):
        yield Fault('MODE', sentence)
    if reason := nla.why_silent(armature):
        yield Fault('SILENT', reason)
    animation = armature.animation_data
    if animation is None:
        return
    driven = {rotation.bone for rotation in rotations if any(drivers_of(armature, rotation))}
    for bone in sorted(driven):
        yield Fault(
            'DRIVEN',
            say(
                "'{armature}': bone '{bone}' is driven; drivers override keys",
                armature=armature.name,
                bone=bone,
            ),
        )
    if animation.action_influence < 1.0 or animation.action_blend_type != 'REPLACE':
        yield Fault(
            'MIXED',
            say(
                "'{armature}': its action is mixed with NLA strips; set it to Replace, influence 1",
                armature=armature.name,
            ),
        )


def _curve_faults(
    armature: bpy.types.Object, rotations: Sequence[BoneRotation], known: KnownChannels | None
) -> Iterator[Fault]:
    holder = known or versions.existing_channels(armature)
    if holder is None:
        return
    for rotation in rotations:
        mode = armature.pose.bones[rotation.bone].path_from_id("rotation_mode")
        if holder.fcurves.find(mode) is not None:
            yield Fault(
                'MODE',
                say(
                    "'{armature}': the rotation mode of bone '{bone}' is animated; delete its keys to bake",
                    armature=armature.name,
                    bone=rotation.bone,
                ),
                blocks=True,
            )
    for rotation in rotations:
        for curve in curves_of(armature, rotation, known):
            name = say("'{armature}': channel {channel}", armature=armature.name, channel=curve.data_path)
            if curve.lock or (curve.group and curve.group.lock):
                yield Fault('LOCKED', say("{name} is locked; unlock it to bake", name=name), blocks=True)
            if len(curve.sampled_points):
                yield Fault(
                    'SAMPLES',
                    say("{name} holds samples; turn them into keys to bake", name=name),
                    blocks=True,
                )
            if curve.mute:
                yield Fault('MUTED', say("{name} is muted: its keys do not play; unmute it", name=name))
            if any(not modifier.mute for modifier in curve.modifiers):
                yield Fault(
                    'MODIFIED',
                    say("{name} has F-Curve modifiers, which act on top of the keys; mute them", name=name),
                )


def _written(rotation: BoneRotation) -> Sequence[int]:
    """Return the channels of a property that are written."""
    if isinstance(rotation, BoneChannels):
        return rotation.channels
    return range(rotation.values.shape[1])


def curves_of(
    armature: bpy.types.Object, rotation: BoneRotation, known: KnownChannels | None = None
) -> list[bpy.types.FCurve]:
    """Return the existing F-Curves of a bone's channels. known: as in `faults`."""
    holder = known or versions.existing_channels(armature)
    if holder is None:
        return []
    path = path_of(armature, rotation)
    curves = (holder.fcurves.find(path, index=index) for index in _written(rotation))
    return [curve for curve in curves if curve is not None]


def drivers_of(armature: bpy.types.Object, rotation: BoneRotation) -> list[bpy.types.FCurve]:
    """Return the drivers of a bone's channels that are not muted."""
    if not len(existing_drivers(armature)):
        return []
    path = path_of(armature, rotation)
    drivers = (acting_driver(armature, path, index) for index in _written(rotation))
    return [driver for driver in drivers if driver is not None]


def notes_before(armature: bpy.types.Object, bones: Iterable[str], frames: Sequence[float]) -> list[str]:
    """Return a sentence for each thing that a bake of these bones will change outside its frames.

    Reads no keys, so that a panel may call it.
    """
    posed = [bone for bone in map(armature.pose.bones.get, bones) if bone is not None]
    paths = {bone.path_from_id(rotation_property(bone.rotation_mode)): bone.name for bone in posed}
    return list(nla.frozen_motion(armature, paths, float(frames[0]), float(frames[-1])))


def _group_faults(
    armature: bpy.types.Object, rotations: Sequence[BoneRotation], known: KnownChannels | None
) -> Iterator[Fault]:
    """Yield the faults of each group that keys go into."""
    for name, group in groups_of(armature, rotations, known).items():
        if group.lock:
            yield Fault(
                'LOCKED',
                say(
                    "'{armature}': channel group '{name}' is locked; unlock it to bake",
                    armature=armature.name,
                    name=name,
                ),
                blocks=True,
            )
        elif group.mute and versions.heeds_muted_groups(armature):
            yield Fault(
                'MUTED',
                say(
                    "'{armature}': channel group '{name}' is muted: its keys do not play; unmute it",
                    armature=armature.name,
                    name=name,
                ),
            )
        elif group.mute:
            yield Fault(
                'MUTED',
                say(
                    "'{armature}': channel group '{name}' is muted, which Blender applies in NLA strips "
                    "only: its keys play until the action becomes one; unmute it",
                    armature=armature.name,
                    name=name,
                ),
            )


def groups_of(
    armature: bpy.types.Object, rotations: Sequence[BoneRotation], known: KnownChannels | None = None
) -> dict[str, bpy.types.ActionGroup]:
    """Return the channel groups that keys go into, by name. known: as in `faults`."""
    holder = known or versions.existing_channels(armature)
    groups: dict[str, bpy.types.ActionGroup] = {}
    if holder is None:
        return groups
    for rotation in rotations:
        path = path_of(armature, rotation)
        for index in rotation.unlocked(armature):
            curve = holder.fcurves.find(path, index=index)
            if curve is not None:
                group = curve.group
            else:
                group = made.group_for(holder, rotation.bone) if rotation.keys(index) else None
            if group is not None:
                groups[group.name] = group
    return groups


def _moves(ob: bpy.types.Object, rotation: BoneRotation) -> bool:
    """Return whether keys of a bone move a bone of another object too."""
    bone = ob.pose.bones.get(rotation.bone) if ob.pose else None
    if bone is None:
        return False
    return isinstance(rotation, BoneChannels) or rotation_property(bone.rotation_mode) == rotation.property


def _silenced(armature: bpy.types.Object, rotations: Sequence[BoneRotation]) -> Iterator[str]:
    """Yield a sentence for each bone whose keys in its former rotation mode no longer play."""
    changed = [rotation for rotation in rotations if rotation.mode]
    if not changed:
        return
    keyed = nla.keyed_paths(armature)
    for rotation in changed:
        bone = armature.pose.bones[rotation.bone]
        old = [bone.path_from_id(name) for name in ROTATIONS if name != rotation.property]
        if keyed.intersection(old):
            yield say(
                "'{armature}': bone '{bone}' has keys in another rotation mode; they stay, but no "
                "longer play in {mode} Euler, also outside the baked frames",
                armature=armature.name,
                bone=rotation.bone,
                mode=rotation.mode,
            )


def refuse_tweak_mode(armature: bpy.types.Object) -> None:
    """Raise IK2DError for an armature in the NLA's tweak mode, where keys cannot be previewed."""
    if armature.animation_data and armature.animation_data.use_tweak_mode:
        raise refusal(
            "'{armature}' is in the NLA's tweak mode, where chains that depend on one another "
            "cannot be baked together; leave it (Tab in the NLA editor), or bake them one by one",
            armature=armature.name,
        )


def path_of(armature: bpy.types.Object, rotation: BoneRotation) -> str:
    """Return the RNA path of the channels that a bone's rotation, location or scale goes to."""
    return str(armature.pose.bones[rotation.bone].path_from_id(rotation.property))
