# SPDX-License-Identifier: GPL-3.0-or-later
"""The fewest keys of hands and feet that keep their orientation within an angle."""

from collections.abc import Iterator, Mapping

import bpy
import numpy as np

from ...core.affine import changed
from ...core.inputs import Floats
from ...core.solution import drained
from ...rig.animation.bone_channels import BoneRotation, matrices
from ...rig.chain.chain import RigChain
from ...rig.pose.hand_rotations import angles_between
from ...rig.scene.samples import ChainSamples
from ..solving.hands import KeyedHands
from .cubics import hermite, solved_normal
from .fewest import fewest, handles_of
from .keying import USED, KeyedChain, KeyPlan
from .quarters import QUARTERS, at_quarters, mixed, turned_at_quarters, turning_bones, woven


def keyed_on_few(
    scene: bpy.types.Scene, plan: KeyPlan, chain: KeyedChain, samples: ChainSamples
) -> KeyedHands:
    """Return as few keys of hands as the plan's bound allows, on the chain's own few keys."""
    rig, solved, times = chain.solved.rig, chain.solved, np.array(plan.times)
    every = at_quarters(times[::2])
    channels = {each.bone: played_at(plan.pace * every, each) for each in turning_bones(chain)}
    factors, locations = (
        None if each is None else woven(each[::2], [mixed(each[::2], each[1::2], p) for p in QUARTERS])
        for each in (solved.factors, solved.locations)
    )
    frames, between = samples.at(slice(None, None, 2)), samples.at(slice(1, None, 2))
    turned = turned_at_quarters(scene, chain, every, frames, between, channels, factors, locations)
    bounds = hand_bounds(rig, samples, solved.factors, plan.bound)
    keyed = []
    for each in turned.rotations:
        keyed.append(_reduced(plan, each, every, rig.armature, USED * bounds[each.bone]))
        mode = rig.armature.pose.bones[each.bone].rotation_mode
        played = matrices(mode, played_at(plan.pace * every, keyed[-1]))
        off = float(angles_between(played, matrices(mode, each.values)).max())
        bounds[each.bone] = max(bounds[each.bone], off)  # more where keys a frame apart cannot do better
    told = changed(turned, rotations=keyed, wanted=turned.wanted[::2], shown=turned.shown[::2])
    return KeyedHands(keyed, told, times, plan.keyed(rig.name), max(_summed(rig, bounds)))


def _reduced(
    plan: KeyPlan, rotation: BoneRotation, times: Floats, armature: bpy.types.Object, bound: float
) -> BoneRotation:
    """Return a hand's rotation at as few frames as keep it within an angle (radians), with handles.

    times: of its values.
    """
    candidates = np.searchsorted(times, plan.candidates)
    mode = armature.pose.bones[rotation.bone].rotation_mode
    cubics = TurnCubics(times, rotation.values, mode)
    rows, slopes = drained(fewest(cubics, candidates.tolist(), bound))
    values = rotation.values[rows]
    return changed(
        rotation, frames=plan.pace * times[rows], values=values, handles=handles_of(values, slopes)
    )


def played_at(times: Floats, rotation: BoneRotation) -> Floats:
    """Return the values (m, c) that few keys, with handles at thirds, play at times (m,) of their action."""
    assert rotation.frames is not None and rotation.handles is not None
    keys = rotation.frames
    after = np.searchsorted(keys, times, side="right").clip(1, len(keys) - 1)
    first = after - 1
    at_ends, at_slopes = hermite((times - keys[first]) / (keys[after] - keys[first]))
    values, (arriving, leaving) = rotation.values, rotation.handles
    slopes = 3.0 * (leaving[first] - values[first]), 3.0 * (values[after] - arriving[after])
    played: Floats = at_ends[:, :1] * values[first] + at_ends[:, 1:] * values[after]
    played = played + at_slopes[:, :1] * slopes[0] + at_slopes[:, 1:] * slopes[1]
    return played


# --- The angles that keys may cost -------------------------------------------


def hand_bounds(
    rig: RigChain, samples: ChainSamples, factors: Floats | None, bound: float
) -> dict[str, float]:
    """Return the angle in radians that each hand's keys may cost, by its name.

    Such that all that hangs on hands, whose own angles add up where one hangs on another, moves by no more
    than the bound, a length in the world. samples, factors: over the frames, as solved.
    """
    assert rig.hands is not None
    names, bones = rig.hands.bones, rig.armature.data.bones
    # The largest size of each hand, as sampled, and its bones' stretch.
    sizes = np.ones(len(names))
    if samples.hands is not None:
        shown = samples.world[:, None, :3, :3] @ samples.hands
        sizes = np.sqrt((shown**2).sum(axis=2)).max(axis=(0, 2))
    stretched = 1.0 if factors is None else max(1.0, float(factors.max()))
    nested = {
        name: [above.name for above in bones[name].parent_recursive if above.name in names] for name in names
    }
    bounds = {}
    for name, size in zip(names, sizes.tolist(), strict=True):
        levels = max(len(nested[other]) for other in names if other == name or name in nested[other]) + 1
        bounds[name] = bound / (levels * size * stretched * _furthest(bones[name]))
    return bounds


def _furthest(bone: bpy.types.Bone) -> float:
    """Return the distance in rest from a bone's head to the furthest end that turns with it."""
    start, furthest, bones = bone.head_local, float(bone.length), list(bone.children)
    while bones:
        each = bones.pop()
        furthest = max(furthest, float((each.head_local - start).length))
        if each.use_inherit_rotation:
            furthest = max(furthest, float((each.tail_local - start).length))
            bones += each.children
    return furthest


def _summed(rig: RigChain, bounds: Mapping[str, float]) -> Iterator[float]:
    """Yield the angle that each hand may be off, with the hands that it hangs on."""
    for name in bounds:
        above = rig.armature.data.bones[name].parent_recursive
        yield bounds[name] + sum(bounds.get(bone.name, 0.0) for bone in above)


# --- Cubics from key to key --------------------------------------------------


class TurnCubics:
    """Fits the channels of one bone's rotation by cubics from key to key."""

    def __init__(self, times: Floats, channels: Floats, mode: str) -> None:
        self.times, self.channels, self.mode = times, channels, mode
        self._turns = matrices(mode, channels)
        # Which channels are fitted together, and how far they turn the bone: an axis hardly does where the
        # angle is small.
        even = np.ones((len(times), 1))
        self._parts = [(slice(None), even)]
        if mode == 'AXIS_ANGLE':
            self._parts = [(slice(1), even), (slice(1, None), 2.0 * np.abs(np.sin(channels[:, :1] / 2.0)))]

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
        slopes = np.empty((2, channels.shape[1]))
        for columns, speeds in self._parts:
            weighted = (at_slopes * speeds[rows] ** 2).T
            slopes[:, columns] = solved_normal(weighted @ at_slopes, weighted @ wanted[:, columns])
        played = matrices(self.mode, at_ends @ channels[[first, last]] + at_slopes @ slopes)
        return slopes, float(angles_between(played, self._turns[rows]).max())
