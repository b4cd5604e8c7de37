# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the overlay is switched: a panel in the sidebar, and the viewport's own overlay popover."""

import bpy
from bpy.types import Context, Panel

from . import overlay
from .chains import active_armature
from .overlay_settings import draw_parts, overlay_settings
from .registration import register_classes, unregister_classes
from .target_path import IK2D_OT_target_path, IK2D_OT_target_path_clear
from .text import draw_text


class IK2D_PT_overlay(Panel):
    """What is drawn over the viewport of the chain's plane, reach, limits and target"""

    bl_idname = "IK2D_PT_overlay"
    bl_label = "Overlay"
    bl_description = __doc__
    bl_space_type = 'VIEW_3D'
    bl_region_type = 'UI'
    bl_category = "IK 2D"
    bl_options = {'DEFAULT_CLOSED'}

    @classmethod
    def poll(cls, context):
        armature = active_armature(context)
        return armature is not None and len(armature.ik2d.chains) > 0

    def draw_header(self, _context):
        self.layout.prop(overlay_settings(), "show", text="")

    def draw(self, context):
        layout = self.layout
        if overlay.problem:
            draw_text(layout.box(), context, overlay.problem, 'ERROR')
        draw_parts(layout, overlay_settings())
        row = layout.row(align=True)
        row.operator(IK2D_OT_target_path.bl_idname, icon='ANIM')
        row.operator(IK2D_OT_target_path_clear.bl_idname, text="", icon='X')


def draw_popover(panel: Panel, context: Context) -> None:
    """Add the overlay to Blender's own popover."""
    settings = overlay_settings()
    layout = panel.layout
    layout.separator()
    layout.label(text="IK 2D")
    row = layout.row(align=True)
    row.active = context.space_data.overlay.show_overlays
    row.prop(settings, "show")
    if settings.show:
        column = layout.column()
        column.active = row.active
        draw_parts(column, settings)


classes = (IK2D_PT_overlay,)


def register() -> None:
    """Register the panel and add to Blender's popover."""
    register_classes(classes)
    bpy.types.VIEW3D_PT_overlay.append(draw_popover)


def unregister() -> None:
    """Take both away."""
    bpy.types.VIEW3D_PT_overlay.remove(draw_popover)
    unregister_classes(classes)
