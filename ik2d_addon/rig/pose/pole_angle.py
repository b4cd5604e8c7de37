# SPDX-License-Identifier: GPL-3.0-or-later
"""The pole angle at which a side of a chain faces its pole."""

from collections.abc import Sequence

import bpy
import numpy as np

from ...core.inputs import Floats
from ..chain.chain import rest_joints

# Sides whose part across the line is smaller than this have no direction: rest poses are 32 bits.
_ALONG = 1e-6


def angle_to_side(bones: Sequence[bpy.types.PoseBone], side: Floats) -> float | None:
    """Return the pole angle, radians, at which a side (3,) of a chain, in rest space, faces its pole.

    Only the parts across the line from root to tip count. None for a side along that line.
    """
    joints = rest_joints([*bones])
    line = (joints[-1] - joints[0]) / (np.linalg.norm(joints[-1] - joints[0]) or 1.0)
    across = side - (side @ line) * line
    if np.linalg.norm(across) <= _ALONG * np.linalg.norm(side):
        return None
    axes = np.array(bones[0].bone.matrix_local.to_3x3(), np.float64)
    normal = np.cross(line, across)
    x, z = axes[:, 0] @ normal, axes[:, 2] @ normal
    angle = np.arctan2(-x, z)
    if (np.cos(angle) * axes[:, 0] + np.sin(angle) * axes[:, 2]) @ across < 0.0:
        angle += np.pi
    return float(np.angle(np.exp(1j * angle)))
