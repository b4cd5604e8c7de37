# SPDX-License-Identifier: GPL-3.0-or-later
"""Ways through sets with straight segments: lines along a bone that slides, and circles about a joint."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..inputs import Floats
from .circles import Circles
from .elements import EPS, Indices, Points, unit
from .segments import ElementsWithSegments
from .ways import Ways


@dataclass(frozen=True, eq=False)
class Lines(Ways):
    """The arcs and segments of the boundary of H, cut so that each crosses a line along x at most once.

    A line's r is its y, and places on it are x. Lines beyond an element's ends by rounding count as at the
    ends: an element nearly along x would be crossed far away.
    """

    seam: ClassVar[float] = -np.pi
    centre: Points  # (m,)
    radius: Floats  # (m,) of the arc, not negative; 0.0 of a segment
    side: Floats  # (m,) +1.0 or -1.0, on which side of its centre the arc lies
    slope: Floats  # (m,) of the segment, as x by y; 0.0 of an arc

    @classmethod
    def of(
        cls, inner: ElementsWithSegments, which: Indices, leaves: Floats, start: Floats, end: Floats
    ) -> "Lines":
        """Return the lines that cross some elements of H, which run from y `start` to `end`."""
        straight = inner.is_straight[which]
        across = unit(np.where(straight, inner.normal[which], 0.0))
        return cls(
            leaves,
            np.minimum(start, end),
            np.maximum(start, end),
            np.zeros(0),
            np.zeros(1, np.bool_),
            np.inf,
            inner.centre[which],
            np.where(straight, 0.0, np.abs(inner.radius[which])),
            np.sign(inner.radius[which]) * leaves,
            -across.imag / across.real,
        )

    def of_points(self, points: Points) -> tuple[Floats, Floats]:
        return points.imag, points.real

    def points(self, r: Floats, places: Floats) -> Points:
        return places + 1j * r

    def places(self, r: Floats, element: Indices) -> Floats:
        """Return the x at which lines at y = r cross elements, or where these end close by."""
        within = np.clip(r, self.inner[element], self.outer[element])
        y, radius = within - self.centre.imag[element], self.radius[element]
        chord = np.sqrt(np.maximum((radius - y) * (radius + y), 0.0))
        x: Floats = self.centre.real[element] + self.side[element] * chord + self.slope[element] * y
        return x


@dataclass(frozen=True, eq=False)
class CirclesAcrossSegments(Circles):
    """Circles about a joint that cross segments too.

    Of a segment `distance` is that of its line, positive where its normal points away from the joint, and
    `direction` that of the normal; its radius is infinite.
    """

    seam: ClassVar[float] = -2.0

    @classmethod
    def of_all(cls, circles: Circles, inner: ElementsWithSegments, which: Indices) -> "CirclesAcrossSegments":
        """Return circles that cross some elements of H, of which those of the arcs are known."""
        straight = inner.is_straight[which]
        normal = inner.normal[which]
        return cls(
            circles.leaves,
            circles.inner,
            circles.outer,
            circles.edges,
            circles.full,
            circles.farthest,
            np.where(straight, (inner.centre[which] * unit(-normal)).real, circles.distance),
            np.where(straight, normal, circles.direction),
            circles.radius,
            np.where(straight, -circles.leaves, circles.side),
        )

    def places(self, r: Floats, element: Indices) -> Floats:
        """Return the polar angles at which circles of radii r cross elements, or where these end close by."""
        straight = np.isinf(self.radius[element])
        r = np.clip(r, self.inner[element], self.outer[element])
        angles = np.empty(len(r))
        angles[~straight] = super().places(r[~straight], element[~straight])
        r, element = r[straight], element[straight]
        off = self.distance[element]
        # The least chord: a line through the joint is met at its own angle even by the smallest circle.
        chord = np.sqrt(np.maximum((r - off) * (r + off), EPS * EPS))
        angles[straight] = self.direction[element] + np.arctan2(self.side[element] * chord, off)
        return angles
