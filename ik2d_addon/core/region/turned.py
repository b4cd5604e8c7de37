# SPDX-License-Identifier: GPL-3.0-or-later
"""One step from joint to joint: the boundary of all that a set covers when a joint turns it about itself.

When a boundary point turns about the joint it moves along its outward normal by its torque, centre x
normal. Where that is positive the boundary of all that is covered has the point as turned to the upper end
of the range, where it is negative, to the lower end; and where it is zero, on the line through the joint,
it may sweep an arc about the joint. All these pieces are cut where they cross, and a piece stays if a point
just outside it is not covered. Cutting too little leaves too much, never too little: every element is made
of poses, so it lies in the set, and all of the boundary is in the elements. For bones that slide see `slid`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..affine import Frames
from ..inputs import Floats
from .circles import Circles
from .elements import EPS, TURN, Elements, Indices, Points, unit
from .ways import Flags, Ways

# The distance outside a piece of the point that decides whether it is a piece of the boundary.
OUT = 1e-10
# Where along the piece it lies; another where the one before is covered.
PROBES = 0.5, 0.02, 0.98

Extremes = tuple[Indices, Floats, Floats]
Cuts = tuple[Indices, Floats]
Met = tuple[Indices, Points]


@dataclass(frozen=True, eq=False)
class Parts(Frames):
    """Parts of elements that move outwards all along, or inwards."""

    element: Indices
    start: Floats
    end: Floats
    torque: Floats  # +1.0 where they move outwards, -1.0


@dataclass(frozen=True, eq=False)
class Turn:
    """A joint that turns H, the set as the joint finds it, about itself by [low, high]."""

    inner: Elements  # of H
    low: float
    high: float

    @property
    def width(self) -> float:
        """The range's width."""
        return self.high - self.low

    @property
    def bend(self) -> float:
        """The turn of the normals over the range."""
        return self.width

    @property
    def is_whole(self) -> bool:
        """Whether it is a whole turn: then a circle is covered as a whole or not at all."""
        return self.width >= TURN - EPS

    def stays(self) -> Flags:
        """Return which elements lie along the ways of their points: arcs about the joint."""
        return np.abs(self.inner.centre) < EPS

    def directions(self) -> Floats:
        """Return the directions of the centres from the joint."""
        return np.angle(self.inner.centre)

    def split(self, moves: Flags) -> tuple[Parts, Extremes]:
        """Return the parts between the normals without torque; and those: elements, normals, sides.

        They are on the line through joint and centre, v = direction + j pi; side: +1.0 beyond the centre,
        for even j, -1.0 before it. moves: which elements are to be split.
        """
        direction = self.directions()[:, np.newaxis]
        start, end = self.inner.start[:, np.newaxis], self.inner.end[:, np.newaxis]
        j = np.ceil((start - direction - EPS) / np.pi) + np.arange(4)
        still = direction + j * np.pi
        met = (still <= end + EPS) & moves[:, np.newaxis]
        still = np.clip(still, start, end)
        cuts = np.concatenate((start, np.where(met, still, end), end), axis=1)
        element, place = np.nonzero((np.diff(cuts, axis=1) > EPS) & moves[:, np.newaxis])
        first, last = cuts[element, place], cuts[element, place + 1]
        torque = np.sign(np.sin(0.5 * (first + last) - direction[element, 0]))
        at, place = np.nonzero(met)
        sides = np.where(j[at, place] % 2.0 == 0.0, 1.0, -1.0)
        return Parts(element, first, last, torque), (at, still[at, place], sides)

    def ways(self, curved: Parts, stays: Flags, is_inside: Callable[[Floats], Flags]) -> Ways:
        """Return the ways that cross some parts. is_inside: as for `Circles.of`."""
        return self.circles(curved, stays, is_inside)

    def circles(self, curved: Parts, stays: Flags, is_inside: Callable[[Floats], Flags]) -> Circles:
        """Return the circles about the joint, as if all parts were arcs."""
        centre, radius = self.inner.centre, self.inner.radius
        bent, bow = centre[curved.element], radius[curved.element]
        start, end = (np.abs(self.inner.at(curved.element, v)) for v in (curved.start, curved.end))
        radii, corners = np.abs(radius[stays]), np.abs(centre[radius == 0.0])
        return Circles.of(bent, bow, curved.torque, (start, end), radii, corners, is_inside)

    def copies(self, element: Indices, start: Floats, end: Floats, turn: Floats) -> Elements:
        """Return parts of elements, each turned by one angle."""
        return Elements(
            self.inner.centre[element] * unit(turn),
            self.inner.radius[element],
            start + turn,
            end + turn,
            element,
            turn,
            turn,
            start,
            end,
        )

    def swept(self, extremes: Extremes, stays: Indices) -> tuple[Indices, Floats, Floats, Floats]:
        """Return the arcs about the joint: those that extreme points sweep, and those of the set.

        As elements, radii, and the normals between which the arcs lie before the turn. A point
        without torque is extreme if the boundary curves at it no less than the circle it would sweep, whose
        radius is that of the element plus or minus the centre's distance.
        """
        at, normal, side = extremes
        rho = self.inner.radius[at]
        radius = rho + side * np.abs(self.inner.centre[at])
        radius[np.abs(radius) < EPS] = 0.0
        with np.errstate(divide="ignore"):
            extreme = (rho == 0.0) | ((radius != 0.0) & (1.0 / rho >= 1.0 / radius))
        return (
            np.append(at[extreme], stays),
            np.append(radius[extreme], self.inner.radius[stays]),
            np.append(normal[extreme], self.inner.start[stays]),
            np.append(normal[extreme], self.inner.end[stays]),
        )

    def sweeps(self, extremes: Extremes, stays: Indices) -> Elements:
        """Return the arcs of `swept` as elements, each once."""
        element, radius, first, last = self.swept(extremes, stays)
        sweep = distinct(radius, np.cos(first), np.sin(first), last - first)
        element, radius, first, last = element[sweep], radius[sweep], first[sweep], last[sweep]
        start = first + self.low
        end = np.minimum(last + self.high, start + TURN)
        none = np.zeros(len(sweep))
        return Elements(
            none + 0j, radius, start, end, element, none + self.low, none + self.high, first, last
        )

    def of_sweeps(self, sweeps: Elements) -> Floats:
        """Return the ways along which sweeps lie: the arcs' radii."""
        return np.abs(sweeps.radius)

    def back(self, points: Points) -> Points:
        """Return points moved from the upper end of the range to the lower one."""
        back: Points = points / np.exp(1j * self.width)
        return back

    def forth(self, vectors: Points) -> Points:
        """Return vectors turned by the bend of the range, as `back` undoes it."""
        forth: Points = vectors * np.exp(1j * self.bend)
        return forth

    def met(self, one: Indices, other: Indices, between: Points) -> Met:
        """Return which pairs of elements meet, and where, from the centres of the first.

        between: from the first centres to the second, as they are moved to meet.
        """
        radius = np.abs(self.inner.radius)
        return circles_meet(between, radius[one], radius[other])

    def cuts_of_copies(self, ways: Ways, curved: Parts, sweeps: Floats) -> Iterator[Cuts]:
        """Yield parts and the normals (before they are moved) at which they cross others.

        Parts that are moved to the upper end cross parts that are moved to the lower one, `width` before
        them; and both cross the ways of the sweeps.
        """
        up, down = np.flatnonzero(ways.leaves > 0.0), np.flatnonzero(ways.leaves < 0.0)
        overlap = (ways.inner[up][:, np.newaxis] <= ways.outer[down] + EPS) & (
            ways.inner[down] <= ways.outer[up][:, np.newaxis] + EPS
        )
        i, j = np.nonzero(overlap)
        i, j = up[i], down[j]
        one, other = curved.element[i], curved.element[j]
        between = self.back(self.inner.centre[other]) - self.inner.centre[one]
        pair, offset = self.met(one, other, between)
        yield i[pair], self.inner.towards(one[pair], offset)
        yield j[pair], self.inner.towards(other[pair], self.forth(offset - between[pair]))
        i, k = np.nonzero((ways.inner[:, np.newaxis] < sweeps) & (sweeps < ways.outer[:, np.newaxis]))
        points, one = ways.points(sweeps[k], ways.places(sweeps[k], i)), curved.element[i]
        yield i, self.inner.towards(one, points - self.inner.centre[one])

    def cuts_of_sweeps(self, ways: Ways, sweeps: Elements) -> Iterator[Cuts]:
        """Yield sweeps and the normals at which parts cross them that are moved to `low` and `high`."""
        row, _, polar = ways.crossings(self.of_sweeps(sweeps))
        start = sweeps.start[row]
        polar = polar + np.where(sweeps.radius[row] < 0.0, np.pi, 0.0) - start
        for turn in (self.low, self.high):
            yield row, np.minimum(start + np.remainder(polar + turn, TURN), sweeps.end[row])


