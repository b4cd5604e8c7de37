# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps from joint to joint where bones slide.

A bone that slides is two moves: of the set beyond it along x, between the bone's least and greatest length,
and then of all that by its joint's turn. A slide is a turn about a point infinitely far up: points move along
lines instead of circles, extreme points sweep segments instead of arcs, and normals stay as they are.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..inputs import Floats
from .elements import EPS, Elements, Indices, Points, unit
from .lines import CirclesAcrossSegments, Lines
from .segments import ElementsWithSegments
from .turned import OUT, Cuts, Extremes, Met, Parts, Turn, circles_meet
from .ways import Flags, Ways

# More than any two points of a set are apart.
FAR = 4.0


@dataclass(frozen=True, eq=False)
class TurnWithSegments(Turn):
    """A joint that turns a set with segments."""

    inner: ElementsWithSegments

    @property
    def feet(self) -> Floats:
        """The places of the joint's feet on the lines of segments, where these have no torque."""
        return self.inner.towards(np.arange(len(self.inner)), -self.inner.centre)

    def stays(self) -> Flags:
        return super().stays() & ~self.inner.is_straight

    def split(self, moves: Flags) -> tuple[Parts, Extremes]:
        """Return parts and extremes as `Turn.split`; segments are split at the joint's feet, not extreme."""
        straight = self.inner.is_straight
        arcs, extremes = super().split(moves & ~straight)
        segments = self.straight_parts(np.flatnonzero(moves & straight))
        long = np.flatnonzero(segments.end - segments.start > EPS)
        return Parts.joined((arcs, segments.at(long))), extremes

    def straight_parts(self, which: Indices) -> Parts:
        """Return the parts of segments before and behind the joint's feet."""
        start, end, outwards = self.inner.start[which], self.inner.end[which], np.ones(len(which))
        foot = np.clip(self.feet[which], start, end)
        return Parts.joined((Parts(which, start, foot, outwards), Parts(which, foot, end, -outwards)))

    def ways(self, curved: Parts, stays: Flags, is_inside: Callable[[Floats], Flags]) -> Ways:
        circles = self.circles(curved, stays, is_inside)
        return CirclesAcrossSegments.of_all(circles, self.inner, curved.element)

    def copies(self, element: Indices, start: Floats, end: Floats, move: Floats) -> ElementsWithSegments:
        straight = self.inner.is_straight[element]
        arcs = super().copies(element, start, end, move)
        return ElementsWithSegments(
            arcs.centre,
            arcs.radius,
            np.where(straight, start, arcs.start),
            np.where(straight, end, arcs.end),
            element,
            move,
            move,
            start,
            end,
            np.where(straight, self.inner.normal[element] + move, 0.0),
            np.where(straight, 0.0, 1.0),
            np.zeros(len(element)),
        )

    def swept(self, extremes: Extremes, stays: Indices) -> tuple[Indices, Floats, Floats, Floats]:
        """Return arcs as `Turn.swept`; a segment's foot is extreme where the set is behind it."""
        element, radius, first, last = super().swept(extremes, stays)
        inner, foot = self.inner, self.feet
        off = (inner.centre * unit(-inner.normal)).real
        met = inner.is_straight & (foot >= inner.start - EPS) & (foot <= inner.end + EPS)
        at = np.flatnonzero(met & (off < -EPS))
        normal = inner.normal[at]
        return (
            np.append(element, at),
            np.append(radius, off[at]),
            np.append(first, normal),
            np.append(last, normal),
        )

    def sweeps(self, extremes: Extremes, stays: Indices) -> ElementsWithSegments:
        arcs, inner = super().sweeps(extremes, stays), self.inner
        foot = np.clip(self.feet, inner.start, inner.end)
        shift = np.where(inner.is_straight, foot - inner.normal, 0.0)
        return ElementsWithSegments.of(arcs, shift[arcs.parent])

    def met(self, one: Indices, other: Indices, between: Points) -> Met:
        inner = self.inner
        first, second = unit(inner.normal[one]), unit(inner.normal[other] - self.bend)
        radius, straight = np.abs(inner.radius), inner.is_straight
        kind = straight[one] + 2 * straight[other]
        arcs, lines, crossed, both = (np.flatnonzero(kind == which) for which in range(4))
        met = (
            (arcs, circles_meet(between[arcs], radius[one[arcs]], radius[other[arcs]])),
            (lines, _line_meets_circle(between[lines], first[lines], radius[other[lines]])),
            (crossed, _circle_meets_line(between[crossed], radius[one[crossed]], second[crossed])),
            (both, _lines_meet(between[both], first[both], second[both])),
        )
        pairs = np.concatenate([rows[pair] for rows, (pair, _) in met])
        return pairs, np.concatenate([offset for _, (_, offset) in met])


