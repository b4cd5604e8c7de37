# SPDX-License-Identifier: GPL-3.0-or-later
"""Local turns of one frame -> the bones' rotation channels, written only where these show others."""

from math import cos, sin

import bpy
from mathutils import Euler, Quaternion, Vector

from ..rig.chain.axes import EXACT, own_axis
from ..rig.chain.chain import RigChain
from ..rig.chain.joints import locked_channels
from ..rig.pose.rotations import rotation_property


class BoneWriter:
    """One turning bone of a chain: where its turn is written to."""

    def __init__(self, bone: bpy.types.PoseBone, axis) -> None:
        self.name = bone.name
        self.mode: str = bone.rotation_mode
        self.property = rotation_property(self.mode)
        self.axis: tuple[float, ...] = tuple(axis.tolist())
        self.own = own_axis(axis, EXACT)
        locks = locked_channels(bone)
        self.unlocked = [index for index, locked in enumerate(locks) if not locked]
        self.all_unlocked = not any(locks)

    def channels(self, turn: float) -> Quaternion | Euler | Vector:
        """Return the rotation channels for a turn about the bone's axis, in the numbers next to rest."""
        x, y, z = self.axis
        if self.mode == 'QUATERNION':
            sine = sin(0.5 * turn)
            return Quaternion((cos(0.5 * turn), x * sine, y * sine, z * sine))
        if self.mode == 'AXIS_ANGLE':
            return Vector((turn, x, y, z))
        if self.own is None:
            return Quaternion(self.axis, turn).to_euler(self.mode, Euler((0.0, 0.0, 0.0), self.mode))
        angles = [0.0, 0.0, 0.0]
        angles[self.own] = turn if self.axis[self.own] > 0.0 else -turn
        return Euler(angles, self.mode)


def writers_of(rig: RigChain) -> list[BoneWriter | None]:
    """Return what writes each bone's turn, root to tip; None for one that locks hold."""
    joints = zip(rig.pose_bones, rig.joints.axes, rig.joints.fixed, strict=True)
    return [None if fixed else BoneWriter(bone, axis) for bone, axis, fixed in joints]


def write(
    armature: bpy.types.Object,
    shown: list[bpy.types.PoseBone],
    writers: list[BoneWriter | None],
    turns: list[float],
) -> bool:
    """Write the turns (n,) to the armature where its bones `shown` have others; say whether any had.

    Where nothing differs nothing is written, as each write has Blender evaluate the armature again.
    """
    changed = False
    bones = armature.pose.bones
    for writer, turn, bone in zip(writers, turns, shown, strict=True):
        if writer is None:
            continue
        wanted, standing = writer.channels(turn), getattr(bone, writer.property)
        if writer.mode == 'AXIS_ANGLE':
            standing = Vector(standing)  # in 32 bits, as what is wanted
        if not writer.all_unlocked:
            unlocked, wanted = wanted, standing.copy()
            for index in writer.unlocked:
                wanted[index] = unlocked[index]
        if standing != wanted:
            setattr(bones[writer.name], writer.property, wanted)
            changed = True
    return changed
