# SPDX-License-Identifier: GPL-3.0-or-later
"""The samples of a chain half-way between frames, from those on the frames, with a bound on their error.

Half-way between two of seven frames the value is that of the polynomial through all of them. Its error is
bounded by the larger of their two fifth differences: of that a step of the motion, a corner, or a bend of any
order, at any time, leaves at most 0.78, 0.80 and 0.27, smooth motion a hundredth. Of all runs of seven frames
around a gap the one with the least differences counts: beside a bend, as at a key, one that ends there.
"""

from collections.abc import Generator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...core.affine import repeated
from ...core.inputs import Floats
from ..chain.chain import RigChain, rest_joints
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


def half_way(samples: ChainSamples, size: float) -> tuple[ChainSamples, Floats]:
    """Return a chain's samples half-way between frames (f - 1), and the bounds (f - 1,) of their error.

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
    found = replace(
        samples,
        targets=_middles(samples.targets, starts),
        world=_middles(samples.world, starts),
        parent=None if parent is None else _middles(parent, starts),
        bases=_middles(samples.bases, starts),
        tips=samples.tips[:-1],
        settings=settings[:-1],
        carried=None if samples.carried is None else _middles(samples.carried, starts),
        poses=None,
        poles=None if samples.poles is None else _middles(samples.poles, starts),
    )
    return found, bounds


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
    found = np.zeros((gaps, *values.shape[1:]))
    for i in range(_RUN):
        found += weights[:, i].reshape(-1, *[1] * (values.ndim - 1)) * values[starts + i]
    return found


def sampled_between(
    sampler: Sampler, chains: Sequence[RigChain], frames: Sequence[float], extra: Sequence[float]
) -> Generator[int, None, Sampling]:
    """Return the Sampling of `sample_steps`, half-way times by arithmetic where the motion leaves no doubt.

    extra: the times half-way between the frames, then others. Yields the number of times done.
    """
    if len(frames) < 2 or has_turning_targets(chains) or not (yield from sampler.steps_alone()):
        return (yield from sample_steps(sampler, chains, frames, extra))
    gaps = len(frames) - 1
    first = yield from sample_steps(sampler, chains, frames, extra[gaps:])
    on_frames = [one.at(slice(len(frames))) for one in first.chains]
    found: list[ChainSamples] = []
    doubts: set[int] = set()
    for chain, samples in zip(chains, on_frames, strict=True):
        reach, size = _sizes(chain, samples)
        middle, bounds = half_way(samples, size)
        found.append(middle)
        doubts |= set(np.flatnonzero(~(bounds <= CERTAIN * reach)).tolist())
    rows = np.array(sorted(doubts), np.intp)
    if len(rows):
        second = yield from sample_steps(sampler, chains, [extra[row] for row in rows], checked=False)
        order = np.arange(gaps)
        order[rows] = gaps + np.arange(len(rows))
        found = [
            ChainSamples.joined([middle, _without_poses(seen)]).at(order)
            for middle, seen in zip(found, second.chains, strict=True)
        ]
    whole = []
    for samples, between in zip(map(_without_poses, first.chains), found, strict=True):
        parts = [samples.at(slice(len(frames))), between, samples.at(slice(len(frames), None))]
        whole.append(ChainSamples.joined(parts))
    return replace(first, chains=whole)


def _without_poses(samples: ChainSamples) -> ChainSamples:
    return replace(samples, poses=None)


def _sizes(chain: RigChain, samples: ChainSamples) -> tuple[float, float]:
    """Return the chain's reach in the world, and how far it goes from the bone above it, in pose space."""
    joints = rest_joints(chain.pose_bones)
    length = reach_of(joints)
    above = chain.pose_bones[0].parent
    off = joints[0] - np.array(above.bone.head_local if above else (0.0, 0.0, 0.0))
    scale = float(np.linalg.norm(np.nan_to_num(samples.world[:, :3, :3]), axis=1).max())
    return scale * length, length + float(np.linalg.norm(off))
