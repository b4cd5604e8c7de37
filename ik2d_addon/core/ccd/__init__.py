# SPDX-License-Identifier: GPL-3.0-or-later
"""Cyclic coordinate descent, and what it takes to reach every target that can be reached."""

from .solve import solve_ccd, solve_ccd_path
from .sweep import CCDResult, ccd_step

__all__ = ["CCDResult", "ccd_step", "solve_ccd", "solve_ccd_path"]
