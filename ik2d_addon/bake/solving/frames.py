# SPDX-License-Identifier: GPL-3.0-or-later
"""One chain over all frames: how it is held, where its target is -> how its joints turn."""

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import IK2DError, Solution
from ...core.affine import Frames, changed, is_constant, norms, product, turned, unrepeated
from ...core.chain import DEFAULT_TOLERANCE
from ...core.inputs import Floats, wrapped
from ...core.one_target.bones import FINE
from ...core.solution import Steps, mapped
from ...core.words import noted, refusal, say
from ...rig.chain.chain import RigChain
from ...rig.pose.bone_matrices import carried_by_swings, first_rotations
from ...rig.pose.hand_rotations import angles_between
from ...rig.pose.keyed_pose import NeighborPoses, OwnPose
from ...rig.pose.kinematics import Linkage, read_linkage
from ...rig.pose.measures import is_uneven, uneven, uneven_above
from ...rig.pose.swings import PlaneTurns, as_far, blended_swings, flips, swung
from ...rig.scene.rounding import reached_within
from ...rig.scene.samples import ChainSamples
from .aiming import Aimed, aim, flip_over
from .problem import NOTHING_TO_JOIN, Problem
from .solvers import StartPose
from .stretching import lengthened, problem_of, with_scale
from .turn_over import shares

# A turn from the frames of a bake to the keys next to them, in degrees a frame, that is worth a warning.
JUMP = 30.0


@dataclass(frozen=True, eq=False)
class TipMiss(Frames):
    """How far a tip is off its target, as posed. Lengths are the world's."""

    residual: Floats  # (frames,) tip to target, seen along the plane's normal
    off_plane: Floats  # (frames,) target to tip, along the plane's normal
    distance: Floats  # (frames,) tip to target


@dataclass(frozen=True, eq=False)
class Noticed(Frames):
    """What else there is to report on the frames of a solved chain. Lengths are the world's."""

    aims: Floats  # (frames, 2) the targets from the root, in the plane, in reaches
    joints_off_plane: float  # the furthest that any joint is off the plane in rest
    uneven_scale: str  # what is scaled unevenly, in words; "" if nothing is
    slides: Floats | None = None  # (frames, n) added lengths, blended by the influence; None: rigid bones
    turning: NDArray[np.bool_] | None = None  # (frames,) where it turns over from one side to the other
    angle_errors: Floats | None = None  # (frames,) radians of the last bone off its angle; None: it is free
    lifts: Floats | None = None  # (frames,) how far the ground lifts the foot; None: it has none


@dataclass(frozen=True, eq=False)
class SolvedChain(Frames):
    """The joints' turns of one chain, and the result of each frame. Lengths are the world's."""

    rig: RigChain
    turns: Floats  # (frames, n) radians about each bone's local axis, blended by the influence
    angles: Floats  # (frames, n) the solver's, from which these turns were made
    solution: Solution  # without softness and influence, but for its angles and slides
    softness: Floats  # (frames,) 0..1
    influence: Floats  # (frames,) 0..1
    miss: TipMiss
    reach: float
    tolerance: float  # tip to target that counts as reached
    noticed: Noticed
    factors: Floats | None = None  # (frames, n) of the bones' lengths; None where they keep these
    locations: Floats | None = None  # (frames, n, 3) of the bones, with the slides that they carry
    linkage: Linkage | None = None  # the one of all frames, but for what holds the root; None: they have many
    # (frames, 3, 3) of a plane that follows its target, in rest space, blended by the influence; None: it is
    # fixed
    swings: Floats | None = None
    plane_turns: PlaneTurns | None = None  # None where the plane is fixed

    @property
    def steps(self) -> Floats:
        """(frames, n) radians that each joint turns from the frame before; the first one with its plane."""
        steps: Floats = np.abs(np.diff(self.turns, axis=0, prepend=self.turns[:1]))
        if self.swings is not None and len(steps) > 1:
            turned = first_rotations(self.rig, self.turns[:, 0], self.swings)
            steps[1:, 0] = angles_between(turned[:-1], turned[1:])
        return steps

    @property
    def joint_speed(self) -> Floats:
        """(frames,) degrees that the fastest joint turns from the frame before."""
        speed: Floats = np.degrees(self.steps.max(axis=1))
        return speed


