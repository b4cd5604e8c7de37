# SPDX-License-Identifier: GPL-3.0-or-later
"""Make mechanisms of selected bones, join them, and choose what drives."""

from typing import Any

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty
from bpy.types import Context, Object, Operator

from ...core import IK2DError
from ...core.words import listed, quoted, refusal, say
from ...ui.context import (
    active_armature,
    active_mechanism,
    select_with_posed,
    shown_mechanism,
    why_no_mechanism,
)
from ...ui.operator import ChainOperator
from ...ui.parts import entry
from ...ui.preferences import is_live_at_once
from ...ui.registration import registration
from ...ui.settings.chain_list import add_target
from .circles import mechanism_of_circle
from .driving import driven
from .editing import (
    add_gear,
    add_mechanism,
    add_pin,
    add_ram,
    add_slide,
    remove_driver,
    remove_joint,
    remove_mechanism,
    take_in,
    with_carriers,
)
from .joining import end_to_pin, end_to_slide, frame_bones, is_along
from .making import activate, all_or_nothing, make_mechanism, refuse_taken, taken_in, what_drives
from .mirroring import mirror_mechanism
from .proposals import propose_drivers
from .rest_pose import close_rest_pose
from .selection import (
    active_part,
    mechanism_with,
    selected_bones,
    why_no_bone,
    why_no_end,
    why_no_new,
    why_no_pair,
    why_no_ram,
)
from .words import forget, problem

# --- New, and its joints -----------------------------------------------------


class IK2D_OT_mechanism_new(ChainOperator, Operator):
    """Make a mechanism of the selected bones, whose loops are closed: with a pin wherever two ends meet"""

    bl_idname = "ik2d.mechanism_new"
    bl_label = "New Mechanism"

    why_not = staticmethod(why_no_new)

    def work(self, context):
        return make_mechanism(active_armature(context), selected_bones(context))


class IK2D_OT_mechanism_remove(ChainOperator, Operator):
    """Remove the active mechanism, with its keyed lengths; the keys of earlier bakes stay"""

    bl_idname = "ik2d.mechanism_remove"
    bl_label = "Remove Mechanism"

    why_not = staticmethod(why_no_mechanism)

    def work(self, context):
        name = remove_mechanism(shown_mechanism(context))
        return say("Removed mechanism '{name}'", name=name)


class _Joining(ChainOperator):
    """An operator that joins the selected bones of a mechanism."""

    def work(self, context):
        armature, bones = active_armature(context), selected_bones(context)
        with all_or_nothing(armature, mechanism_with(armature, bones) or active_mechanism(armature)):
            mechanism, told = self.joined(armature, bones)
        mechanism.active_joint = len(mechanism.joints) - 1
        return f"{told}{what_drives(mechanism)}"


class IK2D_OT_mechanism_pin(_Joining, Operator):
    """Pin the tail nearest to the other bone, or a head on it; of a single bone the tail to the frame"""

    bl_idname = "ik2d.mechanism_pin"
    bl_label = "Add Pin"

    why_not = staticmethod(why_no_end)

    def joined(self, armature, bones):
        """Add the joint; return the mechanism and a sentence."""
        mechanism = taken_in(armature, bones)
        if len(bones) == 1:
            add_pin(mechanism, bones[0], 'TAIL', None)
            return mechanism, say("The tail of '{bone}' is pinned to the frame", bone=bones[0])
        bone, end, other = end_to_pin(mechanism, *bones)
        add_pin(mechanism, bone, end, other)
        return mechanism, say("'{bone}' is pinned to '{other}'", bone=bone, other=other)


class IK2D_OT_mechanism_slide(_Joining, Operator):
    """Let an end of the selected bone slide along the active one; a single bone slides along itself"""

    bl_idname = "ik2d.mechanism_slide"
    bl_label = "Add Slide"

    why_not = staticmethod(why_no_end)

    keeps_angle: BoolProperty(
        name="Keeps Angle",
        description="The bone does not turn against the one that it slides along, as a piston does not",
        options={'SKIP_SAVE'},
    )

    def joined(self, armature, bones):
        """Add the joint; return the mechanism and a sentence."""
        bone, line = bones[0], bones[1] if len(bones) > 1 else None
        mechanism = mechanism_with(armature, bones) or active_mechanism(armature)
        mechanism = taken_in(armature, [one for one in bones if one not in frame_bones(mechanism)])
        if bone not in mechanism.bones and line in mechanism.bones:  # they were selected the other way round
            bone, line = line, bone
        if not self.properties.is_property_set("keeps_angle"):
            self.keeps_angle = line is None or is_along(armature, bone, line)
        add_slide(mechanism, bone, end_to_slide(mechanism, bone, line), line, self.keeps_angle)
        where = say("itself") if line is None else f"'{line}'"
        return mechanism, say("'{bone}' slides along {line}", bone=bone, line=where)