def moved(move: Turn, is_inside: Callable[[Floats], Flags]) -> tuple[Elements, Ways]:
    """Return the elements of all that a move covers, and the ways through the set that it moves."""
    inner, stays = move.inner, move.stays()
    parts, extremes = move.split(~stays)
    curved = np.flatnonzero(inner.radius[parts.element])
    ways = move.ways(parts.at(curved), stays, is_inside)
    if move.width < EPS:
        every = np.arange(len(inner))
        rigid = move.copies(every, inner.start, inner.end, np.full(len(inner), move.low))
        return rigid.pieces(every, rigid.start, rigid.end), ways
    candidates = move.sweeps(extremes, np.flatnonzero(stays))
    cuts: list[Cuts] = []
    if not move.is_whole:
        ends = np.where(parts.torque > 0.0, move.high, move.low)
        copies, sweeps = move.copies(parts.element, parts.start, parts.end, ends), candidates
        levels = np.unique(move.of_sweeps(sweeps))
        for i, normals in move.cuts_of_copies(ways, parts.at(curved), levels):
            cuts.append((curved[i], copies.after(curved[i], normals)))
        cuts += [(len(copies) + i, normals) for i, normals in move.cuts_of_sweeps(ways, sweeps)]
        candidates = copies.joined(copies, sweeps)
    which, start, end = _pieces(candidates, cuts)
    kept = _exposed(candidates, which, start, end, ways, move.low, move.high)
    return candidates.pieces(*_joined(which[kept], start[kept], end[kept])), ways