# So many frames of chains of one kind are solved as one array, which then stays in the processor's cache.
_TOGETHER = 1 << 15


@dataclass(frozen=True, eq=False)
class Asked:
    """A chain, and the frames that it is to be solved at."""

    rig: RigChain
    samples: ChainSamples
    times: Sequence[float]
    neighbors: NeighborPoses = NOTHING_TO_JOIN
    beyond: ChainSamples | None = None  # at the frame of `neighbors.after`, which the last frames join
    other_pose: OwnPose | None = None  # the pose that an influence below 1 blends with; None for none
    starts: StartPose | None = None  # poses to start each frame from, instead of the one before it
    linkage: Linkage | None = None  # that of the samples, where it was read before
    spins: Floats | None = None  # (frames,) of a plane that follows its target, in place of its own

    @cached_property
    def ready(self) -> ChainSamples:
        """The samples with the plane turned to the target."""
        return swung(self.rig, self.samples, self.spins)

    def problem(self) -> Problem:
        """Return the problem of its solver."""
        with self.named():
            linkage = None if self.rig.swing is not None else self.linkage
            return problem_of(self.rig, self.ready, self.neighbors, linkage)

    @contextmanager
    def named(self) -> Iterator[None]:
        """Name the chain in errors."""
        try:
            yield
        except IK2DError as error:
            raise refusal(
                "Chain '{chain}' cannot be solved: {error}", chain=self.rig.name, error=error
            ) from None


def solve_chain(
    rig: RigChain, samples: ChainSamples, times: Sequence[float], *others: Any, **named: Any
) -> Steps[SolvedChain]:
    """Solve all frames of a chain in steps, as `solve_chains`. others, named: the fields of Asked."""
    (solved,) = yield from solve_chains([Asked(rig, samples, times, *others, **named)])
    return solved


def solve_chains(asked: Sequence[Asked]) -> Steps[list[SolvedChain]]:
    """Solve all frames of chains in steps, those of one kind as one array; errors name the chain.

    CCD starts each frame from the one before, and the first from `neighbors.before` or else Even's pose.
    Yields the number of frames done, of all chains together.
    """
    problems, aimed, before = [chain.problem() for chain in asked], {}, 0
    for numbers in _together(asked, problems):
        yield before
        if len(numbers) == 1:
            (number,) = numbers
            alone = _alone(asked[number], problems[number])
            problems[number], aimed[number] = yield from mapped(alone, before.__add__)
        else:
            as_one = _as_one(numbers, asked, problems)
            aimed |= zip(numbers, (yield from mapped(as_one, before.__add__)), strict=True)
        before += sum(len(asked[number].times) for number in numbers)
    solved = []
    for number, (chain, problem) in enumerate(zip(asked, problems, strict=True)):
        solved.append(_solved(chain, problem, aimed[number]))
        yield before
    return solved


def _together(asked: Sequence[Asked], problems: Sequence[Problem]) -> list[list[int]]:
    """Return the numbers of chains, those in one list to be solved as one array."""
    groups: dict[Hashable, list[int]] = {}
    sizes: dict[Hashable, int] = {}
    for number, (chain, problem) in enumerate(zip(asked, problems, strict=True)):
        kind, frames = problem.kind, len(problem.targets)
        key: Hashable = number if kind is None else (kind, chain.starts is None)
        if sizes.get(key, 0) + frames > _TOGETHER and key in groups:  # enough: begin another
            groups[number, "whole"], sizes[key] = groups.pop(key), 0
        groups.setdefault(key, []).append(number)
        sizes[key] = sizes.get(key, 0) + frames
    return list(groups.values())


def _alone(asked: Asked, problem: Problem) -> Steps[tuple[Problem, Aimed]]:
    """Aim a chain that is solved by itself; return its problem, with the lengths found, and the result."""
    with asked.named():
        problem = yield from lengthened(problem, asked.starts)
        aimed = yield from aim(problem, asked.starts, asked.times, asked.neighbors, asked.beyond)
        return problem, (yield from _flipped(asked, problem, aimed))


