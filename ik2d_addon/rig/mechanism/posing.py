# SPDX-License-Identifier: GPL-3.0-or-later
"""The poses of a mechanism as rotation channels, and how far its joints are open in them."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import bpy
import numpy as np
from numpy.typing import ArrayLike

from ...core.affine import Rotate, inverse, norms
from ...core.inputs import Floats
from ...core.mechanism import MechanismSolution
from ...core.mechanism.joints import Body, Kind
from ..animation.bone_channels import BoneRotation, turning
from ..pose.rotations import turned_channels
from .read import GUIDE, PIN, RAM, TARGET, TURN, MeasuredJoint, RigMechanism, frame_motions
from .values import turning_axis

# Pose matrices by bone, and the frame's motion as "".
Poses: TypeAlias = Mapping[str, Floats]
# A driver that is used by no more off what its keys say (radians) is as they say.
_AS_GIVEN = 1e-9
_ROUND, _MOST_TURNS = 2.0 * np.pi, 8


def solution_of(
    rig: RigMechanism,
    given: Mapping[Body, ArrayLike],
    places: Floats | None = None,
    near: Mapping[Body, ArrayLike] | None = None,
) -> MechanismSolution:
    """Return the solution for drivers' values (m,). places: (m, 2) of a target, in the plane.

    near: values from which the drivers that the target moves start.
    """
    goal = next((one for one in rig.drivers if one.kind == TARGET), None)
    if goal is None or places is None:
        # Eased, a driver that is never written would tear loops that can be closed.
        dead = 'STOP' if rig.dead == 'EASE' and rig.unkeyed_drivers else rig.dead
        return rig.core.solve(given, dead=dead, ease=rig.softness)
    tip = rig.flat(rig.placed[goal.bone].tail)
    return rig.core.solve_target(goal.bone, tip, places, given, goes_on=rig.goes_on, near=near)


def written_bones(
    rig: RigMechanism, solution: MechanismSolution, askew: Sequence[str]
) -> tuple[list[str], tuple[str, ...]]:
    """Return the bones to turn, and those drivers that others turn otherwise than the loops ask."""
    off = {
        one.bone: one.bone in askew
        or bool((np.abs(solution.drivers[one.body] - solution.given[one.body]) > _AS_GIVEN).any())
        for one in rig.drivers
        if one.kind == TURN
    }
    return (
        [bone for bone in rig.turned_bones if off.get(bone, True)],
        tuple(bone for bone, is_off in off.items() if is_off and bone in rig.unkeyed_drivers),
    )


def local_turns(rig: RigMechanism, solution: MechanismSolution) -> dict[str, Floats]:
    """Return the turn (m,) of each bone against its parent, radians from rest."""
    turns: dict[str, Floats] = {}
    rams = {joint.bone: joint for joint in rig.rams} | {joint.other: joint for joint in rig.rams}
    for bone in rig.bones:
        turns[bone] = solution.heading(rams[bone].bone) if bone in rams else solution.turn(bone)
    return {
        bone: turns[bone] - turns[placed.parent] if placed.parent else turns[bone]
        for bone, placed in rig.placed.items()
    }


def channels_at(rig: RigMechanism, turns: Mapping[str, Floats], single_axis: bool) -> dict[str, BoneRotation]:
    """Return the rotation channels of bones for turns (m,) at ascending times.

    single_axis: one channel for each bone without locks, in another rotation mode if need be; drivers keep
    the mode of their own keys.
    """
    bones, driving = rig.armature.pose.bones, {one.bone for one in rig.drivers if one.kind == TURN}
    single = {bone for bone in turns if single_axis and bone not in driving}
    single -= {bone for bone in single if any(bones[bone].lock_rotation)}
    return {
        bone: turned_channels(bones[bone], turning_axis(rig, bone), turn, bone in single)
        for bone, turn in turns.items()
    }


def channels_of_rest(rig: RigMechanism, single_axis: bool) -> list[BoneRotation]:
    """Return the channels that a bake of a mechanism writes, with the values of the rest pose."""
    driving = {one.bone for one in rig.drivers if one.kind == TURN}
    turns = {bone: np.zeros(1) for bone in rig.turned_bones if bone not in driving}
    return list(channels_at(rig, turns, single_axis).values())


def by_channels(rig: RigMechanism, rotation: BoneRotation, values: Floats) -> Rotate:
    """Return a function that turns places as channels (m, channels) of a bone's rotation do."""
    return turning(rotation.mode or rig.armature.pose.bones[rotation.bone].rotation_mode, values)


def by_turns(rig: RigMechanism, bone: str, turns: Floats) -> Rotate:
    """Return a function that turns places of a bone by its turns (m,), in its own space."""
    axes = np.multiply.outer(np.sin(0.5 * turns), turning_axis(rig, bone))
    return turning('QUATERNION', np.column_stack((np.cos(0.5 * turns), axes)))


