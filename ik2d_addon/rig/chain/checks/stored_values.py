# SPDX-License-Identifier: GPL-3.0-or-later
"""Stored settings that no one can have chosen: of damaged files, scripts, or another version of IK 2D."""

from collections.abc import Callable, Sequence
from functools import cache
from math import inf, isfinite
from operator import attrgetter
from sys import float_info
from typing import Any, NamedTuple

import numpy as np

from ....core import IK2DError
from ....core.inputs import LARGEST_ANGLE
from ....core.swing import SWING
from ....core.words import noted, refusal, say
from ...rest import rest_matrices
from ..fingerprint import CONTACTS
from ..post import POST
from ..renames import Settings

_NO_ROTATION = 0.1  # how far a rest matrix may be from one; Blender's rounding leaves 1e-4
# Settings of a joint, each with the switch without which it does not count; "" for none.
_OF_JOINT = {
    "limit_min": "use_limit",
    "limit_max": "use_limit",
    "weight": "",
    "slide_min": "use_slide",
    "slide_max": "use_slide",
}


def refuse_damaged(chain: Settings, bones: Sequence[str]) -> None:
    """Raise IK2DError for a setting of a chain, or of its bones' joints, with an invalid value.

    Blender refuses such values when they are set, but reads any from a file.
    """
    for rule, value in _broken(chain):
        if not rule.name.startswith("post_"):
            raise _refusal(_owner(chain), rule, value)
        if chain.plane == POST and (chain.use_post_limit or "limit" not in rule.name):
            raise _refusal(say("{owner}, its post", owner=_owner(chain)), rule, value)
    for rule, value in _broken(chain.foot) if chain.foot.is_added else ():
        raise _refusal(say("{owner}, its foot", owner=_owner(chain)), rule, value)
    _refuse_normals(chain)
    joints = chain.joints
    for bone in bones:
        joint = joints.get(bone)
        for rule, value in _broken(joint) if joint is not None else ():
            switch = _OF_JOINT[rule.name]
            if not switch or getattr(joint, switch):
                raise _refusal(say("{owner}, bone '{bone}'", owner=_owner(chain), bone=bone), rule, value)


def _owner(chain: Settings) -> str:
    return say("Chain '{chain}'", chain=chain.name)


def _refuse_normals(chain: Settings) -> None:
    """Raise IK2DError for a direction of the chain's plane that is not finite."""
    directions = {"plane_normal": noted("Normal"), "swing_normal": noted("Swing Normal")}
    counts = {'CUSTOM': ("plane_normal",), SWING: ("swing_normal", "plane_normal")}
    for name in counts.get(chain.plane, ()):
        direction = getattr(chain, name)
        if not any(direction):
            return  # the rest pose's own
        if not all(map(isfinite, direction)):
            raise refusal(
                "{owner}: its setting {setting} holds no finite numbers; set it again",
                owner=_owner(chain),
                setting=directions[name],
            )


def refuse_broken_rest(name: str, bones: Sequence[Any]) -> None:
    """Raise IK2DError for a bone whose rest matrix is not a finite rotation: only in a damaged file."""
    above = bones[0].parent
    looked_at = [*bones, above] if above else bones
    rests = rest_matrices(looked_at)
    good = np.isfinite(rests).all(axis=(1, 2))
    turns = rests[good, :3, :3]
    good[good] = np.abs(turns @ turns.swapaxes(1, 2) - np.eye(3)).max(axis=(1, 2)) <= _NO_ROTATION
    if not good.all():
        bone = looked_at[int(good.argmin())]
        raise refusal(
            "Chain '{name}': the rest pose of the bone '{bone}' is damaged; enter and leave Edit "
            "Mode, or take the armature from an older file",
            name=name,
            bone=bone.name,
        )


class _Rule(NamedTuple):
    """The valid values of a property, kept since asking Blender each time is slow."""

    name: str
    label: str
    choices: frozenset[str]  # of an enumeration
    bounds: tuple[float, float]  # of a number
    is_angle: bool
    # For a quick look: a number within these is finite too, and an angle if it has to be.
    least: float
    most: float


@cache
def _rules(group: Any) -> tuple[Callable[[Any], tuple[Any, ...]], list[_Rule]]:
    """Return a function that reads the settings with a rule of a class of groups, and their rules."""
    rules = [
        _rule_of(prop)
        for prop in group.bl_rna.properties
        if prop.type in ('ENUM', 'INT', 'FLOAT')
        if not (prop.is_hidden or getattr(prop, "is_array", False) or prop.identifier in CONTACTS)
    ]
    return attrgetter(*[rule.name for rule in rules]), rules


def _rule_of(prop: Any) -> _Rule:
    if prop.type == 'ENUM':
        choices = frozenset(prop.enum_items.keys())
        return _Rule(prop.identifier, prop.name, choices, (-inf, inf), False, -inf, inf)
    is_angle, bounds = prop.subtype == 'ANGLE', (prop.hard_min, prop.hard_max)
    largest = LARGEST_ANGLE if is_angle else float_info.max
    quick = max(-largest, bounds[0]), min(largest, bounds[1])
    return _Rule(prop.identifier, prop.name, frozenset(), bounds, is_angle, *quick)


def _broken(group: Settings) -> list[tuple[_Rule, Any]]:
    """Return the rules that a group's settings break, each with the value that does."""
    kind: Any = group.__class__
    read, rules = _rules(kind)
    return [
        (rule, value)
        for rule, value in zip(rules, read(group), strict=True)
        if not (value in rule.choices if rule.choices else rule.least <= value <= rule.most)
    ]


def _refusal(owner: str, rule: _Rule, value: Any) -> IK2DError:
    return refusal(
        "{owner}: its setting {label} {problem}; set it again",
        owner=owner,
        label=rule.label,
        problem=_problem(rule, value),
    )


def _problem(rule: _Rule, value: Any) -> str:
    """Return the fault of a property's value in words."""
    if rule.choices:
        return say("has an unknown value")
    if rule.is_angle and not abs(value) <= LARGEST_ANGLE:
        return say("holds {value:g} radians, which is not an angle", value=value)
    least, most = rule.bounds
    if not least <= value <= most:
        return say(
            "holds {value:g}, which is not within {least:g} to {most:g}", value=value, least=least, most=most
        )
    return say("holds {value:g}, which is not a number", value=value)
