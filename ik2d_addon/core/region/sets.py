# SPDX-License-Identifier: GPL-3.0-or-later
"""The sets F(0) to F(n) of a chain whose reach is 1, built joint by joint from the tip."""

from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np

from ..inputs import Floats
from .elements import EPS, TURN, Elements, Indices, Points, near, unit
from .segments import ElementsWithSegments
from .slid import Slide, TurnWithSegments
from .turned import Turn, moved
from .ways import Flags, Ways

# A sound step leaves fewer elements than this: so many a move, and some more.
MOST_A_MOVE, MOST_MORE = 10, 100


@dataclass(frozen=True, eq=False)
class Sets:
    """A chain of n rigid bones, and the boundaries of the sets that its last bones reach.

    Each joint's turn is a move, and F(k) are the tips of moves k and on: m = n.
    """

    lengths: Floats  # (m,) parts of the reach
    low: Floats  # (m,) radians; -pi and pi where a joint is free
    high: Floats  # (m,)
    free: Flags  # (m,) whether a joint has a whole turn of room
    elements: tuple[Elements, ...]  # m + 1, of F(0) to F(m)
    ways: tuple[Ways, ...]  # m

    def __len__(self) -> int:
        return self.lengths.size

    def contain(self, points: Points) -> Flags:
        """Return which points (b,) lie in F(0). Each False is a proof, each True right to a few EPS.

        If no move of a joint brings a boundary to the point then all moves leave it on the same side: one of
        them is enough for the next joint. It is the one that leaves the point farthest from that joint, so
        that it is soon farther off than the set reaches.
        """
        contained: Flags = np.zeros(len(points), np.bool_)
        left, seen = np.arange(len(points)), points
        for k, ways in enumerate(self.ways):
            covered = ways.cover(seen, self.low[k], self.high[k])
            contained[left[covered]] = True
            asked = np.flatnonzero(~covered & (np.abs(seen) <= ways.farthest + EPS))
            if asked.size == 0:
                return contained
            left, seen = left[asked], seen[asked]
            seen = self.seen(k, seen, self.away(k, seen))
        contained[left] = np.abs(seen) <= 4.0 * EPS
        return contained

    def seen(self, k: int, points: Points, moves: Floats) -> Points:
        """Return points (b,) in the frame of move k as the next one sees them, after moves (b,) by k."""
        seen: Points = points * unit(-moves) - self.lengths[k]
        return seen

    def away(self, k: int, points: Points) -> Floats:
        """Return the moves (b,) by k that leave points (b,) farthest from the next joint."""
        return self.within(k, near(np.angle(points) + np.pi, self.middle[k : k + 1]))

    def towards(self, k: int, points: Points) -> Floats:
        """Return the moves (b,) by k that leave points (b,) nearest to the next joint."""
        return self.within(k, near(np.angle(points), self.middle[k : k + 1]))

    def within(self, k: int, moves: Floats) -> Floats:
        """Return moves (b,) by k, clamped to its range."""
        return np.minimum(np.maximum(moves, self.low[k]), self.high[k])

    @property
    def middle(self) -> Floats:
        """The middles (m,) of the ranges."""
        return 0.5 * (self.low + self.high)

    def moves(self, angles: Floats, slides: Floats) -> Floats:
        """Return the moves (..., m) that make poses of angles (..., n) and slides (..., n)."""
        return angles

    def pose(self, moves: Floats) -> tuple[Floats, Floats]:
        """Return the angles (..., n) and the slides (..., n) that moves (..., m) make."""
        return moves, np.zeros(moves.shape)

    @property
    def joints(self) -> slice | Indices:
        """Which of the moves are turns."""
        return slice(None)

    def tips(self, moves: Floats) -> Points:
        """Return the tips (...) of moves (..., m)."""
        tips: Points = (self.lengths * unit(np.cumsum(moves, axis=-1))).sum(axis=-1)
        return tips


