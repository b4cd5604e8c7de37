# SPDX-License-Identifier: GPL-3.0-or-later
"""Cyclic coordinate descent, and what it takes to reach every target that can be reached."""

from .path import path_steps, posture_of, solve_ccd_path, turned_over
from .posture import Posture
from .solve import ccd_steps, solve_ccd
from .step import CCDResult, ccd_slide_step, ccd_step

__all__ = [
    "CCDResult",
    "Posture",
    "ccd_slide_step",
    "ccd_step",
    "ccd_steps",
    "path_steps",
    "posture_of",
    "solve_ccd",
    "solve_ccd_path",
    "turned_over",
]
