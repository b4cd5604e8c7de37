# SPDX-License-Identifier: GPL-3.0-or-later
"""The region that the tip of a chain reaches: its points, its nearest points, its outline."""

from collections import OrderedDict
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..chain import MOST_BONES, Chain, checked_angles, checked_chain, checked_targets
from ..errors import IK2DError
from ..inputs import LARGEST_ANGLE, LONGEST, Floats, checked_kind, common_shape, floats, floats_within, number
from ..solution import drained
from . import poses
from .elements import EPS, TURN, Indices, Points, near
from .sets import Sets, set_steps
from .ways import Flags

# A point no farther from the boundary counts as one of the set, as a part of the reach.
BORDER = 5e-10
# Places that are nearest to a point are equally near if their distances differ by less.
EQUALLY_NEAR = 1e-11
# From so many reaches on, the nearest point depends on the direction alone, to within 1e-7 of reach;
# the distances themselves would have no digits left to tell two points apart.
FARTHEST = 1e7
# Points that are asked for at a time: more would leave the processor's cache.
BLOCK = 2048
# The longest arc (radians) drawn as one straight piece of the outline.
OUTLINE_STEP = np.radians(3.0)
# Chains whose sets are kept.
KEPT = 8


class Posed(NamedTuple):
    """Poses for points, and how far their tips are from them, in reaches."""

    angles: Floats  # (b, n) radians
    slides: Floats  # (b, n) added lengths, in reaches; zeros for rigid chains
    away: Floats  # (b,) in reaches; 0.0 where the point is in the set


