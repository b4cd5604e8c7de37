# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion that constraints add to a chain's first bone, from its evaluated pose."""

from typing import Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...core.affine import inverse, thinned
from ...core.inputs import Floats

# The largest entry that 32 bits add to a matrix that neither turns nor scales.
_SAME = 2e-6


def carried_by(
    bone: bpy.types.PoseBone, poses: NDArray[Any], bases: NDArray[Any], parents: Floats | None
) -> Floats:
    """Return the matrices (frames, 4, 4) by which constraints multiply a bone's pose from the left.

    poses: (frames, 4, 4) as evaluated. bases, parents: by its own channels, and of the bone above.
    """
    unmoved = posed_by_blender(bone, parents, bases)
    with np.errstate(all="ignore"):  # of a bone scaled to nothing, which is refused
        carried = poses.astype(np.float64) @ inverse(unmoved)
    turned = np.abs(carried[:, :3, :3] - np.eye(3)).max(axis=(1, 2)) > _SAME
    carried[~turned, :3, :3] = np.eye(3)
    carried[~turned, :3, 3] = poses[~turned, :3, 3] - unmoved[~turned, :3, 3]
    return thinned(carried)


def carried_now(bone: bpy.types.PoseBone) -> Floats:
    """Return the matrix (1, 4, 4) of `carried_by` of a bone in its current pose."""
    parents = None if bone.parent is None else np.array([bone.parent.matrix], np.float64)
    return carried_by(bone, np.array([bone.matrix]), np.array([bone.matrix_basis]), parents)


def posed_by_blender(bone: bpy.types.PoseBone, parents: Floats | None, bases: NDArray[Any]) -> Floats:
    """Return a bone's pose matrices of its own and its parent's, (frames, 4, 4) each, by Blender."""
    rest, convert = bone.bone.matrix_local, bone.bone.convert_local_to_pose
    if parents is None:
        poses = [convert(Matrix(basis), rest) for basis in bases]
    else:
        above = bone.parent.bone.matrix_local
        poses = [
            convert(Matrix(basis), rest, parent_matrix=Matrix(parent), parent_matrix_local=above)
            for basis, parent in zip(bases, parents, strict=True)
        ]
    return np.array(poses, np.float64)
