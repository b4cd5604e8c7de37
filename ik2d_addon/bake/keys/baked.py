# SPDX-License-Identifier: GPL-3.0-or-later
"""The channels that bakes key, and whether they have left keys there."""

from collections.abc import Sequence

import bpy

from ...rig.animation import versions
from ...rig.animation.bone_channels import ROTATIONS
from ...rig.animation.fcurves import is_locked
from ...rig.animation.kept.giving_back import Wanted, has_keys
from ...rig.animation.kept.marks import BAKE, PLANT_BAKE
from ...rig.chain.stretch import ALONG
from ...rig.scene.lengths.slide_locations import slid_joints
from ...rig.scene.lengths.stretch_scales import scaled_joints

# Plant Feet bakes too.
BAKED = (BAKE, PLANT_BAKE)


def on_bones(armature: bpy.types.Object, bones: Sequence[str]) -> Wanted:
    """Return a test for the channels that bakes key: rotations, slides, scales that a chain has stretched."""
    paths, scaled = baked_paths(armature, bones), {joint.name for joint in scaled_joints(armature)}
    posed = [armature.pose.bones[name] for name in bones if name in armature.pose.bones]
    paths |= {bone.path_from_id("rotation_mode") for bone in posed}
    channels = slid_channels(armature, bones)
    channels |= {(bone.path_from_id("scale"), ALONG) for bone in posed if bone.name in scaled}
    return lambda path, index: path in paths or (path, index) in channels


def slid_channels(armature: bpy.types.Object, bones: Sequence[str]) -> set[tuple[str, int]]:
    """Return the path and index of each channel of the bones' locations that has carried a slide."""
    return {
        (armature.pose.bones[joint.name].path_from_id("location"), channel)
        for joint in slid_joints(armature)
        if joint.name in bones and joint.name in armature.pose.bones
        for channel in range(3)
        if joint.slid[channel]
    }


def baked_paths(armature: bpy.types.Object, bones: Sequence[str]) -> set[str]:
    """Return the data paths of some bones' rotations, in all rotation modes."""
    posed = [armature.pose.bones[name] for name in bones if name in armature.pose.bones]
    return {bone.path_from_id(name) for bone in posed for name in ROTATIONS}


def baked_keys(armature: bpy.types.Object, bones: Sequence[str]) -> bool:
    """Return whether bakes have left keys on the bones, or keep some that they replaced."""
    return has_keys(armature, on_bones(armature, bones), BAKED)


def locked_channels(armature: bpy.types.Object, bones: Sequence[str]) -> list[str]:
    """Return the paths of the bones' baked channels whose keys are locked."""
    wanted = on_bones(armature, bones)
    curves = versions.existing_fcurves(armature)
    locked = [curve for curve in curves if is_locked(curve) and wanted(curve.data_path, curve.array_index)]
    return sorted({curve.data_path for curve in locked})
