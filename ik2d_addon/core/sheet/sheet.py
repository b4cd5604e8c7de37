# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose of least bend within limits for each target: the least of what the chain's tables lead to.

Of a root whose turn costs nothing, within a range, the least pose has it at an end of the range, where its
moment holds it there, or between them, where the pose is that of a root without limits, by the distance of
the target.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..inputs import Floats
from .descent import (
    FAILURES,
    PATIENT,
    Flags,
    Poses,
    Rows,
    Settled,
    descended,
    descended_one,
    rotated,
    settled,
    settled_one,
)
from .springs import Pose, Springs, springs_of
from .table import Table

TURN = 2.0 * np.pi
# The poses that are tried for one target, and Newton's rounds from each; and so many targets as one makes
# arrays of more than a few numbers from.
TRIES, ROUNDS, FEW = 4, 16, 6
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
# Targets at a time, so that arrays stay in the processor's cache; sheets kept, and the digits that tell them.
BLOCK, KEPT, DIGITS = 250, 64, 13


@dataclass(frozen=True, eq=False)
class Tried:
    """What was tried for each row of points, one after the other."""

    rows: Rows  # (k,)
    guess: Floats  # (k,) of the bend
    start: Poses
    poses: Poses  # what these came to
    done: Flags  # (k,) which are of least bend, on their targets
    steps: NDArray[np.int32]  # (k,)


