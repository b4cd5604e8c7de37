# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing the turns of one frame to the bones' rotation channels, only where these show others."""

from collections.abc import Sequence
from math import atan2, isfinite, pi, sqrt
from typing import TypeAlias

import bpy
from mathutils import Euler, Quaternion, Vector

from ..core.swing.plain import Quaternion as Whole
from ..core.swing.plain import quaternion_about
from ..rig.animation.bone_channels import (
    BoneRotation,
    Value,
    channel_values,
    locked_channels,
    rotation_property,
    set_values,
    values_of,
    width_of,
)
from ..rig.chain.chain import RigChain
from ..rig.chain.hands import note_posed
from ..rig.chain.joints import EXACT, own_axis
from ..rig.pose.rotations import post_and_hinge
from ..rig.scene.lengths.slide_locations import slides_remembered
from ..rig.scene.lengths.stretch_scales import scales_remembered

Shown: TypeAlias = bpy.types.bpy_prop_collection  # evaluated pose bones
# A turn about a bone's own axis, in radians, or all of its rotation: of the first bone of a chain whose plane
# follows its target.
Turn: TypeAlias = float | Whole

# A quaternion's vector that is shorter than this has no direction.
_NO_AXIS = 1e-9
# Half the sine of a third Euler angle that is none.
_TWO_ALONE = 1.5e-6


class BoneWriter:
    """Rotation channels that the turn of one bone is written to."""

    def __init__(self, bone: bpy.types.PoseBone, axis, pair: tuple[int, int] | None = None) -> None:
        """Keep where the turn about an axis (3,) goes. pair: as in `channels_of`."""
        self.name = bone.name
        self.mode: str = bone.rotation_mode
        self.property = rotation_property(self.mode)
        self.axis: tuple[float, ...] = tuple(axis.tolist())
        self.own, self._pair = own_axis(axis, EXACT), pair
        locks = locked_channels(bone)
        self.unlocked = [index for index, locked in enumerate(locks) if not locked]
        self.all_unlocked = not any(locks)

    def channels(self, turn: Turn, shown: Sequence[float]) -> Quaternion | Euler | Vector:
        """Return the rotation channels for a turn. shown: the channels' values before."""
        values = self.values(turn, shown)
        if self.mode == 'QUATERNION':
            return Quaternion(values)
        return Vector(values) if self.mode == 'AXIS_ANGLE' else Euler(values, self.mode)

    def values(self, turn: Turn, shown: Sequence[float]) -> Sequence[float]:
        """Return the numbers of these channels: nearest to rest, or of a whole rotation to those shown."""
        if isinstance(turn, tuple):
            return self._whole(turn, shown)
        if self.mode == 'QUATERNION':
            return quaternion_about(self.axis, turn)
        if self.mode == 'AXIS_ANGLE':
            return turn, *self.axis
        if self.own is None:
            return tuple(Quaternion(self.axis, turn).to_euler(self.mode, Euler((0.0, 0.0, 0.0), self.mode)))
        angles = [0.0, 0.0, 0.0]
        angles[self.own] = turn if self.axis[self.own] > 0.0 else -turn
        return angles

    def _whole(self, turn: Whole, shown: Sequence[float]) -> Sequence[float]:
        """Return the numbers of a whole rotation that are nearest to those shown."""
        if not isfinite(sum(shown)):
            shown = (1.0, 0.0, 0.0, 0.0) if self.mode == 'QUATERNION' else (0.0,) * len(shown)
        if self.mode == 'QUATERNION':
            w, x, y, z = turn
            a, b, c, d = shown
            return turn if a * w + b * x + c * y + d * z >= 0.0 else (-w, -x, -y, -z)
        if self.mode != 'AXIS_ANGLE':
            two = self._pair and _two_eulers(*self._pair, turn, shown)
            if two:
                return two
            return tuple(Quaternion(turn).to_euler(self.mode, Euler(shown, self.mode)))
        w, x, y, z = turn
        before, a, b, c = shown
        sine = sqrt(x * x + y * y + z * z)
        if sine > _NO_AXIS:
            sign = -1.0 if a * x + b * y + c * z < 0.0 else 1.0
            a, b, c = sign * x / sine, sign * y / sine, sign * z / sine
            sine *= sign
        elif not (a or b or c):
            b = 1.0
        angle = 2.0 * atan2(sine, w)
        return angle + 2.0 * pi * round((before - angle) / (2.0 * pi)), a, b, c


