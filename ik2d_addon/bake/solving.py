# SPDX-License-Identifier: GPL-3.0-or-later
"""One chain over all frames: how it is held, where its target is -> how its joints turn."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..core import (
    Chain,
    IK2DError,
    Solution,
    Status,
    Stretch,
    ccd_path_steps,
    ccd_steps,
    solve_even,
    solve_two_bone,
    stretched,
    stretched_status,
)
from ..core.ccd import turned_over
from ..core.chain import DEFAULT_TOLERANCE, going_on
from ..core.inputs import Floats, wrapped
from ..rig.affine import inverse, is_constant
from ..rig.armature import RigChain
from ..rig.kinematics import SCALE_NOISE, Linkage, angles_before, read_linkage
from ..rig.sampling import ChainSamples, solvable
from ..rig.standing import Joins
from .turning import between, going_on_free, root_turns, shares, turned_by

_Result = TypeVar("_Result")
# Yields the number of frames solved, or 0 within one, and returns a result.
Steps = Generator[int, None, _Result]

# Each round of aiming again shortens what Blender's forward kinematics still misses by some 1e-4;
# two leave nothing that 32 bits can hold.
CORRECTIONS = 2
# What 32 bits cannot hold of a length, as a part of the reach: no need to aim again at less.
FINE = 1e-8
# Bones that stretch make up for limits in at most so many rounds: one where the others keep their pose.
LENGTHENINGS = 8
# What brings a tip no nearer than to this part of its distance is no reason to stretch.
NEARER = 0.999
# A scale is even if what it makes of lengths differs by less than this part from axis to axis.
EVEN = 1e-3
# Hinges askew need more rounds: at 15 degrees and ten bones each leaves up to nine tenths of what was missed.
HINGE_CORRECTIONS = 60
# Bones whose lengths change by less than this part of the reach, over all frames, are of one length.
_SAME_LENGTH = 1e-6
# A bone that slides by less than this angle (radians) off its heading is aimed as one that slides along it.
_ASKEW = 1e-3
# So many frames of two bones from one yield to the next; with Even so many angles, within limits fewer.
_BLOCK, _ANGLES, _LIMITED_ANGLES = 8192, 8192, 128
# Frames that may be bent towards the pose that keys after the range show, and how far off that (radians a
# frame) it is worth it.
LED_FRAMES = 24
_APART = np.radians(1.0)
# A turn from the frames of a bake to the keys beside them, in degrees a frame, that the user shall know of.
JUMP = 30.0
_NOTHING_TO_JOIN = Joins()


@dataclass(frozen=True, eq=False)
class Pose:
    """What the solver starts from: one pose for all frames, or one for each."""

    angles: Floats  # (n,) or (frames, n)
    slides: Floats  # the same; zeros where bones are rigid


@dataclass(frozen=True, eq=False)
class SolvedChain:
    """The joints' turns of one chain, and what came of each frame. Lengths are the world's."""

    rig: RigChain
    turns: Floats  # (frames, n) radians about each bone's local axis, blended by the influence
    angles: Floats  # (frames, n) the solver's, of which these turns came
    solution: Solution  # without softness and influence, but for its angles and slides
    softness: Floats  # (frames,) 0..1
    influence: Floats  # (frames,) 0..1
    residual: Floats  # (frames,) tip to target as posed, seen along the plane's normal
    off_plane: Floats  # (frames,) target to tip, along the plane's normal
    distance: Floats  # (frames,) tip to target
    reach: float
    tolerance: float  # the solver's
    joints_off_plane: float  # the furthest that any joint is off the plane in rest
    uneven_scale: str  # what is scaled unevenly, in words; "" if nothing is
    factors: Floats | None = None  # (frames, n) of the bones' lengths; None where they keep these
    slides: Floats | None = None  # (frames, n) added lengths, blended by the influence; None: rigid bones
    locations: Floats | None = None  # (frames, n, 3) of the bones, with the slides that they carry
    turning: NDArray[np.bool_] | None = None  # (frames,) where it turns over from one side to the other

    @property
    def joint_speed(self) -> Floats:
        """(frames,) degrees that the fastest joint turns from the frame before."""
        steps = np.abs(np.diff(self.turns, axis=0, prepend=self.turns[:1]))
        speed: Floats = np.degrees(steps.max(axis=1))
        return speed

    def at(self, rows: Sequence[int]) -> "SolvedChain":
        """Return the chain at some of the frames alone."""
        return replace(
            self,
            turns=self.turns[rows],
            angles=self.angles[rows],
            solution=self.solution.at(rows),
            softness=self.softness[rows],
            influence=self.influence[rows],
            residual=self.residual[rows],
            off_plane=self.off_plane[rows],
            distance=self.distance[rows],
            factors=None if self.factors is None else self.factors[rows],
            slides=None if self.slides is None else self.slides[rows],
            locations=None if self.locations is None else self.locations[rows],
            turning=None if self.turning is None else self.turning[rows],
        )


def solve_chain(
    rig: RigChain,
    samples: ChainSamples,
    times: Sequence[float],
    joins: Joins = _NOTHING_TO_JOIN,
    beyond: ChainSamples | None = None,
    without: Floats | None = None,
    starts: Pose | None = None,
    linkage: Linkage | None = None,
) -> Steps[SolvedChain]:
    """Solve all frames of a chain, bit by bit; errors name the chain.

    CCD starts each from the one before, and the first from `joins.before` or else at rest; the last ones
    are led to `joins.after`, at whose frame `beyond` are the samples. without: (frames, n) turns of the
    pose that an influence below 1 blends with; None where there is none. starts: the poses to start each
    frame from instead. linkage: that of the samples, where it was read before.
    """
    try:
        problem = _Problem.of(rig, samples, joins, linkage)
        yield 0
        if problem.may_fall_short:
            problem = yield from _lengthened(problem, starts)
        solution, turns, angles = yield from _aimed(problem, times, joins, beyond, starts)
        if (np.abs(samples.bend) < 1.0).any():
            solution, turns, angles = yield from _turned_over(problem, samples.bend, solution, turns, angles)
        solution = problem.judged(solution)
    except IK2DError as error:
        raise IK2DError(f"Chain '{rig.name}' cannot be solved: {error}") from None
    linkage, factors, slides = problem.linkage, problem.factors, problem.added(solution.slides)
    if without is not None:
        turns = _blended(rig, turns, without, samples.influence)
        slides = None if slides is None else samples.influence[:, None] * slides
        if factors is not None:
            factors = 1.0 + samples.influence[:, None] * (factors - 1.0)
            linkage = read_linkage(rig, with_scale(rig, samples, factors))
    to_world = samples.world @ linkage.to_pose
    miss = problem.points - linkage.tips_turned(turns, slides)
    height = miss @ rig.plane.normal
    linear = to_world[:, :3, :3]
    in_plane = miss - height[:, None] * rig.plane.normal
    distance = np.linalg.norm((linear @ miss[..., None])[..., 0], axis=1)
    sizes = problem.sizes
    size = float(sizes.max())
    scale = np.linalg.norm(linear @ rig.plane.x, axis=1)
    return SolvedChain(
        rig=replace(rig, notes=(*rig.notes, *_jumps(rig, turns, times, joins))),
        turns=turns,
        angles=angles,
        solution=solution,
        softness=samples.softness,
        influence=samples.influence,
        residual=np.linalg.norm((linear @ in_plane[..., None])[..., 0], axis=1),
        off_plane=np.abs(height) * np.linalg.norm(linear @ rig.plane.normal, axis=1),
        distance=distance,
        reach=float((scale * sizes).max()),
        tolerance=float(scale.max()) * (rig.tolerance or DEFAULT_TOLERANCE * size),
        joints_off_plane=float(scale.max()) * rig.off_plane,
        uneven_scale=_uneven_scale(rig, with_scale(rig, samples), linkage),
        factors=factors,
        slides=slides,
        locations=None if slides is None else _locations(rig, samples, turns, slides),
        turning=shares(samples.bend) > 0.0,
    )


def with_scale(rig: RigChain, samples: ChainSamples, factors: Floats | None = None) -> ChainSamples:
    """Return the samples with the bones' scale as it is without the chain, times factors (frames, n)."""
    if rig.stretching is None:
        return samples
    return replace(samples, bases=rig.stretching.scaled_bases(samples.bases, factors))


