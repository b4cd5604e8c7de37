# SPDX-License-Identifier: GPL-3.0-or-later
"""A tip's targets and angles as they are asked for, checked, and the solution that poses for them make."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..chain import MOST_BONES, Chain, checked_angles, checked_chain, checked_targets
from ..errors import IK2DError
from ..even import solve_even
from ..inputs import LARGEST_ANGLE, Floats, checked_bend, checked_kind, common_shape, floats_within, number
from ..softness import checked_softness, soft_targets
from ..solution import Solution, Status, annulus_status, distances_to, eased_status
from .arm import Arm, headings_off

# A heading further off (radians) is not the one asked for.
ANGLE_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class PoseRows:
    """Poses for the targets of a request, as rows."""

    angles: Floats  # (m, n)
    # (m,) where no pose with both was found, and none is proven not to exist; None: nowhere
    unproven: NDArray[np.bool_] | None = None


@dataclass(frozen=True, eq=False)
class PoseRequest:
    """Targets and angles of one chain, as rows."""

    chain: Chain
    rest: Floats  # (n,)
    root_weight: float | None
    tolerance: float
    angle_first: bool
    shape: tuple[int, ...]  # of the targets
    points: Floats  # (m, 2)
    headings: Floats  # (m,)
    sides: Floats  # (m,) +1 or -1
    softness: Floats  # (m,)
    aims: Floats  # (m, 2) the targets, behind them by softness

    @classmethod
    def checked(
        cls,
        chain: Chain,
        target: ArrayLike,
        angle: ArrayLike,
        *,
        bend: ArrayLike,
        rest: ArrayLike | None,
        root_weight: float | None,
        tolerance: float | None,
        softness: ArrayLike,
        angle_first: bool,
    ) -> "PoseRequest":
        """Return the request of `solve_pose`, or raise IK2DError."""
        checked_chain(chain)
        checked_kind(angle_first, bool, "angle_first")
        n = len(chain)
        if not 2 <= n <= MOST_BONES:
            raise IK2DError(f"a tip with an angle takes chains of 2 to {MOST_BONES} bones, not {n}")
        if chain.is_sliding:
            raise IK2DError("a tip with an angle takes rigid bones; leave the angle out where bones slide")
        targets, sides, soft = checked_targets(target), checked_bend(bend), checked_softness(softness)
        wanted = floats_within(angle, "angle", LARGEST_ANGLE, " radians")
        own_rest = checked_angles(chain, np.zeros(n) if rest is None else rest, "rest")
        if own_rest.ndim != 1:
            raise IK2DError(f"rest must be {n} angles, one a bone, not of shape {own_rest.shape}")
        weight = None if root_weight is None else number(root_weight, "root_weight")
        if weight is not None and not 0.0 <= weight <= 1.0:
            raise IK2DError(f"root_weight must lie in 0..1, or be None, not {weight}")
        shape = common_shape(
            target=targets.shape[:-1], angle=wanted.shape, bend=sides.shape, softness=soft.shape
        )
        points = np.broadcast_to(targets, (*shape, 2)).reshape(-1, 2)
        headings, side, easing = (np.broadcast_to(own, shape).reshape(-1) for own in (wanted, sides, soft))
        aims = soft_targets(chain, points, easing) if easing.any() else points
        limit = chain.tolerance_or_default(tolerance)
        rows = points, headings, side, easing, aims
        return cls(chain, own_rest, weight, limit, angle_first, shape, *rows)

    @cached_property
    def arm(self) -> Arm:
        """The chain, its reach 1."""
        return Arm.of(self.chain, self.rest, self.root_weight)

    def at(self, row: int) -> "PoseRequest":
        """Return the request of one target."""
        names = "points", "headings", "sides", "softness", "aims"
        return replace(self, shape=(1,), **{name: getattr(self, name)[row : row + 1] for name in names})

    def solution(self, posed: PoseRows) -> Solution:
        """Return the solution of poses for all targets; where a tip misses, the nearest without the angle."""
        chain, limit, angles = self.chain, self.tolerance, posed.angles
        residual = distances_to(chain, angles, self.aims)
        status = annulus_status(chain, self.points, limit)
        missed = np.flatnonzero(residual > limit)
        if missed.size:
            # The tip comes nearest without the angle; where it reaches so, the angle is what keeps it off.
            free = self.without_angle(missed)
            if not self.angle_first:
                angles[missed] = free.angles
            within = status[missed] == Status.REACHED
            known = np.where(
                free.reached, Status.LIMITED if self.angle_first else Status.REACHED, free.status
            )
            status[missed] = np.where(within, known, status[missed])
        off = headings_off(angles, self.headings)
        residual = distances_to(chain, angles, self.points)
        status[(status == Status.REACHED) & (off > ANGLE_TOLERANCE)] = Status.ANGLE
        status = eased_status(status, residual, self.softness, limit)
        solution = Solution.of_rows(chain, self.shape, angles, status, residual)
        unproven = None if posed.unproven is None else posed.unproven.reshape(self.shape)
        return replace(solution, angle_error=off.reshape(self.shape), unproven=unproven)

    def without_angle(self, rows: NDArray[np.intp]) -> Solution:
        """Return the solution of some targets, the last bone at any angle."""
        held = 0.0 if self.root_weight == 0.0 else None
        return solve_even(
            self.chain, self.aims[rows], bend=self.sides[rows], rest=self.rest, root_weight=held
        )
