# SPDX-License-Identifier: GPL-3.0-or-later
"""The samples of a chain half-way between frames, from those on the frames, with a bound on their error.

Half-way between two of seven frames the value is that of the polynomial through all of them. Its error is
bounded by the larger of their two fifth differences: of that a step of the motion, a corner, or a bend of any
order, at any time, leaves at most 0.78, 0.80 and 0.27, smooth motion a hundredth. Of all runs of seven frames
around a gap the one with the least differences counts: beside a bend, as at a key, one that ends there.

Each gap may still hold a motion of its own, which no frame shows: keys on every frame that ease in and out,
bounce or step. So the F-Curves behind the motion are read half-way too: each has to be where the polynomial
through its own seven frames is, or Blender is asked. Strips, layers, and drivers that may jump leave doubt.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.affine import changed, repeated
from ...core.inputs import Floats
from ..animation.bone_channels import ROTATIONS
from ..animation.in_between import CurveMotion, is_amplified, motions, moves_unseen
from ..animation.times import evaluated_times
from ..chain.chain import RigChain
from ..chain.checks.bones import rest_joints
from ..chain.dependencies import Node, influences, walk
from ..chain.planes import reach_of
from .record import has_turning_targets
from .sampler import Sampler, Sampling, sample_steps
from .samples import ChainSamples

# Frames of which one polynomial goes through all.
_RUN = 7
# Its weights half-way after the first to sixth of them.
_WEIGHTS = (
    np.array(
        (
            (231, 1386, -1155, 924, -495, 154, -21),
            (-21, 378, 945, -420, 189, -54, 7),
            (7, -70, 525, 700, -175, 42, -5),
            (-5, 42, -175, 700, 525, -70, 7),
            (7, -54, 189, -420, 945, 378, -21),
            (-21, 154, -495, 924, -1155, 1386, 231),
        )
    )
    / 1024.0
)
# Where the bound is within this part of the reach, times half-way are not asked for.
CERTAIN = 1e-4
# So near, as a part of the reach, quarters of a gap have to be to where frames and half-way times let expect.
QUIET = 5e-4
# A value that does not place, turn or scale counts as if its range moved things this often as far as they are
# apart; an angle that changes by more than so many radians in a frame may turn unseen.
_SWAY, _FAST = 10.0, 1.0
# Constraints that follow what they read; others, such as Action, may do anything between frames.
_KNOWN: tuple[str, ...] = ('ARMATURE', 'CHILD_OF', 'CLAMP_TO', 'COPY_LOCATION', 'COPY_ROTATION', 'COPY_SCALE')
_KNOWN += (
    'COPY_TRANSFORMS',
    'DAMPED_TRACK',
    'FLOOR',
    'FOLLOW_PATH',
    'IK',
    'LIMIT_DISTANCE',
    'LIMIT_LOCATION',
)
_KNOWN += ('LIMIT_ROTATION', 'LIMIT_SCALE', 'LOCKED_TRACK', 'MAINTAIN_VOLUME', 'PIVOT', 'SHRINKWRAP')
_KNOWN += ('SPLINE_IK', 'STRETCH_TO', 'TRACK_TO', 'TRANSFORM')
# Modifiers that change a shape only as they are changed themselves.
_STILL = ('ARRAY', 'BEVEL', 'DECIMATE', 'EDGE_SPLIT', 'MIRROR', 'SOLIDIFY', 'SUBSURF', 'TRIANGULATE', 'WELD')


def half_way(samples: ChainSamples, size: float) -> tuple[ChainSamples, Floats, NDArray[np.intp]]:
    """Return a chain's samples half-way between frames (f - 1), and the bounds (f - 1,) of their error.

    And the first frames (f - 1,) of the runs that they are taken from.

    The bound is a length in the world, of what is off between the target and the chain: size is how far the
    chain goes from the bone above it. It is infinite where there are too few frames, or no numbers, and where
    settings change. Orientations of targets and hands are not bounded.
    """
    frames, parent, settings = len(samples.targets), samples.parent, samples.settings
    scale = float(np.linalg.norm(np.nan_to_num(samples.world[:, :3, :3]), axis=1).max())
    above = 0.0 if parent is None else float(np.linalg.norm(np.nan_to_num(parent[:, :3, 3]), axis=1).max())
    sizes = np.full((3, 4), scale * size)
    sizes[:, 3] = scale
    # The lengths by which the target, the armature, the bone above, and what carries the chain, count.
    counted: list[tuple[Floats, Floats | float]] = [
        (samples.targets, 1.0),
        (samples.world[:, :3], np.where(np.arange(4) < 3, size + above, 1.0)),
        *((matrices[:, :3], sizes) for matrices in (parent, samples.carried) if matrices is not None),
        (samples.bases[:, :, :3], sizes),
        *([(samples.poles, 1.0)] if samples.poles is not None else ()),
    ]
    moving = [(values * sizes).reshape(frames, -1) for values, sizes in counted if values.strides[0] != 0]
    bounds, starts = _smoothest(moving, frames)
    bounds = np.where((settings[:-1] != settings[1:]).any(axis=1), np.inf, bounds)
    names = ("targets", "world", "parent", "bases", "carried", "poles")
    there = {
        name: None if (values := getattr(samples, name)) is None else _middles(values, starts)
        for name in names
    }
    middle = changed(samples, **there, tips=samples.tips[:-1], settings=settings[:-1], poses=None)
    return middle, bounds, starts


def _smoothest(moving: Sequence[Floats], frames: int) -> tuple[Floats, NDArray[np.intp]]:
    """Return the bounds (f - 1,) half-way after each frame, and the first frames (f - 1,) of the best runs.

    moving: values (f, k) each, as lengths.
    """
    gaps, runs = frames - 1, frames - _RUN + 1
    if runs < 1:
        return np.full(gaps, np.inf), np.zeros(gaps, np.intp)
    rough = np.zeros(frames - 5)
    with np.errstate(invalid="ignore"):
        for values in moving:
            rough += np.abs(np.diff(values, 5, axis=0)).max(axis=1)
    pairs = np.maximum(rough[:-1], rough[1:])  # (runs,)
    pairs = np.where(np.isfinite(pairs), pairs, np.inf)
    starts = np.arange(gaps)[:, None] - np.arange(_RUN - 2, -1, -1)
    there = np.where((starts >= 0) & (starts < runs), pairs[starts.clip(0, runs - 1)], np.inf)
    best = np.argmin(there, axis=1)
    rows = np.arange(gaps)
    return there[rows, best], starts[rows, best].clip(0, runs - 1)


def _middles(values: Floats, starts: NDArray[np.intp]) -> Floats:
    """Return values (f, ..) half-way between frames (f - 1, ..), by the runs that begin at starts."""
    gaps = len(values) - 1
    if values.strides[0] == 0:
        return repeated(values[0], gaps)
    if len(values) < _RUN:
        return values[:-1]
    weights = _WEIGHTS[np.arange(gaps) - starts]
    middles = np.zeros((gaps, *values.shape[1:]))
    for i in range(_RUN):
        middles += weights[:, i].reshape(-1, *[1] * (values.ndim - 1)) * values[starts + i]
    return middles


@dataclass(frozen=True, eq=False)
class Inputs:
    """The F-Curves behind the motion of a rig and its targets, at times on and between frames."""

    motions: list[CurveMotion]
    lever: float  # how far apart the things that move are, in the world
    size: float  # the largest scale of any of them
    amplified: bool  # whether drivers or constraints may enlarge a motion

    @classmethod
    def read(
        cls,
        scene: bpy.types.Scene,
        chains: Sequence[RigChain],
        frames: Sequence[float] | Floats,
        parts: int,
        restless: bool = False,
    ) -> "Inputs | None":
        """Return the inputs of chains of one armature at the parts of each gap between two frames.

        restless: read those alone that may bend or jump between two frames. None where more than F-Curves may
        move the chains unseen.
        """
        armature = chains[0].armature
        roots: list[Node] = [(armature, ""), *((ob, "") for chain in chains for ob, _ in chain.followed)]
        blocks = [block for block, _ in walk(roots, influences)]
        if any(map(moves_unseen, blocks)) or any(map(_has_hidden_motion, blocks)):
            return None
        starts = np.array(frames, np.float64)
        steps = np.diff(starts)[:, None] * np.arange(parts) / parts
        every = np.append((starts[:-1, None] + steps).ravel(), starts[-1])
        times = evaluated_times(scene, every.tolist())
        shown = evaluated_times(scene, starts.tolist()) if restless else None
        keyed = {path for chain in chains for path in _keyed_paths(chain)}
        inputs = [
            motion
            for block in blocks
            for motion in motions(block, times, keyed if block == armature else set(), shown)
            if np.ptp(motion.values) > 0.0
        ]
        amplified = any(map(is_amplified, blocks)) or any(
            constraint.type == 'TRANSFORM' for block in blocks for constraint in _constraints(block)
        )
        return cls(inputs, *_extent(blocks), amplified)

    def off_polynomials(self, starts: NDArray[np.intp], lever: float) -> Floats:
        """Return how far (f - 1,), in the world, curves are off the polynomials of runs that begin at starts.

        Of inputs in halves. lever: how far apart the targets and the armature are.
        """
        off = np.zeros(len(starts))
        for motion in self.motions:
            away = np.abs(motion.values[1::2] - _middles(motion.values[::2], starts))
            off += self._in_world(motion, away, max(lever, self.lever))
            off[self._turns_unseen(motion, 2)] = np.inf
        return np.where(np.isnan(off), np.inf, off)

    def off_parabolas(self, gaps: int) -> Floats:
        """Return how far (f - 1,), in the world, curves are off parabolas through frames and half-way times.

        Of inputs in quarters.
        """
        off = np.zeros(gaps)
        for motion in self.motions:
            start, early, middle, late = (motion.values[quarter:-1:4] for quarter in range(4))
            end = motion.values[4::4]
            away = np.abs(early - 0.375 * start - 0.75 * middle + 0.125 * end)
            away = np.maximum(away, np.abs(late + 0.125 * start - 0.75 * middle - 0.375 * end))
            if motion.bends:
                off += self._in_world(motion, away, self.lever)
            off[self._turns_unseen(motion, 4)] = np.inf
        return np.where(np.isnan(off), np.inf, off)

    def _in_world(self, motion: CurveMotion, away: Floats, lever: float) -> Floats:
        """Return how far values that are off by some numbers may move things in the world."""
        unit = {'PLACE': self.size, 'TURN': lever * self.size}.get(motion.kind, 0.0)
        if self.amplified or not unit:
            unit = max(unit, _SWAY * lever / float(np.ptp(motion.values)))
        return unit * away

    @staticmethod
    def _turns_unseen(motion: CurveMotion, parts: int) -> NDArray[np.bool_]:
        """Return a mask (f - 1,) of gaps in which an angle, or a place on a path, changes too fast."""
        if not (motion.wraps or motion.kind == 'PATH'):
            return np.zeros((len(motion.values) - 1) // parts, np.bool_)
        changes = np.abs(np.diff(motion.values)).reshape(-1, parts).sum(axis=1)
        fast: NDArray[np.bool_] = ~(changes <= (_FAST if motion.wraps else 0.0))
        return fast


def _keyed_paths(chain: RigChain) -> Iterator[str]:
    """Yield the paths of the channels of a chain's bones that a bake keys, whatever they hold before."""
    names = [*ROTATIONS]
    names += ["scale"] if chain.stretching is not None else []
    names += ["location"] if chain.slides is not None else []
    for bone in chain.pose_bones:
        yield from map(bone.path_from_id, names)


