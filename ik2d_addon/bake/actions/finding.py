# SPDX-License-Identifier: GPL-3.0-or-later
"""The actions of armatures that a bake was asked for, each with its slot."""

from collections.abc import Sequence

import bpy

from ...core import IK2DError
from ...core.words import listed, refusal
from ...rig.animation import versions
from ...rig.animation.kept.record import is_kept_action
from ...rig.animation.value_keys import refuse_tweak_mode
from ...rig.chain.paths.owners import Claim
from .arguments import (
    INTO_NEW,
    Wanted,
    action_named,
    checked_names,
)
from .clips import Clip, Play
from .copies import original_of
from .names import cores, has_word
from .owned import NONE, OWN, SHARED, UNCLEAR, Claims, strips_of


def slot_of(claims: Claims, ob: bpy.types.Object, action: bpy.types.Action) -> str:
    """Return the slot of an action that an object plays; "" for a new one, and before 4.4.

    Raises IK2DError where several may be meant.
    """
    found = [slot for slot, _ in claims.slots(ob, action)]
    if len(found) > 1:
        raise refusal(
            "The slots {slots} of the action '{action}' may each be meant for '{object}'; choose one in the "
            "Action Editor, or name it '{object}'",
            slots=listed(slot[2:] for slot in found),
            action=action.name,
            object=ob.name,
        )
    if found or not versions.HAS_SLOTS:
        return found[0] if found else ""
    animation = ob.animation_data
    last = animation.last_slot_identifier if animation is not None else ""
    return next((slot for slot in (f"OB{ob.name}", last) if slot in action.slots), "")


def actions_of(claims: Claims, armature: bpy.types.Object, partners: set[str]) -> list[Play]:
    """Return all actions that animate an armature, each with its slot.

    partners: names of clips, in lower case, of which targets have actions: one without curves is the
    armature's if it is named so. Raises IK2DError for one that may as well be another armature's.
    """
    found, unclear = [], []
    for action in claims.actions:
        its = claims.slots(armature, action)
        sure = [slot for slot, claim in its if claim in (OWN, SHARED)]
        if any(claim == UNCLEAR for _, claim in its):
            unclear.append(action.name)
        elif (sure and _animates(claims, armature, action, sure)) or is_awaited(
            claims, armature, action, partners
        ):
            found.append(Play(armature, action, slot_of(claims, armature, action)))
    _refuse_unclear(unclear, armature)
    return found


def _refuse_unclear(names: Sequence[str], armature: bpy.types.Object) -> None:
    """Raise IK2DError for actions that may as well be another armature's, if there are any."""
    if names:
        raise refusal(
            "{actions} may be of '{armature}' or of another armature with the same bones; name the actions",
            actions=listed(names, most=4),
            armature=armature.name,
        )


def _animates(
    claims: Claims, armature: bpy.types.Object, action: bpy.types.Action, slots: Sequence[str]
) -> bool:
    """Return whether slots of an action hold F-Curves, or the armature plays the action."""
    with_curves = [slot for holder, slot, _ in claims.holders(action) if len(holder.fcurves)]
    return not set(with_curves).isdisjoint(slots) or armature in claims.players(action)


def is_awaited(
    claims: Claims, armature: bpy.types.Object, action: bpy.types.Action, partners: set[str]
) -> bool:
    """Return whether an action without curves of its own is the one that a target's is paired with."""
    owners = [slot[2:] for slot in action.slots.keys()] if versions.HAS_SLOTS else []
    if armature.name in owners:
        return True
    if any(owner in bpy.data.objects for owner in owners) or any(
        len(holder.fcurves) for holder, *_ in claims.holders(action)
    ):
        return False
    if partners.isdisjoint(cores(action.name, armature.name)) or claims.players(action):
        return False
    others = [ob for ob in bpy.data.objects if ob.type == 'ARMATURE' and ob != armature]
    return has_word(action.name, armature.name) or not any(has_word(action.name, ob.name) for ob in others)


def named_play(claims: Claims, armature: bpy.types.Object, action: bpy.types.Action) -> Play | None:
    """Return an action that was named, as an armature plays it; None for another object's."""
    its = claims.slots(armature, action)
    slot = slot_of(claims, armature, action)
    if its or slot:
        return Play(armature, action, slot)
    others = [ob for ob in bpy.data.objects if ob != armature]
    players = claims.players(action)
    if players or any(
        claims.claim(ob, action, slot) != NONE for ob in others for _, slot, _ in claims.holders(action)
    ):
        return None
    if any(bones for _, _, bones in claims.holders(action)):
        return None
    return (
        Play(armature, action, slot) if not any(len(h.fcurves) for h, *_ in claims.holders(action)) else None
    )


