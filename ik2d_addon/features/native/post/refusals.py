# SPDX-License-Identifier: GPL-3.0-or-later
"""Reasons why a chain with a post cannot be native, as sentences that name the bone and the fix."""

from collections.abc import Iterator

import bpy

from ....core.words import refusal, say
from ....rig.animation.bone_channels import ROTATIONS, rotation_property
from ....rig.chain.chain import RigChain
from ....rig.pose.posts import chain_of_post
from ....rig.scene.bone_constraints import is_idle, other_controls, sentences
from ..refusals import curves_of, driven_axis, of_inheritance, refuse_first

# Keys whose values differ by no more hold a channel still.
_STILL = 1e-6
_ALL = (0, 1, 2)


def refuse_first_bone(rig: RigChain) -> None:
    """Raise IK2DError for a post that is the chain's own first bone."""
    post = rig.post
    if post is not None and rig.post_above is None:
        raise refusal(
            "Chain '{chain}' cannot be converted to drivers: its post '{post}' is its own first bone, and "
            "drivers turn a post above the chain; bake it instead, or keep it live",
            chain=rig.name,
            post=post.bone,
        )


def refuse_post(rig: RigChain, scene: bpy.types.Scene) -> None:
    """Raise IK2DError with the first reason why drivers cannot turn the post above a chain."""
    refuse_first(rig, _problems_of(rig, scene))


def _problems_of(rig: RigChain, scene: bpy.types.Scene) -> Iterator[str]:
    post, bones = rig.post_above, rig.armature.pose.bones
    assert post is not None
    if rig.foot is not None:
        yield say("it has a foot and a post, and only one of the two can be; bake it instead")
    yield from of_inheritance(bones[post.bone], root=True)
    yield from _of_post(bones[post.bone], post.rule.axis)
    alone, prefix = chain_of_post(rig), say("Chain '{chain}': ", chain=rig.name)
    for line in sentences(rig.name, other_controls(alone, scene.frame_start, scene.frame_end, carrying=True)):
        yield line.removeprefix(prefix)
    for name in post.between:
        yield from of_inheritance(bones[name], root=True)
        yield from _of_between(bones[name], post.bone)


def _of_post(bone: bpy.types.PoseBone, axis: int) -> Iterator[str]:
    """Yield a reason for each channel of a post that moves, but for its turn."""
    if min(bone.scale) <= 0.0:
        yield say(
            "its post '{bone}' is mirrored or flat by its scale; clear its scale (Alt-S), or bake the chain "
            "instead",
            bone=bone.name,
        )
    others = [i for i in _ALL if i != axis]
    for name, axes, what in (
        ("location", _ALL, say("location")),
        ("scale", _ALL, say("scale")),
        ("rotation_euler", others, say("rotation about {axes}", axes=" / ".join("XYZ"[i] for i in others))),
    ):
        if name in ROTATIONS and rotation_property(bone.rotation_mode) != name:
            continue
        if _moves(bone, name, axes):
            yield say(
                "the {what} of its post '{bone}' is animated, and drivers hold all of it still but its turn; "
                "delete these keys or drivers, bake the chain instead, or keep it live",
                what=what,
                bone=bone.name,
            )


def _of_between(bone: bpy.types.PoseBone, post: str) -> Iterator[str]:
    """Yield a reason if a bone between a post and its chain moves on its own."""
    channels = ("location", rotation_property(bone.rotation_mode), "scale")
    moved = any(_moves(bone, name, (0, 1, 2, 3)) for name in channels)
    held = any(not is_idle(bone.id_data, constraint) for constraint in bone.constraints)
    if moved or held:
        cause = say("its keys or drivers") if moved else say("a constraint")
        yield say(
            "the bone '{bone}' between its post '{post}' and its first bone may be moved by {cause}, and "
            "drivers need it still; delete these, bake the chain instead, or keep it live",
            cause=cause,
            bone=bone.name,
            post=post,
        )


def _moves(bone: bpy.types.PoseBone, name: str, axes: tuple[int, ...] | list[int]) -> bool:
    """Return whether keys or drivers may give some channels of a bone several values."""
    if driven_axis(bone, name, axes) is not None:
        return True
    for curve in curves_of(bone, name, axes):
        values = [key.co[1] for key in curve.keyframe_points]
        if len(curve.modifiers) or values and max(values) - min(values) > _STILL:
            return True
    return False
