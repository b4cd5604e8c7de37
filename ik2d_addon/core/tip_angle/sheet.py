# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose of least bend with tip and heading on a goal: the least of what the chain's tables lead to.

The least pose of a root within a range has it between the ends, where the pose is that of a root without
limits, or at an end, where its moment holds it there. Newton's method goes on from the likeliest poses of
the tables; where it strays from one, or fails, the pose goes down from there with second springs; and where
none leads to the goal, poses all over the ranges do, at last by damped steps.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import cos, inf, isfinite, remainder, sin

import numpy as np

from ..chain import Chain
from ..inputs import Floats
from .arm import ON_TARGET, Arm
from .backwards import Backwards
from .descent import cornered, descended, led_down, settled
from .proofs import Proofs
from .springs import TURN, Goal, HeldPose, HeldSprings
from .table import HeldTable, Spread, Start

# The poses that are tried for one goal by Newton's method; those left out, whose guess is so much above the
# best; and how far from its start a pose has strayed, as a part of what tells kinds apart.
TRIES, PROMISING, STRAYED = 8, 0.8, 1.2
# Where none of them leads to the goal: the poses that go down to it, those spread over the ranges, and how
# many that arrive are enough, of these and of those by damped steps.
DOWN_FROM, SPREAD_FROM, ENOUGH, ENOUGH_CORNERED = 12, 24, 3, 2
# Poses that a free root's ones come from by turning it into its range, by so much at most (radians).
TURNED = 0.35
# More than any pose bends: one on the other side than asked for. Poses that bend alike: mirror images.
OTHER_SIDE, TIE = 1e6, 1e-9
# Sheets kept, and the digits that tell them apart.
KEPT, DIGITS = 64, 13


@dataclass(frozen=True)
class Side:
    """The side (+1 or -1) that the joints between root and last bone bend to."""

    of_ties: float = 0.0  # where poses bend alike; 0.0: either
    asked: float = 0.0  # wherever a pose there has both; 0.0: either

    def score(self, bend: float, angles: list[float]) -> float:
        """Return a bend, and more on another side."""
        way = sum(angles[1:-1])
        return bend + TIE * (way * self.of_ties < -TIE) + OTHER_SIDE * (way * self.asked < -TIE)


EITHER = Side()


