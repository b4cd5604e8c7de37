# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that walks through plain CCD, joint by joint."""

import bpy
import numpy as np
from bpy.props import BoolProperty, StringProperty
from bpy.types import Operator, PropertyGroup

from ...bake.report import length_text
from ...bake.request import scene_of
from ...core import CCDResult, IK2DError
from ...core.inputs import Floats
from ...rig.chain.chain import read_chain
from ...ui.context import active_armature, allowed, named_chain, why_no_chain
from ...ui.registration import registration
from ..baking.staleness import solve_fingerprint
from . import ccd_lines
from .step import CCDStep, step_pose


def next_joint(chain: PropertyGroup, count: int) -> int:
    """Return which joint is next: the tip's, unless the last step is what the pose still shows."""
    walk = chain.ccd_walk
    goes_on = walk.mark and walk.mark == solve_fingerprint(chain, bpy.context.scene)
    return walk.joint if goes_on and walk.joint < count else count - 1


def step_chain(armature: bpy.types.Object, chain: PropertyGroup, whole: bool = False) -> tuple[CCDStep, int]:
    """Turn the next joint of a chain as plain CCD does, or all joints once; draw the lines of it.

    Returns what it did, and which joint did it: the root's where all did. Raises IK2DError for what
    cannot be solved.
    """
    scene = scene_of(armature)
    rig = read_chain(armature, chain)
    bpy.context.view_layer.update()
    joint = 0 if whole else next_joint(chain, len(rig.bones))
    before = _joints(armature, rig.bones)
    step = step_pose(scene, rig, None if whole else joint)
    walk = chain.ccd_walk
    walk.joint = (joint - 1) % len(rig.bones)
    walk.mark = solve_fingerprint(chain, scene)
    figure = _figure(armature, chain, before, joint, float(step.turned[joint]), whole)
    ccd_lines.show(figure, armature.name, chain.name, walk.mark)
    return step, joint


def _joints(armature: bpy.types.Object, bones: tuple[str, ...]) -> Floats:
    """Return where joints and tip stand now (n + 1, 3), in the world."""
    posed = [armature.pose.bones[name] for name in bones]
    places = [armature.matrix_world @ place for place in (*(bone.head for bone in posed), posed[-1].tail)]
    return np.array(places, np.float64)


def _figure(
    armature: bpy.types.Object, chain: PropertyGroup, before: Floats, joint: int, turn: float, whole: bool
) -> ccd_lines.Figure:
    """Return the lines of the joint that turned last."""
    bones = tuple(bone.name for bone in chain.joints) if len(chain.joints) == len(before) - 1 else ()
    after = _joints(armature, bones) if bones else before
    target = chain.target
    place = target.matrix_world.translation
    if chain.subtarget:
        place = target.matrix_world @ target.pose.bones[chain.subtarget].head
    tip, at = before[-1], before[joint]
    normal = np.cross(tip - at, after[-1] - at) * (1.0 if np.sin(turn) >= 0.0 else -1.0)
    length = float(np.linalg.norm(normal))
    if whole or length == 0.0:  # the turn of one joint alone has a place to be drawn
        return ccd_lines.Figure(after[joint], after[-1], np.array(place), 0.0, np.zeros(3))
    return ccd_lines.Figure(at, tip, np.array(place), turn, normal / length)


class IK2D_OT_ccd_step(Operator):
    """Turn the next joint, from tip to root, as plain CCD does: to see how it goes, and where it locks"""

    bl_idname = "ik2d.ccd_step"
    bl_label = "CCD Step"
    bl_options = {'REGISTER', 'UNDO'}

    whole: BoolProperty(
        name="Whole Iteration",
        description="Turn all joints once, from tip to root, instead of the next one",
        default=False,
        options={'SKIP_SAVE'},
    )
    chain: StringProperty(
        name="Chain",
        description="Chain to step; empty for the active one",
        options={'SKIP_SAVE'},
    )

    @classmethod
    def poll(cls, context):
        return allowed(cls, why_no_chain(context))

    def execute(self, context):
        armature = active_armature(context)
        try:
            chain = named_chain(context, self.chain)
            step, joint = step_chain(armature, chain, self.whole)
        except IK2DError as error:
            self.report({'ERROR'}, str(error))
            return {'CANCELLED'}
        level = 'WARNING' if step.result == CCDResult.FAILURE else 'INFO'
        units = context.scene.unit_settings.system
        self.report({level}, told(step, joint, self.whole, chain.ccd_walk.joint, units))
        return {'FINISHED'}


def told(step: CCDStep, joint: int, whole: bool, following: int, units: str) -> str:
    """Return what a step did, as a sentence."""
    off = length_text(step.distance, units)
    if step.result == CCDResult.FAILURE:
        return (
            f"No joint can bring the tip any nearer: plain CCD is locked, {off} from the target; Solve takes"
            " another way"
        )
    if whole:
        turned = f"Turned all joints, '{step.bones[int(np.argmax(np.abs(step.turned)))]}' the most, by"
        turned += f" {np.degrees(np.abs(step.turned).max()):.1f} degrees"
    else:
        turned = f"Turned '{step.bones[joint]}' by {np.degrees(step.turned[joint]):.1f} degrees"
    if step.result == CCDResult.SUCCESS:
        return f"{turned}; the tip is on its target"
    return f"{turned}; the tip is {off} from its target, '{step.bones[following]}' is next"


classes = (IK2D_OT_ccd_step,)
register, unregister = registration(classes)
