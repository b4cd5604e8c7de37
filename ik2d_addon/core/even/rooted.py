# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose of least bend where the root's turn counts like the others': found from that of a free root.

Each step is, of all turns q that bring the tip nearer by its error e, for arms that stay as they are, a part
of the one that leads to the least bend, and all of the one that corrects the error:

    q = t (z - W J^T M^-1 J z) + W J^T M^-1 e,   z = rest - angles,   M = J W J^T

J: (2, n) how the tip moves with each joint. t is that of Barzilai and Borwein (1988), from the last two
steps: so that a chain that force has made soft to bending takes no more steps than a stiff one.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..inputs import Floats
from .family import summed_across

# Steps to less bend, and then those that only correct the error.
ROUNDS, MENDING = 150, 20
# A turn (radians) and an error (reach is 1) that end the search.
SETTLED, MENDED = 1e-6, 1e-13
# The least and the greatest part of a step, the greatest being halved where a step bent the chain more; and
# the longest turn of a joint in one (radians).
LEAST, GREATEST, LONGEST_TURN = 0.02, 20.0, 0.3
# Below every number that counts: not zero, to divide by.
NOTHING = 1e-300
# Keeps M invertible where all bones lie on one line.
DAMPING = 1e-14

# Poses (m, k), the steps to each (m,), and which of them have settled (m,).
Settled = tuple[Floats, NDArray[np.int32], NDArray[np.bool_]]


def settled(lengths: Floats, weights: Floats, rest: Floats, start: Floats, points: Floats) -> Settled:
    """Return the poses (m, n) that starts (m, n) settle in, the steps (m,), and which have settled.

    lengths, weights, rest: (n,), the root's among them, the greatest weight 1; points: (m, 2). The starts'
    tips are on the points. A pose that has not settled is the last one, its tip put back onto its point;
    or the start, where that fails or bends less.
    """

    def turned(pose: Floats, turns: Floats) -> tuple[Floats, Floats]:
        turns = cut(turns)
        return pose + turns, turns

    turns_of, bend_of = partial(_turns, lengths, weights, rest), partial(_bend, weights, rest)
    angles, steps, done, _ = descended(start, points, turns_of, bend_of, turned)
    rows = np.flatnonzero(~done)
    if rows.size:
        angles[rows] = _mended(lengths, weights, rest, angles[rows], start[rows], points[rows])
    return angles, steps, done


def descended(
    start: Floats,
    points: Floats,
    changes_of: Callable[[Floats, Floats], tuple[Floats, Floats, Floats]],
    bend_of: Callable[[Floats], Floats],
    changed: Callable[[Floats, Floats], tuple[Floats, Floats]],
) -> tuple[Floats, NDArray[np.int32], NDArray[np.bool_], Floats]:
    """Take steps to less bend from starts (m, k), their tips on points (m, 2), until these settle.

    changes_of: poses and points -> the changes (m, k) to less bend, those that correct the tip's error, and
    the error (m,). bend_of: poses -> their bend (m,). changed: poses and the changes wished for -> the poses
    after them, and the changes made. Returns the poses before the last step, the steps to each (m,), which
    have settled (m,), and the others after the last step.
    """
    poses, steps, done = start.copy(), np.zeros(len(start), np.int32), np.zeros(len(start), np.bool_)
    rows, pose, target = np.arange(len(start)), start.copy(), points
    part, most = np.ones(len(start)), np.full(len(start), GREATEST)
    bent = np.full(len(start), np.inf)
    change = before = np.zeros_like(start)
    for step in range(ROUNDS):
        slack, mend, error = changes_of(pose, target)
        if step:
            along = summed_across(change * (before - slack))
            now = bend_of(pose)
            most = np.where(now > bent, np.maximum(0.5 * most, LEAST), np.minimum(1.1 * most, GREATEST))
            part = summed_across(change * change) / np.where(along > 0.0, along, NOTHING)
            bent, part = now, np.clip(part, LEAST, most)
        ends = (np.abs(slack).max(axis=1) < SETTLED) & (error < MENDED)
        poses[rows], steps[rows] = pose, step
        done[rows[ends]] = True
        going = ~ends
        rows, pose, target, part = rows[going], pose[going], target[going], part[going]
        if rows.size == 0:
            break
        most, bent, before = most[going], bent[going], slack[going]
        pose, change = changed(pose, part[:, np.newaxis] * before + mend[going])
    return poses, steps, done, pose


def _mended(
    lengths: Floats, weights: Floats, rest: Floats, pose: Floats, start: Floats, target: Floats
) -> Floats:
    """Return poses (m, n) with their tips back on the targets; the starts where they bend less, or fail."""
    for _ in range(MENDING):
        _, mend, _ = _turns(lengths, weights, rest, pose, target)
        pose = pose + cut(mend)
    _, _, error = _turns(lengths, weights, rest, pose, target)
    better = (error < MENDED) & (_bend(weights, rest, pose) < _bend(weights, rest, start))
    return np.where(better[:, np.newaxis], pose, start)


def _bend(weights: Floats, rest: Floats, pose: Floats) -> Floats:
    """Return the bend (m,) of poses (m, n), as a sum of squares."""
    return summed_across(
        (pose - rest) ** 2 * np.where(weights > 0.0, 1.0 / np.maximum(weights, NOTHING), 0.0)
    )


def cut(turns: Floats) -> Floats:
    """Return turns (m, n), those of a row all smaller where one is too long."""
    longest = np.maximum(np.abs(turns).max(axis=1), NOTHING)
    shorter: Floats = turns * np.minimum(1.0, LONGEST_TURN / longest)[:, np.newaxis]
    return shorter


def _turns(
    lengths: Floats, weights: Floats, rest: Floats, pose: Floats, target: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the turns (m, n) to less bend, those that correct the tip's error, and the error (m,)."""
    headings = np.cumsum(pose, axis=1)
    arms_x = np.cumsum((lengths * np.cos(headings))[:, ::-1], axis=1)[:, ::-1]
    arms_y = np.cumsum((lengths * np.sin(headings))[:, ::-1], axis=1)[:, ::-1]
    off = target - np.stack((arms_x[:, 0], arms_y[:, 0]), axis=1)
    across, along = -arms_y, arms_x  # how the tip moves with each joint, in x and in y
    back = np.where(weights > 0.0, rest - pose, 0.0)
    xx, xy = summed_across(weights * across * across) + DAMPING, summed_across(weights * across * along)
    yy = summed_across(weights * along * along) + DAMPING
    determinant = xx * yy - xy * xy

    def through(x: Floats, y: Floats) -> Floats:
        """Return the least turns (m, n) that move the tip by x and y (m,)."""
        push_x, push_y = (yy * x - xy * y) / determinant, (xx * y - xy * x) / determinant
        turns: Floats = weights * (push_x[:, np.newaxis] * across + push_y[:, np.newaxis] * along)
        return turns

    slack = back - through(summed_across(across * back), summed_across(along * back))
    return slack, through(off[:, 0], off[:, 1]), np.hypot(off[:, 0], off[:, 1])
