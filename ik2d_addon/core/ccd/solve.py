# SPDX-License-Identifier: GPL-3.0-or-later
"""The solvers for chains of any number of bones: solve_ccd for targets on their own, and for a path."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..chain import Chain, at_limits, checked_angles, checked_targets, in_reaches, within_limits
from ..errors import IK2DError
from ..inputs import Floats, checked_bend
from ..softness import checked_softness, soft_targets
from ..solution import Solution, Status, annulus_status, distances_to
from ..two_bone import solve_limited_pair
from .batch import Targets, solve_free_batch
from .rigid import is_rigid, solve_any, solve_joined
from .shapes import side_of
from .sweep import Bones

# Solves one target: from a pose, to x and y, bent to a side; returns the pose and the iterations.
Solver = Callable[[list[float], float, float, float], tuple[list[float], int]]

# Corrections for one start. The tenth part of them is usual; then another way is taken.
MAX_ITERATIONS = 60
# Solvers aim at this part of the tolerance, so that rounding in forward() makes no one fail it.
INNER_PART = 0.5
# The finest tolerance that rounding leaves to a chain of some hundred bones, as a part of its reach.
FINEST = 1e-13
# From so many targets on, arrays are faster than one float after the other.
BATCH = 16


def solve_ccd(
    chain: Chain,
    target: ArrayLike,
    *,
    start: ArrayLike,
    tolerance: float | None = None,
    max_iterations: int = MAX_ITERATIONS,
    bend: ArrayLike = 1,
    softness: float = 0.0,
) -> Solution:
    """Bring the tip to each target, starting each time from the pose `start`.

    Where the target is far from the tip, two sweeps of CCD shape the pose; corrections of all joints
    at once, the least there are, take the tip to the target exactly. Without limits and rigid joints
    every target in the annulus of reach is reached from every start, and every other gets the nearest
    pose, TOO_FAR or TOO_CLOSE. With limits, LIMITED is a target within the annulus that no start got
    nearer to, while joints stood at their limits, and STALLED one where none did.

    target: (..., 2) relative to the root. start: (..., n) angles to begin with, such as last
    frame's; of equal rotations the answer's numbers are those near the start's. tolerance: a length.
    max_iterations: the most corrections from one start. bend: +1 or -1 (...), the side that a start
    on one line bends to. softness: 0..1, see softness.py.
    Raises IK2DError for other shapes and numbers.
    """
    targets, sides = checked_targets(target), checked_bend(bend)
    starts = checked_angles(chain, start, "start")
    shape = np.broadcast_shapes(targets.shape[:-1], sides.shape, starts.shape[:-1])
    rows = Targets(
        np.broadcast_to(targets, (*shape, 2)).reshape(-1, 2),
        np.broadcast_to(starts, (*shape, len(chain))).reshape(-1, len(chain)),
        np.broadcast_to(sides, shape).reshape(-1),
    )
    settings = _Settings.checked(chain, tolerance, max_iterations, softness, is_path=False)
    return _solution(chain, rows, settings, shape)


def solve_ccd_path(
    chain: Chain,
    targets: ArrayLike,
    *,
    start: ArrayLike,
    tolerance: float | None = None,
    max_iterations: int = MAX_ITERATIONS,
    bend: int = 1,
    softness: float = 0.0,
) -> Solution:
    """Solve targets that follow one another: each starts from the angles of the one before.

    Corrections change a pose as little as they can, so a smooth path gives smooth angles. A chain
    that a target out of reach has stretched or folded bends back to the side it came from.
    targets: (frames, 2) relative to the root. start: (n,) angles for the first one.
    The rest as in solve_ccd.
    """
    points, side = checked_targets(targets), checked_bend(bend)
    angles = checked_angles(chain, start, "start")
    if points.ndim != 2 or angles.ndim != 1 or side.ndim != 0:
        raise IK2DError("a path takes targets of shape (frames, 2), one start of shape (n,), and one bend")
    m = len(points)
    rows = Targets(points, np.broadcast_to(angles, (m, len(chain))), np.broadcast_to(side, m))
    settings = _Settings.checked(chain, tolerance, max_iterations, softness, is_path=True)
    return _solution(chain, rows, settings, (m,))


@dataclass(frozen=True)
class _Settings:
    """What a caller asks of a solve, checked."""

    tolerance: float
    max_iterations: int
    softness: float
    is_path: bool  # whether each target starts from the pose of the one before

    @classmethod
    def checked(
        cls, chain: Chain, tolerance: float | None, max_iterations: int, softness: float, *, is_path: bool
    ) -> "_Settings":
        """Return the settings; raise IK2DError for numbers out of range."""
        limit, soft = chain.tolerance_or_default(tolerance), checked_softness(softness)
        if max_iterations < 1:
            raise IK2DError(f"max_iterations must be 1 or more, not {max_iterations}")
        return cls(limit, max_iterations, soft, is_path)


def _solution(chain: Chain, rows: Targets, settings: _Settings, shape: tuple[int, ...]) -> Solution:
    """Solve rows, judge them by where they really put the tip, and give them their shape."""
    limit = settings.tolerance
    angles, iterations = _solve(chain, rows, settings)
    residual = distances_to(chain, angles, rows.points)
    status = annulus_status(chain, rows.points, limit)
    limited = at_limits(chain, angles)
    missed = (status == Status.REACHED) & (residual > limit)
    status[missed] = np.where(_is_held(chain, limited)[missed], Status.LIMITED, Status.STALLED)
    if settings.softness > 0.0:
        soft_rows = Targets(soft_targets(chain, rows.points, settings.softness), rows.starts, rows.bend)
        angles, iterations = _solve(chain, soft_rows, settings)
        residual, limited = distances_to(chain, angles, rows.points), at_limits(chain, angles)
    return Solution(
        angles=angles.reshape(*shape, len(chain)),
        status=status.reshape(shape),
        residual=residual.reshape(shape),
        iterations=iterations.reshape(shape),
        limited=limited.reshape(*shape, len(chain)),
    )


def _is_held(chain: Chain, limited: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which rows of `limited` (m, n) have a joint at its limit, or any a rigid joint."""
    rigid = chain.weights is not None and bool((chain.weights == 0.0).any())
    held: NDArray[np.bool_] = limited.any(axis=1) | rigid
    return held


