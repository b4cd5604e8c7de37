# SPDX-License-Identifier: GPL-3.0-or-later
"""The analytic two-bone solver.

After Ryan Juckett, "Analytic Two-Bone IK in 2D" (2009).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arithmetic import ARRAYS, Number, cos_and_sin
from .chain import (
    Chain,
    checked_angles,
    checked_chain,
    checked_targets,
    in_reaches,
    joints_at,
    within_limits,
)
from .errors import IK2DError
from .inputs import Floats, checked_bend, common_shape, largest, wrapped
from .softness import checked_softness, soft_targets, soft_targets_within
from .solution import Solution, Status, annulus_status, distances_to, eased_status
from .triangle import two_bone_pose

# A bone shorter than this fraction of the reach counts as one of zero length: the second
# angle then moves the tip less than float rounding does.
ZERO_LENGTH = 1e-12
# The triangle takes fourth powers of lengths: from here on these overflow, and those of 1 / HUGE underflow.
HUGE = 1e75
# So many targets at a time that the arrays between the steps stay in the processor's cache.
BLOCK = 8192
# Two poses whose tips are as near, to so many reaches, are equally good: then the bend side decides.
EQUALLY_NEAR = 1e-12

# Angles (m, n), status (m,) and residual (m,) for m targets.
Answer = tuple[Floats, NDArray[np.int8], Floats]


def solve_two_bone(
    chain: Chain,
    target: ArrayLike,
    *,
    bend: ArrayLike = 1,
    start: ArrayLike | None = None,
    tolerance: float | None = None,
    softness: ArrayLike = 0.0,
) -> Solution:
    """Return the pose of two bones whose tip is on the target, or as near as it gets.

    The law of cosines, with the formulas of triangle.py: a target too far stretches the chain, and one
    too close folds it.

    target: (..., 2) relative to the root. bend: +1 or -1, the sign of angle2, (...) or one for all.
    start: (..., 2) angles of a pose such as last frame's, kept where any would do: angle2 where a bone has
    no length, angle1 for a target at the root; None: zeros. tolerance: a length.
    softness: 0..1 (...) or one, see softness.py; status is that of the exact solve, or EASED, residual the
    true distance. A target off the annulus of reach by no more than the tolerance counts as REACHED.
    Of a chain with limits the bend side asked for is taken where it reaches the target, else the
    other; where neither does, the pose within the limits that is nearest to the target: LIMITED.
    A joint of weight 0 keeps the start's angle, and the other one brings the tip as near as it can.
    Weights in between change nothing: bend side and limits alone decide between two bones' poses.
    Raises IK2DError for a chain that has not two bones or whose bones slide, a target that is not finite,
    another bend.

    >>> solution = solve_two_bone(Chain([1.0, 1.0]), [1.0, 1.0], bend=-1)
    >>> np.degrees(solution.angles).round(1), bool(solution.reached)
    (array([ 90., -90.]), True)
    """
    checked_chain(chain)
    if len(chain) != 2:
        raise IK2DError(f"the two-bone solver takes chains of two bones, not {len(chain)}; use CCD")
    if chain.is_sliding:
        raise IK2DError("the two-bone solver takes rigid bones; use Even or CCD where bones slide")
    targets, sides = checked_targets(target), checked_bend(bend)
    kept = checked_angles(chain, np.zeros(2) if start is None else start, "start")
    limit, soft = chain.tolerance_or_default(tolerance), checked_softness(softness)
    shape = common_shape(
        target=targets.shape[:-1], bend=sides.shape, start=kept.shape[:-1], softness=soft.shape
    )
    rows = (
        np.broadcast_to(targets, (*shape, 2)).reshape(-1, 2),
        np.broadcast_to(sides, shape).reshape(-1),
        np.broadcast_to(kept, (*shape, 2)).reshape(-1, 2),
    )
    solver = _solver(chain)
    angles, status, residual = solver(chain, *rows, limit)
    if soft.any():
        softnesses = np.broadcast_to(soft, shape).reshape(-1)
        eased = soft_targets(chain, rows[0], softnesses)
        angles, _, _ = solver(chain, eased, *rows[1:], limit)
        residual = distances_to(chain, angles, rows[0])
        status = eased_status(status, residual, softnesses, limit)
    return Solution.of_rows(chain, shape, angles, status, residual)


def solve_pairs(
    lengths: Floats, targets: Floats, bend: Floats, softness: Floats, tolerances: Floats, kept: Floats
) -> Solution:
    """Return the poses of `solve_two_bone` for free pairs of bones, (m, 2) lengths, and a target (m, 2) each.

    Inputs are not checked. bend, softness and tolerances: (m,), the last as lengths. kept: (m, 2) angles, as
    `start` there. All lengths and targets have to be within `are_plain`.
    """
    angles, residual = np.empty_like(targets), np.empty(len(targets))
    status = np.empty(len(targets), np.int8)
    for first in range(0, len(targets), BLOCK):
        rows = slice(first, first + BLOCK)
        (d1, d2), (x, y), limits = lengths[rows].T, targets[rows].T, tolerances[rows]
        solved = solve_free_pairs(d1, d2, x, y, bend[rows], kept[rows], limits)
        angles[rows, 0], angles[rows, 1], status[rows], residual[rows] = solved
        if softness[rows].any():
            x, y = soft_targets_within(abs(d1 - d2), d1 + d2, targets[rows], softness[rows]).T
            solved = solve_free_pairs(d1, d2, x, y, bend[rows], kept[rows], limits)
            angles[rows, 0], angles[rows, 1] = solved[:2]
            residual[rows] = _missed(lengths[rows], angles[rows], targets[rows])
            status[rows] = eased_status(status[rows], residual[rows], softness[rows], limits)
    free = np.zeros(angles.shape, np.bool_)
    return Solution(angles, status, residual, np.zeros(len(targets), np.int32), free, np.zeros(angles.shape))


def are_plain(lengths: Floats, targets: Floats) -> bool:
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


def _solver(chain: Chain) -> Callable[[Chain, Floats, Floats, Floats, float], Answer]:
    """Return the solver for a chain of two bones: with a rigid joint, with limits, or free."""
    if chain.weights is not None and (chain.weights == 0.0).any():
        return _solve_rigid
    return solve_limited_pair if chain.is_limited else _solve_free


def _solve_free(chain: Chain, targets: Floats, sides: Floats, kept: Floats, tolerance: float) -> Answer:
    """Return angles (m, 2), status (m,) and residual (m,) for targets (m, 2) of a chain without limits."""
    outer = chain.reach[1]
    is_float = 1.0 / HUGE < outer < HUGE or outer == 0.0
    if not is_float or largest(targets) > HUGE:
        unit = Chain(chain.lengths / (outer or 1.0))
        angles, _, _ = _solve_free(unit, in_reaches(chain, targets), sides, kept, 1.0)
        return angles, annulus_status(chain, targets, tolerance), distances_to(chain, angles, targets)
    m = len(targets)
    angles, status, residual = np.empty((m, 2)), np.empty(m, np.int8), np.empty(m)
    for first in range(0, m, BLOCK):
        rows = slice(first, first + BLOCK)
        x, y = targets[rows].T
        d1, d2 = chain.lengths.tolist()
        solved = solve_free_pairs(d1, d2, x, y, sides[rows], kept[rows], tolerance)
        angles[rows, 0], angles[rows, 1], status[rows], residual[rows] = solved
    return angles, status, residual


def solve_free_pairs(
    d1: Number, d2: Number, x: Floats, y: Floats, sides: Floats, kept: Floats, tolerance: Number
) -> tuple[Floats, Floats, NDArray[np.int8], Floats]:
    """Return angle1, angle2, status and residual, each (m,), by the formulas of triangle.py.

    d1, d2 and tolerance: one for all targets, or (m,). The residual is the target's distance from the
    annulus: the tip's miss, but for rounding.
    """
    inner, outer = abs(d1 - d2), d1 + d2
    h = np.sqrt(x * x + y * y)
    short, spare = outer - h, h - inner
    residual = np.maximum(-np.minimum(short, spare), 0.0)
    status = (short < -tolerance) * np.int8(Status.TOO_FAR) + (spare < -tolerance) * np.int8(Status.TOO_CLOSE)
    pointed = np.minimum(d1, d2) <= ZERO_LENGTH * outer
    if not np.all(pointed):
        angle1, angle2 = two_bone_pose(d1, d2, x, y, h, sides, ARRAYS)
    if np.any(pointed):
        straight = _pointed(d1, d2, x, y, kept[:, 1])
        angle1, angle2 = straight if np.all(pointed) else np.where(pointed, straight, (angle1, angle2))
    if h.min() == 0.0:  # at the root every direction is as good: keep the one that was
        angle1 = np.where(h > 0.0, angle1, wrapped(kept[:, 0]))
    return angle1, angle2, status, residual


def _pointed(d1: Number, d2: Number, x: Floats, y: Floats, angle2: Floats) -> tuple[Floats, Floats]:
    """Return the angles of bones of which one has no length: the first points the tip at the target."""
    adjacent, opposite = d1 + d2 * np.cos(angle2), d2 * np.sin(angle2)
    return np.arctan2(y * adjacent - x * opposite, x * adjacent + y * opposite), angle2


def solve_limited_pair(
    chain: Chain, targets: Floats, sides: Floats, kept: Floats, tolerance: float
) -> Answer:
    """Return the poses nearest to targets (m, 2) on the sides (m,); of equal angles, those near `kept`.

    The nearest of all poses is one of six; each of them, put within the limits, is a pose the chain can
    take, so the best of them is the answer:
    - inside both ranges: the two bend sides of the chain without limits (this is also where the target
      is off the annulus, and the nearest pose is straight or folded);
    - on the edge where angle2 is at a limit: the chain is one rigid arm, and aims at the target;
    - on the edge where angle1 is at a limit: the second bone aims at the target.
    An aim is best where it points, and gets worse all the way round to the opposite: so a blocked one
    stops at the limit that is nearer to it, and the corners are no separate case.
    """
    angles = np.empty((len(targets), 2))
    for side in (1.0, -1.0):
        rows = np.flatnonzero(sides == side)
        if rows.size:
            angles[rows] = _nearest(chain, targets[rows], side, kept[rows])
    return _judged(chain, angles, targets, tolerance)


def _solve_rigid(chain: Chain, targets: Floats, _sides: Floats, kept: Floats, tolerance: float) -> Answer:
    """Return the poses nearest to targets (m, 2), one arm about one joint; rigid joints keep their angles."""
    angles = within_limits(chain, kept, kept)
    rigid = np.zeros(2) == chain.weights
    if not rigid.all():
        aim = _elbow_aim if rigid[0] else _arm_aim
        turned = within_limits(chain, aim(chain.lengths.tolist(), targets, angles), angles)
        pivot = joints_at(chain, angles)[:, 1 if rigid[0] else 0]
        elsewhere = (targets != pivot).any(axis=1, keepdims=True)  # else every direction is as good
        angles = np.where(~rigid & elsewhere, turned, angles)
    return _judged(chain, angles, targets, tolerance)


def _arm_aim(lengths: list[float], targets: Floats, angles: Floats) -> Floats:
    """Return the poses (m, 2) that aim at targets (m, 2) by the root alone, angle2 as it is."""
    (d1, d2), angle2 = lengths, angles[:, 1]
    arm = np.arctan2(d2 * np.sin(angle2), d1 + d2 * np.cos(angle2))
    return np.stack([np.arctan2(targets[:, 1], targets[:, 0]) - arm, angle2], axis=-1)


def _elbow_aim(lengths: list[float], targets: Floats, angles: Floats) -> Floats:
    """Return the poses (m, 2) whose second bone aims at targets (m, 2), angle1 as it is."""
    d1, angle1 = lengths[0], angles[:, 0]
    aim = np.arctan2(targets[:, 1] - d1 * np.sin(angle1), targets[:, 0] - d1 * np.cos(angle1))
    return np.stack([angle1, aim - angle1], axis=-1)


def _judged(chain: Chain, angles: Floats, targets: Floats, tolerance: float) -> Answer:
    """Return poses (m, 2), their status and residual: LIMITED where they miss a target within the annulus."""
    residual = distances_to(chain, angles, targets)
    status = annulus_status(chain, targets, tolerance)
    status[(status == Status.REACHED) & (residual > tolerance)] = Status.LIMITED
    return angles, status, residual


def _nearest(chain: Chain, targets: Floats, side: float, kept: Floats) -> Floats:
    """Return the best candidate (m, 2) for each target; of equally good ones the first."""
    best, least = kept, np.full(len(targets), np.inf)
    for candidate in _candidates(chain, targets, side):
        pose = within_limits(chain, candidate, kept)
        distance = distances_to(chain, pose, targets)
        better = distance < least - EQUALLY_NEAR * chain.reach[1]
        best, least = np.where(better[:, np.newaxis], pose, best), np.where(better, distance, least)
    return best


def _candidates(chain: Chain, targets: Floats, side: float) -> list[Floats]:
    """Return poses (m, 2), those on the side asked for first, before the limits are applied to them."""
    outer = chain.reach[1] or 1.0
    (d1, d2), points = (chain.lengths / outer).tolist(), in_reaches(chain, targets)
    x, y = points.T
    distance = np.hypot(x, y)
    both = [np.stack(two_bone_pose(d1, d2, x, y, distance, bend, ARRAYS), axis=-1) for bend in (side, -side)]
    limits = chain.ranges.tolist()
    for angle2 in sorted(limits[1], key=lambda limit: -side * limit):
        if np.isfinite(angle2):
            both.append(_arm_aim([d1, d2], points, np.full((len(x), 2), angle2)))
    for angle1 in limits[0]:
        if np.isfinite(angle1):
            both.append(_elbow_aim([d1, d2], points, np.full((len(x), 2), angle1)))
    return both
