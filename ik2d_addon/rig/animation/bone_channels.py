# SPDX-License-Identifier: GPL-3.0-or-later
"""The channels that turn a bone: their properties, locks, values and matrices."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, partial

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.affine import Rotate
from ...core.inputs import Floats
from . import remembered, versions
from .remembered import ChannelValue, plain, put_back_on_error


def locked_channels(bone: bpy.types.PoseBone, mode: str = "") -> list[bool]:
    """Return for each rotation channel of a mode whether it is locked. mode: "" for the bone's own.

    Without Lock 4D, the locks of axis angle and quaternion are about the axes that the bone may turn about.
    """
    locks, mode = list(bone.lock_rotation), mode or bone.rotation_mode
    if mode == 'AXIS_ANGLE' and not bone.lock_rotations_4d:
        return [all(locks)] * 4  # an axis needs all of its parts
    if mode in ('QUATERNION', 'AXIS_ANGLE'):
        return [bone.lock_rotations_4d and bone.lock_rotation_w, *locks]
    return locks


# Of a channel: bone, property, index and value.
Value = tuple[str, str, int, float]
# With a shorter axis, Blender does not turn.
_NO_AXIS = 1e-17
# The rotation properties of a pose bone, each for its own modes.
ROTATIONS = ("rotation_quaternion", "rotation_euler", "rotation_axis_angle")


def rotation_property(mode: str) -> str:
    """Return the one of ROTATIONS that a rotation mode uses."""
    named = {'QUATERNION': "rotation_quaternion", 'AXIS_ANGLE': "rotation_axis_angle"}
    return named.get(mode, "rotation_euler")


def channel_values(bones: bpy.types.bpy_prop_collection, name: str) -> NDArray[np.float32]:
    """Return the numbers of a property of all pose bones, flat, each bone's side by side."""
    values = np.empty(len(bones) * width_of(name), np.float32)
    bones.foreach_get(name, values)
    return values


def width_of(name: str) -> int:
    """Return how many numbers a rotation, location or scale property of a bone has."""
    return 4 if name in ("rotation_quaternion", "rotation_axis_angle") else 3


@dataclass(frozen=True, eq=False)
class BoneRotation:
    """The values of one bone's rotation channels over the frames."""

    bone: str
    property: str  # rotation_quaternion, rotation_euler or rotation_axis_angle
    values: Floats  # (frames, channels)
    mode: str = ""  # the rotation mode to set the bone to; "" where it has the right one
    turning: int | None = None  # the one channel to key, where the others are to rest at 0
    frames: Floats | None = None  # (frames,) its own key frames; None: those of the bake
    handles: Floats | None = None  # (2, frames, channels) before and after, at thirds; NaN: automatic
    generated: bool = True  # whether its keys are marked as a bake's; else they count as made by hand
    held: NDArray[np.bool_] | None = None  # (frames,) keys that hold their values up to the next; None: none

    def keys(self, index: int) -> bool:
        """Return whether a channel is keyed, rather than to rest at 0."""
        return self.turning in (None, index)

    def has_keys(self, armature: bpy.types.Object) -> bool:
        """Return whether any of its channels is keyed."""
        return any(map(self.keys, self.unlocked(armature)))

    def unlocked(self, armature: bpy.types.Object) -> list[int]:
        """Return the channels that may be written; locked ones are at rest already."""
        locks = locked_channels(armature.pose.bones[self.bone], self.mode)
        return [index for index in range(self.values.shape[1]) if not locks[index]]


@dataclass(frozen=True, eq=False)
class BoneChannels(BoneRotation):
    """The values of some channels of a bone's location or scale."""

    channels: tuple[int, ...] = ()  # those that are written; the others are not looked at

    def unlocked(self, armature: bpy.types.Object) -> list[int]:
        """Return the channels to write: the caller has checked the locks."""
        return list(self.channels)


def values_of(armature: bpy.types.Object, rotations: Sequence[BoneRotation]) -> list[Value]:
    """Return the values of the first frame that channels write, in 32 bits as Blender keeps them."""
    return [
        (rotation.bone, rotation.property, index, float(np.float32(rotation.values[0, index])))
        for rotation in rotations
        for index in rotation.unlocked(armature)
    ]


def set_values(armature: bpy.types.Object, values: Sequence[Value]) -> None:
    """Set channels of the armature's bones."""
    for bone, name, index, value in values:
        getattr(armature.pose.bones[bone], name)[index] = value


@contextmanager
def posed(armature: bpy.types.Object, rotations: Sequence[BoneRotation]) -> Iterator[None]:
    """Show the first frame of the rotations as the pose; put the old one back if what follows fails."""
    with put_back_on_error((armature.pose.bones[channel.bone], channel.property) for channel in rotations):
        set_values(armature, values_of(armature, rotations))
        bpy.context.view_layer.update()
        yield