def _locations(rig: RigChain, samples: ChainSamples, turns: Floats, slides: Floats) -> Floats:
    """Return the locations (frames, n, 3) of the bones, with what slides (frames, n) add to them."""
    locations = samples.bases[:, :, :3, 3].copy()
    if rig.slides is not None:
        for bone, offsets in rig.slides.offsets(turns, slides).items():
            locations[:, bone] += offsets
    return locations


def _uneven_scale(rig: RigChain, samples: ChainSamples, linkage: Linkage) -> str:
    """Return what is scaled more along one axis than along another, named for the user."""
    for matrices, name in (
        (samples.world, f"armature '{rig.armature.name}'"),
        (linkage.to_pose, _uneven_above(rig)),
    ):
        if _uneven(matrices[:, :3, :3]):
            return name
    for i, bone in enumerate(rig.bones):
        if _uneven(samples.bases[:, i, :3, :3]):
            return f"bone '{bone}'"
    return ""


def _uneven_above(rig: RigChain) -> str:
    """Return which bone above the chain is scaled unevenly: as posed now, else any may be."""
    above = rig.pose_bones[0].parent_recursive
    for bone in reversed(above):  # the topmost; those below have it from there
        if _uneven(np.array(bone.matrix, np.float64)[None, :3, :3]):
            return f"bone '{bone.name}'"
    return f"bone '{above[0].name}', or one above it," if above else f"bone '{rig.bones[0]}'"


