# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains of an armature: add, remove, order and flip them, and take limits from its bones."""

from contextlib import suppress

import bpy
import numpy as np
from bpy.types import Object, PoseBone, PropertyGroup

from ...core import IK2DError
from ...core.inputs import Floats
from ...core.words import quoted, say
from ...rig.chain.bone_limits import limits_elsewhere, limits_of_bones, slides_of_bones
from ...rig.chain.chain import chain_bones, rest_joints
from ...rig.chain.native_state import controls_of
from ...rig.chain.planes import bend_plane
from ...rig.chain.slides import slide_directions
from ...rig.scene.slide_locations import base_of
from ..context import active_chain
from .found_plane import find_plane
from .joint_list import sync_joints

# The radius of a target made for a chain, as a part of its last bone's length.
TARGET_SIZE = 0.15

# --- The list of chains: functions that scripts can call ---------------------


def add_chain(
    armature: Object,
    tip: str,
    bone_count: int | None = None,
    target: Object | None = None,
    subtarget: str = "",
    view: Floats | None = None,
):
    """Add a chain that ends in the bone `tip`, make it the active one and return it.

    Without `bone_count` it has two bones, or one if the tip has no parent. It follows the object `target`,
    or its bone `subtarget`. Bones that are straight at rest get a plane, and a side to bend to, that stay;
    where no bones around them tell which, they are those of the `view`: (3, 3), its right, its up and the
    way to the viewer in the world, as columns; without it the armature's front. Raises IK2DError, with
    nothing changed, for a missing bone or too few of them.
    """
    if bone_count is None:
        bone_count = 2 if chain_bones(armature, tip, 1)[0].parent else 1
    chain_bones(armature, tip, bone_count)
    settings = armature.ik2d
    chain = settings.chains.add()
    chain.bone_count, chain.tip = bone_count, tip  # in this order the joints are made once
    chain.name = tip  # or the next free name
    chain.target, chain.subtarget = target, subtarget
    settings.active_index = len(settings.chains) - 1
    with suppress(IK2DError):  # bones of no size: the panel says so
        find_plane(chain, view)
    return chain


def drop_chain(armature: Object, index: int) -> str:
    """Remove only the list's chain at an index; return its name."""
    chains = armature.ik2d.chains
    name = str(chains[index].name)
    try:
        chains.remove(index)
    except TypeError as error:  # how Blender refuses it for an override
        raise IK2DError(
            say("Chain '{name}' comes from the linked library: disable it instead", name=name)
        ) from error
    return name


def move_chain(armature: Object, step: int) -> None:
    """Move the active chain down by `step` places in the list, up where negative, as far as the list goes."""
    settings = armature.ik2d
    if active_chain(armature) is None:
        raise IK2DError(say("Armature '{armature}' has no chain to move", armature=armature.name))
    index = max(0, min(settings.active_index + step, len(settings.chains) - 1))
    settings.chains.move(settings.active_index, index)
    settings.active_index = index


def flip(chain: PropertyGroup) -> None:
    """Bend a chain to its other side; a native one by its control, at once."""
    controls = controls_of(chain)
    if controls is not None:
        controls["bend"] = 1.0 if controls.get("bend", 1.0) < 0.0 else -1.0
        controls.update_tag()
        return
    chain.bend = 'NEGATIVE' if chain.bend == 'POSITIVE' else 'POSITIVE'
    chain.id_data.update_tag()  # the viewport may show it


def add_target(armature: Object, tip: str, collection: bpy.types.Collection, role: str = "Target") -> Object:
    """Add an empty at the tail of a bone, as the bone is posed now, for a chain to follow.

    role: what it is to the chain, for its name.
    """
    bone = armature.pose.bones[tip]
    target = bpy.data.objects.new(f"{tip} {role}", None)
    collection.objects.link(target)
    target.location = armature.matrix_world @ bone.tail
    target.empty_display_type = 'SPHERE'
    scale = sum(abs(value) for value in armature.matrix_world.to_scale()) / 3.0
    target.empty_display_size = max(TARGET_SIZE * bone.length * scale, 1e-6)
    return target


def take_limits(armature: Object, chain: PropertyGroup) -> tuple[int, list[str]]:
    """Take the chain's limits from Blender's own limits on the bones; other joints become free.

    Returns the number of limited joints, and the bones whose limits are not about turns in the plane.
    Raises IK2DError for a chain without bones or without a plane.
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
    return len(ranges), slanted


def take_slides(chain: PropertyGroup, bones: list[PoseBone]) -> list[str]:
    """Take slides from Limit Location constraints; return the bones that have a limit on one side only."""
    joints = [chain.joints[bone.name] for bone in bones]
    bases = np.array(
        [
            np.where(joint.slid, base_of(joint), bone.location)
            for joint, bone in zip(joints, bones, strict=True)
        ]
    )
    own = joints[-1].use_slide and not (len(joints) > 1 and joints[-2].use_slide)
    ranges, open_ended = slides_of_bones(bones, slide_directions(bones), bases, own)
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
