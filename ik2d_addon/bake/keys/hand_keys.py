# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of hands and feet: on the frames of their chain's, or as few as keep their orientation."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.inputs import Floats
from ...rig.animation.bone_channels import BoneChannels, BoneRotation, matrices
from ...rig.pose.hand_rotations import angles_between, hand_notes, own_turns
from ...rig.scene.samples import ChainSamples, finished, solvable
from ..solving.hands import KeyedHands, hands_held
from .cubics import hermite, solved_normal
from .handles import halves, middles, shaped
from .keying import USED, KeyedChain, KeyPlan, fewest, handles_of, keyed_at

# Where a hand would be further off its rotation than this half-way between frames, in radians, its handles
# are shaped.
ASTRAY = 8e-4


def with_hands(
    scene: bpy.types.Scene,
    plan: KeyPlan,
    chain: KeyedChain,
    samples: ChainSamples,
    half_way: ChainSamples | None,
) -> KeyedChain:
    """Return a chain with the keys of its hands. samples, half_way: as in `key_chain`."""
    rig = chain.solved.rig
    if rig.hands is None:
        return chain
    notes = hand_notes(scene, rig, plan.times[0], plan.times[-1])
    if half_way is not None and len(half_way.targets):
        hands = _keyed_on_all(scene, plan, chain, samples, half_way)
    else:
        hands = _keyed_on_some(scene, plan, chain, samples)
    told = replace(rig, notes=(*rig.notes, *notes))
    return replace(chain, hands=hands, solved=replace(chain.solved, rig=told))


def _keyed_on_some(
    scene: bpy.types.Scene, plan: KeyPlan, chain: KeyedChain, samples: ChainSamples
) -> KeyedHands:
    """Return the keys of hands on their chain's own frames, or as few keys as the plan's bound allows."""
    rig = chain.solved.rig
    assert rig.hands is not None
    rows = np.arange(len(plan.times))
    if rig.name in plan.own:
        rows = np.searchsorted(plan.times, plan.own[rig.name])
    times = np.array(plan.times)[rows]
    own, solved = own_turns(scene, rig, times.tolist()), chain.solved.at(rows.tolist())
    channels = {
        each.bone: _between(plan, each) if plan.bound > 0.0 and each.frames is not None else each.values
        for each in _turning(chain)
    }
    rotations = _rotations(chain, channels, len(rows))
    turned = hands_held(rig, samples.at(rows.tolist()), rotations, own, solved.factors, solved.locations)
    keyed, bound = turned.rotations, 0.0
    if rig.name in plan.own:
        keyed = [replace(each, frames=plan.pace * times) for each in keyed]
    elif plan.bound > 0.0 and len(times) > 1:
        size = float(np.linalg.norm(samples.world[:, :3, :3], axis=1).max())
        longest = max(rig.armature.data.bones[name].length for name in rig.hands.bones)
        bound = plan.bound / (size * longest)
        keyed = [_reduced(plan, each, rig.armature, USED * bound) for each in keyed]
    return KeyedHands(keyed, turned, times, bound)


def _keyed_on_all(
    scene: bpy.types.Scene,
    plan: KeyPlan,
    chain: KeyedChain,
    samples: ChainSamples,
    half_way: ChainSamples,
) -> KeyedHands:
    """Return the keys of hands on all frames, with shaped handles where automatic ones would miss.

    Frames and half-way times are solved in one sequence, so that the channels are continuous.
    """
    rig, solved, frames = chain.solved.rig, chain.solved, len(plan.times)
    good = solvable(rig, half_way)
    known = ChainSamples.joined([half_way, samples]).at(
        np.where(good, np.arange(frames - 1), frames - 1 + np.arange(frames - 1)).tolist()
    )
    order = np.argsort(np.concatenate((np.arange(frames), np.arange(frames - 1) + 0.5)))
    together = ChainSamples.joined([samples, known]).at(order.tolist())
    own = own_turns(scene, rig, np.concatenate((plan.times, plan.half_way))[order].tolist())
    channels = {each.bone: _woven(each.values, halves(each)) for each in _turning(chain)}
    factors, locations = (
        None if each is None else _woven(each, middles(each)) for each in (solved.factors, solved.locations)
    )
    rotations = _rotations(chain, channels, len(order))
    turned = hands_held(rig, together, rotations, own, factors, locations)
    keyed = [_with_handles(rig.armature, each, good) for each in turned.rotations]
    on_frames = replace(turned, rotations=keyed, wanted=turned.wanted[::2], shown=turned.shown[::2])
    return KeyedHands(keyed, on_frames, np.array(plan.times))


