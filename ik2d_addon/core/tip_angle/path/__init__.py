# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets with angles that follow one another: the poses through all frames with the fewest jumps found."""

from .solve import pose_path_steps, solve_pose_path

__all__ = ["pose_path_steps", "solve_pose_path"]
