# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of hands and feet: on the frames of their chain's, or as few as keep their orientation."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.inputs import Floats
from ...rig.animation.bone_channels import BoneChannels, BoneRotation, matrices
from ...rig.chain.chain import RigChain
from ...rig.pose.hand_rotations import TurnedHands, angles_between, hand_notes, own_turns
from ...rig.pose.kinematics import rotations_of
from ...rig.scene.samples import ChainSamples, finished, solvable
from ..solving.hands import KeyedHands, hands_held
from .cubics import hermite, solved_normal
from .handles import automatic_between, played_between, shaped
from .keying import USED, KeyedChain, KeyPlan, fewest, handles_of, keyed_at

# Where a hand would be further off its rotation than this between frames, in radians, its handles are shaped.
ASTRAY = 8e-4
# The parts of the time between two frames where hands are turned to find their handles.
QUARTERS = (0.25, 0.5, 0.75)


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
    elif plan.bound > 0.0 and len(plan.times) > 1:
        hands = _keyed_on_few(scene, plan, chain, samples)
    else:
        hands = _keyed_with_chain(scene, plan, chain, samples)
    told = replace(rig, notes=(*rig.notes, *notes))
    return replace(chain, hands=hands, solved=replace(chain.solved, rig=told))


def _keyed_with_chain(
    scene: bpy.types.Scene, plan: KeyPlan, chain: KeyedChain, samples: ChainSamples
) -> KeyedHands:
    """Return the keys of hands on their chain's own frames."""
    rig, solved, times = chain.solved.rig, chain.solved, np.array(plan.times)
    keyed = plan.keyed(rig.name)
    rotations = _rotations(chain, {each.bone: each.values for each in _turning(chain)}, int(keyed.sum()))
    if not keyed.all():  # between the keys as solved
        every = rotations_of(rig, solved.turns, solved.swings)
        rotations = [_with_rows(*each) for each in zip(every, rotations, [keyed] * len(every), strict=True)]
    own = own_turns(scene, rig, times.tolist())
    turned = hands_held(rig, samples, rotations, own, solved.factors, solved.locations)
    found = turned.rotations
    if not keyed.all():
        found = [keyed_at(each, plan, np.flatnonzero(keyed)) for each in found]
    return KeyedHands(found, turned, times, keyed)


def _with_rows(values: Floats, own: Floats, rows: NDArray[np.bool_]) -> Floats:
    """Return values (m, ..) with others (k, ..) in some of the rows (m,)."""
    found = np.array(values)
    found[rows] = own
    return found


def _keyed_on_few(
    scene: bpy.types.Scene, plan: KeyPlan, chain: KeyedChain, samples: ChainSamples
) -> KeyedHands:
    """Return as few keys of hands as the plan's bound allows, on the chain's own few keys."""
    rig, solved, times = chain.solved.rig, chain.solved, np.array(plan.times)
    every = _at_quarters(times[::2])
    channels = {each.bone: _played_at(plan.pace * every, each) for each in _turning(chain)}
    factors, locations = (
        None if each is None else _woven(each[::2], [_mixed(each[::2], each[1::2], p) for p in QUARTERS])
        for each in (solved.factors, solved.locations)
    )
    frames, between = samples.at(slice(None, None, 2)), samples.at(slice(1, None, 2))
    turned = _turned_at_quarters(scene, chain, every, frames, between, channels, factors, locations)
    bounds = hand_bounds(rig, samples, solved.factors, plan.bound)
    keyed = []
    for each in turned.rotations:
        keyed.append(_reduced(plan, each, every, rig.armature, USED * bounds[each.bone]))
        mode = rig.armature.pose.bones[each.bone].rotation_mode
        played = matrices(mode, _played_at(plan.pace * every, keyed[-1]))
        off = float(angles_between(played, matrices(mode, each.values)).max())
        bounds[each.bone] = max(bounds[each.bone], off)  # more where keys a frame apart cannot do better
    told = replace(turned, rotations=keyed, wanted=turned.wanted[::2], shown=turned.shown[::2])
    return KeyedHands(keyed, told, times, plan.keyed(rig.name), max(_summed(rig, bounds)))


