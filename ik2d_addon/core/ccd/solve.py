# SPDX-License-Identifier: GPL-3.0-or-later
"""The solvers for chains of any number of bones: solve_ccd for targets on their own, and for a path.

`ccd_steps` does both bit by bit: between two of its yields at most one target is solved, or one start of a
target that needs many.
"""

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import TypeVar

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
from ..errors import IK2DError
from ..inputs import Floats, checked_bend, common_shape, whole_number
from ..softness import checked_softness, soft_targets
from ..solution import Solution, Status, annulus_status, distances_to, eased_status
from ..two_bone import solve_limited_pair
from .batch import BATCH, Poses, Targets, are_inside, free_batch_steps
from .free import solve_free
from .limited import Found, limited_steps
from .limited_batch import limited_batch_steps
from .rigid import any_steps, is_rigid, joined_steps, mirrored
from .shapes import side_of
from .sliding import parted, pinned, starting
from .sweep import Bones

_Result = TypeVar("_Result")
# Yields the number of targets done, or 0 within one of them, and returns a result.
Steps = Generator[int, None, _Result]
# Solves one target: from a pose, to x and y, bent to a side, the last one being out of reach or not.
Solver = Callable[[list[float], float, float, float, bool], Steps[Found]]

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
    max_iterations: the most corrections from one start. bend: +1 or -1 (...), the side that a start
    on one line bends to. softness: 0..1 (...), see softness.py.
    Raises IK2DError for other shapes and numbers.

    >>> chain = Chain([1.0, 1.0, 1.0], limits=np.radians([[-180, 180], [-90, 90], [-90, 90]]))
    >>> solution = solve_ccd(chain, [1.0, 1.5], start=np.radians([0, 30, 30]))
    >>> bool(solution.reached), forward(chain, solution.angles)[-1].round(3)
    (True, array([1. , 1.5]))
    """
    return _drained(
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


def solve_ccd_path(
    chain: Chain,
    targets: ArrayLike,
    *,
    start: ArrayLike | None = None,
    start_slides: ArrayLike | None = None,
    tolerance: float | None = None,
    max_iterations: int = MAX_ITERATIONS,
    bend: ArrayLike = 1,
    softness: ArrayLike = 0.0,
) -> Solution:
    """Solve targets that follow one another: each starts from the angles of the one before.

    Corrections change a pose as little as they can, so a smooth path gives smooth angles. A chain
    that a target out of reach has stretched or folded bends back to the side it came from. Where the
    bend changes from one frame to the next, the pose is mirrored to the new side first.
    targets: (frames, 2) relative to the root. start: (n,) angles for the first one, None: straight;
    start_slides: (n,) or None. bend, softness: one for all, or (frames,).
    tolerance, max_iterations and the result as in solve_ccd.

    >>> chain, path = Chain([1.0, 1.0, 1.0]), [[2.0, 0.0], [2.0, 0.1], [2.0, 0.2]]
    >>> solution = solve_ccd_path(chain, path, start=np.radians([-40, 40, 40]))
    >>> np.degrees(solution.angles).round().astype(int)
    array([[-58,  57,  63],
           [-56,  57,  62],
           [-53,  58,  62]])
    """
    return _drained(
        ccd_steps(
            chain,
            targets,
            start=start,
            start_slides=start_slides,
            tolerance=tolerance,
            max_iterations=max_iterations,
            bend=bend,
            softness=softness,
            is_path=True,
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
    is_path: bool = False,
) -> Steps[Solution]:
    """Return the solution of solve_ccd or solve_ccd_path; yield the targets done, or 0 within one.

    >>> steps = ccd_steps(Chain([1.0, 1.0, 1.0]), [[2.0, 0.0], [2.0, 0.1]], is_path=True)
    >>> list(steps)  # the solution is the value of the StopIteration at the end
    [1, 2]
    """
    checked_chain(chain)
    targets, sides = checked_targets(target), checked_bend(bend)
    starts, soft = _starting(chain, start, start_slides), checked_softness(softness)
    if is_path:
        _refuse_no_path(targets, starts, sides, soft)
    shape = common_shape(
        target=targets.shape[:-1], bend=sides.shape, start=starts.shape[:-1], softness=soft.shape
    )
    width = starts.shape[-1]
    rows = Targets(
        np.broadcast_to(targets, (*shape, 2)).reshape(-1, 2),
        np.broadcast_to(starts, (*shape, width)).reshape(-1, width),
        np.broadcast_to(sides, shape).reshape(-1),
    )
    limit = chain.tolerance_or_default(tolerance)
    rounds = whole_number(max_iterations, "max_iterations", 1, MOST_ITERATIONS)
    poses, iterations, is_out = yield from _solve(chain, rows, limit, rounds, is_path)
    angles, slides = parted(chain, poses)
    residual = distances_to(chain, angles, rows.points, slides)
    status = annulus_status(chain, rows.points, limit)
    missed = (status == Status.REACHED) & (residual > limit)
    status[missed] = np.where(is_out[missed], Status.LIMITED, Status.STALLED)
    if soft.any():
        softnesses = np.broadcast_to(soft, shape).reshape(-1)
        eased = soft_targets(chain, rows.points, softnesses)
        soft_rows = replace(rows, points=eased)
        poses, iterations, _ = yield from _solve(chain, soft_rows, limit, rounds, is_path)
        angles, slides = parted(chain, poses)
        residual = distances_to(chain, angles, rows.points, slides)
        status = eased_status(status, residual, softnesses, limit)
    return Solution.of_rows(chain, shape, angles, status, residual, iterations, slides)


def _refuse_no_path(targets: Floats, start: Floats, bend: Floats, softness: Floats) -> None:
    """Raise IK2DError for shapes that are not those of one path."""
    if targets.ndim != 2 or start.ndim != 1:
        raise IK2DError("a path takes targets of shape (frames, 2) and one start of shape (n,)")
    m = len(targets)
    for name, values in (("bend", bend), ("softness", softness)):
        if values.shape not in ((), (m,)):
            raise IK2DError(f"a path takes one {name} or {m}, one a frame, not of shape {values.shape}")


def _starting(chain: Chain, start: ArrayLike | None, start_slides: ArrayLike | None) -> Floats:
    """Return the poses (..., n), or (..., 2 n) where bones slide, that a caller begins with."""
    none = np.zeros(len(chain))
    angles = checked_angles(chain, none if start is None else start, "start")
    slides = checked_slides(chain, none if start_slides is None else start_slides, "start_slides")
    common_shape(start=angles.shape[:-1], start_slides=slides.shape[:-1])
    return starting(chain, angles, slides)


def _drained(steps: Steps[_Result]) -> _Result:
    """Run steps to their end."""
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            result: _Result = finished.value
            return result


def _solve(chain: Chain, rows: Targets, tolerance: float, rounds: int, is_path: bool) -> Steps[Poses]:
    """Return poses for all rows, by the way that fits the chain. rounds: the most corrections."""
    n, outer = len(chain), chain.reach[1]
    m, bones = len(rows.points), Bones.of(chain)
    rigid = any(is_rigid(bones, i) for i in range(n))
    if outer == 0.0 or m == 0:
        return Poses(rows.starts, np.zeros(m, np.int32), np.ones(m, np.bool_))
    if chain.is_limited and not (rigid or chain.is_sliding) and n <= 2:
        angles = (_exact_path if is_path else _exact)(chain, rows, tolerance)
        return Poses(angles, np.zeros(m, np.int32), at_limits(chain, angles).any(axis=1))
    unit = replace(rows, points=in_reaches(chain, rows.points))
    fine = max(INNER_PART * tolerance / outer, FINEST)
    free = not (rigid or chain.is_limited or chain.is_sliding)
    if not (rigid or chain.is_sliding) and not is_path and m >= BATCH:
        batch_steps = free_batch_steps if free else limited_batch_steps
        return (yield from batch_steps(bones, unit, fine, rounds))

    def solve(pose: list[float], x: float, y: float, bend: float, was_out: bool) -> Steps[Found]:
        if free:
            return Found(*solve_free(bones, pose, x, y, bend, fine, rounds), False)
        one = limited_steps if chain.is_sliding else joined_steps if rigid else any_steps
        own = pinned(bones, pose) if chain.is_sliding else bones
        return (yield from one(own, pose, x, y, bend, fine, rounds, asks_first=was_out))

    if is_path:
        return (yield from _solve_path(chain, solve, unit))
    return (yield from _solve_in_turn(solve, unit))


def _exact(chain: Chain, rows: Targets, tolerance: float) -> Floats:
    """Return the nearest poses of one or two bones with limits, on the side that the start bends to."""
    sides = [side_of(start, bend) for start, bend in zip(rows.starts.tolist(), rows.bend, strict=True)]
    return _exact_on(chain, rows, np.array(sides), tolerance)


def _exact_on(chain: Chain, rows: Targets, sides: Floats, tolerance: float) -> Floats:
    """Return the nearest poses of one or two bones with limits, on the sides (m,) where both reach."""
    if len(chain) == 1:
        direction = np.arctan2(rows.points[:, 1:], rows.points[:, :1])
        return within_limits(chain, direction, rows.starts)
    return solve_limited_pair(chain, rows.points, sides, rows.starts, tolerance)[0]


def _exact_path(chain: Chain, rows: Targets, tolerance: float) -> Floats:
    """Return the poses of _exact for frames each of which starts from the one before.

    The nearest rotations depend on the frame before by its side alone. So they are found for both sides at
    once, and a frame only chooses: the side, and the numbers that go on from the last one's.
    """
    m = len(rows.points)
    both = {side: _exact_on(chain, rows, np.full(m, side), tolerance) for side in (1.0, -1.0)}
    angles, pose = np.empty_like(rows.starts), rows.starts[0]
    side = last = float(rows.bend[0])
    for row, bend in enumerate(rows.bend.tolist()):
        side = side_of(pose.tolist(), side) if bend == last else bend
        last = bend
        pose = angles[row] = within_limits(chain, both[side][row], pose)
    return angles


def _solve_in_turn(solve: Solver, rows: Targets) -> Steps[Poses]:
    """Return poses, one target after the other, each from its own start."""
    poses = Poses.empty(rows)
    targets = zip(rows.starts.tolist(), rows.points.tolist(), rows.bend.tolist(), strict=True)
    for row, (start, (x, y), bend) in enumerate(targets):
        poses.fill(row, *(yield from solve(start, x, y, bend, False)))
        yield row + 1
    return poses


def _solve_path(chain: Chain, solve: Solver, rows: Targets) -> Steps[Poses]:
    """Return poses, one target after the other, each from the pose of the one before."""
    poses = Poses.empty(rows)
    pose, last = rows.starts[0].tolist(), float(rows.bend[0])
    side, was_out, n = last, False, len(chain)
    in_annulus = are_inside(Bones.of(chain), rows)
    for row, ((x, y), bend) in enumerate(zip(rows.points.tolist(), rows.bend.tolist(), strict=True)):
        # The side is kept, since a target out of reach puts the chain on a line, which has none.
        side = side_of(pose[:n], side)
        if bend != last:
            slides = [slide * chain.reach[1] for slide in pose[n:]]
            pose = turned_over(chain, pose[:n], bend, slides) + pose[n:]
            side = last = bend
        found = yield from solve(pose, x, y, side, was_out)
        poses.fill(row, *found)
        pose, was_out = found.angles, found.is_out and bool(in_annulus[row])
        yield row + 1
    return poses


def turned_over(
    chain: Chain, angles: list[float], bend: float, slides: list[float] | None = None
) -> list[float]:
    """Return the angles (n) that bend to the side `bend`: mirrored, as far as limits and rigid joints allow.

    slides: (n) the added lengths, which stay as they are; None: none.
    """
    if side_of(angles, bend) == bend:
        return angles
    bones = Bones.of(chain)
    if slides:
        bones = replace(bones, lengths=(chain.lengths + slides).tolist())
    moved = np.array(mirrored(bones, angles))
    limited: list[float] = within_limits(chain, moved, np.array(angles)).tolist()
    return limited
