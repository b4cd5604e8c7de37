# SPDX-License-Identifier: GPL-3.0-or-later
"""Muting a constraint for good, whatever animates its mute, and putting that back."""

from collections.abc import Iterator

import bpy

from ...core import IK2DError
from ...rig.animation import versions

# Two names of one setting.
_PATHS = ("mute", "enabled")
# What keeps the notes of several things in one string apart; it is in no name that can be typed.
_BETWEEN, _WITHIN = "\n", "\t"


def why_not_silence(armature: bpy.types.Object, constraint: bpy.types.Constraint) -> str:
    """Say why a constraint cannot be muted for good; "" where it can."""
    name = f"The mute of '{constraint.name}' of bone '{_bone(armature, constraint)}'"
    if armature.override_library is not None and _drivers(armature, constraint):
        return f"{name} has a driver in the linked library, where alone it can be taken out"
    if any(not place[0].is_editable for place, _ in _curves(armature, constraint)):
        return f"{name} is keyed in an action that is linked from another file; make a copy of that"
    return ""


def silence(armature: bpy.types.Object, constraint: bpy.types.Constraint) -> str:
    """Mute a constraint, and what animates that; return a note of it for `unsilence`.

    Raises IK2DError, with nothing changed, where `why_not_silence` says why.
    """
    reason = why_not_silence(armature, constraint)
    if reason:
        raise IK2DError(reason)
    notes = [_WITHIN.join(("mute", str(int(constraint.mute))))]
    for driver in _drivers(armature, constraint):
        notes.append(_WITHIN.join(("driver", driver.data_path.rpartition(".")[2])))
        driver.mute = True
    for (action, handle), curve in _curves(armature, constraint):
        notes.append(_WITHIN.join(("curve", curve.data_path.rpartition(".")[2], action.name, str(handle))))
        curve.mute = True
    constraint.mute = True
    return _BETWEEN.join(notes)


def unsilence(armature: bpy.types.Object, constraint: bpy.types.Constraint, note: str) -> list[str]:
    """Put back what `silence` noted; return a sentence for each thing that is gone."""
    gone = []
    for line in note.split(_BETWEEN):
        kind, *words = line.split(_WITHIN)
        if kind == "mute":
            constraint.mute = bool(int(words[0]))
            continue
        path = constraint.path_from_id(words[0])
        if kind == "driver":
            curve = armature.animation_data.drivers.find(path) if armature.animation_data else None
        else:
            action = bpy.data.actions.get(words[1])
            curve = versions.curve_at((action, int(words[2])), path, 0) if action is not None else None
        if curve is None:
            gone.append(f"The {kind} on the mute of '{constraint.name}' is gone")
        else:
            curve.mute = False
    return gone


def _bone(armature: bpy.types.Object, constraint: bpy.types.Constraint) -> str:
    return next((bone.name for bone in armature.pose.bones if constraint in bone.constraints.values()), "")


def _drivers(armature: bpy.types.Object, constraint: bpy.types.Constraint) -> list[bpy.types.FCurve]:
    """Return the drivers that set whether the constraint is muted."""
    if armature.animation_data is None:
        return []
    found = (armature.animation_data.drivers.find(constraint.path_from_id(name)) for name in _PATHS)
    return [driver for driver in found if driver is not None and not driver.mute]


def _curves(
    armature: bpy.types.Object, constraint: bpy.types.Constraint
) -> Iterator[tuple[versions.Place, bpy.types.FCurve]]:
    """Yield the F-Curves that play on it, of the action and of NLA strips, each with where it is."""
    animation = armature.animation_data
    if animation is None:
        return
    holders = [versions.existing_channels(armature)]
    holders += [versions.strip_channels(strip) for strip in versions.playing_strips(animation)]
    seen = set()
    for holder in holders:
        if holder is None or versions.place_of(holder) in seen:
            continue
        seen.add(versions.place_of(holder))
        for name in _PATHS:
            curve = holder.fcurves.find(constraint.path_from_id(name))
            if curve is not None and not curve.mute:
                yield versions.place_of(holder), curve
