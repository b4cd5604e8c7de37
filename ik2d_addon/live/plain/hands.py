# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands and feet of common live chains, in Blender's own matrices: numpy is slow for a single one.

The results are those of `rig.pose.hand_rotations`; unsupported chains and hands have none.
"""

from collections.abc import Sequence
from math import atan2

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion, Vector

from ...rig.animation.bone_channels import BoneRotation, rotation_property
from ...rig.chain.chain import RigChain
from ...rig.chain.hands import Hands
from ..writing import Turn

# Rest matrices are up to 2.4e-5 off rotations: each round leaves that part of what was missing.
_ROUNDS = 2
# A pose scaled unevenly by more than this part is unsupported.
_UNEVEN = 1e-3


class PlainHands:
    """Hands of a chain whose bones inherit all from their parents, in 3x3 matrices of 32 bits."""

    def __init__(self, rig: RigChain, hands: Hands) -> None:
        self.links = [
            (_beyond_parent(bone), Vector(axis))
            for bone, axis in zip(rig.pose_bones, rig.joints.axes, strict=True)
        ]
        self.hands = [_LeanHand(rig.armature.pose.bones[name]) for name in hands.bones]

    def rotations(
        self, turns: Sequence[Turn], shown: Sequence[bpy.types.PoseBone], base: Matrix | None, turned: Matrix
    ) -> list[BoneRotation] | None:
        """Return the hands' rotations for turns (n,) of the bones `shown`; None under an uneven scale.

        base: the pose matrix of the bone above them. turned: the rotation of what the hands follow, in the
        armature's pose space.
        """
        held = Matrix.Identity(3) if base is None else base.to_3x3()
        for turn, (beyond, axis), bone in zip(turns, self.links, shown, strict=True):
            whole = isinstance(turn, tuple)
            held = held @ beyond @ (Quaternion(turn).to_matrix() if whole else Matrix.Rotation(turn, 3, axis))
            if tuple(bone.scale) != (1.0, 1.0, 1.0):
                held = held @ Matrix.Diagonal(bone.scale)
        lengths = [column.length for column in held.col]
        if not max(lengths) <= (1.0 + _UNEVEN) * min(lengths):
            return None
        return [hand.rotation(held, turned) for hand in self.hands]


class _LeanHand:
    """One hand."""

    def __init__(self, bone: bpy.types.PoseBone) -> None:
        self.bone, self.name = bone, bone.name
        self.beyond = _beyond_parent(bone)
        self.rest = axes_of(bone.bone.matrix_local.to_3x3())

    def rotation(self, held: Matrix, turned: Matrix) -> BoneRotation:
        """Return the rotation that brings it, on a tip with axes `held`, to its rest orientation, turned."""
        wanted, before = turned @ self.rest, held @ self.beyond
        local = Matrix.Identity(3)
        for _ in range(_ROUNDS):
            local = local @ (axes_of(before @ local).transposed() @ wanted)
        mode = self.bone.rotation_mode
        return BoneRotation(
            self.name, rotation_property(mode), np.array([_channels(mode, local)], np.float64)
        )


def _channels(mode: str, local: Matrix) -> Sequence[float]:
    """Return the rotation channels of a rotation, by the values nearest to rest."""
    if mode not in ('QUATERNION', 'AXIS_ANGLE'):
        return tuple(local.to_euler(mode, Euler((0.0, 0.0, 0.0), mode)))
    found = local.to_quaternion()
    if found.w < 0.0:
        found.negate()
    if mode == 'QUATERNION':
        return tuple(found)
    vector = Vector(found[1:])
    axis = vector.normalized() if vector.length > 0.0 else Vector((0.0, 1.0, 0.0))
    return (2.0 * atan2(vector.length, found.w), *axis)


def axes_of(matrix: Matrix) -> Matrix:
    """Return the axes of a matrix (3x3), as `orientations` does of many."""
    x, y, z = matrix.col
    y = y.normalized()
    x = (x - x.dot(y) * y).normalized()
    across = x.cross(y)
    return Matrix((x, y, -across if across.dot(z) < 0.0 else across)).transposed()


def turned_by(hands: Hands, world: Matrix, aim: Matrix | None) -> Matrix:
    """Return the rotation of what hands follow, in the pose space of an armature at `world`."""
    if not hands.follow or aim is None:
        return Matrix.Identity(3)
    return axes_of(world.to_3x3()).transposed() @ axes_of(aim) @ Matrix(hands.offset.tolist())


def are_plain(rig: RigChain, hands: Hands) -> bool:
    """Return whether a chain's bones and its hands inherit all from their parents and hands have no locks."""
    bones = [rig.armature.pose.bones[name] for name in hands.bones]
    if any(any(bone.lock_rotation) or bone.lock_rotation_w for bone in bones):
        return False
    return all(
        bone.parent is None or (bone.bone.use_inherit_rotation and bone.bone.inherit_scale == 'FULL')
        for bone in (*rig.pose_bones, *bones)
    )


def _beyond_parent(bone: bpy.types.PoseBone) -> Matrix:
    """Return a bone's rest matrix (3x3) in its parent's space."""
    rest = bone.bone.matrix_local
    return (bone.parent.bone.matrix_local.inverted_safe() @ rest if bone.parent else rest).to_3x3()