def _as_one(
    numbers: Sequence[int], asked: Sequence[Asked], problems: Sequence[Problem]
) -> Steps[list[Aimed]]:
    """Aim several chains of one kind, by their numbers, as one array."""
    whole = Problem.joined([problems[number] for number in numbers])
    starts = [start for number in numbers if (start := asked[number].starts) is not None]
    first = asked[numbers[0]]
    aiming = aim(
        whole, StartPose.joined(starts) if starts else None, first.times, first.neighbors, first.beyond
    )
    aimed, results = (yield from aiming), []
    for number, part in zip(numbers, whole.parts, strict=True):
        results.append((yield from _flipped(asked[number], problems[number], aimed.at(part.rows))))
    return results


def _flipped(asked: Asked, problem: Problem, aimed: Aimed) -> Steps[Aimed]:
    """Return the result of aiming where the chain also turns over, and its status."""
    if (np.abs(asked.samples.bend) < 1.0).any():
        with asked.named():
            aimed = yield from flip_over(problem, asked.samples.bend, aimed)
    return changed(aimed, solution=problem.judged(aimed.solution))


def _solved(asked: Asked, problem: Problem, aimed: Aimed) -> SolvedChain:
    """Return the chain as it was aimed, blended by its influence, and what that misses."""
    rig, samples, times = asked.rig, asked.ready, asked.times
    solution, turns, other = aimed.solution, aimed.turns, asked.other_pose
    linkage, slides = problem.linkage, problem.added(solution.slides)
    factors = None if problem.stretched is None else problem.stretched.factors
    points = problem.points
    if other is not None:
        as_solved_turns, turns = turns[:, 0], _blended(rig, turns, other.turns, samples.influence)
        slides = None if slides is None else samples.influence[:, None] * slides
        if samples.swings is not None and other.first is not None:
            both = as_solved_turns, turns[:, 0]
            swings = blended_swings(rig, samples.swings, other.first, both, samples.influence)
            # The miss in the plane as it stands then.
            there, now = (carried_by_swings(rig, each) for each in (samples.swings, swings))
            points = turned(np.linalg.inv(now) @ there, points - rig.plane.origin) + rig.plane.origin
            samples = changed(samples, swings=swings)
        if factors is not None:
            factors = 1.0 + samples.influence[:, None] * (factors - 1.0)
        if factors is not None or samples.swings is not None:
            linkage = read_linkage(rig, with_scale(rig, samples, factors))
    to_world = product(samples.world, linkage.to_pose)
    flat = aimed.tips if other is None else None
    tips = linkage.tips_turned(turns, slides) if flat is None else linkage.lifted(flat)
    miss = (as_far(rig, points, tips) if rig.settings.aims else points) - tips
    height = miss @ rig.plane.normal
    linear = to_world[:, :3, :3]
    in_plane = miss - height[:, None] * rig.plane.normal
    distance = norms(turned(linear, miss))
    sizes = problem.sizes
    along, across = (norms(unrepeated(linear) @ axis) for axis in (rig.plane.x, rig.plane.normal))
    reach = float((along * sizes).max())
    finest = float(along.max()) * (rig.settings.tolerance or DEFAULT_TOLERANCE * float(sizes.max()))
    roots = turned(linear, rig.plane.origin[None]) + to_world[:, :3, 3]
    tolerance = reached_within(finest, reach, samples.world, roots)
    residual, turning = norms(turned(linear, in_plane)), shares(samples.bend) > 0.0
    off_plane = np.abs(height) * across
    if samples.swings is not None:  # between two planes it is off neither
        is_blended = samples.influence < 1.0
        residual = np.where(is_blended, distance, residual)
        off_plane = np.where(is_blended, 0.0, off_plane)
    as_solved = ~turning & (samples.influence == 1.0)
    solution = solution.missing(as_solved & (residual > tolerance), samples.softness)
    jumps = tuple(_jumps(rig, turns, times, asked.neighbors))
    return SolvedChain(
        rig=rig.with_remarks(notes=(*rig.remarks.notes, *jumps)) if jumps else rig,
        turns=turns,
        angles=aimed.angles,
        solution=solution.within(distance <= tolerance),
        softness=samples.softness,
        influence=samples.influence,
        miss=TipMiss(residual, off_plane, distance),
        reach=reach,
        tolerance=tolerance,
        noticed=Noticed(
            aims=problem.targets / np.maximum(problem.lengths.sum(axis=1), FINE)[:, None],
            joints_off_plane=float(along.max()) * rig.remarks.off_plane,
            uneven_scale=_uneven_scale(rig, with_scale(rig, samples), linkage),
            slides=slides,
            turning=turning,
            angle_errors=_angle_errors(problem, turns),
            lifts=samples.lifts if rig.foot is not None and rig.foot.ground is not None else None,
        ),
        factors=factors,
        locations=None if slides is None else _locations(rig, samples, turns, slides),
        linkage=linkage.lasting,
        swings=samples.swings,
        plane_turns=flips(rig, asked.samples, asked.spins),
    )


