# SPDX-License-Identifier: GPL-3.0-or-later
"""From poses to those of least bend: Newton's method, and, where that strays, steps that stay near.

For many targets at once as arrays, `Poses` with a column for each; `settled_one` and `descended_one` do the
same for one target in plain numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import ARRAYS, FLOATS
from ..inputs import Floats
from .springs import SpringPose, Springs, Step

Flags = NDArray[np.bool_]
Rows = NDArray[np.intp]
# No joint of a settled pose is farther from where its spring has it, nor the tip from its target; one more
# step then leaves far less.
SETTLED = 1e-9
# To put a tip back onto its target: the stiffness that keeps the pose as it is, and rounds. Steps down: the
# stiffness at first, rounds in each, how often one may fail, and how many there are for each such time.
STIFF, RESTORING, STIFFNESS, ROUNDS, FAILURES, DOWN = 1e5, 12, 0.1, 8, 4, 4
# How often one may fail where nothing else has led to the target.
PATIENT = 8
# On success stiffness falls to this part, and below the least to nothing; on failure it rises.
FALLS, LEAST, RISES, RISE = 0.2, 0.1, 5.0, 0.05
# Rounds in which joints that would pass their limits are put on them, and what is no way past one (radians).
PUT, PAST = 3, 1e-12


@dataclass(frozen=True, eq=False)
class SpringPoses:
    """Poses and the forces on their tips: angles (n, m), slides (n, m), force (2, m)."""

    angles: Floats
    slides: Floats
    force: Floats

    def __getitem__(self, rows: Rows | Flags) -> "SpringPoses":
        return SpringPoses(self.angles[:, rows], self.slides[:, rows], self.force[:, rows])

    def put(self, rows: Rows | Flags, other: "SpringPoses") -> None:
        """Put other poses into some rows."""
        self.angles[:, rows], self.slides[:, rows] = other.angles, other.slides
        self.force[:, rows] = other.force

    @property
    def count(self) -> int:
        """The number of poses."""
        return int(self.angles.shape[1])

    @property
    def rows(self) -> SpringPose:
        """The same as rows of numbers."""
        return SpringPose(list(self.angles), list(self.slides), self.force[0], self.force[1])

    @classmethod
    def of(cls, pose: SpringPose) -> "SpringPoses":
        """Return poses of their rows."""
        return cls(np.array(pose.angles), np.array(pose.slides), np.array((pose.force_x, pose.force_y)))

    @classmethod
    def none(cls, n: int, m: int) -> "SpringPoses":
        """Return poses of nothing but zeros."""
        return cls(np.zeros((n, m)), np.zeros((n, m)), np.zeros((2, m)))

    def turned(self, by: "Floats | float") -> "SpringPoses":
        """Return the poses with their roots turned by angles (m,), the forces with them."""
        angles = self.angles.copy()
        angles[0] += by
        return SpringPoses(angles, self.slides, rotated(self.force, by))

    @staticmethod
    def joined(parts: "Sequence[SpringPoses]") -> "SpringPoses":
        """Return several lots of poses as one."""
        columns = zip(*((pose.angles, pose.slides, pose.force) for pose in parts), strict=True)
        return SpringPoses(*(np.concatenate(each, axis=1) for each in columns))


@dataclass(frozen=True, eq=False)
class Settled:
    """The poses at the end of a search."""

    poses: SpringPoses
    done: Flags  # (m,) whether they are poses of least bend on their targets


def settled(springs: Springs, poses: SpringPoses, points: Floats, rounds: int) -> Settled:
    """Return the poses that Newton's method leads to for points (2, m)."""
    rows = np.arange(poses.count)
    poses, done = poses[rows], np.zeros(rows.size, np.bool_)
    going, goals = poses, points
    for _ in range(rounds):
        step = springs.step(going.rows, goals[0], goals[1], ARRAYS)
        ends = (step.off < SETTLED) & (step.error < SETTLED)
        done[rows] = ends & step.is_least
        going = SpringPoses.of(springs.moved(going.rows, step, ARRAYS))
        if ends.any():
            poses.put(rows[ends], going[ends])
            left = ~ends
            rows, going, goals = rows[left], going[left], goals[:, left]
        if rows.size == 0:
            break
    poses.put(rows, going)
    return Settled(poses, done)


def settled_one(
    springs: Springs,
    pose: SpringPose,
    x: float,
    y: float,
    rounds: int,
    stiff: float = 0.0,
    anchor: SpringPose | None = None,
) -> tuple[SpringPose, bool]:
    """Return the pose of `settled` for one point, and whether it has settled."""
    for _ in range(rounds):
        step = springs.step(pose, x, y, FLOATS, stiff, anchor)
        ends = step.off < SETTLED and step.error < SETTLED
        is_least = step.is_least
        if anchor is not None:
            step = _one_put_on_limits(springs, step, pose, x, y, stiff, anchor)
        pose = springs.moved(pose, step, FLOATS, stiff)
        if ends:
            return pose, is_least
    return pose, False


def _one_put_on_limits(
    springs: Springs, step: Step, pose: SpringPose, x: float, y: float, stiff: float, anchor: SpringPose
) -> Step:
    put, least = [np.nan] * len(pose.angles), step.is_least
    for _ in range(PUT):
        past = 0
        for i, (angle, turn, low, high) in enumerate(
            zip(pose.angles, step.turns, springs.low, springs.high, strict=True)
        ):
            if not step.held[i] and not low - PAST <= angle + turn <= high + PAST:
                put[i], past = low if turn < 0.0 else high, past + 1
        if not past or step.held.count(False) - past < 2:
            break
        step = springs.step(pose, x, y, FLOATS, stiff, anchor, put)
    return replace(step, is_least=least)


def descended_one(
    springs: Springs, pose: SpringPose, x: float, y: float, failing: int = FAILURES
) -> tuple[SpringPose, bool]:
    """Return the pose of `descended` for one point, and whether it has settled."""
    start = SpringPose(pose.angles, pose.slides, 0.0, 0.0)
    pose, going = settled_one(springs, start, x, y, RESTORING, STIFF, pose)
    pose = SpringPose(pose.angles, pose.slides, 0.0, 0.0)
    stiff, failures = STIFFNESS, 0
    for _ in range(DOWN * failing if going else 0):
        settled, better = settled_one(springs, pose, x, y, ROUNDS, stiff, pose)
        if better:
            pose = settled
            if stiff == 0.0:
                return pose, True
            stiff = 0.0 if stiff <= LEAST else FALLS * stiff
        else:
            stiff, failures = RISES * stiff + RISE, failures + 1
            if failures == failing:
                break
    return pose, False


def tips(springs: Springs, poses: SpringPoses) -> Floats:
    """Return the tips (2, m) of poses."""
    headings = list(np.cumsum(poses.angles, axis=0))
    x = y = 0.0 * poses.force[0]
    for length, slide, heading in zip(springs.lengths, poses.slides, headings, strict=True):
        x = x + (length + slide) * np.cos(heading)
        y = y + (length + slide) * np.sin(heading)
    return np.array((x, y))


def rotated(vectors: Floats, by: Floats | float) -> Floats:
    """Return vectors (2, m) turned by angles."""
    c, s = np.cos(by), np.sin(by)
    return np.array((vectors[0] * c - vectors[1] * s, vectors[0] * s + vectors[1] * c))
