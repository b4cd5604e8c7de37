# SPDX-License-Identifier: GPL-3.0-or-later
"""Buttons that add and remove a foot, and its settings in the panel."""

from collections.abc import Callable

from bpy.types import Context, Operator, PropertyGroup, UILayout

from ...core.words import say
from ...rig.chain.hands import hanging_bones
from ...ui.context import active_armature, shown_chain, why_no_chain
from ...ui.operator import ChainOperator
from ...ui.parts import entry
from ...ui.registration import registration
from ...ui.text import field
from .add import add_foot, remove_foot


def _why_no_foot(context: Context) -> str:
    return why_no_chain(context) or ("" if shown_chain(context).foot.is_added else say("Add a foot first"))


def _why_not_add(context: Context) -> str:
    if reason := why_no_chain(context):
        return reason
    armature, chain = active_armature(context), shown_chain(context)
    if chain.foot.is_added:
        return say("Chain '{chain}' has a foot already", chain=chain.name)
    tip = armature.pose.bones.get(chain.tip)
    if tip is None or not hanging_bones(tip):
        return say("No bone hangs on the end of '{tip}' that could be a foot", tip=chain.tip)
    return ""


class IK2D_OT_foot_add(ChainOperator, Operator):
    """Make the active chain's target the control of a foot, which turns with it and rolls"""

    bl_idname = "ik2d.foot_add"
    bl_label = "Add Foot"

    why_not = staticmethod(_why_not_add)

    def work(self, context):
        chain = shown_chain(context)
        add_foot(active_armature(context), chain)
        return say("Chain '{chain}' has a foot now: turn its target, or change Roll", chain=chain.name)


class IK2D_OT_foot_remove(ChainOperator, Operator):
    """Remove the foot of the active chain; its last bone follows the target again"""

    bl_idname = "ik2d.foot_remove"
    bl_label = "Remove Foot"

    why_not = staticmethod(_why_no_foot)

    def work(self, context):
        chain = shown_chain(context)
        remove_foot(active_armature(context), chain)
        return say("Chain '{chain}' no longer has a foot", chain=chain.name)


def draw_foot(
    layout: UILayout, context: Context, chain: PropertyGroup, draw_value: Callable[..., None]
) -> None:
    """Draw the settings of a chain's foot. draw_value: draws one (layout, context, chain, name, group)."""
    foot = chain.foot
    for name in ("roll", "toe", "break_angle"):
        draw_value(layout, context, chain, name, foot)
    field(layout, context, foot, "ground")
    if foot.ground is not None:
        layout.prop(foot, "use_ground")
    header, body = layout.panel("ik2d_pivots", default_closed=True)
    header.label(text=say("Pivots"), translate=False)
    if body is not None:
        for name in ("heel", "ball", "toe_tip"):
            body.prop(foot, name)
    layout.operator("ik2d.foot_remove", icon='X')


HEADINGS = {
    "add-foot": "chain.foot foot.is_added foot_remove",
    "roll-and-toes": "foot.roll foot.toe foot.break_angle",
    "above-ground": "foot.ground",
    "pivots": "foot.heel foot.ball foot.toe_tip",
}
MENU = {"chain": [entry("ik2d.foot_add", 'ADD'), entry("ik2d.foot_remove", 'X')]}
classes = (IK2D_OT_foot_add, IK2D_OT_foot_remove)
register, unregister = registration(classes)