def _angle_errors(problem: Problem, turns: Floats) -> Floats | None:
    """Return the angles (frames,) of the last bone off its heading, 0 to pi, by local turns (frames, n).

    None where it is free.
    """
    if problem.wanted is None:
        return None
    headings: Floats = problem.linkage.angles_of(turns, problem.headings).sum(axis=1)
    return np.abs(wrapped(headings - problem.wanted))


def _locations(rig: RigChain, samples: ChainSamples, turns: Floats, slides: Floats) -> Floats:
    """Return the locations (frames, n, 3) of the bones, with what slides (frames, n) add to them."""
    locations = samples.bases[:, :, :3, 3].copy()
    if rig.slides is not None:
        for bone, offsets in rig.slides.offsets(turns, slides).items():
            locations[:, bone] += offsets
    return locations


def _uneven_scale(rig: RigChain, samples: ChainSamples, linkage: Linkage) -> str:
    """Return the name, in words, of the armature or bone that is scaled unevenly; "" for none."""
    if is_uneven(samples.world[:, :3, :3]):
        return say("armature '{armature}'", armature=rig.armature.name)
    if is_uneven(linkage.to_pose[:, :3, :3]):
        return uneven_above(rig)
    linear = samples.bases[..., :3, :3]
    bones = uneven(linear) if is_constant(linear) else map(is_uneven, np.swapaxes(linear, 0, 1))
    return next(
        (say("bone '{bone}'", bone=bone) for bone, scaled in zip(rig.bones, bones, strict=True) if scaled), ""
    )


def _blended(rig: RigChain, turns: Floats, other_turns: Floats, influence: Floats) -> Floats:
    """Return turns (frames, n) between those without the chain and the solved ones, by its influence.

    Free joints go the shorter way round from the first frame on; joints with limits stay within these.
    """
    shortest = np.unwrap(wrapped(other_turns - turns), axis=0)
    middle = np.where(rig.joints.held, np.nan_to_num(rig.joints.limits).mean(axis=1), 0.0)
    inside = middle + wrapped(other_turns - middle) - turns
    blended: Floats = turns + (1.0 - influence)[:, None] * np.where(rig.joints.held, inside, shortest)
    return blended


def _jumps(rig: RigChain, turns: Floats, times: Sequence[float], neighbors: NeighborPoses) -> Iterator[str]:
    """Yield a sentence for each jump to the keys next to the frames, and for keys there without numbers."""
    for frame in neighbors.lost:
        yield say(
            "Chain '{chain}': the keys next to these frames, at frame {frame:g}, have no finite "
            "values and are not joined; delete them",
            chain=rig.name,
            frame=frame,
        )
    if not rig.goes_on:  # the pose there depends on the target alone
        return
    for side, at, keyed_pose in (
        (noted("before"), 0, neighbors.before),
        (noted("after"), -1, neighbors.after),
    ):
        if keyed_pose is None:
            continue
        apart = np.degrees(np.abs(wrapped(keyed_pose.turns - turns[at])))
        if rig.swing is not None:  # its first bone turns with the plane
            apart[0] = 0.0
        bone = int(np.argmax(apart))
        if apart[bone] > JUMP * abs(keyed_pose.frame - times[at]):
            yield say(
                "Chain '{chain}': frame {time:g} does not join the keys {side} it, at frame "
                "{frame:g}: bone '{bone}' turns by {angle:.0f} degrees; bake more frames, or delete "
                "those keys",
                chain=rig.name,
                time=times[at],
                side=side,
                frame=keyed_pose.frame,
                bone=rig.bones[bone],
                angle=apart[bone],
            )
