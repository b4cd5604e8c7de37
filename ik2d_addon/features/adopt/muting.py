# SPDX-License-Identifier: GPL-3.0-or-later
"""Mute a constraint together with the animation of its mute, and restore both."""

from collections.abc import Iterator

import bpy

from ...core import IK2DError
from ...rig.animation import versions
from ...rig.animation.value_keys import driver_of

# The two properties that mute a constraint.
_PATHS = ("mute", "enabled")
# Separators in a note; nobody can type them in a name.
_BETWEEN, _WITHIN = "\n", "\t"


def why_not_silence(armature: bpy.types.Object, constraint: bpy.types.Constraint) -> str:
    """Return why a constraint and the animation of its mute cannot be muted; "" if they can."""
    name = f"The mute of '{constraint.name}' of bone '{_bone(armature, constraint)}'"
    if armature.override_library is not None and _drivers(armature, constraint):
        return f"{name} has a driver in the linked library, where alone it can be taken out"
    if any(not place[0].is_editable for place, _ in _curves(armature, constraint)):
        return f"{name} is keyed in an action that is linked from another file; make a copy of that"
    return ""


def silence(armature: bpy.types.Object, constraint: bpy.types.Constraint) -> str:
    """Mute a constraint and the animation of its mute; return a note of it for `unsilence`.

    Raises IK2DError, with nothing changed, for the reason that `why_not_silence` returns.
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
    """Restore what `silence` noted; return a sentence for each thing that is gone."""
    gone = []
    for line in note.split(_BETWEEN):
        kind, *words = line.split(_WITHIN)
        if kind == "mute":
            constraint.mute = bool(int(words[0]))
            continue
        path = constraint.path_from_id(words[0])
        if kind == "driver":
            curve = driver_of(armature, path)
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
    """Return the unmuted drivers of the constraint's mute."""
    found = (driver_of(armature, constraint.path_from_id(name)) for name in _PATHS)
    return [driver for driver in found if driver is not None and not driver.mute]


def _curves(
    armature: bpy.types.Object, constraint: bpy.types.Constraint
) -> Iterator[tuple[versions.Place, bpy.types.FCurve]]:
    """Yield the unmuted F-Curves of the constraint's mute, in action and NLA strips, with their places."""
    animation = armature.animation_data
    if animation is None:
        return
    holders = [versions.existing_channels(armature)]
    holders += [versions.strip_channels(strip) for strip in versions.playing_strips(animation)]
    for place in dict.fromkeys(versions.place_of(holder) for holder in holders if holder is not None):
        for name in _PATHS:
            curve = versions.curve_at(place, constraint.path_from_id(name), 0)
            if curve is not None and not curve.mute:
                yield place, curve
