# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands and feet of live chains: their rotations on one frame, written where they show others."""

from collections.abc import Sequence

import bpy
import numpy as np

from ..bake.solving import SolvedChain
from ..bake.solving.hands import hands_held
from ..rig.chain.chain import RigChain
from ..rig.chain.hands import note_posed
from ..rig.pose.hand_rotations import OwnTurns
from ..rig.pose.kinematics import rotations_of
from ..rig.pose.rotations import BoneRotation
from ..rig.scene.sampler import ChainSamples


def hands_now(
    rig: RigChain,
    samples: ChainSamples,
    turns: Sequence[float],
    own: OwnTurns,
    solved: SolvedChain | None,
) -> list[BoneRotation]:
    """Return how the hands turn of a chain with turns (n,) on the frame that is shown, as samples have it.

    own: what the hands show without it. solved: that chain, where its bones may change their lengths.
    """
    rotations = rotations_of(rig, np.array([turns]))
    factors, locations = (None, None) if solved is None else (solved.factors, solved.locations)
    return hands_held(rig, samples, rotations, own, factors, locations).rotations


def write_hands(
    rig: RigChain, shown: bpy.types.bpy_prop_collection, rotations: Sequence[BoneRotation]
) -> bool:
    """Write rotations where the evaluated pose bones `shown` have others; say whether any had."""
    changed = False
    for rotation in rotations:
        there = getattr(shown[rotation.bone], rotation.property)
        bone = rig.armature.pose.bones[rotation.bone]
        for index in rotation.unlocked(rig.armature):
            value = float(np.float32(rotation.values[0, index]))
            if there[index] != value:
                getattr(bone, rotation.property)[index] = value
                changed = True
    if changed and rig.hands is not None:
        note_posed(rig.armature.path_resolve(rig.path), rig.hands.bones)
    return changed
