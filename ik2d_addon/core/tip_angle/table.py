# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses that forces and moments hold, looked up by where the tip is and where the last bone heads to.

Walked from the root a pose follows from the force F on the tip, in the frame of the base, and the moment m_0
about the root: m_i = m_0 - (joint i) x F. With m_0 = 0 the root is free, and only the tip's distance and its
heading from the tip's direction count; with m_0 of the right sign the root is held at an end of its range;
with any m_0 its turn costs, too. The poses are sorted into cells, each of which keeps a few of different
kinds.
"""

from dataclasses import dataclass
from functools import cached_property
from math import atan2, cos, hypot, pi, sin
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..inputs import Floats, wrapped
from .springs import TURN, Goal, HeldPose, HeldSprings

# The forces: so many sizes, up to so many times half the one that bends the chain by half a radian, in so
# many directions; and near that of the first bone, where the smallest turn of a pull turns a stretched chain,
# so many more on both sides, down to this one (radians). Then so many moments of the root of both signs, up
# to this part of such a force. For a root that is free, and for others.
STRONGEST, SMALLEST, MOMENTS, OF_FORCE = 300.0, 1e-7, 5, 0.3
SIZES, DIRECTIONS, NEAR_BONE = (60, 14), (192, 40), (12, 5)
# The cells: distances and headings; or x, y and headings.
DISTANCES, PLACES = (24, 48), (12, 12, 16)
# The kinds of poses that a cell keeps; poses that differ by this part of the median range, or of a radian,
# are of different kinds.
KINDS, APART = 8, 0.3
# A guess of the bend changes by no more than this part, and this part of the squares of the ranges; and a
# pose counts as bent more by this part for a tip that is off by the reach, a heading counting so much.
PART_OF_BEND, PART_OF_RANGES, FAR, HEADING = 0.4, 0.02, 6.0, 0.4
# Poses that are spread over the ranges, the part of a range that lies beyond its ends, those looked at for a
# goal, and the part of the median range that tells them apart.
SPREAD, BEYOND, NEAREST, SPREAD_APART = 1500, 0.15, 80, 0.25

Rows = NDArray[np.intp]


class Start(NamedTuple):
    """A pose that may lead to a goal."""

    score: float  # the guess, and more for a tip that is far from the goal
    guess: float  # about how much it bends there
    pose: HeldPose


def median_range(springs: HeldSprings) -> float:
    """Return the median of the ranges of all joints but the root, none counting as more than 2 radians."""
    return float(np.median(np.minimum(np.subtract(springs.high, springs.low)[1:], 2.0)))


@dataclass(frozen=True, eq=False)
class HeldTable:
    """A chain's poses under forces; its root is free, or at zero, or turns as the others do."""

    springs: HeldSprings
    is_line: bool  # whether the root is free, so that the tip's direction is of no account

    @cached_property
    def apart(self) -> float:
        """What tells kinds of poses apart (radians)."""
        return APART * min(1.0, median_range(self.springs))

    @cached_property
    def slack(self) -> float:
        """What a guess may be off by however little a pose bends."""
        rooms = np.minimum(np.subtract(self.springs.high, self.springs.low)[1:], 2.0)
        return PART_OF_RANGES * float((rooms * rooms).sum()) + 1e-3

    @cached_property
    def _poses(self) -> "_Poses":
        return _sampled(self.springs, self.is_line)

    @cached_property
    def _cells(self) -> tuple[int, ...]:
        return DISTANCES if self.is_line else PLACES

    def _place(self, x: Floats, y: Floats, heading: Floats) -> Floats:
        """Return the places (d, m) of tips with headings among the cells, each number from 0 to 1."""
        if self.is_line:
            return np.stack((np.hypot(x, y), (heading - np.arctan2(y, x)) / TURN % 1.0))
        return np.stack((0.5 * (x + 1.0), 0.5 * (y + 1.0), heading / TURN % 1.0))

    @cached_property
    def _kept(self) -> Rows:
        """The poses (cells, KINDS) that the cells keep; -1: none."""
        poses, cells = self._poses, np.array(self._cells)[:, None]
        place = self._place(poses.x, poses.y, poses.heading)
        cell = np.clip((place * cells).astype(np.intp), 0, cells - 1)
        off = (cell + 0.5) / cells - place
        score = self._scores(np.arange(poses.bend.size), off)[0]
        key: Rows = np.ravel_multi_index(tuple(cell), self._cells)
        rows: Rows = np.lexsort((score, key))
        key = key[rows]
        kept = np.full((int(np.prod(self._cells)), KINDS), -1)
        side = np.sign(poses.root_moment)
        for kind in range(KINDS):
            first = np.flatnonzero(np.diff(key, prepend=-1))
            kept[key[first], kind] = rows[first]
            best = kept[key, kind]
            turns = np.abs(poses.angles[1:, rows] - poses.angles[1:, best]).max(axis=0)
            other = (turns > self.apart) | (side[rows] * side[best] < 0.0)
            key, rows = key[other], rows[other]
        return kept

    def _scores(self, rows: Rows, off: Floats) -> tuple[Floats, Floats]:
        """Return scores and guesses (m,) of some poses whose places are off a goal's by (d, m)."""
        poses = self._poses
        bend, turn = poses.bend[rows], TURN * wrapped_part(off[-1])
        if self.is_line:
            far = np.hypot(off[0], HEADING * turn)
            slope = poses.pull[rows] * off[0] + poses.moment[rows] * turn
        else:
            x, y = 2.0 * off[0], 2.0 * off[1]
            far = np.sqrt(x * x + y * y + (HEADING * turn) ** 2)
            slope = poses.force[0, rows] * x + poses.force[1, rows] * y + poses.moment[rows] * turn
        most = PART_OF_BEND * bend + self.slack
        guess = bend + np.clip(2.0 * slope, -most, most)
        return guess + FAR * far * (bend + self.slack), guess

    def _near_cells(self, place: Floats) -> list[int]:
        """Return the cell of a place (d,) and its neighbours."""
        *counts, around = self._cells
        cells = [0]
        for count, part in zip(counts, place, strict=False):
            middle = min(max(int(part * count), 0), count - 1)
            near = range(max(middle - 1, 0), min(middle + 2, count))
            cells = [cell * count + own for cell in cells for own in near]
        middle = int(place[-1] * around)
        return [cell * around + k % around for cell in cells for k in range(middle - 1, middle + 2)]

    def near(self, goal: Goal, count: int, root: float = 0.0, side: float = 0.0) -> list[Start]:
        """Return the likeliest starts for a goal, of different kinds.

        root: the angle that a root without freedom is at; side: the sign that its moment may have, 0 for any.
        """
        c, s = cos(root), sin(root)
        x, y, heading = goal.x * c + goal.y * s, goal.y * c - goal.x * s, goal.heading - root
        place = self._place(*np.array([[x], [y], [heading]]))
        rows = self._kept[self._near_cells(place[:, 0])].ravel()
        rows = rows[rows >= 0]
        poses = self._poses
        if side:
            rows = rows[poses.root_moment[rows] * side >= -1e-12]
        there = self._place(poses.x[rows], poses.y[rows], poses.heading[rows])
        scores, guesses = self._scores(rows, place - there)
        order = np.argsort(scores, kind="stable")
        inner = poses.angles[1:, rows[order]]
        left = np.ones(order.size, np.bool_)
        starts: list[Start] = []
        while len(starts) < count and left.any():
            at = int(left.argmax())
            row = int(rows[order[at]])
            turn = atan2(y, x) - float(poses.direction[row]) if self.is_line else root
            pose = poses.turned(row, turn)
            starts.append(Start(float(scores[order[at]]), float(guesses[order[at]]), pose))
            left &= np.abs(inner - inner[:, at : at + 1]).max(axis=0) > self.apart
        return starts


