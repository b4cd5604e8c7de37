# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets that follow one another, of least bend within limits: each goes on from the one before.

The least pose itself jumps where two poses bend alike: a tail curls to the one side or to the other. A path
takes the least pose wherever it follows from the one before without a jump. Elsewhere the tip is put on its
target by the least turns, and the pose goes down from there: all the way where that is near, else as far as
no joint turns too far, second springs holding it back (descent.py). So it passes from one bend to the other
on several frames, and is back on the least poses wherever it meets them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import hypot, pi, remainder
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..chain import (
    Chain,
    at_limits,
    checked_angles,
    checked_slides,
    checked_targets,
    tips_at,
)
from ..errors import IK2DError
from ..even.solve import Even, solve_even
from ..inputs import Floats, checked_bend, wrapped
from ..softness import checked_softness, soft_targets
from ..solution import Solution, Steps, distances_to, drained
from ..within_limits.descent import RESTORING, ROUNDS, STIFF, descended_one, rotated, settled_one
from ..within_limits.springs import SpringPose, Springs
from .solve import refuse_no_path

# A joint may turn by so many radians from one target to the next, and by so many more for each reach between
# these: further is a jump.
JUMP, FOLLOWED = 0.2, 2.0
# A slide of one reach counts as a turn of so many radians.
SLID = 4.0
# A pose that has left the least ones goes back to them by so many radians for each reach that the target
# moves, and by no more than a jump: nothing moves while the target rests.
DRAWN = 10.0
# The least turns that put a tip on its target may be so much further than a jump.
FURTHER = 0.15
# Between two targets the least pose is looked at in so many steps: it jumps where one of them has more than
# this part of the turn; else it only turns fast, as where a target passes close by the root.
LOOKS, MOST = 16, 0.5
# How stiff the springs are that hold a pose back, the stiffest first.
HELD_BACK = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1)
# Poses that differ by no more (radians) are the same.
SAME = 1e-6

# A pose (2 n) and its tip.
_Place = tuple[list[float], list[float]]


def solve_even_path(
    chain: Chain,
    targets: ArrayLike,
    *,
    start: ArrayLike | None = None,
    start_slides: ArrayLike | None = None,
    bend: ArrayLike = 1,
    rest: ArrayLike | None = None,
    root_weight: float | None = None,
    tolerance: float | None = None,
    softness: ArrayLike = 0.0,
    slide_weight: float = 1.0,
) -> Solution:
    """Solve targets that follow one another as solve_even does, but without its jumps within limits.

    Where the pose of least bend goes over to another one from a target to the next, the path goes on from the
    pose before, its tip on the target, and comes to the other pose in several steps; `parted` says where. A
    chain without limits, and one of two bones, has solve_even's poses.
    targets: (frames, 2) relative to the root. start: (n,) angles of the pose before the first target, or
    (frames, n): each then goes on from its own; None: the first has the pose of least bend. start_slides: of
    the start's shape, None for none. bend, softness: one for all, or (frames,). rest, root_weight, tolerance,
    slide_weight, and errors, as in solve_even.

    >>> chain = Chain([1.0, 1.0, 1.0], limits=np.radians([[-180, 180], [-90, 90], [-90, 90]]))
    >>> solve_even_path(chain, [[2.0, 0.0], [2.0, 0.1]]).parted
    array([False, False])
    """
    asked: dict[str, Any] = {
        "bend": bend,
        "rest": rest,
        "root_weight": root_weight,
        "tolerance": tolerance,
        "softness": softness,
        "slide_weight": slide_weight,
    }
    least = solve_even(chain, targets, **asked)
    return drained(even_path_steps(chain, targets, least, start=start, start_slides=start_slides, **asked))


def even_path_steps(
    chain: Chain,
    targets: ArrayLike,
    least: Solution,
    *,
    start: ArrayLike | None = None,
    start_slides: ArrayLike | None = None,
    bend: ArrayLike = 1,
    rest: ArrayLike | None = None,
    root_weight: float | None = None,
    tolerance: float | None = None,
    softness: ArrayLike = 0.0,
    slide_weight: float = 1.0,
) -> Steps[Solution]:
    """Return the solution of solve_even_path; yield the number of targets done now and then.

    least: that of solve_even, with the same arguments.

    >>> chain, path = Chain([1.0, 1.0, 1.0]), [[2.0, 0.0], [2.0, 0.1]]
    >>> list(even_path_steps(chain, path, solve_even(chain, path)))
    []
    """
    even = Even.checked(chain, rest, root_weight, slide_weight, chain.tolerance_or_default(tolerance))
    points, sides, soft = checked_targets(targets), checked_bend(bend), checked_softness(softness)
    refuse_no_path(points, sides, soft)
    m = len(points)
    starts = _starts(chain, start, start_slides, m)
    parted = np.zeros(m, np.bool_)
    if m == 0 or not even.is_on_sheet:
        return replace(least, parted=parted)
    path, soft, sides = _Path.of(even), np.broadcast_to(soft, m), np.broadcast_to(sides, m)
    goals = soft_targets(chain, points, soft) if soft.any() else points
    reached = distances_to(chain, least.angles, goals, least.slides) <= even.tolerance
    turns_over = np.diff(sides, prepend=sides[:1]) != 0.0
    each_its_own = starts is not None and starts[0].ndim == 2
    begins: Iterator[_Place] = iter(())
    if starts is not None:
        poses = path.poses(*map(np.atleast_2d, starts))
        begins = zip(poses, path.places(np.atleast_2d(tips_at(chain, *starts))), strict=True)
    before, settled, changed = None, True, {}
    rows = zip(path.poses(least.angles, least.slides), path.places(goals), strict=True)
    for row, (pose, goal) in enumerate(rows):
        if each_its_own or row == 0:
            before, settled = next(begins, None), not each_its_own
        if before is not None and reached[row] and (each_its_own or not turns_over[row]):
            followed = path.followed(*before, pose, goal, settled)
            was_least = row > 0 and not each_its_own and row - 1 not in changed
            if followed is not None and was_least and not _jumps(even, goals[row - 1 : row + 1], sides[row]):
                followed = None
            if followed is not None:
                changed[row] = pose = followed[0]
                yield row + 1
            settled = followed is None or followed[1]
        else:
            settled = True
        before = pose, goal
    if not changed:
        return replace(least, parted=parted)
    angles, slides = least.angles.copy(), least.slides.copy()
    own_rows = list(changed)
    angles[own_rows], slides[own_rows] = path.bones(list(changed.values()))
    parted = np.abs(np.sin(0.5 * (angles - least.angles))).max(axis=1) > 0.5 * SAME
    residual = distances_to(chain, angles, points, slides)
    limited = at_limits(chain, angles)
    return replace(least, angles=angles, slides=slides, residual=residual, limited=limited, parted=parted)