class IK2D_OT_mechanism_ram(ChainOperator, Operator):
    """Have the two selected bones point at each other, as the barrel and the rod of a ram do"""

    bl_idname = "ik2d.mechanism_ram"
    bl_label = "Add Ram"

    why_not = staticmethod(why_no_ram)

    def work(self, context):
        armature, (rod, barrel) = active_armature(context), selected_bones(context)
        taken = with_carriers(armature, [barrel, rod])
        mechanism = mechanism_with(armature, taken)
        refuse_taken(armature, taken, mechanism)
        with all_or_nothing(armature, mechanism):
            is_new = mechanism is None
            if is_new:
                mechanism = add_mechanism(armature, taken, barrel)
            else:
                taken = take_in(mechanism, [barrel, rod])
            add_ram(mechanism, barrel, rod)
            propose_drivers(mechanism, set(taken) - {barrel, rod})
        activate(mechanism)
        mechanism.live = mechanism.live or is_new and is_live_at_once()
        mechanism.active_joint = len(mechanism.joints) - 1
        told = say("'{barrel}' and '{rod}' are a ram", barrel=barrel, rod=rod)
        return f"{told}{what_drives(mechanism)}"


class IK2D_OT_mechanism_gear(_Joining, Operator):
    """Have the active bone turn by Ratio times what the other selected bone turns"""

    bl_idname = "ik2d.mechanism_gear"
    bl_label = "Add Gear"

    why_not = staticmethod(why_no_pair)

    ratio: FloatProperty(
        name="Ratio",
        description="Turns of the active bone for one of the other; negative the other way",
        default=1.0,
        options={'SKIP_SAVE'},
    )

    def joined(self, armature, bones):
        """Add the joint; return the mechanism and a sentence."""
        mechanism = taken_in(armature, bones)
        add_gear(mechanism, *bones, self.ratio)
        return mechanism, say(
            "'{bone}' turns {ratio:g} times for one turn of '{other}'",
            bone=bones[1],
            ratio=self.ratio,
            other=bones[0],
        )


# --- Sides, drivers, removal -------------------------------------------------


class IK2D_OT_mechanism_other_side(ChainOperator, Operator):
    """Assemble the triangle of the active bone on the other side than at rest, or again as at rest"""

    bl_idname = "ik2d.mechanism_other_side"
    bl_label = "Other Side"

    why_not = staticmethod(why_no_bone)

    def work(self, context):
        mechanism, name = active_part(context)
        bone = mechanism.bones[name]
        bone.other_side = not bone.other_side
        if bone.other_side and (words := problem(mechanism)):
            bone.other_side = False
            raise IK2DError(words)
        side = say("the other side") if bone.other_side else say("the side of the rest pose")
        return say("'{bone}' is on {side}", bone=name, side=side)


class IK2D_OT_mechanism_drive(ChainOperator, Operator):
    """Have the active bone drive the mechanism, in place of another where there is no freedom left"""

    bl_idname = "ik2d.mechanism_drive"
    bl_label = "Driven By"

    why_not = staticmethod(why_no_bone)

    by: EnumProperty(
        name="Driven By",
        description="What is given",
        items=(
            ('KEYS', "Its Keys", "The bone's own keys; of a ram the keys of its Length"),
            (
                'TARGET',
                "Target",
                "The other selected object or bone, or a new empty, to which its tail is dragged",
            ),
        ),
        options={'SKIP_SAVE'},
    )

    def work(self, context):
        mechanism, name = active_part(context)
        target = self._target(context, mechanism, name) if self.by == 'TARGET' else (None, "")
        replaced = driven(mechanism, name, *target)
        activate(mechanism)
        told = say("'{bone}' drives the mechanism '{name}'", bone=name, name=mechanism.name)
        return told + (say(", in place of '{bone}'", bone=replaced) if replaced else "")

    @staticmethod
    def _target(context: Context, mechanism: Any, name: str) -> tuple[Object, str]:
        """Return the other selected bone or object that a bone follows, or a new target."""
        armature = mechanism.id_data
        for bone in context.selected_pose_bones or ():
            if bone.id_data != armature or bone.name not in mechanism.bones:
                return bone.id_data, bone.name
        for ob in context.selected_objects:
            if ob != armature and ob.mode != 'POSE':
                return ob, ""
        target = add_target(armature, name, bone_count=1)
        select_with_posed(context, target)
        return target, ""


