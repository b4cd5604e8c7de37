# SPDX-License-Identifier: GPL-3.0-or-later
"""Aiming at the targets of all frames: solve, then correct the miss by Blender's own forward kinematics."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core import Solution, Status
from ...core.affine import Frames, changed
from ...core.chain import DEFAULT_TOLERANCE, going_on
from ...core.inputs import Floats, wrapped
from ...core.one_target.bones import CORRECTIONS, FINE
from ...core.path import turned_over
from ...core.solution import Steps
from ...rig.pose.keyed_pose import NeighborPoses
from ...rig.pose.swings import swung
from ...rig.scene.samples import ChainSamples, solvable
from .problem import NOTHING_TO_JOIN, Problem, tips_of
from .solvers import StartPose
from .stretching import problem_of
from .turn_over import between, going_on_free, root_turns, shares, turned_by

# Hinges askew need more rounds: at 15 degrees and ten bones each leaves up to nine tenths of the miss.
HINGE_CORRECTIONS = 60
# Frames that may blend towards the pose of the keys after the range, and the difference (radians a frame)
# above which they do.
LED_FRAMES = 24
_APART = np.radians(1.0)


@dataclass(frozen=True, eq=False)
class Aimed(Frames):
    """The result of aiming at the targets of all frames."""

    solution: Solution  # with its slides
    turns: Floats  # (frames, n) local ones
    angles: Floats  # (frames, n) the solver's, from which these were made
    tips: Floats | None = None  # (frames, 2) of these turns, in the plane; None where that is not known
    aside: Floats | None = None  # as SolvedChain has it


def aim(
    problem: Problem,
    starts: StartPose | None,
    times: Sequence[float],
    neighbors: NeighborPoses = NOTHING_TO_JOIN,
    beyond: ChainSamples | None = None,
) -> Steps[Aimed]:
    """Aim at the targets of all frames. Arguments as in Asked.

    After the first solve aim again by the miss of Blender's own forward kinematics: tiny, but more than
    our tolerance. Where the joints are free they turn by as little as corrects it.
    """
    solution = yield from problem.all(starts)
    if not problem.rig.has_memory:
        solution = _numbers_going_on(problem, solution)
    if problem.rig.goes_on and beyond is not None:
        solution = yield from _led(problem, solution, times, neighbors, beyond)
    slides = solution.slides
    intended, angles = tips_of(problem.lengths + slides, solution.angles), solution.angles
    turns = problem.turns(angles)
    if problem.rig.joints.askew or problem.sliding is not None and problem.sliding.askew:
        return (yield from _aimed_askew(problem, solution, intended))
    aims, reached = intended, solution.arrived
    joints = problem.joints(turns, slides)
    for _ in range(CORRECTIONS):
        missed = problem.but_fine(np.where(reached[:, None], intended - joints[:, -1], 0.0))
        if not missed.any():
            break
        aims = aims + missed
        change, small = problem.mended(joints, missed)
        angles, turns = angles + change, turns + turned_by(problem.linkage, change)
        frames = np.flatnonzero(reached & ~small)
        if frames.size:
            again = yield from problem.again(aims[frames], StartPose(angles[frames], slides[frames]), frames)
            slides = slides.copy()
            angles[frames], slides[frames] = again.angles, again.slides
            turns = problem.turned_again(turns, angles, frames)
        joints = problem.joints(turns, slides)
    tips = joints[:, -1] if problem.is_flat and problem.stretched is None else None
    return Aimed(changed(solution, slides=slides), turns, angles, tips)


def flip_over(problem: Problem, bend: Floats, aimed: Aimed) -> Steps[Aimed]:
    """Return the result between both sides where the chain turns over: see turn_over.py.

    bend: (frames,) -1..+1; aimed: at the nearer side.
    """
    solution, turns, angles = aimed.solution, aimed.turns, aimed.angles
    share, held, starts = shares(bend), problem.rig.joints.held, None
    if problem.rig.has_memory:
        rows = zip(range(len(angles)), angles.tolist(), (-problem.bend).tolist(), strict=True)
        over = [turned_over(problem.chain(row), pose, side) for row, pose, side in rows]
        starts = StartPose(np.array(over), solution.slides)
    alone = problem.rig.solved_by(starts_from_rest=True)
    other = yield from changed(problem, rig=alone, bend=-problem.bend).all(starts)
    middle = between(angles, other.angles, share, held)
    slides = solution.slides + share[:, None] * (other.slides - solution.slides)
    moved = turns + turned_by(problem.linkage, middle - angles)
    if not held[0]:
        tips = problem.linkage.tips(moved, problem.added(slides))
        point = root_turns(tips, problem.rig.plane.project(problem.points), float(problem.sizes.max()))
        way = np.where(share > 0.0, point, 0.0)
        middle[:, 0] += way
        moved[:, 0] += way
    return Aimed(changed(solution, slides=slides), going_on_free(moved, held), middle)


def _aimed_askew(problem: Problem, solution: Solution, intended: Floats) -> Steps[Aimed]:
    """Aim a chain with hinges or slides askew, from its solution as if all were in the plane.

    Each frame keeps its best round; a miss above the tolerance then is not reached. intended: (frames,
    2) tips of that solution.
    """
    rig, size = problem.rig, problem.lengths[0].sum()
    aims, angles, status = intended.copy(), solution.angles, solution.status.copy()
    slides = best_slides = solution.slides
    turns = best = problem.turns(angles)
    nearest = np.full(len(aims), np.inf)
    tolerance = rig.settings.tolerance or DEFAULT_TOLERANCE * size
    open_ = solution.arrived
    for _ in range(HINGE_CORRECTIONS):
        missed = intended - problem.joints(turns, slides)[:, -1]
        distance = np.hypot(*missed.T)
        better, much_better = distance < nearest, distance < 0.5 * nearest
        best = np.where(better[:, None], turns, best)
        best_slides = np.where(better[:, None], slides, best_slides)
        nearest = np.where(better, distance, nearest)
        open_ &= (nearest > tolerance) | (much_better & (nearest > FINE * size))
        if not open_.any():
            break
        aims[open_] += missed[open_]
        frames = np.flatnonzero(open_)
        aimed = yield from problem.again(aims[frames], StartPose(angles[frames], slides[frames]), frames)
        angles, slides = angles.copy(), slides.copy()
        angles[frames], slides[frames], status[frames] = aimed.angles, aimed.slides, aimed.status
        turns = problem.turns(angles)
    missing = solution.arrived & (nearest > tolerance)
    status = np.where(missing, np.where(status == Status.REACHED, Status.STALLED, status), solution.status)
    return Aimed(changed(solution, status=status.astype(np.int8), slides=best_slides), best, solution.angles)


def _numbers_going_on(problem: Problem, solution: Solution) -> Solution:
    """Return the solution with continuous angles of limited joints whose range has room for two."""
    limits, angles = problem.rig.joints.limits, solution.angles.copy()
    for i in np.flatnonzero(limits[:, 1] - limits[:, 0] >= 2.0 * np.pi):
        near = 0.0 if problem.near is None else float(problem.near[0, i])
        low, high = limits[i].tolist()
        turns = going_on(angles[:, i] - problem.unturned[:, i], low, high, near)
        angles[:, i] = turns + problem.unturned[:, i]
    return changed(solution, angles=angles)


def _led(
    problem: Problem,
    solution: Solution,
    times: Sequence[float],
    neighbors: NeighborPoses,
    beyond: ChainSamples,
) -> Steps[Solution]:
    """Return the solution with its last frames blended to the pose of the keys after them.

    Where the path would reach another pose there, each frame starts nearer to it by its share of the
    time left; corrections then bring the tip to its target. Where one misses a target that the path
    reached, the path stays.
    """
    after, rig = neighbors.after, problem.rig
    if after is None or not solvable(rig, beyond).all():
        return solution
    m, gap = len(times), after.frame - times[-1]
    there = changed(problem_of([rig], [swung(rig, beyond)]), near=None)
    going_there = solution.angles[-1] + there.unturned[0] - problem.unturned[-1]
    natural = yield from there.one(0, StartPose(going_there, solution.slides[-1]), goes_on=True)
    missing = wrapped(there.angles_of(after.turns, 0) - natural.angles[0])
    if np.abs(missing).max() <= _APART * gap:
        return solution
    first = int(np.searchsorted(times, times[-1] - LED_FRAMES, side="right"))
    if first:
        last, time = StartPose(solution.angles[first - 1], solution.slides[first - 1]), times[first - 1]
    else:
        last = problem.start or StartPose(solution.angles[0], solution.slides[0])
        time = neighbors.before.frame if neighbors.before else times[0] - 1.0
    parts = [solution.at(range(first))]
    for row in range(first, m):
        way = problem.angles_of(after.turns, row) - last.angles
        way = np.where(rig.joints.held, way, wrapped(way))
        slide = problem.solvers(after.slides, row) - last.slides
        share = (times[row] - time) / (after.frame - time)
        posed = yield from problem.one(row, StartPose(last.angles + way * share, last.slides + slide * share))
        if solution.arrived[row] and not posed.arrived[0]:
            return solution
        parts.append(posed if solution.parted is None else changed(posed, parted=np.ones(1, np.bool_)))
        last, time = StartPose(posed.angles[0], posed.slides[0]), times[row]
        yield row + 1
    return Solution.joined(parts)
