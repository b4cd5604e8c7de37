# SPDX-License-Identifier: GPL-3.0-or-later
"""The freedom of a chain's joints: the user's limits and weights, and Blender's locked channels.

And the angle of the last bone, where it has one of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import radians

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import Plane
from ...core.affine import crossed
from ...core.inputs import Floats
from ...core.words import noted, refusal, say
from ..animation.bone_channels import locked_channels, rotation_property
from ..animation.fcurves import column
from ..animation.value_keys import curve_of
from ..rest import rest_axes, rest_bone, rest_matrix

# A locked channel counts as at rest below this (radians, or a part of a quaternion).
_AT_REST = 1e-4
# Angles of the last bone: none, or the target's.
_FREE, _FOLLOWING = 'FREE', 'TARGET'
# The choice of `plane` that another one would lose.
_ON_POST = 'POST'


@dataclass(frozen=True, eq=False)
class Joints:
    """The joints of a chain, root to tip. Angles are relative to rest."""

    limits: Floats  # (n, 2) radians, NaN where free
    weights: Floats  # (n,)
    fixed: NDArray[np.bool_]  # (n,) held by locked channels at the rotation that they have
    axes: Floats  # (n, 3) what each bone turns about, in its own space
    slants: Floats  # (n,) radians between that axis and the plane's normal: over 0 for hinges askew

    @property
    def askew(self) -> bool:
        """Whether a joint turns about another axis than the plane's normal."""
        return bool(self.slants.any())

    def about(self, bones: Sequence[bpy.types.PoseBone], normals: Sequence[Floats]) -> "Joints":
        """Return the same joints of pose bones in another plane, whose normal to each is (3,)."""
        return _joints(self.limits, self.weights, bones, normals)

    @property
    def held(self) -> NDArray[np.bool_]:
        """(n,) joints that may not turn freely: by limits, by locks, or by a weight of 0."""
        held: NDArray[np.bool_] = self.fixed | (self.weights == 0.0) | ~np.isnan(self.limits).all(axis=1)
        return held

    def limits_from(self, angles: Floats) -> Floats | None:
        """Return the solver's limits (n, 2) of a chain that has the angles (n,) before any joint turns."""
        held = np.where((self.fixed | (self.weights == 0.0))[:, None], 0.0, self.limits)
        return None if np.isnan(held).all() else angles[:, None] + held


def read_joints(
    settings: bpy.types.PropertyGroup, bones: list[bpy.types.PoseBone], normals: list[Floats]
) -> Joints:
    """Return the joints of bones, with the plane's normal (3,) in each one's space; see `read_limits`."""
    return _joints(*read_limits(settings, bones), bones, normals)


