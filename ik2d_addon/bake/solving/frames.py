# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains over all frames: how they are held, where their targets are -> how their joints turn."""

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import IK2DError, Solution
from ...core.affine import Frames, changed, norms, turned
from ...core.chain import DEFAULT_TOLERANCE
from ...core.inputs import Floats, wrapped
from ...core.one_target.bones import FINE
from ...core.solution import Steps, mapped
from ...core.words import noted, refusal, say
from ...rig.chain.chain import RigChain
from ...rig.pose.bone_matrices import first_rotations
from ...rig.pose.hand_rotations import angles_between
from ...rig.pose.keyed_pose import NeighborPoses, OwnPose
from ...rig.pose.kinematics import Linkage, read_linkage
from ...rig.pose.measures import uneven_in_words
from ...rig.pose.swings import PlaneTurns, as_far, flips, swung
from ...rig.scene.rounding import reached_within
from ...rig.scene.samples import ChainSamples
from .aiming import Aimed, aim, flip_over
from .influence import influenced, tips_aside
from .problem import NOTHING_TO_JOIN, Problem, each_of
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
    copied: Floats | None = None  # as ChainSamples have it
    plane_turns: PlaneTurns | None = None  # None where the plane is fixed


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
    # (frames, n, 3, 3) rotations of the bones before their turns, by an influence below 1; None: none of them
    aside: Floats | None = None

    @property
    def shown(self) -> Floats:
        """(frames,) 0..1 how much the chain shows: its influence, where FK copies leave it that."""
        copied = self.noticed.copied
        return self.influence if copied is None else self.influence * (1.0 - copied)

    @property
    def steps(self) -> Floats:
        """(frames, n) radians that each joint turns from the frame before; the first one with its plane."""
        steps: Floats = np.abs(np.diff(self.turns, axis=0, prepend=self.turns[:1]))
        if self.swings is not None and len(steps) > 1:
            turned = first_rotations(self.rig, self.turns[:, 0], self.swings)
            steps[1:, 0] = angles_between(turned[:-1], turned[1:])
        return steps


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

    @cached_property
    def joints(self) -> Linkage:
        """The linkage of these samples, with bones as long as the samples have them."""
        if self.linkage is not None and self.rig.swing is None:
            return self.linkage
        return read_linkage(self.rig, with_scale(self.rig, self.ready))

    @property
    def kind(self) -> Hashable:
        """What chains have in common that are solved as one array; None for one that is solved alone.

        Two bones that turn freely on one side, on frames that depend on themselves alone.
        """
        rig, settings = self.rig, self.rig.settings
        special = (rig.slides, rig.stretching, rig.swing, settings.tip_angle, self.other_pose)
        if settings.solver != 'TWO_BONE' or special != (None,) * len(special) or settings.aims:
            return None
        if rig.joints.held.any() or rig.joints.askew or (np.abs(self.samples.bend) < 1.0).any():
            return None
        if not self.joints.is_flat or self.joints.bases is None:
            return None
        still = (self.samples.world.strides[0] == 0, self.joints.to_pose.strides[0] == 0)
        inherits = (link.inherits for link in self.joints.links)
        return len(self.times), settings.tolerance, self.starts is None, *still, *inherits

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
    solved: dict[int, SolvedChain] = {}
    before = 0
    for numbers in _together(asked):
        yield before
        alike = [asked[number] for number in numbers]
        steps = mapped(_solve_alike(alike), before.__add__)
        solved |= zip(numbers, (yield from steps), strict=True)
        before += sum(len(one.times) for one in alike)
        yield before
    return [solved[number] for number in range(len(asked))]