def restless_gaps(
    scene: bpy.types.Scene, chains: Sequence[RigChain], frames: Floats, reach: float, cubics: bool
) -> NDArray[np.intp]:
    """Return the gaps between frames in which chains or targets may move otherwise than smoothly.

    There quarters count too. reach: in the world, of the shortest chain. cubics: whether the keys follow
    cubics from frame to frame.
    """
    gaps = len(frames) - 1
    inputs = Inputs.read(scene, chains, frames, 4, cubics) if gaps > 0 else None
    if inputs is None:
        return np.arange(gaps)
    return np.flatnonzero(~(inputs.off_parabolas(gaps) <= QUIET * reach))


def _constraints(block: bpy.types.ID) -> Iterator[bpy.types.Constraint]:
    """Yield the constraints of an object and of its bones."""
    if isinstance(block, bpy.types.Object):
        yield from block.constraints
        for bone in block.pose.bones if block.pose else ():
            yield from bone.constraints


def _has_hidden_motion(block: bpy.types.ID) -> bool:
    """Return whether constraints, modifiers or shape keys may move things between frames in any way."""
    if any(constraint.type not in _KNOWN for constraint in _constraints(block)):
        return True
    if not isinstance(block, bpy.types.Object) or block.type == 'ARMATURE':
        return False
    if getattr(block.data, "shape_keys", None) is not None:
        return True
    return any(modifier.type not in _STILL for modifier in block.modifiers)


