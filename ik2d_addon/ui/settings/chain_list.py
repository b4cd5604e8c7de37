# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains of an armature: add, remove and flip them."""

from contextlib import suppress

import bpy
from bpy.types import Object, PropertyGroup

from ...core import IK2DError
from ...core.inputs import Floats
from ...core.words import refusal
from ...rig.chain.checks.bones import chain_bones
from ...rig.chain.native_state import controls_of
from ...rig.chain.paths.follow import follow_list, refuse_stuck
from .found_plane import find_plane

# The arms of the cross that a target made for a chain is drawn as, as a part of its bones' mean length.
TARGET_SIZE = 0.25

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
    way to the viewer in the world, as columns; without it the armature's front. A bone that locks show to be
    its post, and no other chain turns, turns its plane. Raises IK2DError, with nothing changed, for a missing
    bone or too few of them.
    """
    if bone_count is None:
        bone_count = 2 if chain_bones(armature, tip, 1)[0].parent else 1
    chain_bones(armature, tip, bone_count)
    settings = armature.ik2d
    chain = settings.chains.add()
    chain.name = tip  # or the next free name
    chain.bone_count, chain.tip = bone_count, tip  # in this order the joints are made once
    if target is not None:  # even None would have Blender look through what depends on what
        chain.target, chain.subtarget = target, subtarget
    settings.active_index = len(settings.chains) - 1
    follow_list(armature)
    with suppress(IK2DError):  # bones of no size: the panel says so
        find_plane(chain, view)
    return chain


def refuse_drop(armature: Object, index: int) -> None:
    """Raise IK2DError where keys of other chains could not follow the removal of the chain at an index."""
    follow_list(armature)
    refuse_stuck(armature, [i for i in range(len(armature.ik2d.chains)) if i != index])


def drop_chain(armature: Object, index: int) -> str:
    """Remove only the list's chain at an index, with its keys and drivers; return its name.

    Keys and drivers of the chains after it follow them. Raises IK2DError where some could not.
    """
    refuse_drop(armature, index)
    chains = armature.ik2d.chains
    name = str(chains[index].name)
    try:
        chains.remove(index)
    except TypeError as error:  # how Blender refuses it for an override
        raise refusal(
            "Chain '{name}' comes from the linked library: disable it instead", name=name
        ) from error
    follow_list(armature)
    return name


def move_in_list(armature: Object, index: int, new: int) -> None:
    """Move the chain at an index of the list to a new one; its keys and drivers follow.

    Raises IK2DError where some could not.
    """
    follow_list(armature)
    chains = armature.ik2d.chains
    order = [i for i in range(len(chains)) if i != index]
    refuse_stuck(armature, [*order[:new], index, *order[new:]])
    try:
        chains.move(index, new)
    except TypeError as error:  # as above
        name = str(chains[index].name)
        raise refusal(
            "Chain '{name}' comes from the linked library: it stays in its place in the list", name=name
        ) from error
    follow_list(armature)


def flip(chain: PropertyGroup) -> None:
    """Bend a chain to its other side; a native one by its control, at once."""
    controls = controls_of(chain)
    if controls is not None:
        controls["bend"] = 1.0 if controls.get("bend", 1.0) < 0.0 else -1.0
        controls.update_tag()
        return
    chain.bend = 'NEGATIVE' if chain.bend == 'POSITIVE' else 'POSITIVE'
    chain.id_data.update_tag()  # the viewport may show it


def flip_post(chain: PropertyGroup) -> None:
    """Have a chain reach to the other side of its post's axis."""
    chain.post_side = 'NEGATIVE' if chain.post_side == 'POSITIVE' else 'POSITIVE'
    chain.id_data.update_tag()


def add_target(armature: Object, tip: str, role: str = "Target", bone_count: int = 2) -> Object:
    """Add an empty at the tail of a bone, as the bone is posed now, for a chain to follow.

    It is in the first of the armature's collections that is not linked, else in the scene's. role: what it
    is to the chain, for its name. bone_count: the chain's bones, which tell how large it is drawn.
    """
    collections = [item for item in armature.users_collection if item.is_editable]
    bone = armature.pose.bones[tip]
    target = bpy.data.objects.new(f"{tip} {role}", None)
    (collections or [bpy.context.scene.collection])[0].objects.link(target)
    target.location = armature.matrix_world @ bone.tail
    target.empty_display_type = 'PLAIN_AXES'
    target.show_in_front = True  # flat parts would hide it
    bones = [bone, *bone.parent_recursive][: bone_count or None]
    scale = sum(abs(value) for value in armature.matrix_world.to_scale()) / 3.0
    length = sum(item.length for item in bones) / len(bones)
    target.empty_display_size = max(TARGET_SIZE * length * scale, 1e-6)
    return target