def _two_eulers(last: int, first: int, turn: Whole, shown: Sequence[float]) -> Sequence[float]:
    """Return the Euler angles nearest to those shown, by the two that may do; () where they do not.

    last, first: the own axes (0..2) of the two, by when they turn.
    """
    w, a, b = turn[0], turn[1 + first], turn[1 + last]
    c = turn[4 - last - first] * (1.0 if (first - last) % 3 == 1 else -1.0)
    if abs(w * c - a * b) > _TWO_ALONE:
        return ()
    angles = [0.0, 0.0, 0.0]
    for axis, angle in (
        (last, atan2(2.0 * (w * b + a * c), w * w + a * a - b * b - c * c)),
        (first, atan2(2.0 * (w * a + b * c), w * w + b * b - a * a - c * c)),
    ):
        angles[axis] = angle + 2.0 * pi * round((shown[axis] - angle) / (2.0 * pi))
    return angles


def writers_of(rig: RigChain) -> list[BoneWriter | None]:
    """Return the writers of the bones' turns, root to tip; None for a bone that locks hold."""
    joints = zip(rig.pose_bones, rig.joints.axes, rig.joints.fixed, strict=True)
    pairs = [post_and_hinge(rig), *[None] * (len(rig.bones) - 1)]
    return [
        None if fixed else BoneWriter(bone, axis, pair)
        for (bone, axis, fixed), pair in zip(joints, pairs, strict=True)
    ]


class PoseWrites:
    """Rotation channels of one armature's bones that are to be set, in one call for each property."""

    def __init__(self, armature: bpy.types.Object) -> None:
        self._armature = armature
        self._values: dict[str, dict[str, Sequence[float]]] = {}  # by property and bone

    def add(
        self, shown: list[bpy.types.PoseBone], writers: list[BoneWriter | None], turns: Sequence[Turn]
    ) -> bool:
        """Add the turns (n,) of bones that `shown`, which are evaluated, do not have; return if any had not.

        Values that are the same are not written: each write makes Blender evaluate the armature again.
        """
        changed = False
        for writer, turn, bone in zip(writers, turns, shown, strict=True):
            if writer is None:
                continue
            standing = getattr(bone, writer.property)
            wanted = writer.channels(turn, standing)
            if writer.mode == 'AXIS_ANGLE':
                standing = Vector(standing)  # in 32 bits, as what is wanted
            if not writer.all_unlocked:
                unlocked, wanted = wanted, standing.copy()
                for index in writer.unlocked:
                    wanted[index] = unlocked[index]
            if standing != wanted:
                self._values.setdefault(writer.property, {})[writer.name] = wanted
                changed = True
        return changed

    def write(self) -> None:
        """Set them."""
        bones = self._armature.pose.bones
        rows = {name: row for row, name in enumerate(bones.keys())}
        for prop, values in self._values.items():
            width, buffer = width_of(prop), channel_values(bones, prop)
            for name, numbers in values.items():
                first = width * rows[name]
                buffer[first : first + width] = numbers
            bones.foreach_set(prop, buffer)
        if self._values:
            # The bones follow their object. A tag of its data would read as an edit of the bones.
            self._armature.update_tag(refresh={'OBJECT'})
        self._values = {}


def write_hands(rig: RigChain, shown: Shown, rotations: Sequence[BoneRotation]) -> bool:
    """Write rotations of hands where the evaluated pose bones `shown` have others; return whether any had."""
    changed = _changed(rig, shown, rotations)
    set_values(rig.armature, changed)
    if changed and rig.hands is not None:
        note_posed(rig.armature.path_resolve(rig.settings.path), rig.hands.bones)
    return bool(changed)


def _changed(rig: RigChain, shown: Shown, rotations: Sequence[BoneRotation]) -> list[Value]:
    """Return the values that differ from those of the evaluated pose bones `shown`."""
    values = values_of(rig.armature, rotations)
    return [value for value in values if getattr(shown[value[0]], value[1])[value[2]] != value[3]]


def changes_lengths(rig: RigChain) -> bool:
    """Return whether the chain's bones slide or stretch, or must be put back after that."""
    return rig.slides is not None or rig.stretching is not None


def write_lengths(rig: RigChain, shown: Shown, channels: Sequence[BoneRotation]) -> bool:
    """Write locations and scales where the evaluated pose bones `shown` have others; return whether any had.

    The chain's joints keep the values before, as after a solve.
    """
    changed = _changed(rig, shown, channels)
    if changed:
        scales = [channel for channel in channels if channel.property == "scale"]
        with slides_remembered([rig]), scales_remembered([rig], scales):
            set_values(rig.armature, changed)
    return bool(changed)
