# SPDX-License-Identifier: GPL-3.0-or-later
"""A mechanism on the frame that Blender shows: its drivers' values, unkeyed edits included, and its pose.

As a bake solves it on that frame. Live, Pose This Frame and a drag of a point pose it by this.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import ArrayLike

from ...core.inputs import Floats
from ...core.mechanism import MechanismSolution
from ...core.mechanism.joints import Body
from ..animation.bone_channels import BoneRotation, Value, matrices, rotation_property, set_values, values_of
from ..animation.versions import existing_fcurves
from ..chain.joints import CLOSE, own_axis
from ..pose.keyed_pose import channel_turns
from .aiming import aimed, fixed_bones
from .posing import Motions, channels_at, local_turns, pose_of, solution_of, written_bones
from .read import RAM, TURN, RigMechanism, outside
from .values import driver_values, is_askew, ram_lengths, refuse_endless, refuse_lost, turning_axis

_ROUND = 2.0 * np.pi


@dataclass(frozen=True, eq=False)
class MechanismNow:
    """A mechanism solved for one frame."""

    rig: RigMechanism
    solution: MechanismSolution  # of one row
    turns: Mapping[str, float]  # of each bone against its parent, radians from rest
    written: tuple[str, ...]  # the bones that it turns: no driver that is as it is given

    @classmethod
    def of(
        cls, rig: RigMechanism, solution: MechanismSolution, evaluated: bpy.types.Object
    ) -> "MechanismNow":
        """Take the turns of a solution of one row. Raises IK2DError for a driver far out of the plane."""
        driving = [evaluated.pose.bones[one.bone] for one in rig.drivers if one.kind == TURN]
        askew = [bone.name for bone in driving if _is_askew(rig, bone)]
        fixed, (written, _) = fixed_bones(rig), written_bones(rig, solution, askew)
        turns = {bone: float(turn[0]) for bone, turn in aimed(rig, local_turns(rig, solution), fixed).items()}
        for bone in turns.keys() - fixed:
            turns[bone] -= _ROUND * np.rint(turns[bone] / _ROUND)
        return cls(rig, solution, turns, tuple(written))

    def rotations(self) -> list[BoneRotation]:
        """Return the rotation channels of the bones that it turns, of one row."""
        turns = {bone: np.array([self.turns[bone]]) for bone in self.written}
        return list(channels_at(self.rig, turns, single_axis=False).values())

    def values(self, shown: bpy.types.Object) -> list[Value]:
        """Return the channels' values that an armature, evaluated or not, shows otherwise."""
        bones = shown.pose.bones
        values = values_of(self.rig.armature, self.rotations())
        return [value for value in values if getattr(bones[value[0]], value[1])[value[2]] != value[3]]


def values_now(scene: bpy.types.Scene, rig: RigMechanism, evaluated: bpy.types.Object) -> dict[Body, float]:
    """Return the turn or length of each body or ram that drives, as an evaluated armature shows it.

    A bone's turn is that of its channels, about the plane's normal; whole turns that these do not count are
    those of its F-Curves from the scene's first frame on. One that other controls turn is as it is shown.
    Raises IK2DError for values that are no numbers.
    """
    given: dict[Body, Floats] = {}
    for one in rig.drivers:
        if one.kind == TURN:
            given[one.body] = _turn_now(scene, rig, evaluated, one.bone)
        elif one.kind == RAM:
            given[one.body] = ram_lengths(one, np.array([evaluated.path_resolve(one.path)]))
    refuse_endless(rig, given, [scene.frame_float])
    return {body: float(value[0]) for body, value in given.items()}


