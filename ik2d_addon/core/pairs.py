# SPDX-License-Identifier: GPL-3.0-or-later
"""Two free bones whose lengths differ from target to target: chains of one kind, or one that stretches."""

import numpy as np

from .arithmetic import cos_and_sin
from .inputs import Floats
from .softness import soft_targets_within
from .solution import Solution, eased_status
from .two_bone import BLOCK, HUGE, solve_free_pairs


def solve_pairs(
    lengths: Floats, targets: Floats, bend: Floats, softness: Floats, tolerances: Floats, kept: Floats
) -> Solution:
    """Return the poses of `solve_two_bone` for two bones of lengths (m, 2), each with its own target (m, 2).

    Inputs are not checked. bend, softness and tolerances: (m,), the last as lengths. kept: (m, 2) angles, as
    `start` there. All lengths and targets have to be within `is_plain`.
    """
    angles, residual = np.empty_like(targets), np.empty(len(targets))
    status = np.empty(len(targets), np.int8)
    for first in range(0, len(targets), BLOCK):
        rows = slice(first, first + BLOCK)
        (d1, d2), asked, limits = lengths[rows].T, (bend[rows], kept[rows]), tolerances[rows]
        solved = solve_free_pairs(d1, d2, *targets[rows].T, *asked, limits)
        angles[rows, 0], angles[rows, 1], status[rows], residual[rows] = solved
        if softness[rows].any():
            eased = soft_targets_within(abs(d1 - d2), d1 + d2, targets[rows], softness[rows])
            angles[rows, 0], angles[rows, 1], _, _ = solve_free_pairs(d1, d2, *eased.T, *asked, limits)
            residual[rows] = _missed(lengths[rows], angles[rows], targets[rows])
            status[rows] = eased_status(status[rows], residual[rows], softness[rows], limits)
    free = np.zeros(angles.shape, np.bool_)
    return Solution(angles, status, residual, np.zeros(len(targets), np.int32), free, np.zeros(angles.shape))


def is_plain(lengths: Floats, targets: Floats) -> bool:
    """Return whether lengths (m, 2) and targets (m, 2) are such that no fourth power of them overflows."""
    outer = lengths.sum(axis=1)
    return bool(
        outer.min(initial=1.0) > 1.0 / HUGE
        and outer.max(initial=1.0) < HUGE
        and np.abs(targets).max(initial=0.0) <= HUGE
    )


def _missed(lengths: Floats, angles: Floats, targets: Floats) -> Floats:
    """Return the distances (m,) from the tips of poses (m, 2) to targets (m, 2)."""
    cosines, sines = cos_and_sin(np.cumsum(angles, axis=1))
    tips = np.stack([(lengths * cosines).sum(axis=1), (lengths * sines).sum(axis=1)], axis=1)
    missed: Floats = np.hypot(*(tips - targets).T)
    return missed
