# SPDX-License-Identifier: GPL-3.0-or-later
"""The rotation channels of a post, for its angles."""

import numpy as np
from numpy.typing import NDArray

from ....core.affine import norms, rotations_about
from ....core.inputs import Floats
from ...animation.bone_channels import BoneChannels, BoneRotation, matrices, rotation_property
from ...chain.chain import RigChain
from ..rotations import SINGLE_AXIS_MODE

# A rotation whose entries are nearer to none than this is none: rounding of 32 bits leaves as much.
NO_ROTATION = 2e-6


def post_channels(rig: RigChain, angles: Floats, swings: Floats, single_axis: bool = False) -> BoneRotation:
    """Return the rotation channels of a post for its angles (frames,); swings: as in PostSpace.

    Of Euler angles the one about its axis: the others stay as they are. single_axis: one Euler angle, in
    another rotation mode if need be, of a post that turns about its axis alone.
    """
    assert rig.post is not None
    bone, axis = rig.armature.pose.bones[rig.post.bone], rig.post.rule.axis
    prop, own = rotation_property(bone.rotation_mode), np.eye(3)[axis]
    if prop == "rotation_euler":
        values = np.multiply.outer(angles, own)
        return BoneChannels(bone.name, prop, values, channels=(axis,))
    pure = bool((swings == np.eye(3)).all())
    if single_axis and pure:
        return BoneRotation(
            bone.name, "rotation_euler", np.multiply.outer(angles, own), SINGLE_AXIS_MODE, turning=axis
        )
    if prop == "rotation_axis_angle" and pure:
        return BoneRotation(bone.name, prop, np.column_stack((angles, np.tile(own, (len(angles), 1)))))
    w, (x, y, z) = np.cos(angles / 2.0), np.multiply.outer(own, np.sin(angles / 2.0))
    turns = np.column_stack((w, x, y, z))
    values = _products(_quaternions(swings), turns)
    if prop == "rotation_axis_angle":
        values = _axis_angles(values)
    return BoneRotation(bone.name, prop, values)


def angles_in(rig: RigChain, channels: Floats) -> Floats:
    """Return the angles (m,) of a post about its axis by its rotation channels (m, c), with whole turns."""
    assert rig.post is not None
    mode, axis = rig.armature.pose.bones[rig.post.bone].rotation_mode, rig.post.rule.axis
    if mode == 'QUATERNION':
        angles: Floats = 2.0 * np.arctan2(channels[:, 1 + axis], channels[:, 0])
        return angles
    if mode == 'AXIS_ANGLE':
        sizes = norms(channels[:, 1:])
        along = channels[:, 1 + axis] / np.where(sizes > 0.0, sizes, 1.0)
        rounds = 2.0 * np.pi * np.round(channels[:, 0] / (2.0 * np.pi))
        half = 0.5 * (channels[:, 0] - rounds)
        twist = 2.0 * np.arctan2(np.sin(half) * along, np.cos(half))
        whole: Floats = twist + np.sign(along) * rounds
        return whole
    return channels[:, axis].copy()


def is_tilted(rig: RigChain, channels: Floats) -> NDArray[np.bool_]:
    """Return a mask (m,) of rotation channels (m, c) by which more turns a post than about its axis."""
    assert rig.post is not None
    bone, axis = rig.armature.pose.bones[rig.post.bone], np.eye(3)[rig.post.rule.axis]
    along = matrices(bone.rotation_mode, channels) @ axis
    tilted: NDArray[np.bool_] = np.abs(along - axis).max(axis=1) > NO_ROTATION
    return tilted


def about(axis: int, angles: Floats) -> Floats:
    """Return the rotations (m, 3, 3) about own axis 0..2 by angles (m,)."""
    return rotations_about(np.eye(3)[axis], angles)


def _quaternions(rotations: Floats) -> Floats:
    """Return unit quaternions (m, 4) of rotations (m, 3, 3) by less than half a round."""
    turns = np.arccos(np.clip((np.trace(rotations, axis1=1, axis2=2) - 1.0) / 2.0, -1.0, 1.0))
    vectors = np.stack([rotations[:, i, j] - rotations[:, j, i] for i, j in ((2, 1), (0, 2), (1, 0))], axis=1)
    w = np.cos(turns / 2.0)[:, None]
    return np.concatenate((w, vectors / (4.0 * np.maximum(w, np.finfo(float).tiny))), axis=1)


def _products(ones: Floats, others: Floats) -> Floats:
    """Return the products (m, 4) of quaternions (m, 4): the others' rotations, then the first ones'."""
    (a, b, c, d), (w, x, y, z) = ones.T, others.T
    return np.column_stack(
        (
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        )
    )


def _axis_angles(quaternions: Floats) -> Floats:
    """Return axis angles (m, 4) of quaternions (m, 4) that go on without a change of sign."""
    sizes = norms(quaternions[:, 1:])
    axes = quaternions[:, 1:] / np.where(sizes > 0.0, sizes, 1.0)[:, None]
    angles = 2.0 * np.arctan2(sizes, quaternions[:, 0])
    for row in range(1, len(angles)):
        if axes[row] @ axes[row - 1] < 0.0:
            axes[row], angles[row] = -axes[row], -angles[row]
        angles[row] += 4.0 * np.pi * np.round((angles[row - 1] - angles[row]) / (4.0 * np.pi))
    return np.column_stack((angles, axes))
