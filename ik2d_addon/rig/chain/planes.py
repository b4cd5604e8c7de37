# SPDX-License-Identifier: GPL-3.0-or-later
"""The plane that a chain bends in, of its rest pose, its hinges, or the armature's axes; and the side in it.

Bend: Positive is the side of the rest pose, in any plane and with any solver. The solvers Two-Bone and Circle
count sides about the plane's normal, all others from the rest pose. Where a chain of these two bends to the
negative side at rest, its sides are turned round on the way to them. Versions before 1.1.0 did not do so:
chains that they made keep their sides, unless `sides_from_rest` is set.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import nan

import bpy
import numpy as np

from ...core import IK2DError, Plane
from ...core.ccd.shapes import is_on_a_line, side_of
from ...core.inputs import Floats
from ...core.swing import POLE, POST, SHORTEST_WAY, SWING, OwnPost, Swing
from ...core.swing.swing import units
from ...core.words import noted, refusal, say
from ..animation.bone_channels import locked_channels
from ..rest import rest_axes, rest_matrix
from . import post
from .checks.bones import rest_joints
from .joints import HINGE, hinge_axis, is_held

_AXES = {'X': (1.0, 0.0, 0.0), 'Y': (0.0, 1.0, 0.0), 'Z': (0.0, 0.0, 1.0)}
# A hinge whose axis passes the tip nearer than this part of the chain's extent cannot bend the chain.
_LEVER = 0.01
# The sine of the angle above which an axis is not along a chain's line.
_CLEARLY_ASIDE = 0.01
# Points that are off a plane by less than this part of the reach lie in it.
_SAME_PLANE = 1e-6
# Points lie all round a line if they spread across by more than this part of what they do along.
_ALL_ROUND = 0.95
# Above this cosine two directions are on one side.
_CLEAR_SIDE = 0.1

# The planes in words.
BEND, HINGES, FIRST_X, FIRST_Z = (
    noted("rest pose's bend"),
    noted("the hinges' axis"),
    noted("first bone's X"),
    noted("first bone's Z"),
)
ON_POST = noted("turns about its post")
TARGET, CUSTOM = noted("through the target's path"), noted("its own normal")
_ACROSS = {
    'X': noted("across the armature's X"),
    'Y': noted("across the armature's Y"),
    'Z': noted("across the armature's Z"),
}
# Choices of planes that follow their targets, in words.
FOLLOWING = {
    SWING: noted("swings with the target"),
    POLE: noted("towards the pole"),
    SHORTEST_WAY: noted("turns the shortest way"),
}


def bend_plane(settings: bpy.types.PropertyGroup, bones: list[bpy.types.PoseBone], joints: Floats) -> Plane:
    """Return a chain's plane, in rest space, by its settings; joints: (n + 1, 3) in rest.

    Raises IK2DError where there is none.
    """
    return choose_plane(settings, settings.plane, bones, joints)[0]


def plane_of_bend(joints: Floats) -> Plane | None:
    """Return `Plane.of_bend` of joints (n + 1, 3); at rest it is asked for again and again."""
    return _plane_of_bend(np.asarray(joints, np.float64).tobytes())


@lru_cache(maxsize=4096)
def _plane_of_bend(joints: bytes) -> Plane | None:
    return Plane.of_bend(np.frombuffer(joints).reshape(-1, 3))


def choose_plane(
    settings: bpy.types.PropertyGroup, choice: str, bones: list[bpy.types.PoseBone], joints: Floats
) -> tuple[Plane, str]:
    """Return the plane of a choice of `settings.plane`, and its words. Errors as in `bend_plane`."""
    try:
        if choice == 'AUTO' or choice in FOLLOWING and is_locked(bones[0]):
            return _automatic(bones, joints)
        if choice == post.POST:
            return _on_post(settings, bones), ON_POST
        if choice in FOLLOWING:
            return _followed(settings, choice, bones, joints), FOLLOWING[choice]
        if choice == 'HINGES':
            axes = _agreeing(_hinges(bones, joints))
            if not axes:
                raise refusal(
                    "no joint of it has locks that leave it one axis to bend about; lock two axes of a "
                    "bone's rotation, or set Bends In to another plane"
                )
            return Plane.turning_about(joints, _common(axes)), HINGES
        if choice == 'CUSTOM':
            if not any(settings.plane_normal):
                raise refusal("its own plane has no normal; give it one, or set Bends In to another plane")
            return Plane.facing(joints, tuple(settings.plane_normal)), CUSTOM
        if choice not in _AXES:
            raise refusal("its setting Bends In has an unknown value; set it again")
        return Plane.facing(joints, _AXES[choice]), _ACROSS[choice]
    except IK2DError as error:
        raise refusal("Chain '{chain}': {error}", chain=settings.name, error=error) from None


def _automatic(bones: list[bpy.types.PoseBone], joints: Floats) -> tuple[Plane, str]:
    """Return the hinges' plane where all hinges agree, else the rest pose's."""
    hinges, bend = _hinges(bones, joints), plane_of_bend(joints)
    axes = _agreeing(hinges)
    if axes and len(axes) == len(hinges):
        turning = [bone for bone in bones if not is_held(bone)]
        if len(hinges) == len(turning) or bend is None:
            return Plane.turning_about(joints, _common(axes)), HINGES
    if bend is not None:
        return bend, BEND
    x, _, z = rest_matrix(bones[0].bone)[:3, :3].T
    if np.linalg.norm(np.cross(x, line_of(joints))) > _CLEARLY_ASIDE:
        return Plane.fit(joints, straight_normal=x), FIRST_X
    return Plane.fit(joints, straight_normal=z), FIRST_Z


def _followed(
    settings: bpy.types.PropertyGroup, choice: str, bones: list[bpy.types.PoseBone], joints: Floats
) -> Plane:
    """Return the rest plane of a chain whose plane follows its target; joints: (n + 1, 3) in rest.

    That of the bend. A straight chain bends towards its pole; without one by its own normal, if that was
    set, else as an automatic one. A plane that swings about a direction of its own has its own normal.
    """
    if choice == SWING and any(settings.swing_normal):
        return Plane.facing(joints, tuple(settings.plane_normal))
    bend = plane_of_bend(joints)
    if bend is not None:
        return bend
    line = line_of(joints)
    if choice == POLE:
        normal = np.cross(pole_side(bones[0], settings.pole_angle), joints[-1] - joints[0])
    else:
        chosen = settings.is_property_set("plane_normal")
        normal = np.array(settings.plane_normal if chosen else (0.0, 0.0, 0.0))
    if np.linalg.norm(np.cross(normal, line)) > _CLEARLY_ASIDE * np.linalg.norm(normal):
        return Plane.facing(joints, normal, along=line)
    return _automatic(bones, joints)[0]


def _on_post(settings: bpy.types.PropertyGroup, bones: list[bpy.types.PoseBone]) -> Plane:
    """Return the rest plane of a chain that a post turns.

    Straight bones have their own normal, if that was set; else their plane holds the post's axis.
    """
    bones = post.bending_bones(settings, bones)
    joints = rest_joints(bones)
    turntable = post.is_turntable(settings, bones)  # whose own hinge is the post's
    if not turntable and (_agreeing(_hinges(bones, joints)) or plane_of_bend(joints) is not None):
        return _automatic(bones, joints)[0]
    line, normal = line_of(joints), None
    if settings.is_property_set("plane_normal"):
        normal = np.array(settings.plane_normal)
    if normal is None or not np.linalg.norm(np.cross(normal, line)) > _CLEARLY_ASIDE * np.linalg.norm(normal):
        normal = post.straight_normal(settings, bones, line)
    return _automatic(bones, joints)[0] if normal is None else Plane.facing(joints, normal, along=line)


def pole_side(first: bpy.types.PoseBone, angle: float) -> Floats:
    """Return the side (3,) of a chain in rest that faces its pole, for a pole angle in radians.

    As Blender's IK has it: of the first bone's X axis, turned about the bone.
    """
    side: Floats = rest_matrix(first.bone)[:3, :3] @ (np.cos(angle), 0.0, np.sin(angle))
    return side


def read_swing(
    settings: bpy.types.PropertyGroup,
    bones: list[bpy.types.PoseBone],
    joints: Floats,
    plane: Plane,
    turns_about: post.Post | None = None,
) -> Swing | None:
    """Return the swing of a chain's plane, in rest space; None where it is fixed. turns_about: its post.

    Raises IK2DError for later bones that do not take the rotation of those before them.
    """
    own_post = None
    if turns_about is not None and turns_about.bone == bones[0].name:
        alone = post.is_turntable(settings, bones)
        own_post = OwnPost(turns_about.rule, rest_axes(bones[0].bone), reach_of(joints), alone)
    elif settings.plane not in FOLLOWING or is_locked(bones[0]):
        return None
    for bone in bones[1:]:
        if not bone.bone.use_inherit_rotation:
            raise refusal(
                "Chain '{chain}': '{bone}' inherits no rotation, so it does not turn with a plane "
                "that follows its target; turn Inherit Rotation on, or set Bends In to another plane",
                chain=settings.name,
                bone=bone.name,
            )
    offsets = joints - joints[0]
    flat = offsets - np.multiply.outer(offsets @ plane.normal, plane.normal)
    along = units(flat[-1:], plane.x)[0]
    if np.linalg.norm(flat[-1]) <= _LEVER * np.linalg.norm(flat, axis=1).max():
        along = plane.x  # the tip is on the root
    towards = None
    if settings.plane == SWING and any(settings.swing_normal):
        towards = units(np.array([settings.swing_normal], np.float64), plane.normal)[0]
    side = pole_side(bones[0], settings.pole_angle)
    rule = settings.plane if own_post is None else POST
    return Swing(rule, plane.normal, along, side, towards, own_post)


def is_locked(bone: bpy.types.PoseBone) -> bool:
    """Return whether locks keep a bone from any rotation."""
    return any(bone.lock_rotation) or any(locked_channels(bone))


def swing_note(settings: bpy.types.PropertyGroup, first: bpy.types.PoseBone) -> Iterator[str]:
    """Yield a sentence where locks keep the first bone from turning with a plane that follows its target."""
    if settings.plane in FOLLOWING and is_locked(first):
        yield say(
            "Chain '{chain}': locks on the rotation of '{first}' keep its plane as it is in "
            "rest; unlock it, so that the plane can follow",
            chain=settings.name,
            first=first.name,
        )


def reach_of(joints: Floats) -> float:
    """Return the length of a chain with joints (n + 1, 2 or 3)."""
    return float(np.linalg.norm(np.diff(joints, axis=0), axis=1).sum())


def line_of(joints: Floats) -> Floats:
    """Return the direction (3,) of the line nearest to a chain's joints."""
    _, _, axes = np.linalg.svd(joints - joints.mean(axis=0))
    direction: Floats = axes[0]
    return direction


