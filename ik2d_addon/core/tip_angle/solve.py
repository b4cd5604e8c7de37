# SPDX-License-Identifier: GPL-3.0-or-later
"""The solver of a tip with an angle: tip on target, last bone on its heading, and the least bend of that."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..ccd.solve import solve_ccd
from ..chain import (
    MOST_BONES,
    Chain,
    checked_angles,
    checked_chain,
    checked_targets,
    in_reaches,
)
from ..errors import IK2DError
from ..even import solve_even
from ..inputs import LARGEST_ANGLE, Floats, checked_bend, checked_kind, common_shape, floats_within
from ..softness import checked_softness, soft_targets
from ..solution import Solution, Status, annulus_status, distances_to, eased_status
from .arm import ALIKE, ON_TARGET, Arm, headings_off, unit
from .backwards import least_bend
from .clamped import Clamped
from .short import poses_of

# A heading further off (radians) is not the one asked for.
ANGLE_TOLERANCE = 1e-6
# Where a root with limits is in the way, poses are sought from so many starts, for so many rows at once.
STARTS, AT_ONCE = 16, 64
# Joints in a row that are tried at both ends of their range; those after at the nearer end alone.
BOTH_ENDS = 3


def solve_pose(
    chain: Chain,
    target: ArrayLike,
    angle: ArrayLike,
    *,
    bend: ArrayLike = 1,
    rest: ArrayLike | None = None,
    tolerance: float | None = None,
    softness: ArrayLike = 0.0,
    angle_first: bool = False,
) -> Solution:
    """Return the pose of least bend with the tip on its target and the last bone at an angle.

    The chain is walked backwards from its last bone (backwards.py): exact, and a proof, where the first
    joint turns freely. Two bones, and two with a hand, are a list of triangles (short.py), with limits on
    any joint. In a longer chain whose first joint has limits, it is held at an end of its range where the
    least bend would leave it, and led on by small steps (clamped.py), at last from starts all over the
    ranges: then the bend is not proven to be the least, nor the angle to be impossible.
    Where both cannot be had the tip comes first, and the last bone is at the nearest angle found for it
    there: ANGLE. angle_first: the angle comes first, and the tip as near to its target as that allows.

    target: (..., 2) relative to the root. angle: (...) radians, the last bone's heading from the x axis.
    bend: +1 or -1 (...), the side that the joints between the first bone and the last bend to: +1 is that
    of a bent rest, and of a straight one the positive. Two bones take the side with the nearer angle.
    rest: (n,) angles from which bend is counted; None: straight. The first joint's turn costs nothing.
    tolerance, softness: as of `solve_even`. The solution's `angle_error` (...) is in radians, 0 to pi.
    Raises IK2DError for one bone, bones that slide, other shapes and numbers.

    >>> solution = solve_pose(Chain([1.0, 1.0, 0.5]), [1.0, 1.0], np.radians(-90), bend=-1)
    >>> np.degrees(solution.angles).round(1), bool(solution.reached)
    (array([  82. ,  -51.3, -120.7]), True)
    """
    checked_chain(chain)
    checked_kind(angle_first, bool, "angle_first")
    n = len(chain)
    if not 2 <= n <= MOST_BONES:
        raise IK2DError(f"a tip with an angle takes chains of 2 to {MOST_BONES} bones, not {n}")
    if chain.is_sliding:
        raise IK2DError("a tip with an angle takes rigid bones; leave the angle out where bones slide")
    targets, sides, soft = checked_targets(target), checked_bend(bend), checked_softness(softness)
    wanted = floats_within(angle, "angle", LARGEST_ANGLE, " radians")
    own_rest = checked_angles(chain, np.zeros(n) if rest is None else rest, "rest")
    if own_rest.ndim != 1:
        raise IK2DError(f"rest must be {n} angles, one a bone, not of shape {own_rest.shape}")
    limit = chain.tolerance_or_default(tolerance)
    shape = common_shape(target=targets.shape[:-1], angle=wanted.shape, bend=sides.shape, softness=soft.shape)
    points = np.broadcast_to(targets, (*shape, 2)).reshape(-1, 2)
    headings, side, softnesses = (np.broadcast_to(each, shape).reshape(-1) for each in (wanted, sides, soft))
    aims = soft_targets(chain, points, softnesses) if soft.any() else points
    angles = _poses(chain, own_rest, aims, headings, side, angle_first)
    residual = distances_to(chain, angles, aims)
    status = annulus_status(chain, points, limit)
    missed = np.flatnonzero(residual > limit)
    if missed.size:
        # The tip comes nearest without the angle; where it reaches so, the angle is what keeps it off.
        free = solve_even(chain, aims[missed], bend=side[missed], rest=own_rest)
        if not angle_first:
            angles[missed] = free.angles
        within = status[missed] == Status.REACHED
        known = np.where(free.reached, Status.LIMITED if angle_first else Status.REACHED, free.status)
        status[missed] = np.where(within, known, status[missed])
    off = headings_off(angles, headings)
    residual = distances_to(chain, angles, points)
    status[(status == Status.REACHED) & (off > ANGLE_TOLERANCE)] = Status.ANGLE
    status = eased_status(status, residual, softnesses, limit)
    solution = Solution.of_rows(chain, shape, angles, status, residual)
    return replace(solution, angle_error=off.reshape(shape))


def _poses(
    chain: Chain, rest: Floats, points: Floats, wanted: Floats, sides: Floats, angle_first: bool
) -> Floats:
    """Return poses (m, n) for points (m, 2) in the chain's units, headings (m,) and sides (m,)."""
    if len(points) == 0 or chain.reach[1] == 0.0:
        return np.array(np.broadcast_to(rest, (len(points), len(chain))))
    arm = Arm.of(chain, rest)
    return _best(arm, in_reaches(chain, points), wanted, sides * arm.own_side, angle_first)


