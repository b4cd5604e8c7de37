# SPDX-License-Identifier: GPL-3.0-or-later
"""Who takes part in solving: each takes Problems and says how it did."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from ik2d_addon.core import Chain, forward, solve_ccd

from . import ik_constraint, plain_ccd
from .problems import Floats, Problems

# What those that have a tolerance are asked for: our default, as a part of the reach.
TOLERANCE = 1e-6
FINE_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Answers:
    """What one contestant made of a set of problems. All lengths are parts of the reach."""

    residual: Floats  # (m,) tip to target
    seconds: float  # a solve, the median of them
    off_plane: float = 0.0  # the furthest that any joint left the plane
    outside: float = 0.0  # the furthest that any angle was outside its limits


@dataclass(frozen=True)
class Contestant:
    """A way to solve problems, and what to call it."""

    name: str
    solve: Callable[[Problems], Answers]


def ours_single(problems: Problems, tolerance: float = TOLERANCE) -> Answers:
    """Solve one target after the other, each with a call of its own."""
    chain = chain_of(problems)
    angles, seconds = np.empty_like(problems.starts), np.empty(len(problems))
    for i, (start, target) in enumerate(zip(problems.starts, problems.targets, strict=True)):
        began = perf_counter()
        angles[i] = solve_ccd(chain, target, start=start, tolerance=tolerance).angles
        seconds[i] = perf_counter() - began
    return _judged(problems, angles, float(np.median(seconds)))


def ours_batch(problems: Problems, tolerance: float = TOLERANCE) -> Answers:
    """Solve all targets with one call."""
    chain, seconds = chain_of(problems), []
    for _ in range(3):
        began = perf_counter()
        solution = solve_ccd(chain, problems.targets, start=problems.starts, tolerance=tolerance)
        seconds.append((perf_counter() - began) / len(problems))
    return _judged(problems, solution.angles, min(seconds))


def plain(iterations: int) -> Callable[[Problems], Answers]:
    """Return plain CCD with at most so many iterations; limits clamp the angles."""

    def solve(problems: Problems) -> Answers:
        lengths, limits = problems.lengths.tolist(), None
        if problems.limit is not None:
            limits = [(-problems.limit, problems.limit)] * len(lengths)
        angles, seconds = np.empty_like(problems.starts), np.empty(len(problems))
        pairs = zip(problems.starts.tolist(), problems.targets.tolist(), strict=True)
        for i, (start, target) in enumerate(pairs):
            began = perf_counter()
            angles[i] = plain_ccd.solve(lengths, start, target, TOLERANCE, iterations, limits)
            seconds[i] = perf_counter() - began
        return _judged(problems, angles, float(np.median(seconds)))

    return solve


def blender(locked: bool) -> Callable[[Problems], Answers]:
    """Return Blender's IK constraint; its time is that of evaluating a scene with nothing else in it."""

    def solve(problems: Problems) -> Answers:
        rig = ik_constraint.rig_for(problems, locked)
        residual, seconds, off_plane = np.empty(len(problems)), np.empty(len(problems)), 0.0
        for i, (start, target) in enumerate(zip(problems.starts, problems.targets, strict=True)):
            rig.start_from(start)
            rig.aim_at(*target.tolist())
            began = perf_counter()
            rig.solve()
            seconds[i] = perf_counter() - began
            joints = ik_constraint.joints_of(rig.frames(), problems.lengths)
            residual[i] = np.linalg.norm(joints[-1] - (*target, 0.0))
            off_plane = max(off_plane, float(np.abs(joints[:, 2]).max()))
        return Answers(residual, float(np.median(seconds)), off_plane)

    return solve


def chain_of(problems: Problems) -> Chain:
    """Return the problems' chain for our solvers."""
    limits = None
    if problems.limit is not None:
        limits = np.tile((-problems.limit, problems.limit), (len(problems.lengths), 1))
    return Chain(problems.lengths, limits)


def _judged(problems: Problems, angles: Floats, seconds: float) -> Answers:
    residual = np.linalg.norm(forward(Chain(problems.lengths), angles)[:, -1] - problems.targets, axis=1)
    outside = 0.0 if problems.limit is None else max(0.0, float(np.abs(angles).max()) - problems.limit)
    return Answers(residual, seconds, outside=outside)


FINE = Contestant("IK 2D, asked for 1e-9", lambda problems: ours_batch(problems, FINE_TOLERANCE))
OURS = Contestant("IK 2D", ours_single)
ALL = (
    OURS,
    Contestant("IK 2D, all at once", ours_batch),
    FINE,
    Contestant("plain CCD, 20 iterations", plain(20)),
    Contestant("plain CCD, 100 iterations", plain(100)),
    Contestant("IK constraint", blender(locked=False)),
    Contestant("IK constraint, locked to the plane", blender(locked=True)),
)
