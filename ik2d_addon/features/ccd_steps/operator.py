# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that walks through plain CCD on the current pose, one joint or one iteration at a time."""

from dataclasses import dataclass

import bpy
import numpy as np
from bpy.types import Operator, PropertyGroup

from ...bake.lengths import Units, length_text
from ...bake.request import scene_of
from ...core import CCDResult, Chain, ccd_step, forward
from ...core.ccd.step import ccd_joint
from ...core.inputs import Floats, wrapped
from ...core.words import refusal, say
from ...rig.chain.chain import RigChain, read_chain
from ...rig.pose.kinematics import angles_before, read_linkage
from ...rig.pose.target_plane import target_points
from ...ui.context import active_armature, named_chain
from ...ui.operator import ChainOperator, chain_name, tick
from ...ui.parts import entry
from ...ui.registration import registration
from ..baking.staleness import solve_fingerprint
from ..drag.held_chain import HeldChain

# CCD is stuck where an iteration moves the tip by less than a hundredth of this part of the reach: 32
# bits hold no chain much straighter than that.
_STILL = 1e-2


@dataclass(frozen=True, eq=False)
class CCDStep:
    """A step of CCD. Lengths are the world's."""

    bones: tuple[str, ...]  # the chain's, root to tip
    turned: Floats  # (n,) radians that each joint turned by
    result: CCDResult  # FAILURE: no joint of the chain can bring the tip any nearer
    distance: float  # tip to target, in the chain's plane


def step_pose(scene: bpy.types.Scene, rig: RigChain, joint: int | None = None) -> CCDStep:
    """Turn one joint of a chain as plain CCD does, or all of them once, and show it.

    joint: 0 for the root; None for one iteration, tip to root. Raises IK2DError for a bone without a place.
    """
    if rig.slides is not None or rig.stretching is not None:
        raise refusal(
            "Chain '{chain}' slides or stretches, and plain CCD only turns joints; turn Slide "
            "and Stretch off to step through it",
            chain=rig.name,
        )
    held_chain = HeldChain.of(scene, rig)
    rig, samples = held_chain.rig, held_chain.ready
    linkage = read_linkage(rig, samples)
    lengths, headings = linkage.unturned()
    joints = rig.joints
    chain = Chain(lengths[0], joints.limits_from(angles_before(headings)[0]), joints.weights)
    angles = linkage.angles_of(held_chain.keyed_pose.turns[None], headings)[0]
    target = rig.plane.project(target_points(rig, samples))[0]
    tolerance = chain.tolerance_or_default(rig.settings.tolerance)
    new, _ = ccd_step(chain, angles, target, tolerance=tolerance)
    _, result = ccd_step(chain, angles, target, tolerance=max(tolerance, _STILL * chain.reach[1]))
    if joint is not None:
        new = ccd_joint(chain, angles, target, joint)
    miss = float(np.hypot(*(forward(chain, new)[-1] - target)))
    turns = linkage.local_turns(new[None], headings, joints.held, held_chain.keyed_pose.turns)
    held_chain.turn(turns, swings=samples.swings)
    bpy.context.view_layer.update()
    if result != CCDResult.FAILURE:
        result = CCDResult.SUCCESS if miss <= tolerance else CCDResult.PROCESSING
    to_world = (samples.world[0] @ linkage.to_pose[0])[:3, :3]
    scale = float(np.linalg.norm(to_world @ rig.plane.x))
    return CCDStep(rig.bones, wrapped(new - angles), result, scale * miss)


def next_joint(chain: PropertyGroup, count: int) -> int:
    """Return the index of the next joint: the tip's, unless the pose is as the last step left it."""
    walk = chain.ccd_walk
    goes_on = walk.mark and walk.mark == solve_fingerprint(chain, bpy.context.scene)
    return walk.joint if goes_on and walk.joint < count else count - 1


def step_chain(armature: bpy.types.Object, chain: PropertyGroup, whole: bool = False) -> tuple[CCDStep, int]:
    """Turn the next joint of a chain as plain CCD does, or all joints once.

    Returns the step, and the joint that turned: the root's if all did. Raises IK2DError for a chain that
    cannot be solved.
    """
    scene = scene_of(armature)
    rig = read_chain(armature, chain)
    if rig.settings.tip_angle is not None:
        raise refusal(
            "Chain '{chain}': plain CCD gives the last bone no angle; set Last Bone's Angle to Free to step",
            chain=rig.name,
        )
    bpy.context.view_layer.update()
    joint = 0 if whole else next_joint(chain, len(rig.bones))
    step = step_pose(scene, rig, None if whole else joint)
    chain.ccd_walk.joint = (joint - 1) % len(rig.bones)
    chain.ccd_walk.mark = solve_fingerprint(chain, scene)
    return step, joint


def told(step: CCDStep, joint: int, whole: bool, following: int, units: Units) -> str:
    """Return a sentence about a step."""
    off = length_text(step.distance, units)
    if step.result == CCDResult.FAILURE:
        return say(
            "No joint can bring the tip any nearer: plain CCD is locked, {off} from the target; "
            "Pose This Frame takes another way",
            off=off,
        )
    if whole:
        turned = say(
            "Turned all joints, '{bone}' the most, by", bone=step.bones[int(np.argmax(np.abs(step.turned)))]
        )
        turned += say(" {angle:.1f} degrees", angle=np.degrees(np.abs(step.turned).max()))
    else:
        turned = say(
            "Turned '{bone}' by {angle:.1f} degrees",
            bone=step.bones[joint],
            angle=np.degrees(step.turned[joint]),
        )
    if step.result == CCDResult.SUCCESS:
        return say("{turned}; the tip is on its target", turned=turned)
    return say(
        "{turned}; the tip is {off} from its target, '{bone}' is next",
        turned=turned,
        off=off,
        bone=step.bones[following],
    )


class IK2D_OT_ccd_step(ChainOperator, Operator):
    """Turn the next joint, from tip to root, as plain CCD does: to see how it works and where it locks"""

    bl_idname = "ik2d.ccd_step"
    bl_label = "CCD Step"

    whole: tick("Whole Iteration", "Turn all joints once, from tip to root, instead of the next one")
    chain: chain_name("Chain to step; empty for the active one")

    def work(self, context):
        chain = named_chain(context, self.chain)
        chain.live = False  # or it would undo the step
        step, joint = step_chain(active_armature(context), chain, self.whole)
        sentence = told(step, joint, self.whole, chain.ccd_walk.joint, Units.of(context.scene))
        self.tell(sentence, warnings=(), is_good=step.result != CCDResult.FAILURE)


MENU = {"pose": [entry("ik2d.ccd_step", 'CON_ROTLIKE')]}
classes = (IK2D_OT_ccd_step,)
register, unregister = registration(classes)
