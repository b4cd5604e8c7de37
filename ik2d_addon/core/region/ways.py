# SPDX-License-Identifier: GPL-3.0-or-later
"""The ways that points take as a joint moves, and the stretches of them that lie in the set it moves.

H is the set as the joint finds it. Along a way a point of the plane comes into H and out of it; moving H by
[low, high] covers a point p if H has a point on p's way from the place of p - high to that of p - low.
Nothing else needs to be known: a stretch of the way that crosses no boundary lies in H with all of its
points, or with none. A joint that turns moves points in circles about it (`circles`), where places are
polar angles; a bone that slides, in lines along it (`lines`), where they are lengths. Both are counted in
the period of a turn: all sets lie within 1 of the joint, so that lengths never come to as much.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..inputs import Floats
from .elements import EPS, TURN, Indices, Points

Flags = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


@dataclass(frozen=True, eq=False)
class Ways(ABC):
    """The elements of the boundary of H, cut so that each crosses a way at most once.

    A way is told from others by a number r.
    """

    leaves: Floats  # (m,) +1.0 where a way, with growing place, leaves H at the element; -1.0 where it enters
    inner: Floats  # (m,) the r of the ways that the element crosses
    outer: Floats  # (m,)
    edges: Floats  # (e,) where the r of ways that cross nothing end
    full: Flags  # (e + 1,) whether the ways below an edge lie in H; False beyond the last one
    # Where the period of the places begins: of an entry and an exit in the same place none must lie beyond.
    seam: ClassVar[float] = 0.0
    farthest: float  # how far from the joint a point may be for its way to meet H

    @abstractmethod
    def of_points(self, points: Points) -> tuple[Floats, Floats]:
        """Return the ways r (b,) of points (b,), and the points' places (b,) on them."""

    @abstractmethod
    def points(self, r: Floats, places: Floats) -> Points:
        """Return the points at places on ways r."""

    @abstractmethod
    def places(self, r: Floats, element: Indices) -> Floats:
        """Return the places at which ways r cross elements."""

    def crossings(self, r: Floats) -> tuple[Indices, Indices, Floats]:
        """Return all crossings of ways r (b,): the rows of r, the elements, the places."""
        wide = r[:, np.newaxis]
        row, element = np.nonzero((self.inner <= wide + EPS) & (wide <= self.outer + EPS))
        return row, element, self.places(r[row], element)

    def cover(self, points: Points, low: float, high: float) -> Flags:
        """Return which points (b,) lie in F(k), as it is when the joint moves by [low, high].

        False is a proof. True may be wrong by a few EPS.
        """
        r, place = self.of_points(points)
        row, element, crossing = self.crossings(r)
        covered: Flags = self.full[np.searchsorted(self.edges, r)]
        covered[row] = False
        # The way ahead of the place that the point has in H when H is moved by `high`.
        ahead = np.remainder(crossing - place[row] + high + EPS, TURN) - EPS
        covered[row[ahead <= high - low + EPS]] = True
        ahead += 2.0 * EPS * self.leaves[element]  # of two in the same place the entry comes first
        first = np.full(len(r), np.inf)
        np.minimum.at(first, row, ahead)
        covered[row[(ahead == first[row]) & (self.leaves[element] > 0.0)]] = True
        return covered

    def stretches(self, r: Floats) -> tuple[Indices, Floats, Floats]:
        """Return the stretches of ways r (b,) that lie in H: rows of r, starts, lengths."""
        row, element, place = self.crossings(r)
        whole = self.full[np.searchsorted(self.edges, r)]
        whole[row] = False
        place, leaves = np.remainder(place - self.seam, TURN), self.leaves[element]
        order = np.lexsort((place + EPS * leaves, row))
        row, place, leaves = row[order], place[order], leaves[order]
        kept = _alternating(row, leaves)
        row, place, leaves = row[kept], place[kept], leaves[kept]
        entry = np.flatnonzero(leaves < 0.0)
        length = np.zeros(0)
        if entry.size:
            # The exit after an entry; after the last of a way, its first.
            is_last = np.append(row[1:], -1)[entry] != row[entry]
            exit_ = np.where(is_last, np.searchsorted(row, row[entry]), entry + 1)
            length = place[exit_] - place[entry]
            length = np.maximum(np.where(length < -2.0 * EPS, length + TURN, length), 0.0)
        around = np.flatnonzero(whole)
        return (
            np.append(row[entry], around),
            np.append(place[entry] + self.seam, np.zeros(around.size)),
            np.append(length, np.full(around.size, TURN)),
        )


def _alternating(row: Indices, leaves: Floats) -> Flags:
    """Return which crossings, in order along each row's way, are entries after exits or the reverse."""
    order = np.arange(len(row))
    first = np.searchsorted(row, row)
    last = np.searchsorted(row, row, side="right") - 1
    before = leaves[np.where(order == first, last, order - 1)]
    after = leaves[np.where(order == last, first, order + 1)]
    kept: Flags = ((leaves < 0.0) & (before > 0.0)) | ((leaves > 0.0) & (after < 0.0))
    return kept