def distinct(*looks: Floats) -> Indices:
    """Return the rows in which some numbers differ from those of all the rows before."""
    rows: Indices = np.unique(np.round(np.stack(looks) / OUT), axis=1, return_index=True)[1]
    return rows


def circles_meet(between: Points, one: Floats, other: Floats) -> Met:
    """Return which pairs of circles meet, twice, and where, from the first centres.

    between: from the first centres to the second. one, other: the radii.
    """
    apart = np.abs(between)
    pair = np.flatnonzero((apart > EPS) & (apart <= one + other + EPS) & (apart >= np.abs(one - other) - EPS))
    between, apart, one, other = between[pair], apart[pair], one[pair], other[pair]
    along = 0.5 * (apart + (one - other) * (one + other) / apart)
    across = np.sqrt(np.maximum((one - along) * (one + along), 0.0))
    towards = between / apart
    return np.append(pair, pair), np.append(towards * (along + 1j * across), towards * (along - 1j * across))


def _pieces(arcs: Elements, cuts: list[Cuts]) -> tuple[Indices, Floats, Floats]:
    """Return the pieces of arcs between cuts: arcs, starts, ends. Cuts beyond an arc's ends do not count."""
    every = np.arange(len(arcs.radius))
    which = np.concatenate([every, every, *(i for i, _ in cuts)])
    normals = np.concatenate([arcs.start, arcs.end, *(v for _, v in cuts)])
    within = (normals >= arcs.start[which]) & (normals <= arcs.end[which])
    which, normals = which[within], normals[within]
    order = np.lexsort((normals, which))
    which, normals = which[order], normals[order]
    long = np.flatnonzero((which[1:] == which[:-1]) & (np.diff(normals) > EPS))
    return which[long], normals[long], normals[long + 1]


def _exposed(
    candidates: Elements, which: Indices, start: Floats, end: Floats, ways: Ways, low: float, high: float
) -> Flags:
    """Return which pieces have the set on one side only: a point just outside is not covered."""
    exposed: Flags = np.zeros(len(which), np.bool_)
    for probe in PROBES:
        hidden = np.flatnonzero(~exposed)
        normals = start[hidden] + probe * (end[hidden] - start[hidden])
        points = candidates.outside(which[hidden], normals, OUT)
        exposed[hidden] = ~ways.cover(points, low, high)
    return exposed


def _joined(which: Indices, start: Floats, end: Floats) -> tuple[Indices, Floats, Floats]:
    """Return the pieces, with unnecessary cuts joined again."""
    if len(which) == 0:
        return which, start, end
    is_new = np.append(True, (which[1:] != which[:-1]) | (start[1:] - end[:-1] > 2.0 * EPS))
    first = np.flatnonzero(is_new)
    last = np.append(first[1:], len(which)) - 1
    return which[first], start[first], end[last]