def _uneven(matrices: Floats) -> bool:
    """Return whether any of the matrices (frames, 3, 3) stretches some directions more than others."""
    if is_constant(matrices):
        matrices = matrices[:1]
    squares = np.swapaxes(matrices, -1, -2) @ matrices
    size = np.trace(squares, axis1=-2, axis2=-1)[:, None, None] / 3.0
    return bool(np.abs(squares - size * np.eye(3)).max(initial=0.0) > EVEN * size.max())


@dataclass(frozen=True, eq=False)
class _Problem:
    """What a chain's solver is asked at each frame."""

    rig: RigChain
    linkage: Linkage
    points: Floats  # (frames, 3) targets in rest space
    targets: Floats  # (frames, 2) in the plane, from the chain's root
    lengths: Floats  # (frames, n)
    headings: Floats  # (frames, n) before any joint turns
    unturned: Floats  # (frames, n) the solver's angles then
    softness: Floats  # (frames,)
    bend: Floats  # (frames,)
    near: Floats | None  # (n,) the turns whose numbers the first frame's go on from
    slid: Floats | None = None  # (n,) the slides before the first frame, as locations have them
    gains: Floats | None = None  # (frames, n) how far bones slide for each unit of location; None: rigid ones
    slides_askew: bool = False  # whether some bone slides in another direction than from joint to joint
    factors: Floats | None = None  # (frames, n) of the bones' lengths; None where they keep these
    size: Floats | None = None  # (frames,) what of these all bones share: targets and lengths are without it
    off_reach: NDArray[np.int8] | None = None  # (frames,) Status of targets that no factor reaches
    samples: ChainSamples | None = None  # with the bones' own scale, where they change their length

    @classmethod
    def of(
        cls,
        rig: RigChain,
        samples: ChainSamples,
        joins: Joins = _NOTHING_TO_JOIN,
        linkage: Linkage | None = None,
    ) -> "_Problem":
        """Bring the samples into the space in which the chain's plane stands still."""
        samples = with_scale(rig, samples)
        linkage = linkage or read_linkage(rig, samples)
        into = inverse(samples.world @ linkage.to_pose)
        points = (into[:, :3, :3] @ samples.targets[..., None])[..., 0] + into[:, :3, 3]
        lengths, headings = linkage.unturned()
        gains, askew = _gains(linkage, headings) if rig.slides is not None else (None, False)
        problem = cls(
            rig,
            linkage,
            points,
            rig.plane.project(points),  # the plane's origin is the chain's root
            lengths,
            headings,
            angles_before(headings),
            samples.softness,
            np.where(samples.bend < 0.0, -1.0, 1.0),  # the nearer side, where it turns over
            joins.before.turns if joins.before else None,
            joins.before.slides if joins.before else None,
            gains,
            askew,
        )
        if rig.stretching is None or rig.stretching.limits.is_off:
            return problem
        return problem._stretched(rig.stretching.limits, samples)

    def _stretched(self, limits: Stretch, samples: ChainSamples) -> "_Problem":
        """Return the problem with bones as long as the targets need: see core/stretch.py.

        Where all bones lengthen evenly the solver gets the chain as it was and nearer targets, so that
        all frames stay one batch. samples: with the bones' own scale.
        """
        distances = np.hypot(*self.targets.T)
        factors, goals = np.empty_like(self.lengths), np.empty_like(distances)
        off_reach = np.empty(len(distances), np.int8)
        for rows in [slice(None)] if self.is_constant else [slice(i, i + 1) for i in range(len(distances))]:
            chain = Chain(self.lengths[rows][0])
            tolerance = chain.tolerance_or_default(self.rig.tolerance)
            factors[rows], goals[rows] = stretched(chain, distances[rows], self.softness[rows], limits)
            off_reach[rows] = stretched_status(chain, distances[rows], limits, tolerance)
        part = goals / np.where(distances > 0.0, distances, 1.0)
        nearer = replace(
            self,
            targets=self.targets * part[:, None],
            softness=np.zeros_like(distances),
            size=np.ones_like(distances),
            off_reach=off_reach,
            samples=samples,
        )
        return nearer.with_factors(factors)

    def with_factors(self, factors: Floats) -> "_Problem":
        """Return the problem of a chain that stretches with other factors (frames, n) of its bones."""
        assert self.rig.stretching is not None and self.samples is not None and self.size is not None
        size = np.ones_like(self.size) if self.rig.stretching.limits.last_only else factors[:, 0]
        linkage = read_linkage(self.rig, with_scale(self.rig, self.samples, factors))
        lengths, headings = linkage.unturned()
        found = replace(
            self,
            linkage=linkage,
            targets=self.targets * (self.size / size)[:, None],
            lengths=lengths / size[:, None],
            headings=headings,
            unturned=angles_before(headings),
            factors=factors,
            size=size,
        )
        if self.factors is not None or not found.has_shape_of(self):
            return found
        # Else the noise in 32-bit matrices makes a chain of its own of each frame; aiming again sees to it.
        return replace(found, lengths=self.lengths, headings=self.headings, unturned=self.unturned)

    def has_shape_of(self, other: "_Problem") -> bool:
        """Return whether the chain has the lengths and angles of another one, but for noise."""
        noise = SCALE_NOISE * self.lengths[0].sum()
        return bool(
            np.abs(self.lengths - other.lengths).max() <= noise
            and np.abs(wrapped(self.unturned - other.unturned)).max() <= SCALE_NOISE
        )

    def corrected_factors(self, tips: Floats) -> Floats:
        """Return factors (frames, n) that may bring tips (frames, 2), as solved, out to their targets."""
        assert self.rig.stretching is not None and self.factors is not None
        limits, last = self.rig.stretching.limits, self.factors[:, -1]
        goals, reached = np.hypot(*self.targets.T), np.hypot(*tips.T)
        if limits.last_only:
            wanted = last + np.maximum(goals - reached, 0.0) / (self.lengths[:, -1] / last)
        else:
            wanted = last * goals / np.where(reached > 0.0, reached, 1.0)
        wanted = np.clip(wanted, np.minimum(limits.least, last), limits.most)
        found = self.factors.copy()
        columns = slice(-1, None) if limits.last_only else slice(None)
        found[:, columns] = wanted[:, None]
        return found

    @property
    def may_fall_short(self) -> bool:
        """Whether limits, or joints off the bones' lines, may leave the tip of longer bones too near."""
        if self.factors is None:
            return False
        uneven = np.ptp(self.lengths[:, :-1], axis=0).max(initial=0.0) > _SAME_LENGTH * self.lengths[0].sum()
        return bool(uneven or self.rig.joints.held.any())

    def tips(self, turns: Floats, slides: Floats) -> Floats:
        """Return the tips (frames, 2) of local turns and the solver's slides (frames, n) as it sees them."""
        tips = self.linkage.tips(turns, self.added(slides))
        return tips if self.size is None else tips / self.size[:, None]

    def judged(self, solution: Solution) -> Solution:
        """Return the solution with the status of what no factor reaches, where bones change their length."""
        if self.off_reach is None:
            return solution
        status = np.where(self.off_reach == Status.REACHED, solution.status, self.off_reach)
        return replace(solution, status=status.astype(np.int8))

    @property
    def start(self) -> Pose:
        """The angles and slides before the first frame."""
        angles = self.unturned[0] if self.near is None else self.angles_of(self.near, 0)
        return Pose(angles, self.solvers(self.slid, 0))

    @property
    def sizes(self) -> Floats:
        """(frames,) how far the chain reaches, its bones slid out."""
        sizes: Floats = self.lengths.sum(axis=1)
        if self.gains is not None and self.rig.slides is not None:
            sizes += self.gains @ self.rig.slides.ranges[:, 1]
        return sizes

    def added(self, slides: Floats) -> Floats | None:
        """Return the solver's slides (frames, n) as locations have them; None where all bones are rigid."""
        return None if self.gains is None else slides / self.gains

    def solvers(self, slides: Floats | None, row: int) -> Floats:
        """Return slides (n,) that locations have as the solver's (n,) at one of the frames; None: none."""
        if slides is None or self.gains is None:
            return np.zeros(len(self.rig.bones))
        slid: Floats = slides * self.gains[row]
        return slid

    def angles_of(self, turns: Floats, row: int) -> Floats:
        """Return the solver's angles (n,) of local turns (n,) at one of the frames."""
        headings = self.headings[row : row + 1]
        whole_turns = self.unturned[row] - angles_before(headings)[0]
        angles: Floats = self.linkage.angles_of(turns[None], headings)[0] + whole_turns
        return angles

    def turns(self, angles: Floats) -> Floats:
        """Return the local turns (frames, n) that solved angles (frames, n) come to."""
        return self.linkage.local_turns(angles, self.headings, self.rig.joints.held, self.near)

    def chain(self, row: int) -> Chain:
        """Return the chain at one of the frames."""
        joints, slides = self.rig.joints, None
        if self.gains is not None and self.rig.slides is not None:
            slides = self.rig.slides.ranges * self.gains[row][:, None]
        return Chain(self.lengths[row], joints.limits_from(self.unturned[row]), joints.weights, slides)

    @property
    def is_constant(self) -> bool:
        """Whether the chain is the same at all frames: it neither stretches, nor moves a joint by itself."""
        size = self.lengths[0].sum()
        changes = [np.ptp(self.lengths, axis=0).max(), size * np.ptp(self.unturned, axis=0).max()]
        if self.gains is not None:
            changes.append(size * np.ptp(self.gains, axis=0).max())
        return bool(max(changes) <= _SAME_LENGTH * size)

    def one(self, row: int, start: Pose) -> Steps[Solution]:
        """Solve one frame from the pose `start`."""
        softness, bend = self.softness[row : row + 1], self.bend[row : row + 1]
        chain, target = self.chain(0 if self.is_constant else row), self.targets[row : row + 1]
        rest = self.unturned[row]
        start = Pose(start.angles[None], start.slides[None])
        return (yield from _solve(self.rig, chain, target, start, bend, softness, rest))

    def all(self, starts: Pose | None) -> Steps[Solution]:
        """Solve all frames: with CCD, each from the one before, or from its own of `starts`."""
        start = self.start if self.rig.has_memory else Pose(self.unturned, np.zeros_like(self.unturned))
        if starts is not None:
            start = starts
        return (yield from self._solve(self.targets, start, self.softness))

    def again(self, targets: Floats, start: Pose) -> Steps[Solution]:
        """Solve all frames for other targets (frames, 2), each from its pose; no softness."""
        solved = self
        if self.rig.solver == 'EVEN' and self.factors is not None and not self.is_constant:
            # A family for each frame's chain costs more than all else: least corrections do.
            solved = replace(self, rig=replace(self.rig, solver='CCD'))
        return (yield from solved._solve(targets, start, np.zeros(len(targets))))

    def _solve(self, targets: Floats, start: Pose, softness: Floats) -> Steps[Solution]:
        """Run the chain's solver on targets (frames, 2) from one pose on, or from each of its own."""
        if self.is_constant:
            chain, rest = self.chain(0), self.unturned[0]
            return (yield from _solve(self.rig, chain, targets, start, self.bend, softness, rest))
        parts, last = [], start
        for row in range(len(targets)):
            rows, chain = slice(row, row + 1), self.chain(row)
            if start.angles.ndim == 2:
                last = Pose(start.angles[row], start.slides[row])
            elif row and self.rig.has_memory and self.bend[row] != self.bend[row - 1]:
                over = turned_over(chain, last.angles.tolist(), float(self.bend[row]))
                last = Pose(np.array(over), last.slides)
            rest = self.unturned[row]
            part = yield from _solve(
                self.rig, chain, targets[rows], last, self.bend[rows], softness[rows], rest
            )
            parts.append(part)
            last = Pose(part.angles[0], part.slides[0])
            yield row + 1
        return Solution.joined(parts)


