# SPDX-License-Identifier: GPL-3.0-or-later
"""A bone at rest: its matrix and axes in its armature's space, as arrays."""

from collections.abc import Sequence

import bpy
import numpy as np

from ..core.affine import orientations
from ..core.inputs import Floats


def rest_bone(ob: bpy.types.Object | None, name: str) -> bpy.types.Bone | None:
    """Return an armature object's bone at rest; None for other objects, and where it has none of the name."""
    return ob.data.bones.get(name) if name and ob is not None and ob.type == 'ARMATURE' else None


def rest_matrix(bone: bpy.types.Bone) -> Floats:
    """Return a bone's rest matrix (4, 4): the numbers of its `matrix_local`, 32 bits each, as 64 bits."""
    return np.array(bone.matrix_local, np.float64)


def rest_matrices(bones: Sequence[bpy.types.PoseBone]) -> Floats:
    """Return the rest matrices (n, 4, 4) of pose bones."""
    return np.array([bone.bone.matrix_local for bone in bones], np.float64)


def rest_axes(bone: bpy.types.Bone) -> Floats:
    """Return a bone's rest axes (3, 3) in columns: made orthonormal, which 32 bits are not quite."""
    return orientations(rest_matrix(bone)[:3, :3])


def rest_tail(bone: bpy.types.Bone) -> Floats:
    """Return a bone's tail (3,) at rest, as the pose has it: `tail_local` is up to 1e-5 off."""
    tail: Floats = rest_matrix(bone) @ (0.0, bone.length, 0.0, 1.0)
    return tail[:3]
