# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures with chains, and which of them the F-Curves of an action belong to."""

import re
from collections.abc import Iterable, Iterator
from enum import Enum

import bpy

from ...animation import versions

_BONE = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]')


def with_settings(objects: Iterable[bpy.types.Object]) -> Iterator[bpy.types.Object]:
    """Yield the armatures among objects that have our settings."""
    for ob in objects:
        # Reading the settings of an object that has none makes some, so ask first.
        if ob.type == 'ARMATURE' and ob.is_property_set("ik2d"):
            yield ob


class Claim(Enum):
    """An object's claim to the F-Curves of an action's slot."""

    OWN = "its own"
    SHARED = "another one plays them too"
    UNCLEAR = "its own or another one's"
    NONE = "another one's"


class Owners:
    """Which armature the F-Curves of an action belong to: read once for all actions."""

    def __init__(self, armature: bpy.types.Object) -> None:
        self.armature = armature
        self.others = [
            one for one in with_settings(bpy.data.objects) if one != armature and len(one.ik2d.chains)
        ]
        self._played = set(versions.places_played(armature))
        self._players: dict[versions.Place, list[bpy.types.Object]] = {}
        for other in self.others:
            for place in versions.places_played(other):
                self._players.setdefault(place, []).append(other)

    def plays(self, place: versions.Place) -> bool:
        """Return whether the armature plays what is at a place, by itself or in NLA strips, muted or not."""
        return place in self._played

    def sharing(self, place: versions.Place) -> list[bpy.types.Object]:
        """Return the other armatures that play what is at a place."""
        return self._players.get(place, [])

    def claim(self, holder: versions.Channels, slot: str) -> Claim:
        """Return the armature's claim to an action's channels. slot: the identifier of theirs, "" for none.

        They belong to the armature that plays them; if none does, to the one that the slot is named after,
        else to the one that has most of the bones.
        """
        place = versions.place_of(holder)
        if self.plays(place):
            return Claim.SHARED if self.sharing(place) else Claim.OWN
        if self.sharing(place):
            return Claim.NONE
        if slot == f"OB{self.armature.name}":
            return Claim.OWN
        if any(slot == f"OB{other.name}" for other in self.others):
            return Claim.NONE
        return self._claim_by_bones(holder)

    def _claim_by_bones(self, holder: versions.Channels) -> Claim:
        if not self.others:
            return Claim.OWN
        names = bones_of_curves(holder)
        mine = count_of(self.armature, names)
        most = max((count_of(other, names) for other in self.others), default=0)
        if names and not mine:
            return Claim.NONE
        if mine == most:
            return Claim.UNCLEAR
        return Claim.OWN if mine > most else Claim.NONE


def bones_of_curves(holder: versions.Channels) -> set[str]:
    """Return the names of the bones that F-Curves animate."""
    named = (_BONE.match(curve.data_path) for curve in holder.fcurves)
    return {re.sub(r"\\(.)", r"\1", match[1]) for match in named if match}


def count_of(armature: bpy.types.Object, names: set[str]) -> int:
    """Return how many bones of some names an armature has."""
    return len(names.intersection(armature.data.bones.keys()))
