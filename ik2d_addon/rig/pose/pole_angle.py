# SPDX-License-Identifier: GPL-3.0-or-later
"""The pole angle at which a side of a chain faces its pole, and at which a chain keeps its pose."""

from collections.abc import Sequence
from contextlib import suppress

import bpy
import numpy as np
from mathutils import Vector

from ...core import IK2DError, Plane
from ...core.affine import rotations_about
from ...core.inputs import Floats
from ...core.swing import POLE
from ...core.swing.swing import units
from ..chain.checks.bones import chain_bones, rest_joints
from ..chain.planes import bend_of
from ..rest import rest_matrix

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
    axes = rest_matrix(bones[0].bone)[:3, :3]
    normal = np.cross(line, across)
    x, z = axes[:, 0] @ normal, axes[:, 2] @ normal
    angle = np.arctan2(-x, z)
    if (np.cos(angle) * axes[:, 0] + np.sin(angle) * axes[:, 2]) @ across < 0.0:
        angle += np.pi
    return float(np.angle(np.exp(1j * angle)))


def keep_pose(settings: bpy.types.PropertyGroup) -> None:
    """Set the angle at which a chain that has a pole keeps the pose that is shown, if there is one."""
    if settings.plane != POLE or settings.pole is None:
        return
    with suppress(IK2DError):  # the panel says what its bones lack
        bones = chain_bones(settings.id_data, settings.tip, settings.bone_count, settings.name)
        angle = angle_of_pose(settings, bones)
        if angle is not None:
            settings.pole_angle = angle


def angle_of_pose(settings: bpy.types.PropertyGroup, bones: Sequence[bpy.types.PoseBone]) -> float | None:
    """Return the pole angle, radians, at which a chain with a pole keeps the pose that is shown.

    The pole is turned from the frame of the posed line and plane to that of the rest pose's: the side that it
    is on there faces it. None for a limb that is straight, at rest or posed, and for a pole on the line.
    """
    rest, posed = rest_joints([*bones]), _posed_joints(bones)
    planes = Plane.of_bend(rest), Plane.of_bend(posed)
    if planes[0] is None or planes[1] is None:
        return None
    sign = -1.0 if bend_of(settings) < 0.0 else 1.0
    before, now = _frame(rest, planes[0].normal), _frame(posed, sign * planes[1].normal)
    armature, place = settings.id_data, _place(settings.pole, settings.pole_subtarget)
    pole = np.array(armature.matrix_world.inverted_safe() @ place, np.float64) - posed[0]
    line = units((posed[-1] - posed[0])[None], planes[1].x)[0]
    pole = rotations_about(line, np.array(settings.plane_turn)) @ pole
    return angle_to_side(bones, before @ now.T @ pole)


def _posed_joints(bones: Sequence[bpy.types.PoseBone]) -> Floats:
    """Return the joints (n + 1, 3) of bones as posed, root to tip, in the armature's space."""
    return np.array([*(bone.head for bone in bones), bones[-1].tail], np.float64)


def _frame(joints: Floats, normal: Floats) -> Floats:
    """Return axes (3, 3), in columns: along joints from root to tip, across them, and a plane's normal."""
    along = joints[-1] - joints[0]
    along = along - (along @ normal) * normal
    along /= np.linalg.norm(along) or 1.0
    return np.stack((along, np.cross(normal, along), normal), axis=1)


def _place(ob: bpy.types.Object, bone: str) -> Vector:
    """Return the place in the world of an object, or of the head of a bone of it."""
    is_free = ob.parent is None and not len(ob.constraints)
    matrix = ob.matrix_basis if is_free else ob.matrix_world  # the latter is not there yet of a new object
    posed = ob.pose.bones.get(bone) if bone and ob.pose is not None else None
    return matrix.translation if posed is None else matrix @ posed.head
