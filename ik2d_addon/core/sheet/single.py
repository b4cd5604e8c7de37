# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose of least bend within limits for one target, in plain numbers: that of `Sheet`."""

from dataclasses import dataclass
from math import atan2, cos, floor, hypot, inf, remainder, sin, sqrt

from .descent import FAILURES, descended_one, settled_one
from .sheet import (
    GUESSED,
    NEARLY_HOLDS,
    NO_MOMENT,
    OTHER_SIDE,
    PROMISING,
    ROUNDS,
    STRAYED,
    TIE,
    TRIES,
    TURN,
    TURNED,
    Sheet,
)
from .springs import Pose, Springs
from .table import PART_OF_BEND, Table

# A pose and about how much it bends once its tip is on the target.
Guess = tuple[float, Pose]


@dataclass(frozen=True, slots=True)
class Known:
    """A pose of a table, its tip, and how much it bends."""

    pose: Pose
    tip_x: float
    tip_y: float
    bend: float


class SingleTable:
    """A table, asked for one point at a time."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._parts: dict[int, list[Known]] = {}  # those that were asked for

    def near(self, x: float, y: float) -> list[Guess]:
        """Return the poses for a point, by `Table.near`."""
        known, found = self._part(x, y), []
        turn = atan2(y, x) if self.table.springs.free_root else 0.0
        for one in known:
            pose, end_x, end_y = one.pose, one.tip_x, one.tip_y
            if turn:
                pose, (end_x, end_y) = turned(pose, turn), rotated(end_x, end_y, turn)
            most = PART_OF_BEND * one.bend + self.table.slack
            slope = 2.0 * (pose.force_x * (x - end_x) + pose.force_y * (y - end_y))
            found.append((one.bend + min(max(slope, -most), most), pose))
        return found

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
        pose = Pose(poses.angles[:, k].tolist(), poses.slides[:, k].tolist(), force_x, force_y)
        tip_x, tip_y = table.tips[:, k].tolist()
        return Known(pose, tip_x, tip_y, float(table.bends[k]))


class SingleSheet:
    """A sheet, asked for one target at a time. Its springs may be of a chain that is off by rounding."""

    def __init__(self, sheet: Sheet, springs: Springs | None = None) -> None:
        self.sheet, self.springs = sheet, springs or sheet.springs
        self._line = SingleTable(sheet.line) if sheet.line is not None else None
        tables = {id(table): SingleTable(table) for table, _, _ in sheet.ends}
        self._ends = [(tables[id(table)], root, sign) for table, root, sign in sheet.ends]

    def least(self, x: float, y: float, side: float, asked: float) -> Pose | None:
        """Return the pose of least bend; None where Newton's method leads none to the target.

        side, asked: as for `Sheet.least`.
        """
        tried = self._tried(x, y)
        if not any(bend < inf for _, _, _, bend in tried):
            return None
        springs, found = self.springs, []
        least, strayed = min(bend for _, _, _, bend in tried), STRAYED * self.sheet.apart
        for guess, start, pose, bend in tried:
            both = zip(pose.angles[1:], start.angles[1:], strict=True)
            if GUESSED * guess < least and (bend == inf or max(abs(a - b) for a, b in both) > strayed):
                other, done, _ = descended_one(springs, start, x, y, FAILURES)
                less = springs.bend(other)
                if done and less < bend:
                    pose, bend = other, less
            way = sum(pose.angles[1:])
            found.append((bend + TIE * (way * side < 0.0) + OTHER_SIDE * (way * asked < 0.0), pose))
        return min(found, key=lambda one: one[0])[1]

    def settled(self, pose: Pose, x: float, y: float) -> tuple[Pose, bool]:
        """Return the pose that Newton's method leads to from one near a target, and whether it is there."""
        found, done, _ = settled_one(self.springs, pose, x, y, ROUNDS)
        return found, done

    def _tried(self, x: float, y: float) -> list[tuple[float, Pose, Pose, float]]:
        """Return guesses, starts, the poses that these settle to, and their bends; infinite where none is."""
        tried: list[tuple[float, Pose, Pose, float]] = []
        for guess, start in sorted(self._candidates(x, y), key=lambda one: one[0])[:TRIES]:
            # After the likeliest those that may bend less than that.
            if not tried or PROMISING * guess < tried[0][3]:
                pose, done = self.settled(start, x, y)
                tried.append((guess, start, pose, self.springs.bend(pose) if done else inf))
        return tried

    def _candidates(self, x: float, y: float) -> list[Guess]:
        """Return poses that may lead to the least, with their guesses."""
        springs, found = self.springs, []
        low, high = springs.low[0], springs.high[0]
        if self._line is not None:
            bounded, slack = self.sheet.bounded, self._line.table.slack
            middle = 0.5 * (low + high) if bounded else springs.rest[0]
            for guess, pose in self._line.near(x, y):
                root = pose.angles[0]
                own = middle + remainder(root - middle, TURN)
                within = min(max(own, low), high) if bounded else own
                off = abs(own - within)
                if off < TURNED:
                    found.append((guess + 2.0 * off * (guess + slack), turned(pose, within - root)))
        for table, root, sign in self._ends:
            for guess, pose in table.near(*rotated(x, y, -root) if root else (x, y)):
                if sign:
                    goal_x, goal_y = rotated(x, y, -root)
                    moment = sign * (goal_x * pose.force_y - goal_y * pose.force_x)
                    if moment < -NO_MOMENT - NEARLY_HOLDS * hypot(pose.force_x, pose.force_y):
                        continue
                    pose = turned(pose, root)
                found.append((guess, pose))
        return found


def turned(pose: Pose, by: float) -> Pose:
    """Return a pose with its root turned, the force with it."""
    root, *inner = pose.angles
    return Pose([root + by, *inner], pose.slides, *rotated(pose.force_x, pose.force_y, by))


def rotated(x: float, y: float, by: float) -> tuple[float, float]:
    """Return a vector turned by an angle."""
    c, s = cos(by), sin(by)
    return x * c - y * s, x * s + y * c
