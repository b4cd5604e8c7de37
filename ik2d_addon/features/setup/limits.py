# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits and slides of a chain's joints, taken from Blender's own limits on its bones."""

import numpy as np
from bpy.types import Object, PoseBone, PropertyGroup

from ...core.words import quoted, say
from ...rig.chain.bone_limits import limits_elsewhere, limits_of_bones, slides_of_bones
from ...rig.chain.checks.bones import chain_bones, rest_joints
from ...rig.chain.planes import bend_plane
from ...rig.chain.slides import slide_directions
from ...rig.scene.lengths.slide_locations import base_of
from ...ui.settings.joint_list import sync_joints


def take_limits(armature: Object, chain: PropertyGroup) -> int:
    """Take the chain's limits from Blender's own limits on the bones; other joints become free.

    Returns the number of limited joints. Raises IK2DError for a chain without bones or without a plane.
    """
    bones = chain_bones(armature, chain.tip, chain.bone_count, chain.name)
    plane = bend_plane(chain, bones, rest_joints(bones))
    ranges, slanted = limits_of_bones(bones, plane)
    sync_joints(chain)
    for joint in chain.joints:
        joint.use_limit = joint.name in ranges
        if joint.use_limit:
            joint.limit_min, joint.limit_max = ranges[joint.name]
    open_ended = take_slides(chain, bones)
    chain.left_out = left_out_in_words(slanted, limits_elsewhere(bones), open_ended)
    return len(ranges)


def take_slides(chain: PropertyGroup, bones: list[PoseBone]) -> list[str]:
    """Take slides from Limit Location constraints; return the bones that have a limit on one side only."""
    joints = [chain.joints[bone.name] for bone in bones]
    bases = np.array(
        [
            np.where(joint.slid, base_of(joint), bone.location)
            for joint, bone in zip(joints, bones, strict=True)
        ]
    )
    slides_itself = joints[-1].use_slide and not (len(joints) > 1 and joints[-2].use_slide)
    ranges, open_ended = slides_of_bones(bones, slide_directions(bones), bases, slides_itself)
    for joint in joints:
        if joint.name in ranges:
            joint.slide_min, joint.slide_max = ranges[joint.name]
            joint.use_slide = joint.slide_min < joint.slide_max
    return open_ended


def left_out_in_words(slanted: list[str], elsewhere: list[str], open_ended: list[str]) -> str:
    """Return a sentence for each kind of limit that could not be taken; "" where all were."""
    sentences = []
    if open_ended:
        sentences.append(
            say(
                "Left out the slides of {names}: their Limit Location has no minimum or no maximum",
                names=quoted(open_ended),
            )
        )
    if slanted:
        sentences.append(
            say(
                "Left out {names}: in the chain's plane they turn about none of their own axes, "
                "which Blender's limits are about",
                names=quoted(slanted),
            )
        )
    if elsewhere:
        sentences.append(
            say(
                "Left out {names}: their Limit Rotation is not in Local Space, so it is no limit on a joint",
                names=quoted(elsewhere),
            )
        )
    return "\n".join(sentences)
