# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits and slides of a chain's joints, taken from Blender's own limits on its bones."""

import numpy as np
from bpy.types import Object, PoseBone, PropertyGroup

from ...core.words import quoted, say
from ...rig.chain.bone_limits import limits_elsewhere, limits_of_bones, range_about, slides_of_bones
from ...rig.chain.checks.bones import chain_bones, rest_joints
from ...rig.chain.planes import bend_plane
from ...rig.chain.post import POST, bending_bones, post_axis, post_bone
from ...rig.chain.slides import slide_directions
from ...rig.scene.lengths.slide_locations import base_of
from ...ui.settings.joint_list import sync_joints


def take_limits(armature: Object, chain: PropertyGroup) -> int:
    """Take the limits of a chain and its post from Blender's own limits on the bones; others become free.

    Returns the number of limited joints. Raises IK2DError for a chain without bones, or without the plane or
    the post that its settings ask for.
    """
    all_bones = chain_bones(armature, chain.tip, chain.bone_count, chain.name)
    bones = bending_bones(chain, all_bones)
    plane = bend_plane(chain, bones, rest_joints(bones))
    ranges, slanted = limits_of_bones(bones, plane)
    elsewhere = limits_elsewhere([*take_post_limits(chain, bones), *bones])
    sync_joints(chain)
    for joint in chain.joints:
        joint.use_limit = joint.name in ranges
        if joint.use_limit:
            joint.limit_min, joint.limit_max = ranges[joint.name]
    open_ended = take_slides(chain, all_bones)
    chain.left_out = left_out_in_words(slanted, elsewhere, open_ended)
    return len(ranges)


def take_post_limits(chain: PropertyGroup, bones: list[PoseBone]) -> list[PoseBone]:
    """Take the limits of a chain's post about its axis; return the post if it is none of the bones that bend.

    Raises IK2DError as `read_post` does.
    """
    if chain.plane != POST:
        return []
    post = post_bone(chain, bones)
    limits = range_about(post, post_axis(chain, post), with_locks=False)
    chain.use_post_limit = limits is not None
    if limits is not None:
        chain.post_limit_min, chain.post_limit_max = limits
    return [] if post in bones else [post]


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
