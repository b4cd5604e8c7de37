# SPDX-License-Identifier: GPL-3.0-or-later
"""The bases of the sidebar's panels."""

from bpy.types import Context, Object, PropertyGroup, UILayout

from ..rig.chain.readable import unreadable
from .context import active_armature, shown_chain
from .manual import draw_help
from .text import for_settings

# --- The sidebar -------------------------------------------------------------


class Sidebar:
    bl_space_type = 'VIEW_3D'
    bl_region_type = 'UI'
    bl_category = "IK 2D"
    trouble = ""  # the heading of docs/troubleshooting.md that its Help opens; without one the manual

    def draw_header_preset(self, _context):
        draw_help(self.layout, self.trouble)


class ChainSidebar(Sidebar):
    """A panel for the chain that is shown."""

    @classmethod
    def poll(cls, context):
        return shown_chain(context) is not None and not unreadable(active_armature(context))

    def settings(self, context: Context) -> tuple[UILayout, Object, PropertyGroup]:
        """Return the layout for settings, the armature and the chain that is shown."""
        return for_settings(self.layout), active_armature(context), shown_chain(context)


class RigSidebar(Sidebar):
    """A panel for all chains and mechanisms of the armature."""

    @classmethod
    def poll(cls, context):
        armature = active_armature(context)
        if armature is None or not (len(armature.ik2d.chains) or len(armature.ik2d.mechanisms)):
            return False
        return not unreadable(armature)
