# SPDX-License-Identifier: GPL-3.0-or-later
"""Which constraints turn a limb besides its IK; mute one, whatever sets its mute, and give it back."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bpy.types import Action, Constraint, FCurve, Object

from ...core.words import say
from ...rig.animation import versions
from ...rig.animation.value_keys import driver_of
from ...rig.chain.dependencies import SWITCHES, is_animated

# A line of a note of 1.0.0: the path of a driver; or that of an F-Curve, and the handle of its slot.
_LINE = re.compile(r"(?:driver|(curve))\t((?:.*\.)?(mute|enabled))(?(1)\t(\d{1,10}))")


class Acting(NamedTuple):
    """When an IK constraint acts, or what blends with it as its chain will."""

    now: bool  # at the current frame
    ever: bool  # on any of the watched frames


@dataclass(frozen=True, eq=False)
class Turning:
    """Constraints that turn a limb's bones besides its IK, each (bone, constraint)."""

    muted: tuple[tuple[str, str], ...] = ()  # they only turned what the IK starts from
    # The following copy FK bones where the IK's influence is animated. They stay, as the chain then always
    # acts: some get 1 - that influence, the others have an animated influence of their own.
    given: tuple[tuple[str, str], ...] = ()
    kept: tuple[tuple[str, str], ...] = ()
    is_stuck: bool = False  # whether the influence has an animation that they cannot be given

    @property
    def copies(self) -> tuple[tuple[str, str], ...]:
        """All that copy FK bones."""
        return self.given + self.kept


def silence(armature: Object, constraint: Constraint) -> tuple[bool, Object | None]:
    """Mute a constraint; return whether it was muted, and the target that it has lost.

    Where keys, drivers or NLA strips set its mute, it loses its target too, which nothing can animate.
    """
    was_muted, lost = bool(constraint.mute), None
    constraint.mute = True
    if is_animated(armature, constraint, SWITCHES) or _curves(_in_strips(armature), _paths(constraint)):
        lost, constraint.target = constraint.target, None
    return was_muted, lost


def unsilence(constraint: Constraint, was_muted: bool, target: Object | None, subtarget: str) -> None:
    """Give a constraint its mute back, and its target where it has lost that."""
    if target is not None:
        constraint.target, constraint.subtarget = target, subtarget
    constraint.mute = was_muted


# --- Notes of 1.0.0 -----------------------------------------------------------
# It muted the drivers and the F-Curves of a mute, where now the target is taken out.


def unsilence_as_noted(
    armature: Object, constraint: Constraint, which: str, note: str, actions: Sequence[Action | None]
) -> str:
    """Restore a constraint's mute and what animates it; by a damaged note all that is muted now.

    which: the constraint in words. actions: those of the F-Curves in the note, in their order. Returns a
    sentence about what is gone; "" where nothing is.
    """
    first, *lines = note.split("\n")
    noted, left = [_LINE.fullmatch(line) for line in lines], list(actions)
    own = versions.existing_channels(armature)  # the action may have been copied
    constraint.mute = first == "mute\t1"
    count = sum(line is not None and line[1] is not None for line in noted)
    if first not in ("mute\t0", "mute\t1") or None in noted or count > len(left):
        paths = _paths(constraint)
        _unmute([*_drivers(armature, paths), *_curves([own, *_in_strips(armature)], paths)])
        return say("The note on {which} is damaged: it acts now; look at its mute", which=which)
    is_gone = False
    for line in filter(None, noted):
        paths = [constraint.path_from_id(line[3]), line[2]]  # it may have been renamed while not played
        if line[1]:
            is_gone |= not _unmute(_curves([versions.channels_at((left.pop(0), int(line[4]))), own], paths))
        else:
            is_gone |= not _unmute(_drivers(armature, paths))
    return say("Animation of the mute of {which} is gone", which=which) if is_gone else ""


# --- What animates a mute -----------------------------------------------------


def _paths(constraint: Constraint) -> list[str]:
    return [constraint.path_from_id(name) for name in SWITCHES]


def _drivers(armature: Object, paths: Sequence[str]) -> list[FCurve]:
    drivers = (driver_of(armature, path) for path in paths)
    return [driver for driver in drivers if driver is not None]


def _curves(holders: Iterable[versions.Channels | None], paths: Sequence[str]) -> list[FCurve]:
    """Return the F-Curves of some paths in actions or channel bags."""
    curves = (holder.fcurves.find(path) for holder in holders if holder for path in paths)
    return [curve for curve in curves if curve is not None]


def _in_strips(armature: Object) -> list[versions.Channels | None]:
    """Return the actions or channel bags that an armature plays in NLA strips."""
    animation = armature.animation_data
    return list(map(versions.strip_channels, versions.playing_strips(animation))) if animation else []


def _unmute(curves: Sequence[FCurve]) -> bool:
    """Unmute F-Curves or drivers; return whether there are any."""
    for curve in curves:
        curve.mute = False
    return bool(curves)
