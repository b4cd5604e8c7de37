# SPDX-License-Identifier: GPL-3.0-or-later
"""A new chain becomes live, unless that moves the limb off the pose that its target was put to."""

import bpy
import numpy as np

from ...bake.lengths import Units, length_text
from ...bake.request import scene_of
from ...core.inputs import Floats
from ...core.words import say
from ...live.shown import shown_place
from ...rig.chain.checks.bones import rest_joints
from ...rig.chain.planes import reach_of
from ...rig.chain.post import turned_bones_of
from ...rig.chain.renames import bones_of
from .before import pose_of, put_pose
from .plane import Hold


def is_on_tip(armature: bpy.types.Object, chain: bpy.types.PropertyGroup, hold: Hold) -> bool:
    """Return whether a chain's target is shown on its posed tip, so that the limb is to stay."""
    depsgraph = bpy.context.view_layer.depsgraph or bpy.context.evaluated_depsgraph_get()
    place = shown_place(chain.target, chain.subtarget, depsgraph)
    size = sum(map(abs, armature.matrix_world.to_scale())) / 3.0
    return bool((place - hold.place).length <= hold.within * size * _reach(armature, chain))


def live_on_pose(
    armature: bpy.types.Object, chain: bpy.types.PropertyGroup, hold: Hold, is_new: bool = False
) -> str:
    """Make a chain live; return why not, where its target is on its tip and it does not hold the pose.

    is_new: whether the target was put there just now, and is not yet evaluated.
    """
    names = turned_bones_of(chain)
    stays = is_new or is_on_tip(armature, chain, hold)
    if stays and hold.reason:
        return hold.reason
    pose, shown = pose_of(armature, names), _shown(armature, names)
    chain.live = True
    bpy.context.view_layer.update()
    off = np.abs(_shown(armature, names) - shown).max(axis=0)
    off[:3, 3] /= _reach(armature, chain)
    if not stays or off.max() <= hold.within:
        return ""
    chain.live = False
    put_pose(armature, names, pose)
    bpy.context.view_layer.update()
    far = length_text(float(off[:3, 3].max()) * _reach(armature, chain), Units.of(scene_of(armature)))
    return say("it would move the limb by {far}", far=far)


def _shown(armature: bpy.types.Object, bones: list[str]) -> Floats:
    """Return the matrices (n, 4, 4) that bones have in pose space."""
    return np.array([armature.pose.bones[name].matrix for name in bones], np.float64)


def _reach(armature: bpy.types.Object, chain: bpy.types.PropertyGroup) -> float:
    names = bones_of(armature.data, chain.tip, chain.bone_count)
    return reach_of(rest_joints([armature.pose.bones[name] for name in names]))