def _with_handles(
    armature: bpy.types.Object, rotation: BoneRotation, good: NDArray[np.bool_]
) -> BoneRotation:
    """Return a rotation (2 m - 1, c) on the frames (m) alone, with handles where automatic ones miss.

    good: (m - 1,) gaps whose half-way rotation is known.
    """
    on_frames, between = rotation.values[::2], rotation.values[1::2]
    mode = armature.pose.bones[rotation.bone].rotation_mode
    astray = angles_between(matrices(mode, middles(on_frames)), matrices(mode, between))
    gaps = np.flatnonzero(good & (astray > ASTRAY))
    if not len(gaps):
        return replace(rotation, values=on_frames)
    return shaped(rotation, np.arange(0, len(rotation.values), 2), 2 * gaps + 1, gaps)


def _woven(on_frames: Floats, between: Floats) -> Floats:
    """Return values on frames (m, ..) interleaved with those between (m - 1, ..)."""
    return np.insert(on_frames, np.arange(1, len(on_frames)), between, axis=0)


def _turning(chain: KeyedChain) -> Iterator[BoneRotation]:
    """Return the rotations of a chain's bones, without their slides."""
    return (each for each in chain.rotations if not isinstance(each, BoneChannels))


def _rotations(chain: KeyedChain, channels: Mapping[str, Floats], frames: int) -> list[Floats]:
    """Return the local rotations (frames, 3, 3) that channels (frames, c) give a chain's bones."""
    modes = {each.bone: each.mode for each in _turning(chain)}
    return [
        matrices(modes[bone.name] or bone.rotation_mode, channels[bone.name])
        if bone.name in channels
        else np.broadcast_to(np.eye(3), (frames, 3, 3))
        for bone in chain.solved.rig.pose_bones
    ]


def _between(plan: KeyPlan, rotation: BoneRotation) -> Floats:
    """Return the values (frames, c) that few keys, with handles at thirds, play at all times of the plan."""
    assert rotation.frames is not None and rotation.handles is not None
    keys, times = rotation.frames, plan.pace * np.array(plan.times)
    after = np.searchsorted(keys, times, side="right").clip(1, len(keys) - 1)
    first = after - 1
    at_ends, at_slopes = hermite((times - keys[first]) / (keys[after] - keys[first]))
    values, (arriving, leaving) = rotation.values, rotation.handles
    slopes = 3.0 * (leaving[first] - values[first]), 3.0 * (values[after] - arriving[after])
    played: Floats = at_ends[:, :1] * values[first] + at_ends[:, 1:] * values[after]
    played = played + at_slopes[:, :1] * slopes[0] + at_slopes[:, 1:] * slopes[1]
    return played


# --- The fewest keys ---------------------------------------------------------


def _reduced(plan: KeyPlan, rotation: BoneRotation, armature: bpy.types.Object, bound: float) -> BoneRotation:
    """Return a hand's rotation at as few frames as keep it within an angle (radians), with handles."""
    candidates = np.searchsorted(plan.times, plan.candidates).tolist()
    mode = armature.pose.bones[rotation.bone].rotation_mode
    cubics = _TurnCubics(np.array(plan.times), rotation.values, mode)
    rows, slopes = finished(fewest(cubics, candidates, bound))
    return replace(keyed_at(rotation, plan, rows), handles=handles_of(rotation.values[rows], slopes))


class _TurnCubics:
    """Fits the channels of one bone's rotation by cubics from key to key."""

    def __init__(self, times: Floats, channels: Floats, mode: str) -> None:
        self.times, self.channels, self.mode = times, channels, mode
        self._turns = matrices(mode, channels)

    def fit(self, first: int, last: int) -> tuple[Floats, float]:
        """Return the least-squares slopes (2, c) at a segment's ends, over its length, and the error.

        The error is the largest angle between the keys, in radians.
        """
        rows, channels = slice(first + 1, last), self.channels
        gap = self.times[last] - self.times[first]
        at_ends, at_slopes = hermite((self.times[rows] - self.times[first]) / gap)
        if last - first < 2:
            return np.tile(channels[last] - channels[first], (2, 1)), 0.0
        wanted = channels[rows] - at_ends @ channels[[first, last]]
        slopes = solved_normal(at_slopes.T @ at_slopes, at_slopes.T @ wanted)
        played = matrices(self.mode, at_ends @ channels[[first, last]] + at_slopes @ slopes)
        return slopes, float(angles_between(played, self._turns[rows]).max())
