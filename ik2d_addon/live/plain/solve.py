# SPDX-License-Identifier: GPL-3.0-or-later
"""A solver in plain numbers for common chains of a rig; `bake.solving` solves all others."""

import numpy as np

from ...bake.solving.stretching import with_scale
from ...core import Chain
from ...core.one_target import PlainSolver, PlainStretch, plain_solver
from ...rig.chain.chain import RigChain
from ...rig.pose.kinematics import Linkage, angles_before, read_linkage
from ...rig.pose.measures import uneven
from ...rig.scene.samples import ChainSamples
from .tips import PlainTips

# Of a chain whose bones keep their lengths, or stretch.
Plain = PlainSolver | PlainStretch


def read_plain_solver(
    rig: RigChain, samples: ChainSamples, like: Plain | None = None, tips: PlainTips | None = None
) -> tuple[Plain | None, Linkage | None]:
    """Return a plain solver of a chain as one frame holds it, and its linkage; None for an unsupported chain.

    like: that of the same chain in another plane, whose families of poses are shared if they fit. tips:
    finds the tips of bones that stretch where their links are not exact.
    """
    joints, stretching = rig.joints, rig.stretching
    if rig.settings.tip_angle is not None:
        return None, None
    if (
        rig.settings.solver not in ('TWO_BONE', 'EVEN')
        or joints.askew
        or joints.fixed.any()
        or rig.slides is not None
    ):
        return None, None
    if rig.settings.solver == 'EVEN' and not rig.settings.root_turns_freely:
        return None, None
    if stretching is not None and (stretching.limits.is_off or joints.held.any()):
        return None, None
    if stretching is None and uneven(samples.bases[:, :-1, :3, :3]).any():
        return None, None  # bones that shear those after them have another length in each pose
    linkage = read_linkage(rig, with_scale(rig, samples))
    exact = not linkage.blender_tips and all(link.inherits for link in linkage.links)
    # The tips of links that are not exact are those of the plane at rest.
    if not linkage.planar or not (exact or stretching is not None and rig.swing is None):
        return None, None
    solver = _solver(rig, linkage)
    if solver is None:
        return None, None
    if like is not None and rig.settings.solver == 'EVEN':
        solver.share_families(like.solver if isinstance(like, PlainStretch) else like)
    if stretching is None:
        return solver, linkage
    return PlainStretch(solver, stretching.limits, None if exact else tips), linkage


def _solver(rig: RigChain, linkage: Linkage) -> PlainSolver | None:
    lengths, headings = linkage.unturned()
    unturned = angles_before(headings)[0]
    return plain_solver(
        Chain(lengths[0], rig.joints.limits_from(unturned), rig.joints.weights),
        unturned,
        even=rig.settings.solver == 'EVEN',
        links=[
            (*np.reshape(link.hold, 4).tolist(), *np.reshape(link.end, 2).tolist()) for link in linkage.links
        ],
        tolerance=rig.settings.tolerance,
    )
