# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of hands and feet: on the frames of their chain's, or as few as keep their orientation."""

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.affine import changed
from ...core.inputs import Floats
from ...rig.animation.bone_channels import BoneRotation, matrices
from ...rig.pose.bone_matrices import rotations_of
from ...rig.pose.hand_rotations import angles_between, own_turns
from ...rig.scene.samples import ChainSamples, solvable
from ..solving.hands import KeyedHands, hands_held
from .few_hand_keys import keyed_on_few
from .handles import automatic_between, played_between, shaped
from .keying import KeyedChain, KeyPlan, keyed_at
from .quarters import QUARTERS, at_quarters, local_rotations, turned_at_quarters, turning_bones, woven

# Where a hand would be further off its rotation than this between frames, in radians, its handles are shaped.
ANGLE_MISSED = 8e-4


def with_hands(
    scene: bpy.types.Scene,
    plan: KeyPlan,
    chain: KeyedChain,
    samples: ChainSamples,
    half_way: ChainSamples | None,
) -> KeyedChain:
    """Return a chain with the keys of its hands. samples, half_way: as in Draft."""
    rig = chain.solved.rig
    if rig.hands is None:
        return chain
    if half_way is not None and len(half_way.targets):
        hands = _keyed_on_all(scene, plan, chain, samples, half_way)
    elif plan.bound > 0.0 and len(plan.times) > 1:
        hands = keyed_on_few(scene, plan, chain, samples)
    else:
        hands = _keyed_with_chain(scene, plan, chain, samples)
    return changed(chain, hands=hands)


def _keyed_with_chain(
    scene: bpy.types.Scene, plan: KeyPlan, chain: KeyedChain, samples: ChainSamples
) -> KeyedHands:
    """Return the keys of hands on their chain's own frames."""
    rig, solved, times = chain.solved.rig, chain.solved, np.array(plan.times)
    keyed = plan.keyed(rig.name)
    rotations = local_rotations(
        chain, {each.bone: each.values for each in turning_bones(chain)}, int(keyed.sum())
    )
    if not keyed.all():  # between the keys as solved
        every = [np.array(each) for each in rotations_of(rig, solved.turns, solved.swings, solved.aside)]
        for bone, on_keys in zip(every, rotations, strict=True):
            bone[keyed] = on_keys
        rotations = every
    turns = own_turns(scene, rig, times.tolist())
    turned = hands_held(rig, samples, rotations, turns, solved.factors, solved.locations)
    channels = turned.rotations
    if not keyed.all():
        held = plan.held.get(rig.name)
        channels = [keyed_at(each, plan, np.flatnonzero(keyed), held) for each in channels]
    return KeyedHands(channels, turned, times, keyed)


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
    every = at_quarters(times)
    channels = {
        each.bone: woven(each.values, [played_between(each, quarter) for quarter in QUARTERS])
        for each in turning_bones(chain)
    }
    factors, locations = (
        None if each is None else woven(each, [automatic_between(each, quarter) for quarter in QUARTERS])
        for each in (solved.factors, solved.locations)
    )
    turned = turned_at_quarters(scene, chain, every, samples, known, channels, factors, locations)
    keyed = [_with_handles(rig.armature, each, good) for each in turned.rotations]
    told = woven(np.ones(len(times), bool), [good & (quarter == 0.5) for quarter in QUARTERS])
    turned = changed(turned, rotations=keyed, wanted=turned.wanted[told], shown=turned.shown[told])
    return KeyedHands(keyed, turned, every[told], np.isin(every[told], times))


def _with_handles(
    armature: bpy.types.Object, rotation: BoneRotation, good: NDArray[np.bool_]
) -> BoneRotation:
    """Return a rotation (4 m - 3, c) on the frames (m) alone, with handles where automatic ones miss.

    Its values are those on frames and at the quarters between. good: (m - 1,) gaps whose are known.
    """
    count, mode = len(QUARTERS) + 1, armature.pose.bones[rotation.bone].rotation_mode
    wanted = [matrices(mode, rotation.values[i::count]) for i in range(1, count)]

    def missed(played: BoneRotation) -> Floats:
        shown = (matrices(mode, played_between(played, quarter)) for quarter in QUARTERS)
        off: Floats = np.max([angles_between(*each) for each in zip(shown, wanted, strict=True)], axis=0)
        return off

    on_frames = np.arange(0, len(rotation.values), count)
    automatic = changed(rotation, values=rotation.values[on_frames])
    gaps = np.flatnonzero(good & (missed(automatic) > ANGLE_MISSED))
    if not len(gaps):
        return automatic
    after = np.repeat(gaps, len(QUARTERS))
    inside = count * after + np.tile(np.arange(1, count), len(gaps))
    cubics = shaped(rotation, on_frames, inside, after, QUARTERS[0])
    # Near no rotation at all, an axis turns about faster than a cubic does.
    parabolas = shaped(rotation, on_frames, count * gaps + count // 2, gaps, QUARTERS[0])
    nearer = gaps[(missed(parabolas) < missed(cubics))[gaps]]
    assert cubics.handles is not None and parabolas.handles is not None
    cubics.handles[1, nearer] = parabolas.handles[1, nearer]
    cubics.handles[0, nearer + 1] = parabolas.handles[0, nearer + 1]
    return cubics
