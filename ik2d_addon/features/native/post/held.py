# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose that drivers take for granted: of the bones between a post and its chain, and of the post."""

import bpy
import numpy as np
from mathutils import Quaternion

from ....core.inputs import Floats
from ....rig.chain.post import POST, bones_to_post, turning_axes

# A turn whose part about an axis is smaller has no turn to take out.
_NO_TURN = 1e-6


def above_chain(settings: bpy.types.PropertyGroup) -> list[bpy.types.PoseBone]:
    """Return a chain's post and the bones between, root to tip; none without a post above all its bones."""
    return bones_to_post(settings)[:-1]


def held_numbers(settings: bpy.types.PropertyGroup) -> Floats:
    """Return numbers of the pose that drivers take for granted; none without a post.

    The post's location, scale and rotation but for its turn, and the matrices of the bones between.
    """
    armature = settings.id_data
    post = armature.pose.bones.get(settings.post) if settings.plane == POST else None
    if post is None:
        return np.zeros(0)
    between = above_chain(settings)[1:]
    numbers = [_of_post(post, _axis(settings, post))]
    for bone in between:
        matrix = np.array(bone.matrix_basis)[:3]
        matrix[:, 3] /= bone.length
        numbers.append(matrix.ravel())
    return np.concatenate(numbers)


def _axis(settings: bpy.types.PropertyGroup, post: bpy.types.PoseBone) -> int:
    """Return the number of the axis that a post turns about; -1 where locks leave it none, or several."""
    if settings.post_axis != 'AUTO':
        return "XYZ".index(settings.post_axis)
    left = turning_axes(post)
    return left[0] if len(left) == 1 else -1


def _of_post(post: bpy.types.PoseBone, axis: int) -> Floats:
    """Return a post's axis, and its location, scale and rotation without its turn about it."""
    place = np.array(post.location) / post.length
    if post.rotation_mode in ('QUATERNION', 'AXIS_ANGLE'):
        whole = post.matrix_basis.to_quaternion()
        turn = Quaternion((whole.w, *(whole[1 + axis] * np.eye(3)[axis])))
        swing = whole @ turn.inverted() if turn.magnitude > _NO_TURN else whole
        rotation = np.ravel(swing.normalized().to_matrix())
    else:
        rotation = np.pad(np.delete(post.rotation_euler, axis), (0, 7))
    return np.concatenate(([axis], place, post.scale, rotation))
