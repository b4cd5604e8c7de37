# SPDX-License-Identifier: GPL-3.0-or-later
"""The point of a plane under the mouse, in any view. Needs no Blender window."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, hypot, log10
from typing import Protocol

import numpy as np

from ...core.inputs import Floats

# The sine of the angle below which a plane is seen from its edge, and followed along it.
EDGE_ON = 0.14
# An axis whose cosine to the line of sight is over this is seen end on.
END_ON = 0.995
# A step of snapping is at least so many pixels long; Shift makes the mouse, and the steps, ten times finer.
STEP_PIXELS = 15.0
PRECISION = 0.1


class PointedView(Protocol):
    """View of the plane. Pixels are the region's."""

    def line_of_sight(self, pixel: Sequence[float]) -> tuple[Floats, Floats]:
        """Return the line of sight through a pixel: its start (3,) and its unit direction (3,)."""

    def pixel(self, point: Floats) -> tuple[float, float] | None:
        """Return the pixel that shows a point (3,); None behind the view."""


@dataclass(frozen=True, eq=False)
class DragPlane:
    """A plane in the world through a point; x, y and normal are unit vectors (3,)."""

    point: Floats
    x: Floats
    y: Floats
    normal: Floats

    @classmethod
    def of(cls, point: Floats, normal: Floats) -> "DragPlane":
        """Return the plane with axes along the world's: of X, Y and Z without the one nearest to the normal.

        x is the first of those two, as far as it lies in the plane; y points to the second one's side.
        """
        left_out = int(np.argmax(np.abs(normal)))
        first, second = (i for i in range(3) if i != left_out)
        x = np.eye(3)[first] - normal[first] * normal
        x /= np.linalg.norm(x)
        y = np.cross(normal, x)
        return cls(point, x, y if y[second] >= 0.0 else -y, normal)

    def at(self, offset: Sequence[float]) -> Floats:
        """Return the point (3,) at an offset (2,) from the plane's."""
        return self.point + offset[0] * self.x + offset[1] * self.y

    def cut(self, start: Floats, direction: Floats) -> Floats | None:
        """Return the offset (2,) of the point where a line of sight meets the plane ahead; None without."""
        facing = direction @ self.normal
        if facing == 0.0:
            return None
        way = ((self.point - start) @ self.normal) / facing
        met = start + way * direction - self.point
        return np.array((met @ self.x, met @ self.y)) if way > 0.0 else None

    def along(self, line: Floats, start: Floats, direction: Floats) -> float | None:
        """Return the distance along a line (3,) from the plane's point to where a line of sight is nearest.

        None for a line that is seen end on.
        """
        cosine = line @ direction
        if abs(cosine) > END_ON:
            return None
        offset = start - self.point
        return float((offset @ line - cosine * (offset @ direction)) / (1.0 - cosine * cosine))

    def edge(self, direction: Floats) -> Floats:
        """Return the unit vector (3,) of the plane at right angles to a line of sight (3,)."""
        across = np.cross(self.normal, direction)
        return across / np.linalg.norm(across)


@dataclass
class Pointer:
    """Place of the held point under the mouse, as an offset (2,) in the plane."""

    plane: DragPlane
    moved: list[float] = field(default_factory=lambda: [0.0, 0.0])  # pixels, by which precision counts less
    axis: int | None = None  # 0 or 1 to keep to the plane's x or y
    offset: Floats = field(default_factory=lambda: np.zeros(2))

    def move(self, pixels: Sequence[float], precise: bool) -> None:
        """Add a move of the mouse by so many pixels."""
        share = PRECISION if precise else 1.0
        self.moved[0] += share * pixels[0]
        self.moved[1] += share * pixels[1]

    def keep_to(self, axis: int) -> None:
        """Keep to an axis of the plane, or no longer if it was kept to before."""
        self.axis = None if self.axis == axis else axis

    def look(self, view: PointedView, snap: bool = False, precise: bool = False) -> Floats:
        """Return the offset as seen in a view, or the last one if the view shows none."""
        seen = view.pixel(self.plane.point)
        if seen is None:
            return self.offset
        pixel = (seen[0] + self.moved[0], seen[1] + self.moved[1])
        seen_now = self._seen(view, pixel, seen)
        if seen_now is not None and np.isfinite(seen_now).all():
            self.offset = self._snapped(view, seen, seen_now, precise) if snap else seen_now
        return self.offset

    def _seen(self, view: PointedView, pixel: Sequence[float], held: Sequence[float]) -> Floats | None:
        """Return the offset of the plane's point under a pixel. held: the pixel of the held point."""
        start, direction = view.line_of_sight(pixel)
        middle = view.line_of_sight(held)[1]
        if self.axis is not None:
            way = self.plane.along((self.plane.x, self.plane.y)[self.axis], start, direction)
            return None if way is None else way * np.eye(2)[self.axis]
        if abs(middle @ self.plane.normal) >= EDGE_ON:
            return self.plane.cut(start, direction)
        met = start + direction * (((self.plane.point - start) @ middle) / (direction @ middle))
        edge = self.plane.edge(middle)
        way = (met - self.plane.point) @ edge
        return way * np.array((edge @ self.plane.x, edge @ self.plane.y))

    def _snapped(self, view: PointedView, held: Sequence[float], offset: Floats, precise: bool) -> Floats:
        step = step_length(view, self.plane.point, held) * (PRECISION if precise else 1.0)
        return np.round(offset / step) * step


def step_length(view: PointedView, point: Floats, held: Sequence[float]) -> float:
    """Return the length of a step of snapping at a point (3,): the power of ten next over STEP_PIXELS."""
    start, direction = view.line_of_sight(held)
    beside, other = view.line_of_sight((held[0] + STEP_PIXELS, held[1]))
    depth = (point - start) @ direction
    aside = beside + other * (((point - beside) @ direction) / (other @ direction))
    length = float(np.linalg.norm(aside - (start + depth * direction)))
    return float(10.0 ** ceil(log10(max(length, 1e-12)) - 1e-9))


def with_axis(offset: Sequence[float], axis: int | None) -> Floats:
    """Return an offset (2,) without its part across an axis that is kept to."""
    return np.array(offset, np.float64) * (np.ones(2) if axis is None else np.eye(2)[axis])


def distance_to(one: Sequence[float] | None, other: Sequence[float]) -> float:
    """Return the distance in pixels between two places of the region; infinite to None."""
    return float("inf") if one is None else hypot(one[0] - other[0], one[1] - other[1])


def nearest_between(
    one: Sequence[float] | None, other: Sequence[float] | None, place: Sequence[float]
) -> Floats | None:
    """Return the place of the region, on the way from one to another, that is nearest to a third; or None."""
    if one is None or other is None:
        return None
    start, way = np.array(one), np.subtract(other, one)
    square = float(way @ way)
    share = 0.0 if square == 0.0 else float(np.clip((place - start) @ way / square, 0.0, 1.0))
    nearest: Floats = start + share * way
    return nearest
