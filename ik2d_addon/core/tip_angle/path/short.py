# SPDX-License-Identifier: GPL-3.0-or-later
"""Two bones and a hand along a path: of the triangles of each frame, those with the fewest jumps.

A shortest way through the list of each frame's poses: there is none with fewer jumps among them. Where none
of a frame has both, all whose angle, or tip with the angle first, is nearly the nearest are in its list.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...inputs import Floats, wrapped
from ..arm import ALIKE, ON_TARGET, Arm, headings_off
from ..short import poses_of
from .walk import FURTHER, JUMP

# Poses that are off by so much more than the nearest (radians, or reaches) are in a frame's list. A jump
# counts more than all else, then a frame on the other side, the angle off (radians), turns and bend.
NEARLY, A_JUMP, OTHER_SIDE, OF_TURNS, OF_BEND = 0.2, 1e6, 1.0, 1e-3, 1e-4


@dataclass(frozen=True, eq=False)
class Choices:
    """The poses of one frame."""

    poses: Floats  # (k, n)
    costs: Floats  # (k,)

    @classmethod
    def of(
        cls, arm: Arm, poses: Floats, point: Floats, heading: float, side: float, angle_first: bool
    ) -> "Choices":
        """Return the best of poses (k, n) with a tip on a point (2,) and a heading."""
        poses = arm.within(poses)
        misses = arm.misses(poses, np.broadcast_to(point, (len(poses), 2)))
        off = headings_off(poses, np.full(len(poses), heading))
        first, second = (off, misses) if angle_first else (misses, off)
        kept = first <= first.min() + ALIKE
        poses, second = poses[kept], second[kept]
        nearly = 0.0 if second.min() <= ON_TARGET else NEARLY
        kept = second <= second.min() + nearly + ALIKE
        poses, second = poses[kept], second[kept]
        costs = OTHER_SIDE * (wrapped(poses[:, 1]) * side < -ON_TARGET) + OF_BEND * arm.bend(poses)
        return cls(poses, second - second.min() + costs)


def short_path(
    arms: Sequence[Arm],
    points: Floats,
    wanted: Floats,
    sides: Floats,
    steps: Sequence[int],
    start: Floats | None,
    angle_first: bool,
) -> Floats:
    """Return poses (m, n) of arms of three bones for points (m, 2), headings (m,) and sides (m,).

    arms: one for each frame, or for all. steps: how many jumps a frame has room for.
    """
    choices = _choices(arms, points, wanted, sides, angle_first)
    costs, before = choices[0].costs, []
    if start is not None:
        costs = costs + _jumped(choices[0].poses, start[np.newaxis], steps[0])[:, 0]
    for row in range(1, len(choices)):
        every = costs + _jumped(choices[row].poses, choices[row - 1].poses, steps[row])
        before.append(every.argmin(axis=1))
        costs = every.min(axis=1) + choices[row].costs
    chosen = [int(costs.argmin())]
    for best in reversed(before):
        chosen.append(int(best[chosen[-1]]))
    return np.array([own.poses[k] for own, k in zip(choices, reversed(chosen), strict=True)])


def next_to(arm: Arm, point: Floats, heading: float, start: Floats, angle_first: bool) -> Floats:
    """Return the pose (n,) of an arm of three bones for a point (2,) and a heading, nearest to another."""
    (choices,) = _choices([arm], point[np.newaxis], np.array([heading]), np.ones(1), angle_first)
    nearest: Floats = choices.poses[np.abs(wrapped(choices.poses - start)).max(axis=1).argmin()]
    return nearest


def _choices(
    arms: Sequence[Arm], points: Floats, wanted: Floats, sides: Floats, angle_first: bool
) -> list[Choices]:
    if len(arms) == 1:
        every = np.stack(list(poses_of(arms[0], points, wanted, angle_first)), axis=1)
        rows = zip(every, points, wanted.tolist(), sides.tolist(), strict=True)
        return [Choices.of(arms[0], *row, angle_first) for row in rows]
    each = [slice(k, k + 1) for k in range(len(arms))]
    return [
        _choices([arm], points[row], wanted[row], sides[row], angle_first)[0]
        for arm, row in zip(arms, each, strict=True)
    ]


def _jumped(poses: Floats, before: Floats, steps: int) -> Floats:
    """Return the costs (k, j) of turns from poses (j, n) to poses (k, n)."""
    turns = np.abs(wrapped(poses[:, np.newaxis] - before[np.newaxis])).max(axis=2)
    costs: Floats = np.where(turns > (JUMP + FURTHER) * steps, A_JUMP, OF_TURNS * turns)
    return costs
