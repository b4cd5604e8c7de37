# SPDX-License-Identifier: GPL-3.0-or-later
"""From targets to keys: solve chains over frames, key them, play them back, and report the result."""

from .checking import check
from .keys.clearing import clear
from .now import solve
from .pipeline import bake, bake_steps
from .reporting.chain_report import ChainReport
from .reporting.chain_result import (
    ChainResult,
    Circumstances,
    HandErrors,
    JointsSolved,
    KeysPlayed,
    PlaneAngles,
    PostTurned,
    Standard,
)
from .reporting.mechanism_report import MechanismReport
from .reporting.report import BakeReport
from .request import BakeOptions

__all__ = [
    "BakeOptions",
    "BakeReport",
    "ChainReport",
    "ChainResult",
    "Circumstances",
    "HandErrors",
    "JointsSolved",
    "KeysPlayed",
    "MechanismReport",
    "PlaneAngles",
    "PostTurned",
    "Standard",
    "bake",
    "bake_steps",
    "check",
    "clear",
    "solve",
]
