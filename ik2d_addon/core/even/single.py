# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose of a family for one distance, in plain numbers: numpy's calls cost more than these do for one.

The answers are those of `Family.at`, to within CLOSE.
"""

from bisect import bisect_right
from dataclasses import dataclass
from math import cos, sin, sqrt

from ..roots.falling import falling_root
from .family import ROUNDING, Family

# The error of a distance (reach is 1) before Newton's last step, which then leaves far less than rounding.
CLOSE = 1e-8
# The longest step along a piece that the slope alone is trusted for.
SHORT_STEP = 1e-4


@dataclass(frozen=True, slots=True)
class FamilyPlace:
    """A place in a family, and the slope of the distance there."""

    piece: int
    t: float  # 0..1 along the piece
    slope: float  # of the distance, by t; below zero


class SingleFamily:
    """A family of poses, asked for one distance at a time."""

    def __init__(self, family: Family) -> None:
        self.nearest, self.farthest = family.span
        self._lengths: list[float] = family.lengths.tolist()
        self._distances: list[float] = family.distances.tolist()
        self._rising: list[float] = (-family.distances).tolist()
        self._cubics: list[list[list[float]]] = family.cubics.transpose(1, 2, 0).tolist()  # (k, m, 4)

    def find(self, distance: float) -> FamilyPlace:
        """Return the place for a distance, or for the nearest one in the family."""
        wanted = min(max(distance, self.nearest), self.farthest)
        piece = min(max(bisect_right(self._rising, -wanted) - 1, 0), len(self._cubics) - 1)
        top, bottom = self._distances[piece], self._distances[piece + 1]
        if wanted >= top or wanted <= bottom:
            end = 0.0 if wanted >= top else 1.0
            return FamilyPlace(piece, end, self._distance(piece, end)[1])

        def off(t: float) -> tuple[float, float]:
            there, slope = self._distance(piece, t)
            return there - wanted, slope

        start = (top - wanted) / max(top - bottom, ROUNDING)
        if piece == 0:  # next to full reach the distance has no slope
            start = sqrt(start)
        return FamilyPlace(piece, *falling_root(off, start, 0.0, 1.0, ROUNDING, CLOSE))

    def nudged(self, place: FamilyPlace, distance: float, change: float) -> FamilyPlace:
        """Return the place for `distance` + change, from the place found for `distance`."""
        if place.slope < 0.0:
            step = change / place.slope
            if abs(step) <= SHORT_STEP and 0.0 <= place.t + step <= 1.0:
                return FamilyPlace(place.piece, place.t + step, place.slope)
        return self.find(distance + change)

    def pose(self, place: FamilyPlace) -> list[float]:
        """Return the inner angles (m,) at a place."""
        t = place.t
        return [a + t * (b + t * (c + t * d)) for a, b, c, d in self._cubics[place.piece]]

    def _distance(self, piece: int, t: float) -> tuple[float, float]:
        """Return the distance of the tip, and its slope along the piece."""
        lengths = self._lengths
        x, y = lengths[0], 0.0
        heading = turned = along = across = 0.0
        for i, (a, b, c, d) in enumerate(self._cubics[piece], 1):
            heading += a + t * (b + t * (c + t * d))
            turned += b + t * (2.0 * c + 3.0 * t * d)
            dx, dy = lengths[i] * cos(heading), lengths[i] * sin(heading)
            x += dx
            y += dy
            along += dx * turned
            across += dy * turned
        distance = sqrt(x * x + y * y)
        return distance, (y * along - x * across) / max(distance, 1e-300)