def plane_through(joints: Floats, points: Floats, otherwise: Plane) -> Plane | None:
    """Return the plane through a straight chain's line that is nearest to points (m, 3).

    None where `otherwise`, a plane of the chain, is as near, and where the points are on the line or all
    round it.
    """
    line, reach = line_of(joints), reach_of(joints)
    offsets = points - otherwise.origin
    aside = offsets - np.multiply.outer(offsets @ line, line)
    if np.abs(aside @ otherwise.normal).max() <= _SAME_PLANE * reach:
        return None
    # Not about their mean: the plane goes through the line.
    _, extents, axes = np.linalg.svd(aside, full_matrices=False)
    if len(extents) > 1 and extents[1] > _ALL_ROUND * extents[0]:
        return None
    normal = np.cross(line, axes[0])
    for side in (otherwise.normal, np.cross(otherwise.normal, line)):
        if abs(normal @ side) > _CLEAR_SIDE:  # the same on all paths that are nearly the same
            return Plane.facing(joints, normal * np.sign(normal @ side), along=line)
    return None


def _hinges(bones: Sequence[bpy.types.PoseBone], joints: Floats) -> list[Floats]:
    """Return the axes (3,) in rest space of the bones that locks leave one axis to bend the chain about."""
    hinges = []
    for bone, joint in zip(bones, joints, strict=False):
        index = hinge_axis(bone)
        if index is None:
            continue
        axis = rest_matrix(bone.bone)[:3, index]
        axis /= np.linalg.norm(axis)
        if np.linalg.norm(np.cross(axis, joints[-1] - joint)) > _LEVER * np.ptp(joints, axis=0).max():
            hinges.append(axis)
    return hinges


