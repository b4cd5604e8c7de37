# SPDX-License-Identifier: GPL-3.0-or-later
"""Plane angles -> rotation channels, in each bone's own rotation mode."""

from collections.abc import Iterator, Mapping

import bpy
import numpy as np
from mathutils import Euler, Quaternion

from ...core.affine import rotations_about
from ...core.inputs import Floats
from ...core.words import say
from ..animation.bone_channels import BoneChannels, BoneRotation, matrices, rotation_property
from ..chain.chain import RigChain
from ..chain.hands import REST
from ..chain.joints import CLOSE, EXACT, own_axis
from ..scene.lengths.slide_locations import slide_channels
from .bone_matrices import whole_rotations
from .channels import channels_of

# X or Z alone turn the same in all orders; this one is Blender's first, and locks for neither.
SINGLE_AXIS_MODE = 'XYZ'


def bone_rotations(
    rig: RigChain,
    turns: Floats,
    single_axis: bool = False,
    before: Mapping[str, Floats] | None = None,
    swings: Floats | None = None,
    aside: Floats | None = None,
) -> list[BoneRotation]:
    """Return the rotation channels of all bones for their local turns (frames, n).

    Bones held by locked channels are left out. single_axis: one Euler channel for each bone that has the
    plane's normal as its X or Z, in another rotation mode than its own if need be. before: the bones'
    channels that Euler angles continue from, if there are any. swings: (frames, 3, 3) of the plane, in rest
    space, which the first bone turns by as well. aside: (frames, n, 3, 3) rotations before the turns.
    """
    channels = _single_channel if single_axis else _channels
    last = before or {}
    rotations = {
        i: channels(bone, rig.joints.axes[i], turns[:, i], last.get(bone.name))
        for i, bone in enumerate(rig.pose_bones)
        if not rig.joints.fixed[i]
    }
    for i, turned in whole_rotations(rig, turns, swings, aside).items():
        bone, pair = rig.pose_bones[i], post_and_hinge(rig) if i == 0 else None
        prop = rotation_property(bone.rotation_mode)
        values = np.array(getattr(bone, prop), np.float64)[None]
        values = channels_of(bone, turned, values, last.get(bone.name), pair)
        rotations[i] = BoneRotation(bone.name, prop, values)
    return list(rotations.values())


def turned_channels(
    bone: bpy.types.PoseBone, axis: Floats, turn: Floats, single_axis: bool = False
) -> BoneRotation:
    """Return the rotation channels of a bone for turns (m,) about its local axis (3,)."""
    channels = (_single_channel if single_axis else _channels)(bone, axis, turn, None)
    if not _is_euler(bone) or channels.turning is not None or own_axis(axis, EXACT) is not None:
        return channels
    values = _refined(bone.rotation_mode, rotations_about(axis, turn), channels.values)
    return BoneRotation(bone.name, channels.property, values)


def _refined(order: str, wanted: Floats, values: Floats) -> Floats:
    """Return Euler angles (m, 3) of rotations (m, 3, 3), of those that 32 bits have found, in 64 bits.

    By a step of Newton's method; with the axes that each angle turns about, as those after it turn them.
    """
    numbers = ["XYZ".index(letter) for letter in order]
    first, second, third = (
        matrices(order, np.where(np.arange(3) == number, values, 0.0)) for number in numbers
    )
    axes = np.zeros((len(values), 3, 3))
    axes[:, :, numbers[0]] = (third @ second)[:, :, numbers[0]]
    axes[:, :, numbers[1]] = third[:, :, numbers[1]]
    axes[:, numbers[2], numbers[2]] = 1.0
    off = wanted @ np.swapaxes(third @ second @ first, 1, 2)
    turned = 0.5 * np.stack([off[:, i, j] - off[:, j, i] for i, j in ((2, 1), (0, 2), (1, 0))], axis=1)
    refined: Floats = values + (np.linalg.pinv(axes, rcond=1e-4) @ turned[..., None])[..., 0]
    return refined


def post_and_hinge(rig: RigChain) -> tuple[int, int] | None:
    """Return the own axes (0..2) of a first bone that is the post: the post's, then its hinge's.

    None where its Euler angles, or its quaternion, do not turn about the hinge and then about the post.
    """
    if rig.swing is None or rig.swing.post is None or not _is_euler(rig.pose_bones[0]):
        return None
    post, mode = rig.swing.post.rule.axis, rig.pose_bones[0].rotation_mode
    if rig.joints.weights[0] == 0.0:  # it only turns as the post
        return post, (post + 1) % 3
    hinge = own_axis(rig.joints.axes[0], CLOSE)
    if hinge in (None, post) or mode.index("XYZ"[hinge]) > mode.index("XYZ"[post]):
        return None
    return post, hinge