def _lengthened(problem: _Problem, starts: Pose | None) -> Steps[_Problem]:
    """Return the problem of a chain that stretches with the factors that bring its tip nearest.

    The formulas know of full reach alone. What limits, and joints off the bones' lines, leave of the way
    is made up for bit by bit.
    """
    assert problem.factors is not None and problem.size is not None
    best, nearest = problem.factors, np.full(len(problem.targets), np.inf)
    for _ in range(LENGTHENINGS):
        solution = yield from problem.all(starts)
        tips = _tips(problem.lengths, solution.angles)
        missed = np.hypot(*(problem.targets - tips).T) * problem.size
        better = missed < NEARER * nearest
        best = np.where(better[:, None], problem.factors, best)
        nearest = np.where(better, missed, nearest)
        missing = better & (solution.status != Status.REACHED)
        tried = np.where(missing[:, None], problem.corrected_factors(tips), best)
        if np.abs(tried - best).max() <= FINE:
            break
        problem = problem.with_factors(tried)
    return problem.with_factors(best)


def _gains(linkage: Linkage, headings: Floats) -> tuple[Floats, bool]:
    """Return how far in the plane each bone slides (frames, n) for each unit of location; 1 for rigid ones.

    And whether one slides elsewhere than along its heading (frames, n), as where what it carries stands
    beside its tail.
    """
    gains, still, askew = np.ones_like(headings), np.zeros_like(headings), False
    unslid = linkage.tips(still, still)
    ranges = linkage.slides.ranges if linkage.slides is not None else still[:0]
    for i in np.flatnonzero(ranges.any(axis=1)):
        one = np.zeros_like(headings)
        one[:, i] = 1.0
        moved = linkage.tips(still, one) - unslid
        gains[:, i] = np.hypot(*moved.T)
        across = moved[:, 1] * np.cos(headings[:, i]) - moved[:, 0] * np.sin(headings[:, i])
        askew |= bool((np.abs(across) > _ASKEW * gains[:, i]).any())
    return gains, askew