def read_limits(settings: bpy.types.PropertyGroup, bones: list[bpy.types.PoseBone]) -> tuple[Floats, Floats]:
    """Return the limits (n, 2) and weights (n,) of pose bones by `settings.joints`; others are free.

    Raises IK2DError for a range that runs backwards.
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
                raise refusal(
                    "Chain '{chain}': the limits of bone '{bone}' run backwards; set Min below Max",
                    chain=settings.name,
                    bone=bone.name,
                )
    return limits, weights


def _joints(
    limits: Floats, weights: Floats, bones: Sequence[bpy.types.PoseBone], normals: Sequence[Floats]
) -> Joints:
    turning = [turning_axis(bone, normal) for bone, normal in zip(bones, normals, strict=True)]
    fixed = np.array([axis is None for axis in turning])
    axes = np.array([n if axis is None else axis for axis, n in zip(turning, normals, strict=True)])
    if not any(axis is not n for axis, n in zip(turning, normals, strict=True)):
        return Joints(limits, weights, fixed, axes, np.zeros(len(axes)))
    # By the sine: the cosine is inexact for small angles.
    slants = np.arcsin(np.linalg.norm(crossed(axes, np.array(normals)), axis=1).clip(max=1.0))
    return Joints(limits, weights, fixed, axes, np.where(slants <= EXACT, 0.0, slants))


def turning_axis(bone: bpy.types.PoseBone, normal: Floats) -> Floats | None:
    """Return the local axis (3,) that a bone turns about, for the plane's normal (3,) in its space.

    It is the normal; with locks the nearest axis that they leave; None where that is beyond HINGE.
    """
    if is_held(bone):
        return None
    if not any(bone.lock_rotation):
        return normal
    axis = _left_of(bone, normal)
    length = float(np.linalg.norm(axis))
    return axis / length if length >= np.cos(HINGE) else None


def _left_of(bone: bpy.types.PoseBone, normal: Floats) -> Floats:
    """Return the part (3,) of the plane's normal, in a bone's space, that its locks leave."""
    axis: Floats = np.where(bone.lock_rotation[:], 0.0, normal)
    if bone.rotation_mode not in ('QUATERNION', 'AXIS_ANGLE'):  # Euler angles: one alone, or all three
        axis = np.where(np.arange(3) == int(np.argmax(np.abs(axis))), axis, 0.0)
    return axis


def axes_left(bone: bpy.types.PoseBone) -> list[int]:
    """Return the numbers (0..2) of the own axes that locks leave a bone; none where they hold it."""
    return [] if is_held(bone) else [index for index, locked in enumerate(bone.lock_rotation) if not locked]


def slant_of_locks(bone: bpy.types.PoseBone, normal: Floats) -> float:
    """Return the angle (radians) between the plane's normal and the nearest axis that locks leave a bone."""
    return float(np.arccos(min(1.0, float(np.linalg.norm(_left_of(bone, normal))))))


def hinge_axis(bone: bpy.types.PoseBone) -> int | None:
    """Return the number (0..2) of the one own axis that locks leave a bone; None for none."""
    left = axes_left(bone)
    return left[0] if len(left) == 1 else None


def is_held(bone: bpy.types.PoseBone) -> bool:
    """Return whether locks keep the bone from turning about any axis alone."""
    locked = locked_channels(bone)
    if not any(locked):
        return False
    four = bone.rotation_mode in ('QUATERNION', 'AXIS_ANGLE')
    return all(bone.lock_rotation) or (four and locked[0]) or _off_rest(bone)


def _off_rest(bone: bpy.types.PoseBone) -> bool:
    """Return whether a locked rotation channel is off its rest, or may be at another frame."""
    locks = locked_channels(bone)
    if bone.rotation_mode == 'AXIS_ANGLE' and not bone.lock_rotations_4d:
        return False  # all four are ours to write
    return any(
        locked and (abs(value) > _AT_REST or _animated(bone, index))
        for index, (locked, value) in enumerate(zip(locks, _channels(bone), strict=True))
    )


def _animated(bone: bpy.types.PoseBone, channel: int) -> bool:
    """Return whether a rotation channel has keys with different values."""
    curve = curve_of(bone.id_data, bone.path_from_id(rotation_property(bone.rotation_mode)), channel)
    if curve is None or not len(curve.keyframe_points):
        return False
    return bool(np.ptp(column(curve, "co")[:, 1]) > _AT_REST)


def _channels(bone: bpy.types.PoseBone) -> list[float]:
    """Return the values of the bone's rotation channels that a lock may hold: 0 at rest."""
    if bone.rotation_mode == 'QUATERNION':
        return [0.0, *bone.rotation_quaternion[1:]]
    if bone.rotation_mode == 'AXIS_ANGLE':
        return [0.0, *bone.rotation_axis_angle[1:]]
    return list(bone.rotation_euler)


# How near to a bone's own X, Y or Z an axis must be, as the sine of the angle between them:
# EXACT: to turn a single Euler channel. 32-bit rest matrices are no nearer.
EXACT = 1.5e-6
# CLOSE: for one channel to do for a lock or an angle curve; the tip leaves the plane by as little.
CLOSE = 1e-3
# ALIGNED: for Blender's limits, which are about a bone's own axes, to say anything of turns in the plane.
ALIGNED = 0.05
# The angle between the plane's normal and the one axis that locks leave, up to which the bone still turns
# about it: rigs are rarely rolled by more, and the report says what leaves the plane.
HINGE = radians(15.0)