def solve_now(
    scene: bpy.types.Scene,
    rig: RigMechanism,
    evaluated: bpy.types.Object,
    values: Mapping[Body, ArrayLike] | None = None,
    place: ArrayLike | None = None,
    near: Mapping[Body, ArrayLike] | None = None,
) -> MechanismNow:
    """Return a mechanism solved for the pose that an evaluated armature shows; nothing is written.

    values: of drivers; None for `values_now`. place: (3,) of its target in the world, if it has one; without
    one, the body that the target moves is as `values` has it, or at rest. near: values of that body, from
    which it goes on; None for the nearest pose of all. Errors as `values_now`.
    """
    given = values_now(scene, rig, evaluated) if values is None else values
    places = None if place is None else in_plane(scene, rig, evaluated, place)
    return MechanismNow.of(rig, solution_of(rig, given, places, near), evaluated)


def pose_now(
    scene: bpy.types.Scene,
    rig: RigMechanism,
    evaluated: bpy.types.Object,
    values: Mapping[Body, ArrayLike] | None = None,
    place: ArrayLike | None = None,
) -> MechanismNow:
    """Pose a mechanism as `solve_now` solves it; write channels only where they are shown otherwise."""
    now = solve_now(scene, rig, evaluated, values, place)
    set_values(rig.armature, now.values(rig.armature))
    return now


def in_plane(
    scene: bpy.types.Scene, rig: RigMechanism, evaluated: bpy.types.Object, place: ArrayLike
) -> Floats:
    """Return a place (3,) of the world in the mechanism's plane at rest, (1, 2)."""
    places = np.array([place], np.float64)
    refuse_lost(rig, places, [scene.frame_float])
    frame = np.array([evaluated.pose.bones[rig.frame].matrix], np.float64) if rig.frame else None
    return outside(rig, places, np.array([evaluated.matrix_world], np.float64), frame)


def _channels(bone: bpy.types.PoseBone) -> Floats:
    return np.array([getattr(bone, rotation_property(bone.rotation_mode))], np.float64)


def _is_askew(rig: RigMechanism, bone: bpy.types.PoseBone) -> bool:
    """Return whether an evaluated driver is turned out of the plane, by channels that can be written."""
    if bone.name in rig.controlled:
        return False
    return is_askew(rig, bone.name, matrices(bone.rotation_mode, _channels(bone)))


def turn_now(rig: RigMechanism, evaluated: bpy.types.Object, name: str) -> float:
    """Return the turn of a bone against its parent by its channels, about the plane's normal."""
    bone = evaluated.pose.bones[name]
    return float(channel_turns(bone, turning_axis(rig, name), _channels(bone))[0])


def _turn_now(scene: bpy.types.Scene, rig: RigMechanism, evaluated: bpy.types.Object, name: str) -> Floats:
    """Return the turn (1,) of a bone that drives."""
    bone, axis = evaluated.pose.bones[name], turning_axis(rig, name)
    if name in rig.controlled:
        poses = {other: pose[None] for other, pose in pose_of(rig, evaluated).items()}
        motions, parent = Motions.of_pose(rig, poses), rig.placed[name].parent
        x = motions.way(name, rig.plane.x)
        y, along = ((x * motions.way(parent, axis)).sum(axis=1) for axis in (rig.plane.y, rig.plane.x))
        shown: Floats = np.arctan2(y, along)
        return shown
    values, mode = _channels(bone), bone.rotation_mode
    turn = channel_turns(bone, axis, values)
    counts = mode == 'AXIS_ANGLE' or mode != 'QUATERNION' and own_axis(axis, CLOSE) is not None
    path = rig.armature.pose.bones[name].path_from_id(rotation_property(mode))
    keyed_at_all = any(curve.data_path == path for curve in existing_fcurves(rig.armature))
    if counts or rig.controlled or not keyed_at_all:  # other controls would have to be stepped to
        return turn
    before = np.arange(scene.frame_start, scene.frame_float)
    keyed = np.asarray(driver_values(scene, rig, [*before.tolist(), scene.frame_float])[name])[-1]
    period = 2.0 * _ROUND if mode == 'QUATERNION' else _ROUND
    counted: Floats = turn + period * np.rint((keyed - turn) / period)
    return counted
