# SPDX-License-Identifier: GPL-3.0-or-later
"""Mute a constraint together with the animation of its mute, and restore both."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bpy.types import Action, Constraint, FCurve, Object

from ...core import IK2DError
from ...core.words import say
from ...rig.animation import versions
from ...rig.animation.value_keys import acting_driver, driver_of, existing_drivers, is_broken

# The two properties that mute a constraint.
_PATHS = ("mute", "enabled")
# Separators in a note: Blender escapes them in paths.
_BETWEEN, _WITHIN = "\n", "\t"


@dataclass(frozen=True)
class Unrestored:
    """Sentences about what could not be restored."""

    gone: tuple[str, ...] = ()  # what exists no more
    held: tuple[str, ...] = ()  # what may exist, each with the way to it


def why_not_silence(armature: Object, constraint: Constraint) -> str:
    """Return why a constraint and the animation of its mute cannot be muted; "" if they can."""
    name = say(
        "The mute of '{constraint}' of bone '{bone}'",
        constraint=constraint.name,
        bone=_bone(armature, constraint),
    )
    if armature.override_library is not None and _drivers(armature, constraint):
        return say("{name} has a driver in the linked library, where alone it can be taken out", name=name)
    if any(not place[0].is_editable for place, _ in _curves(armature, constraint)):
        return say(
            "{name} is keyed in an action that is linked from another file; make a copy of that", name=name
        )
    return ""


def silence(armature: Object, constraint: Constraint) -> tuple[str, list[Action]]:
    """Mute a constraint and the animation of its mute; return a note of it for `unsilence`.

    And the actions of the F-Curves in the note, in their order, as an action may be renamed. Raises
    IK2DError, with nothing changed, for the reason that `why_not_silence` returns.
    """
    reason = why_not_silence(armature, constraint)
    if reason:
        raise IK2DError(reason)
    notes, actions = [_WITHIN.join(("mute", str(int(constraint.mute))))], []
    for driver in _drivers(armature, constraint):
        notes.append(_WITHIN.join(("driver", driver.data_path)))
        driver.mute = True
    for (action, handle), curve in _curves(armature, constraint):
        notes.append(_WITHIN.join(("curve", curve.data_path, str(handle))))
        actions.append(action)
        curve.mute = True
    constraint.mute = True
    return _BETWEEN.join(notes), actions


def unsilence(
    armature: Object, constraint: Constraint, note: str, actions: Sequence[Action | None]
) -> Unrestored:
    """Restore what `silence` noted; where the note is damaged, all that is muted now."""
    read = _read(note, actions)
    if read is None:
        constraint.mute = False
        paths = [constraint.path_from_id(name) for name in _PATHS]
        drivers = filter(None, (driver_of(armature, path) for path in paths))
        for curve in (*drivers, *_found(paths, _places(armature))):
            curve.mute = False
        bone = _bone(armature, constraint)
        return Unrestored(
            (
                say(
                    "The note on '{constraint}' of bone '{bone}' is damaged: it acts now; look at its mute",
                    constraint=constraint.name,
                    bone=bone,
                ),
            )
        )
    constraint.mute, animated = read
    gone, held = [], []
    for old_path, place in animated:
        paths = [constraint.path_from_id(old_path.rpartition(".")[2]), old_path]
        if place is None:
            what = say("The driver on the mute of '{constraint}'", constraint=constraint.name)
        else:
            what = say("The curve on the mute of '{constraint}'", constraint=constraint.name)
        if place is None:
            around = existing_drivers(armature)
            curves = [curve for curve in around if curve.data_path in paths]
        else:
            channels = versions.channels_at(place)
            around = channels.fcurves if channels else ()
            its_channels = versions.existing_channels(armature)  # the action may have been copied
            curves = _found(paths, [place, *([versions.place_of(its_channels)] if its_channels else ())])
        for curve in curves:
            curve.mute = False
        linked = [curve.id_data.name for curve in curves if not curve.id_data.is_editable]
        if linked:
            held.append(
                say(
                    "{what} is in '{linked}', which is linked now: make that local, and restore again",
                    what=what,
                    linked=linked[0],
                )
            )
        elif not curves and any(_may_be(armature, curve, old_path) for curve in around):
            held.append(
                say("{what} has lost its path: unmute it in the Graph Editor, and restore again", what=what)
            )
        elif not curves:
            gone.append(say("{what} is gone", what=what))
    return Unrestored(tuple(gone), tuple(held))


def _read(
    note: str, actions: Iterable[Action | None]
) -> tuple[bool, list[tuple[str, versions.Place | None]]] | None:
    """Return from a note whether it was muted, and the paths and places of what animated that.

    The place of a driver is None. None for a damaged note.
    """
    first, *lines = (line.split(_WITHIN) for line in note.split(_BETWEEN))
    rest, animated = iter(actions), []
    try:
        for line in lines:
            kind, path, *handle = line
            if path.rpartition(".")[2] not in _PATHS or (kind, len(handle)) not in _LINES:
                return None
            animated.append((path, (next(rest), int(handle[0])) if handle else None))
    except (ValueError, StopIteration):
        return None
    return (first[1] == "1", animated) if first in (["mute", "0"], ["mute", "1"]) else None


_LINES = (("driver", 0), ("curve", 1))


def _may_be(armature: Object, curve: FCurve, old_path: str) -> bool:
    """Return whether an F-Curve is muted, was of a constraint's mute, and has lost that."""
    name = old_path.rpartition(".")[2]
    return curve.mute and curve.data_path.endswith(f"].{name}") and is_broken(armature, curve)


def _found(paths: Iterable[str], places: Iterable[versions.Place]) -> list[FCurve]:
    """Return the F-Curves of some paths in some places."""
    curves = [versions.curve_at(place, path, 0) for place in dict.fromkeys(places) for path in paths]
    return [curve for curve in curves if curve is not None]


def _bone(armature: Object, constraint: Constraint) -> str:
    return next((bone.name for bone in armature.pose.bones if constraint in bone.constraints.values()), "")


def _drivers(armature: Object, constraint: Constraint) -> list[FCurve]:
    """Return the unmuted drivers of the constraint's mute."""
    drivers = (acting_driver(armature, constraint.path_from_id(name)) for name in _PATHS)
    return [driver for driver in drivers if driver is not None]


def _curves(armature: Object, constraint: Constraint) -> Iterator[tuple[versions.Place, FCurve]]:
    """Yield the unmuted F-Curves of the constraint's mute, in action and NLA strips, with their places."""
    paths = [constraint.path_from_id(name) for name in _PATHS]
    for place in _places(armature):
        for curve in _found(paths, [place]):
            if not curve.mute:
                yield place, curve


def _places(armature: Object) -> list[versions.Place]:
    """Return the places of the F-Curves that an armature plays, in action and NLA strips."""
    animation = armature.animation_data
    if animation is None:
        return []
    holders = [versions.existing_channels(armature)]
    holders += [versions.strip_channels(strip) for strip in versions.playing_strips(animation)]
    return list(dict.fromkeys(versions.place_of(holder) for holder in holders if holder is not None))
