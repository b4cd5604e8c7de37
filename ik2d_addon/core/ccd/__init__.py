# SPDX-License-Identifier: GPL-3.0-or-later
"""Cyclic coordinate descent, and what it takes to reach every target that can be reached."""

from .solve import ccd_steps, solve_ccd
from .step import CCDResult, ccd_slide_step, ccd_step

__all__ = [
    "CCDResult",
    "ccd_slide_step",
    "ccd_step",
    "ccd_steps",
    "solve_ccd",
]
