# SPDX-License-Identifier: GPL-3.0-or-later
"""How the joints of a chain may turn: the user's limits and weights, and Blender's locked channels."""

from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import IK2DError
from ..core.inputs import Floats
from . import compat
from .axes import CLOSE

ROTATION_PROPERTIES = {'QUATERNION': "rotation_quaternion", 'AXIS_ANGLE': "rotation_axis_angle"}
# A locked channel counts as standing at rest below this (radians, or a part of a quaternion).
_AT_REST = 1e-4


@dataclass(frozen=True, eq=False)
class Joints:
    """The joints of a chain, root to tip. Angles are relative to rest."""

    limits: Floats  # (n, 2) radians, NaN where free
    weights: Floats  # (n,)
    fixed: NDArray[np.bool_]  # (n,) held by locked channels at the rotation that they have

    @property
    def plain(self) -> bool:
        """Whether every joint may turn freely."""
        return bool(np.isnan(self.limits).all() and (self.weights == 1.0).all() and not self.fixed.any())

    def limits_from(self, angles: Floats) -> Floats | None:
        """Return the solver's limits (n, 2) of a chain that has the angles (n,) before any joint turns."""
        held = np.where((self.fixed | (self.weights == 0.0))[:, None], 0.0, self.limits)
        return None if np.isnan(held).all() else angles[:, None] + held


def read_joints(
    settings: bpy.types.PropertyGroup, bones: list[bpy.types.PoseBone], axes: list[Floats]
) -> Joints:
    """Return the joints of pose bones that turn about the local axes (3,) each.

    A bone without an entry of its name in `settings.joints` is free. Raises IK2DError for a range
    that runs backwards.
    """
    limits, weights = np.full((len(bones), 2), np.nan), np.ones(len(bones))
    for i, bone in enumerate(bones):
        joint = settings.joints.get(bone.name)
        if joint is None:
            continue
        weights[i] = joint.weight
        if joint.use_limit:
            limits[i] = joint.limit_min, joint.limit_max
            if joint.limit_min > joint.limit_max:
                raise IK2DError(
                    f"Chain '{settings.name}': the limits of bone '{bone.name}' run backwards;"
                    " set Min below Max"
                )
    fixed = np.array([is_locked(bone, axis) for bone, axis in zip(bones, axes, strict=True)])
    return Joints(limits, weights, fixed)


def locked_channels(bone: bpy.types.PoseBone) -> list[bool]:
    """Return for each rotation channel of the bone's mode whether it is locked."""
    locks = list(bone.lock_rotation)
    if bone.rotation_mode in ('QUATERNION', 'AXIS_ANGLE'):
        return [bone.lock_rotations_4d and bone.lock_rotation_w, *locks]
    return locks


def is_locked(bone: bpy.types.PoseBone, axis: Floats) -> bool:
    """Return whether locked channels keep the bone from turning about a local axis (3,) alone."""
    locks = locked_channels(bone)
    if not any(locks):
        return False
    needed = np.abs(axis) > CLOSE
    values, rest = _channels(bone)
    if len(locks) == 4:
        needed = np.array([True, *needed])
    elif needed.sum() > 1:
        needed[:] = True  # an Euler rotation about a slanted axis moves all three
    astray = (np.abs(values - rest) > _AT_REST) | _animated(bone, len(locks))
    return bool((np.array(locks) & (needed | astray)).any())


def _animated(bone: bpy.types.PoseBone, channels: int) -> NDArray[np.bool_]:
    """Return which rotation channels have keys that differ: they may stand elsewhere at another frame."""
    path = bone.path_from_id(ROTATION_PROPERTIES.get(bone.rotation_mode, "rotation_euler"))
    moved = np.zeros(channels, np.bool_)
    for curve in compat.existing_fcurves(bone.id_data):
        if curve.data_path == path:
            values = [key.co[1] for key in curve.keyframe_points]
            moved[curve.array_index] = bool(values) and max(values) - min(values) > _AT_REST
    return moved


def _channels(bone: bpy.types.PoseBone) -> tuple[Floats, Floats]:
    """Return the values of the bone's rotation channels, and what they are at rest."""
    if bone.rotation_mode == 'QUATERNION':
        return np.array(bone.rotation_quaternion), np.array((1.0, 0.0, 0.0, 0.0))
    if bone.rotation_mode == 'AXIS_ANGLE':  # at rest, the axis may be any
        values = np.array(bone.rotation_axis_angle)
        return values, np.array((0.0, *values[1:]))
    return np.array(bone.rotation_euler), np.zeros(3)
