# SPDX-License-Identifier: GPL-3.0-or-later
"""Planar inverse kinematics in numpy; knows nothing of Blender."""

from .arc import solve_arc
from .ccd import CCDResult as CCDResult
from .ccd import ccd_slide_step as ccd_slide_step
from .ccd import ccd_step as ccd_step
from .ccd import ccd_steps as ccd_steps
from .ccd import solve_ccd
from .chain import Chain, forward, jacobian
from .errors import IK2DError
from .mechanism import Mechanism, MechanismSolution, MechanismStatus
from .mechanism import Mobility as Mobility
from .one_target.least_bend import solve_even
from .path import path_steps as path_steps
from .path import posture_of as posture_of
from .path import solve_ccd_path, solve_even_path
from .plane import Plane
from .region import Region, reachable
from .solution import Solution, Status
from .stretch import Stretch
from .stretch import stretched as stretched
from .stretch import stretched_status as stretched_status
from .tip_angle import solve_pose, solve_pose_path
from .two_bone import solve_two_bone

__version__ = "1.1.0"

# The face; what else is imported above can be had from here too.
__all__ = [
    "Chain",
    "IK2DError",
    "Mechanism",
    "MechanismSolution",
    "MechanismStatus",
    "Plane",
    "Region",
    "Solution",
    "Status",
    "Stretch",
    "forward",
    "jacobian",
    "reachable",
    "solve_arc",
    "solve_ccd",
    "solve_ccd_path",
    "solve_even",
    "solve_even_path",
    "solve_pose",
    "solve_pose_path",
    "solve_two_bone",
]