@dataclass(frozen=True, eq=False, repr=False)
class Region:
    """The set of points that the tip of a chain reaches, relative to the root, and poses for them.

    >>> region = reachable(Chain([1.0, 1.0], limits=np.radians([[0, 90], [0, 90]])))
    >>> region.contains([[1.0, 1.0], [1.0, -1.0]])
    array([ True, False])
    >>> region.nearest([3.0, 0.0])[0].round(3), len(region.outline())
    (array([2., 0.]), 4)
    """

    sets: Sets
    scale: float  # the reach, in the chain's units
    low: Floats  # (n,) the limits, as numbers: those of `sets` lie within half a turn of zero
    high: Floats  # (n,)
    least: Floats  # (n,) what the bones may add to their lengths, in the chain's units
    most: Floats  # (n,)

    def __post_init__(self) -> None:
        checked_kind(self.sets, Sets, "sets")
        if number(self.scale, "scale") <= 0.0:
            raise IK2DError(f"scale must be a length greater than zero, not {self.scale}")
        ends = [floats(getattr(self, name), name) for name in ("low", "high", "least", "most")]
        if {end.shape for end in ends} != {(ends[0].size,)} or np.isnan(ends).any():
            raise IK2DError("low, high, least and most must be numbers, one a bone, and as many of each")

    def __repr__(self) -> str:
        return f"<Region of {len(self.low)} bones, reach {self.scale:g}>"

    def contains(self, points: ArrayLike) -> Flags:
        """Return which points (..., 2) the tip reaches, to within BORDER (5e-10) of the reach.

        Each False is a proof. Raises IK2DError where points are not pairs of finite numbers.
        """
        asked = checked_targets(points)
        inside = [self.distances(block) == 0.0 for block in self._blocks(asked)]
        contained: Flags = np.concatenate([*inside, np.zeros(0, np.bool_)]).reshape(asked.shape[:-1])
        return contained

    def nearest(self, points: ArrayLike) -> tuple[Floats, Floats]:
        """Return the reachable points (..., 2) nearest to points (..., 2), and their distances (...).

        A point of the set is its own nearest. Raises IK2DError as `contains` does.
        """
        asked = checked_targets(points)
        flat = asked.reshape(-1, 2)
        nearest = flat.copy()
        for first, block in zip(range(0, len(flat), BLOCK), self._blocks(asked), strict=True):
            outside = np.flatnonzero(self.distances(block) > 0.0)
            _, which, normals = self.sets.elements[0].nearest(block[outside])
            at = self.sets.elements[0].at(which, normals) * self.scale
            nearest[first + outside] = np.stack((at.real, at.imag), axis=-1)
        away = np.hypot(*(nearest - flat).T)
        return nearest.reshape(asked.shape), away.reshape(asked.shape[:-1])

    def poses(self, points: ArrayLike, near: ArrayLike | None = None) -> Floats:
        """Return angles (..., n) that reach points (..., 2), or else the reachable points nearest to them.

        near: (..., n) angles to stay near to where there is a choice; None: zeros. Raises IK2DError for
        other shapes and numbers. Of bones that slide, `slid_poses` has the slides too.
        """
        return self.slid_poses(points, near)[0]

    def slid_poses(
        self, points: ArrayLike, near: ArrayLike | None = None, near_slides: ArrayLike | None = None
    ) -> tuple[Floats, Floats]:
        """Return the angles of `poses`, and the slides (..., n) that belong to them.

        near_slides: (..., n) to stay near to, in the chain's units as the slides are; None: zeros.
        """
        asked = checked_targets(points)
        shape = (*asked.shape[:-1], len(self.low))
        like = self._like(near, "near", LARGEST_ANGLE, shape)
        like_slides = self._like(near_slides, "near_slides", LONGEST, shape) / self.scale
        poses = [
            self.posed(block, like[first : first + BLOCK], like_slides=like_slides[first : first + BLOCK])
            for first, block in zip(range(0, len(like), BLOCK), self._blocks(asked), strict=True)
        ]
        none = np.empty((0, len(self.low)))
        angles = np.concatenate([*(posed.angles for posed in poses), none])
        slides = np.concatenate([*(posed.slides for posed in poses), none]) * self.scale
        return angles.reshape(shape), np.clip(slides, self.least, self.most).reshape(shape)

    def outline(self) -> list[Floats]:
        """Return the boundary as polylines (m, 2), one for each arc and segment; without either, a point."""
        boundary = self.sets.elements[0]
        curved = np.flatnonzero(np.abs(boundary.radius) > 0.0)
        lines = []
        for i in curved if curved.size else np.arange(1):
            width = float(boundary.end[i] - boundary.start[i]) if curved.size else 0.0
            between = 0 if np.isinf(boundary.radius[i]) else int(width / OUTLINE_STEP)
            normals = np.linspace(boundary.start[i], boundary.start[i] + width, 2 + between)
            at = boundary.at(np.full(len(normals), i), normals) * self.scale
            lines.append(np.stack((at.real, at.imag), axis=-1))
        return lines

    def distances(self, points: Points, border: float = BORDER) -> Floats:
        """Return the distances (b,) of points (b,), in reaches, from the set: 0.0 up to `border` off it."""
        _refuse_not_finite(points)
        away, _, _ = self.sets.elements[0].nearest(points)
        off = np.flatnonzero(away > border)
        away[away <= border] = 0.0
        away[off[self.sets.contain(points[off])]] = 0.0
        return away

    def posed(
        self, points: Points, like: Floats, border: float = BORDER, like_slides: Floats | None = None
    ) -> Posed:
        """Return poses for points (b,) in reaches, near to `like` (b, n), and their `distances`.

        like_slides: (b, n) in reaches, to be near to; None: none.
        """
        _refuse_not_finite(points)
        level = self.sets.elements[0]
        normals = level.normals(points)
        each = level.distances(points, normals)
        away = each.min(axis=1, initial=np.inf)
        inside = np.zeros(len(points), np.bool_)
        off = np.flatnonzero(away > border)
        inside[off] = self.sets.contain(points[off])
        moves = np.empty((len(points), len(self.sets)))
        slides = np.zeros(like.shape) if like_slides is None else like_slides
        wanted = self.sets.moves(like - self._turns, slides)
        if inside.any():
            moves[inside] = poses.reaching(self.sets, points[inside], wanted[inside])
        if not inside.all():
            outside = np.flatnonzero(~inside)
            row, which = np.nonzero(each[outside] <= away[outside, np.newaxis] + EQUALLY_NEAR)
            row = outside[row]
            moves[outside] = self._nearest_poses(row, which, normals[row, which], wanted)[outside]
        away[inside | (away <= border)] = 0.0
        angles, slides = self.sets.pose(moves)
        slides = np.clip(slides, self.least / self.scale, self.most / self.scale)
        return Posed(self._numbers(angles, like), slides, away)

    def _nearest_poses(self, row: Indices, which: Indices, normals: Floats, like: Floats) -> Floats:
        """Return the moves (b, m) to the elements of each row that are nearest to `like`."""
        nearest = poses.of_elements(self.sets, 0, which, normals, like[row])
        turns = np.where(self.sets.free, near(nearest, like[row]), nearest) - like[row]
        order = np.lexsort((-(turns * turns).sum(axis=1), row))
        moves = np.empty_like(like)
        moves[row[order]] = nearest[order]  # of a row the last one stays: that with the least turns
        return moves

    def _like(self, values: ArrayLike | None, name: str, most: float, shape: tuple[int, ...]) -> Floats:
        """Return wanted values as rows (b, n), checked. shape: (..., n)."""
        n = shape[-1]
        like = np.zeros(n) if values is None else floats_within(values, name, most)
        if like.ndim == 0 or like.shape[-1] != n:
            raise IK2DError(f"{name} must hold {n} numbers, one a bone, not shape {like.shape}")
        if common_shape(points=shape[:-1], **{name: like.shape[:-1]}) != shape[:-1]:
            raise IK2DError(f"{name} must be one pose, or as many as points, not of shape {like.shape}")
        return np.broadcast_to(like, shape).reshape(-1, n)

    @property
    def _turns(self) -> Floats:
        """The whole turns (n,), in radians, between the limits and those of `sets`; 0 for free joints."""
        sets, joints = self.sets, self.sets.joints
        turns: Floats = TURN * np.rint((self.low - sets.low[joints]) / TURN)
        return np.where(sets.free[joints], 0.0, turns)

    def _numbers(self, angles: Floats, like: Floats) -> Floats:
        """Return the rotations (b, n) as numbers within the limits, near to `like` where they have a choice.

        An angle at an end of its range is the limit itself.
        """
        sets, joints = self.sets, self.sets.joints
        limited = np.clip(angles + self._turns, self.low, self.high)
        limited = np.where(angles <= sets.low[joints], self.low, limited)
        limited = np.where(angles >= sets.high[joints], self.high, limited)
        free = near(angles, like)
        free += TURN * np.maximum(np.ceil((self.low - free) / TURN), 0.0)
        free -= TURN * np.maximum(np.ceil((free - self.high) / TURN), 0.0)
        return np.where(sets.free[joints], np.clip(free, self.low, self.high), limited)

    def _blocks(self, points: Floats) -> Iterator[Points]:
        """Yield points (..., 2) in reaches, some at a time; those that are too far off drawn in."""
        flat = points.reshape(-1, 2)
        for first in range(0, len(flat), BLOCK):
            yield as_points(flat[first : first + BLOCK], self.scale)


