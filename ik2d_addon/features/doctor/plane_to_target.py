# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that turns a chain's plane to where its target goes."""

from bpy.types import Operator

from ...bake.request import chosen_range
from ...core.words import say
from ...ui.context import active_armature, shown_chain
from ...ui.operator import ChainOperator
from ...ui.registration import registration
from .planes import plane_to_target


class IK2D_OT_plane_to_target(ChainOperator, Operator):
    """Set the active chain's plane to the one that its target is nearest to, on the frames to bake"""

    bl_idname = "ik2d.plane_to_target"
    bl_label = "Plane to Target"

    def work(self, context):
        armature = active_armature(context)
        chain = shown_chain(context)
        first, last, _step = chosen_range(armature, context.scene)
        plane_to_target(armature, chain, context.scene, first, last)
        label = chain.bl_rna.properties["plane"].enum_items[chain.plane].name
        return say("The plane of chain '{chain}' is {label} now", chain=chain.name, label=label)


classes = (IK2D_OT_plane_to_target,)
register, unregister = registration(classes)
