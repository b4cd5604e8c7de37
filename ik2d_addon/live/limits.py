# SPDX-License-Identifier: GPL-3.0-or-later
"""Limit Rotation constraints of a live chain's bones: which of them act on a solved pose."""

from collections.abc import Sequence

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..rig.chain.chain import RigChain
from ..rig.scene.bone_constraints import OtherControl
from .writing import Shown, Turn

# Angles (radians) beyond a limit by no more than this are within, as 32 bits have them.
_WITHIN = 1e-5


def acting(
    rig: RigChain,
    limits: Sequence[OtherControl],
    bones: Shown,
    turns: Sequence[Turn],
    post: Matrix | None = None,
) -> list[OtherControl]:
    """Return the limits of joints (`is_joint_limit`) that change the rotation of bones that turn so.

    bones: the evaluated pose bones. post: the rotation (3x3) of one above the chain. Blender limits the
    angles of a rotation in an order of the axes, so all limited ones have to be within, whether the chain
    turns about them or not.
    """
    found = []
    for limit in limits:
        bone = bones[limit.owner]
        if limit.owner in rig.bones:
            row = rig.bones.index(limit.owner)
            rotation = _rotation(rig, row, turns[row], bone)
        else:
            rotation = post or bone.matrix_basis.to_3x3()
        if not _leaves(bone, bone.constraints[limit.constraint], rotation):
            found.append(limit)
    return found


def _rotation(rig: RigChain, row: int, turn: Turn, bone: bpy.types.PoseBone) -> Matrix:
    """Return the rotation (3x3) from rest of a bone that turns so; of one that locks hold as it is."""
    if rig.joints.fixed[row]:
        return bone.matrix_basis.to_3x3()
    if isinstance(turn, tuple):
        return Quaternion(turn).to_matrix()
    return Matrix.Rotation(turn, 3, Vector(rig.joints.axes[row].tolist()))


def _leaves(bone: bpy.types.PoseBone, constraint: bpy.types.Constraint, rotation: Matrix) -> bool:
    """Return whether a Limit Rotation leaves a bone's rotation as it is."""
    order = bone.rotation_mode if len(bone.rotation_mode) == 3 else 'XYZ'
    angles = rotation.to_euler(order if constraint.euler_order == 'AUTO' else constraint.euler_order)
    for letter, angle in zip("xyz", angles, strict=True):
        ends = getattr(constraint, f"min_{letter}"), getattr(constraint, f"max_{letter}")
        is_limited = getattr(constraint, f"use_limit_{letter}")
        if is_limited and not min(ends) - _WITHIN <= angle <= max(ends) + _WITHIN:
            return False
    return True
