# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose of least bend within limits for a target: the least of what the chain's tables lead to.

Of a root whose turn costs nothing, within a range, the least pose has it at an end of the range, where its
moment holds it there, or between them, where the pose is that of a root without limits, by the distance of
the target.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import atan2, cos, floor, hypot, inf, remainder, sin, sqrt

import numpy as np

from ..inputs import Floats
from .descent import FAILURES, descended_one, settled_one
from .springs import SpringPose, Springs, springs_of
from .table import PART_OF_BEND, Table

TURN = 2.0 * np.pi
# The poses that are tried for one target, and Newton's rounds from each.
TRIES, ROUNDS = 4, 16
# Poses that the free root's ones come from by turning it into its range, by so much at most (radians); and
# moments at a limit, as parts of the force, that may yet hold the root there.
TURNED, NEARLY_HOLDS, NO_MOMENT = 0.3, 0.12, 1e-3
# A joint that turned by so many times what tells kinds of poses apart has left the pose it started from; then
# another way is tried, if that may bend less: guesses are off by some part.
STRAYED, GUESSED, PROMISING = 1.2, 0.7, 0.5
# Poses that bend alike: mirror images.
TIE = 1e-9
# More than any pose bends: one on the other side than what was asked for.
OTHER_SIDE = 1e6
# Tables kept, and the digits that tell them apart.
KEPT, DIGITS = 64, 13


# A pose and about how much it bends once its tip is on the target.
Guess = tuple[float, SpringPose]


@dataclass(frozen=True, slots=True)
class Known:
    """A pose of a table, its tip, and how much it bends."""

    pose: SpringPose
    tip_x: float
    tip_y: float
    bend: float


class Tables:
    """The tables of poses that a chain needs; equal chains share them."""

    def __init__(self, springs: Springs) -> None:
        """Make the tables that the chain needs."""
        self.springs = springs
        low, high = springs.low[0], springs.high[0]
        self.bounded = springs.free_root and high - low < TURN
        self.line = Table(springs.with_root(-np.inf, np.inf, free=True)) if springs.free_root else None
        self.ends: list[tuple[Table, float, float]] = []  # with the root's angle, and the sign of its moment
        if self.bounded:
            table = Table(springs.with_root(0.0, 0.0, free=False))
            self.ends = [(table, low, -1.0), (table, high, 1.0)]
        elif not springs.free_root:
            self.ends = [(Table(springs), 0.0, 0.0)]
        self.apart = (self.line or self.ends[0][0]).apart


def tables_of(numbers: Floats, free_root: bool, slide_weight: float) -> Tables:
    """Return a chain's tables, made once for all chains of its shape. numbers: (7, n) as for `springs_of`."""
    return _kept(rounded(numbers).tobytes(), free_root, round(slide_weight, DIGITS))


def rounded(numbers: Floats) -> Floats:
    """Return the numbers (7, n) that the tables of a chain are made of."""
    round_numbers: Floats = np.round(numbers, DIGITS) + 0.0
    return round_numbers


@lru_cache(maxsize=KEPT)
def _kept(numbers: bytes, free_root: bool, slide_weight: float) -> Tables:
    return Tables(springs_of(np.frombuffer(numbers).reshape(7, -1), free_root, slide_weight))


