# SPDX-License-Identifier: GPL-3.0-or-later
"""The tool that drags tips, in the toolbar of Pose Mode."""

import bpy
from bpy.types import WorkSpaceTool

from ...core.words import say


class IK2D_TL_drag(WorkSpaceTool):
    """Drag the tip of a chain in the plane that it bends in; a click selects bones as ever"""

    bl_idname = "ik2d.drag_tool"
    bl_label = "Drag Tip"
    bl_description = __doc__
    bl_space_type = 'VIEW_3D'
    bl_context_mode = 'POSE'
    bl_icon = "ops.pose.push"
    bl_options = {'KEYMAP_FALLBACK'}
    bl_keymap = (
        (
            "ik2d.drag",
            {"type": 'LEFTMOUSE', "value": 'CLICK_DRAG'},
            {"properties": [("at_mouse", True), ("release_confirm", True)]},
        ),
    )

    @staticmethod
    def draw_settings(_context, layout, _tool):
        """Say what a drag takes hold of."""
        layout.label(
            text=say("Drag a chain's tip; elsewhere, that of the active bone's chain"),
            translate=False,
            icon='INFO',
        )


def register() -> None:
    """Add the tool below Transform."""
    bpy.utils.register_tool(IK2D_TL_drag, after={"builtin.transform"}, separator=False)


def unregister() -> None:
    """Remove it."""
    bpy.utils.unregister_tool(IK2D_TL_drag)
