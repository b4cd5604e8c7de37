# SPDX-License-Identifier: GPL-3.0-or-later
"""Plane angles -> rotation channels, in each bone's own rotation mode."""

from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Euler, Quaternion

from ..core.chain import Floats
from .armature import RigChain, rest_joints

# A local axis this near to X, Y or Z turns one Euler channel alone; 32-bit rest matrices are no nearer.
ALIGNED = 1e-6


@dataclass(frozen=True, eq=False)
class BoneRotation:
    """The values of one bone's rotation channels over the frames."""

    bone: str
    property: str  # rotation_quaternion, rotation_euler or rotation_axis_angle
    values: Floats  # (frames, channels)


def local_turns(rig: RigChain, angles: Floats) -> Floats:
    """Return how far each bone turns about its local axis, from solved angles: both (frames, n).

    A bone turned by phi in the plane from its rest direction, whose parent is turned by psi, turns
    by phi - psi. One that does not inherit its parent's rotation turns by phi.
    """
    turned = np.cumsum(angles - rig.rest_angles, axis=1)  # from each bone's rest direction
    parents = np.concatenate((np.zeros((len(turned), 1)), turned[:, :-1]), axis=1)
    turns = np.unwrap(turned - parents * [_inherits(bone) for bone in rig.pose_bones], axis=0)
    # Whole turns say nothing at the first frame; take the smallest.
    return turns - 2.0 * np.pi * np.round(turns[:1] / (2.0 * np.pi))


def tips(rig: RigChain, turns: Floats) -> Floats:
    """Return where Blender's forward kinematics puts the tip (frames, 3), in rest space.

    turns: (frames, n). With rest matrices B and local rotations R, bone i has the pose matrix
    Q[i] = Q[i-1] B[i-1]^-1 B[i] R[i], and carries the vector to the next joint along.
    The solvers' own forward() differs from it by some 1e-5 of the reach: Blender's rest matrices
    are not quite orthonormal.
    """
    joints = rest_joints(rig.pose_bones)
    tip = np.tile(joints[0], (len(turns), 1))
    pose, parent_rest = None, np.eye(3)
    for i, bone in enumerate(rig.pose_bones):
        rest = _rest(bone)
        held = pose @ np.linalg.solve(parent_rest, rest) if i and _inherits(bone) else rest
        pose = held @ _rotations(local_axis(rig, bone), turns[:, i])
        tip += pose @ np.linalg.solve(rest, joints[i + 1] - joints[i])
        parent_rest = rest
    return tip


def bone_rotations(rig: RigChain, turns: Floats) -> list[BoneRotation]:
    """Return the rotation channels of all bones for their local turns (frames, n)."""
    return [_channels(bone, local_axis(rig, bone), turns[:, i]) for i, bone in enumerate(rig.pose_bones)]


def local_axis(rig: RigChain, bone: bpy.types.PoseBone) -> Floats:
    """Return the plane's normal (3,) as a bone's own rest matrix sees it: what the bone turns about."""
    axis = _rest(bone).T @ rig.plane.normal
    return axis / np.linalg.norm(axis)


def _rest(bone: bpy.types.PoseBone) -> Floats:
    return np.array(bone.bone.matrix_local.to_3x3(), np.float64)


def _inherits(bone: bpy.types.PoseBone) -> bool:
    return bool(bone.bone.use_inherit_rotation)


def _rotations(axis: Floats, turns: Floats) -> Floats:
    """Return matrices (frames, 3, 3) that turn about `axis` (3,), after Rodrigues."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    sine, versine = np.sin(turns)[:, None, None], (1.0 - np.cos(turns))[:, None, None]
    return np.eye(3) + sine * cross + versine * (cross @ cross)


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
