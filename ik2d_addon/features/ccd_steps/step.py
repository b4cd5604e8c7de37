# SPDX-License-Identifier: GPL-3.0-or-later
"""Plain CCD on the pose that stands, one joint or one iteration at a time: to see what it does."""

from dataclasses import dataclass

import bpy
import numpy as np

from ...core import CCDResult, Chain, IK2DError, ccd_step, forward
from ...core.ccd.step import ccd_joint
from ...core.inputs import Floats, wrapped
from ...rig.chain.chain import RigChain
from ...rig.pose.kinematics import angles_before
from ...rig.pose.target_plane import target_points
from ..drag.held_chain import HeldChain

# CCD stands still where an iteration moves the tip by less than a hundredth of this part of the reach: 32
# bits hold no chain much straighter than that.
_STILL = 1e-2


@dataclass(frozen=True, eq=False)
class CCDStep:
    """What a step did. Lengths are the world's."""

    bones: tuple[str, ...]  # the chain's, root to tip
    turned: Floats  # (n,) radians, by how much each joint did
    result: CCDResult  # FAILURE: no joint of the chain can bring the tip any nearer
    distance: float  # tip to target, in the chain's plane


def step_pose(scene: bpy.types.Scene, rig: RigChain, joint: int | None = None) -> CCDStep:
    """Turn one joint of a chain as plain CCD does, or all of them once, and show it.

    joint: 0 for the root; None for one iteration, tip to root. Raises IK2DError for what has no place.
    """
    if rig.slides is not None or rig.stretching is not None:
        raise IK2DError(
            f"Chain '{rig.name}' slides or stretches, and plain CCD only turns joints; turn Slide and Stretch"
            " off to step through it"
        )
    held_chain = HeldChain.of(scene, rig)
    rig, linkage = held_chain.rig, held_chain.linkage
    lengths, headings = linkage.unturned()
    joints = rig.joints
    chain = Chain(lengths[0], joints.limits_from(angles_before(headings)[0]), joints.weights)
    angles = linkage.angles_of(held_chain.keyed_pose.turns[None], headings)[0]
    target = rig.plane.project(target_points(rig, held_chain.samples))[0]
    tolerance = chain.tolerance_or_default(rig.tolerance)
    new, _ = ccd_step(chain, angles, target, tolerance=tolerance)
    _, result = ccd_step(chain, angles, target, tolerance=max(tolerance, _STILL * chain.reach[1]))
    if joint is not None:
        new = ccd_joint(chain, angles, target, joint)
    miss = float(np.hypot(*(forward(chain, new)[-1] - target)))
    turns = linkage.local_turns(new[None], headings, joints.held, held_chain.keyed_pose.turns)
    held_chain.turn(turns)
    bpy.context.view_layer.update()
    if result != CCDResult.FAILURE:
        result = CCDResult.SUCCESS if miss <= tolerance else CCDResult.PROCESSING
    to_world = (held_chain.samples.world[0] @ linkage.to_pose[0])[:3, :3]
    scale = float(np.linalg.norm(to_world @ rig.plane.x))
    return CCDStep(rig.bones, wrapped(new - angles), result, scale * miss)
