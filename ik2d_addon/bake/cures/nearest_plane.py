# SPDX-License-Identifier: GPL-3.0-or-later
"""The fixed plane of a chain that is nearest to its target's places."""

import bpy
import numpy as np

from ...core import IK2DError, Plane
from ...core.inputs import Floats
from ...rig.chain.chain import RigChain
from ...rig.chain.checks.bones import rest_joints
from ...rig.chain.planes import FIRST_X, FIRST_Z, choose_plane, plane_through, reach_of

# The choices of a chain's plane that need no normal, the first of equals first.
_CHOICES = ('AUTO', 'HINGES', 'X', 'Y', 'Z')
# A plane does as well as the best if it leaves the target no further off than this part of the reach.
AS_WELL = 1e-3


def nearest_plane(
    settings: bpy.types.PropertyGroup, rig: RigChain, points: Floats
) -> tuple[str, Floats | None]:
    """Return the choice of a chain's plane that is nearest to points (m, 3) in rest space, and its normal.

    An automatic one or one of the armature's axes where these do, without a normal; else 'CUSTOM'.
    """
    joints = rest_joints(rig.pose_bones)
    planes = {}
    for choice in _CHOICES:
        try:
            plane, taken = choose_plane(settings, choice, rig.pose_bones, joints)
        except IK2DError:
            continue
        if taken in (FIRST_X, FIRST_Z):
            plane = plane_through(joints, points, plane) or plane
        planes[choice] = _misses(plane, joints, points)
    nearest = min(_own_planes(joints, points), key=lambda plane: _misses(plane, joints, points), default=None)
    if nearest is not None:
        planes['CUSTOM'] = _misses(nearest, joints, points)
    best = min(planes.values())
    choice = next(choice for choice, misses in planes.items() if misses <= best + AS_WELL * reach_of(joints))
    return choice, nearest.normal if choice == 'CUSTOM' and nearest is not None else None


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
