# SPDX-License-Identifier: GPL-3.0-or-later
"""The boundary of a set of tips: circular arcs and corners, and the poses that put the tip there.

An element is centre + radius exp(i v), v in [start, end], where v is the direction of the outward normal.
radius > 0: the set lies inside the circle; radius < 0: outside it; radius = 0: a corner, with the cone of
its normals.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..inputs import Floats

Points = NDArray[np.complex128]
Indices = NDArray[np.intp]

TURN = 2.0 * np.pi
# Lengths (the reach is 1) and angles below which things coincide.
EPS = 1e-12


def near(angles: Floats, middle: Floats) -> Floats:
    """Return the same rotations, each as the number nearest to `middle`."""
    numbers: Floats = angles + TURN * np.rint((middle - angles) / TURN)
    return numbers


def unit(angles: Floats) -> Points:
    """Return the unit vectors in some directions."""
    vectors: Points = np.exp(1j * angles)
    return vectors


@dataclass(frozen=True, eq=False)
class Elements:
    """The m elements of F(k), each with the poses it consists of.

    A point with normal v comes from the point with normal v - a of element `parent` of F(k + 1), shifted
    by the bone and turned by joint k's angle a in [least, most]; v - a lies in [first, last].
    """

    centre: Points  # (m,)
    radius: Floats  # (m,)
    start: Floats  # (m,) radians
    end: Floats  # (m,)
    parent: Indices  # (m,)
    least: Floats  # (m,) radians
    most: Floats  # (m,)
    first: Floats  # (m,) radians
    last: Floats  # (m,)

    def __len__(self) -> int:
        return self.centre.size

    @classmethod
    def tip(cls) -> "Elements":
        """Return the boundary of F(n): the tip alone, a corner with all normals."""
        zero, full = np.zeros(1), np.full(1, TURN)
        return cls(zero + 0j, zero, zero, full, np.zeros(1, np.intp), zero, zero, zero, full)

    def at(self, which: Indices, normals: Floats) -> Points:
        """Return the points of some elements at some normals."""
        points: Points = self.centre[which] + self.radius[which] * unit(normals)
        return points

    def normals(self, points: Points) -> Floats:
        """Return the normals (b, m) at which each element is nearest to each point (b,)."""
        off = points[:, np.newaxis] - self.centre
        middle, half = 0.5 * (self.start + self.end), 0.5 * (self.end - self.start)
        towards = near(np.angle(np.where(self.radius < 0.0, -off, off)), middle) - middle
        normals: Floats = middle + np.clip(towards, -half, half)
        return normals

    def distances(self, points: Points, normals: Floats) -> Floats:
        """Return the distances (b, m) of points (b,) from the elements at normals (b, m)."""
        return np.abs(points[:, np.newaxis] - self.centre - self.radius * unit(normals))

    def nearest(self, points: Points) -> tuple[Floats, Indices, Floats]:
        """Return the distances (b,) of points (b,) from the boundary, the elements, and the normals there."""
        normals = self.normals(points)
        distances = self.distances(points, normals)
        which = distances.argmin(axis=1)
        rows = np.arange(len(points))
        return distances[rows, which], which, normals[rows, which]
