# SPDX-License-Identifier: GPL-3.0-or-later
"""A tip with an angle: the last bone has a heading of its own, as a bucket, a foot or a gripper has."""

from .solve import solve_pose

__all__ = ["solve_pose"]
