# SPDX-License-Identifier: GPL-3.0-or-later
"""The problem of a solver at each frame, of a chain or of several of one kind."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...core import (
    Chain,
    Solution,
    Status,
    posture_of,
)
from ...core.affine import changed, inverse, is_constant, turned, unrepeated
from ...core.arithmetic import cos_and_sin, summed_up
from ...core.chain import DEFAULT_TOLERANCE
from ...core.inputs import LONGEST, Floats, floats_within
from ...core.one_target.bones import FINE
from ...core.path import Posture, turned_over
from ...core.solution import Steps
from ...core.two_bone import are_plain, solve_pairs
from ...rig.chain.chain import RigChain
from ...rig.pose.keyed_pose import NeighborPoses
from ...rig.pose.kinematics import Linkage, angles_before
from ...rig.pose.tip_headings import wanted_headings
from ...rig.scene.samples import ChainSamples
from .sliding import Sliding, read_sliding
from .solvers import StartPose, solved_steps
from .tip_angle import AngleFrames

# Turns of joints that correct a miss count as small where their arcs leave the tangents by no more than
# this part of it.
_BENT = 0.1
# Bones whose lengths change by less than this part of the reach, over all frames, are of one length.
SAME_LENGTH = 1e-6
NOTHING_TO_JOIN = NeighborPoses()


@dataclass(frozen=True, eq=False)
class Stretched:
    """Bones that are as long as the targets need."""

    factors: Floats  # (frames, n) of the bones' lengths
    size: Floats  # (frames,) what of these all bones share: targets and lengths are without it
    off_reach: NDArray[np.int8]  # (frames,) Status of targets that no factor reaches
    samples: ChainSamples  # with the bones' own scale


@dataclass(frozen=True, eq=False)
class Problem:
    """The problem of a chain's solver at each frame."""

    rig: RigChain
    linkage: Linkage
    points: Floats  # (frames, 3) targets in rest space
    targets: Floats  # (frames, 2) in the plane, from the chain's root
    lengths: Floats  # (frames, n)
    headings: Floats  # (frames, n) before any joint turns
    unturned: Floats  # (frames, n) the solver's angles then
    softness: Floats  # (frames,)
    bend: Floats  # (frames,)
    near: Floats | None  # (chains, n) the turns whose numbers the first frame's go on from
    sliding: Sliding | None = None  # None where all bones are rigid
    stretched: Stretched | None = None  # None where the bones keep their lengths
    wanted: Floats | None = None  # (frames,) headings of the last bone; None where it is free

    @classmethod
    def of(
        cls,
        rigs: Sequence[RigChain],
        samples: Sequence[ChainSamples],
        neighbors: Sequence[NeighborPoses],
        linkages: Sequence[Linkage],
    ) -> "Problem":
        """Return the problem of the samples of chains of one kind, in the spaces in which planes do not move.

        With bones as long as the samples have them: `problem_of` stretches them, too.
        """
        rig, count, frames = rigs[0], len(rigs), len(samples[0].targets)
        worlds, to_pose = each_of([own.world for own in samples]), each_of([one.to_pose for one in linkages])
        into = inverse(worlds @ to_pose)
        if is_constant(into.swapaxes(0, 1)):
            into = into[:, :1]
        there = turned(into[..., :3, :3], np.array([own.targets for own in samples])) + into[..., :3, 3]
        points = floats_within(there.reshape(-1, 3), "points", LONGEST)
        offsets = there - np.array([[one.plane.origin] for one in rigs])  # that is the chain's root
        axes = np.array([(one.plane.x, one.plane.y) for one in rigs])[..., None]
        flat = np.concatenate((offsets @ axes[:, 0], offsets @ axes[:, 1]), axis=-1)
        if count == 1:
            linkage = linkages[0]
            lengths, headings = linkage.unturned()
            unturned = angles_before(headings)
        else:
            linkage, shapes = Linkage.joined(linkages, frames), Linkage.joined(linkages).unturned()
            each = (*shapes, angles_before(shapes[1][None])[0])
            lengths, headings, unturned = (np.repeat(values, frames, axis=0) for values in each)
        before = [join.before and join.before.turns for join in neighbors]
        first = neighbors[0].before
        return cls(
            rig,
            linkage,
            points,
            flat.reshape(-1, 2),
            lengths,
            headings,
            unturned,
            np.concatenate([own.softness for own in samples]),
            # The nearer side, where it turns over.
            np.where(np.concatenate([own.bend for own in samples]) < 0.0, -1.0, 1.0),
            None
            if all(turns is None for turns in before)
            else np.array([np.zeros(len(rig.bones)) if turns is None else turns for turns in before]),
            None if rig.slides is None else read_sliding(linkage, headings, first.slides if first else None),
            wanted=wanted_headings(rig, samples[0], linkage.to_pose),
        )

    @cached_property
    def is_flat(self) -> bool:
        """Whether the joints stay in the plane, at the same heights, however they turn."""
        return self.sliding is None and self.linkage.is_flat

    def joints(self, turns: Floats, slides: Floats) -> Floats:
        """Return the joints (frames, n + 1, 2) of local turns and the solver's slides, (frames, n) each.

        In the solver's space; the tip alone (frames, 1, 2) where not all stay in the plane.
        """
        if self.is_flat:
            joints = self.linkage.joints(turns)
        else:
            joints = self.linkage.tips(turns, self.added(slides))[:, None]
        return joints if self.stretched is None else joints / self.stretched.size[:, None, None]

    def judged(self, solution: Solution) -> Solution:
        """Return the solution with the status of targets that no factor of the bones' lengths reaches."""
        if self.stretched is None:
            return solution
        off_reach = self.stretched.off_reach
        status = np.where(off_reach == Status.REACHED, solution.status, off_reach)
        return changed(solution, status=status.astype(np.int8))

    @property
    def start(self) -> StartPose | None:
        """The angles and slides before the first frame, where it goes on from any."""
        if not self.rig.goes_on:
            return None
        if self.near is not None:
            before = None if self.sliding is None else self.sliding.before
            return StartPose(self.angles_of(self.near[0], 0), self.solvers(before, 0))
        if self.rig.settings.solver == 'EVEN':  # it begins with the pose of least bend
            return None
        return StartPose(*self.posture.first(self.targets[0], float(self.bend[0])))

    @cached_property
    def posture(self) -> Posture:
        """The poses that a path is drawn to: of the first frame's chain, since a family for each is slow."""
        return posture_of(self.chain(0), self.unturned[0])

    def _posture(self, row: int) -> Posture | None:
        """Return the poses that a path is drawn to at one of the frames; None without CCD."""
        if self.rig.settings.solver != 'CCD':
            return None
        return changed(self.posture, offset=self.unturned[row] - self.unturned[0]) if row else self.posture

    @property
    def sizes(self) -> Floats:
        """(frames,) how far the chain reaches, its bones slid out; (1,) where all frames are alike."""
        sizes: Floats = unrepeated(self.lengths).sum(axis=1)
        if self.sliding is not None and self.rig.slides is not None:
            sizes = sizes + self.sliding.gains @ self.rig.slides.ranges[:, 1]
        return sizes

    def added(self, slides: Floats) -> Floats | None:
        """Return the solver's slides (frames, n) as locations have them; None where all bones are rigid."""
        return None if self.sliding is None else slides / self.sliding.gains

    def solvers(self, slides: Floats | None, row: int) -> Floats:
        """Return the solver's slides (n,) of locations' slides (n,) at a frame; zeros for None."""
        if slides is None or self.sliding is None:
            return np.zeros(len(self.rig.bones))
        slid: Floats = slides * self.sliding.gains[row]
        return slid

    def angles_of(self, turns: Floats, row: int) -> Floats:
        """Return the solver's angles (n,) of local turns (n,) at one of the frames."""
        headings = self.headings[row : row + 1]
        whole_turns = self.unturned[row] - angles_before(headings)[0]
        angles: Floats = self.linkage.angles_of(turns[None], headings)[0] + whole_turns
        return angles

    def turns(self, angles: Floats) -> Floats:
        """Return the local turns (frames, n) of solved angles (frames, n)."""
        return self.linkage.local_turns(angles, self.headings, self.rig.joints.held, self.near)

    def but_fine(self, missed: Floats) -> Floats:
        """Return misses (frames, 2), 0 for chains that miss nowhere by more than FINE of their length."""
        each = missed.reshape(self.linkage.count, -1)
        sizes = self.lengths[:: len(missed) // len(each)].sum(axis=1)
        each[np.abs(each).max(axis=1) <= FINE * sizes] = 0.0
        return missed

    def turned_again(self, turns: Floats, angles: Floats, frames: NDArray[np.intp]) -> Floats:
        """Return turns (frames, n) with those of chains whose angles (frames, n) are new at some frames."""
        again = self.turns(angles).reshape(self.linkage.count, -1, turns.shape[1])
        moved = np.zeros((len(again), 1, 1), np.bool_)
        moved[frames // again.shape[1]] = True
        return np.where(moved, again, turns.reshape(again.shape)).reshape(turns.shape)

    def chain(self, row: int) -> Chain:
        """Return the chain at one of the frames."""
        joints, slides = self.rig.joints, None
        if self.sliding is not None and self.rig.slides is not None:
            slides = self.rig.slides.ranges * self.sliding.gains[row][:, None]
        return Chain(self.lengths[row], joints.limits_from(self.unturned[row]), joints.weights, slides)

    @property
    def _turns_freely(self) -> bool:
        """Whether all joints have no limits, and no weight of 0."""
        chain = self.chain(0)
        return not chain.is_limited and (chain.weights is None or bool(chain.weights.all()))

    @cached_property
    def is_constant(self) -> bool:
        """Whether the chain is the same at all frames: it neither stretches, nor moves a joint by itself."""
        if self.linkage.count > 1:
            return False
        size = self.lengths[0].sum()
        changes = [_most_changed(self.lengths), size * _most_changed(self.unturned)]
        if self.sliding is not None:
            changes.append(size * _most_changed(self.sliding.gains))
        return bool(max(changes) <= SAME_LENGTH * size)

    def one(self, row: int, start: StartPose, *, goes_on: bool = False) -> Steps[Solution]:
        """Solve one frame from the pose `start` with the least turns, or as a path that comes from there."""
        rig = self.rig if goes_on else self.rig.solved_by(solver='CCD')
        softness, bend = self.softness[row : row + 1], self.bend[row : row + 1]
        chain, target = self.chain(0 if self.is_constant else row), self.targets[row : row + 1]
        rest = self.unturned[row]
        start = start if goes_on else StartPose(start.angles[None], start.slides[None])
        if self.wanted is not None:
            return (yield from self._with_angle(np.array([row]), target, softness).along(start))
        return (yield from solved_steps(rig, chain, target, start, bend, softness, rest, self._posture(0)))

    def all(self, starts: StartPose | None) -> Steps[Solution]:
        """Solve all frames: where the chain goes on each from the one before, or from its own of `starts`."""
        start = starts or self.start
        if start is None and self.rig.settings.solver != 'EVEN':
            start = StartPose(self.unturned, np.zeros_like(self.unturned))
        return (yield from self._solve(self.targets, start, self.softness))

    def again(self, targets: Floats, start: StartPose, frames: NDArray[np.intp]) -> Steps[Solution]:
        """Solve some of the frames for other targets (m, 2), each from its pose, without softness."""
        solved = self
        if self.rig.settings.solver == 'EVEN' and self.stretched is not None and not self.is_constant:
            # A family for each frame's chain is slow; the least corrections are enough.
            solved = changed(self, rig=self.rig.solved_by(solver='CCD'))
        return (yield from solved._solve(targets, start, np.zeros(len(targets)), frames))

    def mended(self, joints: Floats, missed: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the least changes of the angles (frames, n) that correct misses (frames, 2) of the tips.

        By Newton's step with the Jacobian J of the tip, from `joints`,

            change = J^T (J J^T)^-1 missed

        and a mask of the frames (frames,) that they correct: where they are small and no joint is held. One
        joint cannot correct both coordinates.
        """
        if not self.is_flat or self.rig.joints.held.any() or len(self.rig.bones) == 1:
            return np.zeros_like(self.lengths), np.zeros(len(joints), np.bool_)
        arms = (joints[:, -1:] - joints[:, :-1]).transpose(2, 1, 0)  # (2, n, frames)
        along, across = arms[0], -arms[1]  # how the tip moves with each joint, in y and in x
        xx, xy, yy = (across * across).sum(axis=0), (across * along).sum(axis=0), (along * along).sum(axis=0)
        determinant = np.maximum(xx * yy - xy * xy, np.finfo(float).tiny)
        x, y = missed.T
        with np.errstate(over="ignore", invalid="ignore"):
            change = across * ((yy * x - xy * y) / determinant) + along * ((xx * y - xy * x) / determinant)
            bent = 0.5 * self.lengths.sum(axis=1) * np.abs(change).sum(axis=0) ** 2
            small = bent <= _BENT * np.hypot(x, y)
        return np.where(small, change, 0.0).T, small

    def _with_angle(self, rows: NDArray[np.intp], targets: Floats, softness: Floats) -> AngleFrames:
        """Return some frames of a chain whose last bone has an angle, with targets and softness (m,)."""
        assert self.wanted is not None
        frames, bend = None if self.is_constant else rows, self.bend[rows]
        asked = targets, self.wanted[rows], bend, softness
        return AngleFrames(self.rig, self.chain, self.unturned, frames, *asked)

    def _solve(
        self,
        targets: Floats,
        start: StartPose | None,
        softness: Floats,
        frames: NDArray[np.intp] | None = None,
    ) -> Steps[Solution]:
        """Solve targets (m, 2) at some of the frames, or all, from one pose on or each from its own."""
        bend = self.bend if frames is None else self.bend[frames]
        if self.wanted is not None:
            every = np.arange(len(targets)) if frames is None else frames
            return (yield from self._with_angle(every, targets, softness).solved(start))
        if self.is_constant:
            chain, rest = self.chain(0), self.unturned[0]
            posture = self._posture(0)
            return (yield from solved_steps(self.rig, chain, targets, start, bend, softness, rest, posture))
        lengths = self.lengths if frames is None else self.lengths[frames]
        if self.rig.settings.solver == 'TWO_BONE' and self._turns_freely and are_plain(lengths, targets):
            assert start is not None
            tolerances = np.full(len(targets), self.rig.settings.tolerance or np.nan)
            tolerances = np.where(np.isnan(tolerances), DEFAULT_TOLERANCE * lengths.sum(axis=1), tolerances)
            kept = np.broadcast_to(start.angles, targets.shape)
            yield len(targets)
            return solve_pairs(lengths, targets, bend, softness, tolerances, kept)
        parts, last = [], start
        for row, frame in enumerate(range(len(targets)) if frames is None else frames.tolist()):
            rows, chain = slice(row, row + 1), self.chain(frame)
            if start is not None and start.angles.ndim == 2:
                last = StartPose(start.angles[row], start.slides[row])
            elif last is not None and row and self.rig.has_memory and bend[row] != bend[row - 1]:
                over = turned_over(chain, last.angles.tolist(), float(bend[row]))
                last = StartPose(np.array(over), last.slides)
            rest = self.unturned[frame]
            asked = targets[rows], last, bend[rows], softness[rows]
            solution = yield from solved_steps(self.rig, chain, *asked, rest, self._posture(frame))
            parts.append(solution)
            last = StartPose(solution.angles[0], solution.slides[0])
            yield frame + 1
        return Solution.joined(parts)


def each_of(values: Sequence[Floats]) -> Floats:
    """Return values (frames, ..) of chains of one kind as one array, of one frame where they are thin."""
    rows = len(unrepeated(values[0]))
    return np.array([each[:rows] for each in values])


def _most_changed(values: Floats) -> float:
    """Return the largest change over the frames of any of values (frames, n)."""
    rows = unrepeated(values)
    return float(np.ptp(rows, axis=0).max()) if len(rows) > 1 else 0.0


def tips_of(lengths: Floats, angles: Floats) -> Floats:
    """Return the tips (frames, 2) of chains whose lengths (frames, n) may differ from frame to frame."""
    cosines, sines = cos_and_sin(summed_up(np.array(angles.T, order="C")))
    return np.stack(((lengths.T * cosines).sum(axis=0), (lengths.T * sines).sum(axis=0)), axis=1)
