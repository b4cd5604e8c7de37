# SPDX-License-Identifier: GPL-3.0-or-later
"""The goal of an ankle at each frame: the foot's control, its roll, and the ground."""

from dataclasses import replace

import bpy
import numpy as np
from mathutils import Matrix

from ....core.inputs import Floats
from ...chain.chain import RigChain
from ...chain.hands import Hands, orientations
from ..samples import ChainSamples
from .surface import Ground, triangles_of


def with_foot(
    rig: RigChain, samples: ChainSamples, sizes: Floats | float, ground: Ground | None = None
) -> ChainSamples:
    """Return samples whose targets are the ankle's goals, with the angles of foot and toes.

    Of a chain without a foot they stay as they are. Its control is the target: it holds the foot at its
    place and by its rotation (see `control_turns`), and the foot rolls on it. sizes: (frames,) or one for
    all, of the foot as posed beside its rest pose. ground: that under the foot; None: none.
    """
    foot = rig.foot
    if foot is None or rig.hands is None:
        return samples
    values = samples.settings[:, 3:6].T
    ankles, *angles = foot.shape.rolled(*values)
    turns = control_turns(samples, rig.hands)
    linear = np.reshape(sizes, (-1, 1, 1)) * (samples.world[:, :3, :3] @ turns)
    goals = samples.targets + (linear @ foot.offsets(ankles)[..., None])[..., 0]
    lifts = np.zeros(len(goals))
    if ground is not None and (samples.settings[:, 6] > 0.0).any():
        sole = foot.offsets(foot.shape.sole(*values))  # (frames, 4, 3)
        sole = samples.targets[:, None] + np.einsum("fij,fpj->fpi", linear, sole)
        lifts = np.where(samples.settings[:, 6] > 0.0, ground.lifts(sole), 0.0)
        goals[:, 2] += np.nan_to_num(lifts)
    return replace(samples, targets=goals, foot=np.stack(angles, axis=-1), lifts=lifts)


def ground_matrix(
    rig: RigChain, matrix: Matrix, depsgraph: bpy.types.Depsgraph | None, root: float
) -> Ground | None:
    """Return the ground under a chain's foot on one frame; None without one.

    matrix: the object's. depsgraph: shows its surface. root: the height in the world of the chain's root.
    """
    foot = rig.foot
    if foot is None or foot.ground is None:
        return None
    whole = np.array(matrix, np.float64)[None]
    return Ground(whole[:, :3, 3], whole[:, :3, :3], triangles_of(foot.ground, depsgraph), np.array([root]))


def size_of(rig: RigChain, bones: bpy.types.bpy_prop_collection) -> float:
    """Return the size of a chain's foot as posed beside its rest pose. bones: of the armature, evaluated."""
    return float(bones[rig.hands.bones[0]].matrix.col[0].length) if rig.hands is not None else 1.0


def control_turns(samples: ChainSamples, hands: Hands) -> Floats:
    """Return the rotations (frames, 3, 3), in pose space, of what follows the target, from rest."""
    assert samples.aims is not None
    armature = orientations(samples.world[:, :3, :3])
    turns: Floats = np.swapaxes(armature, 1, 2) @ orientations(samples.aims) @ hands.offset
    return turns
