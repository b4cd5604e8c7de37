# SPDX-License-Identifier: GPL-3.0-or-later
"""Planar inverse kinematics in numpy; knows nothing of Blender."""

from .arc import solve_arc
from .ccd import CCDResult, ccd_slide_step, ccd_step, ccd_steps, solve_ccd, solve_ccd_path
from .chain import Chain, forward
from .errors import IK2DError
from .even import solve_even
from .plane import Plane
from .region import Region, reachable
from .solution import Solution, Status
from .stretch import Stretch, stretched, stretched_status
from .two_bone import solve_two_bone

__all__ = [
    "CCDResult",
    "Chain",
    "IK2DError",
    "Plane",
    "Region",
    "Solution",
    "Status",
    "Stretch",
    "ccd_slide_step",
    "ccd_step",
    "ccd_steps",
    "forward",
    "reachable",
    "solve_arc",
    "solve_ccd",
    "solve_ccd_path",
    "solve_even",
    "solve_two_bone",
    "stretched",
    "stretched_status",
]
