# SPDX-License-Identifier: GPL-3.0-or-later
"""CCD along a path: each frame from the one before, drawn to the pose of least bend."""

from .posture import Posture
from .solve import path_steps, posture_of, solve_ccd_path, turned_over

__all__ = ["Posture", "path_steps", "posture_of", "solve_ccd_path", "turned_over"]
