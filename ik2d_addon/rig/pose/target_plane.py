# SPDX-License-Identifier: GPL-3.0-or-later
"""The plane of a chain through its target's path: for straight chains, and on request."""

from collections.abc import Sequence

import bpy
import numpy as np

from ...core import IK2DError, Plane
from ...core.affine import inverse
from ...core.inputs import Floats
from ...core.solution import drained
from ..chain.chain import RigChain, read_chain, rest_joints
from ..chain.planes import FIRST_X, FIRST_Z, TARGET, choose_plane, plane_through
from ..scene.live_pause import live_paused
from ..scene.sampler import sample_steps
from ..scene.samples import ChainSamples
from .kinematics import read_linkage

# The choices of a chain's plane that need no normal, the first of equals first.
_CHOICES = ('AUTO', 'HINGES', 'X', 'Y', 'Z')
# A plane does as well as the best if it leaves the target no further off than this part of the reach.
_AS_WELL = 1e-3
# The most frames that are sampled to choose a plane.
_FRAMES = 50


def facing_target(rig: RigChain, samples: ChainSamples) -> RigChain:
    """Return a chain; a straight one in the plane through its target's path, where there is one."""
    if rig.plane_taken not in (FIRST_X, FIRST_Z):
        return rig
    plane = plane_through(rest_joints(rig.pose_bones), target_points(rig, samples), rig.plane)
    return rig if plane is None else rig.in_plane(plane, TARGET)


def target_points(rig: RigChain, samples: ChainSamples) -> Floats:
    """Return the target's places (frames, 3) in the chain's rest space."""
    into = inverse(samples.world @ read_linkage(rig, samples).to_pose)
    points: Floats = (into[:, :3, :3] @ samples.targets[..., None])[..., 0] + into[:, :3, 3]
    return points


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
    points = target_points(rig, _sampled(scene, rig, _spread(first, last)))
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
    reach = float(np.linalg.norm(np.diff(joints, axis=0), axis=1).sum())
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
    rig = facing_target(rig, _sampled(scene, rig, _spread(first, last)))
    settings.plane_normal = rig.plane.normal
    settings.plane = 'CUSTOM'


def _spread(first: int, last: int) -> list[float]:
    """Return the frames to sample from `first` to `last`."""
    times: list[float] = np.unique(np.linspace(first, last, min(_FRAMES, last - first + 1)).round()).tolist()
    return times


def _sampled(scene: bpy.types.Scene, rig: RigChain, times: Sequence[float]) -> ChainSamples:
    return drained(sample_steps(scene, [rig], times)).chains[0]


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
    reach = np.linalg.norm(np.diff(seen, axis=0), axis=1).sum()
    beyond = np.linalg.norm(plane.project(points), axis=1) - reach
    return float(np.hypot(off, beyond.clip(min=0.0)).max())
