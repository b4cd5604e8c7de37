# SPDX-License-Identifier: GPL-3.0-or-later
"""Other controls of the active chain's bones, and the operator that mutes them."""

from bpy.types import Context, Object, Operator, PropertyGroup

from ...bake.request import chosen_range
from ...core import IK2DError
from ...core.words import number_of, say
from ...rig.chain.chain import read_chain
from ...rig.chain.native_state import acts
from ...rig.scene.bone_constraints import OtherControl, other_controls
from ...ui.context import active_armature, shown_chain
from ...ui.operator import ChainOperator
from ...ui.registration import registration
from .muting import mute_constraints


def other_controls_of(context: Context, armature: Object, chain: PropertyGroup) -> list[OtherControl]:
    """Return the other controls of a chain's bones on the sidebar's frames; [] for a faulty chain."""
    first, last, _step = chosen_range(armature, context.scene)
    try:
        return other_controls(read_chain(armature, chain), first, last, carrying=acts(chain))
    except IK2DError:
        return []


class IK2D_OT_mute_constraints(ChainOperator, Operator):
    """Mute the constraints that override this chain, in the baked range"""

    bl_idname = "ik2d.mute_constraints"
    bl_label = "Mute Constraints in Range"

    def execute(self, context):
        self.begin_work(context)
        armature = active_armature(context)
        first, last, _step = chosen_range(armature, context.scene)
        controls = other_controls_of(context, armature, shown_chain(context))
        if not controls:
            return self.refuse(say("No constraint overrides the chain's bones on these frames"))
        try:
            muted, driven = mute_constraints(armature, controls, context.scene, first, last)
        except IK2DError as error:
            return self.refuse(error)
        for control in driven:
            name = say("'{constraint}' of bone '{owner}'", constraint=control.constraint, owner=control.owner)
            kind = {'WARNING'} if muted else {'ERROR'}
            self.report(
                kind,
                say(
                    "The influence of {name} is driven: mute the constraint, or disable its driver", name=name
                ),
            )
        if not muted:
            return {'CANCELLED'}
        count = number_of(len(muted), "constraint")
        self.report(
            {'INFO'}, say("Muted {count} from frame {first} to {last}", count=count, first=first, last=last)
        )
        return {'FINISHED'}


classes = (IK2D_OT_mute_constraints,)
register, unregister = registration(classes)
