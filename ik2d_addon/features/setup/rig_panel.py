# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of what goes between this rig's own controls and its chains."""

from bpy.types import Panel

from ...ui.registration import registration
from ..adopt.operators import draw_adopt
from ..match.operators import draw_match
from ..native.operators import draw_native
from .operators import active_armature

# Each draws a row, from the file of the operators that are in it: (layout, context).
ROWS = (draw_adopt, draw_match, draw_native)


class IK2D_PT_rig(Panel):
    """Take over the IK that the rig has, leave it one of its own, and go between the two"""

    bl_idname = "IK2D_PT_rig"
    bl_space_type = 'VIEW_3D'
    bl_region_type = 'UI'
    bl_category = "IK 2D"
    bl_label = "Rig"
    bl_description = __doc__
    bl_options = {'DEFAULT_CLOSED'}

    @classmethod
    def poll(cls, context):
        return active_armature(context) is not None

    def draw(self, context):
        for draw_row in ROWS:
            draw_row(self.layout, context)


classes = (IK2D_PT_rig,)
register, unregister = registration(classes)
