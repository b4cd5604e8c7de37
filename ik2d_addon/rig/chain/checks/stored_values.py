# SPDX-License-Identifier: GPL-3.0-or-later
"""Stored settings that no one can have chosen: of damaged files, scripts, or another version of IK 2D."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import inf, isfinite
from typing import Any

import numpy as np

from ....core.inputs import LARGEST_ANGLE
from ....core.swing import SWING
from ....core.words import noted, refusal, say
from ...rest import rest_matrix
from ..fingerprint import settings_of
from ..renames import Settings

_NO_ROTATION = 0.1  # how far a rest matrix may be from one; Blender's rounding leaves 1e-4
# Settings of a joint, each with the switch without which it does not count; "" for none.
_OF_JOINT = (
    ("use_limit", ""),
    ("limit_min", "use_limit"),
    ("limit_max", "use_limit"),
    ("weight", ""),
    ("use_slide", ""),
    ("slide_min", "use_slide"),
    ("slide_max", "use_slide"),
)


def refuse_damaged(chain: Settings, bones: Sequence[str]) -> None:
    """Raise IK2DError for a setting of a chain, or of its bones' joints, with an invalid value.

    Blender refuses such values when they are set, but reads any from a file.
    """
    owner = say("Chain '{chain}'", chain=chain.name)
    kind: Any = chain.__class__
    for name, value in settings_of(chain):
        if not isinstance(value, tuple):
            _refuse(_rule_of(kind, name), value, owner)
    if chain.foot.is_added:
        of_foot: Any = type(chain.foot)
        for name, value in settings_of(chain.foot):
            if not isinstance(value, tuple):
                _refuse(_rule_of(of_foot, name), value, say("{owner}, its foot", owner=owner))
    _refuse_normals(chain, owner)
    for bone in bones:
        joint = chain.joints.get(bone)
        of_joint: Any = type(joint)
        for name, switch in _OF_JOINT if joint is not None else ():
            if not switch or getattr(joint, switch):
                _refuse(
                    _rule_of(of_joint, name),
                    getattr(joint, name),
                    say("{owner}, bone '{bone}'", owner=owner, bone=bone),
                )


def _refuse_normals(chain: Settings, owner: str) -> None:
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
                owner=owner,
                setting=directions[name],
            )


def refuse_broken_rest(name: str, bones: Sequence[Any]) -> None:
    """Raise IK2DError for a bone whose rest matrix is not a finite rotation: only in a damaged file."""
    above = bones[0].parent
    looked_at = [*bones, above] if above else bones
    rests = np.array([rest_matrix(bone.bone) for bone in looked_at])
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


@dataclass(frozen=True, eq=False)
class _Rule:
    """The valid values of a property, kept since asking Blender each time is slow."""

    label: str
    kind: str  # of bpy.types.Property.type
    choices: frozenset[str] = frozenset()
    bounds: tuple[float, float] = (-inf, inf)
    is_angle: bool = False


@cache
def _rule_of(group: Any, name: str) -> _Rule:
    """Return the rule of a property of a class of settings."""
    rule = group.bl_rna.properties[name]
    if rule.type == 'ENUM':
        return _Rule(rule.name, rule.type, frozenset(rule.enum_items.keys()))
    if rule.type not in ('INT', 'FLOAT'):
        return _Rule(rule.name, rule.type)
    bounds = rule.hard_min, rule.hard_max
    return _Rule(rule.name, rule.type, bounds=bounds, is_angle=rule.subtype == 'ANGLE')


def _refuse(rule: _Rule, value: Any, owner: str) -> None:
    """Raise IK2DError for a property's value that breaks its rule."""
    if problem := _problem(rule, value):
        raise refusal(
            "{owner}: its setting {label} {problem}; set it again",
            owner=owner,
            label=rule.label,
            problem=problem,
        )


def _problem(rule: _Rule, value: Any) -> str:
    """Return the fault of a property's value in words; "" for none."""
    if rule.kind == 'ENUM':
        return "" if value in rule.choices else say("has an unknown value")
    if rule.kind not in ('INT', 'FLOAT'):
        return ""
    if rule.is_angle and not abs(value) <= LARGEST_ANGLE:
        return say("holds {value:g} radians, which is not an angle", value=value)
    least, most = rule.bounds
    if not least <= value <= most:
        return say(
            "holds {value:g}, which is not within {least:g} to {most:g}", value=value, least=least, most=most
        )
    return "" if isfinite(value) else say("holds {value:g}, which is not a number", value=value)
