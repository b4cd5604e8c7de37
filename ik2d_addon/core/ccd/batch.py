# SPDX-License-Identifier: GPL-3.0-or-later
"""Many independent targets at once, for a chain without limits: the stages of `free`, on arrays."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import ARRAYS
from ..inputs import Floats
from .correction import TRIAL, corrected
from .corrections import arms_of, least_turns_of
from .free import NEAR, SWEEPS, error_of, is_sudden, solve_free, swept_if_far
from .shapes import aimed, crossing, off_the_line, turns_between, two_bones
from .sweep import Bones

Rows = NDArray[np.intp]
Flags = NDArray[np.bool_]

# So many targets at a time, and so many angles: more would leave the processor's cache, or take long from
# one yield to the next; fewer would not pay for the calls.
BLOCK, BLOCK_ANGLES = 4096, 81920
# From so many targets on, arrays are faster than one float after the other.
BATCH = 16
# So few angles are faster one float after the other even so.
FEW_ANGLES = 50
# Chords for the search between two poses; a target that needs more is left to solve_free.
CHORDS = 16


@dataclass(frozen=True)
class Targets:
    """Rows of targets with what else belongs to each; all lengths are fractions of the reach."""

    points: Floats  # (m, 2)
    starts: Floats  # (m, n)
    bend: Floats  # (m,)

    def __getitem__(self, rows: slice | Rows) -> "Targets":
        return Targets(self.points[rows], self.starts[rows], self.bend[rows])

    def row(self, row: int) -> tuple[list[float], float, float, float]:
        """Return the start, x, y and the bend of one target."""
        x, y = self.points[row].tolist()
        return self.starts[row].tolist(), x, y, float(self.bend[row])


class Poses(NamedTuple):
    """Poses for m rows of targets."""

    angles: Floats  # (m, n)
    iterations: NDArray[np.int32]  # (m,)
    is_out: Flags  # (m,) whether it is proven that limits or rigid joints keep the tip away

    @classmethod
    def empty(cls, targets: Targets) -> "Poses":
        """Return arrays to be filled for all targets."""
        m = len(targets.points)
        return cls(np.empty_like(targets.starts), np.zeros(m, np.int32), np.zeros(m, np.bool_))

    def fill(self, row: int, angles: list[float], iterations: int, is_out: bool) -> None:
        """Set the pose of one row."""
        self.angles[row], self.iterations[row], self.is_out[row] = angles, iterations, is_out


def free_batch_steps(
    bones: Bones, targets: Targets, tolerance: float, rounds: int
) -> Generator[int, None, Poses]:
    """Return the poses that solve_free finds for each target.

    Yields the number of targets done. Whatever is rare (targets off the annulus, a search that takes
    long) is left to solve_free itself.
    """
    m = len(targets.points)
    poses = Poses.empty(targets)
    angles, iterations, _ = poses
    done = np.zeros(m, np.bool_)
    block = min(BLOCK, max(BATCH, BLOCK_ANGLES // len(bones.lengths)))
    for first in range(0, m, block):
        rows = np.arange(first, min(first + block, m))
        rows = rows[are_inside(bones, targets[rows])]
        if rows.size == 0:
            continue
        bent, shaped, error = _shaped(bones, targets[rows])
        is_far = error > NEAR
        swept = np.where(is_far, SWEEPS, 0)
        arrived, pose, corrections = yield from _corrected(
            bones, shaped, targets[rows].points.T, is_far, tolerance, rounds
        )
        sudden = ~is_far & is_sudden(np.abs(pose - bent).max(axis=0, initial=0.0), error)
        rest = np.flatnonzero(~arrived)
        pose[:, rest], arrived[rest] = _between(bones, shaped[:, rest], targets[rows[rest]], tolerance)
        angles[rows], iterations[rows], done[rows] = pose.T, swept + corrections, arrived & ~sudden
        yield int(done.sum())
    for row in np.flatnonzero(~done).tolist():
        angles[row], iterations[row] = solve_free(bones, *targets.row(row), tolerance, rounds)
        yield row + 1
    return poses


def are_inside(bones: Bones, targets: Targets) -> Flags:
    """Return which targets lie inside the annulus."""
    distance = np.hypot(targets.points[:, 0], targets.points[:, 1])
    inside: Flags = (distance < 1.0) & (distance > bones.inner)
    return inside


def _shaped(bones: Bones, targets: Targets) -> tuple[Floats, Floats, Floats]:
    """Return the starts off their line, and shaped, (n, m) each; and how far the former's tips were."""
    starts, (x, y) = list(targets.starts.T), targets.points.T
    if len(bones.lengths) == 2:
        exact = np.array(two_bones(bones.lengths, starts, x, y, targets.bend, ARRAYS))
        return exact, exact, np.zeros(len(x))
    bent = off_the_line(bones, starts, x, y, targets.bend, ARRAYS)
    error = error_of(bones.lengths, bent, x, y, ARRAYS)
    shaped = swept_if_far(bones, bent, error, starts, x, y, ARRAYS)
    return np.array(bent), np.array(shaped), error