class NearPoses:
    """The poses of a table that may lead to a point."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._parts: dict[int, list[Known]] = {}  # those that were asked for

    def near(self, x: float, y: float) -> list[Guess]:
        """Return poses for a point, and about how much these bend there."""
        known, nearest = self._part(x, y), []
        turn = atan2(y, x) if self.table.springs.free_root else 0.0
        for start in known:
            pose, end_x, end_y = start.pose, start.tip_x, start.tip_y
            if turn:
                pose, (end_x, end_y) = turned(pose, turn), rotated(end_x, end_y, turn)
            most = PART_OF_BEND * start.bend + self.table.slack
            slope = 2.0 * (pose.force_x * (x - end_x) + pose.force_y * (y - end_y))
            nearest.append((start.bend + min(max(slope, -most), most), pose))
        return nearest

    def _part(self, x: float, y: float) -> list[Known]:
        table = self.table
        inwards = sqrt(max(1.0 - hypot(x, y), 0.0))
        ring = min(int(table.rings * (1.0 - inwards)), table.rings - 1)
        sector = floor((atan2(y, x) / TURN) % 1.0 * table.parts) % table.parts
        part = ring * table.parts + sector
        if part not in self._parts:
            self._parts[part] = [self._known(k) for k in table.best[part].tolist() if k >= 0]
        return self._parts[part]

    def _known(self, k: int) -> Known:
        table, poses = self.table, self.table.poses
        force_x, force_y = poses.force[:, k].tolist()
        pose = SpringPose(poses.angles[:, k].tolist(), poses.slides[:, k].tolist(), force_x, force_y)
        tip_x, tip_y = table.tips[:, k].tolist()
        return Known(pose, tip_x, tip_y, float(table.bends[k]))


class Sheet:
    """A chain's poses of least bend within limits, asked for one target at a time."""

    def __init__(self, tables: Tables, springs: Springs | None = None) -> None:
        """Keep the tables. springs: of a chain that is off these by rounding."""
        self.tables, self.springs = tables, springs or tables.springs
        self._line = NearPoses(tables.line) if tables.line is not None else None
        near = {id(table): NearPoses(table) for table, _, _ in tables.ends}
        self._ends = [(near[id(table)], root, sign) for table, root, sign in tables.ends]

    def least(self, x: float, y: float, side: float, asked: float) -> SpringPose | None:
        """Return the pose of least bend; None where Newton's method leads none to the target.

        side: +1 or -1, the side to bend to where both bend alike. asked: the same, wherever a pose there
        reaches; 0.0 for either.
        """
        pose = self._least(x, y, side, asked)
        if pose is not None and sum(pose.angles[1:]) * asked < 0.0:
            return self._over(x, y, side, asked) or pose
        return pose

    def _least(self, x: float, y: float, side: float, asked: float) -> SpringPose | None:
        """Return the pose of least bend that the tables lead to."""
        tried = self._tried(x, y)
        if not any(bend < inf for _, _, _, bend in tried):
            return None
        springs, poses = self.springs, []
        least, strayed = min(bend for _, _, _, bend in tried), STRAYED * self.tables.apart
        for guess, start, pose, bend in tried:
            both = zip(pose.angles[1:], start.angles[1:], strict=True)
            turn = max((abs(a - b) for a, b in both), default=0.0)
            if GUESSED * guess < least and (bend == inf or turn > strayed):
                other, done = descended_one(springs, start, x, y, FAILURES)
                less = springs.bend(other)
                if done and less < bend:
                    pose, bend = other, less
            way = sum(pose.angles[1:])
            poses.append((bend + TIE * (way * side < 0.0) + OTHER_SIDE * (way * asked < 0.0), pose))
        return min(poses, key=lambda scored: scored[0])[1]

    def _over(self, x: float, y: float, side: float, asked: float) -> SpringPose | None:
        """Return the pose of least bend on the side asked for that the chain's mirror image leads to.

        Where it leads to none there, as near full stretch, the mirror image itself; None if limits stop it.
        """
        image = self._least(x, -y, -side, 0.0)
        if image is None:
            return None
        start = SpringPose([-angle for angle in image.angles], image.slides, image.force_x, -image.force_y)
        pose, done = descended_one(self.springs, start, x, y, FAILURES)
        if done and sum(pose.angles[1:]) * asked >= 0.0:
            return pose
        limits = zip(self.springs.low, start.angles, self.springs.high, strict=True)
        return start if all(low <= angle <= high for low, angle, high in limits) else None

    def score(self, pose: SpringPose, asked: float) -> float:
        """Return how much a pose bends, and more than any does if it is not on the side asked for."""
        bend: float = self.springs.bend(pose)
        return bend + OTHER_SIDE * (sum(pose.angles[1:]) * asked < 0.0)

    def settled(self, pose: SpringPose, x: float, y: float) -> tuple[SpringPose, bool]:
        """Return the pose that Newton's method leads to from one near a target, and whether it is there."""
        settled, done = settled_one(self.springs, pose, x, y, ROUNDS)
        return settled, done

    def _tried(self, x: float, y: float) -> list[tuple[float, SpringPose, SpringPose, float]]:
        """Return guesses, starts, the poses that these settle to, and their bends; infinite where none is."""
        tried: list[tuple[float, SpringPose, SpringPose, float]] = []
        for guess, start in sorted(self._candidates(x, y), key=lambda scored: scored[0])[:TRIES]:
            # After the likeliest those that may bend less than that.
            if not tried or PROMISING * guess < tried[0][3]:
                pose, done = self.settled(start, x, y)
                tried.append((guess, start, pose, self.springs.bend(pose) if done else inf))
        return tried

    def _candidates(self, x: float, y: float) -> list[Guess]:
        """Return poses that may lead to the least, with their guesses."""
        springs, candidates = self.springs, []
        low, high = springs.low[0], springs.high[0]
        if self._line is not None:
            bounded, slack = self.tables.bounded, self._line.table.slack
            middle = 0.5 * (low + high) if bounded else springs.rest[0]
            for guess, pose in self._line.near(x, y):
                root = pose.angles[0]
                root_near = middle + remainder(root - middle, TURN)
                within = min(max(root_near, low), high) if bounded else root_near
                off = abs(root_near - within)
                if off < TURNED:
                    candidates.append((guess + 2.0 * off * (guess + slack), turned(pose, within - root)))
        for table, root, sign in self._ends:
            for guess, pose in table.near(*rotated(x, y, -root) if root else (x, y)):
                if sign:
                    goal_x, goal_y = rotated(x, y, -root)
                    moment = sign * (goal_x * pose.force_y - goal_y * pose.force_x)
                    if moment < -NO_MOMENT - NEARLY_HOLDS * hypot(pose.force_x, pose.force_y):
                        continue
                    pose = turned(pose, root)
                candidates.append((guess, pose))
        return candidates


def turned(pose: SpringPose, by: float) -> SpringPose:
    """Return a pose with its root turned, the force with it."""
    root, *inner = pose.angles
    return SpringPose([root + by, *inner], pose.slides, *rotated(pose.force_x, pose.force_y, by))


def rotated(x: float, y: float, by: float) -> tuple[float, float]:
    """Return a vector turned by an angle."""
    c, s = cos(by), sin(by)
    return x * c - y * s, x * s + y * c