class Sheet:
    """A chain's poses of least bend within limits."""

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

    def tried(self, points: Floats) -> "Tried":
        """Return the poses that Newton's method leads to for points (2, m), from the likeliest ones."""
        parts = [self._tried(points, first) for first in range(0, points.shape[1], BLOCK)]
        return Tried(
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.guess for part in parts]),
            Poses.joined([part.start for part in parts]),
            Poses.joined([part.poses for part in parts]),
            np.concatenate([part.done for part in parts]),
            np.concatenate([part.steps for part in parts]),
        )

    def least(self, tried: "Tried", points: Floats, sides: Floats, asked: Floats, reached: Flags) -> Settled:
        """Return the poses of least bend for points (2, m) of what was tried.

        sides: (m,) breaks ties. asked: (m,) the side that a pose is taken on wherever it can; 0 for none.
        reached: (m,) which points are worth the longer way.
        """
        rows, poses, done = tried.rows, tried.poses, tried.done
        bends = np.where(done, self.springs.bend(poses.rows), np.inf)
        self._stray(tried, points, bends, reached)
        side = np.sign(poses.angles[1:].sum(axis=0))
        score = bends + TIE * (side * sides[rows] < 0.0)
        score += np.where(side * asked[rows] < 0.0, OTHER_SIDE, 0.0)
        order = np.lexsort((score, rows))
        best = order[np.flatnonzero(np.diff(rows[order], prepend=-1))]
        best = best[done[best]]
        result = Poses.none(len(self.springs.rest), points.shape[1])
        found, count = np.zeros(points.shape[1], np.bool_), np.zeros(points.shape[1], np.int32)
        result.put(rows[best], poses[best])
        found[rows[best]], count[rows[best]] = True, tried.steps[best]
        return Settled(result, found, count)

    def nearest(self, poses: Poses, points: Floats, failing: int = PATIENT) -> Settled:
        """Return the poses of least bend that lead down from other poses, their tips on points (2, m).

        failing: how often a step down may fail.
        """
        if poses.count > FEW:
            return descended(self.springs, poses, points, failing)
        return self._one_by_one(poses, points, failing)

    def _tried(self, points: Floats, first: int) -> "Tried":
        rows, poses, guess = self._candidates(points[:, first : first + BLOCK])
        order = np.lexsort((guess, rows))
        order = order[np.arange(order.size) - np.searchsorted(rows[order], rows[order]) < TRIES]
        rows, poses, guess = rows[order] + first, poses[order], guess[order]
        # The likeliest of each, and then those that may bend less than that.
        is_first = np.diff(rows, prepend=-1) > 0
        found = self._settled(poses[is_first], points[:, rows[is_first]])
        least = np.full(points.shape[1], np.inf)
        least[rows[is_first]] = np.where(found.done, self.springs.bend(found.poses.rows), np.inf)
        more = ~is_first & (PROMISING * guess < least[rows])
        others = self._settled(poses[more], points[:, rows[more]])
        both = np.concatenate((np.flatnonzero(is_first), np.flatnonzero(more)))
        return Tried(
            rows[both],
            guess[both],
            poses[both],
            Poses.joined((found.poses, others.poses)),
            np.concatenate((found.done, others.done)),
            np.concatenate((found.steps, others.steps)),
        )

    def _settled(self, poses: Poses, points: Floats) -> Settled:
        """Return the poses that Newton's method leads to."""
        if poses.count > FEW * TRIES:
            return settled(self.springs, poses, points, ROUNDS)
        return self._one_by_one(poses, points)

    def _one_by_one(self, poses: Poses, points: Floats, failing: int = 0) -> Settled:
        """Return the poses that others come to, in plain numbers; by steps down if they may fail so often."""
        m = poses.count
        result = Poses.none(len(self.springs.rest), m)
        done, steps = np.zeros(m, np.bool_), np.zeros(m, np.int32)
        forces = poses.force.T.tolist()
        columns = zip(
            poses.angles.T.tolist(), poses.slides.T.tolist(), forces, points.T.tolist(), strict=True
        )
        for k, (angles, slides, force, point) in enumerate(columns):
            pose = Pose(angles, slides, *force)
            if failing:
                pose, done[k], steps[k] = descended_one(self.springs, pose, point[0], point[1], failing)
            else:
                pose, done[k], steps[k] = settled_one(self.springs, pose, point[0], point[1], ROUNDS)
            result.angles[:, k], result.slides[:, k] = pose.angles, pose.slides
            result.force[:, k] = pose.force_x, pose.force_y
        return Settled(result, done, steps)

    def _stray(self, tried: "Tried", points: Floats, bends: Floats, reached: Flags) -> None:
        """Go down by small steps from the starts that Newton's method left, where that may bend less."""
        rows, done = tried.rows, tried.done
        turned = np.abs(tried.poses.angles - tried.start.angles)[1:].max(axis=0, initial=0.0)
        least = np.full(points.shape[1], np.inf)
        np.minimum.at(least, rows, bends)
        strayed = ~done | (turned > STRAYED * self.apart)
        worse = np.flatnonzero(strayed & reached[rows] & (GUESSED * tried.guess < least[rows]))
        if worse.size == 0:
            return
        found = self.nearest(tried.start[worse], points[:, rows[worse]], FAILURES)
        bent = self.springs.bend(found.poses.rows)
        tried.steps[worse] += found.steps
        less = found.done & (bent < bends[worse])
        tried.poses.put(worse[less], found.poses[less])
        bends[worse[less]], done[worse[less]] = bent[less], True

    def _candidates(self, points: Floats) -> tuple[Rows, Poses, Floats]:
        """Return rows (k,) of points, poses that may lead to the least for each, and their bends, about."""
        springs, parts = self.springs, []
        if self.line is not None:
            rows, poses, guess = self.line.near(points)
            middle = 0.5 * (springs.low[0] + springs.high[0]) if self.bounded else springs.rest[0]
            own = middle + np.remainder(poses.angles[0] - middle + np.pi, TURN) - np.pi
            within = np.clip(own, springs.low[0], springs.high[0]) if self.bounded else own
            off = np.abs(own - within)
            near = off < TURNED
            poses = poses.turned(within - poses.angles[0])
            guess = guess + 2.0 * off * (guess + self.line.slack)
            parts.append((rows[near], poses[near], guess[near]))
        for table, root, sign in self.ends:
            rows, poses, guess = table.near(rotated(points, -root) if root else points)
            if sign:
                goals = rotated(points[:, rows], -root)
                moment = sign * (goals[0] * poses.force[1] - goals[1] * poses.force[0])
                right = moment >= -NO_MOMENT - NEARLY_HOLDS * np.hypot(*poses.force)
                rows, poses, guess = rows[right], poses[right].turned(root), guess[right]
            parts.append((rows, poses, guess))
        rows, guess = (np.concatenate([part[i] for part in parts]) for i in (0, 2))
        return rows, Poses.joined([part[1] for part in parts]), guess


def sheet_of(numbers: Floats, free_root: bool, slide_weight: float) -> Sheet:
    """Return a chain's sheet, made once; a larger one of the same shape has the same.

    numbers: (7, n) as for `springs_of`.
    """
    return _kept(rounded(numbers).tobytes(), free_root, round(slide_weight, DIGITS))


def rounded(numbers: Floats) -> Floats:
    """Return the numbers (7, n) that a sheet of a chain is made of."""
    found: Floats = np.round(numbers, DIGITS) + 0.0
    return found


@lru_cache(maxsize=KEPT)
def _kept(numbers: bytes, free_root: bool, slide_weight: float) -> Sheet:
    return Sheet(springs_of(np.frombuffer(numbers).reshape(7, -1), free_root, slide_weight))