def _agreeing(axes: Sequence[Floats]) -> list[Floats]:
    """Return the most axes that are within HINGE of one of them, to either side; the first where two tie."""
    groups = [[axis for axis in axes if abs(axis @ hinge) >= np.cos(HINGE)] for hinge in axes]
    return max(groups, key=len, default=[])


def _common(axes: Sequence[Floats]) -> Floats:
    """Return the mean direction (3,) of axes, to the side of the first."""
    mean: Floats = np.sum([axis * (1.0 if axis @ axes[0] >= 0.0 else -1.0) for axis in axes], axis=0)
    return mean / np.linalg.norm(mean)


# --- The side ----------------------------------------------------------------

_SIDES = {'POSITIVE': 1.0, 'NEGATIVE': -1.0}
ABOUT_NORMAL = ('TWO_BONE', 'ARC')


def bend_of(settings: bpy.types.PropertyGroup) -> float:
    """Return the side by a chain's settings: +1 or -1, between the two while it turns over; else NaN."""
    side = _SIDES.get(settings.bend, nan)
    return float(side * (1.0 - 2.0 * settings.turn_over))


def side_at_rest(plane: Plane, joints: Floats) -> float:
    """Return the side, +1.0 or -1.0 about a plane's normal, that joints (n + 1, 3) bend to at rest.

    +1.0 for straight ones.
    """
    angles = _bent_angles(plane, joints)
    return 1.0 if angles is None else side_of(angles, 1.0)


def is_straight(plane: Plane, joints: Floats) -> bool:
    """Return whether joints (n + 1, 3) have no side at rest, in a plane."""
    return _bent_angles(plane, joints) is None


def _bent_angles(plane: Plane, joints: Floats) -> list[float] | None:
    """Return the angles (n,) of bones in a plane, each from the one before; None for straight ones."""
    if len(joints) < 3 or plane_of_bend(joints) is None:
        return None
    along = joints[1:] - joints[:-1]
    angles = np.arctan2(along @ plane.y, along @ plane.x)
    angles[1:] -= angles[:-1].copy()
    bent: list[float] = angles.tolist()
    return None if is_on_a_line(bent) else bent


def solver_side(settings: bpy.types.PropertyGroup, solver: str, plane: Plane, joints: Floats) -> float:
    """Return the sign, +1.0 or -1.0, between the side by a chain's settings and that of its solver.

    plane and joints (n + 1, 3): in rest space.
    """
    if solver not in ABOUT_NORMAL or not settings.sides_from_rest:
        return 1.0
    return side_at_rest(plane, joints)
