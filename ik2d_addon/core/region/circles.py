# SPDX-License-Identifier: GPL-3.0-or-later
"""Circles about a joint, and their crossings with the arcs of a set."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..inputs import Floats
from .elements import EPS, Indices, Points, unit
from .ways import Flags, Ways


@dataclass(frozen=True, eq=False)
class Circles(Ways):
    """The arcs of the boundary of H, cut so that each crosses a circle about the joint at most once.

    A circle's r is its radius, and places on it are polar angles.
    """

    distance: Floats  # (m,) of the arc's centre from the joint
    direction: Floats  # (m,) of the centre, radians
    radius: Floats  # (m,) of the arc, not negative
    side: Floats  # (m,) +1.0 or -1.0, on which side of its centre's direction the arc lies

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
        itself, which no circle crosses, but which separate circles in H from others. corners: the distances
        of the corners. is_inside(r): whether the points at distances r from the joint along x lie in H.
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
            leaves,
            inner,
            outer,
            edges,
            np.append(full, False),
            float(max(high[-1:].max(initial=0.0), corners.max(initial=0.0))),
            np.abs(centre),
            np.angle(centre),
            np.abs(radius),
            np.sign(radius) * leaves,
        )

    def of_points(self, points: Points) -> tuple[Floats, Floats]:
        return np.abs(points), np.angle(points)

    def points(self, r: Floats, places: Floats) -> Points:
        return r * unit(places)

    def places(self, r: Floats, element: Indices) -> Floats:
        """Return the polar angles at which circles of radii r cross arcs.

        The triangle of joint, centre and crossing, by half angles: right to the last digits where the
        circle only touches.
        """
        d, rho = self.distance[element], self.radius[element]
        opposite = np.maximum((rho - r + d) * (rho + r - d), 0.0)
        adjacent = np.maximum((r + d - rho) * (r + d + rho), 0.0)
        angles: Floats = self.direction[element] + self.side[element] * 2.0 * np.arctan2(
            np.sqrt(opposite), np.sqrt(adjacent)
        )
        return angles
