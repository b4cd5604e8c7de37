# SPDX-License-Identifier: GPL-3.0-or-later
"""The boundary of a set of tips where bones slide: straight segments besides arcs and corners.

A segment is centre + v i exp(i normal), v in [start, end]: v is the length along a segment, as it is the
normal's direction for an arc, and both are called a normal. A segment's radius is infinite.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..inputs import Floats
from .elements import Elements, Indices, Points, led_to, near, unit
from .ways import Flags


@dataclass(frozen=True, eq=False)
class ElementsWithSegments(Elements):
    """Elements of a chain that slides.

    A point with normal v comes, by a turn or slide a in [least, most], from that with normal
    v - gain a + shift of the parent; v - gain a lies in [first, last].
    """

    normal: Floats  # (m,) radians, of segments; 0.0 for others
    gain: Floats  # (m,) 1.0 where v grows with a, -1.0 where it falls; 0.0 where it stays, and least is most
    shift: Floats  # (m,)

    @classmethod
    def of(cls, elements: Elements, shift: Floats | float = 0.0) -> "ElementsWithSegments":
        """Return elements among which there are no segments."""
        none = np.zeros(len(elements))
        parts: list[Any] = [*elements.columns(), none, none + 1.0, none + shift]
        return cls(*parts)

    @cached_property
    def is_straight(self) -> Flags:
        """Which elements are segments."""
        return np.isinf(self.radius)

    @cached_property
    def _bow(self) -> Floats:
        """The radii, 0.0 of segments."""
        return np.where(self.is_straight, 0.0, self.radius)

    @cached_property
    def _along(self) -> Points:
        """The directions (m,) in which segments run; 0.0 for others."""
        return np.where(self.is_straight, 1j * unit(self.normal), 0.0)

    def pieces(self, which: Indices, start: Floats, end: Floats) -> "ElementsWithSegments":
        pieces = super().pieces(which, start, end)
        starts = np.where(pieces.is_straight, start, pieces.start)
        return replace(pieces, start=starts, end=np.where(pieces.is_straight, end, pieces.end))

    def facing(self, which: Indices, normals: Floats) -> Points:
        """Return the outward normals, as unit vectors, of some elements at some normals."""
        return unit(np.where(self.is_straight[which], self.normal[which], normals))

    def at(self, which: Indices, normals: Floats) -> Points:
        return self.outside(which, normals, 0.0)

    def outside(self, which: Indices, normals: Floats, off: float) -> Points:
        points: Points = (
            self.centre[which]
            + self._along[which] * normals
            + (self._bow[which] + off) * self.facing(which, normals)
        )
        return points

    def towards(self, which: Indices, offset: Points) -> Floats:
        along: Floats = (offset * self._along[which].conj()).real
        return np.where(self.is_straight[which], along, super().towards(which, offset))

    def before(self, which: Indices, normals: Floats, wanted: Floats) -> tuple[Floats, Floats]:
        gain, least = self.gain[which], self.least[which]
        ends = gain * least, gain * self.most[which]
        least_grown, most_grown = np.minimum(*ends), np.maximum(*ends)
        # As angles the lengths of segments stay the same: they are less than half a turn.
        grown, normals = led_to(
            normals, gain * wanted, least_grown, most_grown, self.first[which], self.last[which]
        )
        return np.where(gain == 0.0, least, gain * grown), normals + self.shift[which]

    def after(self, which: Indices, normals: Floats) -> Floats:
        grown = normals + (self.gain * self.least)[which]
        return near(grown, 0.5 * (self.start + self.end)[which])

    def normals(self, points: Points) -> Floats:
        normals = super().normals(points)
        straight = np.flatnonzero(self.is_straight)
        along = ((points[:, np.newaxis] - self.centre[straight]) * self._along[straight].conj()).real
        normals[:, straight] = np.clip(along, self.start[straight], self.end[straight])
        return normals

    def distances(self, points: Points, normals: Floats) -> Floats:
        every = np.arange(len(self))
        distances: Floats = np.abs(points[:, np.newaxis] - self.at(every, normals))
        return distances