class Motions:
    """The motions of a mechanism's bones from rest, in its frame."""

    def __init__(self, moved: Callable[[str, Floats, float], Floats]) -> None:
        """moved: of a bone, what it carries (3,) at rest, and 1 for a place or 0 for a way: (m, 3)."""
        self._moved = moved

    @classmethod
    def of_rotations(cls, rig: RigMechanism, rotations: Mapping[str, Rotate]) -> "Motions":
        """Return the motions for the bones' own rotations."""

        def moved(bone: str, carried: Floats, share: float) -> Floats:
            at = carried[:, None]
            while bone:
                placed = rig.placed[bone]
                head = share * placed.head[:, None]
                at = placed.rest @ rotations[bone](placed.inverse @ (at - head)) + head
                bone = placed.parent
            return at.T

        return cls(moved)

    @classmethod
    def of_pose(cls, rig: RigMechanism, poses: "Poses") -> "Motions":
        """Return the motions in pose matrices (m, 4, 4) of the bones, and of the frame as ""."""
        frame = inverse(poses[""])

        def moved(bone: str, carried: Floats, share: float) -> Floats:
            if not bone:
                return carried[None]
            placed = rig.placed[bone]
            own = np.append(placed.inverse @ (carried - share * placed.head), share)
            at: Floats = np.einsum(
                "...ij,...j->...i", frame, (poses[bone].reshape(-1, 4) @ own).reshape(-1, 4)
            )
            return at[:, :3]

        return cls(moved)

    def at(self, bone: str, place: Floats) -> Floats:
        """Return where a place (3,) at rest of a bone is, (m, 3)."""
        return self._moved(bone, place, 1.0)

    def way(self, bone: str, along: Floats) -> Floats:
        """Return a direction (3,) at rest, as a bone has turned it, (m, 3)."""
        return self._moved(bone, along, 0.0)


def openings(rig: RigMechanism, motions: Motions) -> Floats:
    """Return the largest distance (m,) by which a joint of a mechanism is open, at ascending times.

    Of a gear that by which the second bone is turned off at its far end.
    """
    found = np.zeros(1)
    for joint in rig.joints:
        found = np.maximum(found, opening(rig, motions, joint))
    for gear in (one for one in rig.core.joints if one.kind is Kind.GEAR):
        names = [str(rig.core.bodies[body]) for body in (gear.a, gear.b)]
        turns = [np.unwrap(_in_plane(rig, motions, name)) for name in names]
        # Whole turns before the first time are unknown: those that fit best.
        whole = _ROUND * np.arange(-_MOST_TURNS, _MOST_TURNS + 1)[:, None]
        off = np.abs(np.mod(gear.ratio * (turns[0] + whole) - turns[1] + np.pi, _ROUND) - np.pi).max(axis=1)
        turned = gear.ratio * (turns[0] + whole[int(off.argmin())]) - turns[1]
        placed = rig.placed[names[1]]
        arm = float(np.linalg.norm(placed.tail - placed.head))
        found = np.maximum(found, np.abs(np.mod(turned + np.pi, _ROUND) - np.pi) * arm)
    return found


def opening(rig: RigMechanism, motions: Motions, joint: MeasuredJoint) -> Floats:
    """Return the distance (m,) by which a joint is open.

    Of a pin the distance of its two places, of a slide that from the line; of one that keeps its angle, and
    of a ram, that by which the bone is turned off at its far end.
    """
    bone, other, place = joint.bone, joint.other, joint.place
    if joint.kind == RAM:
        way = motions.at(other, rig.placed[other].head) - motions.at(bone, rig.placed[bone].head)
        way = way - (way @ rig.plane.normal)[:, None] * rig.plane.normal
        rest, length = np.linalg.norm(joint.along), np.linalg.norm(way, axis=1)
        aimed = [motions.way(end, joint.along) / rest * length[:, None] for end in (bone, other)]
        off: Floats = np.max([np.linalg.norm(each - way, axis=1) for each in aimed], axis=0)
        return off
    apart = motions.at(bone, place) - motions.at(other, place)
    found = np.zeros(1)
    if joint.kind != PIN:
        line = motions.way(other, joint.along)
        line = line / np.linalg.norm(line, axis=-1, keepdims=True)
        if joint.kind == GUIDE:
            arm = rig.placed[bone].tail - rig.placed[bone].head
            found = norms(motions.way(bone, arm) - motions.way(other, arm))
        apart = apart - (apart * line).sum(axis=1, keepdims=True) * line
    return np.maximum(found, norms(apart))


def _in_plane(rig: RigMechanism, motions: Motions, bone: str) -> Floats:
    """Return the angles (m,) by which a bone is turned in the plane."""
    x, y = motions.way(bone, rig.plane.x), motions.way(bone, rig.plane.y)
    angles: Floats = np.arctan2(x @ rig.plane.y - y @ rig.plane.x, x @ rig.plane.x + y @ rig.plane.y)
    return angles


def evaluated_motions(rig: RigMechanism, evaluated: Sequence[Mapping[str, Floats]]) -> Motions:
    """Return the motions at times of which each has the pose matrices (4, 4) of `pose_of`."""
    names = ["", *rig.bones]
    return Motions.of_pose(rig, {name: np.array([pose[name] for pose in evaluated]) for name in names})


def pose_of(rig: RigMechanism, evaluated: bpy.types.Object) -> Poses:
    """Return the pose matrices (4, 4) of the bones of an evaluated armature; as "" the frame's motion."""
    names = [*rig.bones, rig.frame] if rig.frame else rig.bones
    bones = evaluated.pose.bones
    return poses_of(rig, {bone: np.array(bones[bone].matrix, np.float64) for bone in names})


def poses_of(rig: RigMechanism, matrices: Mapping[str, Floats]) -> Poses:
    """Return the poses (.., 4, 4) of a mechanism's bones among matrices of more; as "" the frame's motion."""
    frame = frame_motions(rig, matrices[rig.frame]) if rig.frame else np.eye(4)
    return {"": frame, **{bone: matrices[bone] for bone in rig.bones}}
