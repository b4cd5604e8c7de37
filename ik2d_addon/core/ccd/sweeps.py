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
    for i in range(n - 1, -1, -1):
        np.subtract(tip, joints[i], arm)
        np.subtract(target, joints[i], aim)
        # The joint's place is no longer needed: what turns it goes there. Adding zero makes -0.0 positive.
        np.multiply(np.conjugate(arm, moved), aim, joints[i])
        joints[i] += 0.0
        np.multiply(np.arctan2(joints[i].imag, joints[i].real, angle), bones.weights[i], turns[i])
        # The tip moves by (e^ia - 1) arm = 2 t / (1 + t^2) (i - t) arm, where t = tan(a / 2).
        tangent = np.tan(np.multiply(turns[i], 0.5, angle), angle)
        np.multiply(tangent, tangent, moved.real)
        moved.real += 1.0
        np.divide(tangent, moved.real, moved.imag)
        moved.imag *= 2.0
        np.multiply(moved.imag, tangent, moved.real)
        np.negative(moved.real, moved.real)
        moved *= arm
        tip += moved
    found: Floats = poses + turns
    own *= own
    np.add(joints.real[:n], joints.imag[:n], scale)
    undefined = np.flatnonzero(scale.min(axis=0) <= UNDEFINED_ANGLE * UNDEFINED_ANGLE)
    if undefined.size:
        x, y = points[:, undefined]
        found[:, undefined] = sweep(bones, list(poses[:, undefined]), x, y, ARRAYS)
    return found