def _extent(blocks: Sequence[bpy.types.ID]) -> tuple[float, float]:
    """Return how far apart objects and bones are, and the largest scale of any of them."""
    places, sizes = [], [1.0]
    for block in blocks:
        if isinstance(block, bpy.types.Object):
            matrix = np.nan_to_num(np.array(block.matrix_world))
            ends = [(0.0, 0.0, 0.0)]
            if block.type == 'ARMATURE':
                tails = np.empty(3 * len(block.data.bones), "f4")
                block.data.bones.foreach_get("tail_local", tails)
                ends += tails.reshape(-1, 3).tolist()
            places.append(np.array(ends) @ matrix[:3, :3].T + matrix[:3, 3])
            sizes.append(float(np.linalg.norm(matrix[:3, :3], axis=0).max()))
    spans = np.ptp(np.concatenate(places), axis=0)
    return float(np.linalg.norm(spans)), max(sizes)


def sampled_between(
    sampler: Sampler, chains: Sequence[RigChain], frames: Sequence[float], extra: Sequence[float]
) -> Generator[int, None, Sampling]:
    """Return the Sampling of `sample_steps`, half-way times by arithmetic where the motion leaves no doubt.

    extra: the times half-way between the frames, then others. Yields the number of times done.
    """
    if len(frames) < _RUN or has_turning_targets(chains) or not (yield from sampler.steps_alone()):
        return (yield from sample_steps(sampler, chains, frames, extra))
    inputs = Inputs.read(sampler.scene, chains, frames, 2)
    if inputs is None:
        return (yield from sample_steps(sampler, chains, frames, extra))
    gaps = len(frames) - 1
    first = yield from sample_steps(sampler, chains, frames, extra[gaps:])
    on_frames = [on_frame.at(slice(len(frames))) for on_frame in first.chains]
    chains_there: list[ChainSamples] = []
    doubts: set[int] = set()
    for chain, samples in zip(chains, on_frames, strict=True):
        reach, size = _sizes(chain, samples)
        middle, bounds, starts = half_way(samples, size)
        apart = np.nan_to_num(np.concatenate((samples.targets, samples.world[:, :3, 3])))
        bounds = bounds + inputs.off_polynomials(starts, float(np.linalg.norm(np.ptp(apart, axis=0))))
        chains_there.append(middle)
        doubts |= set(np.flatnonzero(~(bounds <= CERTAIN * reach)).tolist())
    rows = np.array(sorted(doubts), np.intp)
    if len(rows):
        second = yield from sample_steps(sampler, chains, [extra[row] for row in rows], checked=False)
        order = np.arange(gaps)
        order[rows] = gaps + np.arange(len(rows))
        chains_there = [
            ChainSamples.joined([middle, changed(seen, poses=None)]).at(order)
            for middle, seen in zip(chains_there, second.chains, strict=True)
        ]
    whole = []
    for own, between in zip(first.chains, chains_there, strict=True):
        samples = changed(own, poses=None)
        parts = [samples.at(slice(len(frames))), between, samples.at(slice(len(frames), None))]
        whole.append(ChainSamples.joined(parts))
    return changed(first, chains=whole)


def _sizes(chain: RigChain, samples: ChainSamples) -> tuple[float, float]:
    """Return the chain's reach in the world, and how far it goes from the bone above it, in pose space."""
    joints = rest_joints(chain.pose_bones)
    length = reach_of(joints)
    above = chain.pose_bones[0].parent
    off = joints[0] - np.array(above.bone.head_local if above else (0.0, 0.0, 0.0))
    scale = float(np.linalg.norm(np.nan_to_num(samples.world[:, :3, :3]), axis=1).max())
    return scale * length, length + float(np.linalg.norm(off))
