# SPDX-License-Identifier: GPL-3.0-or-later
"""The angles of a chain's joints in its plane, from its bones' pose matrices."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.affine import inverse
from ...core.inputs import Floats, wrapped
from ..chain.chain import RigChain
from ..rest import rest_matrix
from ..scene.samples import ChainSamples
from .bone_matrices import rest_to_pose


def angles_from_rest(rig: RigChain, samples: ChainSamples, poses: Iterable[NDArray[Any]]) -> Floats:
    """Return the turn (frames, n) of each bone from rest, relative to the bone before, in -pi..pi.

    In the plane: radians, counterclockwise where the plane's normal points at you. The first bone's is
    relative to what holds the chain. poses: (frames, 4, 4) of each bone in pose space, at the samples.

    For M, a bone's linear map from its rest pose to its pose, and the plane's axes x and y, the bone has
    turned by  atan2(y.Mx - x.My, x.Mx + y.My): the rotation in M, also where M stretches the bone.
    """
    axes = np.array((rig.plane.x, rig.plane.y))
    to_plane = axes @ inverse(rest_to_pose(rig, samples))[:, :3, :3]
    turned = np.empty((len(to_plane), len(rig.bones)))
    rests = np.array([rest_matrix(bone.bone) for bone in rig.pose_bones])
    from_rest = inverse(rests)[:, :3, :3] @ axes.T  # (n, 3, 2)
    for i, (row, pose) in enumerate(zip(from_rest, poses, strict=True)):
        moved = to_plane @ pose[:, :3, :3] @ row  # (frames, 2, 2)
        turned[:, i] = np.arctan2(moved[:, 1, 0] - moved[:, 0, 1], moved[:, 0, 0] + moved[:, 1, 1])
    return wrapped(np.diff(turned, axis=1, prepend=0.0))


def rest_directions(rig: RigChain) -> Floats:
    """Return the directions (n,) of the bones in rest: radians from the plane's x axis, counterclockwise."""
    along = np.array([rest_matrix(bone.bone)[:3, 1] for bone in rig.pose_bones])
    directions: Floats = np.arctan2(along @ rig.plane.y, along @ rig.plane.x)
    return directions
