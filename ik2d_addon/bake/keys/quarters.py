# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands and feet at the quarters between frames, on what their chain's keys play there."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.affine import changed
from ...core.inputs import Floats
from ...rig.animation.bone_channels import BoneChannels, BoneRotation, matrices
from ...rig.pose.hand_rotations import TurnedHands, own_turns
from ...rig.scene.samples import ChainSamples
from ..solving.hands import hands_held
from .keying import KeyedChain

# The parts of the time between two frames where hands are turned to find their handles.
QUARTERS = (0.25, 0.5, 0.75)


def turned_at_quarters(
    scene: bpy.types.Scene,
    chain: KeyedChain,
    times: Floats,
    samples: ChainSamples,
    half_way: ChainSamples,
    channels: Mapping[str, Floats],
    factors: Floats | None,
    locations: Floats | None,
) -> TurnedHands:
    """Return the hands on frames and at the quarters between, for what the chain's keys play there.

    All in one sequence, so that the channels are continuous. times, channels, factors and locations: at all
    of these. samples: on the frames (m,); half_way: between them (m - 1,).
    """
    bare = [changed(each, poses=None, hands=None) for each in (samples, half_way)]
    there = [_samples_at(bare[0], bare[1], quarter) for quarter in QUARTERS]
    frames = len(samples.targets)
    rows = np.split(np.arange(len(times)), frames + (frames - 1) * np.arange(len(there)))
    together = ChainSamples.joined([bare[0], *there]).at(woven(rows[0], rows[1:]).tolist())
    turns = own_turns(scene, chain.solved.rig, times.tolist())
    rotations = local_rotations(chain, channels, len(times))
    return hands_held(chain.solved.rig, together, rotations, turns, factors, locations)


def _samples_at(samples: ChainSamples, half_way: ChainSamples, quarter: float) -> ChainSamples:
    """Return samples (m - 1,) at a part of each gap between frames (m,), by those half-way."""
    pairs = {name: (values, getattr(half_way, name)) for name, values in vars(samples).items()}
    fields: dict[str, Any] = {
        name: None if values is None else mixed(values, middles, quarter)
        for name, (values, middles) in pairs.items()
    }
    there = ChainSamples(**fields)
    return there.with_settings(influence=there.influence.clip(0.0, 1.0))


def mixed(values: Floats, middles: Floats, quarter: float) -> Floats:
    """Return values (m - 1, ..) at a part of each gap: on parabolas through frames (m, ..) and half-way.

    Exactly the same where all three are.
    """
    first, last = (1.0 - quarter) * (1.0 - 2.0 * quarter), quarter * (2.0 * quarter - 1.0)
    blend: Floats = middles + first * (values[:-1] - middles) + last * (values[1:] - middles)
    return blend


def at_quarters(times: Floats) -> Floats:
    """Return times (m,), which may be whole numbers, with the quarters between them (4 m - 3,)."""
    return woven(times.astype(np.float64), [times[:-1] + quarter * np.diff(times) for quarter in QUARTERS])


def woven(on_frames: NDArray[Any], between: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return values on frames (m, ..) interleaved with those at parts of the gaps (m - 1, ..) each."""
    count = len(between) + 1
    woven = np.empty((count * (len(on_frames) - 1) + 1, *on_frames.shape[1:]), on_frames.dtype)
    woven[::count] = on_frames
    for i, values in enumerate(between, start=1):
        woven[i::count] = values
    return woven


def turning_bones(chain: KeyedChain) -> Iterator[BoneRotation]:
    """Yield the rotations of a chain's bones, without their slides."""
    return (each for each in chain.rotations if not isinstance(each, BoneChannels))


def local_rotations(chain: KeyedChain, channels: Mapping[str, Floats], frames: int) -> list[Floats]:
    """Return the local rotations (frames, 3, 3) that channels (frames, c) give a chain's bones."""
    modes = {each.bone: each.mode for each in turning_bones(chain)}
    return [
        matrices(modes[bone.name] or bone.rotation_mode, channels[bone.name])
        if bone.name in channels
        else np.broadcast_to(np.eye(3), (frames, 3, 3))
        for bone in chain.solved.rig.pose_bones
    ]
