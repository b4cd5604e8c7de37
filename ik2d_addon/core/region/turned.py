# SPDX-License-Identifier: GPL-3.0-or-later
"""One step from joint to joint: the boundary of a set that a joint turns about itself.

When a boundary point turns about the joint it moves along its outward normal by its torque, centre x
normal. Where that is positive the boundary of all that is covered has the point as turned to the upper end
of the range, where it is negative, to the lower end; and where it is zero, on the line through the joint,
it may sweep an arc about the joint. All these pieces are cut where they cross, and a piece stays if a point
just outside it is not covered. Cutting too little leaves too much, never too little: every element is made
of poses, so it lies in the set, and all of the boundary is in the elements.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..inputs import Floats
from .circles import Circles, Flags
from .elements import EPS, TURN, Elements, Indices, Points, near, unit

# How far outside a piece of boundary lies the point that decides whether the piece is one.
OUT = 1e-10
# Where along the piece it lies; another where the one before is covered.
PROBES = 0.5, 0.02, 0.98


@dataclass(frozen=True, eq=False)
class _Arcs:
    """Pieces of boundary in the new frame, with what becomes of them as elements."""

    centre: Points
    radius: Floats
    start: Floats
    end: Floats
    parent: Indices
    least: Floats
    most: Floats
    first: Floats
    last: Floats

    def __add__(self, other: "_Arcs") -> "_Arcs":
        return _Arcs(*(np.append(getattr(self, name), getattr(other, name)) for name in _NAMES))

    def cut(self, which: Indices, start: Floats, end: Floats) -> Elements:
        """Return pieces of some of the arcs as elements, their normals brought to within -pi..3 pi."""
        turns = TURN * np.floor((start + np.pi) / TURN)
        return Elements(
            self.centre[which],
            self.radius[which],
            start - turns,
            end - turns,
            self.parent[which],
            self.least[which],
            self.most[which],
            self.first[which],
            self.last[which],
        )


_NAMES = tuple(_Arcs.__dataclass_fields__)


@dataclass(frozen=True, eq=False)
class _Parts:
    """Parts of elements along which the torque keeps its sign."""

    element: Indices
    start: Floats
    end: Floats
    torque: Floats  # +1.0 or -1.0

    def turned(self, centre: Points, radius: Floats, low: float, high: float) -> _Arcs:
        """Return the parts, turned to the end of the range that their torque takes them to."""
        turn = np.where(self.torque > 0.0, high, low)
        return _Arcs(
            centre[self.element] * unit(turn),
            radius[self.element],
            self.start + turn,
            self.end + turn,
            self.element,
            turn,
            turn,
            self.start,
            self.end,
        )


def turned(
    outer: Elements, length: float, low: float, high: float, is_inside: Callable[[Floats], Flags]
) -> tuple[Elements, Circles]:
    """Return the elements of F(k), and the circles about joint k, from the elements of F(k + 1).

    is_inside(r): whether the points at distances r from joint k in direction x lie in the shifted F(k + 1).
    """
    centre, radius = outer.centre + length, outer.radius
    about = np.abs(centre) < EPS
    parts, extremes = _split(centre, outer, ~about)
    arcs = np.flatnonzero(radius[parts.element])
    curved = _Parts(*(getattr(parts, name)[arcs] for name in _Parts.__dataclass_fields__))
    bent, bow = centre[curved.element], radius[curved.element]
    ends = tuple(np.abs(bent + bow * unit(v)) for v in (curved.start, curved.end))
    radii, corners = np.abs(radius[about]), np.abs(centre[radius == 0.0])
    circles = Circles.of(bent, bow, curved.torque, (ends[0], ends[1]), radii, corners, is_inside)
    if high - low < EPS:
        return _rigid(outer, centre, low), circles
    sweeps = _sweeps(centre, outer, extremes, np.flatnonzero(about), low, high)
    is_whole = high - low >= TURN - EPS
    cuts: list[tuple[Indices, Floats]] = []
    if is_whole:  # a circle is covered as a whole or not at all: only sweeps bound what is
        candidates = sweeps
    else:
        turned_parts = parts.turned(centre, radius, low, high)
        candidates, count = turned_parts + sweeps, len(parts.element)
        cuts = [
            (arcs[i], near(v + turned_parts.least[arcs[i]], _middle(turned_parts)[arcs[i]]))
            for i, v in _cuts_of_parts(circles, bent, bow, np.unique(np.abs(sweeps.radius)), high - low)
        ]
        cuts += [(count + i, v) for i, v in _cuts_of_sweeps(circles, sweeps, low, high)]
    which, start, end = _pieces(candidates, cuts)
    kept = _exposed(candidates, which, start, end, circles, low, high)
    return candidates.cut(*_joined(which[kept], start[kept], end[kept])), circles


def _middle(arcs: _Arcs) -> Floats:
    middle: Floats = 0.5 * (arcs.start + arcs.end)
    return middle


def _rigid(outer: Elements, centre: Points, angle: float) -> Elements:
    """Return the elements, turned by one angle."""
    m = len(outer)
    arcs = _Arcs(
        centre * np.exp(1j * angle),
        outer.radius,
        outer.start + angle,
        outer.end + angle,
        np.arange(m),
        np.full(m, angle),
        np.full(m, angle),
        outer.start,
        outer.end,
    )
    return arcs.cut(np.arange(m), arcs.start, arcs.end)


def _split(centre: Points, outer: Elements, turns: Flags) -> tuple[_Parts, tuple[Indices, Floats, Floats]]:
    """Return the parts between the normals without torque; and those: elements, normals, sides.

    They are on the line through joint and centre, v = direction + j pi; side: +1.0 beyond the centre, for
    even j, -1.0 before it. turns: which elements are no arcs about the joint.
    """
    direction = np.angle(centre)[:, np.newaxis]
    start, end = outer.start[:, np.newaxis], outer.end[:, np.newaxis]
    j = np.ceil((start - direction - EPS) / np.pi) + np.arange(4)
    still = direction + j * np.pi
    met = (still <= end + EPS) & turns[:, np.newaxis]
    still = np.clip(still, start, end)
    cuts = np.concatenate((start, np.where(met, still, end), end), axis=1)
    element, place = np.nonzero((np.diff(cuts, axis=1) > EPS) & turns[:, np.newaxis])
    first, last = cuts[element, place], cuts[element, place + 1]
    torque = np.sign(np.sin(0.5 * (first + last) - direction[element, 0]))
    at, place = np.nonzero(met)
    sides = np.where(j[at, place] % 2.0 == 0.0, 1.0, -1.0)
    return _Parts(element, first, last, torque), (at, still[at, place], sides)


def _sweeps(
    centre: Points,
    outer: Elements,
    extremes: tuple[Indices, Floats, Floats],
    about: Indices,
    low: float,
    high: float,
) -> _Arcs:
    """Return the arcs about the joint that extreme points sweep, and those that were there already.

    A point without torque is extreme if the boundary curves at it no less than the circle it would sweep,
    whose radius is that of the element plus or minus the centre's distance.
    """
    at, normal, side = extremes
    rho = outer.radius[at]
    radius = rho + side * np.abs(centre[at])
    radius[np.abs(radius) < EPS] = 0.0
    with np.errstate(divide="ignore"):
        extreme = (rho == 0.0) | ((radius != 0.0) & (1.0 / rho >= 1.0 / radius))
    element = np.append(at[extreme], about)
    radius = np.append(radius[extreme], outer.radius[about])
    first = np.append(normal[extreme], outer.start[about])
    last = np.append(normal[extreme], outer.end[about])
    looks = np.round(np.stack((radius, np.cos(first), np.sin(first), last - first)) / OUT)
    one = np.unique(looks, axis=1, return_index=True)[1]
    element, radius, first, last = element[one], radius[one], first[one], last[one]
    start = first + low
    end = np.minimum(last + high, start + TURN)
    m = len(one)
    return _Arcs(
        np.zeros(m, complex), radius, start, end, element, np.full(m, low), np.full(m, high), first, last
    )


def _cuts_of_parts(
    circles: Circles, centre: Points, radius: Floats, sweeps: Floats, width: float
) -> Iterator[tuple[Indices, Floats]]:
    """Yield arcs and the normals (before they are turned) at which they cross others.

    Arcs that are turned to the upper end cross arcs that are turned to the lower one, `width` before them;
    and both cross the radii of the sweeps.
    """
    up, down = np.flatnonzero(circles.leaves > 0.0), np.flatnonzero(circles.leaves < 0.0)
    overlap = (circles.inner[up][:, np.newaxis] <= circles.outer[down] + EPS) & (
        circles.inner[down] <= circles.outer[up][:, np.newaxis] + EPS
    )
    i, j = np.nonzero(overlap)
    i, j = up[i], down[j]
    turn = np.exp(1j * width)
    between = centre[j] / turn - centre[i]
    apart, r1, r2 = np.abs(between), circles.radius[i], circles.radius[j]
    meet = (apart > EPS) & (apart <= r1 + r2 + EPS) & (apart >= np.abs(r1 - r2) - EPS)
    i, j, between, apart, r1, r2 = i[meet], j[meet], between[meet], apart[meet], r1[meet], r2[meet]
    along = 0.5 * (apart + (r1 - r2) * (r1 + r2) / apart)
    across = np.sqrt(np.maximum((r1 - along) * (r1 + along), 0.0))
    for side in (1j, -1j):
        crossing = between / apart * (along + side * across)  # from the centre of i
        yield i, np.angle(crossing * np.sign(radius[i]))
        yield j, np.angle((crossing - between) * turn * np.sign(radius[j]))
    i, k = np.nonzero((circles.inner[:, np.newaxis] < sweeps) & (sweeps < circles.outer[:, np.newaxis]))
    points = sweeps[k] * unit(circles.angle(sweeps[k], i))
    yield i, np.angle((points - centre[i]) * np.sign(radius[i]))


def _cuts_of_sweeps(
    circles: Circles, sweeps: _Arcs, low: float, high: float
) -> Iterator[tuple[Indices, Floats]]:
    """Yield sweeps and the normals at which arcs cross them that are turned to `low` and `high`."""
    row, _, polar = circles.crossings(np.abs(sweeps.radius))
    start = sweeps.start[row]
    polar = polar + np.where(sweeps.radius[row] < 0.0, np.pi, 0.0) - start
    for turn in (low, high):
        yield row, np.minimum(start + np.remainder(polar + turn, TURN), sweeps.end[row])


def _pieces(arcs: _Arcs, cuts: list[tuple[Indices, Floats]]) -> tuple[Indices, Floats, Floats]:
    """Return the pieces that cuts leave of arcs: arcs, starts, ends. Cuts beyond an arc's ends are none."""
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
    arcs: _Arcs, which: Indices, start: Floats, end: Floats, circles: Circles, low: float, high: float
) -> Flags:
    """Return which pieces have the set on one side only: a point just outside is not covered."""
    exposed: Flags = np.zeros(len(which), np.bool_)
    for part in PROBES:
        hidden = np.flatnonzero(~exposed)
        i = which[hidden]
        normals = start[hidden] + part * (end[hidden] - start[hidden])
        points = arcs.centre[i] + (arcs.radius[i] + OUT) * unit(normals)
        exposed[hidden] = ~circles.cover(points, low, high)
    return exposed


def _joined(which: Indices, start: Floats, end: Floats) -> tuple[Indices, Floats, Floats]:
    """Return the pieces with those joined again that were cut in vain."""
    if len(which) == 0:
        return which, start, end
    is_new = np.append(True, (which[1:] != which[:-1]) | (start[1:] - end[:-1] > 2.0 * EPS))
    first = np.flatnonzero(is_new)
    last = np.append(first[1:], len(which)) - 1
    return which[first], start[first], end[last]
