# SPDX-License-Identifier: GPL-3.0-or-later
"""Many independent targets at once, for a chain without limits: the stages of `free`, on arrays."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import ARRAYS, carved, put_cos_and_sin, summed, summed_up
from ..inputs import Floats
from .correction import (
    LONGEST_FROM_AFAR,
    LONGEST_STEP,
    NEARER,
    SWING,
    TRIAL,
    angles_of,
    arms_of,
    corrected,
    least_turns_of,
    swings_of,
)
from .free import NEAR, SWEEPS, is_sudden, solve_free
from .shapes import Bracket, closed, off_the_line, two_bones
from .sweep import Bones, swept

Rows = NDArray[np.intp]
Flags = NDArray[np.bool_]

# Targets at a time, and angles: more would leave the processor's cache, or take long from one yield to the
# next; fewer would not pay for the calls.
BLOCK, BLOCK_ANGLES = 4096, 81920
# From this many targets on, arrays are faster than one float after the other.
BATCH = 16
# Up to this many angles are still faster one float after the other.
FEW_ANGLES = 50
# Chords for the search between two poses; a target that needs more is left to solve_free.
CHORDS = 16


@dataclass(frozen=True)
class Targets:
    """Rows of targets with their starts and bend sides; all lengths are fractions of the reach."""

    points: Floats  # (m, 2)
    starts: Floats  # (m, n)
    bend: Floats  # (m,)

    def __getitem__(self, rows: slice | Rows) -> "Targets":
        return Targets(self.points[rows], self.starts[rows], self.bend[rows])

    @classmethod
    def spread(cls, shape: tuple[int, ...], points: Floats, starts: Floats, bend: Floats) -> "Targets":
        """Return the rows of arrays that are broadcast over a shape."""
        width = starts.shape[-1]
        return cls(
            np.broadcast_to(points, (*shape, 2)).reshape(-1, 2),
            np.broadcast_to(starts, (*shape, width)).reshape(-1, width),
            np.broadcast_to(bend, shape).reshape(-1),
        )

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

    @classmethod
    def unmoved(cls, targets: Targets) -> "Poses":
        """Return the starts, from which nothing can bring a tip to its target."""
        m = len(targets.points)
        return cls(targets.starts, np.zeros(m, np.int32), np.ones(m, np.bool_))

    def fill(self, row: int, angles: list[float], iterations: int, is_out: bool) -> None:
        """Set the pose of one row."""
        self.angles[row], self.iterations[row], self.is_out[row] = angles, iterations, is_out


def free_batch_steps(
    bones: Bones, targets: Targets, tolerance: float, rounds: int
) -> Generator[int, None, Poses]:
    """Return the poses that solve_free finds for each target; yield the number of targets done.

    Rare cases (targets off the annulus, a search that takes long) are left to solve_free itself.
    """
    m = len(targets.points)
    poses = Poses.empty(targets)
    angles, iterations, _ = poses
    done = np.zeros(m, np.bool_)
    block = min(BLOCK, max(BATCH, BLOCK_ANGLES // len(bones.lengths)))
    room = np.empty(4 * (len(bones.lengths) + 1) * min(m, block))
    for first in range(0, m, block):
        rows = np.arange(first, min(first + block, m))
        rows = rows[are_inside(bones, targets[rows])]
        if rows.size == 0:
            continue
        bent, shaped, error = _shaped(bones, targets[rows], room)
        is_far = error > NEAR
        arrived, pose, corrections = yield from _corrected(
            bones, shaped, targets[rows].points.T, is_far, tolerance, rounds, room
        )
        sudden = ~is_far & is_sudden(np.abs(pose - bent).max(axis=0, initial=0.0), error)
        rest = np.flatnonzero(~arrived)
        pose[:, rest], arrived[rest] = _between(bones, shaped[:, rest], targets[rows[rest]], tolerance, room)
        angles[rows], iterations[rows], done[rows] = pose.T, SWEEPS * is_far + corrections, arrived & ~sudden
        yield int(done.sum())
    for row in np.flatnonzero(~done).tolist():
        angles[row], iterations[row] = solve_free(bones, *targets.row(row), tolerance, rounds)
        yield row + 1
    return poses


def are_inside(bones: Bones, targets: Targets) -> Flags:
    """Return which targets lie inside the annulus."""
    distance = np.hypot(targets.points[:, 0], targets.points[:, 1])
    return (distance < 1.0) & (distance > bones.inner)


def _shaped(bones: Bones, targets: Targets, room: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the starts off their line, the same shaped, (n, m) each, and the former's errors (m,)."""
    starts, points = targets.starts.T.copy(), targets.points.T.copy()
    x, y = points
    if len(bones.lengths) == 2:
        exact = np.array(two_bones(bones.lengths, list(starts), x, y, targets.bend, ARRAYS))
        return exact, exact, np.zeros(len(targets.bend))
    bent = np.array(off_the_line(bones, list(starts), x, y, targets.bend, ARRAYS))
    errors = points - arms_of(np.array(bones.lengths), summed_up(bent.copy()), room)[:, 0]
    error = np.sqrt((errors * errors).sum(axis=0))
    shaped, far = bent.copy(), np.flatnonzero(error > NEAR)
    pose, points = bent.take(far, axis=1), points.take(far, axis=1)
    for _ in range(SWEEPS):
        pose = swept(bones.sharing, pose, points, room)
    start = starts.take(far, axis=1)
    shaped[:, far] = start + ARRAYS.remainder(pose - start, 2.0 * np.pi)
    return bent, shaped, error