def reachable(chain: Chain, angles: ArrayLike | None = None) -> Region:
    """Return the region that the tip of a chain reaches within its limits and slides.

    angles: (n,) the present ones, which joints of weight 0 keep; they may be left out where there is
    none. The region is made once for a chain's lengths, limits, slides and kept angles, and the last ones are
    kept. Raises IK2DError where angles are missing or wrong, and for ranges so narrow (below 0.001 degrees,
    of eight joints or more in a row) that rounding cannot tell the sides of the region apart.

    >>> region = reachable(Chain([1.0, 1.0], limits=np.radians([[-180, 180], [60, 90]])))
    >>> np.degrees(region.poses([0.0, 1.5])).round(1)
    array([48.6, 82.8])
    """
    checked_chain(chain)
    if len(chain) > MOST_BONES:
        raise IK2DError(f"a region is of up to {MOST_BONES} bones, not {len(chain)}; solve with CCD alone")
    low, high = chain.ranges.T
    if chain.weights is not None and (chain.weights == 0.0).any():
        if angles is None:
            raise IK2DError("a joint of weight 0 keeps its angle; hand in the chain's angles")
        present = checked_angles(chain, angles)
        if present.ndim != 1:
            raise IK2DError(f"a region takes the angles of one pose, not shape {present.shape}")
        kept = chain.weights == 0.0
        held = np.clip(present, low, high)
        low, high = np.where(kept, held, low), np.where(kept, held, high)
    region = drained(region_steps(chain.lengths, low, high, *chain.slide_ranges.T))
    if region is None:
        raise IK2DError("the ranges of the chain's joints are too narrow to tell what it reaches; widen them")
    return region


def _refuse_not_finite(points: Points) -> None:
    """Raise IK2DError for points (b,) that are not all finite complex numbers."""
    if np.ndim(points) != 1 or not np.isfinite(points).all():
        raise IK2DError("points must be a list of finite complex numbers")


def as_points(points: Floats, scale: float = 1.0) -> Points:
    """Return points (b, 2) in reaches, `scale` each, as complex numbers; those too far off drawn in."""
    farthest = np.abs(points).max(axis=1, initial=0.0)
    x, y = points.T / np.maximum(scale, farthest / FARTHEST)
    complex_points: Points = x + 1j * y
    return complex_points


def region_steps(
    lengths: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    least: ArrayLike | None = None,
    most: ArrayLike | None = None,
) -> Generator[int, None, Region | None]:
    """Return the region for lengths and limits (n,), step by step; None where it is undecided.

    least, most: (n,) what the bones may add to their lengths; None: none slides.
    """
    none = np.zeros(np.shape(lengths))
    numbers = np.array(
        (lengths, low, high, none if least is None else least, none if most is None else most), np.float64
    )
    key = numbers.tobytes()
    if key not in _regions:
        _regions[key] = yield from _made(*numbers)
        while len(_regions) > KEPT:
            _regions.popitem(last=False)
    _regions.move_to_end(key)
    return _regions[key]


# The regions made last, by their chains' lengths, limits and slides.
_regions: OrderedDict[bytes, Region | None] = OrderedDict()


def _made(
    lengths: Floats, low: Floats, high: Floats, least: Floats, most: Floats
) -> Generator[int, None, Region | None]:
    scale = float((lengths + most).sum()) or 1.0
    has_range = np.isfinite(low) & np.isfinite(high)
    middle = np.where(
        has_range, 0.5 * np.where(has_range, low, 0.0) + 0.5 * np.where(has_range, high, 0.0), 0.0
    )
    turns = TURN * np.rint(middle / TURN)
    slides = (least / scale, most / scale) if (most - least).max() >= EPS * scale else ()
    rigid = lengths if slides else lengths + most
    sets = yield from set_steps(rigid / scale, low - turns, high - turns, *slides)
    return None if sets is None else Region(sets, scale, low, high, least, most)
