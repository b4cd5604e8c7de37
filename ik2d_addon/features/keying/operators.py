# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that keys a chain's target, and its row in the panel."""

from bpy.types import Operator, PropertyGroup, UILayout

from ...core.words import quoted, say
from ...ui.context import named_chain, redraw, shown_chain, why_no_chain
from ...ui.operator import ChainOperator, chain_name
from ...ui.parts import entry
from ...ui.registration import registration
from .key_target import key_target


class IK2D_OT_key_target(ChainOperator, Operator):
    """Key the active chain's target, its pole and its foot at this frame, where they are now"""

    bl_idname = "ik2d.key_target"
    bl_label = "Key Target"

    chain: chain_name("Chain whose target to key; empty for the active one")

    @staticmethod
    def why_not(context):
        if reason := why_no_chain(context):
            return reason
        chain = shown_chain(context)
        return (
            "" if chain.target is not None else say("Chain '{chain}' has no target to key", chain=chain.name)
        )

    def work(self, context):
        names = key_target(context.scene, named_chain(context, self.chain))
        redraw(context)
        return say(
            "Keyed {names} at frame {frame:g}", names=quoted(names), frame=context.scene.frame_current_final
        )


def draw_key_target(layout: UILayout, chain: PropertyGroup) -> None:
    """Draw the row that keys a chain's target."""
    layout.operator("ik2d.key_target", icon='KEYFRAME_HLT').chain = chain.name


MENU = {name: [entry("ik2d.key_target", 'KEYFRAME_HLT', order=3)] for name in ("main", "bone")}
classes = (IK2D_OT_key_target,)
register, unregister = registration(classes)