def _together(asked: Sequence[Asked]) -> list[list[int]]:
    """Return the numbers of chains, those in one list to be solved as one array."""
    kinds: dict[Hashable, list[int]] = {}
    for number, chain in enumerate(asked):
        with chain.named():
            kind = chain.kind
        kinds.setdefault((number,) if kind is None else kind, []).append(number)
    groups = []
    for numbers in kinds.values():
        most = max(1, _TOGETHER // max(1, len(asked[numbers[0]].times)))
        groups += [numbers[first : first + most] for first in range(0, len(numbers), most)]
    return groups


def _solve_alike(asked: Sequence[Asked]) -> Steps[list[SolvedChain]]:
    """Solve chains of one kind as one array, or one chain. Yields the number of frames done."""
    first, rigs = asked[0], [one.rig for one in asked]
    joins, linkages = [one.neighbors for one in asked], [one.joints for one in asked]
    starts = [one.starts for one in asked if one.starts is not None]
    start = StartPose.joined(starts) if starts else None
    try:
        with first.named():
            problem = problem_of(rigs, [one.ready for one in asked], joins, linkages)
    except IK2DError:
        if len(asked) == 1:
            raise
        alone = []
        for one in asked:  # which names the one that cannot be solved
            alone += yield from _solve_alike([one])
        return alone
    with first.named():
        problem = yield from lengthened(problem, start)
        aimed = yield from aim(problem, start, first.times, first.neighbors, first.beyond)
        if len(asked) == 1 and (np.abs(first.samples.bend) < 1.0).any():
            aimed = yield from flip_over(problem, first.samples.bend, aimed)
    return _solved(asked, problem, changed(aimed, solution=problem.judged(aimed.solution)))


def _solved(asked: Sequence[Asked], problem: Problem, aimed: Aimed) -> list[SolvedChain]:
    """Return chains of one kind as they were aimed, blended by their influence, and what that misses."""
    first, rigs, rows = asked[0], [one.rig for one in asked], (len(asked), len(asked[0].times))
    linkages, samples = [one.joints for one in asked], [one.ready for one in asked]
    if len(asked) == 1:
        if first.other_pose is not None:
            problem, aimed, samples[0] = influenced(samples[0], first.other_pose, problem, aimed)
        linkages = [problem.linkage]
    solution, turns, locations = aimed.solution, aimed.turns, None
    factors = None if problem.stretched is None else problem.stretched.factors
    slides = problem.added(solution.slides)
    if slides is not None:
        if first.other_pose is not None:
            slides = samples[0].influence[:, None] * slides
        locations = _locations(first.rig, samples[0], turns, slides)
    worlds, above = each_of([own.world for own in samples]), each_of([one.to_pose for one in linkages])
    to_world = worlds @ above
    linear = to_world[..., :3, :3]
    planes = np.array([(each.plane.origin, each.plane.x, each.plane.y, each.plane.normal) for each in rigs])
    origins, x_axes, y_axes, normals = (planes[:, None, i] for i in range(4))  # (chains, 1, 3)
    points = problem.points.reshape(*rows, 3)
    if aimed.aside is not None:
        tips = tips_aside(first.rig, samples[0], problem, aimed, locations)[None]
    elif aimed.tips is None:
        tips = linkages[0].tips_turned(turns, slides)[None]
    else:
        flat = aimed.tips.reshape(*rows, 2)
        heights = np.array([one.heights for one in linkages]).reshape(len(asked), -1, 1)
        tips = origins + flat[..., :1] * x_axes + flat[..., 1:] * y_axes + heights * normals
    if first.rig.settings.aims:
        points = as_far(first.rig, points[0], tips[0])[None]
    miss = points - tips
    height = miss @ normals.swapaxes(1, 2)  # (chains, frames, 1)
    distance = norms(turned(linear, miss))
    residual = norms(turned(linear, miss - height * normals))
    sizes = problem.sizes.reshape(len(asked), -1)
    along, across = (norms((linear @ axes[..., None])[..., 0]) for axes in (x_axes, normals))
    off_plane = np.abs(height[..., 0]) * across
    reach, largest = (along * sizes).max(axis=1), along.max(axis=1)
    finest = largest * (first.rig.settings.tolerance or DEFAULT_TOLERANCE * sizes.max(axis=1))
    roots = turned(linear, np.repeat(origins, linear.shape[1], axis=1)) + to_world[..., :3, 3]
    tolerance = reached_within(finest, reach, worlds, roots)
    softness, bend, influence = (
        np.concatenate([own.settings[:, column] for own in samples]).reshape(rows) for column in range(3)
    )
    if samples[0].swings is not None or aimed.aside is not None:  # between two planes it is off neither
        residual = np.where(influence < 1.0, distance, residual)
        off_plane = np.where(influence < 1.0, 0.0, off_plane)
    swing = rigs[0].swing
    if (
        swing is not None and swing.turns_alone and first.rig.settings.aims
    ):  # no turn in the plane makes it up
        residual, off_plane = np.zeros_like(residual), distance
    turning = shares(bend) > 0.0
    as_solved = ~turning & (influence == 1.0)
    missing = as_solved & (residual > tolerance[:, None])
    solution = solution.missing(missing.ravel(), softness.ravel())
    solution = solution.within((distance <= tolerance[:, None]).ravel())
    aims = problem.targets / np.maximum(problem.lengths.sum(axis=1), FINE)[:, None]
    angle_errors = _angle_errors(problem, turns)
    bases = each_of([with_scale(rig, own).bases for rig, own in zip(rigs, samples, strict=True)])
    uneven_scales = uneven_in_words(rigs, worlds, above, bases)
    solved = []
    for number, (one, rig, own) in enumerate(zip(asked, rigs, samples, strict=True)):
        part = slice(number * rows[1], (number + 1) * rows[1])
        jumps = tuple(_jumps(rig, turns[part], one.times, one.neighbors))
        has_ground = rig.foot is not None and rig.foot.ground is not None
        solved.append(
            SolvedChain(
                rig=rig.with_remarks(notes=(*rig.remarks.notes, *jumps)) if jumps else rig,
                turns=turns[part],
                angles=aimed.angles[part],
                solution=Frames.at(solution, part),
                softness=softness[number],
                influence=influence[number],
                miss=TipMiss(residual[number], off_plane[number], distance[number]),
                reach=float(reach[number]),
                tolerance=float(tolerance[number]),
                noticed=Noticed(
                    aims=aims[part],
                    joints_off_plane=float(largest[number]) * rig.remarks.off_plane,
                    uneven_scale=uneven_scales[number],
                    slides=slides,
                    turning=turning[number],
                    angle_errors=angle_errors,
                    lifts=own.lifts if has_ground else None,
                    copied=own.copied,
                    plane_turns=flips(rig, one.samples, one.spins),
                ),
                factors=factors,
                locations=locations,
                linkage=linkages[number].lasting,
                swings=own.swings,
                aside=aimed.aside,
            )
        )
    return solved


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
