# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels of the overlay: one in the sidebar, one in the viewport's own overlay popover."""

from bpy.types import Panel

from ...ui.registration import registration
from ...ui.sidebar import RigSidebar
from ...ui.text import draw_text
from . import draw
from .settings import draw_parts, overlay_settings


class IK2D_PT_overlay(RigSidebar, Panel):
    """What is drawn over the viewport of the chain's plane, reach, limits and target"""

    bl_label = "Overlay"
    trouble = "the-limb-pops-or-jitters"
    bl_options = {'DEFAULT_CLOSED'}
    bl_order = 1  # below Chain

    def draw_header(self, _context):
        self.layout.prop(overlay_settings(), "show", text="")

    def draw(self, context):
        layout = self.layout
        if draw.problem:
            draw_text(layout.box(), context, draw.problem, 'ERROR')
        draw_parts(layout, overlay_settings())
        layout.operator("ik2d.target_path", icon='ANIM')


class IK2D_PT_overlay_popover(Panel):
    """What is drawn of IK 2D over the viewport"""

    bl_parent_id = "VIEW3D_PT_overlay"
    bl_label = "IK 2D"
    bl_space_type = 'VIEW_3D'
    bl_region_type = 'HEADER'

    def draw_header(self, context):
        self.layout.active = context.space_data.overlay.show_overlays
        self.layout.prop(overlay_settings(), "show", text="")

    def draw(self, context):
        self.layout.active = context.space_data.overlay.show_overlays
        draw_parts(self.layout, overlay_settings())


classes = (IK2D_PT_overlay, IK2D_PT_overlay_popover)
register, unregister = registration(classes)