def _aimed(
    problem: _Problem,
    times: Sequence[float],
    joins: Joins,
    beyond: ChainSamples | None,
    starts: Pose | None,
) -> Steps[tuple[Solution, Floats, Floats]]:
    """Return the solution of all frames with its slides, the local turns, and the angles, (frames, n) each.

    After the first solve aim again at what Blender's own forward kinematics misses by: next to
    nothing, but more than our tolerance.
    """
    solution = yield from problem.all(starts)
    if not problem.rig.has_memory:
        solution = _numbers_going_on(problem, solution)
    elif beyond is not None:
        solution = yield from _led(problem, solution, times, joins, beyond)
    lengths, slides = problem.lengths, solution.slides
    intended, angles = _tips(lengths + slides, solution.angles), solution.angles
    turns = problem.turns(angles)
    if problem.rig.joints.askew or problem.slides_askew:
        aimed = yield from _aimed_askew(problem, solution, intended)
        return (*aimed, angles)
    aims, reached = intended, (solution.status == Status.REACHED)[:, None]
    for _ in range(CORRECTIONS):
        missed = np.where(reached, intended - problem.tips(turns, slides), 0.0)
        if np.abs(missed).max() <= FINE * lengths[0].sum():
            break
        aims = aims + missed
        again = yield from problem.again(aims, Pose(angles, slides))
        angles = np.where(reached, again.angles, angles)
        slides = np.where(reached, again.slides, slides)
        turns = problem.turns(angles)
    return replace(solution, slides=slides), turns, angles