def _best(
    arm: Arm, points: Floats, wanted: Floats, sides: Floats, angle_first: bool, depth: int = 0
) -> Floats:
    """Return the best poses (m, n) of an arm within its limits; the nearest to both, where none has both."""
    if len(arm) <= 3:
        within = (arm.within(pose) for pose in poses_of(arm, points, wanted, angle_first))
        return _chosen(arm, list(within), points, wanted, sides, angle_first)
    free = least_bend(arm, points, wanted, sides, angle_first)
    poses = arm.within(free)
    if arm.root_turns:
        return poses
    turns = (poses[:, 0] - free[:, 0]) / (2.0 * np.pi)
    held = np.flatnonzero(np.abs(turns - np.rint(turns)) > ALIKE)
    if held.size:
        these = points[held], wanted[held], sides[held]
        poses[held] = _held(arm, poses[held], *these, angle_first, depth)
    if depth == 0:
        # Without limits of the root there is a pose; so there may be one with them.
        lost = held[_lacks(arm, poses[held], points[held], wanted[held])]
        lost = lost[~_lacks(arm, free[lost], points[lost], wanted[lost])]
        if lost.size:
            poses[lost] = _sought(arm, poses[lost], points[lost], wanted[lost], sides[lost], angle_first)
    return poses


def _lacks(arm: Arm, poses: Floats, points: Floats, wanted: Floats) -> NDArray[np.bool_]:
    """Return which poses (m, n) lack the tip on its point, or the heading."""
    return np.maximum(arm.misses(poses, points), headings_off(poses, wanted)) > ON_TARGET


def _sought(
    arm: Arm, poses: Floats, points: Floats, wanted: Floats, sides: Floats, angle_first: bool
) -> Floats:
    """Return poses (m, n), those with tip and heading to which starts all over the joints' ranges lead."""
    starts, best = _spread(arm), poses.copy()
    for first in range(0, len(poses), AT_ONCE):
        rows = slice(first, first + AT_ONCE)
        these = points[rows], wanted[rows]
        every, headings = (np.repeat(each, len(starts), axis=0) for each in these)
        from_all = np.tile(starts, (len(these[0]), 1))
        tips = solve_ccd(arm.chain, every, start=from_all, tolerance=ON_TARGET).angles
        tried = Clamped(arm, every).turned(tips, headings)
        good = np.flatnonzero(~_lacks(arm, tried, every, headings))
        tried[good] = Clamped(arm, every[good]).with_less_bend(tried[good])
        tries = [poses[rows], *tried.reshape(-1, len(starts), len(arm)).swapaxes(0, 1)]
        best[rows] = _chosen(arm, tries, *these, sides[rows], angle_first)
    return best