def _keyed_on_all(
    scene: bpy.types.Scene,
    plan: KeyPlan,
    chain: KeyedChain,
    samples: ChainSamples,
    half_way: ChainSamples,
) -> KeyedHands:
    """Return the keys of hands on all frames, with shaped handles where automatic ones would miss."""
    rig, solved, times = chain.solved.rig, chain.solved, np.array(plan.times)
    gaps, good = np.arange(len(times) - 1), solvable(rig, half_way)
    known = ChainSamples.joined([half_way, samples]).at(np.where(good, gaps, len(gaps) + gaps).tolist())
    every = _at_quarters(times)
    channels = {
        each.bone: _woven(each.values, [played_between(each, part) for part in QUARTERS])
        for each in _turning(chain)
    }
    factors, locations = (
        None if each is None else _woven(each, [automatic_between(each, part) for part in QUARTERS])
        for each in (solved.factors, solved.locations)
    )
    turned = _turned_at_quarters(scene, chain, every, samples, known, channels, factors, locations)
    keyed = [_with_handles(rig.armature, each, good) for each in turned.rotations]
    told = _woven(np.ones(len(times), bool), [good & (part == 0.5) for part in QUARTERS])
    turned = replace(turned, rotations=keyed, wanted=turned.wanted[told], shown=turned.shown[told])
    return KeyedHands(keyed, turned, every[told], np.isin(every[told], times))


# --- Between frames ----------------------------------------------------------


