# SPDX-License-Identifier: GPL-3.0-or-later
"""The plane of a limb that is straight at rest: turned by a button, and told in the panel."""

from math import radians

import numpy as np
from bpy.props import FloatProperty
from bpy.types import Context, Operator, PoseBone, PropertyGroup, UILayout
from mathutils import Quaternion, Vector

from ...core import IK2DError
from ...core.inputs import Floats
from ...core.swing import SHORTEST_WAY, SWING
from ...core.words import refusal, say
from ...rig.chain.checks.bones import chain_bones, rest_joints
from ...rig.chain.planes import FOLLOWING, bend_plane
from ...rig.chain.post import POST, bending_bones
from ...rig.pose.straight_plane import is_straight, line_from_root
from ...ui.context import named_chain, shown_chain, why_no_chain
from ...ui.operator import ChainOperator, chain_name
from ...ui.parts import entry
from ...ui.registration import registration
from ...ui.settings.found_plane import find_plane
from ...ui.text import draw_text

# The cosine of the angle within which a plane is that of two axes.
_AXIS = 0.9998


def view_of(context: Context) -> Floats | None:
    """Return the right, the up and the way to the viewer of the 3D View, as columns (3, 3); None without."""
    view = context.region_data  # None outside a 3D View
    return np.array(view.view_matrix.to_3x3().inverted(), np.float64) if view is not None else None


def shown_straight(chain: PropertyGroup) -> bool:
    """Return whether a chain is straight at rest, and has a normal of its own to turn."""
    if chain.plane not in ('AUTO', 'CUSTOM', SWING, SHORTEST_WAY, POST):
        return False
    try:
        bones = _bones(chain)
        return is_straight(chain, bones) and not (chain.plane in FOLLOWING and len(bones) == 1)
    except IK2DError:
        return False


def _bones(chain: PropertyGroup) -> list[PoseBone]:
    """Return the bones that bend; raise IK2DError for a chain without bones."""
    return bending_bones(chain, chain_bones(chain.id_data, chain.tip, chain.bone_count, chain.name))


def straight_in_words(chain: PropertyGroup) -> str:
    """Return the plane that a straight chain bends in: "Straight limb: bends in XZ"."""
    if chain.plane == 'AUTO':
        return say("Straight limb: bends towards its target")
    if chain.plane in FOLLOWING:
        return say("Straight limb: bends in a plane that follows its target")
    if chain.plane == POST:
        return say("Straight limb: bends in a plane that turns with its post")
    normal = np.abs([*chain.plane_normal])
    axis = int(normal.argmax())
    if normal[axis] < _AXIS * np.linalg.norm(normal):
        return say("Straight limb: bends in its own plane")
    return say("Straight limb: bends in {axes}", axes='XYZ'.replace('XYZ'[axis], ""))


def turn_plane(chain: PropertyGroup, angle: float, view: Floats | None = None) -> None:
    """Turn the plane of a straight chain about the chain by an angle; fix one that is automatic.

    Of a plane that follows its target, or turns about a post, the one at rest is turned.

    view: as in `add_chain`. Raises IK2DError for a chain that is not straight.
    """
    bones = _bones(chain)
    if not is_straight(chain, bones):
        raise refusal(
            "Chain '{chain}' is bent at rest, so that it has a plane; set Bends In to another",
            chain=chain.name,
        )
    if chain.plane == 'AUTO':
        find_plane(chain, view, turned=False)
        return
    turn = Quaternion(line_from_root(bones), angle)
    normal = bend_plane(chain, bones, rest_joints(bones)).normal
    chain.property_unset("swing_normal")
    chain.plane_normal = turn @ Vector(normal)
    if chain.plane not in (*FOLLOWING, POST):
        chain.plane = 'CUSTOM'


class IK2D_OT_turn_plane(ChainOperator, Operator):
    """Turn the plane that a straight limb bends in by 90 degrees about the limb"""

    bl_idname = "ik2d.turn_plane"
    bl_label = "Turn Plane"

    chain: chain_name("Chain whose plane to turn; empty for the active one")
    angle: FloatProperty(
        name="Angle",
        description="Angle to turn the plane by about the limb",
        default=radians(90.0),
        subtype='ANGLE',
        options={'SKIP_SAVE'},
    )

    @staticmethod
    def why_not(context):
        if reason := why_no_chain(context):
            return reason
        return "" if shown_straight(shown_chain(context)) else say("The chain is not straight at rest")

    def work(self, context):
        chain = named_chain(context, self.chain)
        turn_plane(chain, self.angle, view_of(context))
        return say(
            "Chain '{chain}': {plane} now",
            chain=chain.name,
            plane=straight_in_words(chain).partition(": ")[2],
        )


def draw_straight(layout: UILayout, context: Context, chain: PropertyGroup) -> None:
    """Draw the plane of a straight limb, with the buttons that turn it and flip the bend; else nothing."""
    if not shown_straight(chain):
        return
    column = layout.column(align=True)
    draw_text(column, context, straight_in_words(chain), 'ORIENTATION_NORMAL')
    row = column.row(align=True)
    row.operator("ik2d.turn_plane").chain = chain.name
    row.operator("ik2d.flip", text=say("Flip"), translate=False, icon='MOD_MIRROR').chain = chain.name


MENU = {"chain": [entry("ik2d.turn_plane")]}
classes = (IK2D_OT_turn_plane,)
register, unregister = registration(classes)