def _spread(arm: Arm) -> Floats:
    """Return STARTS poses (STARTS, n) that are spread evenly over the ranges of the joints.

    Each joint advances by another power of the root of x^(n + 1) = x + 1, modulo its range.
    """
    n, root = len(arm), 2.0
    for _ in range(64):
        root = (1.0 + root) ** (1.0 / (n + 1.0))
    parts = (0.5 + np.arange(1, STARTS + 1)[:, np.newaxis] * root ** -np.arange(1.0, n + 1.0)) % 1.0
    low, high = np.clip(arm.chain.ranges.T, -np.pi, np.pi)
    poses: Floats = low + parts * (high - low)
    return poses


def _led_on(arm: Arm, poses: Floats, points: Floats, wanted: Floats) -> Floats:
    """Return poses (m, n), where their tips are on points (m, 2) led on to wanted headings and less bend."""
    poses = poses.copy()
    rows = np.flatnonzero(arm.misses(poses, points) <= ON_TARGET)
    clamped = Clamped(arm, points[rows])
    led = clamped.with_less_bend(clamped.turned(poses[rows], wanted[rows]))
    kept = arm.misses(led, points[rows]) <= ON_TARGET
    poses[rows[kept]] = led[kept]
    return poses


def _held(
    arm: Arm,
    poses: Floats,
    points: Floats,
    wanted: Floats,
    sides: Floats,
    angle_first: bool,
    depth: int,
) -> Floats:
    """Return the best poses (m, n) of an arm that would turn its root out of its range.

    poses: (m, n) with the root at the end nearest to that. It is held there, or the arm bends to the other
    side, or the root is held at the other end: each is tried where none before it has tip and heading.
    """
    low, high = arm.chain.ranges[0]
    near = poses[:, 0].copy()
    tries = [poses]
    left = np.arange(len(poses))
    for way in range(3 if depth < BOTH_ENDS else 1):
        these = points[left], wanted[left], sides[left]
        if way == 1:
            tried = arm.within(least_bend(arm, *these[:2], -these[2], angle_first))
        else:
            roots = near[left] if way == 0 else np.where(near[left] == low, high, low)
            roots = np.where(np.isfinite(roots), roots, near[left])
            tried = _rooted(arm, roots, *these, angle_first, depth)
        whole = poses.copy()
        whole[left] = tried
        tries.append(whole)
        off = np.maximum(arm.misses(tried, these[0]), headings_off(tried, these[1]))
        left = left[off > ON_TARGET]
        if left.size == 0:
            break
    best = _chosen(arm, tries, points, wanted, sides, angle_first)
    return best if depth or angle_first else _led_on(arm, best, points, wanted)


def _rooted(
    arm: Arm,
    roots: Floats,
    points: Floats,
    wanted: Floats,
    sides: Floats,
    angle_first: bool,
    depth: int,
) -> Floats:
    """Return the best poses (m, n) of an arm with its root at some angles (m,)."""
    turned = _turned_back(points - arm.chain.lengths[0] * unit(roots), roots)
    tail = _best(arm.without_root(), turned, wanted - roots, sides, angle_first, depth + 1)
    return np.column_stack((roots, tail))


def _turned_back(points: Floats, angles: Floats) -> Floats:
    """Return points (m, 2) turned by the negative of angles (m,)."""
    cosines, sines = np.cos(angles), np.sin(angles)
    x, y = points.T
    return np.stack((cosines * x + sines * y, cosines * y - sines * x), axis=-1)


def _chosen(
    arm: Arm,
    tries: list[Floats],
    points: Floats,
    wanted: Floats,
    sides: Floats,
    angle_first: bool,
) -> Floats:
    """Return the best of poses (m, n) for each row.

    Tip, heading, side and bend count in this order, or the heading before the tip: the later ones between
    those that are alike in the earlier.
    """
    poses = np.stack(tries)  # (k, m, n)
    count, m, n = poses.shape
    flat, every = poses.reshape(-1, n), np.tile(np.arange(m), count)
    misses = arm.misses(flat, points[every]).reshape(count, m)
    off = headings_off(flat, wanted[every]).reshape(count, m)
    inner = flat[:, 1:-1] if n > 2 else flat[:, 1:]
    other_side = (inner.sum(axis=1) * sides[every] < -ON_TARGET).reshape(count, m)
    bend = arm.bend(flat).reshape(count, m)
    left = np.ones((count, m), np.bool_)
    for measure in (*((off, misses) if angle_first else (misses, off)), other_side.astype(float), bend):
        least = np.where(left, measure, np.inf).min(axis=0)
        left &= measure <= least + ALIKE
    chosen: Floats = poses[left.argmax(axis=0), np.arange(m)]
    return chosen
