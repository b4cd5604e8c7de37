# SPDX-License-Identifier: GPL-3.0-or-later
"""Plane angles -> rotation channels, in each bone's own rotation mode."""

from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Euler, Quaternion

from ..core.chain import Floats
from .armature import RigChain

# A local axis this near to X, Y or Z turns one Euler channel alone; 32-bit rest matrices are no nearer.
ALIGNED = 1e-6


@dataclass(frozen=True, eq=False)
class BoneRotation:
    """The values of one bone's rotation channels over the frames."""

    bone: str
    property: str  # rotation_quaternion, rotation_euler or rotation_axis_angle
    values: Floats  # (frames, channels)


def bone_rotations(rig: RigChain, angles: Floats) -> list[BoneRotation]:
    """Return the channels of all bones for solved angles (frames, n), continuous over the frames.

    A bone turned by phi in the plane from its rest direction, whose parent is turned by psi, turns
    by phi - psi about the plane's normal as its own rest matrix sees it. One that does not inherit
    its parent's rotation turns by phi.
    """
    turned = np.cumsum(angles - rig.rest_angles, axis=1)  # (frames, n) from each bone's rest direction
    rotations = []
    for i, name in enumerate(rig.bones):
        bone = rig.armature.pose.bones[name]
        inherits = i and bone.bone.use_inherit_rotation
        turn = np.unwrap(turned[:, i] - (turned[:, i - 1] if inherits else 0.0))
        # Whole turns say nothing at the first frame; take the smallest.
        turn -= 2.0 * np.pi * np.round(turn[0] / (2.0 * np.pi))
        axis = np.array(bone.bone.matrix_local.to_3x3(), np.float64).T @ rig.plane.normal
        rotations.append(_channels(bone, axis / np.linalg.norm(axis), turn))
    return rotations


def set_pose(armature: bpy.types.Object, rotations: list[BoneRotation]) -> None:
    """Show the first frame of the rotations as the current pose."""
    for rotation in rotations:
        setattr(armature.pose.bones[rotation.bone], rotation.property, rotation.values[0])


def _channels(bone: bpy.types.PoseBone, axis: Floats, turn: Floats) -> BoneRotation:
    """Return the rotation about the local `axis` (3,) by the angles `turn` (frames,)."""
    if bone.rotation_mode == 'QUATERNION':
        # The half angle goes on where the turn does: no sign ever flips.
        values = np.column_stack((np.cos(turn / 2.0), np.outer(np.sin(turn / 2.0), axis)))
        return BoneRotation(bone.name, "rotation_quaternion", values)
    if bone.rotation_mode == 'AXIS_ANGLE':
        values = np.column_stack((turn, np.tile(axis, (len(turn), 1))))
        return BoneRotation(bone.name, "rotation_axis_angle", values)
    return BoneRotation(bone.name, "rotation_euler", _eulers(bone.rotation_mode, axis, turn))


def _eulers(order: str, axis: Floats, turn: Floats) -> Floats:
    """Return Euler angles (frames, 3), x first, that follow one another without jumps."""
    nearest = int(np.argmax(np.abs(axis)))
    values = np.zeros((len(turn), 3))
    if 1.0 - abs(axis[nearest]) < ALIGNED**2:
        values[:, nearest] = turn * np.sign(axis[nearest])
        return values
    last = Euler((0.0, 0.0, 0.0), order)
    for i, angle in enumerate(turn):
        last = Quaternion(axis, angle).to_euler(order, last)
        values[i] = last
    return values
