# SPDX-License-Identifier: GPL-3.0-or-later
"""Stored state of IK constraints that a chain has adopted."""

from bpy.props import (
    BoolProperty,
    BoolVectorProperty,
    CollectionProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import Action, Object, PropertyGroup

from ...ui.registration import registration
from ...ui.settings.chain import IK2D_PG_chain
from ...ui.settings.joint import GROWING, HIDDEN, NOTE, IK2D_PG_place


class IK2D_PG_muted_in(PropertyGroup):
    """An action in which 1.0.0 has muted the F-Curve of a constraint's mute."""

    __slots__ = ()

    action: PointerProperty(description="Action that has the F-Curve", type=Action, **NOTE)


class IK2D_PG_taken(PropertyGroup):
    """One constraint that was muted or switched: an IK, or one that turned bones before it."""

    __slots__ = ()

    bone: StringProperty(description="Bone that has the constraint", **NOTE)
    place: PointerProperty(
        description="Where the bone stood, to find it again when it is renamed", type=IK2D_PG_place, **NOTE
    )
    constraint: StringProperty(description="Name of the constraint", **NOTE)
    kind: StringProperty(description="Type of the constraint", default="IK", **NOTE)
    index: IntProperty(description="Its place among the bone's constraints", **NOTE)
    count: IntProperty(description="How many constraints the bone had", **NOTE)
    was_muted: BoolProperty(description="Whether it was muted before", **NOTE)
    loses_target: BoolProperty(description="Whether its target was taken out", **NOTE)
    lost_target: PointerProperty(description="Target that was taken out", type=Object, **NOTE)
    target_bone: StringProperty(description="Bone of that target", **NOTE)
    target_bone_place: PointerProperty(
        name="Place", description="Where that bone stood", type=IK2D_PG_place, **NOTE
    )
    is_switched: BoolProperty(
        description="Whether it is not muted, but acts as much as the IK did not", **NOTE
    )
    was_influence: FloatProperty(description="Its influence before, where it is switched so", **NOTE)
    # of 1.0.0: what it muted, and the actions of the F-Curves in the note. A plain mute still has its note
    note: StringProperty(description="What was muted, and how it was before", **NOTE)
    actions: CollectionProperty(type=IK2D_PG_muted_in, override=GROWING, options=HIDDEN)


class IK2D_PG_kept_bone(PropertyGroup):
    """How a bone of the chain, or one that hangs on its tip, was before."""

    __slots__ = ()

    name: StringProperty(description="Name of the bone", **NOTE)
    hangs: BoolProperty(description="Whether it hangs on the chain's tip", **NOTE)
    rotation_mode: StringProperty(description="Its rotation mode", **NOTE)
    rotation_quaternion: FloatVectorProperty(
        name="Quaternion", description="Its rotation as a quaternion", size=4, **NOTE
    )
    rotation_euler: FloatVectorProperty(
        name="Euler", description="Its rotation as Euler angles", size=3, **NOTE
    )
    rotation_axis_angle: FloatVectorProperty(
        name="Axis Angle", description="Its rotation as axis and angle", size=4, **NOTE
    )
    location: FloatVectorProperty(description="Its location", size=3, **NOTE)
    scale: FloatVectorProperty(description="Its scale", size=3, **NOTE)
    lock_rotation: BoolVectorProperty(description="Locks of its rotation", size=3, **NOTE)
    lock_rotations_4d: BoolProperty(
        name="Lock Rotations", description="Whether each of four channels has a lock", **NOTE
    )
    lock_scale: BoolVectorProperty(description="Locks of its scale", size=3, **NOTE)
    inherit_scale: StringProperty(description="How it inherited scale, where that was changed", **NOTE)


class IK2D_PG_adopted(PropertyGroup):
    """The IK constraints that a chain stands for; none of a chain that was not adopted."""

    __slots__ = ()

    constraints: CollectionProperty(type=IK2D_PG_taken, override=GROWING, options=HIDDEN)
    bones: CollectionProperty(type=IK2D_PG_kept_bone, override=GROWING, options=HIDDEN)
    made: BoolProperty(
        description="Whether the chain was made of the constraints, and goes with them", **NOTE
    )
    batch: IntProperty(description="Number of the Adopt that made it; 0 where that is not known", **NOTE)
    group: StringProperty(description="Channel group that was made for it", **NOTE)
    levels: StringProperty(description="What was made to hold its animation", **NOTE)
    last_slot: StringProperty(description="Last slot before, by its name", **NOTE)
    active_index: IntProperty(description="Active chain before", **NOTE)
    carried: StringProperty(description="What the chain took over, by lines", **NOTE)
    lost: StringProperty(description="What it could not take over, by lines", **NOTE)
    apart: StringProperty(description="How far its pose is from the one before, in words", **NOTE)
    show_notes: BoolProperty(
        name="Show Changes", description="Show how far the pose moved, and what was not carried over", **NOTE
    )
    angle: FloatProperty(description="Furthest that a bone is turned from where it was", **NOTE)
    tip: FloatProperty(description="Furthest that the tip is from where it was", **NOTE)
    joint: FloatProperty(
        description="Furthest that a joint is from where it was; -1 where that is not known",
        default=-1.0,
        **NOTE,
    )
    part: FloatProperty(description="That as a part of the limb's length", **NOTE)


def is_adopted(chain: PropertyGroup) -> bool:
    """Return whether a chain replaces IK constraints, which it has muted."""
    return len(chain.adopted.constraints) > 0


# Of a chain.
SETTINGS = {
    "adopted": PointerProperty(
        description="IK constraints that the chain stands for, and what gives them back",
        type=IK2D_PG_adopted,
        **NOTE,
    ),
}

classes = (IK2D_PG_muted_in, IK2D_PG_taken, IK2D_PG_kept_bone, IK2D_PG_adopted)
register, unregister = registration(classes, (IK2D_PG_chain, SETTINGS))
