# SPDX-License-Identifier: GPL-3.0-or-later
"""The pole of a chain's plane: its settings in the panel, and buttons that add one and fit its angle."""

from collections.abc import Sequence
from math import cos, radians

import numpy as np
from bpy.types import Context, Object, Operator, PoseBone, PropertyGroup, UILayout
from mathutils import Vector

from ...core import IK2DError, Plane
from ...core.swing import POLE
from ...core.words import refusal, say
from ...rig.chain.checks.bones import chain_bones, rest_joints
from ...rig.chain.planes import bend_of, pole_side, reach_of
from ...rig.chain.post import bending_bones_of
from ...rig.pose.pole_angle import angle_to_side
from ...ui.context import active_armature, shown_chain, why_no_chain
from ...ui.operator import ChainOperator
from ...ui.parts import entry
from ...ui.registration import registration
from ...ui.settings.chain_list import add_target
from ...ui.text import bone_field, field

# A new pole is so far in front of the knee, as a part of the chain's length.
_AWAY = 1.0
# A chain that bends this near to its pole, in radians, points at it: riggers fit pole angles by eye.
_AT_POLE = radians(5.0)


def angle_to_bend(settings: PropertyGroup, bones: Sequence[PoseBone]) -> float | None:
    """Return the pole angle, radians, at which a chain bends towards its pole.

    None where it is straight at rest, so that any angle does. Raises IK2DError for bones without a size.
    """
    joints = rest_joints([*bones])
    plane = Plane.of_bend(joints)
    if plane is None:
        return None
    sign = -1.0 if bend_of(settings) < 0.0 else 1.0
    return angle_to_side(bones, sign * np.cross(joints[-1] - joints[0], plane.normal))


def fit_pole_angle(chain: PropertyGroup) -> float:
    """Set a chain's pole angle so that it bends towards its pole; return it, in radians.

    Raises IK2DError for a chain that is straight at rest: it bends towards its pole at any angle.
    """
    bones = chain_bones(chain.id_data, chain.tip, chain.bone_count, chain.name)
    angle = angle_to_bend(chain, bones)
    if angle is None:
        raise refusal(
            "Chain '{chain}' is straight at rest: it bends towards its pole at any Pole Angle",
            chain=chain.name,
        )
    chain.pole_angle = angle
    return angle


def add_pole(armature: Object, chain: PropertyGroup) -> Object:
    """Add an empty on the side that a chain bends to, and have its plane go through it; return the empty.

    Raises IK2DError, with nothing changed, for a chain without bones.
    """
    bones = chain_bones(armature, chain.tip, chain.bone_count, chain.name)
    if angle_to_bend(chain, bones) is not None:
        fit_pole_angle(chain)
    joints = rest_joints(bones)
    length = reach_of(joints)
    line = joints[-1] - joints[0]
    line /= np.linalg.norm(line) or 1.0
    side = pole_side(bones[0], chain.pole_angle)
    across = side - (side @ line) * line
    across /= np.linalg.norm(across) or 1.0
    pole = add_target(armature, chain.tip, "Pole", chain.bone_count)
    # In the pose that is shown, so that the chain stays as it is.
    shown = bones[0].matrix @ bones[0].bone.matrix_local.inverted_safe()
    place = joints[len(bones) // 2] + _AWAY * length * across
    pole.location = armature.matrix_world @ shown @ Vector(place)
    chain.pole, chain.pole_subtarget, chain.plane = pole, "", POLE
    return pole


def bends_aside(chain: PropertyGroup) -> bool:
    """Return whether a chain with a pole bends to another side than the one that faces it."""
    try:
        bones = chain_bones(chain.id_data, chain.tip, chain.bone_count, chain.name)
        angle = angle_to_bend(chain, bones)
    except IK2DError:
        return False
    return angle is not None and cos(angle - chain.pole_angle) < cos(_AT_POLE)


def _why_no_pole(context: Context) -> str:
    if reason := why_no_chain(context):
        return reason
    return "" if shown_chain(context).plane == POLE else say("Set Bends In to Towards Pole first")


class IK2D_OT_pole_add(ChainOperator, Operator):
    """Add an empty in front of the active chain's knee or elbow, for it to point at"""

    bl_idname = "ik2d.pole_add"
    bl_label = "Add Pole"

    def work(self, context):
        chain = shown_chain(context)
        pole = add_pole(active_armature(context), chain)
        return say("Chain '{chain}' bends towards the new '{pole}'", chain=chain.name, pole=pole.name)


class IK2D_OT_pole_fit(ChainOperator, Operator):
    """Set the Pole Angle at which the active chain's knee or elbow points at the pole"""

    bl_idname = "ik2d.pole_fit"
    bl_label = "Point at Pole"

    why_not = staticmethod(_why_no_pole)

    def work(self, context):
        chain = shown_chain(context)
        angle = np.degrees(fit_pole_angle(chain))
        return say(
            "Chain '{chain}' bends towards its pole, at a Pole Angle of {angle:.3g} degrees",
            chain=chain.name,
            angle=angle,
        )


def draw_pole(layout: UILayout, context: Context, chain: PropertyGroup) -> None:
    """Draw the pole of a plane that has one, and whether distance counts for a single bone."""
    if chain.plane == POLE:
        field(layout, context, chain, "pole")
        bone_field(layout, context, chain, "pole_subtarget", chain.pole)
        field(layout, context, chain, "pole_angle")
        if chain.pole is None:
            layout.operator("ik2d.pole_add", icon='EMPTY_AXIS')
        elif bends_aside(chain):
            layout.operator("ik2d.pole_fit", icon='CON_TRACKTO')
    if len(bending_bones_of(chain)) == 1:
        field(layout, context, chain, "aim_distance")


HEADINGS = {"pole": "chain.pole_* pole_*"}
MENU = {"chain": [entry("ik2d.pole_add", 'EMPTY_AXIS'), entry("ik2d.pole_fit", 'CON_TRACKTO')]}
classes = (IK2D_OT_pole_add, IK2D_OT_pole_fit)
register, unregister = registration(classes)