def _solve(chain: Chain, rows: Targets, settings: _Settings) -> tuple[Floats, NDArray[np.int32]]:
    """Return angles (m, n) and iterations (m,), by the way that fits the chain."""
    n, outer = len(chain), chain.reach[1]
    nothing = np.zeros(len(rows.points), np.int32)
    starts = within_limits(chain, rows.starts, rows.starts)
    bones = Bones.of(chain)
    rigid = any(is_rigid(bones, i) for i in range(n))
    if outer == 0.0 or len(rows.points) == 0:
        return starts, nothing
    if chain.is_limited and not rigid and n <= 2:
        return _solve_exactly(chain, Targets(rows.points, starts, rows.bend), settings.tolerance), nothing
    unit = Targets(in_reaches(chain, rows.points), starts, rows.bend)
    fine, rounds = max(INNER_PART * settings.tolerance / outer, FINEST), settings.max_iterations
    if not (settings.is_path or rigid or chain.is_limited) and len(starts) >= BATCH:
        return solve_free_batch(bones, unit, fine, rounds)

    def solve(pose: list[float], x: float, y: float, bend: float) -> tuple[list[float], int]:
        one = solve_joined if rigid else solve_any
        return one(bones, pose, x, y, bend, fine, rounds)

    return _solve_path(solve, unit) if settings.is_path else _solve_in_turn(solve, unit)


def _solve_exactly(chain: Chain, rows: Targets, tolerance: float) -> Floats:
    """Return the nearest poses of one or two bones with limits, on the side that the start bends to."""
    if len(chain) == 1:
        direction = np.arctan2(rows.points[:, 1:], rows.points[:, :1])
        return within_limits(chain, direction, rows.starts)
    sides = np.array(
        [side_of(start, bend) for start, bend in zip(rows.starts.tolist(), rows.bend, strict=True)]
    )
    return solve_limited_pair(chain, rows.points, sides, rows.starts, tolerance)[0]


def _solve_in_turn(solve: Solver, rows: Targets) -> tuple[Floats, NDArray[np.int32]]:
    """Return angles and iterations, one target after the other, each from its own start."""
    angles, iterations = np.empty_like(rows.starts), np.zeros(len(rows.points), np.int32)
    targets = zip(rows.starts.tolist(), rows.points.tolist(), rows.bend.tolist(), strict=True)
    for row, (start, (x, y), bend) in enumerate(targets):
        angles[row], iterations[row] = solve(start, x, y, bend)
    return angles, iterations


def _solve_path(solve: Solver, rows: Targets) -> tuple[Floats, NDArray[np.int32]]:
    """Return angles and iterations, one target after the other, each from the pose of the one before."""
    angles, iterations = np.empty_like(rows.starts), np.zeros(len(rows.points), np.int32)
    pose, bend = rows.starts[0].tolist(), float(rows.bend[0])
    for row, (x, y) in enumerate(rows.points.tolist()):
        # The side is kept, since a target out of reach puts the chain on a line, which has none.
        bend = side_of(pose, bend)
        pose, iterations[row] = solve(pose, x, y, bend)
        angles[row] = pose
    return angles, iterations
