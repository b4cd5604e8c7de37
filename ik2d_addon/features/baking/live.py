# SPDX-License-Identifier: GPL-3.0-or-later
"""Live in lists and the sidebar: toggle and status of chains and mechanisms, and Turn Live On."""

import bpy
from bpy.types import Context, Menu, Object, Operator, PropertyGroup, UILayout

from ...bake.reporting.causes import FK
from ...core.words import listed, say
from ...rig.chain.native_state import acts, is_native
from ...rig.chain.paths.owners import with_settings
from ...ui.context import active_armature, why_not_edit
from ...ui.operator import ChainOperator
from ...ui.parts import entry
from ...ui.registration import registration
from ...ui.text import draw_text

_ICONS = {False: 'PAUSE', True: 'PLAY'}


def draw_listed(layout: UILayout, item: PropertyGroup, sign: str) -> None:
    """Draw a chain or mechanism in its list: enabled or not, name, the icon of its state if any, and Live."""
    row = layout.row(align=True)
    row.prop(item, "enabled", text="")
    name = row.row(align=True)
    name.active = item.enabled
    name.prop(item, "name", text="", emboss=False)
    if sign:
        row.label(text="", icon=sign)
    if is_native(item):
        row.label(text="", icon='DRIVER')
    else:
        row.prop(item, "live", text="", icon=_ICONS[item.live], emboss=False)


def draw_live(layout: UILayout, context: Context, chain: PropertyGroup, problem: str) -> None:
    """Draw a chain's or mechanism's Live toggle and its status.

    problem: why it cannot be solved, drawn elsewhere.
    """
    column = layout.column(align=True)
    toggle = column.row()
    toggle.enabled = chain.live or not is_native(chain)
    toggle.prop(chain, "live", toggle=True, icon=_ICONS[chain.live])
    if is_native(chain) and not chain.live:
        words = (
            say("On drivers, which follow the target") if acts(chain) else say("On drivers, muted by a bake")
        )
        draw_text(column.box(), context, words, 'DRIVER')
    elif chain.was_live and not chain.live:
        draw_text(column.box(), context, say("Baked: Live is off"), 'INFO')
        column.operator("ik2d.live_again", icon='PLAY')
    elif (said := chain.live_status) and not (problem and chain.live):
        is_good = chain.live_closed if hasattr(chain, "live_closed") else chain.live_reached
        icon = 'CHECKMARK' if is_good else 'INFO' if said == say(FK) else 'ERROR'
        draw_text(column.box(), context, said, icon)


def draw_before_render(menu: Menu, context: Context) -> None:
    """Add a word to the Render menu where live chains move while the interface is not locked."""
    scene = context.scene
    if not scene.render.use_lock_interface and any(
        one.live
        for armature in with_settings(scene.objects)
        for one in (*armature.ik2d.chains, *armature.ik2d.mechanisms)
    ):
        menu.layout.separator()
        words = say("Live chains: turn on Lock Interface")
        menu.layout.label(text=words, translate=False, icon='ERROR')


def can_be_live(armature: Object) -> list[PropertyGroup]:
    """Return chains and mechanisms whose Live a bake has turned off; without any, baked chains."""
    chains = armature.ik2d.chains
    baked = [
        chain
        for chain in chains
        if chain.enabled and chain.last_bake and not (chain.live or is_native(chain))
    ]
    return [one for one in (*chains, *armature.ik2d.mechanisms) if one.was_live] or baked


class IK2D_OT_live_again(ChainOperator, Operator):
    """Have chains and mechanisms move live, where a bake has turned that off; their baked keys stay"""

    bl_idname = "ik2d.live_again"
    bl_label = "Turn Live On"

    @staticmethod
    def why_not(context):
        if reason := why_not_edit(context):
            return reason
        return "" if can_be_live(active_armature(context)) else say("No bake has turned Live off")

    def work(self, context):
        chains = can_be_live(active_armature(context))
        for chain in chains:
            chain.live = True
        return say("Live is on again for {names}", names=listed(chain.name for chain in chains))


HEADINGS = {"live": "live_again"}
MENU = {"bake": [entry("ik2d.live_again", 'PLAY')]}
classes = (IK2D_OT_live_again,)
_register_classes, _unregister_classes = registration(classes)


def register() -> None:
    """Register the operator and add a word to the Render menu."""
    _register_classes()
    bpy.types.TOPBAR_MT_render.append(draw_before_render)


def unregister() -> None:
    """Take the word away and unregister the operator."""
    bpy.types.TOPBAR_MT_render.remove(draw_before_render)
    _unregister_classes()