def _turned_at_quarters(
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
    bare = [replace(each, poses=None, hands=None) for each in (samples, half_way)]
    there = [_samples_at(*bare, part) for part in QUARTERS]
    frames = len(samples.targets)
    rows = np.split(np.arange(len(times)), frames + (frames - 1) * np.arange(len(there)))
    together = ChainSamples.joined([bare[0], *there]).at(_woven(rows[0], rows[1:]).tolist())
    own = own_turns(scene, chain.solved.rig, times.tolist())
    rotations = _rotations(chain, channels, len(times))
    return hands_held(chain.solved.rig, together, rotations, own, factors, locations)


def _samples_at(samples: ChainSamples, half_way: ChainSamples, part: float) -> ChainSamples:
    """Return samples (m - 1,) at a part of each gap between frames (m,), by those half-way."""
    pairs = {name: (values, getattr(half_way, name)) for name, values in vars(samples).items()}
    return ChainSamples(
        **{
            name: None if values is None else _mixed(values, middles, part)
            for name, (values, middles) in pairs.items()
        }
    )


def _mixed(values: Floats, middles: Floats, part: float) -> Floats:
    """Return values (m - 1, ..) at a part of each gap: on parabolas through frames (m, ..) and half-way.

    Exactly the same where all three are.
    """
    first, last = (1.0 - part) * (1.0 - 2.0 * part), part * (2.0 * part - 1.0)
    found: Floats = middles + first * (values[:-1] - middles) + last * (values[1:] - middles)
    return found


def _at_quarters(times: Floats) -> Floats:
    """Return times (m,) with the quarters between them (4 m - 3,)."""
    return _woven(times, [times[:-1] + part * np.diff(times) for part in QUARTERS])


def _with_handles(
    armature: bpy.types.Object, rotation: BoneRotation, good: NDArray[np.bool_]
) -> BoneRotation:
    """Return a rotation (4 m - 3, c) on the frames (m) alone, with handles where automatic ones miss.

    Its values are those on frames and at the quarters between. good: (m - 1,) gaps whose are known.
    """
    count, mode = len(QUARTERS) + 1, armature.pose.bones[rotation.bone].rotation_mode
    wanted = [matrices(mode, rotation.values[i::count]) for i in range(1, count)]

    def astray(played: BoneRotation) -> Floats:
        shown = (matrices(mode, played_between(played, part)) for part in QUARTERS)
        return np.max([angles_between(*each) for each in zip(shown, wanted, strict=True)], axis=0)

    on_frames = np.arange(0, len(rotation.values), count)
    automatic = replace(rotation, values=rotation.values[on_frames])
    gaps = np.flatnonzero(good & (astray(automatic) > ASTRAY))
    if not len(gaps):
        return automatic
    after = np.repeat(gaps, len(QUARTERS))
    inside = count * after + np.tile(np.arange(1, count), len(gaps))
    cubics = shaped(rotation, on_frames, inside, after)
    # Near no rotation at all, an axis turns about faster than a cubic does.
    parabolas = shaped(rotation, on_frames, count * gaps + count // 2, gaps)
    nearer = gaps[(astray(parabolas) < astray(cubics))[gaps]]
    assert cubics.handles is not None and parabolas.handles is not None
    cubics.handles[1, nearer] = parabolas.handles[1, nearer]
    cubics.handles[0, nearer + 1] = parabolas.handles[0, nearer + 1]
    return cubics


def _woven(on_frames: NDArray[Any], between: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return values on frames (m, ..) interleaved with those at parts of the gaps (m - 1, ..) each."""
    count = len(between) + 1
    woven = np.empty((count * (len(on_frames) - 1) + 1, *on_frames.shape[1:]), on_frames.dtype)
    woven[::count] = on_frames
    for i, values in enumerate(between, start=1):
        woven[i::count] = values
    return woven


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


def _played_at(times: Floats, rotation: BoneRotation) -> Floats:
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


# --- The fewest keys ---------------------------------------------------------


def _reduced(
    plan: KeyPlan, rotation: BoneRotation, times: Floats, armature: bpy.types.Object, bound: float
) -> BoneRotation:
    """Return a hand's rotation at as few frames as keep it within an angle (radians), with handles.

    times: of its values.
    """
    candidates = np.searchsorted(times, plan.candidates)
    mode = armature.pose.bones[rotation.bone].rotation_mode
    cubics = _TurnCubics(times, rotation.values, mode)
    rows, slopes = finished(fewest(cubics, candidates.tolist(), bound))
    values = rotation.values[rows]
    return replace(
        rotation, frames=plan.pace * times[rows], values=values, handles=handles_of(values, slopes)
    )


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
    nested = {name: [one.name for one in bones[name].parent_recursive if one.name in names] for name in names}
    found = {}
    for name, size in zip(names, sizes.tolist(), strict=True):
        levels = max(len(nested[other]) for other in names if other == name or name in nested[other]) + 1
        found[name] = bound / (levels * size * stretched * _furthest(bones[name]))
    return found


def _furthest(bone: bpy.types.Bone) -> float:
    """Return the distance in rest from a bone's head to the furthest end that turns with it."""
    start, found, bones = bone.head_local, bone.length, list(bone.children)
    while bones:
        each = bones.pop()
        found = max(found, (each.head_local - start).length)
        if each.use_inherit_rotation:
            found = max(found, (each.tail_local - start).length)
            bones += each.children
    return found


def _summed(rig: RigChain, bounds: Mapping[str, float]) -> Iterator[float]:
    """Yield the angle that each hand may be off, with the hands that it hangs on."""
    for name in bounds:
        above = rig.armature.data.bones[name].parent_recursive
        yield bounds[name] + sum(bounds.get(one.name, 0.0) for one in above)


class _TurnCubics:
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
        for part, speeds in self._parts:
            weighted = (at_slopes * speeds[rows] ** 2).T
            slopes[:, part] = solved_normal(weighted @ at_slopes, weighted @ wanted[:, part])
        played = matrices(self.mode, at_ends @ channels[[first, last]] + at_slopes @ slopes)
        return slopes, float(angles_between(played, self._turns[rows]).max())