def set_mode(armature: bpy.types.Object, rotation: BoneRotation) -> None:
    """Set a bone to the rotation mode that its rotation is for."""
    if rotation.mode:
        armature.pose.bones[rotation.bone].rotation_mode = rotation.mode


@contextmanager
def channels_kept(
    armature: bpy.types.Object,
    rotations: Sequence[BoneRotation],
    only_on_error: bool = False,
    others: Sequence[bpy.types.Object] = (),
) -> Iterator[None]:
    """Restore the bones' rotation modes and channels, which new keys change. others: with the same keys."""
    bones = dict.fromkeys(rotation.bone for rotation in rotations)
    # The mode first: it converts values.
    kept = dict.fromkeys(("rotation_mode", *ROTATIONS, *(rotation.property for rotation in rotations)))
    before = [
        (ob, bone.path_from_id(name), 0, plain(getattr(bone, name)))
        for ob in (armature, *others)
        if ob.pose is not None
        for bone in map(ob.pose.bones.get, bones)
        if bone is not None
        for name in kept
    ]
    by_hand = [curve for ob in (armature, *others) for curve in _animated(ob)] if only_on_error else []
    done = False
    try:
        yield
        done = True
    finally:
        if not (done and only_on_error):
            if by_hand:  # evaluate changed keys now rather than later
                bpy.context.view_layer.update()
            for channel in (*by_hand, *before):
                with suppress(ReferenceError, ValueError, AttributeError):  # deleted meanwhile
                    remembered.set_values([channel])


def _animated(ob: bpy.types.Object) -> Iterator[ChannelValue]:
    """Yield the channels (object, path, index, value) that an object's F-Curves animate, as they are now.

    Except chains' settings, whose update functions would run when they are set.
    """
    for curve in versions.existing_fcurves(ob):
        path, index = curve.data_path, curve.array_index
        if path.endswith("]") or path.startswith("ik2d"):
            continue
        with suppress(ValueError, AttributeError, IndexError):
            value = remembered.value_of(ob, path, index)
            if not isinstance(value, str):
                yield ob, path, index, value


def matrices(mode: str, values: Floats) -> Floats:
    """Return the rotations (frames, 3, 3) that Blender makes of rotation channels (frames, channels).

    In memory the frames of each number are side by side: numpy multiplies these in a fifth of the time.
    """
    axes = np.broadcast_to(turning(mode, values)(np.eye(3)[..., None]), (3, 3, len(values)))
    return axes.transpose(2, 0, 1)


def rotations(mode: str, values: Floats) -> Floats:
    """Return matrices (.., 3, 3) of a rotation mode's channels (.., 3 or 4), NaN without axis."""
    return _still(mode, *values.tolist()) if values.ndim == 1 else matrices(mode, values)


@lru_cache(maxsize=1 << 12)
def _still(mode: str, *values: float) -> Floats:
    """Return a cached read-only matrix of channels that do not change."""
    result: Floats = matrices(mode, np.array([values]))[0]
    result.flags.writeable = False
    return result


def turning(mode: str, values: Floats) -> Rotate:
    """Return a function that turns places as Blender does by rotation channels (frames, channels).

    Places are (3, frames), or (3, .., 1) of several.
    """
    if mode == 'QUATERNION':
        return partial(_turned_by, np.ascontiguousarray(values.T))
    if mode == 'AXIS_ANGLE':
        sizes = np.linalg.norm(values[:, 1:], axis=1, keepdims=True)
        half, axes = values[:, :1] / 2.0, values[:, 1:] / np.where(sizes > _NO_AXIS, sizes, np.nan)
        return partial(_turned_by, np.concatenate((np.cos(half), np.sin(half) * axes), axis=1).T)
    return partial(_turned_in_order, mode, values)


def _turned_by(quaternions: Floats, places: Floats) -> Floats:
    """Return places (3, frames) turned by quaternions (4, frames) of any length.

    With w and the vector u of one:  v + 2 / |q|^2 (w u x v + u x (u x v)).
    """
    w, u = quaternions[0], quaternions[1:]
    across = _crossed(u, places)
    turned: Floats = 2.0 / (quaternions * quaternions).sum(axis=0) * (w * across + _crossed(u, across))
    return places + turned


def _turned_in_order(order: str, angles: Floats, places: Floats) -> Floats:
    """Return places (3, frames) turned by Euler angles (frames, 3), about one axis after the other."""
    for letter in order:
        axis = 'XYZ'.index(letter)
        if angles[:, axis].any():
            following, last = (axis + 1) % 3, (axis + 2) % 3
            cosines, sines = np.cos(angles[:, axis]), np.sin(angles[:, axis])
            turned = np.empty((*places.shape[:-1], len(angles)))
            turned[axis] = places[axis]
            turned[following] = cosines * places[following] - sines * places[last]
            turned[last] = sines * places[following] + cosines * places[last]
            places = turned
    return places


def _crossed(a: Floats, b: Floats) -> Floats:
    """Return the cross products of vectors (3, frames)."""
    return np.array((a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]))