def check_play(claims: Claims, play: Play, into: str) -> None:
    """Raise IK2DError for an action that an armature cannot be baked into."""
    action, armature = play.action, play.owner
    if action is None:
        return
    if into == INTO_NEW:
        return
    if not action.is_editable:
        raise refusal(
            "The action '{action}' is linked from another file and cannot be keyed; bake into new actions",
            action=action.name,
        )
    if others := claims.sharing(armature, action, play.slot):
        raise refusal(
            "'{armature}' and '{other}' play the same action '{action}', so each would get the keys of the "
            "other; bake into new actions, or give one of them a copy",
            armature=armature.name,
            other=others[0].name,
            action=action.name,
        )


def strip_partner(claims: Claims, ob: bpy.types.Object, plays: Sequence[Play]) -> Play | None:
    """Return the actions of an object's NLA strips where armatures play a clip: by track, or time."""
    for play in plays:
        for track, strip in strips_of(play.owner):
            if strip.action != play.action:
                continue
            its = list(strips_of(ob))
            named = [there for other, there in its if other.name == track.name]
            timed = [there for _, there in its if abs(there.frame_start - strip.frame_start) < 0.5]
            both = [there for there in named if there in timed]
            for found in (both, named, timed):
                if len({there.action for there in found}) == 1:
                    return Play(ob, found[0].action, versions.slot_played(found[0]))
    return None


def clips_to_clear(armature: bpy.types.Object, actions: Wanted) -> list[Clip]:
    """Return the actions of an armature to clear, all that a bake has keyed or those named, each as a clip.

    Raises IK2DError, before anything changes, for one that cannot be.
    """
    refuse_tweak_mode(armature)
    claims, names = Claims(), checked_names(actions)
    if names is None:
        claimed = [
            (action, _claims_to(claims, armature, action))
            for action in bpy.data.actions
            if action.is_editable and was_keyed(action)
        ]
        _refuse_unclear([action.name for action, its in claimed if UNCLEAR in its], armature)
        plays = [Play(armature, action, slot_of(claims, armature, action)) for action, its in claimed if its]
    else:
        plays = [_to_clear(claims, armature, action_named(name)) for name in names]
    return [Clip(play.action.name, (play,), (), (0, 0)) for play in plays if play.action is not None]


def _claims_to(claims: Claims, armature: bpy.types.Object, action: bpy.types.Action) -> set[Claim]:
    """Return an armature's claims to an action; to a copy that may be of several, those to its original."""
    its = {claim for _, claim in claims.slots(armature, action)}
    original = original_of(action)
    if UNCLEAR in its and original is not None and original != action:
        return {claim for _, claim in claims.slots(armature, original)}
    return its


def was_keyed(action: bpy.types.Action) -> bool:
    """Return whether IK 2D has written keys into an action, or into the one that it is a copy of."""
    return not is_kept_action(action) and action.is_property_set("ik2d") and action.ik2d.count > 0


def _to_clear(claims: Claims, armature: bpy.types.Object, action: bpy.types.Action) -> Play:
    play = named_play(claims, armature, action)
    if play is None:
        raise not_of(claims, action, [armature])
    if not action.is_editable:
        raise refusal(
            "The action '{action}' is linked from another file and cannot be changed; clear it there",
            action=action.name,
        )
    return play


def not_of(claims: Claims, action: bpy.types.Action, armatures: Sequence[bpy.types.Object]) -> IK2DError:
    """Return the error for an action that was named, and is none of some armatures."""
    players = [ob.name for ob in claims.players(action)]
    slots = [slot.identifier[2:] for slot in action.slots] if versions.HAS_SLOTS else []
    others = list(dict.fromkeys([*players, *slots]))
    if others:
        return refusal(
            "The action '{action}' is of {others}, not of {armatures}; name another one",
            action=action.name,
            others=listed(others, most=4),
            armatures=listed(ob.name for ob in armatures),
        )
    return refusal(
        "The action '{action}' animates no bone of {armatures}; name another one",
        action=action.name,
        armatures=listed(ob.name for ob in armatures),
    )
