# SPDX-License-Identifier: GPL-3.0-or-later
"""What a script gives for the actions of a bake, and for their pairs, checked."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import bpy

from ...core import IK2DError
from ...core.words import listed, refusal
from ...rig.animation.kept.record import is_kept_action

ALL = 'ALL'
INTO_THIS, INTO_NEW = 'THIS', 'NEW'
# What a bake takes for its actions: all, or their names.
Wanted: TypeAlias = str | Sequence[str]
# Names of armatures' actions, each with those of targets.
Pairs: TypeAlias = Mapping[str, Sequence[str]]


def checked_names(actions: Wanted) -> list[str] | None:
    """Return the names of actions asked for, None for all; raise IK2DError for anything else."""
    if isinstance(actions, str):
        if actions == ALL:
            return None
        raise IK2DError(f"actions takes 'ALL' or a list of names; write [{actions!r}]")
    if not isinstance(actions, Iterable):
        raise IK2DError(f"actions takes 'ALL' or a list of names, not {actions!r}")
    names = list(dict.fromkeys(actions))
    for name in names:
        if not isinstance(name, str):
            raise IK2DError(f"actions takes 'ALL' or a list of names, and {name!r} is none")
    if not names:
        raise IK2DError("No action is named; name one or more, or write 'ALL'")
    return names


def action_named(name: str) -> bpy.types.Action:
    """Return the action of a name, the file's own before a linked one; raise IK2DError for none, or kept."""
    there = [action for action in bpy.data.actions if action.name == name]
    if not there:
        known = [action.name for action in bpy.data.actions if not is_kept_action(action)]
        if not known:
            raise refusal("There is no action '{action}', and no other one; check the file", action=name)
        raise refusal(
            "There is no action '{action}'; there are {known}",
            action=name,
            known=listed(sorted(known), most=8),
        )
    action = min(there, key=lambda each: each.library is not None)
    if is_kept_action(action):
        raise refusal(
            "'{action}' keeps the keys that a bake has replaced, and nothing plays it; name the action that "
            "was baked",
            action=name,
        )
    return action


def checked_pairs(pairs: object) -> dict[str, list[str]]:
    """Return the pairs given, an armature's action with those of targets; raise IK2DError for others."""
    if pairs is None:
        return {}
    if not isinstance(pairs, Mapping):
        raise IK2DError(f"pairs takes a dict of names, such as {{'Walk': 'Target walk'}}, not {pairs!r}")
    checked: dict[str, list[str]] = {}
    for name, others in pairs.items():
        listed_others = [others] if isinstance(others, str) else others
        if not isinstance(name, str) or not isinstance(listed_others, (list, tuple)):
            raise IK2DError(f"pairs takes names of actions, not {name!r}: {others!r}")
        if not all(isinstance(other, str) for other in listed_others):
            raise IK2DError(f"pairs takes names of actions, not {name!r}: {others!r}")
        checked[name] = list(listed_others)
        for action in (name, *checked[name]):
            action_named(action)
    return checked


def refuse_unknown_pairs(pairs: Pairs, known: Iterable[str]) -> None:
    """Raise IK2DError for a pair of an action that is not baked. known: the names of those that are."""
    names = sorted(known)
    for name in pairs:
        if name not in names:
            raise IK2DError(f"pairs names '{name}', which is not one of the actions to bake: {names}")


def refuse_pairs_alone(pairs: object) -> None:
    """Raise IK2DError for pairs where no actions are asked for."""
    if pairs:
        raise IK2DError("pairs goes with actions; write actions='ALL', or their names")