@dataclass(frozen=True, eq=False)
class Slide(TurnWithSegments):
    """A bone that slides: it shifts H by [low, high], its length, along x."""

    @property
    def is_whole(self) -> bool:
        return False

    @property
    def bend(self) -> float:
        return 0.0

    def stays(self) -> Flags:
        lies: Flags = self.inner.is_straight & (np.abs(np.cos(self.inner.normal)) < EPS)
        return lies

    def directions(self) -> Floats:
        return np.full(len(self.inner), -0.5 * np.pi)

    def straight_parts(self, which: Indices) -> Parts:
        """Return segments, of which all points move alike."""
        outwards = np.sign(np.cos(self.inner.normal[which]))
        return Parts(which, self.inner.start[which], self.inner.end[which], outwards)

    def ways(self, curved: Parts, stays: Flags, is_inside: Callable[[Floats], Flags]) -> Ways:
        ends = (self.inner.at(curved.element, v).imag for v in (curved.start, curved.end))
        return Lines.of(self.inner, curved.element, curved.torque, *ends)

    def copies(self, element: Indices, start: Floats, end: Floats, move: Floats) -> ElementsWithSegments:
        none = np.zeros(len(element))
        return ElementsWithSegments(
            self.inner.centre[element] + move,
            self.inner.radius[element],
            start,
            end,
            element,
            move,
            move,
            start,
            end,
            self.inner.normal[element],
            none,
            none,
        )

    def sweeps(self, extremes: Extremes, stays: Indices) -> ElementsWithSegments:
        """Return the segments that extreme points sweep, and those along the bone, longer.

        A point that does not move along its normal is extreme if the set bulges there, or has a corner.
        """
        inner, (at, normal, _) = self.inner, extremes
        bulges = inner.radius[at] >= 0.0
        at, normal = at[bulges], normal[bulges]
        none = np.zeros(len(at))
        element = np.append(at, stays)
        side = np.sign(np.sin(np.append(normal, inner.normal[stays])))
        first, last = np.append(none, inner.start[stays]), np.append(none, inner.end[stays])
        low, high = np.sort((-side * self.low, -side * self.high), axis=0)
        m = len(element)
        sweeps = ElementsWithSegments(
            np.append(inner.at(at, normal), inner.centre[stays]),
            np.full(m, np.inf),
            first + low,
            last + high,
            element,
            np.full(m, self.low),
            np.full(m, self.high),
            first,
            last,
            np.append(0.5 * np.pi * side[: len(at)], inner.normal[stays]),
            -side,
            np.append(normal, np.zeros(len(stays))),
        )
        return sweeps[_not_within_others(sweeps, side)]

    def of_sweeps(self, sweeps: Elements) -> Floats:
        """Return the lines along which sweeps lie."""
        return sweeps.centre.imag

    def back(self, points: Points) -> Points:
        return points - self.width

    def cuts_of_sweeps(self, ways: Ways, sweeps: Elements) -> Iterator[Cuts]:
        y = self.of_sweeps(sweeps)
        row, _, x = ways.crossings(y)
        for slide in (self.low, self.high):
            points = ways.points(y[row], x + slide)
            yield row, sweeps.towards(row, points - sweeps.centre[row])


def _not_within_others(segments: ElementsWithSegments, side: Floats) -> Indices:
    """Return which segments along x are no part of others that face the same side (+1.0 up, -1.0 down)."""
    every = np.arange(len(segments))
    ends = np.stack((segments.at(every, segments.start), segments.at(every, segments.end)))
    from_x, to_x = np.sort(ends.real, axis=0)
    line = np.unique(np.round(np.stack((side, ends.imag[0] / OUT))), axis=1, return_inverse=True)[1].ravel()
    order = np.lexsort((-to_x, np.round(from_x / OUT), line))
    reached = np.maximum.accumulate(FAR * line[order] + to_x[order])
    longer = FAR * line[order][1:] + to_x[order][1:] > reached[:-1] + EPS
    return order[np.append(True, longer)] if len(every) else every


def _line_meets_circle(between: Points, normal: Points, radius: Floats) -> Met:
    """Return the meetings of lines with circles, as `circles_meet`."""
    pair, offset = _circle_meets_line(-between, radius, normal)
    return pair, between[pair] + offset


def _circle_meets_line(between: Points, radius: Floats, normal: Points) -> Met:
    """Return the meetings of circles with lines, as `circles_meet`."""
    off = (between * normal.conj()).real
    pair = np.flatnonzero(np.abs(off) <= radius + EPS)
    off, radius, normal = off[pair], radius[pair], normal[pair]
    across = np.sqrt(np.maximum((radius - off) * (radius + off), 0.0))
    return np.append(pair, pair), np.append(normal * (off + 1j * across), normal * (off - 1j * across))


def _lines_meet(between: Points, one: Points, other: Points) -> Met:
    """Return the meetings of lines with some normals, once each, as `circles_meet`."""
    across = (1j * one * other.conj()).real
    pair = np.flatnonzero(np.abs(across) > EPS)
    along = (between * other.conj()).real[pair] / across[pair]
    return pair, 1j * one[pair] * along
