# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies followed along their way by its length, past places where they move fast.

Near a dead point the bodies run while the driver creeps: steps of the driver lose them there. So the driver's
share of its way is one more unknown, and the steps are of the length of the way of all unknowns
(pseudo-arclength continuation, Keller 1977): det J may come near 0, and where it changes its sign the driver
turns back, which is a dead point.
"""

from collections.abc import Callable
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..inputs import Floats
from .steps import Poses

# The poses of the bodies that a group hangs on: rows (k,), and the shares (k,) of the drivers' ways.
Rows: TypeAlias = NDArray[np.intp]
Known: TypeAlias = Callable[[Rows, Floats], Poses]
# Steps along the way: the first, the largest, the least, and at most so many. A step that had to become so
# fine goes straight onto the end, where it would pass it.
FIRST, LARGEST, LEAST, MOST, FINE = 0.05, 0.2, 1e-6, 1000, 0.01
# Newton's rounds in each, the gap it comes to, and the least cosine between its directions.
ROUNDS, NEAR, STRAIGHT = 6, 1e-8, 0.97
# A row closes where it is open by no more than rounding.
ROUNDING = 1e-12
# The way's slope is a difference over this share of it.
BIT = 1e-7


class Followed(Protocol):
    """Bodies with as many equations F as unknowns: x, y and turn of each."""

    @property
    def side(self) -> float:
        """The determinant of J at rest, whose sign is kept."""

    def at(self, known: Poses, x: Floats) -> tuple[Floats, Floats]:
        """Return F (m, n) and J (m, n, n)."""

    def corrected(self, known: Poses, guess: Floats, last: bool) -> tuple[Floats, Floats, Floats]:
        """Return the unknowns (m, n) by Newton's method, their gaps (m,) and det J (m,)."""


def followed(
    group: Followed, known: Known, x: Floats, shares: Floats, lengths: Floats
) -> tuple[Floats, Floats]:
    """Return x, y and turn of each body (m, 3 k) at the ends of ways, and the margins (m,), 0 where lost.

    x, shares: where each row sets out. lengths: of the drivers' ways, in radians or parts of the size.
    No row depends on others. One that turns back before its end may have stepped over it, next to the dead
    point: there Newton's method has the last word, within a step of where it was.
    """
    lengths = np.maximum(lengths, 1e-12)
    now = np.column_stack((x, shares * lengths))
    way, at = np.zeros_like(now), np.arange(len(now))
    way[:, -1] = 1.0
    way = _direction(_bordered(*_sloped(group, known, at, now, lengths)[1:], way))
    step, reach, going = np.full(len(now), FIRST), np.full(len(now), FIRST), at
    for _ in range(MOST):
        if not len(going):
            break
        start, reach[going] = now[going], step[going]
        after, onward, sides, fits = _stepped(
            group, known, going, start, way[going], step[going], lengths[going]
        )
        on = fits & (sides * group.side > 0.0)
        there = on & (after[:, -1] >= lengths[going])
        ahead = np.where(there, after[:, -1] - start[:, -1], 1.0)
        part = np.where(there, (lengths[going] - start[:, -1]) / ahead, 1.0)
        now[going[on]], way[going[on]] = (start + part[:, None] * (after - start))[on], onward[on]
        step[going] = np.minimum(step[going] * np.where(fits, 2.0, 0.5), LARGEST)
        going = going[(on | ~fits) & ~there & (step[going] > LEAST)]
    ends, gaps, sides = group.corrected(known(at, np.ones(len(now))), now[:, :-1], True)
    near = np.abs(ends - now[:, :-1]).max(axis=1) <= 2.0 * np.maximum(reach, FIRST)
    return ends, np.where(near & (gaps <= ROUNDING), np.maximum(sides / group.side, 0.0), 0.0)


def _stepped(
    group: Followed, known: Known, rows: Rows, now: Floats, way: Floats, step: Floats, lengths: Floats
) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
    """Return the unknowns (k, n) a step on, the way's direction there, det J (k,), and whether it fits."""
    border, onto = way, (step < FINE) & (way[:, -1] * step >= lengths - now[:, -1])
    if onto.any():  # the end is near, and what the group hangs on may run there: straight onto it
        step = np.where(onto, (lengths - now[:, -1]) / np.where(onto, way[:, -1], 1.0), step)
        border = np.where(onto[:, None], np.eye(now.shape[1])[-1], way)
    guess = after = now + step[:, None] * way
    guess[onto, -1] = lengths[onto]
    gap, slopes, last = _sloped(group, known, rows, after, lengths)
    for _ in range(ROUNDS):
        falls = (np.abs(gap).max(axis=1) > NEAR) & (np.abs(after - guess).max(axis=1) < 1.0)
        if not falls.any():
            break
        off = np.column_stack((gap, ((after - guess) * border).sum(axis=1)))
        after = after - np.where(falls[:, None], _solution(_bordered(slopes, last, border), off), 0.0)
        gap, slopes = group.at(known(rows, after[:, -1] / lengths), after[:, :-1])
    onward = _direction(_bordered(slopes, last, way))
    moved = np.abs(after - guess).max(axis=1)
    straight = (moved < np.where(onto, FIRST, step)) & (onto | ((onward * way).sum(axis=1) > STRAIGHT))
    fits = straight & (np.abs(gap).max(axis=1) <= NEAR)
    return after, onward, np.linalg.det(slopes), fits


def _sloped(
    group: Followed, known: Known, rows: Rows, now: Floats, lengths: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return F (k, n), J (k, n, n), and the slope of F (k, n) along the drivers' way."""
    shares = now[:, -1] / lengths
    both = np.concatenate((shares, shares + BIT))
    gap, slopes = group.at(known(np.tile(rows, 2), both), np.tile(now[:, :-1], (2, 1)))
    gap, ahead = np.split(gap, 2)
    return gap, slopes[: len(rows)], (ahead - gap) / (BIT * lengths)[:, None]


def _bordered(slopes: Floats, last: Floats, way: Floats) -> Floats:
    """Return J with the slope along the drivers' way as one more column, and a direction as one more row."""
    return np.concatenate((np.concatenate((slopes, last[..., None]), 2), way[:, None]), 1)


def _direction(matrix: Floats) -> Floats:
    """Return the direction of the way, of length 1: along it F stays as it is."""
    last = np.zeros(matrix.shape[:2])
    last[:, -1] = 1.0
    way = _solution(matrix, last)
    unit: Floats = way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-300)
    return unit


def _solution(matrix: Floats, right: Floats) -> Floats:
    """Return the solution of each row; 0 where its matrix is singular."""
    regular = np.linalg.det(matrix) != 0.0
    matrix = np.where(regular[:, None, None], matrix, np.eye(matrix.shape[1]))
    solution: Floats = np.linalg.solve(matrix, right[..., None])[..., 0]
    solution[~regular] = 0.0
    return solution
