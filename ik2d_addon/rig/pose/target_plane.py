# SPDX-License-Identifier: GPL-3.0-or-later
"""The plane of a straight chain: through its target's path."""

import bpy
import numpy as np

from ...core.affine import inverse
from ...core.inputs import Floats
from ...core.solution import drained
from ..chain.chain import RigChain
from ..chain.checks.bones import rest_joints
from ..chain.planes import FIRST_X, FIRST_Z, TARGET, plane_through
from ..scene.sampler import sample_steps
from ..scene.samples import ChainSamples
from .kinematics import read_linkage

# The most frames that are sampled to choose a plane.
_FRAMES = 50


def facing_target(rig: RigChain, samples: ChainSamples) -> RigChain:
    """Return a chain; a straight one in the plane through its target's path, where there is one."""
    if rig.remarks.plane not in (FIRST_X, FIRST_Z):
        return rig
    plane = plane_through(rest_joints(rig.pose_bones), target_points(rig, samples), rig.plane)
    return rig if plane is None else rig.in_plane(plane, TARGET)


def target_points(rig: RigChain, samples: ChainSamples) -> Floats:
    """Return the target's places (frames, 3) in the chain's rest space."""
    into = inverse(samples.world @ read_linkage(rig, samples).to_pose)
    points: Floats = (into[:, :3, :3] @ samples.targets[..., None])[..., 0] + into[:, :3, 3]
    return points


def path_times(first: float, last: float) -> list[float]:
    """Return some of the frames from `first` to `last`, at most 50."""
    count = min(_FRAMES, int(last - first) + 1)
    times: list[float] = np.unique(np.linspace(first, last, count).round()).tolist()
    return times


def sampled_path(
    scene: bpy.types.Scene, rig: RigChain, first: int, last: int
) -> tuple[ChainSamples, list[float]]:
    """Return a chain's samples at some of the frames from `first` to `last`, and these frames."""
    times = path_times(first, last)
    return drained(sample_steps(scene, [rig], times)).chains[0], times
