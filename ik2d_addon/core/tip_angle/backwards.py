# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain walked backwards: seen from its last bone, the root is the tip of the other bones, reversed.

With the last bone's heading psi and the tip p given, the wrist is the root of a chain of lengths
L[n-2] .. L[0] and joints n-1 .. 1, their limits and rests negated. In its frame, turned to psi + pi, its
target is

    R(-psi) p - (L[n-1], 0)

As psi varies, that goes round a circle of radius |p| about the tip: the headings that the limits allow are
the stretches of this circle inside the region of the reversed chain. That is exact, as `region` is, where
the chain's own root turns freely.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..chain import Chain
from ..even import solve_even
from ..inputs import Floats, wrapped
from ..region import Region, as_points, reachable
from .arm import ON_TARGET, Arm, direction

# Even's own tolerance, and how far inside a stretch of headings its ends are aimed at (radians).
FINE, INSIDE = 1e-11, 1e-10


@dataclass(frozen=True, eq=False)
class Backwards:
    """An arm's reversed chain."""

    arm: Arm

    @cached_property
    def chain(self) -> Chain:
        """The reversed chain, of n - 1 bones."""
        arm = self.arm.chain
        assert arm.weights is not None
        ranges = -arm.ranges[:0:-1, ::-1]
        return Chain(arm.lengths[-2::-1], ranges, arm.weights[:0:-1])

    @cached_property
    def rest(self) -> Floats:
        """Its angles (n - 1,) at rest."""
        rest: Floats = -self.arm.rest[:0:-1]
        return rest

    @cached_property
    def region(self) -> Region:
        """The points that the root may be at, seen from the wrist."""
        return reachable(Chain(self.chain.lengths, self.chain.ranges))

    @cached_property
    def _with_hand(self) -> Region:
        """The same seen from the tip, about which all of it turns."""
        ranges = np.vstack(([-np.inf, np.inf], self.chain.ranges))
        return reachable(Chain(self.arm.chain.lengths[::-1], ranges))

    def goals(self, points: Floats, headings: Floats) -> Floats:
        """Return the targets (m, 2) of the reversed chain for tips on points (m, 2) with headings (m,)."""
        cosines, sines = np.cos(headings), np.sin(headings)
        x, y = points.T
        hand = float(self.arm.chain.lengths[-1])
        return np.stack((cosines * x + sines * y - hand, cosines * y - sines * x), axis=-1)

    def poses(self, points: Floats, headings: Floats, sides: Floats) -> Floats:
        """Return the arm's poses (m, n) of least bend with these headings, the tips on or near points (m, 2).

        Where the reversed chain does not reach, it is as near as it gets. sides: (m,) that they bend to.
        """
        goals = self.goals(points, headings)
        inner = wrapped(self.rest[1:])
        bends = np.where(sides == self.arm.own_side, 1.0, -1.0)
        if (np.abs(inner) <= 1e-4).all():
            bends = -sides
        assert self.chain.weights is not None
        solved = solve_even(
            self.chain,
            goals,
            bend=bends,
            rest=self.rest,
            root_weight=float(self.chain.weights[0]),
            tolerance=FINE,
        )
        angles = solved.angles
        missed = np.flatnonzero(solved.residual > ON_TARGET)
        if missed.size:
            near = np.broadcast_to(self.rest, angles[missed].shape)
            angles[missed] = self.region.poses(goals[missed], near)
        return self._forwards(angles, headings)

    def _forwards(self, angles: Floats, headings: Floats) -> Floats:
        """Return the arm's poses (m, n) for the reversed chain's (m, n - 1), whatever the root's limits."""
        forward = -angles[:, ::-1]
        return np.column_stack((headings - forward.sum(axis=1), forward))

    def nearest_headings(self, points: Floats, wanted: Floats) -> tuple[Floats, Floats]:
        """Return the allowed headings (m,) nearest to the wanted (m,) for points (m, 2), and how far off.

        Infinitely far where the tip does not reach its point by any.
        """
        seen = as_points(points)
        row, start, length = self._with_hand.sets.ways[0].stretches(np.abs(seen))
        # A place on the circle is that of R(-psi) p: psi = direction of p - place.
        inside = np.minimum(INSIDE, 0.5 * length)
        last = direction(points)[row] - start - inside
        first = last - (length - 2.0 * inside)
        middle, half = 0.5 * (first + last), 0.5 * (last - first)
        nearest = middle + np.clip(wrapped(wanted[row] - middle), -half, half)
        off = np.abs(wrapped(nearest - wanted[row]))
        order = np.lexsort((off, row))
        best = order[np.flatnonzero(np.diff(row[order], prepend=-1))]
        headings, away = wanted.copy(), np.full(len(points), np.inf)
        headings[row[best]], away[row[best]] = nearest[best], off[best]
        return headings, away

    def nearest_poses(self, points: Floats, wanted: Floats, angle_first: bool) -> Floats:
        """Return poses (m, n) for points (m, 2), on the border, of the headings nearest to the wanted (m,).

        angle_first: of the wanted headings, the tips nearest to their points.
        """
        headings = wanted
        if not angle_first:
            nearest, away = self.nearest_headings(points, wanted)
            headings = np.where(np.isfinite(away), nearest, wanted)
        goals = self.goals(points, headings)
        return self._forwards(
            self.region.poses(goals, np.broadcast_to(self.rest, (len(goals), len(self.rest)))), headings
        )


def least_bend(arm: Arm, points: Floats, wanted: Floats, sides: Floats, angle_first: bool) -> Floats:
    """Return poses (m, n) of an arm whose root turns freely: the least bend with tip and heading as wanted.

    Where both cannot be had, of the nearest heading; angle_first: of the nearest tip.
    """
    backwards = Backwards(arm)
    poses = backwards.poses(points, wanted, sides)
    missed = np.flatnonzero(arm.misses(poses, points) > ON_TARGET)
    if missed.size and not angle_first:
        headings, away = backwards.nearest_headings(points[missed], wanted[missed])
        able = np.isfinite(away)
        rows = missed[able]
        poses[rows] = backwards.poses(points[rows], headings[able], sides[rows])
    return poses
