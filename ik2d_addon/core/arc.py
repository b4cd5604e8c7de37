# SPDX-License-Identifier: GPL-3.0-or-later
"""The solver Arc: all joints lie on one circle, whose curvature brings the tip on the target.

A bone is a chord of the circle. With t_i half the angle that bone i takes up, seen from the centre, and
t that of the longest bone, l long, the others are t_i = asin(l_i / l sin t), and with S their sum

    distance of the tip = l sin S / sin t

From t = 0, the stretched chain, to where S = pi, the tip on the root, or to t = pi, where a bone that is
longer than the others together has them folded back, this always falls: on either side of t = pi / 2 the sign
of its slope follows from tan being superadditive. From there on the centre lies on the longest bone's other
side. So each distance between the reaches has one arc.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .chain import Chain, checked_chain, checked_targets, in_reaches
from .errors import IK2DError
from .inputs import Floats, checked_bend, common_shape, wrapped
from .roots.falling import falling_roots
from .softness import checked_softness, soft_targets
from .solution import Solution, annulus_status, distances_to, eased_status

# The error of a distance by rounding, in reaches.
ROUNDING = 1e-15
# So many angles at a time that the arrays between the steps stay in the processor's cache.
BLOCK_ANGLES = 65536


def solve_arc(
    chain: Chain,
    target: ArrayLike,
    *,
    bend: ArrayLike = 1,
    tolerance: float | None = None,
    softness: ArrayLike = 0.0,
) -> Solution:
    """Return the pose on one circle for each target, the tip on it or as near as it gets.

    Bones of equal length all bend alike; of two bones it is the pose of `solve_two_bone`. Only the target's
    distance decides about the shape, and the root aims it. The formulas are at the top of arc.py.

    target: (..., 2) relative to the root. bend: +1 or -1 (...): the sign of all angles but the first.
    tolerance: a length. softness: 0..1 (...), see softness.py; status is that of the exact solve, or EASED.
    A target off the annulus gets the nearest pose, TOO_FAR or TOO_CLOSE; every other one is reached. For a
    target at the root, where each direction is as good, the arc is that of one next to it on the x axis.
    Weights change nothing, but each joint has to turn: raises IK2DError for limits, for joints of weight 0
    but the root, and for bones that slide; and for a target that is not finite, another bend.

    >>> np.degrees(solve_arc(Chain([1.0, 1.0, 1.0]), [2.0, 0.0]).angles).round(1)
    array([-60.,  60.,  60.])
    """
    checked_chain(chain)
    refuse_uneven(chain)
    targets, sides, soft = checked_targets(target), checked_bend(bend), checked_softness(softness)
    limit = chain.tolerance_or_default(tolerance)
    shape = common_shape(target=targets.shape[:-1], bend=sides.shape, softness=soft.shape)
    points = np.ascontiguousarray(np.broadcast_to(targets, (*shape, 2))).reshape(-1, 2)
    side = np.broadcast_to(sides, shape).reshape(-1)
    softnesses = np.broadcast_to(soft, shape).reshape(-1)
    aims = soft_targets(chain, points, softnesses) if soft.any() else points
    angles, iterations = _poses(chain, aims, side)
    residual = distances_to(chain, angles, points)
    status = eased_status(annulus_status(chain, points, limit), residual, softnesses, limit)
    return Solution.of_rows(chain, shape, angles, status, residual, iterations)


def refuse_uneven(chain: Chain) -> None:
    """Raise IK2DError for a chain whose bones slide, or whose joints do not all turn freely."""
    if chain.is_sliding:
        raise IK2DError("the Arc solver takes rigid bones; use Even or CCD where bones slide")
    if chain.is_limited:
        raise IK2DError("the Arc solver takes joints without limits; use Even or CCD")
    if chain.weights is not None and (chain.weights == 0.0).any():
        raise IK2DError("the Arc solver takes joints that all turn; use Even or CCD where one is rigid")


def _poses(chain: Chain, points: Floats, sides: Floats) -> tuple[Floats, NDArray[np.int32]]:
    """Return the poses (m, n) for points (m, 2) on the sides (m,), and Newton's steps (m,)."""
    n = len(chain)
    angles, steps = np.zeros((len(points), n)), np.zeros(len(points), np.int32)
    outer = chain.reach[1]
    if outer == 0.0:
        return angles, steps
    circle, unit = _Circle(chain.lengths / outer), in_reaches(chain, points)
    block = max(1, BLOCK_ANGLES // n)
    for first in range(0, len(points), block):
        rows = slice(first, first + block)
        x, y = unit[rows].T.copy()
        halves, steps[rows] = circle.halves(np.hypot(x, y))
        side = sides[rows, np.newaxis]
        angles[rows, 1:] = side * (halves[:, :-1] + halves[:, 1:])
        angles[rows, 0] = wrapped(np.arctan2(y, x) - side[:, 0] * halves[:, 1:].sum(axis=1))
    return angles, steps


class _Circle:
    """The arcs of bones whose lengths (n,) add up to 1, by half the angle t of the longest."""

    def __init__(self, lengths: Floats) -> None:
        self.longest, self.at = float(lengths.max()), int(lengths.argmax())
        self.parts = lengths / self.longest
        self.others = np.delete(self.parts, self.at)
        self.missing = np.sqrt((1.0 - self.others) * (1.0 + self.others))
        self.inner = max(0.0, 2.0 * self.longest - 1.0)
        middle = np.array([0.5 * np.pi])
        self.total = float(self._total(middle, 1.0)[0][0])
        self.middle = float(self.distance(middle, 1.0)[0][0]) if self.total < np.pi else -1.0

    def halves(self, distances: Floats) -> tuple[Floats, NDArray[np.int32]]:
        """Return half the angle of each bone (m, n) for distances (m,), the nearest there is, and steps."""
        wanted = np.clip(distances, self.inner, 1.0)
        halves, steps = np.empty((wanted.size, self.parts.size)), np.zeros(wanted.size, np.int32)
        beyond = wanted < self.middle
        for side, rows in ((1.0, np.flatnonzero(~beyond)), (-1.0, np.flatnonzero(beyond))):
            if rows.size:
                u, steps[rows] = self._found(wanted[rows], side)
                halves[rows] = self._halves(u, side)
        return halves, steps

    def _found(self, wanted: Floats, side: float) -> tuple[Floats, NDArray[np.int32]]:
        """Return u (m,), where t = u or, on side -1, pi - u, whose tips are at distances (m,), and steps."""
        # Half the angle of two bones with these reaches: it has the arc's own square roots at both ends.
        u = np.arctan2(
            np.sqrt((1.0 - wanted) * (1.0 + wanted)),
            np.sqrt((wanted - self.inner) * (wanted + self.inner)),
        )
        u = u * min(1.0, np.pi / self.total) if side > 0.0 else 0.5 * np.pi - u
        ends = wanted == (1.0 if side > 0.0 else self.inner or -1.0)
        angles, steps = np.where(ends, 0.0, u), np.zeros(u.size, np.int32)
        between = np.flatnonzero(~ends)
        start, wanted = np.where(u > 0.0, u, 0.25 * np.pi)[between], wanted[between]

        def off(rows: NDArray[np.intp], u: Floats) -> tuple[Floats, Floats]:
            distance, slope = self.distance(u, side)
            return side * (distance - wanted[rows]), slope

        bracket = np.zeros(start.size), np.full(start.size, 0.5 * np.pi)
        angles[between], _, steps[between] = falling_roots(off, start, *bracket, ROUNDING)
        return angles, steps

    def distance(self, u: Floats, side: float) -> tuple[Floats, Floats]:
        """Return the tip's distance for u (m,) in 0..pi / 2, and its slope, above zero on side -1."""
        sine, cosine = np.sin(u), np.cos(u)
        total, slope = self._total(u, side)
        distance = self.longest * np.sin(total) / sine
        return distance, side * (self.longest * np.cos(total) * slope - distance * cosine) / sine

    def _total(self, u: Floats, side: float) -> tuple[Floats, Floats]:
        """Return S, or pi - S (side -1), for u (m,), and its slope."""
        halves, root = self._others(u)
        cosines = np.cos(u)[:, np.newaxis] / np.where(root > 0.0, root, 1.0)
        return u + side * halves.sum(axis=1), 1.0 + side * (self.others * cosines).sum(axis=1)

    def _others(self, u: Floats) -> tuple[Floats, Floats]:
        """Return half the angles of all bones but the longest (m, n - 1), and their cosines.

        An arcsine has no digits near a right angle; the lengths' own differences have.
        """
        sine, cosine = np.sin(u)[:, np.newaxis], np.cos(u)[:, np.newaxis]
        size = np.hypot(cosine, self.missing * sine)
        return np.arctan2(self.others * sine, size), size

    def _halves(self, u: Floats, side: float) -> Floats:
        """Return half the angle of each bone (m, n)."""
        halves = np.empty((u.size, self.parts.size))
        halves[:, np.arange(self.parts.size) != self.at], _ = self._others(u)
        halves[:, self.at] = u if side > 0.0 else np.pi - u
        return halves
