# SPDX-License-Identifier: GPL-3.0-or-later
"""What rules the active chain's bones in place of its keys, as the sidebar tells it, and the way out."""

from bpy.types import Context, Object, Operator, PropertyGroup

from ...bake.request import chosen_range
from ...core import IK2DError
from ...rig.chain.chain import read_chain
from ...rig.scene.bone_constraints import OtherControl, mute_constraints, other_controls
from ...ui.context import active_armature, shown_chain
from ...ui.operator import ChainOperator
from ...ui.registration import registration


def other_controls_of(context: Context, armature: Object, chain: PropertyGroup) -> list[OtherControl]:
    """Return what will rule a chain's bones on the frames that the sidebar shows; [] for a faulty chain."""
    first, last, _step = chosen_range(armature, context.scene)
    try:
        return other_controls(read_chain(armature, chain), first, last)
    except IK2DError:
        return []


class IK2D_OT_mute_constraints(ChainOperator, Operator):
    """Mute the constraints that rule the active chain's bones, on the frames to bake alone"""

    bl_idname = "ik2d.mute_constraints"
    bl_label = "Mute for These Frames"

    def execute(self, context):
        armature = active_armature(context)
        first, last, _step = chosen_range(armature, context.scene)
        rulers = other_controls_of(context, armature, shown_chain(context))
        if not rulers:
            return self.refuse("No constraint rules the chain's bones on these frames")
        try:
            muted, driven = mute_constraints(armature, rulers, context.scene, first, last)
        except IK2DError as error:
            return self.refuse(error)
        for ruler in driven:
            name = f"'{ruler.constraint}' of bone '{ruler.owner}'"
            kind = {'WARNING'} if muted else {'ERROR'}
            self.report(
                kind, f"The influence of {name} is driven: mute the constraint, or disable its driver"
            )
        if not muted:
            return {'CANCELLED'}
        count = f"{len(muted)} {'constraint' if len(muted) == 1 else 'constraints'}"
        self.report({'INFO'}, f"Muted {count} from frame {first} to {last}")
        return {'FINISHED'}


classes = (IK2D_OT_mute_constraints,)
register, unregister = registration(classes)