class IK2D_OT_mechanism_remove_item(ChainOperator, Operator):
    """Remove this joint or driver from the mechanism"""

    bl_idname = "ik2d.mechanism_remove_item"
    bl_label = "Remove from Mechanism"

    why_not = staticmethod(why_no_mechanism)

    what: EnumProperty(
        name="What",
        description="What to remove",
        items=(('JOINT', "Joint", "A joint"), ('DRIVER', "Driver", "What drives")),
        options={'SKIP_SAVE'},
    )
    index: IntProperty(name="Index", description="Its place in the list", min=0, options={'SKIP_SAVE'})

    def work(self, context):
        mechanism = shown_mechanism(context)
        items = mechanism.joints if self.what == 'JOINT' else mechanism.drivers
        if self.index >= len(items):
            raise refusal("Mechanism '{name}' has no such joint or driver", name=mechanism.name)
        bone = items[self.index].bone
        (remove_joint if self.what == 'JOINT' else remove_driver)(mechanism, self.index)
        mechanism.active_joint = min(mechanism.active_joint, max(0, len(mechanism.joints) - 1))
        if len(mechanism.bones) < 2:  # those of a ram alone
            return say("Removed mechanism '{name}'", name=remove_mechanism(mechanism))
        if self.what == 'JOINT':
            return say("Removed a joint of '{bone}'", bone=bone)
        return say("'{bone}' drives no more", bone=bone)


class IK2D_OT_mechanism_close_rest(ChainOperator, Operator):
    """Move ends that are pinned and a little apart in the rest pose to their middle, so that loops close"""

    bl_idname = "ik2d.mechanism_close_rest"
    bl_label = "Close Rest Pose"

    why_not = staticmethod(why_no_mechanism)

    def work(self, context):
        return close_rest_pose(shown_mechanism(context))


class IK2D_OT_mechanism_of_circle(ChainOperator, Operator):
    """Make a mechanism of the chains that depend on one another in a circle, and disable them"""

    bl_idname = "ik2d.mechanism_of_circle"
    bl_label = "Make a Mechanism"

    def work(self, context):
        armature = active_armature(context)
        with all_or_nothing(armature):
            mechanism, chains = mechanism_of_circle(armature)
        activate(mechanism)
        made = say(
            "Mechanism '{name}' of the chains {chains}, which are disabled now",
            name=mechanism.name,
            chains=listed(chains),
        )
        return f"{made}{what_drives(mechanism)}"


class IK2D_OT_mechanism_mirror(ChainOperator, Operator):
    """Make the mechanism's counterpart on the other side: its bones and targets with .L and .R exchanged"""

    bl_idname = "ik2d.mechanism_mirror"
    bl_label = "Mirror Mechanism"

    why_not = staticmethod(why_no_mechanism)

    def work(self, context):
        mechanism = shown_mechanism(context)
        name = mechanism.name
        other = mirror_mechanism(mechanism)
        activate(other)
        if other.name == name:
            return say("Mechanism '{name}' has both sides now", name=name) + what_drives(other)
        return say("Mirrored to ") + quoted([other.name]) + what_drives(other)


HEADINGS = {"mechanisms": "mechanism_* mechanism.* mechanism_joint.* mechanism_driver.* mechanism_bone.*"}
MENU = {
    "mechanism": [
        entry("ik2d.mechanism_new", 'ADD'),
        entry("ik2d.mechanism_pin", 'PIVOT_INDIVIDUAL'),
        entry("ik2d.mechanism_slide", 'ARROW_LEFTRIGHT'),
        entry("ik2d.mechanism_ram", 'MOD_LENGTH'),
        entry("ik2d.mechanism_gear", 'PREFERENCES'),
        entry("ik2d.mechanism_drive", 'KEY_HLT', by='KEYS'),
        entry("ik2d.mechanism_other_side", 'MOD_MIRROR'),
        entry("ik2d.mechanism_mirror", 'MOD_MIRROR'),
        entry("ik2d.mechanism_close_rest", 'CON_LOCLIKE'),
        entry("ik2d.mechanism_of_circle", 'LINKED'),
        entry("ik2d.mechanism_remove", 'REMOVE'),
    ],
}
classes = (
    IK2D_OT_mechanism_new,
    IK2D_OT_mechanism_remove,
    IK2D_OT_mechanism_pin,
    IK2D_OT_mechanism_slide,
    IK2D_OT_mechanism_ram,
    IK2D_OT_mechanism_gear,
    IK2D_OT_mechanism_other_side,
    IK2D_OT_mechanism_drive,
    IK2D_OT_mechanism_remove_item,
    IK2D_OT_mechanism_close_rest,
    IK2D_OT_mechanism_of_circle,
    IK2D_OT_mechanism_mirror,
)
register, _unregister_classes = registration(classes)


def unregister() -> None:
    """Unregister the operators and forget the readings."""
    forget()
    _unregister_classes()
