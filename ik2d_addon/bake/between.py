# SPDX-License-Identifier: GPL-3.0-or-later
"""Between two frames: handles that keep the tip on its target's way where automatic ones would not.

Automatic handles round off what changes suddenly: a foot that is planted slides before it leaves the
ground, and where joints turn fast the tip swings past. There the chain is solved half-way, too, and
the curves go from key to key as the parabolas through that third point.
"""

from collections.abc import Generator, Sequence
from dataclasses import replace

import bpy
import numpy as np
from numpy.typing import NDArray

from ..rig.pose import BoneRotation, bone_rotations
from ..rig.sampling import ChainSamples, sample_steps
from .solving import SolvedChain, solve_chain

# Where the tip may be further off its target half-way than this part of the reach, handles are shaped.
DOUBTFUL = 1e-4


def doubtful_gaps(chain: SolvedChain) -> NDArray[np.intp]:
    """Return after which frames automatic handles may lead the tip astray."""
    return np.flatnonzero(chain.half_way > DOUBTFUL * chain.reach)


def shaped_rotations(
    scene: bpy.types.Scene, chains: Sequence[SolvedChain], frames: Sequence[float], single_axis: bool
) -> Generator[int, None, list[list[BoneRotation]]]:
    """Return the rotations of each chain, with handles where automatic ones lead astray.

    chains: of one armature, solved at all frames. Yields the number of times sampled, now and then.
    """
    gaps = np.unique(np.concatenate([doubtful_gaps(chain) for chain in chains]))
    if not len(gaps):
        return [bone_rotations(chain.rig, chain.turns, single_axis) for chain in chains]
    times = np.asarray(frames, np.float64)
    half_way = (times[gaps] + times[gaps + 1]) / 2.0
    sampling = yield from sample_steps(
        scene, [chain.rig for chain in chains], half_way.tolist(), checked=False
    )
    return [
        _shaped(chain, samples, gaps, single_axis)
        for chain, samples in zip(chains, sampling.chains, strict=True)
    ]


def _shaped(
    chain: SolvedChain, samples: ChainSamples, gaps: NDArray[np.intp], single_axis: bool
) -> list[BoneRotation]:
    """Return the chain's rotations with handles in its doubtful gaps; samples: half-way in `gaps`."""
    known = np.isfinite(samples.targets).all(axis=1) & np.isin(gaps, doubtful_gaps(chain))
    gaps, samples = gaps[known], samples.at(np.flatnonzero(known))
    if not len(gaps):
        return bone_rotations(chain.rig, chain.turns, single_axis)
    turns = solve_chain(chain.rig, samples, chain.angles[gaps]).turns
    turns += 2.0 * np.pi * np.round((chain.turns[gaps] - turns) / (2.0 * np.pi))
    # All in one row, so that the channels, too, go on from one to the next.
    together = np.insert(chain.turns, gaps + 1, turns, axis=0)
    middle = gaps + 1 + np.arange(len(gaps))
    on_frames = np.delete(np.arange(len(together)), middle)
    return [
        _with_handles(rotation, on_frames, middle, gaps)
        for rotation in bone_rotations(chain.rig, together, single_axis)
    ]


def _with_handles(
    rotation: BoneRotation, on_frames: NDArray[np.intp], middle: NDArray[np.intp], gaps: NDArray[np.intp]
) -> BoneRotation:
    """Return the rotation on the frames alone, each parabola through a middle as handles at thirds.

    Through v0, vm half-way, and v1 a parabola has the slopes 4 vm - 3 v0 - v1 and 3 v1 + v0 - 4 vm.
    """
    values, between = rotation.values[on_frames], rotation.values[middle]
    first, last = values[gaps], values[gaps + 1]
    handles = np.full((2, *values.shape), np.nan)
    handles[1, gaps] = first + (4.0 * between - 3.0 * first - last) / 3.0
    handles[0, gaps + 1] = last - (3.0 * last + first - 4.0 * between) / 3.0
    return replace(rotation, values=values, handles=handles)
