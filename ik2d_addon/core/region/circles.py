# SPDX-License-Identifier: GPL-3.0-or-later
"""Circles about a joint, and the arcs of them that lie in the set which the joint turns.

H = length k along x + F(k + 1) is the set as joint k finds it. Along a circle about the joint a point of
the plane comes into H and out of it; turning H by [low, high] covers a point p if H has a point on p's
circle from the angle of p - high to the angle of p - low. Nothing else needs to be known: an arc of the
circle that crosses no boundary lies in H with all of its points, or with none.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..inputs import Floats
from .elements import EPS, TURN, Indices, Points

Flags = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


@dataclass(frozen=True, eq=False)
class Circles:
    """The arcs of the boundary of H, cut so that each crosses a circle about the joint at most once."""

    distance: Floats  # (m,) of the arc's centre from the joint
    direction: Floats  # (m,) of the centre, radians
    radius: Floats  # (m,) of the arc, not negative
    leaves: Floats  # (m,) +1.0 where a circle, with growing angle, leaves H at the arc; -1.0 where it enters
    side: Floats  # (m,) +1.0 or -1.0, on which side of its centre's direction the arc lies
    inner: Floats  # (m,) the radii of the circles that the arc crosses
    outer: Floats  # (m,)
    edges: Floats  # (e,) where the radii of circles that cross nothing end
    full: Flags  # (e + 1,) whether the circles below an edge lie in H; False beyond the last one
    farthest: float  # from the joint, in H

    @classmethod
    def of(
        cls,
        centre: Points,
        radius: Floats,
        leaves: Floats,
        ends: tuple[Floats, Floats],
        about: Floats,
        corners: Floats,
        is_inside: Callable[[Floats], Flags],
    ) -> "Circles":
        """Return the circles of arcs.

        ends: the distances of the arcs' two ends from the joint. about: the radii of arcs about the joint
        itself, which no circle crosses, but which part circles in H from others. corners: the distances of
        the corners. is_inside(r): whether the
        points at distances r from the joint in direction x lie in H.
        """
        inner, outer = np.minimum(*ends), np.maximum(*ends)
        low, high = np.append(inner, about), np.append(outer, about)
        order = np.argsort(low)
        low, high = low[order], np.maximum.accumulate(np.append(0.0, high[order]))
        gaps = np.flatnonzero(low > high[:-1])
        below, edges = high[gaps], low[gaps]
        full = edges - below > EPS
        full[full] = is_inside(0.5 * (below + edges)[full])
        return cls(
            np.abs(centre),
            np.angle(centre),
            np.abs(radius),
            leaves,
            np.sign(radius) * leaves,
            inner,
            outer,
            edges,
            np.append(full, False),
            float(max(high[-1:].max(initial=0.0), corners.max(initial=0.0))),
        )

    def angle(self, r: Floats, arc: Indices) -> Floats:
        """Return the polar angles at which circles of radii r cross arcs.

        The triangle of joint, centre and crossing, by half angles: right to the last digits where the
        circle only touches.
        """
        d, rho = self.distance[arc], self.radius[arc]
        opposite = np.maximum((rho - r + d) * (rho + r - d), 0.0)
        adjacent = np.maximum((r + d - rho) * (r + d + rho), 0.0)
        angles: Floats = self.direction[arc] + self.side[arc] * 2.0 * np.arctan2(
            np.sqrt(opposite), np.sqrt(adjacent)
        )
        return angles

    def crossings(self, r: Floats) -> tuple[Indices, Indices, Floats]:
        """Return all crossings of circles of radii r (b,): the rows of r, the arcs, the polar angles."""
        wide = r[:, np.newaxis]
        row, arc = np.nonzero((self.inner <= wide + EPS) & (wide <= self.outer + EPS))
        return row, arc, self.angle(r[row], arc)

    def cover(self, points: Points, low: float, high: float) -> Flags:
        """Return which points (b,) lie in F(k), as it is when the joint turns by [low, high].

        False is a proof. True may be wrong by a few EPS.
        """
        r, polar = np.abs(points), np.angle(points)
        row, arc, crossing = self.crossings(r)
        covered: Flags = self.full[np.searchsorted(self.edges, r)]
        covered[row] = False
        # How far ahead of where H comes to the point when it is turned by `high`.
        ahead = np.remainder(crossing - polar[row] + high + EPS, TURN) - EPS
        covered[row[ahead <= high - low + EPS]] = True
        ahead += 2.0 * EPS * self.leaves[arc]  # of two in the same place the entry comes first
        first = np.full(len(r), np.inf)
        np.minimum.at(first, row, ahead)
        covered[row[(ahead == first[row]) & (self.leaves[arc] > 0.0)]] = True
        return covered

    def stretches(self, r: Floats) -> tuple[Indices, Floats, Floats]:
        """Return the stretches of circles of radii r (b,) that lie in H: rows of r, starts, lengths."""
        row, arc, polar = self.crossings(r)
        whole = self.full[np.searchsorted(self.edges, r)]
        whole[row] = False
        polar, leaves = np.remainder(polar, TURN), self.leaves[arc]
        order = np.lexsort((polar + EPS * leaves, row))
        row, polar, leaves = row[order], polar[order], leaves[order]
        kept = _alternating(row, leaves)
        row, polar, leaves = row[kept], polar[kept], leaves[kept]
        entry = np.flatnonzero(leaves < 0.0)
        length = np.zeros(0)
        if entry.size:
            # The exit after an entry; after the last of a circle, its first.
            is_last = np.append(row[1:], -1)[entry] != row[entry]
            exit_ = np.where(is_last, np.searchsorted(row, row[entry]), entry + 1)
            length = polar[exit_] - polar[entry]
            length = np.maximum(np.where(length < -2.0 * EPS, length + TURN, length), 0.0)
        around = np.flatnonzero(whole)
        return (
            np.append(row[entry], around),
            np.append(polar[entry], np.zeros(around.size)),
            np.append(length, np.full(around.size, TURN)),
        )


def _alternating(row: Indices, leaves: Floats) -> Flags:
    """Return which crossings, in order along each row's circle, are entries after exits or the reverse."""
    place = np.arange(len(row))
    first = np.searchsorted(row, row)
    last = np.searchsorted(row, row, side="right") - 1
    before = leaves[np.where(place == first, last, place - 1)]
    after = leaves[np.where(place == last, first, place + 1)]
    kept: Flags = ((leaves < 0.0) & (before > 0.0)) | ((leaves > 0.0) & (after < 0.0))
    return kept
