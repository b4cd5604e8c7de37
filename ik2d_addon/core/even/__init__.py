# SPDX-License-Identifier: GPL-3.0-or-later
"""Even: the pose of least bend from rest, the bend shared among all joints, and all slides."""

from .solve import solve_even

__all__ = ["solve_even"]
