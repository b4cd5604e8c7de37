# SPDX-License-Identifier: GPL-3.0-or-later
"""Which actions animate an object, and by which of their slots."""

from collections.abc import Iterator

import bpy

from ...rig.animation import versions
from ...rig.animation.kept.record import is_kept_action
from ...rig.chain.paths.owners import Claim, bones_of_curves, count_of
from .names import has_word

OWN, SHARED, UNCLEAR, NONE = Claim


class Claims:
    """Which actions of the file belong to which objects; read once for a bake."""

    def __init__(self) -> None:
        self.actions = [
            action
            for action in bpy.data.actions
            if not is_set_aside(action) and versions.is_for_objects(action)
        ]
        self._players: dict[versions.Place, list[bpy.types.Object]] = {}
        for ob in bpy.data.objects:
            for place in versions.places_played(ob):
                self._players.setdefault(place, []).append(ob)
        self._of_action: dict[bpy.types.Action, dict[bpy.types.Object, None]] = {}
        for (action, _), its in self._players.items():
            self._of_action.setdefault(action, {}).update(dict.fromkeys(its))
        self._armatures = [ob for ob in bpy.data.objects if ob.type == 'ARMATURE']
        # The holders of each action, with their slots and the bones that they animate.
        self._read: dict[bpy.types.Action, list[tuple[versions.Channels, str, set[str]]]] = {}

    def holders(self, action: bpy.types.Action) -> list[tuple[versions.Channels, str, set[str]]]:
        """Return the channels of an action, each with its slot and the bones that they animate."""
        if action not in self._read:
            self._read[action] = [
                (holder, slot, _bones(holder)) for holder, slot in versions.holders_of(action)
            ]
        return self._read[action]

    def players(self, action: bpy.types.Action) -> list[bpy.types.Object]:
        """Return the objects that play an action, as theirs or in strips."""
        return list(self._of_action.get(action, ()))

    def sharing(self, ob: bpy.types.Object, action: bpy.types.Action, slot: str) -> list[bpy.types.Object]:
        """Return the other objects that play a slot of an action."""
        return [other for other in self._players.get(_place(action, slot), ()) if other != ob]

    def claim(self, ob: bpy.types.Object, action: bpy.types.Action, slot: str) -> Claim:
        """Return an object's claim to a slot of an action."""
        players = self._players.get(_place(action, slot), ())
        if players:
            return NONE if ob not in players else SHARED if len(players) > 1 else OWN
        if slot[2:] == ob.name:
            return OWN
        if slot and slot[2:] in bpy.data.objects:
            return NONE
        if ob.type != 'ARMATURE':
            return NONE
        bones = next((bones for _, its, bones in self.holders(action) if its == slot), set[str]())
        return self._by_bones(ob, action.name, bones)

    def _by_bones(self, armature: bpy.types.Object, name: str, bones: set[str]) -> Claim:
        """Return an armature's claim to an action that nobody plays, by the bones that it animates."""
        mine = _count(armature, bones)
        if not mine:
            return NONE
        others = [ob for ob in self._armatures if ob != armature]
        counts = {ob: _count(ob, bones) for ob in others}
        rivals = [ob for ob, count in counts.items() if count >= mine]
        if any(counts[ob] > mine for ob in rivals):
            return NONE
        is_named, named = has_word(name, armature.name), any(has_word(name, ob.name) for ob in rivals)
        if not rivals or (is_named and not named):
            return OWN
        return NONE if named and not is_named else UNCLEAR

    def slots(self, ob: bpy.types.Object, action: bpy.types.Action) -> list[tuple[str, Claim]]:
        """Return the slots of an action that an object may claim, each with the claim: the surest alone.

        Those that it plays come first, then the one that has its name, the last one that it played, and
        any that fits.
        """
        claims = [(slot, self.claim(ob, action, slot)) for _, slot, _ in self.holders(action)]
        claims = [(slot, claim) for slot, claim in claims if claim != NONE]
        for identifiers in (self._played(ob, action), {f"OB{ob.name}"}, _last(ob)):
            if chosen := [each for each in claims if each[0] in identifiers]:
                return chosen
        return claims

    def _played(self, ob: bpy.types.Object, action: bpy.types.Action) -> set[str]:
        if ob not in self._of_action.get(action, ()):
            return set()
        return {
            slot for _, slot, _ in self.holders(action) if ob in self._players.get(_place(action, slot), ())
        }

    def named_slots(self, ob: bpy.types.Object, action: bpy.types.Action) -> list[str]:
        """Return the slots of an action that were made for an object, or that it plays; "" before 4.4."""
        if not versions.HAS_SLOTS:
            return [""] if ob in self.players(action) else []
        played = self._played(ob, action)
        return sorted(played) or [slot for slot in action.slots.keys() if slot == f"OB{ob.name}"]


def is_set_aside(action: bpy.types.Action) -> bool:
    """Return whether an action keeps or shows replaced motion, or is the copy that a bake has made."""
    if is_kept_action(action):
        return True
    return action.is_property_set("ik2d") and (
        action.ik2d.shown_from is not None or bool(action.ik2d.baked_from)
    )


def strips_of(ob: bpy.types.Object) -> Iterator[tuple[bpy.types.NlaTrack, bpy.types.NlaStrip]]:
    """Yield the NLA strips of an object, each with its track, muted ones too."""
    animation = ob.animation_data
    for track in animation.nla_tracks if animation is not None else ():
        for strip in track.strips:
            if strip.action is not None:
                yield track, strip


def _place(action: bpy.types.Action, slot: str) -> versions.Place:
    if not versions.HAS_SLOTS:
        return action, 0
    return action, action.slots[slot].handle if slot in action.slots else 0


def _last(ob: bpy.types.Object) -> set[str]:
    animation = ob.animation_data
    return {versions.last_slot(animation)} if animation is not None else set()


def _bones(holder: versions.Channels) -> set[str]:
    """Return the bones that F-Curves animate, and "" for settings of chains."""
    paths = (curve.data_path for curve in holder.fcurves)
    settings = {"" for path in paths if path.startswith(("ik2d.chains[", "ik2d.mechanisms["))}
    return bones_of_curves(holder) | settings


def _count(armature: bpy.types.Object, bones: set[str]) -> int:
    """Return how many of some bones an armature has; chains count as one."""
    settings = armature.ik2d if armature.is_property_set("ik2d") else None
    has_chains = settings is not None and len(settings.chains) + len(settings.mechanisms) > 0
    return count_of(armature, bones) + ("" in bones and has_chains)
