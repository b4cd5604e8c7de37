# SPDX-License-Identifier: GPL-3.0-or-later
"""Many independent targets at once, for a chain without limits: the stages of `free`, on arrays."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .arithmetic import ARRAYS
from .ccd import Bones, sweep
from .correction import arms_to_tip, least_turns
from .free import NEAR, SWEEPS, is_sudden, solve_free
from .inputs import Floats
from .shapes import ON_A_LINE, arc, between, two_bones

# So many targets at a time: more would leave the processor's cache, fewer would not pay for the calls.
BLOCK = 4096
# Chords for the search between two poses; a target that needs more is left to solve_free.
CHORDS = 16


@dataclass(frozen=True)
class Targets:
    """Rows of targets with what else belongs to each; all lengths are fractions of the reach."""

    points: Floats  # (m, 2)
    starts: Floats  # (m, n)
    bend: Floats  # (m,)

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> "Targets":
        return Targets(self.points[rows], self.starts[rows], self.bend[rows])


def solve_free_batch(
    bones: Bones, targets: Targets, tolerance: float, rounds: int
) -> tuple[Floats, NDArray[np.int32]]:
    """Return the angles (m, n), and the sweeps and corrections (m,), as solve_free does for each target.

    Whatever is rare (targets off the annulus, folded starts, a search that takes long) is left
    to solve_free itself.
    """
    m = len(targets.points)
    angles, iterations = np.empty_like(targets.starts), np.zeros(m, np.int32)
    done = np.zeros(m, np.bool_)
    for first in range(0, m, BLOCK):
        rows = np.arange(first, min(first + BLOCK, m))
        rows = rows[_is_common(bones, targets[rows])]
        bent, error, swept = _shaped(bones, targets[rows])
        arrived, pose, corrections = _corrected(bones, bent, targets[rows].points.T, tolerance, rounds)
        sudden = (swept == 0) & is_sudden(np.abs(pose - bent).max(axis=0, initial=0.0), error)
        rest = np.flatnonzero(~arrived)
        pose[:, rest], arrived[rest] = _between(bones, pose[:, rest], targets[rows[rest]], tolerance)
        angles[rows], iterations[rows], done[rows] = pose.T, swept + corrections, arrived & ~sudden
    for row in np.flatnonzero(~done):
        start, (x, y) = targets.starts[row].tolist(), targets.points[row].tolist()
        bend = float(targets.bend[row])
        angles[row], iterations[row] = solve_free(bones, start, x, y, bend, tolerance, rounds)
    return angles, iterations


def _is_straight(starts: Floats) -> NDArray[np.bool_]:
    ahead: NDArray[np.bool_] = (np.abs(np.sin(starts[:, 1:])) <= ON_A_LINE) & (np.cos(starts[:, 1:]) > 0.0)
    straight: NDArray[np.bool_] = ahead.all(axis=1)
    return straight


def _is_common(bones: Bones, targets: Targets) -> NDArray[np.bool_]:
    """Return which targets lie inside the annulus and start from a pose that is not folded."""
    distance = np.hypot(targets.points[:, 0], targets.points[:, 1])
    inside = (distance < 1.0) & (distance > 2.0 * max(bones.lengths) - 1.0)
    bent = (np.abs(np.sin(targets.starts[:, 1:])) > ON_A_LINE).any(axis=1)
    common: NDArray[np.bool_] = inside & (bent | _is_straight(targets.starts))
    return common


def _shaped(bones: Bones, targets: Targets) -> tuple[Floats, Floats, NDArray[np.int32]]:
    """Return poses (n, m) near the targets, their starts' errors, and the sweeps (m,) that were needed.

    Straight starts become arcs, and where the tip is still far, sweeps follow.
    """
    starts, (x, y) = targets.starts.T, targets.points.T
    if len(bones.lengths) == 2:
        exact = two_bones(bones.lengths, list(starts), x, y, targets.bend, ARRAYS)
        return np.array(exact), np.zeros(len(x)), np.zeros(len(x), np.int32)
    pose = starts.copy()
    straight = np.flatnonzero(_is_straight(targets.starts))
    bent = arc(bones.lengths, bones.weights, x[straight], y[straight], targets.bend[straight], ARRAYS)
    pose[:, straight] = bent
    xs, ys = arms_to_tip(bones.lengths, list(pose), ARRAYS)
    error = np.sqrt((x - xs[-1]) ** 2 + (y - ys[-1]) ** 2)
    far = np.flatnonzero(error > NEAR)
    swept = list(pose[:, far])
    for _ in range(SWEEPS):
        swept = sweep(bones, swept, x[far], y[far], ARRAYS)
    pose[:, far] = swept
    pose = starts + ARRAYS.remainder(pose - starts, 2.0 * np.pi)
    iterations = np.zeros(len(x), np.int32)
    iterations[far] = SWEEPS
    return pose, error, iterations


def _corrected(
    bones: Bones, pose: Floats, points: Floats, tolerance: float, rounds: int
) -> tuple[NDArray[np.bool_], Floats, NDArray[np.int32]]:
    """Correct poses (n, m) towards points (2, m); return who arrived, the poses, and the corrections."""
    weights = bones.weights[::-1]
    arrived, corrections = np.zeros(pose.shape[1], np.bool_), np.zeros(pose.shape[1], np.int32)
    active, moving, (x, y) = np.arange(pose.shape[1]), pose.copy(), points
    for done in range(rounds + 1):
        arms = arms_to_tip(bones.lengths, list(moving), ARRAYS)
        error_x, error_y = x - arms[0][-1], y - arms[1][-1]
        going = error_x * error_x + error_y * error_y > tolerance * tolerance
        there = active[~going]
        arrived[there], pose[:, there], corrections[there] = True, moving[:, ~going], done
        active, moving, x, y = active[going], moving[:, going], x[going], y[going]
        if done == rounds or active.size == 0:
            break
        arms = [arm[going] for arm in arms[0]], [arm[going] for arm in arms[1]]
        moving += least_turns(arms, weights, error_x[going], error_y[going], ARRAYS)
    return arrived, pose, corrections


def _between(
    bones: Bones, pose: Floats, targets: Targets, tolerance: float
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return poses (n, m) between the given ones and the straight or closed chain, and who arrived."""
    x, y = targets.points.T
    found = between(bones.lengths, list(pose), x, y, targets.bend, tolerance, ARRAYS, CHORDS)
    xs, ys = arms_to_tip(bones.lengths, found, ARRAYS)
    return np.array(found), (x - xs[-1]) ** 2 + (y - ys[-1]) ** 2 <= tolerance * tolerance