def _corrected(
    bones: Bones, shaped: Floats, points: Floats, is_far: Flags, tolerance: float, rounds: int
) -> Generator[int, None, tuple[Flags, Floats, NDArray[np.int32]]]:
    """Correct poses (n, m) towards points (2, m); return who arrived, their poses, and the corrections.

    is_far: (m,) who stop where corrections lead nowhere. Yields 0 from one correction to the next.
    """
    n, m = shaped.shape
    lengths, weights = np.array(bones.lengths), np.array(bones.weights)
    arrived, pose, corrections = np.zeros(m, np.bool_), np.empty_like(shaped), np.zeros(m, np.int32)
    active, moving, (x, y), before = np.arange(m), shaped.copy(), points, np.full(m, np.inf)
    for done in range(rounds + 1):
        arms = arms_of(lengths, moving)
        error_x, error_y = x - arms[0][0], y - arms[1][0]
        error = error_x * error_x + error_y * error_y
        going = away = error > tolerance * tolerance
        if done % TRIAL == 0:
            going, before = away & (error <= before), np.where(is_far[active], error, np.inf)
        if done == rounds:
            going = np.zeros_like(going)
        left = np.flatnonzero(going)
        if left.size < active.size:
            there = active[~away]
            arrived[there], pose[:, there] = True, moving[:, ~away]
            corrections[active[~going]] = done
        if n * left.size <= (FEW_ANGLES if done % TRIAL == 0 else 0):
            for i, row in zip(left.tolist(), active[left].tolist(), strict=True):
                start, aim, more = moving[:, i].tolist(), (float(x[i]), float(y[i])), rounds - done
                pose[:, row], rest, more = corrected(
                    bones.lengths, bones.weights[::-1], start, aim, tolerance, more, bool(is_far[row])
                )
                arrived[row], corrections[row] = rest <= tolerance, done + more
                yield 0
            break
        moving += least_turns_of(arms, weights, error_x, error_y)
        if left.size < active.size:
            active, x, y, before = active[left], x[left], y[left], before[left]
            moving = moving.take(left, axis=1)
        yield 0
    return arrived, pose, corrections


def _between(bones: Bones, pose: Floats, targets: Targets, tolerance: float) -> tuple[Floats, Flags]:
    """Return poses (n, m) between the given ones and the straight or closed chain, and who arrived."""
    if len(targets.points) == 0:
        return pose, np.zeros(0, np.bool_)
    x, y = targets.points.T
    lengths, distance = np.array(bones.lengths), np.hypot(x, y)
    turns = np.array(turns_between(bones.lengths, list(pose), distance, targets.bend, ARRAYS))

    def off(part: Floats) -> Floats:
        xs, ys = arms_of(lengths, pose + part * turns)
        rest: Floats = np.sqrt(xs[0] * xs[0] + ys[0] * ys[0]) - distance
        return rest

    found = pose + crossing(off, tolerance, ARRAYS, CHORDS) * turns
    found = np.array(aimed(bones.lengths, list(found), x, y, ARRAYS))
    xs, ys = arms_of(lengths, found)
    return found, (x - xs[0]) ** 2 + (y - ys[0]) ** 2 <= tolerance * tolerance
