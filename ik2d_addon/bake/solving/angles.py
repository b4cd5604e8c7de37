# SPDX-License-Identifier: GPL-3.0-or-later
"""The joints' angles of a solved chain, as the report has them."""

import numpy as np

from ...core.inputs import Floats, wrapped
from ...rig.pose.joint_angles import angles_from_rest
from ...rig.pose.kinematics import bone_poses, rotations_of
from ...rig.scene.samples import ChainSamples
from .frames import SolvedChain
from .problem import as_solved


def solved_angles(chain: SolvedChain, samples: ChainSamples) -> Floats:
    """Return the angles from rest (frames, n), as in `angles_from_rest`, of a chain solved at the samples.

    With the whole turns that its bones make.
    """
    rig = chain.rig
    shown = as_solved(rig, samples, chain.factors, chain.locations)
    poses = bone_poses(rig, shown, rotations_of(rig, chain.turns))
    turned = chain.turns.copy()
    for i, bone in enumerate(rig.pose_bones[1:], start=1):
        if bone.bone.use_inherit_rotation:
            turned[:, i] += turned[:, i - 1]
    return nearest_turns(angles_from_rest(rig, shown, poses), np.diff(turned, axis=1, prepend=0.0))


def nearest_turns(angles: Floats, others: Floats) -> Floats:
    """Return the same rotations as angles (...), as near to others as whole turns allow."""
    return others + wrapped(angles - others)