def normal_in_bone(plane: Plane, bone: bpy.types.PoseBone) -> Floats:
    """Return the normal (3,) of a plane in a bone's own space, the axis that it turns about.

    With a rest matrix B that is not quite orthonormal, B^T n keeps the bone in the plane.
    """
    axis: Floats = normals_in(plane, rest_matrix(bone.bone))
    return axis


def normals_in(plane: Plane, rests: Floats) -> Floats:
    """Return the normals (.., 3) of a plane in the spaces of rest matrices (.., 4, 4)."""
    axes: Floats = np.swapaxes(rests[..., :3, :3], -1, -2) @ plane.normal
    axes /= np.sqrt((axes * axes).sum(axis=-1, keepdims=True))
    return axes


def own_axis(axis: Floats, sine: float) -> int | None:
    """Return the number (0..2) of the own axis that a unit axis (3,) is within a sine of; None for none."""
    nearest = int(np.argmax(np.abs(axis)))
    return nearest if np.linalg.norm(np.delete(axis, nearest)) <= sine else None


# --- The angle of the last bone ------------------------------------------------


@dataclass(frozen=True, eq=False)
class TipAngle:
    """The angle of a chain's last bone, counted from rest."""

    follow: bool  # it turns as the target does; else it stays as in rest
    rest: Floats  # (3, 3) the target's axes where it is not turned, in the armature's space
    offset: float  # radians
    first: bool  # before the tip's place, where both cannot be had


def read_tip_angle(
    settings: bpy.types.PropertyGroup,
    bone_count: int,
    *,
    slides: bool,
    askew: bool = False,
    own_tip: bool = False,
) -> TipAngle | None:
    """Return the angle of a chain's last bone, None where it is free.

    slides: whether bones slide. askew: whether hinges are. own_tip: the chain's tip bone is its target: an
    angle that follows the target stays as it is. Raises IK2DError for settings that no angle goes with.
    """
    if settings.tip_rotation == _FREE:
        return None
    _refuse_angle(settings, bone_count, slides, askew)
    follow = settings.tip_rotation == _FOLLOWING
    followed = (settings.id_data, settings.tip) if own_tip else (settings.target, settings.subtarget)
    bone = rest_bone(*followed)
    axes = np.eye(3) if bone is None else rest_axes(bone)
    offset = 0.0 if own_tip and follow else float(settings.tip_angle_offset)
    return TipAngle(follow, axes, offset, bool(settings.tip_angle_first))


def _refuse_angle(settings: bpy.types.PropertyGroup, bone_count: int, slides: bool, askew: bool) -> None:
    """Raise IK2DError for settings of a chain that its last bone's angle cannot be had with."""
    solver = {'ARC': noted("Circle"), 'CCD': 'CCD'}.get(settings.solver)
    stretches = settings.stretch != 1.0 or settings.compress != 1.0
    causes = (
        (bone_count < 2, say("takes two bones or more"), say("set Chain Length to 2 or more")),
        (
            solver,
            say("is not possible with the {solver} solver", solver=solver),
            say("set the solver to Automatic"),
        ),
        (slides, say("takes bones that do not slide"), say("turn Slide off")),
        (
            askew,
            say("takes hinges that agree"),
            say("unlock the rotation of its bones")
            if settings.plane == _ON_POST
            else say("unlock the rotation of its bones, or set Bends In to Hinges"),
        ),
        (stretches, say("takes bones of one length"), say("set Stretch and Shortest Length to 1")),
    )
    for refused, what, way_out in causes:
        if refused:
            raise refusal(
                "Chain '{chain}': an angle of the last bone {what}; {way_out}, or set Last Bone's "
                "Angle to Free",
                chain=settings.name,
                what=what,
                way_out=way_out,
            )
