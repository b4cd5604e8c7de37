# SPDX-License-Identifier: GPL-3.0-or-later
"""What a live chain is posed by on one frame, as a depsgraph shows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ..bake.reporting.causes import BLENDED, EASED, FK, TURNING
from ..rig.chain.chain import RigChain, values_of
from ..rig.chain.foot.foot import FootValues
from ..rig.scene.samples import ChainSamples
from .plain.foot import FootPose
from .plain.post import TurnedPost


@dataclass(frozen=True, slots=True)
class FrameState:
    """State of a chain's armature, bones, settings and target in a depsgraph."""

    scene: bpy.types.Scene
    world: Matrix
    bones: bpy.types.bpy_prop_collection  # of the armature
    own: list[bpy.types.PoseBone]  # of the chain, root to tip
    base: Matrix | None  # the pose matrix of the bone above them
    settings: tuple[float, float, float, float]  # softness, bend, influence and the plane's turn
    carried: Any  # as ChainSamples.carried
    target: Vector
    pole: Vector | None
    aim: Matrix | None  # the target's axes (3x3), where the chain follows its rotation
    # Of a chain with a foot, whose target is the ankle's goal: its values, and the angles of foot and toes
    foot_values: FootValues | None = None
    foot: FootPose | None = None
    # Of a chain with hands: the rotations from rest of each part of what they follow
    control_turns: Sequence[Matrix] = ()
    post: TurnedPost | None = None  # of a post above them, which `base` is turned by

    @property
    def softness(self) -> float:
        """How softly they straighten."""
        return self.settings[0]

    @property
    def bend(self) -> float:
        """The side that they bend to: +1 or -1, between while they turn over."""
        return self.settings[1]

    @property
    def influence(self) -> float:
        """The part of their own pose that the chain takes over."""
        return self.settings[2]

    @property
    def plane_turn(self) -> float:
        """The radians that a plane which follows the target is turned on about the line to it."""
        return self.settings[3]


def settings_now(settings: Any, side: float) -> tuple[float, float, float, float]:
    """Return a chain's settings that are read on each frame, without those of its foot. side: as read."""
    softness, bend, influence, turn = values_of(settings, side, with_foot=False)
    return softness, bend, influence, turn


def on_purpose(frame: FrameState) -> str:
    """Return why the tip may be off a target within reach, in words."""
    if frame.influence <= 0.0:
        return FK
    if abs(frame.bend) < 1.0:
        return TURNING
    return BLENDED if frame.influence < 1.0 else EASED


def samples_of(rig: RigChain, frame: FrameState) -> ChainSamples:
    """Return the samples of the frame, as a bake would take them."""
    bases = [
        bone.matrix_basis if fixed else Matrix.LocRotScale(bone.location, None, bone.scale)
        for bone, fixed in zip(frame.own, rig.joints.fixed, strict=True)
    ]
    settings = (*frame.settings, *(frame.foot_values or ()))
    return ChainSamples(
        targets=np.array([frame.target], np.float64),
        world=np.array([frame.world], np.float64),
        parent=None if frame.base is None else np.array([frame.base], np.float64),
        bases=np.array([bases], np.float64),
        tips=np.zeros((1, 3)),
        settings=np.array([settings], np.float64),
        aims=None if frame.aim is None else np.array([frame.aim], np.float64),
        carried=frame.carried,
        poles=None if frame.pole is None else np.array([frame.pole], np.float64),
        foot=None if frame.foot is None else np.array([frame.foot.angles], np.float64),
    )
