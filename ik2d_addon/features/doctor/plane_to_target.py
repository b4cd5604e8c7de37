# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that turns a chain's plane to where its target goes."""

from bpy.types import Operator

from ...bake.request import chosen_range
from ...core import IK2DError
from ...rig.pose.target_plane import plane_to_target
from ...ui.context import active_armature, allowed, shown_chain, why_no_chain
from ...ui.registration import registration


class IK2D_OT_plane_to_target(Operator):
    """Set the active chain's plane to the one that its target is nearest to, on the frames to bake"""

    bl_idname = "ik2d.plane_to_target"
    bl_label = "Plane to Target"
    bl_options = {'REGISTER', 'UNDO'}

    @classmethod
    def poll(cls, context):
        return allowed(cls, why_no_chain(context))

    def execute(self, context):
        armature = active_armature(context)
        chain = shown_chain(context)
        first, last, _step = chosen_range(armature, context.scene)
        try:
            plane_to_target(armature, chain, context.scene, first, last)
        except IK2DError as error:
            self.report({'ERROR'}, str(error))
            return {'CANCELLED'}
        label = chain.bl_rna.properties["plane"].enum_items[chain.plane].name
        self.report({'INFO'}, f"The plane of chain '{chain.name}' is {label} now")
        return {'FINISHED'}


classes = (IK2D_OT_plane_to_target,)
register, unregister = registration(classes)