def _single_channel(
    bone: bpy.types.PoseBone, axis: Floats, turn: Floats, before: Floats | None
) -> BoneRotation:
    """Return the rotation as one Euler angle where the local `axis` (3,) allows, else as it was."""
    nearest = own_axis(axis, CLOSE)
    if nearest is None:
        return _channels(bone, axis, turn, before)
    values = np.zeros((len(turn), 3))
    values[:, nearest] = turn * np.sign(axis[nearest])
    mode = "" if _is_euler(bone) else SINGLE_AXIS_MODE
    return BoneRotation(bone.name, "rotation_euler", values, mode, nearest)


def single_axis_notes(rig: RigChain, post: BoneRotation | None = None) -> Iterator[str]:
    """Yield a sentence on rotation modes that Single Axis sets, and for each bone that it cannot key.

    post: the channels of a post above the chain.
    """
    joints = zip(rig.pose_bones, rig.joints.axes, rig.joints.fixed, strict=True)
    turned = [(bone, axis) for bone, axis, fixed in joints if not fixed]
    if rig.swing is not None:
        turned = turned[1:]
        yield say(
            "Chain '{chain}': its plane follows its target, so Single Axis left '{bone}' as it is",
            chain=rig.name,
            bone=rig.bones[0],
        )
    slanted = [(bone, axis) for bone, axis in turned if own_axis(axis, CLOSE) is None]
    changed = [post.bone] if post is not None and post.mode else []
    for bone, axis in turned:
        if own_axis(axis, CLOSE) is not None and not _is_euler(bone):
            changed.append(bone.name)
    if changed:
        names = ", ".join(f"'{bone}'" for bone in changed)
        yield say(
            "Chain '{chain}': Single Axis set the rotation mode of {names} to {mode} Euler",
            chain=rig.name,
            names=names,
            mode=SINGLE_AXIS_MODE,
        )
    for bone, (x, y, z) in slanted:
        yield say(
            "Chain '{chain}': Single Axis left '{bone}' as it is: it turns about ({x:.3g}, "
            "{y:.3g}, {z:.3g}), neither its X nor its Z; change its roll",
            chain=rig.name,
            bone=bone.name,
            x=x,
            y=y,
            z=z,
        )


def _is_euler(bone: bpy.types.PoseBone) -> bool:
    return bone.rotation_mode not in ('QUATERNION', 'AXIS_ANGLE')


def channels_at_rest(rig: RigChain, single_axis: bool = False) -> list[BoneRotation]:
    """Return the channels that a bake of a chain writes, with the values of the rest pose."""
    count = len(rig.bones)
    return [
        *_post_at_rest(rig),
        *bone_rotations(rig, np.zeros((1, count)), single_axis),
        *slide_channels(rig, np.zeros((1, count, 3))),
        *(_hand_at_rest(rig.armature.pose.bones[name]) for name in (rig.hands.bones if rig.hands else ())),
    ]


def _post_at_rest(rig: RigChain) -> Iterator[BoneRotation]:
    if rig.post_above is None:
        return
    at_rest = _hand_at_rest(rig.armature.pose.bones[rig.post_above.bone])
    if at_rest.property == "rotation_euler":
        axis = rig.post_above.rule.axis
        at_rest = BoneChannels(at_rest.bone, at_rest.property, at_rest.values, channels=(axis,))
    yield at_rest


def _hand_at_rest(bone: bpy.types.PoseBone) -> BoneRotation:
    channels = rotation_property(bone.rotation_mode)
    return BoneRotation(bone.name, channels, np.array([REST[channels]]))


def _channels(bone: bpy.types.PoseBone, axis: Floats, turn: Floats, before: Floats | None) -> BoneRotation:
    """Return the rotation about the local `axis` (3,) by the angles `turn` (frames,)."""
    if bone.rotation_mode == 'QUATERNION':
        # The half angle goes on where the turn does: no sign ever flips.
        numbers = np.empty((4, len(turn)))  # of each channel side by side, as its keys take them
        numbers[0], numbers[1:] = np.cos(turn / 2.0), np.multiply.outer(axis, np.sin(turn / 2.0))
        return BoneRotation(bone.name, "rotation_quaternion", numbers.T)
    if bone.rotation_mode == 'AXIS_ANGLE':
        values = np.column_stack((turn, np.tile(axis, (len(turn), 1))))
        return BoneRotation(bone.name, "rotation_axis_angle", values)
    return BoneRotation(bone.name, "rotation_euler", _eulers(bone.rotation_mode, axis, turn, before))


def _eulers(order: str, axis: Floats, turn: Floats, before: Floats | None) -> Floats:
    """Return Euler angles (frames, 3), x first, that follow `before` (3,) and one another without jumps."""
    nearest = own_axis(axis, EXACT)
    values = np.zeros((len(turn), 3))
    if nearest is not None:
        values[:, nearest] = turn * np.sign(axis[nearest])
        return values
    last = Euler((0.0, 0.0, 0.0) if before is None else before, order)
    for i, angle in enumerate(turn):
        last = Quaternion(axis, angle).to_euler(order, last)
        values[i] = last
    return values
