# SPDX-License-Identifier: GPL-3.0-or-later
"""The goal of an ankle at each frame: the foot's control, its roll, and the ground."""

import bpy
import numpy as np
from mathutils import Matrix

from ....core.affine import changed, orientations
from ....core.inputs import Floats
from ...chain.chain import RigChain
from ...chain.foot.foot import Foot
from ...chain.hands import Hands
from ..samples import ChainSamples
from .surface import Ground, MeshReader


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
    values = np.array((samples.roll, samples.toes_up, samples.break_angle))
    ankles, *angles = foot.shape.rolled(*values)
    linear = np.reshape(sizes, (-1, 1, 1)) * (samples.world[:, :3, :3] @ control_turns(samples, rig.hands))
    goals = samples.targets + (linear @ foot.offsets(ankles)[..., None])[..., 0]
    lifts = np.zeros(len(goals))
    if ground is not None and samples.heeds_ground.any():
        soles = _soles(foot, values, samples.targets, linear)
        lifts = np.where(samples.heeds_ground, ground.lifts(soles), 0.0)
        goals[:, 2] += np.nan_to_num(lifts)
    return changed(samples, targets=goals, foot=np.stack(angles, axis=-1), lifts=lifts)


def _soles(foot: Foot, values: Floats, targets: Floats, linear: Floats) -> Floats:
    """Return points (frames, 4, 3) of the sole in the world, before the ground lifts it.

    values: (3, frames) roll, toe, break angle; linear: (frames, 3, 3) from rest to the world.
    """
    soles: Floats = targets[:, None] + np.einsum(
        "fij,fpj->fpi", linear, foot.offsets(foot.shape.sole(*values))
    )
    return soles


def shown_sole(rig: RigChain, depsgraph: bpy.types.Depsgraph, values: Floats) -> Floats:
    """Return points (4, 3) of a foot's sole in the world, as a depsgraph shows its control and the armature.

    values: (3,) roll, toe and break angle. The rounding is another than in `with_foot`.
    """
    assert rig.foot is not None and rig.hands is not None
    armature, shown = rig.armature.evaluated_get(depsgraph), rig.target.evaluated_get(depsgraph)
    control = shown.matrix_world
    if rig.subtarget:
        control = control @ shown.pose.bones[rig.subtarget].matrix
    world, aims = np.array(armature.matrix_world, np.float64)[None], np.array(control, np.float64)[None]
    turns = _turns(world, aims[:, :3, :3], rig.hands)
    linear = size_of(rig, armature.pose.bones) * (world[:, :3, :3] @ turns)
    sole: Floats = _soles(rig.foot, values[:, None], aims[:, :3, 3], linear)[0]
    return sole


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
    surfaces = [MeshReader(foot.ground).whole(depsgraph)] if foot.has_surface else None
    return Ground(whole[:, :3, 3], whole[:, :3, :3], surfaces, np.array([root]))


def size_of(rig: RigChain, bones: bpy.types.bpy_prop_collection) -> float:
    """Return the size of a chain's foot as posed beside its rest pose. bones: of the armature, evaluated."""
    return float(bones[rig.hands.bones[0]].matrix.col[0].length) if rig.hands is not None else 1.0


def control_turns(samples: ChainSamples, hands: Hands) -> Floats:
    """Return the rotations (frames, 3, 3), in pose space, of what follows the target, from rest."""
    assert samples.aims is not None
    return _turns(samples.world, samples.aims, hands)


def _turns(world: Floats, aims: Floats, hands: Hands) -> Floats:
    armature = orientations(world[:, :3, :3])
    turns: Floats = np.swapaxes(armature, 1, 2) @ orientations(aims) @ hands.offset
    return turns