def wrapped_part(parts: Floats) -> Floats:
    """Return parts of a turn from -1/2 to 1/2."""
    wrapped_parts: Floats = parts - np.rint(parts)
    return wrapped_parts


@dataclass(frozen=True, eq=False)
class _Poses:
    """Poses under forces, (m,) each."""

    angles: Floats  # (n, m)
    force: Floats  # (2, m)
    moment: Floats  # at the tip
    root_moment: Floats
    x: Floats  # the tips
    y: Floats
    heading: Floats
    bend: Floats

    @cached_property
    def direction(self) -> Floats:
        """The directions of the tips."""
        directions: Floats = np.arctan2(self.y, self.x)
        return directions

    @cached_property
    def pull(self) -> Floats:
        """The forces along the way from root to tip."""
        pull: Floats = self.force[0] * np.cos(self.direction) + self.force[1] * np.sin(self.direction)
        return pull

    def turned(self, row: int, by: float) -> HeldPose:
        """Return a pose with its root turned, the force with it."""
        first, *angles = self.angles[:, row].tolist()
        force_x, force_y = self.force[:, row].tolist()
        c, s = cos(by), sin(by)
        force = force_x * c - force_y * s, force_x * s + force_y * c
        return HeldPose([first + by, *angles], *force, float(self.moment[row]))


