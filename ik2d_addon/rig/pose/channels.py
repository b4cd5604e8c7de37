# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotation matrices -> a bone's rotation channels, in its own rotation mode and without jumps."""

import bpy
import numpy as np
from mathutils import Matrix, Quaternion

from ...core.inputs import Floats
from ..animation.bone_channels import locked_channels, matrices
from ..chain.hands import REST

# Rounds over the Euler angles that are not locked, each the best for the others.
_SWEEPS = 30
# A quaternion's vector that is shorter than this has no direction.
_NO_AXIS = 1e-9
# The sine of a third Euler angle that is none.
_TWO_ALONE = 3e-6


def blended(free: Floats, turned: Floats, influence: Floats) -> Floats:
    """Return rotations (frames, 3, 3) a part of the way from the first to the second."""
    if (influence == 1.0).all():
        return turned
    blended = turned.copy()
    for i in np.flatnonzero(influence != 1.0):
        one, other = (Matrix(each[i].tolist()).to_quaternion() for each in (free, turned))
        blended[i] = one.slerp(other, float(influence[i])).to_matrix()
    return blended


def is_locked(bone: bpy.types.PoseBone) -> bool:
    """Return whether locks keep a bone from turning at all."""
    four = bone.rotation_mode in ('QUATERNION', 'AXIS_ANGLE') and bone.lock_rotations_4d
    return all(bone.lock_rotation) or (four and bone.lock_rotation_w)


def channels_of(
    bone: bpy.types.PoseBone,
    turned: Floats,
    current: Floats,
    before: Floats | None,
    pair: tuple[int, int] | None = None,
) -> Floats:
    """Return the channels (frames, c) for rotations (frames, 3, 3), or the nearest that locks leave.

    own: (frames, c) without the chain, for locked channels. before: (c,) to continue from. pair: the own
    axes (0..2) of two Euler angles that may do alone, the one that turns last first.
    """
    if is_locked(bone):
        return current
    if bone.rotation_mode not in ('QUATERNION', 'AXIS_ANGLE'):
        values = None if pair is None else _two_eulers(*pair, turned, before)
        if values is not None:
            return values
        return _eulers(bone, turned, current, before)
    values = _quaternions(turned, np.array(bone.lock_rotation))
    go_on = _axis_angles if bone.rotation_mode == 'AXIS_ANGLE' else _alike
    return np.where(locked_channels(bone), current, go_on(values, before))


def _quaternions(turned: Floats, locks: Floats) -> Floats:
    """Return quaternions (frames, 4) of rotations: the nearest that turn about no locked axis (3,)."""
    quaternions = np.array([Matrix(each).to_quaternion() for each in turned.tolist()], np.float64)
    quaternions[:, 1:][:, locks.astype(bool)] = 0.0
    lengths = np.linalg.norm(quaternions, axis=1, keepdims=True)
    return np.where(lengths > _NO_AXIS, quaternions / np.maximum(lengths, _NO_AXIS), (1.0, 0.0, 0.0, 0.0))


def _alike(quaternions: Floats, before: Floats | None) -> Floats:
    """Return quaternions (frames, 4) with continuous signs."""
    first = np.array(REST["rotation_quaternion"]) if before is None else before
    along = (quaternions * np.vstack((first, quaternions[:-1]))).sum(axis=1)
    alike: Floats = quaternions * np.cumprod(np.where(along < 0.0, -1.0, 1.0))[:, None]
    return alike


def _axis_angles(quaternions: Floats, before: Floats | None) -> Floats:
    """Return continuous angles and axes (frames, 4)."""
    first = None if before is None else np.array(Quaternion(before[1:], before[0]), np.float64)
    alike = _alike(quaternions, first)
    sines = np.linalg.norm(alike[:, 1:], axis=1)
    known = np.flatnonzero(sines > _NO_AXIS)
    values = np.zeros((len(alike), 4))
    axis = alike[known[0], 1:] / sines[known[0]] if len(known) else np.array((0.0, 1.0, 0.0))
    last = 0.0
    if before is not None and before[1:].any():
        last, axis = float(before[0]), before[1:]
    for i, (quaternion, sine) in enumerate(zip(alike, sines, strict=True)):
        if sine > _NO_AXIS:
            direction = quaternion[1:] / sine
            axis = direction if direction @ axis >= 0.0 else -direction
        angle = 2.0 * np.arctan2(quaternion[1:] @ axis, quaternion[0])
        last = angle + 2.0 * np.pi * np.round((last - angle) / (2.0 * np.pi))
        values[i] = last, *axis
    return values


def _eulers(bone: bpy.types.PoseBone, turned: Floats, current: Floats, before: Floats | None) -> Floats:
    """Return continuous Euler angles (frames, 3); locked ones stay."""
    order, locks = bone.rotation_mode, np.array(locked_channels(bone))
    values = np.empty((len(turned), 3))
    last = Matrix.Identity(3).to_euler(order)
    if before is not None:
        last[:] = before
    for i, each in enumerate(turned.tolist()):
        last = Matrix(each).to_euler(order, last)
        values[i] = last
    if not locks.any():
        return values
    values[:, locks] = current[:, locks]
    free = [k for k in range(3) if not locks[k]]
    for _ in range(_SWEEPS if len(free) > 1 else 1):
        for k in free:
            values[:, k] = _best_angle(order, values, k, turned)
    start = np.zeros((1, 3)) if before is None else before[None]
    going_on: Floats = np.unwrap(np.vstack((start, values)), axis=0)[1:]
    return going_on


def _two_eulers(last: int, first: int, turned: Floats, before: Floats | None) -> Floats | None:
    """Return continuous Euler angles (frames, 3) of rotations by two of them; None where others are not 0.

    last, first: the own axes (0..2) of the two, by when they turn.
    """
    if np.abs(turned[:, last, first]).max(initial=0.0) > _TWO_ALONE:
        return None
    other = 3 - last - first
    sign = 1.0 if (first - last) % 3 == 1 else -1.0
    values = np.zeros((len(turned) + 1, 3))
    if before is not None:
        values[0] = before
    values[1:, last] = np.arctan2(sign * turned[:, other, first], turned[:, first, first])
    values[1:, first] = np.arctan2(sign * turned[:, last, other], turned[:, last, last])
    pair = [last, first]
    values[:, pair] = np.unwrap(values[:, pair], axis=0)
    return values[1:]


def _best_angle(order: str, values: Floats, k: int, wanted: Floats) -> Floats:
    """Return the angle (frames,) about one axis that brings Euler angles nearest to rotations.

    With the parts before and after it, R = A R_k B, it is that of the largest trace of B W^T A R_k.
    """
    later, earlier = values.copy(), values.copy()
    place = order.index('XYZ'[k])
    for letter in order[: place + 1]:
        later[:, 'XYZ'.index(letter)] = 0.0
    for letter in order[place:]:
        earlier[:, 'XYZ'.index(letter)] = 0.0
    n = matrices(order, earlier) @ np.swapaxes(wanted, 1, 2) @ matrices(order, later)
    i, j = (k + 1) % 3, (k + 2) % 3
    angle: Floats = np.arctan2(n[:, i, j] - n[:, j, i], n[:, i, i] + n[:, j, j])
    return angle
