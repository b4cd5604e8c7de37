# SPDX-License-Identifier: GPL-3.0-or-later
"""The fixes of chains whose plane a post turns, or could turn."""

from collections.abc import Iterator

import bpy

from ...bake.cures.off_plane import LABELS
from ...core import IK2DError
from ...core.words import number_of, refusal, say
from ...rig.chain.checks.bones import chain_bones
from ...rig.chain.checks.found_post import FoundPost, found_post
from ...rig.chain.dependencies import Node, parents
from ...rig.chain.post import POST, bending_bones, held_apart, post_axis, post_bone
from ...rig.chain.renames import Settings
from ...ui.settings.found_plane import find_plane, take_post
from .fixes import Fix, fix, inheriting, refuse_linked_data, refuse_nothing
from .rest_fixes import held_by

Bones = list[bpy.types.PoseBone]


def of_unread(settings: bpy.types.PropertyGroup, bones: Bones) -> Iterator[Fix]:
    """Yield the fixes for a chain with a post that cannot be read. bones: root to tip."""
    if settings.plane != POST:
        return
    bones = bending_bones(settings, bones)
    if _no_post(settings, bones):
        if _proposed(settings, bones) is not None:
            yield post
        yield plane_stays
        return
    if _hanging(settings) is not None:
        yield free_target
    holding = [constraint for _, constraint in held_apart(post_bone(settings, bones), bones)]
    if None in holding:
        yield inherit_from_post
    if any(holding):
        yield mute_holding
    if settings.use_post_limit and settings.post_limit_min > settings.post_limit_max:
        yield turn_post_limits


def _no_post(settings: bpy.types.PropertyGroup, bones: Bones) -> bool:
    """Return whether a chain's post is missing, does not carry the chain, or cannot turn as it is set to."""
    try:
        post_axis(settings, post_bone(settings, bones))
    except IK2DError:
        return True
    return False


def _proposed(settings: bpy.types.PropertyGroup, bones: Bones) -> FoundPost | None:
    """Return the post that locks show for a chain, unless another chain turns it."""
    found = found_post(bones, settings.name)
    return found if found is not None and not found.owner else None


@fix(LABELS[POST])
def post(armature: bpy.types.Object, settings: Settings) -> str:
    """Have the bone that locks leave one axis turn the chain's plane to its target."""
    bones = chain_bones(armature, settings.tip, settings.bone_count, settings.name)
    found = _proposed(settings, bones)
    if found is None:
        raise refusal(
            "Chain '{chain}': locks show no bone above it that turns about one axis, across its hinges, and "
            "that no other chain turns; lock the rotation of one about two axes",
            chain=settings.name,
        )
    settings.bone_count = len(bones) - found.first
    take_post(settings, found)
    return say(
        "The plane of chain '{chain}' turns about '{post}' ({axis})",
        chain=settings.name,
        post=found.bone,
        axis=found.axis,
    )


@fix("Let Plane Stay")
def plane_stays(_armature: bpy.types.Object, settings: Settings) -> str:
    """Give the chain a plane that no post turns."""
    if settings.plane != POST:
        raise refusal("Chain '{chain}': no post turns its plane", chain=settings.name)
    find_plane(settings, turned=False)
    settings.plane_found = False  # other bones bring no post back
    return say("The plane of chain '{chain}' stays as it is", chain=settings.name)


def _hanging(settings: bpy.types.PropertyGroup) -> bpy.types.Object | None:
    """Return the object by whose parent a chain's target hangs on its post; None where there is none."""
    armature, node = settings.id_data, (settings.target, settings.subtarget)
    while node[0] is not None and node[0] != armature:
        above = next(iter(parents(node)), (None, ""))
        if not node[1] and above[0] == armature and _is_on_post(settings, above):
            return node[0]
        node = above
    return None


def _is_on_post(settings: bpy.types.PropertyGroup, node: Node) -> bool:
    bone = node[0].pose.bones.get(node[1])
    return bone is not None and settings.post in (bone.name, *(each.name for each in bone.parent_recursive))


@fix("Free Target from Post")
def free_target(armature: bpy.types.Object, settings: Settings) -> str:
    """Parent the target to the bone above the post, or to the armature; it stays where it is now, and its
    keys stay.
    """
    hanging = _hanging(settings)
    if hanging is None:
        raise refusal("Chain '{chain}': no target of it hangs on its post", chain=settings.name)
    if not hanging.is_editable:
        raise refusal(
            "'{target}' is linked from another file: give it another parent there", target=hanging.name
        )
    above = armature.pose.bones[settings.post].parent
    before = held_by(armature, hanging) @ hanging.matrix_parent_inverse
    if above is None:
        hanging.parent_type, hanging.parent_bone = 'OBJECT', ""
    else:
        hanging.parent_bone = above.name
    bpy.context.view_layer.update()
    hanging.matrix_parent_inverse = held_by(armature, hanging).inverted_safe() @ before
    parent = above.name if above is not None else armature.name
    return say("'{target}' hangs on '{parent}' now", target=hanging.name, parent=parent)


def _apart(
    armature: bpy.types.Object, settings: Settings
) -> list[tuple[bpy.types.PoseBone, bpy.types.Constraint | None]]:
    if settings.plane != POST:
        return []
    bones = bending_bones(settings, chain_bones(armature, settings.tip, settings.bone_count, settings.name))
    return [*held_apart(post_bone(settings, bones), bones)]


@fix("Inherit Rotation")
def inherit_from_post(armature: bpy.types.Object, settings: Settings) -> str:
    """Turn on Inherit Rotation of the bones that are to turn with the post; the rest pose stays."""
    refuse_linked_data(armature)
    apart = _apart(armature, settings)
    return inheriting(settings, [bone.bone for bone, constraint in apart if constraint is None])


@fix("Mute What Holds Bones")
def mute_holding(armature: bpy.types.Object, settings: Settings) -> str:
    """Mute the constraints that keep bones from turning with the post."""
    holding = [constraint for _, constraint in _apart(armature, settings) if constraint is not None]
    refuse_nothing(settings, holding, say("constraint keeps a bone from turning with its post"))
    for constraint in holding:
        constraint.mute = True
    return say("Muted {constraints}", constraints=number_of(len(holding), "constraint"))


@fix("Swap Min and Max of Post")
def turn_post_limits(_armature: bpy.types.Object, settings: Settings) -> str:
    """Swap Min and Max of the post's limits, which run backwards."""
    low, high = sorted((settings.post_limit_min, settings.post_limit_max))
    if (low, high) == (settings.post_limit_min, settings.post_limit_max):
        raise refusal("Chain '{chain}': the limits of its post do not run backwards", chain=settings.name)
    settings.post_limit_min, settings.post_limit_max = low, high
    return say("The limits of the post go from Min to Max again")
