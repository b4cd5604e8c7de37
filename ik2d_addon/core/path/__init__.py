# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets that follow one another: each frame from the one before, by CCD or with the least bend."""

from .even import even_path_steps, solve_even_path
from .posture import Posture
from .solve import path_steps, posture_of, solve_ccd_path, turned_over

__all__ = [
    "Posture",
    "even_path_steps",
    "path_steps",
    "posture_of",
    "solve_ccd_path",
    "solve_even_path",
    "turned_over",
]