def _starts(
    chain: Chain, start: ArrayLike | None, slides: ArrayLike | None, m: int
) -> tuple[Floats, Floats] | None:
    """Return the angles and slides, (n,) or (m, n) each, of the poses before m targets; None without."""
    if start is None:
        return None
    angles = checked_angles(chain, start, "start")
    slid = checked_slides(chain, np.zeros(len(chain)) if slides is None else slides, "start_slides")
    if angles.shape[:-1] not in ((), (m,)) or slid.shape[:-1] not in ((), angles.shape[:-1]):
        raise IK2DError(f"a path takes one start, or {m}, one a frame, and as many start_slides, or one")
    return angles, np.broadcast_to(slid, angles.shape)


@dataclass(frozen=True, eq=False)
class _Path:
    """A chain's springs, and poses as these have them: (2 n) angles, then slides in reaches."""

    even: Even
    springs: Springs
    turn: float  # of the springs' base

    @classmethod
    def of(cls, even: Even) -> "_Path":
        springs, turn = even.springs()
        return cls(even, springs, turn)

    def poses(self, angles: Floats, slides: Floats) -> list[list[float]]:
        """Return the poses of angles and slides (m, n) each."""
        poses = np.concatenate((angles, (slides - self.even.held) / self.even.chain.reach[1]), axis=1)
        poses[:, 0] -= self.turn
        rows: list[list[float]] = poses.tolist()
        return rows

    def bones(self, poses: list[list[float]]) -> tuple[Floats, Floats]:
        """Return the angles and slides (m, n) of poses."""
        angles, slides = np.split(np.array(poses), 2, axis=1)
        angles[:, 0] += self.turn
        return angles, slides * self.even.chain.reach[1] + self.even.held

    def places(self, points: Floats) -> list[list[float]]:
        """Return points (m, 2) as the springs have them."""
        rows: list[list[float]] = rotated(points.T / self.even.chain.reach[1], -self.turn).T.tolist()
        return rows

    def followed(
        self, before: list[float], tip: list[float], least: list[float], goal: list[float], settled: bool
    ) -> tuple[list[float], bool] | None:
        """Return the pose that follows the one before, its tip on a goal, and whether it has settled.

        None for the least pose. tip, settled: of the pose before.
        """
        (x, y), n = goal, len(self.springs.rest)
        way = hypot(x - tip[0], y - tip[1])
        jump, drawn = JUMP + FOLLOWED * way, min(DRAWN * way, JUMP) + FOLLOWED * way
        most = jump if settled else drawn
        if _apart(least, before) <= most:
            return None
        last = SpringPose(before[:n], before[n:], 0.0, 0.0)
        pose, done = settled_one(self.springs, last, x, y, RESTORING, STIFF, last)
        restored = [*pose.angles, *pose.slides]
        if not done or _apart(restored, before) > jump + FURTHER:
            return None
        pose, done = descended_one(self.springs, last, x, y)
        numbers = [*pose.angles, *pose.slides]
        if done and _apart(numbers, before) <= most:
            return numbers, True
        numbers, unforced = restored, SpringPose(restored[:n], restored[n:], 0.0, 0.0)
        for stiff in HELD_BACK:
            pose, done = settled_one(self.springs, unforced, x, y, ROUNDS, stiff, unforced)
            nearer = [*pose.angles, *pose.slides]
            if not done or _apart(nearer, before) > drawn:
                break
            numbers = nearer
        return numbers, False


def _jumps(even: Even, goals: Floats, side: float) -> bool:
    """Return whether the pose of least bend jumps somewhere between two goals (2, 2)."""
    first, last = goals
    points = first + np.linspace(0.0, 1.0, LOOKS + 1)[:, np.newaxis] * (last - first)
    angles, slides, *_ = even.poses(points, np.full(len(points), side))
    slid = SLID / even.chain.reach[1] * slides

    def turn(first: int | slice, last: int | slice) -> float:
        turns = np.abs(wrapped(angles[last] - angles[first])).max()
        return float(max(turns, np.abs(slid[last] - slid[first]).max()))

    return turn(slice(None, -1), slice(1, None)) > MOST * turn(0, -1)


def _apart(pose: list[float], other: list[float]) -> float:
    """Return the largest turn between two poses (2 n), slides counted as turns."""
    n = len(pose) // 2
    turns = (abs(remainder(a - b, 2.0 * pi)) for a, b in zip(pose[:n], other[:n], strict=True))
    return max(*turns, *(SLID * abs(a - b) for a, b in zip(pose[n:], other[n:], strict=True)))
