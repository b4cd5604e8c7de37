# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of hands and feet: on the frames of their chain's, or as few as keep their orientation."""

from dataclasses import replace

import bpy
import numpy as np

from ..core.inputs import Floats
from ..rig.hand_turns import angles_between, hand_notes, own_turns
from ..rig.pose import BoneRotation, matrices
from ..rig.sampling import ChainSamples, finished
from .cubics import hermite, solved_normal
from .hands import KeyedHands, hands_held
from .keying import USED, KeyedChain, KeyPlan, fewest, handles_of, keyed_at


def with_hands(scene: bpy.types.Scene, plan: KeyPlan, chain: KeyedChain, samples: ChainSamples) -> KeyedChain:
    """Return a chain with the keys of its hands, on the frames on which it has its own.

    samples: of all times of the plan.
    """
    rig = chain.solved.rig
    if rig.hands is None:
        return chain
    rows = np.arange(len(plan.times))
    if rig.name in plan.own:
        rows = np.searchsorted(plan.times, plan.own[rig.name])
    times = np.array(plan.times)[rows]
    own = own_turns(scene, rig, times.tolist())
    solved = chain.solved.at(rows.tolist())
    rotations = _played(plan, chain, len(rows))
    turned = hands_held(rig, samples.at(rows.tolist()), rotations, own, solved.factors, solved.locations)
    keyed, bound = turned.rotations, 0.0
    if rig.name in plan.own:
        keyed = [replace(each, frames=plan.pace * times) for each in keyed]
    elif plan.bound > 0.0 and len(times) > 1:
        size = float(np.linalg.norm(samples.world[:, :3, :3], axis=1).max())
        longest = max(rig.armature.data.bones[name].length for name in rig.hands.bones)
        bound = plan.bound / (size * longest)
        keyed = [_reduced(plan, each, rig.armature, USED * bound) for each in keyed]
    notes = hand_notes(scene, rig, plan.times[0], plan.times[-1])
    if notes:
        solved_rig = replace(rig, notes=(*rig.notes, *notes))
        chain = replace(chain, solved=replace(chain.solved, rig=solved_rig))
    return replace(chain, hands=KeyedHands(keyed, turned, times, bound))


def _played(plan: KeyPlan, chain: KeyedChain, frames: int) -> list[Floats]:
    """Return the local rotations (frames, 3, 3) that the keys of a chain's bones give them."""
    keyed = {rotation.bone: rotation for rotation in chain.rotations if rotation.property != "location"}
    found = []
    for bone in chain.solved.rig.pose_bones:
        rotation = keyed.get(bone.name)
        if rotation is None:
            found.append(np.broadcast_to(np.eye(3), (frames, 3, 3)))
            continue
        values = rotation.values
        if plan.bound > 0.0 and rotation.frames is not None:
            values = _between(plan, rotation)
        found.append(matrices(rotation.mode or bone.rotation_mode, values))
    return found


def _between(plan: KeyPlan, rotation: BoneRotation) -> Floats:
    """Return what few keys, with handles at thirds, play at all times of the plan (frames, c)."""
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
        """Return the slopes (2, c) at both ends of a segment, over its whole length, and the error.

        That is the largest angle between the keys, in radians; the slopes are those of the least sum of
        squares of the channels' errors.
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
