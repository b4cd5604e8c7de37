# SPDX-License-Identifier: GPL-3.0-or-later
"""The boundary of a set of tips: circular arcs and corners, and the poses that put the tip there.

An element is centre + radius exp(i v), v in [start, end], where v is the direction of the outward normal.
radius > 0: the set lies inside the circle; radius < 0: outside it; radius = 0: a corner, with the cone of
its normals.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

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


def led_to(
    normals: Floats, wanted: Floats, least: Floats, most: Floats, first: Floats, last: Floats
) -> tuple[Floats, Floats]:
    """Return the angles in least..most nearest to the wanted, and the normals they leave in first..last."""
    normals = near(normals, 0.5 * (first + last + least + most))
    angle = np.minimum(np.maximum(wanted, normals - last), normals - first)
    angle = np.minimum(np.maximum(angle, least), most)
    return angle, normals - angle


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

    @classmethod
    def joined(cls, first: Self, other: Self) -> Self:
        """Return the elements of two lists as one."""
        return cls(*(np.concatenate(pair) for pair in zip(first.columns(), other.columns(), strict=True)))

    def __getitem__(self, which: Indices) -> Self:
        """Return some of the elements, or the same several times."""
        return type(self)(*(column[which] for column in self.columns()))

    def shifted(self, by: float) -> Self:
        """Return the elements, shifted along x."""
        centre, *others = self.columns()
        return type(self)(centre + by, *others)

    def pieces(self, which: Indices, start: Floats, end: Floats) -> Self:
        """Return pieces of some elements, their normals brought to within -pi..3 pi."""
        turns = TURN * np.floor((start + np.pi) / TURN)
        centre, radius, _, _, *others = self.columns()
        rows = (column[which] for column in others)
        return type(self)(centre[which], radius[which], start - turns, end - turns, *rows)

    def columns(self) -> Iterator[Any]:
        """Return the columns, in the order of the constructor."""
        return (getattr(self, name) for name in self.__dataclass_fields__)

    def at(self, which: Indices, normals: Floats) -> Points:
        """Return the points of some elements at some normals."""
        return self.centre[which] + self.radius[which] * unit(normals)

    def outside(self, which: Indices, normals: Floats, off: float) -> Points:
        """Return the points outside some elements by `off`, at some normals."""
        return self.centre[which] + (self.radius[which] + off) * unit(normals)

    def towards(self, which: Indices, offset: Points) -> Floats:
        """Return the normals of some elements at points, which are given from their centres."""
        normals: Floats = np.angle(offset * np.sign(self.radius[which]))
        return normals

    def before(self, which: Indices, normals: Floats, wanted: Floats) -> tuple[Floats, Floats]:
        """Return joint k's angles for elements at normals, near the wanted ones, and the parents' normals."""
        return led_to(
            normals, wanted, self.least[which], self.most[which], self.first[which], self.last[which]
        )

    def after(self, which: Indices, normals: Floats) -> Floats:
        """Return the normals of some elements, each of one angle, from those of their parents."""
        return near(normals + self.least[which], 0.5 * (self.start + self.end)[which])

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
