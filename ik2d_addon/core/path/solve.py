# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets that follow one another: each is solved from the pose of the one before, drawn to least bend."""

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from ..ccd.rigid import has_rigid, mirrored, turning_side
from ..ccd.rows import SolvedTargets, Targets, are_inside
from ..ccd.shapes import side_of
from ..ccd.solve import (
    MAX_ITERATIONS,
    Solver,
    exact_on,
    exact_poses,
    inner_tolerance,
    is_exact,
    solution_steps,
    solver_of,
    starting_pose,
)
from ..ccd.sweep import CcdBones, compared
from ..chain import Chain, checked_angles, checked_chain, checked_targets, in_reaches, within_limits
from ..errors import IK2DError
from ..inputs import Floats, checked_bend, checked_kind, number
from ..softness import checked_softness
from ..solution import Solution, Steps, drained
from .posture import GAIN, Posture, Pull

NO_PATH = "a path takes targets of shape (frames, 2) and one start of shape (n,)"


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
    rest: ArrayLike | None = None,
    posture_gain: float = GAIN,
) -> Solution:
    """Solve targets that follow one another: each starts from the angles of the one before.

    Corrections change a pose as little as they can, so a smooth path gives smooth angles. On the way the
    pose is drawn to that of least bend, in the null space of the tip (posture.py), and a path that comes home
    brings the pose home. Without a start, or from one whose joints are up to half a radian off that of least
    bend, no joint winds up. From farther off, as from a rest pose far from the first target, a pose may stay
    where all those around it are farther from the least one, with a joint bent by 174 degrees for ever. A
    chain that a target out of reach has stretched or folded bends back to the side it came from. Where the
    bend changes from one frame to the next, the pose is mirrored to the new side first.
    targets: (frames, 2) relative to the root. start: (n,) angles for the first one, start_slides: (n,) or
    None; without a start it is the pose of solve_even for the first target and bend. bend, softness: one for
    all, or (frames,). rest: (n,) angles of least bend, straight if not given. posture_gain: how strongly
    the pose is drawn, for each reach that the target moves; 0: not at all.
    tolerance, max_iterations and the result as in solve_ccd. Raises IK2DError for other shapes and numbers.

    >>> chain, path = Chain([1.0, 1.0, 1.0]), [[2.0, 0.0], [2.0, 0.1], [2.0, 0.2]]
    >>> solution = solve_ccd_path(chain, path, start=np.radians([-40, 40, 40]))
    >>> bool(solution.reached.all()), solution.angles.shape
    (True, (3, 3))
    """
    checked_chain(chain)
    return drained(
        path_steps(
            chain,
            targets,
            start=start,
            start_slides=start_slides,
            tolerance=tolerance,
            max_iterations=max_iterations,
            bend=bend,
            softness=softness,
            posture=posture_of(chain, rest, posture_gain),
        )
    )


def posture_of(chain: Chain, rest: ArrayLike | None = None, gain: float = GAIN) -> Posture:
    """Return the posture of a chain with a rest pose (n,), straight if not given. gain: 0 or more.

    >>> posture_of(Chain([1.0, 1.0, 1.0]), gain=5.0).gain
    5.0
    """
    checked_chain(chain)
    angles = checked_angles(chain, np.zeros(len(chain)) if rest is None else rest, "rest")
    if angles.ndim != 1:
        raise IK2DError(f"rest must be {len(chain)} angles, one a bone, not of shape {angles.shape}")
    strength = number(gain, "posture_gain")
    if strength < 0.0:
        raise IK2DError(f"posture_gain must be 0 or more, not {strength}")
    if chain.weights is not None:  # only how they compare means anything
        chain = replace(chain, weights=np.array(compared(chain.weights.tolist())))
    return Posture(chain, angles, strength)


def path_steps(
    chain: Chain,
    targets: ArrayLike,
    *,
    start: ArrayLike | None,
    start_slides: ArrayLike | None = None,
    tolerance: float | None = None,
    max_iterations: int = MAX_ITERATIONS,
    bend: ArrayLike = 1,
    softness: ArrayLike = 0.0,
    posture: Posture,
) -> Steps[Solution]:
    """Return the solution of solve_ccd_path; yield the targets done, or 0 within one.

    posture: of this chain, or of one with as many bones whose goals are near enough.

    >>> chain = Chain([1.0, 1.0, 1.0])
    >>> list(path_steps(chain, [[2.0, 0.0], [2.0, 0.1]], start=None, posture=posture_of(chain)))
    [1, 2]
    """
    checked_chain(chain)
    checked_kind(posture, Posture, "posture")
    if len(posture.rest) != len(chain):
        raise IK2DError(f"posture must be of {len(chain)} bones, as the chain, not of {len(posture.rest)}")
    if posture.chain.is_sliding != chain.is_sliding:
        raise IK2DError("posture must be of a chain that slides where this one does, and only there")
    points, sides, soft = checked_targets(targets), checked_bend(bend), checked_softness(softness)
    refuse_no_path(points, sides, soft)
    if start is None and len(points):
        start, start_slides = posture.first(points[0], float(sides.flat[0]))
    starts = starting_pose(chain, posture.rest if start is None else start, start_slides)
    if starts.ndim != 1:
        raise IK2DError(NO_PATH)
    rows = Targets.spread(points.shape[:1], points, starts, sides)
    solve = partial(_solve, posture=posture.started(starts[: len(chain)]))
    return (yield from solution_steps(chain, rows, points.shape[:1], soft, tolerance, max_iterations, solve))


