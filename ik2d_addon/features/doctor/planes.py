# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain's plane: how far joints are off it, and another one that is nearer to the target."""

import bpy

from ...bake.cures.nearest_plane import nearest_plane
from ...rig.chain.chain import RigChain, read_chain
from ...rig.pose.measures import rest_reach
from ...rig.pose.target_plane import facing_target, sampled_path, target_points
from ...rig.scene.live_pause import live_paused


def joints_off_plane(rig: RigChain) -> float:
    """Return the joints' largest distance off the plane in rest, as a part of the chain's reach."""
    return rig.remarks.off_plane / rest_reach(rig)


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
    choice, normal = nearest_plane(settings, rig, points)
    if normal is not None:
        settings.plane_normal = normal
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
