# SPDX-License-Identifier: GPL-3.0-or-later
"""The main button for the active bone: adopt the IK that moves it, else add a chain."""

from bpy.types import Context, UILayout

from ...core.words import say
from ...rig.chain.dependencies import leading
from ...rig.chain.fingerprint import followed_by
from ...ui.context import active_armature
from ...ui.text import draw_text
from ..adopt.operators import limb_here
from .menus import chain_here
from .selection import chosen_bones, plan_in_words, why_not_add


def offers_another(context: Context) -> bool:
    """Return whether the active bone can get a chain: it is in none, and carries no target or pole of one."""
    if context.mode != 'POSE' or why_not_add(context) or chain_here(context) is not None:
        return False
    armature = active_armature(context)
    bones, active = armature.data.bones, armature.data.bones.active
    followed = leading([node for chain in armature.ik2d.chains for node in followed_by(chain)])
    carried = [bones.get(bone) for ob, bone in followed if ob == armature]
    return not any(bone and (bone == active or active in bone.parent_recursive) for bone in carried)


def draw_add(layout: UILayout, context: Context) -> None:
    """Draw the button that adopts a limb or adds a chain, with the bones and the target before it."""
    column = layout.column(align=True)
    if why_not_add(context):
        column.operator("ik2d.chain_add", icon='ADD')
        return
    limb = limb_here(context)
    if limb is not None:
        column.operator(
            "ik2d.adopt", text=say("Adopt IK: {limb}", limb=limb.title), translate=False, icon='CON_KINEMATIC'
        )
        return
    draw_text(column, context, say("New chain: {chain}", chain=plan_in_words(context)), 'BONE_DATA')
    column.operator("ik2d.chain_add", icon='ADD')
    branch = chosen_bones(context, whole_branch=True)
    if len(branch) > len(chosen_bones(context)):
        button = column.operator(
            "ik2d.chain_add",
            text=say("Whole Limb ({count})", count=len(branch)),
            translate=False,
            icon='BONE_DATA',
        )
        button.whole_branch = True
