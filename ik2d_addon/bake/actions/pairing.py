# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of actions: for each clip of armatures, what the objects that they follow play."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial

import bpy

from ...core.words import listed, refusal
from ...rig.animation import versions
from .arguments import (
    Pairs,
    action_named,
)
from .clips import Play
from .finding import strip_partner
from .names import common_cores, cores, numberless, target_cores
from .owned import OWN, Claims


class Pairing:
    """Finds what objects play for a clip of armatures."""

    def __init__(
        self,
        claims: Claims,
        followed: Mapping[bpy.types.Object, Sequence[bpy.types.Object]],
        targets: Collection[bpy.types.Object],
        pairs: Pairs,
    ) -> None:
        """Take the objects that move what chains of armatures read. targets: those that they follow."""
        self.objects = list(dict.fromkeys(ob for its in followed.values() for ob in its))
        self._claims, self._followed, self._targets, self._pairs = claims, followed, targets, pairs
        # By the names of clips that their own names stand for: the actions of each object, and of any.
        self._own = {
            ob: _by_name(claims.actions, partial(target_cores, owner=ob.name)) for ob in self.objects
        }
        self._shared = _by_name(claims.actions, common_cores)
        self._known = {ob: self._known_of(ob) for ob in self.objects}

    def known(self, ob: bpy.types.Object) -> list[Play]:
        """Return the actions that an object is known to play: assigned, in strips, by a slot of its name."""
        return self._known[ob]

    def _known_of(self, ob: bpy.types.Object) -> list[Play]:
        return [
            Play(ob, action, slot)
            for action in self._claims.actions
            for slot in self._claims.named_slots(ob, action)
        ]

    def names(self) -> set[str]:
        """Return the names of clips, in lower case, of which there are actions of targets."""
        own = (name for names in self._own.values() for name in names)
        return {*own, *self._shared, *(name.casefold() for name in self._pairs)}

    def of(self, plays: Sequence[Play], is_single: bool) -> list[Play]:
        """Return the actions and slots of objects in a clip of armatures, as far as they are known.

        is_single: whether it is the only clip, which what is assigned belongs to.
        """
        baked = {play.owner for play in plays}
        objects = [ob for ob in self.objects if ob not in baked]
        found = {ob: self._paired(ob, plays, objects) for ob in objects}
        for play in plays:
            its = [ob for ob in self._followed[play.owner] if ob in found and found[ob] is None]
            found |= self._common(play, its)
        for ob in objects:
            if found[ob] is None:
                found[ob] = self._assigned(ob, plays, is_single)
        return [play for play in found.values() if play is not None]

    def refuse_lone(
        self, plays: Sequence[Play], partners: Sequence[Play], animated: set[bpy.types.Object]
    ) -> None:
        """Raise IK2DError where an object that other clips move has no action for a clip.

        animated: the objects that play something for any clip.
        """
        there = {play.owner for play in (*plays, *partners)}
        followed = dict.fromkeys(ob for play in plays for ob in self._followed[play.owner])
        lone = [ob for ob in followed if ob not in there and (ob in animated or self.known(ob))]
        if lone:
            raise refusal(
                "No action of {objects} is known to go with '{action}': name one '{action} targets', give "
                "'{action}' a slot of its name, or pair them",
                objects=listed((ob.name for ob in lone), most=4),
                action=next((play.action.name for play in plays if play.action is not None), ""),
            )

    def _paired(
        self, ob: bpy.types.Object, plays: Sequence[Play], objects: Sequence[bpy.types.Object]
    ) -> Play | None:
        """Return the action of an object by a pair, a slot of the clip's actions, strips, or its own name."""
        actions = [play.action for play in plays if play.action is not None]
        given = [action_named(name) for one in actions for name in self._pairs.get(one.name, ())]
        for action in given:
            if (play := self._as_played(ob, action, objects)) is not None:
                return play
        for action in actions:
            if slots := self._claims.named_slots(ob, action):
                return Play(ob, action, slots[0])
        if (play := strip_partner(self._claims, ob, plays)) is not None:
            return play
        clips = _clip_names(plays)
        for action in _named(self._own[ob], clips):
            if action not in actions and self._fits(ob, action):
                return Play(ob, action, self._slot(ob, action))
        for action in _named(self._shared, clips):
            for slot in self._claims.named_slots(ob, action):
                return Play(ob, action, slot)
        again = [play for play in self.known(ob) if play.action and numberless(play.action.name) in clips]
        return again[0] if len(again) == 1 else None

    def _as_played(
        self, ob: bpy.types.Object, action: bpy.types.Action, objects: Sequence[bpy.types.Object]
    ) -> Play | None:
        """Return an action that was paired as an object plays it; None if it is another object's."""
        if slots := self._claims.named_slots(ob, action):
            return Play(ob, action, slots[0])
        others = [other for other in objects if other != ob and self._claims.named_slots(other, action)]
        if others or not self._fits(ob, action):
            return None
        rivals = [other for other in (self._targets or objects) if other in objects]
        return Play(ob, action, self._slot(ob, action)) if ob in rivals and len(rivals) == 1 else None

    def _common(self, clip: Play, objects: Sequence[bpy.types.Object]) -> dict[bpy.types.Object, Play]:
        """Return the action "Walk targets" for the one of some objects it fits; raise IK2DError for more.

        It goes to the one that a chain follows, or that is known to be animated, if there is only one.
        """
        assert clip.action is not None
        for names in ({clip.action.name.casefold()}, cores(clip.action.name, clip.owner.name)):
            actions = [
                action
                for action in _named(self._shared, names)
                if action != clip.action and not self._claims.players(action)
            ]
            for action in actions:
                fitting = [ob for ob in objects if self._fits(ob, action)]
                for chosen in (
                    [ob for ob in fitting if ob in self._targets],
                    [ob for ob in fitting if self.known(ob)],
                    fitting,
                ):
                    if len(chosen) == 1:
                        return {chosen[0]: Play(chosen[0], action, self._slot(chosen[0], action))}
                if fitting:
                    raise refusal(
                        "The action '{action}' may be of {objects}: give it slots of these names, or name it "
                        "after one",
                        action=action.name,
                        objects=listed((ob.name for ob in fitting), most=4),
                    )
        return {}

    def _assigned(self, ob: bpy.types.Object, plays: Sequence[Play], is_single: bool) -> Play | None:
        """Return an object's action now, where an armature plays the clip now, or nothing else is baked."""
        now = any(play.action == versions.played_action(play.owner) for play in plays if play.action)
        action = versions.played_action(ob)
        if action is None or not (now or is_single):
            return None
        return Play(ob, action, versions.slot_played(ob.animation_data))

    def _fits(self, ob: bpy.types.Object, action: bpy.types.Action) -> bool:
        """Return whether an action holds F-Curves for an object, in a slot that may be its own."""
        slot = self._slot(ob, action)
        for holder, identifier, bones in self._claims.holders(action):
            if identifier == slot and len(holder.fcurves):
                return not bones or (ob.type == 'ARMATURE' and not bones.isdisjoint(ob.data.bones.keys()))
        return False

    def _slot(self, ob: bpy.types.Object, action: bpy.types.Action) -> str:
        """Return the slot of an action for an object: of its name, or one that is no other object's."""
        if not versions.HAS_SLOTS:
            return ""
        if f"OB{ob.name}" in action.slots:
            return f"OB{ob.name}"
        free = [
            slot.identifier
            for slot in action.slots
            if slot.target_id_type in ('OBJECT', 'UNSPECIFIED')
            and slot.identifier[2:] not in bpy.data.objects
        ]
        return free[0] if len(free) == 1 else ""


def _by_name(
    actions: Iterable[bpy.types.Action], cores_of: Callable[[str], Iterable[str]]
) -> dict[str, list[bpy.types.Action]]:
    """Return actions by each name of a clip that their own names stand for."""
    found: dict[str, list[bpy.types.Action]] = {}
    for action in actions:
        for core in set(cores_of(action.name)):
            found.setdefault(core, []).append(action)
    return found


def _named(actions: Mapping[str, Sequence[bpy.types.Action]], names: Iterable[str]) -> list[bpy.types.Action]:
    """Return the actions of some names of clips, each once."""
    return list(dict.fromkeys(action for name in sorted(names) for action in actions.get(name, ())))


def _clip_names(plays: Iterable[Play]) -> set[str]:
    return {name for play in plays if play.action for name in cores(play.action.name, play.owner.name)}


def is_of_target(claims: Claims, ob: bpy.types.Object, action: bpy.types.Action) -> bool:
    """Return whether an action is known to be an object's."""
    return bool(claims.named_slots(ob, action)) or any(
        claims.claim(ob, action, slot) == OWN for _, slot, _ in claims.holders(action)
    )
