# SPDX-License-Identifier: GPL-3.0-or-later
"""Local turns of one frame -> the bones' rotation channels, written only where these show others."""

from collections.abc import Sequence
from dataclasses import replace
from math import cos, sin

import bpy
import numpy as np
from mathutils import Euler, Quaternion, Vector

from ..bake.solving.frames import SolvedChain
from ..bake.solving.hands import hands_held
from ..core import IK2DError
from ..rig.animation import keys, versions
from ..rig.animation.bone_channels import BoneChannels, BoneRotation, locked_channels, rotation_property
from ..rig.animation.times import animation_times, strip_times
from ..rig.chain.chain import RigChain
from ..rig.chain.hands import note_posed
from ..rig.chain.joints import EXACT, own_axis
from ..rig.pose.hand_rotations import OwnTurns
from ..rig.pose.kinematics import rotations_of
from ..rig.scene.samples import ChainSamples
from ..rig.scene.slide_locations import base_of, slide_channels, slides_remembered
from ..rig.scene.stretch_scales import scale_channels, scales_back, scales_remembered


class BoneWriter:
    """One turning bone of a chain: where its turn is written to."""

    def __init__(self, bone: bpy.types.PoseBone, axis) -> None:
        self.name = bone.name
        self.mode: str = bone.rotation_mode
        self.property = rotation_property(self.mode)
        self.axis: tuple[float, ...] = tuple(axis.tolist())
        self.own = own_axis(axis, EXACT)
        locks = locked_channels(bone)
        self.unlocked = [index for index, locked in enumerate(locks) if not locked]
        self.all_unlocked = not any(locks)

    def channels(self, turn: float) -> Quaternion | Euler | Vector:
        """Return the rotation channels for a turn about the bone's axis, in the numbers next to rest."""
        x, y, z = self.axis
        if self.mode == 'QUATERNION':
            sine = sin(0.5 * turn)
            return Quaternion((cos(0.5 * turn), x * sine, y * sine, z * sine))
        if self.mode == 'AXIS_ANGLE':
            return Vector((turn, x, y, z))
        if self.own is None:
            return Quaternion(self.axis, turn).to_euler(self.mode, Euler((0.0, 0.0, 0.0), self.mode))
        angles = [0.0, 0.0, 0.0]
        angles[self.own] = turn if self.axis[self.own] > 0.0 else -turn
        return Euler(angles, self.mode)


def writers_of(rig: RigChain) -> list[BoneWriter | None]:
    """Return what writes each bone's turn, root to tip; None for one that locks hold."""
    joints = zip(rig.pose_bones, rig.joints.axes, rig.joints.fixed, strict=True)
    return [None if fixed else BoneWriter(bone, axis) for bone, axis, fixed in joints]


def write(
    armature: bpy.types.Object,
    shown: list[bpy.types.PoseBone],
    writers: list[BoneWriter | None],
    turns: list[float],
) -> bool:
    """Write the turns (n,) to the armature where its bones `shown` have others; say whether any had.

    Where nothing differs nothing is written, as each write has Blender evaluate the armature again.
    """
    changed = False
    bones = armature.pose.bones
    for writer, turn, bone in zip(writers, turns, shown, strict=True):
        if writer is None:
            continue
        wanted, standing = writer.channels(turn), getattr(bone, writer.property)
        if writer.mode == 'AXIS_ANGLE':
            standing = Vector(standing)  # in 32 bits, as what is wanted
        if not writer.all_unlocked:
            unlocked, wanted = wanted, standing.copy()
            for index in writer.unlocked:
                wanted[index] = unlocked[index]
        if standing != wanted:
            setattr(bones[writer.name], writer.property, wanted)
            changed = True
    return changed


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


# Of a channel beside the rotation: bone, property, index and value.
Value = tuple[str, str, int, float]


def changes_lengths(rig: RigChain) -> bool:
    """Return whether the chain's bones slide or stretch, or go back from that."""
    return rig.slides is not None or rig.stretching is not None


def without_own_slides(scene: bpy.types.Scene, rig: RigChain, samples: ChainSamples) -> ChainSamples:
    """Do for one frame what `without_slides` does, and change nothing: no copy is made.

    Raises IK2DError where a location has keys of a bake among those made by hand.
    """
    if rig.slides is None:
        return samples
    bases = samples.bases.copy()
    joints = rig.armature.path_resolve(rig.path).joints
    curves = {
        (curve.data_path, curve.array_index): curve for curve in versions.existing_fcurves(rig.armature)
    }
    for bone, channels in rig.slides.channels.items():
        joint, path = joints[rig.bones[bone]], rig.pose_bones[bone].path_from_id("location")
        for channel in channels:
            if joint.slid[channel]:
                bases[:, bone, channel, 3] = base_of(joint)[channel]
            curve = curves.get((path, channel))
            if curve is None or not versions.plays(rig.armature, curve):
                continue
            made = keys.made_by_hand(curve)
            if made.any() and not made.all():
                raise IK2DError(
                    f"Chain '{rig.name}': bone '{rig.bones[bone]}' slides from keys made by hand on its"
                    " location, and those of a bake are among them; clear the bake"
                )
            if made.any():
                times = animation_times(scene, [scene.frame_float])
                bases[:, bone, channel, 3] = curve.evaluate(strip_times(rig.armature, times)[0])
    return replace(samples, bases=bases)


def channels_of(solved: SolvedChain) -> list[BoneChannels]:
    """Return the channels of locations and scales that a chain solved for one frame has."""
    rig = solved.rig
    return [
        *slide_channels(rig, solved.locations),
        *scale_channels(rig, solved.factors),
        *scales_back(rig),
    ]


def values_of(channels: Sequence[BoneChannels]) -> list[Value]:
    """Return the values that channels of one frame hold, in 32 bits as Blender keeps them."""
    return [
        (one.bone, one.property, index, float(np.float32(one.values[0, index])))
        for one in channels
        for index in one.channels
    ]


def write_lengths(
    rig: RigChain, shown: Sequence[bpy.types.PoseBone], channels: Sequence[BoneChannels]
) -> bool:
    """Write the channels where the evaluated bones show other values; say whether any did.

    What was there before is noted on the chain's joints, as a solve does.
    """
    there = {bone.name: bone for bone in shown}
    changed = [
        (bone, name, index, value)
        for bone, name, index, value in values_of(channels)
        if getattr(there[bone], name)[index] != value
    ]
    if not changed:
        return False
    scales = [one for one in channels if one.property == "scale"]
    with slides_remembered([rig]), scales_remembered([rig], scales):
        for bone, name, index, value in changed:
            getattr(rig.armature.pose.bones[bone], name)[index] = value
    return True