def _turned_over(
    problem: _Problem, bend: Floats, solution: Solution, turns: Floats, angles: Floats
) -> Steps[tuple[Solution, Floats, Floats]]:
    """Return the same between both sides on the frames on which the chain turns over: see turning.py.

    bend: (frames,) -1..+1; turns, angles: (frames, n) of the nearer side.
    """
    share, held, starts = shares(bend), problem.rig.joints.held, None
    if problem.rig.has_memory:
        rows = zip(range(len(angles)), angles.tolist(), (-problem.bend).tolist(), strict=True)
        over = [turned_over(problem.chain(row), pose, side) for row, pose, side in rows]
        starts = Pose(np.array(over), solution.slides)
    other = yield from replace(problem, bend=-problem.bend).all(starts)
    middle = between(angles, other.angles, share, held)
    slides = solution.slides + share[:, None] * (other.slides - solution.slides)
    moved = turns + turned_by(problem.linkage, middle - angles)
    if not held[0]:
        tips = problem.linkage.tips(moved, problem.added(slides))
        point = root_turns(tips, problem.rig.plane.project(problem.points), float(problem.sizes.max()))
        way = np.where(share > 0.0, point, 0.0)
        middle[:, 0] += way
        moved[:, 0] += way
    return replace(solution, slides=slides), going_on_free(moved, held), middle


