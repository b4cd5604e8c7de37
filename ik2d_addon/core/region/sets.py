# SPDX-License-Identifier: GPL-3.0-or-later
"""The sets F(0) to F(n) of a chain whose reach is 1, built joint by joint from the tip."""

from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np

from ..inputs import Floats
from .circles import Circles, Flags
from .elements import EPS, TURN, Elements, Points, near, unit
from .turned import turned

# A sound step leaves fewer elements than this: so many a bone, and some more.
MOST_A_BONE, MOST_MORE = 10, 100


@dataclass(frozen=True, eq=False)
class Sets:
    """A chain of n bones, and the boundaries of the sets that its last bones reach."""

    lengths: Floats  # (n,) parts of the reach
    low: Floats  # (n,) radians; -pi and pi where a joint is free
    high: Floats  # (n,)
    free: Flags  # (n,) whether a joint has a whole turn of room
    elements: tuple[Elements, ...]  # n + 1, of F(0) to F(n)
    circles: tuple[Circles, ...]  # n

    def __len__(self) -> int:
        return self.lengths.size

    def contain(self, points: Points) -> Flags:
        """Return which points (b,) lie in F(0). Each False is a proof, each True right to a few EPS.

        If no turn of a joint brings a boundary to the point then all turns leave it on the same side: it is
        enough to ask on for one of them. That is the one which leaves the point farthest from the next
        joint, so that it is soon farther off than the set reaches.
        """
        found: Flags = np.zeros(len(points), np.bool_)
        left, seen = np.arange(len(points)), points
        for k, circles in enumerate(self.circles):
            covered = circles.cover(seen, self.low[k], self.high[k])
            found[left[covered]] = True
            asked = np.flatnonzero(~covered & (np.abs(seen) <= circles.farthest + EPS))
            if asked.size == 0:
                return found
            left, seen = left[asked], seen[asked]
            away = near(np.angle(seen) + np.pi, 0.5 * (self.low[k : k + 1] + self.high[k : k + 1]))
            turn = np.minimum(np.maximum(away, self.low[k]), self.high[k])
            seen = seen * unit(-turn) - self.lengths[k]
        found[left] = np.abs(seen) <= 4.0 * EPS
        return found

    def tips(self, angles: Floats) -> Points:
        """Return the tips (...) of poses (..., n)."""
        tips: Points = (self.lengths * unit(np.cumsum(angles, axis=-1))).sum(axis=-1)
        return tips


def set_steps(lengths: Floats, low: Floats, high: Floats) -> Generator[int, None, Sets | None]:
    """Return the sets of a chain with ranges (n,) in radians, None where they are undecided.

    A range of a turn or more is free. Undecided: the ranges are so narrow that rounding cannot tell one
    side of a set from the other, and the elements become more and more. Yields 0 after each joint.
    """
    n = len(lengths)
    free = high - low >= TURN
    low, high = np.where(free, -np.pi, low), np.where(free, np.pi, high)
    elements, circles = [Elements.tip()], list[Circles]()
    for k in range(n - 1, -1, -1):
        is_inside = _inside(circles[-1], lengths[k], low[k + 1], high[k + 1]) if circles else _nothing
        boundary, about = turned(elements[-1], float(lengths[k]), float(low[k]), float(high[k]), is_inside)
        if len(boundary) > MOST_A_BONE * n + MOST_MORE:
            return None
        elements.append(boundary)
        circles.append(about)
        yield 0
    return Sets(lengths, low, high, free, tuple(elements[::-1]), tuple(circles[::-1]))


def _nothing(r: Floats) -> Flags:
    return np.zeros(r.shape, np.bool_)


def _inside(circles: Circles, length: float, low: float, high: float) -> Callable[[Floats], Flags]:
    """Return the function that tells which points, so far ahead of the joint before, lie in F(k)."""
    return lambda r: circles.cover(r - length + 0j, low, high)