def _corrected(
    bones: Bones, shaped: Floats, points: Floats, is_far: Flags, tolerance: float, rounds: int, room: Floats
) -> Generator[int, None, tuple[Flags, Floats, NDArray[np.int32]]]:
    """Correct poses (n, m) towards points (2, m); return which arrived, the poses, and the corrections.

    is_far: (m,) which stop where corrections do not help. Yields 0 from one correction to the next.
    """
    n, m = shaped.shape
    lengths = np.array(bones.lengths)
    weights = None if min(bones.weights) == 1.0 else np.array(bones.weights)
    arrived, corrections = np.zeros(m, np.bool_), np.zeros(m, np.int32)
    active, aims, headings, spare = np.arange(m), points, summed_up(shaped.copy()), np.empty(n * m)
    found = headings.copy()
    longest, swing = np.where(is_far, LONGEST_FROM_AFAR, LONGEST_STEP), np.where(is_far, SWING, np.inf)
    before = np.full(m, np.inf)
    for done in range(rounds + 1):
        arms = arms_of(lengths, headings, room)
        errors = aims - arms[:, 0]
        distances = np.sqrt(np.add.reduce(errors * errors, axis=0))
        going = away = distances > tolerance
        if done % TRIAL == 0:
            going = away & (distances <= before)
            before = np.where(is_far[active], NEARER * distances, np.inf)
        left = np.flatnonzero(going) if done < rounds else np.empty(0, np.intp)
        if left.size < active.size:
            corrections[active] = done
            there = np.flatnonzero(~away)
            arrived[active[there]], found[:, active[there]] = True, headings.take(there, axis=1)
        if n * left.size <= (FEW_ANGLES if done % TRIAL == 0 else 0):
            for i, row in zip(left.tolist(), active[left].tolist(), strict=True):
                start, (x, y), more = angles_of(headings[:, i]).tolist(), aims[:, i].tolist(), rounds - done
                pose, rest, more = corrected(
                    bones.lengths, bones.weights[::-1], start, (x, y), tolerance, more, bool(is_far[row])
                )
                arrived[row], corrections[row] = rest <= tolerance, done + more
                found[:, row] = np.cumsum(pose)
                yield 0
            break
        turns = least_turns_of(arms, weights, errors, distances, longest[active], room[arms.size :])
        headings += swings_of(turns, swing[active], room)
        if left.size < active.size:
            active, aims, before = active[left], aims[:, left], before[left]
            (kept,) = carved(spare, (n, left.size))
            headings, spare = np.take(headings, left, axis=1, out=kept, mode="clip"), headings.reshape(-1)
        yield 0
    return arrived, np.where(corrections > 0, angles_of(found), shaped), corrections


def _between(
    bones: Bones, pose: Floats, targets: Targets, tolerance: float, room: Floats
) -> tuple[Floats, Flags]:
    """Return poses (n, m) between the given ones and the straight or closed chain, and which arrived."""
    if len(targets.points) == 0:
        return pose, np.zeros(0, np.bool_)
    (x, y), distance = targets.points.T, np.hypot(*targets.points.T)
    lengths = np.array(bones.lengths)
    tips_x, tips_y = _tips(lengths, summed_up(pose.copy()), room)
    shut = np.array(closed(bones.lengths, 1.0))[:, np.newaxis] * targets.bend
    straight_or_shut = np.where(np.hypot(tips_x, tips_y) < distance, 0.0, shut)
    turns = ARRAYS.remainder(straight_or_shut - pose, 2.0 * np.pi)
    turns[0] = 0.0
    part = _parts(lengths, summed_up(pose.copy()), summed_up(turns.copy()), distance, tolerance, room)
    found = pose + part * turns
    tips_x, tips_y = _tips(lengths, summed_up(found.copy()), room)
    turn = ARRAYS.remainder(np.arctan2(y, x) - np.arctan2(tips_y, tips_x), 2.0 * np.pi)
    found[0] += np.where(distance == 0.0, 0.0, turn)
    return found, np.abs(np.hypot(tips_x, tips_y) - distance) <= tolerance


def _parts(
    lengths: Floats, headings: Floats, turns: Floats, distance: Floats, tolerance: float, room: Floats
) -> Floats:
    """Return the parts (m,) of turns (n, m) after which headings (n, m) have their tips at distances (m,)."""
    m = len(distance)

    def off(part: Floats) -> Floats:
        (turned,) = carved(room[2 * headings.size :], headings.shape)
        x, y = _tips(lengths, np.add(headings, np.multiply(part, turns, out=turned), out=turned), room)
        return np.sqrt(x * x + y * y) - distance

    found, rows = np.empty(m), np.arange(m)
    bracket = Bracket(np.zeros(m), np.ones(m), off(np.zeros(m)), off(np.ones(m)), np.zeros(m))
    for _ in range(CHORDS):
        found[rows] = middle = bracket.chord(ARRAYS)
        value = off(middle)
        left = np.flatnonzero(np.abs(value) > tolerance)
        if left.size == 0:
            break
        bracket = Bracket(*(numbers[left] for numbers in bracket.cut(middle, value, ARRAYS)))
        rows, distance = rows[left], distance[left]
        headings, turns = headings.take(left, axis=1), turns.take(left, axis=1)
    return found


def _tips(lengths: Floats, headings: Floats, room: Floats) -> tuple[Floats, Floats]:
    """Return the tips' x and y (m,) of bones with headings (n, m), which are overwritten."""
    xs, ys = carved(room, headings.shape, headings.shape)
    put_cos_and_sin(headings, xs, ys)
    xs *= lengths[:, np.newaxis]
    ys *= lengths[:, np.newaxis]
    return summed(xs), summed(ys)
