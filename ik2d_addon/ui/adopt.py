# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators that turn a rig's IK constraints into chains, and give them back."""

from bpy.props import BoolProperty
from bpy.types import Context, Operator, UILayout

from .chains import allowed, why_not_edit
from .registration import register_classes, unregister_classes
from .text import row_or_column


class IK2D_OT_adopt(Operator):
    """Turn the IK constraints of the selected bones' limbs into chains; Release gives them back"""

    bl_idname = "ik2d.adopt"
    bl_label = "Adopt IK"
    bl_options = {'REGISTER', 'UNDO'}

    all: BoolProperty(
        name="All",
        description="Adopt all IK constraints of the armature, not those of the selected bones alone",
        default=False,
        options={'SKIP_SAVE'},
    )

    @classmethod
    def poll(cls, context):
        return allowed(cls, why_not_edit(context))

    def execute(self, context):
        self.report({'WARNING'}, "No IK constraint to adopt")
        return {'CANCELLED'}


class IK2D_OT_release(Operator):
    """Give back the IK constraints that the active chain was made from, and remove the chain"""

    bl_idname = "ik2d.release"
    bl_label = "Release"
    bl_options = {'REGISTER', 'UNDO'}

    all: BoolProperty(
        name="All",
        description="Release all chains of the armature that were adopted, not the active one alone",
        default=False,
        options={'SKIP_SAVE'},
    )

    @classmethod
    def poll(cls, context):
        return allowed(cls, why_not_edit(context))

    def execute(self, context):
        self.report({'WARNING'}, "No chain to release")
        return {'CANCELLED'}


def draw_adopt(layout: UILayout, context: Context) -> None:
    """Draw the buttons that adopt and release."""
    row = row_or_column(layout, context, [IK2D_OT_adopt.bl_label, IK2D_OT_release.bl_label])
    row.operator(IK2D_OT_adopt.bl_idname, icon='CON_KINEMATIC')
    row.operator(IK2D_OT_release.bl_idname, icon='LOOP_BACK')


classes = (IK2D_OT_adopt, IK2D_OT_release)


def register() -> None:
    """Register the operators."""
    register_classes(classes)


def unregister() -> None:
    """Unregister the operators."""
    unregister_classes(classes)