def _sampled(springs: HeldSprings, is_line: bool) -> _Poses:
    """Return the poses that forces of many sizes and directions, and moments, hold."""
    sizes, directions, near_bone = (numbers[not is_line] for numbers in (SIZES, DIRECTIONS, NEAR_BONE))
    growth = np.expm1(np.log(STRONGEST) * np.linspace(0.0, 1.0, sizes)[1:])
    even = np.arange(directions) * (TURN / directions) + 0.01
    fine = np.geomspace(0.5 * TURN / directions, SMALLEST, near_bone)
    turns = np.concatenate((even, fine, -fine))
    strengths = 0.5 * springs.some_force * growth[:, None]
    pulls = np.stack((strengths * np.cos(turns), strengths * np.sin(turns))).reshape(2, -1)
    force = np.column_stack((np.zeros(2), pulls))
    moments = np.zeros(1)
    if not is_line:
        growth = np.expm1(np.log(STRONGEST) * np.linspace(0.0, 1.0, MOMENTS + 1)[1:])
        own = OF_FORCE * springs.some_force * growth
        moments = np.concatenate((-own[::-1], moments, own))
    force_x, force_y = np.repeat(force, len(moments), axis=1)
    root_moment = np.tile(moments, force.shape[1])
    angles = np.zeros((len(springs.rest), root_moment.size))
    x = y = heading = bend = np.zeros(root_moment.size)
    counted = int(springs.free_root)
    for i, length in enumerate(springs.lengths):
        if i >= counted:
            turn = springs.weights[i] * (root_moment - (x * force_y - y * force_x))
            angles[i] = np.clip(springs.rest[i] + turn, springs.low[i], springs.high[i])
            heading = heading + angles[i]
            if springs.weights[i] > 0.0:
                bend = bend + (angles[i] - springs.rest[i]) ** 2 / springs.weights[i]
        x, y = x + length * np.cos(heading), y + length * np.sin(heading)
    moment = root_moment - (x * force_y - y * force_x)
    return _Poses(angles, np.stack((force_x, force_y)), moment, root_moment, x, y, heading, bend)


@dataclass(frozen=True, eq=False)
class Spread:
    """Poses spread evenly over the ranges of the joints, some at their ends."""

    springs: HeldSprings

    @property
    def _root_turns(self) -> bool:
        return self.springs.high[0] - self.springs.low[0] >= TURN

    @cached_property
    def _angles(self) -> Floats:
        """(SPREAD, n): each joint advances by another power of the root of x^(n + 1) = x + 1."""
        n, root = len(self.springs.rest), 2.0
        for _ in range(64):
            root = (1.0 + root) ** (1.0 / (n + 1.0))
        parts = (0.5 + np.arange(1, SPREAD + 1)[:, None] * root ** -np.arange(1.0, n + 1.0)) % 1.0
        parts = np.clip((1.0 + 2.0 * BEYOND) * parts - BEYOND, 0.0, 1.0)
        low, high = np.clip(self.springs.low, -pi, pi), np.clip(self.springs.high, -pi, pi)
        angles: Floats = low + parts * (high - low)
        if self._root_turns:
            angles[:, 0] = 0.0
        return angles

    @cached_property
    def _tips(self) -> tuple[Floats, Floats, Floats]:
        """Distances or x, directions or y, and headings (SPREAD,)."""
        headings = np.cumsum(self._angles, axis=1)
        x, y = np.cos(headings) @ self.springs.lengths, np.sin(headings) @ self.springs.lengths
        if self._root_turns:
            return np.hypot(x, y), np.arctan2(y, x), headings[:, -1]
        return x, y, headings[:, -1]

    def near(self, goal: Goal, count: int, heading: float = HEADING) -> list[list[float]]:
        """Return the angles of the poses nearest to a goal that differ from one another.

        heading: how much a radian counts, next to a reach.
        """
        one, two, headings = self._tips
        if self._root_turns:
            way = atan2(goal.y, goal.x)
            far, turn = (one - hypot(goal.x, goal.y)) ** 2, goal.heading - way - headings + two
        else:
            far, turn = (one - goal.x) ** 2 + (two - goal.y) ** 2, goal.heading - headings
        off = far + (heading * wrapped(turn)) ** 2
        rows = np.argsort(off, kind="stable")[:NEAREST]
        angles = self._angles[rows]
        left = np.ones(len(rows), np.bool_)
        found: list[list[float]] = []
        apart = SPREAD_APART * median_range(self.springs)
        while len(found) < count and left.any():
            at = int(left.argmax())
            pose = angles[at].tolist()
            if self._root_turns:
                pose[0] += way - float(two[rows[at]])
            found.append(pose)
            left &= np.abs(angles - angles[at])[:, 1:].max(axis=1) > apart
        return found