def refuse_no_path(targets: Floats, bend: Floats, softness: Floats) -> None:
    """Raise IK2DError for shapes that are not those of one path."""
    if targets.ndim != 2:
        raise IK2DError(NO_PATH)
    m = len(targets)
    for name, values in (("bend", bend), ("softness", softness)):
        if values.shape not in ((), (m,)):
            raise IK2DError(f"a path takes one {name} or {m}, one a frame, not of shape {values.shape}")


def _solve(
    chain: Chain, rows: Targets, tolerance: float, rounds: int, posture: Posture
) -> Steps[SolvedTargets]:
    """Return poses for all rows, by the way that fits the chain. rounds: the most corrections."""
    if chain.reach[1] == 0.0 or len(rows.points) == 0:
        return SolvedTargets.unmoved(rows)
    if is_exact(chain):
        return exact_poses(chain, _exact(chain, rows, tolerance))
    unit = replace(rows, points=in_reaches(chain, rows.points))
    pull = Pull(posture, chain, unit) if posture.gain else None
    solver = solver_of(chain, inner_tolerance(chain, tolerance), rounds)
    return (yield from _solve_in_turn(chain, solver, unit, pull if pull and pull.has_room else None))


def _exact(chain: Chain, rows: Targets, tolerance: float) -> Floats:
    """Return the exact poses of frames each of which starts from the one before.

    The nearest rotations depend on the frame before by its side alone. So they are found for both sides at
    once, and a frame only chooses: the side, and the numbers that go on from the last one's.
    """
    m = len(rows.points)
    both = {side: exact_on(chain, rows, np.full(m, side), tolerance) for side in (1.0, -1.0)}
    angles, pose = np.empty_like(rows.starts), rows.starts[0]
    side = last = float(rows.bend[0])
    for row, bend in enumerate(rows.bend.tolist()):
        side = side_of(pose.tolist(), side) if bend == last else bend
        last = bend
        pose = angles[row] = within_limits(chain, both[side][row], pose)
    return angles


def _solve_in_turn(chain: Chain, solve: Solver, rows: Targets, pull: Pull | None) -> Steps[SolvedTargets]:
    """Return poses, one target after the other, each from the pose of the one before."""
    bones, poses, n = CcdBones.of(chain), SolvedTargets.empty(rows), len(chain)
    pose, last = rows.starts[0].tolist(), float(rows.bend[0])
    side, was_out = last, False
    turned_to: float | None = last
    in_annulus = are_inside(bones, rows)
    side_now = partial(turning_side, bones) if has_rigid(bones) else side_of
    for row, ((x, y), bend) in enumerate(zip(rows.points.tolist(), rows.bend.tolist(), strict=True)):
        # The side is kept, since a target out of reach puts the chain on a line, which has none.
        side = side_now(pose[:n], side)
        if bend != last:
            slides = [slide * chain.reach[1] for slide in pose[n:]]
            pose = turned_over(chain, pose[:n], bend, slides) + pose[n:]
            side = last = turned_to = bend
        if pull:
            pose = pull.drawn(row, pose, turned_to)
        turned_to = bend if row == 0 else None  # sweeps to the first target may lead to another side
        solved = yield from solve(pose, x, y, side, was_out)
        poses.fill(row, *solved)
        pose, was_out = solved.angles, solved.is_out and bool(in_annulus[row])
        yield row + 1
    return poses


def turned_over(
    chain: Chain, angles: list[float], bend: float, slides: list[float] | None = None
) -> list[float]:
    """Return the angles (n) that bend to the side `bend`: mirrored, as far as limits and rigid joints allow.

    slides: (n) the added lengths, which stay as they are; None: none.
    """
    bones = CcdBones.of(chain)
    if slides:
        bones = replace(bones, lengths=((chain.lengths + slides) / (chain.reach[1] or 1.0)).tolist())
    if turning_side(bones, angles, bend) == bend:
        return angles
    moved = np.array(mirrored(bones, angles))
    limited: list[float] = within_limits(chain, moved, np.array(angles)).tolist()
    return limited
