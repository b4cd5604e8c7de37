# SPDX-License-Identifier: GPL-3.0-or-later
"""A tip with an angle: the last bone has a heading of its own, as a bucket, a foot or a gripper has."""

from .path import pose_path_steps, solve_pose_path
from .request import PoseRequest
from .solve import alone, solve_pose

__all__ = ["PoseRequest", "alone", "pose_path_steps", "solve_pose", "solve_pose_path"]
