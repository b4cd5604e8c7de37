# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain's plane: how far joints and target are off it, and another one that is nearer to the target."""

import bpy
import numpy as np

from ...core import IK2DError, Plane
from ...core.inputs import Floats
from ...rig.chain.chain import RigChain, read_chain, rest_joints
from ...rig.chain.planes import FIRST_X, FIRST_Z, choose_plane, plane_through, reach_of
from ...rig.pose.measures import rest_reach
from ...rig.pose.target_plane import facing_target, sampled_path, target_points
from ...rig.scene.live_pause import live_paused

# The choices of a chain's plane that need no normal, the first of equals first.
_CHOICES = ('AUTO', 'HINGES', 'X', 'Y', 'Z')
# A plane does as well as the best if it leaves the target no further off than this part of the reach.
_AS_WELL = 1e-3


def joints_off_plane(rig: RigChain) -> float:
    """Return the joints' largest distance off the plane in rest, as a part of the chain's reach."""
    return rig.off_plane / rest_reach(rig)


def heights_now(rig: RigChain) -> tuple[float, float]:
    """Return the heights over the chain's plane, in rest space, of its tip and of its target as shown now.

    No turn in the plane changes the tip's.
    """
    place = rig.target.matrix_world.translation
    if rig.subtarget:
        place = rig.target.matrix_world @ rig.target.pose.bones[rig.subtarget].head
    above = rig.pose_bones[0].parent
    held = rig.armature.matrix_world
    if above is not None:
        held = held @ above.matrix @ above.bone.matrix_local.inverted()
    points = np.array([rest_joints(rig.pose_bones)[-1], held.inverted_safe() @ place])
    tip, target = ((points - rig.plane.origin) @ rig.plane.normal).tolist()
    return tip, target


@live_paused()
def plane_to_target(
    armature: bpy.types.Object,
    settings: bpy.types.PropertyGroup,
    scene: bpy.types.Scene,
    first: int,
    last: int,
) -> str:
    """Set a chain's plane to the one nearest to its target on some frames; return the choice.

    An automatic one or one of the armature's axes where these do, else one with its own normal. Raises
    IK2DError for a chain that cannot be read.
    """
    rig = read_chain(armature, settings)
    points = target_points(rig, sampled_path(scene, rig, first, last)[0])
    joints = rest_joints(rig.pose_bones)
    found = {}
    for choice in _CHOICES:
        try:
            plane, taken = choose_plane(settings, choice, rig.pose_bones, joints)
        except IK2DError:
            continue
        if taken in (FIRST_X, FIRST_Z):
            plane = plane_through(joints, points, plane) or plane
        found[choice] = _misses(plane, joints, points)
    own = min(_own_planes(joints, points), key=lambda plane: _misses(plane, joints, points), default=None)
    if own is not None:
        found['CUSTOM'] = _misses(own, joints, points)
    reach = reach_of(joints)
    best = min(found.values())
    choice = next(choice for choice, misses in found.items() if misses <= best + _AS_WELL * reach)
    if choice == 'CUSTOM' and own is not None:
        settings.plane_normal = own.normal
    settings.plane = choice
    return choice


@live_paused()
def keep_plane(
    armature: bpy.types.Object,
    settings: bpy.types.PropertyGroup,
    scene: bpy.types.Scene,
    first: int,
    last: int,
) -> None:
    """Set a chain's plane to its own normal as it is on some frames, so that no other path changes it.

    Raises IK2DError for a chain that cannot be read.
    """
    rig = read_chain(armature, settings)
    rig = facing_target(rig, sampled_path(scene, rig, first, last)[0])
    settings.plane_normal = rig.plane.normal
    settings.plane = 'CUSTOM'


def _own_planes(joints: Floats, points: Floats) -> list[Plane]:
    """Return planes that are near to points (m, 3): through the tip at rest, and through root and tip."""
    tip = joints[-1]
    chord = (tip - joints[0]) / (np.linalg.norm(tip - joints[0]) or 1.0)
    planes = []
    for offsets in (points - tip, points - tip - np.multiply.outer((points - tip) @ chord, chord)):
        _, _, axes = np.linalg.svd(np.vstack((offsets, np.zeros((3, 3)))))
        for normal in (axes[2], np.cross(chord, axes[0])) if offsets.any() else ():
            try:
                planes.append(Plane.turning_about(joints, normal))
            except IK2DError:
                continue
    return planes


def _misses(plane: Plane, joints: Floats, points: Floats) -> float:
    """Return the largest miss of a chain in a plane from points (m, 3): off it, or out of reach."""
    off = (points - joints[-1]) @ plane.normal
    seen = plane.project(joints)
    reach = reach_of(seen)
    beyond = np.linalg.norm(plane.project(points), axis=1) - reach
    return float(np.hypot(off, beyond.clip(min=0.0)).max())
