# SPDX-License-Identifier: GPL-3.0-or-later
"""The solver for chains of any number of bones and targets on their own; core/path solves a path.

`ccd_steps` does it bit by bit: between two of its yields at most one target is solved, or one start of a
target that needs many.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ..chain import (
    Chain,
    at_limits,
    checked_angles,
    checked_chain,
    checked_slides,
    checked_targets,
    in_reaches,
    within_limits,
)
from ..inputs import Floats, checked_bend, common_shape, whole_number
from ..softness import checked_softness, soft_targets
from ..solution import Solution, Status, Steps, annulus_status, distances_to, drained, eased_status
from ..two_bone import solve_limited_pair
from .free import solve_free
from .limited import SolvedTarget, limited_steps
from .rigid import has_rigid, held_on_pivot
from .rows import SolvedTargets, Targets
from .shapes import side_of
from .sliding import parted, pinned, starting
from .sweep import CcdBones

# Solves one target: from a pose, to x and y, bent to a side, the last one being out of reach or not.
Solver = Callable[[list[float], float, float, float, bool], Steps[SolvedTarget]]
# Solves rows of targets, to a tolerance (a length), with so many corrections at most.
Way = Callable[[Chain, Targets, float, int], Steps[SolvedTargets]]

# The most corrections for one start, ten times the usual number; then another way is taken.
MAX_ITERATIONS = 60
# The most that anyone may ask for: the count of them has 32 bits.
MOST_ITERATIONS = 10**6
# Solvers aim at this part of the tolerance, so that rounding in forward() never exceeds it.
INNER_PART = 0.5
# The finest tolerance that rounding leaves to a chain of some hundred bones, as a part of its reach.
FINEST = 1e-13


def solve_ccd(
    chain: Chain,
    target: ArrayLike,
    *,
    start: ArrayLike | None = None,
    start_slides: ArrayLike | None = None,
    tolerance: float | None = None,
    max_iterations: int = MAX_ITERATIONS,
    bend: ArrayLike = 1,
    softness: ArrayLike = 0.0,
) -> Solution:
    """Bring the tip to each target, starting each time from the pose `start`.

    Where the target is far from the tip, two sweeps of CCD shape the pose; corrections of all joints
    at once, the least there are, take the tip to the target exactly. Without limits and rigid joints
    every target in the annulus of reach is reached from every start, and every other gets the nearest
    pose, TOO_FAR or TOO_CLOSE. With limits the same holds of the region that they leave (see
    `reachable`): every target in it is reached, and of every other within the annulus it is proven that
    no pose reaches it: LIMITED, with the pose nearest to it. STALLED is a target that was missed for
    another reason: a tolerance below rounding, or ranges so narrow that the region is undecided. EASED is
    one that softness leaves the tip behind.
    Where bones slide, their ranges are limits too: all holds as with limits. A slide of one reach counts
    as much as a turn of one radian.

    target: (..., 2) relative to the root. start: (..., n) angles of the pose to begin with, such as last
    frame's; None: straight. The answer is near to it, and of equal rotations its numbers are those near
    the start's. (The `rest` of `solve_even` is no start: there the answer bends least from it.)
    start_slides: (..., n) added lengths to begin with; None: none, as near as their ranges have it.
    tolerance: a length; None: a millionth of the reach.
    max_iterations: the most corrections from one start (60). bend: +1 or -1 (...), the side that a start
    on one line bends to. softness: 0..1 (...), see softness.py.
    Raises IK2DError for other shapes and numbers.

    >>> chain = Chain([1.0, 1.0, 1.0], limits=np.radians([[-180, 180], [-90, 90], [-90, 90]]))
    >>> solution = solve_ccd(chain, [1.0, 1.5], start=np.radians([0, 30, 30]))
    >>> bool(solution.reached), forward(chain, solution.angles)[-1].round(3)
    (True, array([1. , 1.5]))
    """
    return drained(
        ccd_steps(
            chain,
            target,
            start=start,
            start_slides=start_slides,
            tolerance=tolerance,
            max_iterations=max_iterations,
            bend=bend,
            softness=softness,
        )
    )


def ccd_steps(
    chain: Chain,
    target: ArrayLike,
    *,
    start: ArrayLike | None = None,
    start_slides: ArrayLike | None = None,
    tolerance: float | None = None,
    max_iterations: int = MAX_ITERATIONS,
    bend: ArrayLike = 1,
    softness: ArrayLike = 0.0,
) -> Steps[Solution]:
    """Return the solution of solve_ccd; yield the targets done, or 0 within one.

    >>> steps = ccd_steps(Chain([1.0, 1.0, 1.0]), [[2.0, 0.0], [2.0, 0.1]])
    >>> list(steps)  # the solution is the value of the StopIteration at the end
    [1, 2]
    """
    checked_chain(chain)
    targets, sides = checked_targets(target), checked_bend(bend)
    starts, soft = starting_pose(chain, start, start_slides), checked_softness(softness)
    shape = common_shape(
        target=targets.shape[:-1], bend=sides.shape, start=starts.shape[:-1], softness=soft.shape
    )
    rows = Targets.spread(shape, targets, starts, sides)
    return (yield from solution_steps(chain, rows, shape, soft, tolerance, max_iterations, _solve))


def solution_steps(
    chain: Chain,
    rows: Targets,
    shape: tuple[int, ...],
    softness: Floats,
    tolerance: float | None,
    max_iterations: int,
    solve: Way,
) -> Steps[Solution]:
    """Return the solution (shape) of the poses that `solve` finds for rows of targets; yield as it does."""
    limit = chain.tolerance_or_default(tolerance)
    rounds = whole_number(max_iterations, "max_iterations", 1, MOST_ITERATIONS)
    poses, iterations, is_out = yield from solve(chain, rows, limit, rounds)
    angles, slides = parted(chain, poses)
    residual = distances_to(chain, angles, rows.points, slides)
    status = annulus_status(chain, rows.points, limit)
    missed = (status == Status.REACHED) & (residual > limit)
    status[missed] = np.where(is_out[missed], Status.LIMITED, Status.STALLED)
    if softness.any():
        softnesses = np.broadcast_to(softness, shape).reshape(-1)
        eased = replace(rows, points=soft_targets(chain, rows.points, softnesses))
        poses, iterations, _ = yield from solve(chain, eased, limit, rounds)
        angles, slides = parted(chain, poses)
        residual = distances_to(chain, angles, rows.points, slides)
        status = eased_status(status, residual, softnesses, limit)
    return Solution.of_rows(chain, shape, angles, status, residual, iterations, slides)


def starting_pose(chain: Chain, start: ArrayLike | None, start_slides: ArrayLike | None) -> Floats:
    """Return the poses (..., n), or (..., 2 n) where bones slide, that a caller begins with."""
    none = np.zeros(len(chain))
    angles = checked_angles(chain, none if start is None else start, "start")
    slides = checked_slides(chain, none if start_slides is None else start_slides, "start_slides")
    common_shape(start=angles.shape[:-1], start_slides=slides.shape[:-1])
    return starting(chain, angles, slides)


def _solve(chain: Chain, rows: Targets, tolerance: float, rounds: int) -> Steps[SolvedTargets]:
    """Return poses for all rows, by the way that fits the chain. rounds: the most corrections."""
    if chain.reach[1] == 0.0 or len(rows.points) == 0:
        return SolvedTargets.unmoved(rows)
    if is_exact(chain):
        return exact_poses(chain, _exact(chain, rows, tolerance))
    unit, fine = replace(rows, points=in_reaches(chain, rows.points)), inner_tolerance(chain, tolerance)
    return (yield from _solve_in_turn(solver_of(chain, fine, rounds), unit))


def is_exact(chain: Chain) -> bool:
    """Return whether a chain is of one or two bones with limits that a formula poses."""
    return chain.is_limited and len(chain) <= 2 and not (chain.is_sliding or has_rigid(CcdBones.of(chain)))


def exact_poses(chain: Chain, angles: Floats) -> SolvedTargets:
    """Return the poses of angles (m, n) that a formula gave."""
    return SolvedTargets(angles, np.zeros(len(angles), np.int32), at_limits(chain, angles).any(axis=1))


def inner_tolerance(chain: Chain, tolerance: float) -> float:
    """Return the tolerance that solvers aim at, in reaches."""
    return max(INNER_PART * tolerance / chain.reach[1], FINEST)


def solver_of(chain: Chain, tolerance: float, rounds: int) -> Solver:
    """Return the solver of one target at a time that fits the chain (reach is 1)."""
    bones = CcdBones.of(chain)
    rigid = has_rigid(bones)

    def solve(pose: list[float], x: float, y: float, bend: float, was_out: bool) -> Steps[SolvedTarget]:
        if not (rigid or chain.is_limited or chain.is_sliding):
            return SolvedTarget(*solve_free(bones, pose, x, y, bend, tolerance, rounds), False)
        limited = bones
        if rigid and not chain.is_sliding:
            limited = held_on_pivot(pinned(bones, pose), pose, x, y, tolerance)
        elif chain.is_sliding:
            limited = pinned(bones, pose)
        return (yield from limited_steps(limited, pose, x, y, bend, tolerance, rounds, asks_first=was_out))

    return solve


def _exact(chain: Chain, rows: Targets, tolerance: float) -> Floats:
    """Return the nearest poses of one or two bones with limits, on the side that the start bends to."""
    sides = [side_of(start, bend) for start, bend in zip(rows.starts.tolist(), rows.bend, strict=True)]
    return exact_on(chain, rows, np.array(sides), tolerance)


def exact_on(chain: Chain, rows: Targets, sides: Floats, tolerance: float) -> Floats:
    """Return the nearest poses of one or two bones with limits, on the sides (m,) where both reach."""
    if len(chain) == 1:
        direction = np.arctan2(rows.points[:, 1:], rows.points[:, :1])
        return within_limits(chain, direction, rows.starts)
    return solve_limited_pair(chain, rows.points, sides, rows.starts, tolerance)[0]


def _solve_in_turn(solve: Solver, rows: Targets) -> Steps[SolvedTargets]:
    """Return poses, one target after the other, each from its own start."""
    poses = SolvedTargets.empty(rows)
    targets = zip(rows.starts.tolist(), rows.points.tolist(), rows.bend.tolist(), strict=True)
    for row, (start, (x, y), bend) in enumerate(targets):
        poses.fill(row, *(yield from solve(start, x, y, bend, False)))
        yield row + 1
    return poses