def _aimed_askew(problem: _Problem, solution: Solution, intended: Floats) -> Steps[tuple[Solution, Floats]]:
    """Do the same for a chain with hinges or slides askew, from its solution as if all were in the plane.

    Of each frame the best round is kept; what is further off than the tolerance then is not reached.
    intended: (frames, 2) where that solution has the tips.
    """
    rig, size = problem.rig, problem.lengths[0].sum()
    aims, angles, status = intended.copy(), solution.angles, solution.status.copy()
    slides = best_slides = solution.slides
    turns = best = problem.turns(angles)
    nearest = np.full(len(aims), np.inf)
    tolerance = rig.tolerance or DEFAULT_TOLERANCE * size
    open_ = solution.status == Status.REACHED
    for _ in range(HINGE_CORRECTIONS):
        missed = intended - problem.tips(turns, slides)
        distance = np.hypot(*missed.T)
        better, much_better = distance < nearest, distance < 0.5 * nearest
        best = np.where(better[:, None], turns, best)
        best_slides = np.where(better[:, None], slides, best_slides)
        nearest = np.where(better, distance, nearest)
        open_ &= (nearest > tolerance) | (much_better & (nearest > FINE * size))
        if not open_.any():
            break
        aims[open_] += missed[open_]
        aimed = yield from problem.again(aims, Pose(angles, slides))
        angles = np.where(open_[:, None], aimed.angles, angles)
        slides = np.where(open_[:, None], aimed.slides, slides)
        turns = problem.turns(angles)
        status = np.where(open_, aimed.status, status)
    missing = (solution.status == Status.REACHED) & (nearest > tolerance)
    status = np.where(missing, np.where(status == Status.REACHED, Status.STALLED, status), solution.status)
    return replace(solution, status=status.astype(np.int8), slides=best_slides), best


def _numbers_going_on(problem: _Problem, solution: Solution) -> Solution:
    """Return the solution with the numbers of limited joints going on from frame to frame.

    Frames that know nothing of one another choose each for itself where a range has room for two.
    """
    limits, angles = problem.rig.joints.limits, solution.angles.copy()
    for i in np.flatnonzero(limits[:, 1] - limits[:, 0] >= 2.0 * np.pi):
        near = 0.0 if problem.near is None else float(problem.near[i])
        low, high = limits[i].tolist()
        turns = going_on(angles[:, i] - problem.unturned[:, i], low, high, near)
        angles[:, i] = turns + problem.unturned[:, i]
    return replace(solution, angles=angles)


def _led(
    problem: _Problem, solution: Solution, times: Sequence[float], joins: Joins, beyond: ChainSamples
) -> Steps[Solution]:
    """Return the solution with its last frames led to the pose of the keys after them.

    Where the path would go on to another pose there, each of the frames starts a part of the way
    nearer to it: that of the time that is left until then. Corrections take it to its target from
    there. A lead that misses a target which the path reached is not followed.
    """
    after, rig = joins.after, problem.rig
    if after is None or not solvable(rig, beyond).all():
        return solution
    m, gap = len(times), after.frame - times[-1]
    there = replace(_Problem.of(rig, beyond), near=None)
    going_there = solution.angles[-1] + there.unturned[0] - problem.unturned[-1]
    natural = yield from there.one(0, Pose(going_there, solution.slides[-1]))
    missing = wrapped(there.angles_of(after.turns, 0) - natural.angles[0])
    if np.abs(missing).max() <= _APART * gap:
        return solution
    first = int(np.searchsorted(times, times[-1] - LED_FRAMES, side="right"))
    if first:
        last, time = Pose(solution.angles[first - 1], solution.slides[first - 1]), times[first - 1]
    else:
        last, time = problem.start, joins.before.frame if joins.before else times[0] - 1.0
    parts = [solution.at(range(first))]
    for row in range(first, m):
        way = problem.angles_of(after.turns, row) - last.angles
        way = np.where(rig.joints.held, way, wrapped(way))
        slide = problem.solvers(after.slides, row) - last.slides
        share = (times[row] - time) / (after.frame - time)
        part = yield from problem.one(row, Pose(last.angles + way * share, last.slides + slide * share))
        if solution.reached[row] and not part.reached[0]:
            return solution
        parts.append(part)
        last, time = Pose(part.angles[0], part.slides[0]), times[row]
        yield row + 1
    return Solution.joined(parts)