class PoseSheet:
    """A chain's poses of least bend with a heading, asked for one goal at a time."""

    def __init__(self, arm: Arm) -> None:
        """Keep the arm; its tables are made once they are asked for."""
        self.arm, self.backwards = arm, Backwards(arm)
        self.proofs = Proofs(arm, self.backwards)
        self.springs = springs = HeldSprings.of(arm)
        self.spread = Spread(springs)
        # Tables, each with the angle of the root, None where it is free, and the sign of its moment.
        self._tables: list[tuple[HeldTable, float | None, float]] = []
        if not springs.free_root:
            self._tables.append((HeldTable(springs, False), 0.0, 0.0))
            return
        unlimited = springs.with_root(-inf, inf)
        self._tables.append((HeldTable(unlimited, True), None, 0.0))
        at_end = HeldTable(unlimited, False)
        for root, sign in ((springs.low[0], -1.0), (springs.high[0], 1.0)):
            if isfinite(root):
                self._tables.append((at_end, root, sign))

    @property
    def apart(self) -> float:
        """What tells kinds of poses apart (radians)."""
        return self._tables[0][0].apart

    def starts(self, goal: Goal) -> list[Start]:
        """Return poses that may lead to a goal, the likeliest first."""
        springs, starts = self.springs, []
        low, high = springs.low[0], springs.high[0]
        middle = 0.5 * (low + high) if high - low < TURN else springs.rest[0]
        for table, root, sign in self._tables:
            if root is not None:
                starts += table.near(goal, TRIES, root, sign)
                continue
            for start in table.near(goal, TRIES):
                turn = middle + remainder(start.pose.angles[0] - middle, TURN)
                within = min(max(turn, low), high)
                if abs(turn - within) < TURNED:
                    score = start.score + 2.0 * abs(turn - within) * (start.guess + table.slack)
                    starts.append(Start(score, start.guess, _with_root(start.pose, within)))
        return sorted(starts, key=lambda start: start.score)

    def least(self, goal: Goal, side: Side = EITHER) -> HeldPose | None:
        """Return the pose of least bend that is found with tip and heading on a goal; None for none."""
        best, least, strayed = None, inf, []
        starts = self.starts(goal)
        for start in starts[:TRIES]:
            if best is not None and PROMISING * start.guess > least:
                continue
            pose, done = settled(self.springs, start.pose, goal)
            if not done or _apart(pose.angles, start.pose.angles) > STRAYED * self.apart:
                strayed.append(start)
            if done and (score := self._score(pose, side)) < least:
                best, least = pose, score
        if best is None:
            if self.is_forbidden(goal):
                return None
            return self._least_of(self._led(starts, goal, ENOUGH), side) or self._cornered(starts, goal, side)
        for start in strayed:
            if start.guess < least:
                pose_down = led_down(self.springs, start.pose.angles, goal)
                if pose_down is not None and (score := self._score(pose_down, side)) < least:
                    best, least = pose_down, score
        return best

    def is_forbidden(self, goal: Goal) -> bool:
        """Return whether it is proven that no pose has both tip and heading."""
        point = np.array([[goal.x, goal.y]])
        return bool(self.proofs.forbidden(point, np.array([goal.heading]))[0])

    def every(self, goal: Goal) -> list[HeldPose]:
        """Return all poses of locally least bend on a goal that are found; where there are none, any pose."""
        starts, found = self.starts(goal), []
        for start in starts[:TRIES]:
            pose, done = settled(self.springs, start.pose, goal)
            if done:
                found.append(pose)
        found += self._led(starts, goal)
        if not found:
            pose_found = self._cornered(starts, goal, EITHER)
            found = [] if pose_found is None else [pose_found]
        return found

    def misses(self, angles: list[float], goal: Goal, angle_first: bool) -> tuple[float, float]:
        """Return how far a pose is from a goal, what comes first at first, less than rounding as nothing."""
        tip, heading = self.springs.misses(angles, goal)
        first, second = (heading, tip) if angle_first else (tip, heading)
        return first if first > ON_TARGET else 0.0, second

    def _score(self, pose: HeldPose, side: Side) -> float:
        return side.score(self.springs.bend(pose.angles), pose.angles)

    def _least_of(self, poses: list[HeldPose], side: Side) -> HeldPose | None:
        return min(poses, key=lambda pose: self._score(pose, side), default=None)

    def _far(self, starts: list[Start], goal: Goal) -> Iterator[list[float]]:
        """Yield the angles of starts, and of poses all over the ranges, nearest first."""
        yield from (start.pose.angles for start in starts[:DOWN_FROM])
        yield from self.spread.near(goal, SPREAD_FROM)

    def _led(self, starts: list[Start], goal: Goal, enough: int = 0) -> list[HeldPose]:
        """Return poses on a goal that go down to least bend; as many as are enough, or all for 0."""
        found: list[HeldPose] = []
        for angles in self._far(starts, goal):
            pose = led_down(self.springs, angles, goal)
            if pose is not None:
                found.append(pose)
                if len(found) == enough:
                    break
        return found

    def _cornered(self, starts: list[Start], goal: Goal, side: Side) -> HeldPose | None:
        """Return the least pose on a goal that damped steps lead to; None for none."""
        found: list[HeldPose] = []
        for angles in self._far(starts, goal):
            on_goal = cornered(self.springs, angles, goal)
            if on_goal is not None:
                lower = descended(self.springs, on_goal, goal)
                found.append(HeldPose(on_goal if lower is None else lower.angles))
                if len(found) == ENOUGH_CORNERED:
                    break
        return self._least_of(found, side)


def _with_root(pose: HeldPose, root: float) -> HeldPose:
    """Return a pose with its root at an angle, the force turned with it."""
    first, *angles = pose.angles
    c, s = cos(root - first), sin(root - first)
    force = pose.force_x * c - pose.force_y * s, pose.force_x * s + pose.force_y * c
    return HeldPose([root, *angles], *force, pose.moment)


def _apart(angles: list[float], others: list[float]) -> float:
    """Return the largest turn inside the chain between two poses."""
    return max(abs(a - b) for a, b in zip(angles[1:], others[1:], strict=True))


def sheet_of(arm: Arm) -> PoseSheet:
    """Return an arm's sheet, made once for all arms of its shape."""
    assert arm.chain.weights is not None
    numbers = (arm.chain.lengths, arm.chain.weights, *arm.chain.ranges.T, arm.rest)
    rounded: Floats = np.round(np.array(numbers), DIGITS) + 0.0
    return _kept(rounded.tobytes(), arm.free_root)


@lru_cache(maxsize=KEPT)
def _kept(numbers: bytes, free_root: bool) -> PoseSheet:
    lengths, weights, low, high, rest = np.frombuffer(numbers).reshape(5, -1)
    return PoseSheet(Arm(Chain(lengths, np.stack((low, high), axis=1), weights), rest, free_root))
