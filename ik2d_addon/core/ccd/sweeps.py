# SPDX-License-Identifier: GPL-3.0-or-later
"""A sweep for many poses at once, of joints that turn freely, on whole arrays that are written in place.

Points are complex numbers here: what turns a to b is conj(a) b, scaled by the lengths of both.
"""

import numpy as np

from ..arithmetic import ARRAYS, carved, put_cos_and_sin, summed_up
from ..inputs import Floats
from .sweep import UNDEFINED_ANGLE, Bones, sweep


def swept(bones: Bones, poses: Floats, points: Floats, room: Floats) -> Floats:
    """Return poses (n, m) after one sweep of CCD towards points (2, m), as `sweep`; limits do not count.

    room: at least 4 (n + 1) m floats, which are overwritten.
    """
    n, m = poses.shape
    own, turns, scale = carved(room, (n + 1, 2 * m), (n, m), (n, m))
    joints = own.view(np.complex128)
    joints[0] = 0.0
    np.copyto(turns, poses)
    put_cos_and_sin(summed_up(turns), joints.real[1:], joints.imag[1:])
    own[1:] *= np.reshape(bones.lengths, (n, 1))
    summed_up(own)
    target, tip = points[0] + 1j * points[1], joints[n].copy()
    arm, aim, moved, angle = np.empty_like(tip), np.empty_like(tip), np.empty_like(tip), np.empty(m)
    part, cross = moved.real, moved.imag
    each = zip(joints, joints.real, joints.imag, turns, bones.weights, strict=False)
    for joint, along, across, turn, weight in reversed(list(each)):
        np.subtract(tip, joint, arm)
        np.subtract(target, joint, aim)
        # The joint's place is no longer needed: what turns it goes there. Adding zero makes -0.0 positive.
        np.multiply(np.conjugate(arm, moved), aim, joint)
        np.add(joint, 0.0, joint)
        np.multiply(np.arctan2(across, along, angle), weight, turn)
        # The tip moves by (e^ia - 1) arm = 2 t / (1 + t^2) (i - t) arm, where t = tan(a / 2).
        tangent = np.tan(np.multiply(turn, 0.5, angle), angle)
        np.multiply(tangent, tangent, part)
        np.add(part, 1.0, part)
        np.divide(tangent, part, cross)
        np.multiply(cross, 2.0, cross)
        np.multiply(cross, tangent, part)
        np.negative(part, part)
        np.multiply(moved, arm, moved)
        np.add(tip, moved, tip)
    found: Floats = poses + turns
    own *= own
    np.add(joints.real[:n], joints.imag[:n], scale)
    undefined = np.flatnonzero(scale.min(axis=0) <= UNDEFINED_ANGLE * UNDEFINED_ANGLE)
    if undefined.size:
        x, y = points[:, undefined]
        found[:, undefined] = sweep(bones, list(poses[:, undefined]), x, y, ARRAYS)
    return found
