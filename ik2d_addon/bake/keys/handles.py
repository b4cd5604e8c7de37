# SPDX-License-Identifier: GPL-3.0-or-later
"""Between two frames: handles that keep the tip on its target's way where automatic ones would not.

Automatic handles round off what changes suddenly: a foot that is planted slides before it leaves the
ground, and where joints turn fast the tip swings past. There the chain is solved half-way, too, and
the curves go from key to key as the parabolas through that third point.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...core.affine import norms
from ...core.inputs import Floats
from ...rig.animation.bone_channels import BoneRotation
from ...rig.pose.kinematics import read_linkage
from ...rig.pose.rotations import bone_rotations
from ...rig.scene.samples import ChainSamples, solvable
from ...rig.scene.slide_locations import slide_channels
from ...rig.scene.stretch_scales import scale_channels
from ..solving.frames import Asked, SolvedChain
from ..solving.problem import with_scale
from ..solving.solvers import Pose
from .cubics import read_played

# Where the tip may be further off its target half-way than this part of the reach, handles are shaped.
DOUBTFUL = 1e-4
# The length of an automatic handle, as a part of the time to the next key.
AUTOMATIC = 1.0 / 2.5614


def doubtful_gaps(
    chain: SolvedChain, rotations: Sequence[BoneRotation], half_way: ChainSamples
) -> NDArray[np.intp]:
    """Return the frames after which automatic handles would let the tip miss its target.

    chain: solved at all frames (m), with its rotations; half_way: samples between these (m - 1).
    """
    if len(chain.turns) < 2 or not rotations:
        return np.empty(0, np.intp)
    if chain.swings is not None:  # its first bone turns about no axis of its own: everywhere
        return np.flatnonzero(solvable(chain.rig, half_way))
    halves = [replace(rotation, values=middles(rotation.values)) for rotation in rotations]
    factors = None if chain.factors is None else middles(chain.factors)
    half_way = with_scale(chain.rig, half_way, factors)
    times = np.arange(len(half_way.targets)) + 0.5
    played = read_played(chain.rig, half_way, halves, times, chain.linkage)
    strayed = norms(played.tips_in_world() - half_way.targets)
    on_frames = np.maximum(chain.distance[:-1], chain.distance[1:])
    gaps = np.flatnonzero(strayed - on_frames > DOUBTFUL * chain.reach)
    return gaps[solvable(chain.rig, half_way.at(gaps))] if len(gaps) else gaps


def middles(values: Floats) -> Floats:
    """Return the values (m - 1, c) of channels (m, c) with automatic handles half-way between frames.

    Between values v with handles that lead to v + h on both sides it is (v0 + v1) / 2 + 3 (h0 + h1) / 8.
    """
    steps = values[1:] - values[:-1]
    sizes = np.abs(steps)
    slopes = np.abs(steps[:-1] + steps[1:]) / 2.0
    # They are level at turning points and at the ends. Both of a key are as long as the shorter of them,
    # and that does not lead beyond the next value.
    lengths = np.zeros_like(values)
    np.minimum(AUTOMATIC * slopes, np.minimum(sizes[:-1], sizes[1:]), out=lengths[1:-1])
    lengths[1:-1] *= steps[:-1] * steps[1:] > 0.0
    middles: Floats = (values[:-1] + values[1:]) / 2.0
    middles += np.copysign(0.375, steps) * (lengths[:-1] - lengths[1:])
    return middles


def between_frames(chain: SolvedChain, half_way: ChainSamples, gaps: NDArray[np.intp]) -> Asked:
    """Return a solved chain as it is asked for half-way between frames, after some of them."""
    rows, times = gaps.tolist(), (gaps + 0.5).tolist()
    starts, samples = Pose(chain.angles[gaps], chain.solution.slides[gaps]), half_way.at(rows)
    linkage = None if chain.linkage is None else read_linkage(chain.rig, samples, chain.linkage)
    spins = None if chain.spins is None else middle_values(chain.spins)[gaps]
    return Asked(chain.rig, samples, times, starts=starts, linkage=linkage, spins=spins)


def middle_values(values: Floats) -> Floats:
    """Return smooth values (m,) half-way between frames (m - 1,), by the cubics through four of them."""
    slopes = np.gradient(values)
    found: Floats = (values[:-1] + values[1:]) / 2.0 + (slopes[:-1] - slopes[1:]) / 8.0
    return found


def shaped_rotations(
    chain: SolvedChain,
    found: SolvedChain,
    gaps: NDArray[np.intp],
    single_axis: bool,
    before: Mapping[str, Floats] | None,
) -> list[BoneRotation]:
    """Return a solved chain's rotations, then its stretched scales, with handles in some of the gaps.

    found: as it was solved there, by `between_frames`. gaps: after which frames. single_axis and before: as
    in `bone_rotations`.
    """
    turns = found.turns + 2.0 * np.pi * np.round((chain.turns[gaps] - found.turns) / (2.0 * np.pi))
    # All in one sequence, so that the channels are continuous too.
    together = np.insert(chain.turns, gaps + 1, turns, axis=0)
    middle = gaps + 1 + np.arange(len(gaps))
    on_frames = np.delete(np.arange(len(together)), middle)
    swings = None
    if chain.swings is not None and found.swings is not None:
        swings = np.insert(chain.swings, gaps + 1, found.swings, axis=0)
    rotations = bone_rotations(chain.rig, together, single_axis, before, swings)
    locations, factors = chain.locations, None
    if locations is not None and found.locations is not None:
        locations = np.insert(locations, gaps + 1, found.locations, axis=0)
    if chain.factors is not None and found.factors is not None:
        factors = np.insert(chain.factors, gaps + 1, found.factors, axis=0)
    channels = (*rotations, *slide_channels(chain.rig, locations), *scale_channels(chain.rig, factors))
    return [with_parabolas(each, on_frames, middle, gaps) for each in channels]


def with_parabolas(
    rotation: BoneRotation, on_frames: NDArray[np.intp], middle: NDArray[np.intp], gaps: NDArray[np.intp]
) -> BoneRotation:
    """Return the rotation on the frames alone, each parabola through a middle as handles at thirds.

    Through v0, vm half-way, and v1 a parabola has the slopes 4 vm - 3 v0 - v1 and 3 v1 + v0 - 4 vm.
    """
    values, between = rotation.values[on_frames], rotation.values[middle]
    first, last = values[gaps], values[gaps + 1]
    handles: Floats = np.full((2, *values.shape), np.nan)
    handles[1, gaps] = first + (4.0 * between - 3.0 * first - last) / 3.0
    handles[0, gaps + 1] = last - (3.0 * last + first - 4.0 * between) / 3.0
    return replace(rotation, values=values, handles=handles)
