# SPDX-License-Identifier: GPL-3.0-or-later
"""The axis in a bone that it turns about in the chain's plane, and which of the bone's own it is."""

from math import radians

import bpy
import numpy as np

from ...core import Plane
from ...core.inputs import Floats

# How near to a bone's own X, Y or Z an axis must be, as the sine of the angle between them:
# EXACT: to turn a single Euler channel. 32-bit rest matrices are no nearer.
EXACT = 1.5e-6
# CLOSE: for one channel to do for a lock or an angle curve; the tip leaves the plane by as little.
CLOSE = 1e-3
# ALIGNED: for Blender's limits, which are about a bone's own axes, to say anything of turns in the plane.
ALIGNED = 0.05
# How far the one axis that locks leave to a bone may be off the plane's normal for the bone to turn
# about it all the same: rigs are rarely rolled by more, and what leaves the plane is told.
HINGE = radians(15.0)


def normal_in_bone(plane: Plane, bone: bpy.types.PoseBone) -> Floats:
    """Return the normal (3,) of a plane in rest space as a bone's own rest matrix sees it.

    It is what the bone turns about. With a rest matrix B that is not quite orthonormal, it is B^T n
    that keeps the bone in the plane.
    """
    axis: Floats = normals_in(plane, np.array(bone.bone.matrix_local, np.float64))
    return axis


def normals_in(plane: Plane, rests: Floats) -> Floats:
    """Return the same (.., 3) of rest matrices (.., 4, 4)."""
    axes: Floats = np.swapaxes(rests[..., :3, :3], -1, -2) @ plane.normal
    axes /= np.sqrt((axes * axes).sum(axis=-1, keepdims=True))
    return axes


def own_axis(axis: Floats, sine: float) -> int | None:
    """Return which of a bone's own axes (0..2) a unit axis (3,) is, to within a sine; None for none."""
    nearest = int(np.argmax(np.abs(axis)))
    return nearest if np.linalg.norm(np.delete(axis, nearest)) <= sine else None
