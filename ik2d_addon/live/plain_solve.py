# SPDX-License-Identifier: GPL-3.0-or-later
"""A solver in plain numbers for common chains of a rig; `bake.solving` solves all others."""

import numpy as np

from ..core import Chain
from ..core.plain import PlainSolver, plain_solver
from ..rig.chain.chain import RigChain
from ..rig.pose.kinematics import angles_before, read_linkage
from ..rig.scene.samples import ChainSamples
from .writing import changes_lengths


def read_plain_solver(
    rig: RigChain, samples: ChainSamples, like: PlainSolver | None = None
) -> PlainSolver | None:
    """Return a plain solver of a chain as one frame holds it; None for an unsupported chain.

    like: that of the same chain in another plane, whose families of poses are shared if they fit.
    """
    joints = rig.joints
    if rig.tip_angle is not None:
        return None
    if rig.solver not in ('TWO_BONE', 'EVEN') or joints.askew or joints.fixed.any() or changes_lengths(rig):
        return None
    if rig.solver == 'EVEN' and not rig.root_turns_freely:
        return None
    linkage = read_linkage(rig, samples)
    if linkage.blender_tips or not linkage.planar or not all(link.inherits for link in linkage.links):
        return None
    lengths, headings = linkage.unturned()
    unturned = angles_before(headings)[0]
    solver = plain_solver(
        Chain(lengths[0], joints.limits_from(unturned), joints.weights),
        unturned,
        even=rig.solver == 'EVEN',
        links=[
            (*np.reshape(link.hold, 4).tolist(), *np.reshape(link.end, 2).tolist()) for link in linkage.links
        ],
        tolerance=rig.tolerance,
    )
    if solver is not None and like is not None and rig.solver == 'EVEN':
        solver.share_families(like)
    return solver
