# SPDX-License-Identifier: GPL-3.0-or-later
"""Live chains whose bones slide or stretch: what these are without that, and the channels that carry it."""

from collections.abc import Sequence
from dataclasses import replace

import bpy
import numpy as np

from ..bake.solving import SolvedChain
from ..core import IK2DError
from ..rig.animation import keys, versions
from ..rig.chain.chain import RigChain
from ..rig.pose.rotations import BoneChannels
from ..rig.scene.sampler import ChainSamples
from ..rig.scene.slide_locations import base_of, noted, slide_channels
from ..rig.scene.stretch_scales import scale_channels, scales_back, scales_noted

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
                times = keys.animation_times(scene, [scene.frame_float])
                bases[:, bone, channel, 3] = curve.evaluate(keys.strip_times(rig.armature, times)[0])
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
    with noted([rig]), scales_noted([rig], scales):
        for bone, name, index, value in changed:
            getattr(rig.armature.pose.bones[bone], name)[index] = value
    return True