def _blended(rig: RigChain, turns: Floats, without: Floats, influence: Floats) -> Floats:
    """Return turns (frames, n) between those without the chain and the solved ones, by its influence.

    Free joints go the shorter way round at the first frame, and that way on; joints with limits go the
    way that lies within these.
    """
    shortest = np.unwrap(wrapped(without - turns), axis=0)
    middle = np.where(rig.joints.held, np.nan_to_num(rig.joints.limits).mean(axis=1), 0.0)
    inside = middle + wrapped(without - middle) - turns
    blended: Floats = turns + (1.0 - influence)[:, None] * np.where(rig.joints.held, inside, shortest)
    return blended


def _jumps(rig: RigChain, turns: Floats, times: Sequence[float], joins: Joins) -> Iterator[str]:
    """Yield a sentence for each end of the frames from which a bone turns far to the keys beside it.

    And for keys there that hold no usable numbers.
    """
    for frame in joins.lost:
        yield (
            f"Chain '{rig.name}': the keys beside these frames, at frame {frame:g}, hold no usable numbers"
            " and are not joined; delete them"
        )
    if not rig.has_memory:  # what stands there is the target's doing
        return
    for side, at, standing in (("before", 0, joins.before), ("after", -1, joins.after)):
        if standing is None:
            continue
        apart = np.degrees(np.abs(wrapped(standing.turns - turns[at])))
        bone = int(np.argmax(apart))
        if apart[bone] > JUMP * abs(standing.frame - times[at]):
            yield (
                f"Chain '{rig.name}': frame {times[at]:g} does not join the keys {side} it, at frame"
                f" {standing.frame:g}: bone '{rig.bones[bone]}' turns by {apart[bone]:.0f} degrees; bake more"
                " frames, or delete those keys"
            )


def _solve(
    rig: RigChain, chain: Chain, targets: Floats, start: Pose, bend: Floats, softness: Floats, rest: Floats
) -> Steps[Solution]:
    """Run the chain's solver on targets (frames, 2) from one pose on, or from each of their own.

    rest: (n,) the chain's angles at rest.
    """
    if rig.solver == 'CCD':
        steps = ccd_steps if start.angles.ndim == 2 else ccd_path_steps
        return (
            yield from steps(
                chain,
                targets,
                start=start.angles,
                tolerance=rig.tolerance,
                max_iterations=rig.iterations,
                bend=bend,
                softness=softness,
                **({"start_slides": start.slides} if chain.is_sliding else {}),
            )
        )
    parts, block = [], _block(rig, chain)
    for first in range(0, len(targets), block):
        rows = slice(first, first + block)
        if rig.solver == 'EVEN':
            part = solve_even(
                chain,
                targets[rows],
                bend=bend[rows],
                rest=rest,
                root_weight=_root_weight(rig, chain),
                tolerance=rig.tolerance,
                softness=softness[rows],
                **({"slide_weight": rig.slide_weight} if chain.is_sliding else {}),
            )
        else:
            part = solve_two_bone(
                chain,
                targets[rows],
                bend=bend[rows],
                start=start.angles[rows] if start.angles.ndim == 2 else start.angles,
                tolerance=rig.tolerance,
                softness=softness[rows],
            )
        parts.append(part)
        yield min(first + block, len(targets))
    return Solution.joined(parts)


def _block(rig: RigChain, chain: Chain) -> int:
    """Return how many frames are solved from one yield to the next: some hundredths of a second's worth."""
    if rig.solver == 'TWO_BONE':
        return _BLOCK
    if chain.is_limited:  # many of them may have to be solved one by one
        return max(1, _LIMITED_ANGLES // len(chain))
    return max(1, _ANGLES // len(chain))


def _root_weight(rig: RigChain, chain: Chain) -> float | None:
    """Return what the root's turn counts in Even; None where it turns freely."""
    weight = 1.0 if chain.weights is None else float(chain.weights[0])
    return None if rig.root_turns_freely and weight > 0.0 else weight


def _tips(lengths: Floats, angles: Floats) -> Floats:
    """Return the tips (frames, 2) of chains whose lengths (frames, n) may differ from frame to frame."""
    headings = np.cumsum(angles, axis=1)
    directions = np.stack((np.cos(headings), np.sin(headings)), axis=2)
    tips: Floats = (lengths[:, :, None] * directions).sum(axis=1)
    return tips