@dataclass(frozen=True, eq=False)
class SlidingSets(Sets):
    """The sets of a chain some of whose bones slide.

    Such a bone has no length in its joint's turn, and is a further move after that: from its least length,
    `low`, to its greatest.
    """

    slides: Flags  # (m,) which moves are slides
    rest: Floats  # (n,) the bones' lengths without slides

    def seen(self, k: int, points: Points, moves: Floats) -> Points:
        return points - moves if self.slides[k] else super().seen(k, points, moves)

    def away(self, k: int, points: Points) -> Floats:
        if not self.slides[k]:
            return super().away(k, points)
        return np.where(points.real > self.middle[k], self.low[k], self.high[k])

    def towards(self, k: int, points: Points) -> Floats:
        return self.within(k, points.real) if self.slides[k] else super().towards(k, points)

    def moves(self, angles: Floats, slides: Floats) -> Floats:
        moves = np.empty((*angles.shape[:-1], len(self)))
        moves[..., self.joints] = angles
        moves[..., self.slides] = (self.rest + slides)[..., self._sliding]
        return moves

    def pose(self, moves: Floats) -> tuple[Floats, Floats]:
        slides = np.zeros((*moves.shape[:-1], len(self.rest)))
        slides[..., self._sliding] = moves[..., self.slides] - self.rest[self._sliding]
        return moves[..., self.joints], slides

    @property
    def joints(self) -> slice | Indices:
        return np.flatnonzero(~self.slides)

    @property
    def _sliding(self) -> Indices:
        """Which bones slide (their own moves come next after their joints')."""
        return np.flatnonzero(np.append(self.slides[1:], False)[~self.slides])

    def tips(self, moves: Floats) -> Points:
        along = np.where(self.slides, moves, self.lengths)
        headings = np.cumsum(np.where(self.slides, 0.0, moves), axis=-1)
        tips: Points = (along * unit(headings)).sum(axis=-1)
        return tips


def set_steps(
    lengths: Floats, low: Floats, high: Floats, least: Floats | None = None, most: Floats | None = None
) -> Generator[int, None, Sets | None]:
    """Return the sets of a chain with ranges (n,) in radians, None where they are undecided.

    least, most: (n,) what the bones may add to their lengths; None: they are rigid. A range of a turn or
    more is free. Undecided: the ranges are so narrow that rounding cannot tell one side of a set from the
    other, and the elements become more and more. Yields 0 after each move.
    """
    free = high - low >= TURN
    low, high = np.where(free, -np.pi, low), np.where(free, np.pi, high)
    if least is None or most is None:
        built = yield from _built(Elements.tip(), lengths, low, high, np.zeros(len(lengths), np.bool_))
        return None if built is None else Sets(lengths, low, high, free, *built)
    can_slide = most - least >= EPS
    bone = np.repeat(np.arange(len(lengths)), 1 + can_slide)
    slides: Flags = np.append(False, bone[1:] == bone[:-1])
    rigid = np.where(can_slide[bone], 0.0, (lengths + most)[bone])
    low = np.where(slides, (lengths + least)[bone], low[bone])
    high = np.where(slides, (lengths + most)[bone], high[bone])
    built = yield from _built(ElementsWithSegments.of(Elements.tip()), rigid, low, high, slides)
    if built is None:
        return None
    return SlidingSets(rigid, low, high, free[bone] & ~slides, *built, slides, lengths)


def _built(
    tip: Elements, lengths: Floats, low: Floats, high: Floats, slides: Flags
) -> Generator[int, None, tuple[tuple[Elements, ...], tuple[Ways, ...]] | None]:
    """Return the elements and ways of all moves, from the last one on; None where they are too many."""
    elements, ways = [tip], list[Ways]()
    for k in range(len(lengths) - 1, -1, -1):
        is_inside = _inside(ways[-1], lengths[k], low[k + 1], high[k + 1]) if ways else _nothing
        move = _move(elements[-1].shifted(float(lengths[k])), float(low[k]), float(high[k]), bool(slides[k]))
        boundary, through = moved(move, is_inside)
        if len(boundary) > MOST_A_MOVE * len(lengths) + MOST_MORE:
            return None
        elements.append(boundary)
        ways.append(through)
        yield 0
    return tuple(elements[::-1]), tuple(ways[::-1])


def _move(inner: Elements, low: float, high: float, slides: bool) -> Turn:
    """Return the move of a set by a joint, or by a bone that slides."""
    if not isinstance(inner, ElementsWithSegments):
        return Turn(inner, low, high)
    return Slide(inner, low, high) if slides else TurnWithSegments(inner, low, high)


def _nothing(r: Floats) -> Flags:
    return np.zeros(r.shape, np.bool_)


def _inside(ways: Ways, length: float, low: float, high: float) -> Callable[[Floats], Flags]:
    """Return the test whether points at a distance ahead of the joint before lie in F(k)."""
    return lambda r: ways.cover(r - length + 0j, low, high)
