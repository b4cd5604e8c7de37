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
from ..writing import Shown, Turn

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
        pose_bones = rig.armature.pose.bones
        self.hands = [
            _PlainHand(pose_bones[name], kind) for name, kind in zip(hands.bones, hands.parts, strict=True)
        ]
        self._bears = {hand.above for hand in self.hands}

    def hold(self, bones: Shown) -> bool:
        """Return whether the hands among pose bones have the rotation modes that were read, and are free."""
        return all(
            bones[hand.name].rotation_mode == hand.mode
            and _is_free(bones[hand.name], hand.name in self._bears)
            for hand in self.hands
        )

    def rotations(
        self, turns: Sequence[Turn], scales: Sequence[Vector], base: Matrix | None, turned: Sequence[Matrix]
    ) -> list[BoneRotation] | None:
        """Return the hands' rotations for turns (n,) of the bones; None under an uneven scale.

        scales: of the bones. base: the pose matrix of the bone above them. turned: the rotation from rest of
        each part of what the hands follow, in the armature's pose space.
        """
        held = Matrix.Identity(3) if base is None else base.to_3x3()
        for turn, (beyond, axis), scale in zip(turns, self.links, scales, strict=True):
            whole = isinstance(turn, tuple)
            held = held @ beyond @ (Quaternion(turn).to_matrix() if whole else Matrix.Rotation(turn, 3, axis))
            if tuple(scale) != (1.0, 1.0, 1.0):
                held = held @ Matrix.Diagonal(scale)
        lengths = [column.length for column in held.col]
        if not max(lengths) <= (1.0 + _UNEVEN) * min(lengths):
            return None
        rotations, posed = [], {}
        for hand in self.hands:
            before = posed.get(hand.above, held) @ hand.beyond
            local = hand.local(before, turned[hand.part])
            if hand.name in self._bears:
                posed[hand.name] = before @ local
            values = np.array([_channels(hand.mode, local)], np.float64)
            rotations.append(BoneRotation(hand.name, rotation_property(hand.mode), values))
        return rotations


class _PlainHand:
    """One hand."""

    def __init__(self, bone: bpy.types.PoseBone, kind: int) -> None:
        self.name, self.above, self.part = bone.name, bone.parent.name, kind
        self.mode: str = bone.rotation_mode
        self.beyond = _beyond_parent(bone)
        self.rest = axes_of(bone.bone.matrix_local.to_3x3())

    def local(self, before: Matrix, turned: Matrix) -> Matrix:
        """Return the local rotation (3x3) from axes `before` to its rest orientation, turned."""
        wanted, local = turned @ self.rest, Matrix.Identity(3)
        for _ in range(_ROUNDS):
            local = local @ (axes_of(before @ local).transposed() @ wanted)
        return local


def _channels(mode: str, local: Matrix) -> Sequence[float]:
    """Return the rotation channels of a rotation, by the values nearest to rest."""
    if mode not in ('QUATERNION', 'AXIS_ANGLE'):
        return tuple(local.to_euler(mode, Euler((0.0, 0.0, 0.0), mode)))
    quaternion = local.to_quaternion()
    if quaternion.w < 0.0:
        quaternion.negate()
    if mode == 'QUATERNION':
        return tuple(quaternion)
    vector = Vector(quaternion[1:])
    axis = vector.normalized() if vector.length > 0.0 else Vector((0.0, 1.0, 0.0))
    return (2.0 * atan2(vector.length, quaternion.w), *axis)


def axes_of(matrix: Matrix) -> Matrix:
    """Return the axes of a matrix (3x3), as `orientations` does of many."""
    x, y, z = matrix.col
    y = y.normalized()
    x = (x - x.dot(y) * y).normalized()
    across = x.cross(y)
    return Matrix((x, y, -across if across.dot(z) < 0.0 else across)).transposed()


class ControlTurn:
    """The rotation of what hands follow, in the pose space of their armature."""

    def __init__(self, hands: Hands) -> None:
        self._follows, self._offset = hands.follow, Matrix(hands.offset.tolist())
        self._world, self._into = Matrix(), Matrix.Identity(3)  # the armature's, seen last, and its axes

    def __call__(self, world: Matrix, aim: Matrix | None) -> Matrix:
        """Return it (3x3) for an armature at `world` and the target's axes."""
        if not self._follows or aim is None:
            return self._offset
        if world != self._world:
            self._world, self._into = world.copy(), axes_of(world.to_3x3()).transposed()
        return self._into @ axes_of(aim) @ self._offset


def _is_free(bone: bpy.types.PoseBone, bears: bool) -> bool:
    """Return whether a hand has no locks, nor a scale where it bears another."""
    if any(bone.lock_rotation) or bone.lock_rotation_w:
        return False
    return not bears or tuple(bone.scale) == (1.0, 1.0, 1.0)


def are_plain(rig: RigChain, hands: Hands) -> bool:
    """Return whether a chain's bones and its hands inherit all from their parents and hands have no locks."""
    bones = [rig.armature.pose.bones[name] for name in hands.bones]
    bearing = {bone.parent.name for bone in bones}
    if not all(_is_free(bone, bone.name in bearing) for bone in bones):
        return False
    return all(
        bone.parent is None or (bone.bone.use_inherit_rotation and bone.bone.inherit_scale == 'FULL')
        for bone in (*rig.pose_bones, *bones)
    )


def _beyond_parent(bone: bpy.types.PoseBone) -> Matrix:
    """Return a bone's rest matrix (3x3) in its parent's space."""
    rest = bone.bone.matrix_local
    return (bone.parent.bone.matrix_local.inverted_safe() @ rest if bone.parent else rest).to_3x3()
