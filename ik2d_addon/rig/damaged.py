# SPDX-License-Identifier: GPL-3.0-or-later
"""Stored settings that no one can have chosen: of damaged files, scripts, or another version of IK 2D."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from ..core import IK2DError
from ..core.inputs import LARGEST_ANGLE
from .renames import Settings

# What decides how a chain, and each of its joints, is solved.
_OF_CHAIN = (
    "bone_count",
    "solver",
    "start_from",
    "bend",
    "turn_over",
    "plane",
    "softness",
    "influence",
    "iterations",
    "tolerance",
    "stretch",
    "compress",
    "stretch_bones",
    "slide_weight",
    "hand_rotation",
)
_NO_ROTATION = 0.1  # how far a rest matrix may be from one; Blender's rounding leaves 1e-4
_OF_JOINT = ("use_limit", "limit_min", "limit_max", "weight", "use_slide", "slide_min", "slide_max")
# Of them, what counts only where a switch is on: by the first word of their names.
_SWITCHES = {"limit": "use_limit", "slide": "use_slide"}


def refuse_damaged(chain: Settings, bones: Sequence[str]) -> None:
    """Raise IK2DError for a setting of a chain, or of the joints of its bones, that holds what it cannot.

    Blender keeps such values out when they are set, but reads whatever a file holds.
    """
    for name in _OF_CHAIN:
        _refuse(chain, name, f"Chain '{chain.name}'")
    if chain.plane == 'CUSTOM' and not all(map(isfinite, chain.plane_normal)):
        raise IK2DError(f"Chain '{chain.name}': its setting Normal holds no finite numbers; set it anew")
    for joint in filter(None, map(chain.joints.get, bones)):
        for name in _OF_JOINT:
            switch = _SWITCHES.get(name.partition("_")[0])
            if switch is None or getattr(joint, switch):
                _refuse(joint, name, f"Chain '{chain.name}', bone '{joint.name}'")


def refuse_broken_rest(name: str, bones: Sequence[Any]) -> None:
    """Raise IK2DError for a pose bone of a chain, or above it, whose place in the rest pose is none.

    Blender computes these places as one edits; only a damaged file holds others.
    """
    above = bones[0].parent
    for bone in (*bones, above) if above else bones:
        matrix = np.array(bone.bone.matrix_local, np.float64)
        turn = matrix[:3, :3]
        if not np.isfinite(matrix).all() or np.abs(turn @ turn.T - np.eye(3)).max() > _NO_ROTATION:
            raise IK2DError(
                f"Chain '{name}': the rest pose of the bone '{bone.name}' is damaged; enter and leave Edit"
                " Mode, or take the armature from an older file"
            )


def _refuse(group: Settings, name: str, owner: str) -> None:
    found = group.bl_rna.properties[name]
    problem = _problem(found, getattr(group, name))
    if problem:
        raise IK2DError(f"{owner}: its setting {found.name} {problem}; set it anew")


def _problem(found: Any, value: Any) -> str:
    """Return what is wrong with the value of a property (of bpy.types.Property); "" for nothing."""
    if found.type == 'ENUM':
        return "" if value in found.enum_items else "holds none of its choices"
    if found.type == 'FLOAT' and found.subtype == 'ANGLE' and not abs(value) <= LARGEST_ANGLE:
        return f"holds {value:g} radians, which is no angle"
    if found.type in ('INT', 'FLOAT') and not found.hard_min <= value <= found.hard_max:
        return f"holds {value:g}, which is not within {found.hard_min:g} to {found.hard_max:g}"
    return "" if found.type != 'FLOAT' or isfinite(value) else f"holds {value:g}, which is no number"
