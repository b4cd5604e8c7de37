# SPDX-License-Identifier: GPL-3.0-or-later
"""The stored settings of a mechanism: bones, joints and what drives them."""

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import PropertyGroup

from ...live.registry import RIGS, key_of
from ...live.status.mechanism import is_closed, mechanism_status
from ...rig.chain.renames import unique_name
from .joint import GROWING, HIDDEN, NOTE, OVERRIDABLE, STORED, IK2D_PG_place
from .topics.notes import BakeNotes, NativeNotes


def _solving_changed(_settings, _context):
    RIGS.mark()


# Keywords of what a mechanism is solved by: a live one looks at it again.
SOLVED_BY = {**STORED, "update": _solving_changed}


def _keep_name_unique(mechanism, _context):
    others = [each.name for each in mechanism.id_data.ik2d.mechanisms]
    others.remove(mechanism.name)
    name = unique_name(mechanism.name or "Mechanism", set(others))
    if name != mechanism.name:
        mechanism.name = name


def _live_changed(mechanism, _context):
    RIGS.failures.pop(key_of(mechanism), None)
    RIGS.mark()
    if mechanism.live:
        mechanism.property_unset("was_live")


class IK2D_PG_mechanism_bone(PropertyGroup):
    """A bone of a mechanism."""

    __slots__ = ()

    name: StringProperty(name="Bone", description="Bone that is a part of the mechanism", **SOLVED_BY)
    other_side: BoolProperty(
        name="Other Side",
        description="Assemble the triangle that places this bone on the other side than at rest",
        **SOLVED_BY,
    )
    place: PointerProperty(
        description="Where the bone stood last, to find it again when it is renamed",
        type=IK2D_PG_place,
        **NOTE,
    )


class IK2D_PG_mechanism_joint(PropertyGroup):
    """A joint of a mechanism besides those at the bones' heads."""

    __slots__ = ()

    kind: EnumProperty(
        name="Kind",
        description="What the joint keeps",
        items=(
            ('PIN', "Pin", "The end of the bone stays where it is on the other bone"),
            ('SLIDE', "Slide", "The end of the bone stays on a line along the other bone"),
            ('GUIDE', "Slide, Keeps Angle", "As Slide, and the bone does not turn against the other"),
            ('RAM', "Ram", "The bone, a barrel, and the other, its rod, point at each other"),
            ('GEAR', "Gear", "The other bone turns by Ratio times what the bone turns"),
        ),
        default='PIN',
        **SOLVED_BY,
    )
    bone: StringProperty(name="Bone", description="Bone that the joint is at", **SOLVED_BY)
    end: EnumProperty(
        name="End",
        description="End of the bone that the joint is at",
        items=(('HEAD', "Head", "Its head"), ('TAIL', "Tail", "Its tail")),
        default='TAIL',
        **SOLVED_BY,
    )
    other: StringProperty(
        name="Other", description="Bone that it is joined to; empty for the mechanism's frame", **SOLVED_BY
    )
    other_place: PointerProperty(
        description="Where the other bone stood last, to find it again when it is renamed",
        type=IK2D_PG_place,
        **NOTE,
    )
    ratio: FloatProperty(
        name="Ratio",
        description="Turns of the other bone for one of the bone; negative the other way",
        default=1.0,
        **SOLVED_BY,
    )
    stroke: FloatVectorProperty(
        name="Stroke",
        description="Least and greatest length of a ram, from head to head",
        size=2,
        min=0.0,
        subtype='XYZ_LENGTH',
        precision=4,
        **SOLVED_BY,
    )


class IK2D_PG_mechanism_driver(PropertyGroup):
    """What drives a mechanism: a bone's own keys, a ram's length, or a target for the end of a bone."""

    __slots__ = ()

    kind: EnumProperty(
        name="Driven By",
        description="What is given",
        items=(
            ('TURN', "Turn", "The bone's own keys"),
            ('RAM', "Length", "The length of a ram, of which the bone is the barrel"),
            ('TARGET', "Target", "An object to which the tail of the bone is dragged"),
        ),
        default='TURN',
        **SOLVED_BY,
    )
    bone: StringProperty(name="Bone", description="Bone that drives", **SOLVED_BY)
    target: PointerProperty(
        name="Target",
        description="Object that the bone's tail is dragged to",
        type=bpy.types.Object,
        **SOLVED_BY,
    )
    subtarget: StringProperty(name="Target Bone", description="Bone of the target to follow", **SOLVED_BY)
    subtarget_place: PointerProperty(
        description="Where the target bone stood last, to find it again when it is renamed",
        type=IK2D_PG_place,
        **NOTE,
    )
    length: FloatProperty(
        name="Length",
        description="Length of the ram, from the least to the greatest of its stroke",
        min=0.0,
        max=1.0,
        subtype='FACTOR',
        update=_solving_changed,
        override=OVERRIDABLE,
    )


class IK2D_PG_mechanism(BakeNotes, NativeNotes, PropertyGroup):
    """Bones whose closed loops are solved together."""

    __slots__ = ()

    name: StringProperty(
        name="Name",
        description="Name of the mechanism",
        default="Mechanism",
        update=_keep_name_unique,
        **STORED,
    )
    live: BoolProperty(
        name="Live",
        description="Move the mechanism at once when what drives it moves, without keys; a bake turns it off",
        update=_live_changed,
        **STORED,
    )
    live_status: StringProperty(
        description="Whether all joints are closed in the pose shown, or what keeps it from being live",
        get=mechanism_status,
        options=HIDDEN,
    )
    live_closed: BoolProperty(
        description="Whether the mechanism is live, and all its joints are closed in the pose that is shown",
        get=is_closed,
        options=HIDDEN,
    )
    was_live: BoolProperty(description="Whether a bake has turned Live off", **NOTE)
    enabled: BoolProperty(
        name="Enabled", description="Bake the mechanism with all others", default=True, **SOLVED_BY
    )
    bones: CollectionProperty(name="Bones", type=IK2D_PG_mechanism_bone, override=GROWING, options=set())
    joints: CollectionProperty(name="Joints", type=IK2D_PG_mechanism_joint, override=GROWING, options=set())
    active_joint: IntProperty(
        name="Active Joint", description="Joint whose settings are shown", min=0, **NOTE
    )
    drivers: CollectionProperty(
        name="Driven By", type=IK2D_PG_mechanism_driver, override=GROWING, options=set()
    )
    dead: EnumProperty(
        name="At Dead Points",
        description="What happens where a loop would tear",
        items=(
            ('STOP', "Stop", "The driver is held there"),
            ('EASE', "Ease", "The driver slows down on its way there, and is held"),
            ('THROUGH', "Go Through", "Wheels that are coupled go on over it"),
        ),
        default='EASE',
        **SOLVED_BY,
    )
    way: EnumProperty(
        name="Target's Way",
        description="Where several poses bring the bone equally near to its target",
        items=(
            ('NEAREST', "Nearest", "The pose nearest to the target of all, on each frame by itself"),
            ('GO_ON', "Go On", "The pose nearest to that of the frame before"),
        ),
        default='NEAREST',
        **SOLVED_BY,
    )
    softness: FloatProperty(
        name="Softness",
        description="Turn before a dead point from which the driver slows down",
        default=0.02,
        min=0.0,
        soft_max=0.2,
        subtype='ANGLE',
        **SOLVED_BY,
    )
    open_between: FloatProperty(
        name="Open Between Frames",
        description="Largest opening of a joint between frames, as a part of the mechanism's size, that gets"
        " no keys between them",
        default=1e-4,
        min=1e-6,
        soft_max=1e-2,
        precision=6,
        **SOLVED_BY,
    )


classes = (
    IK2D_PG_mechanism_bone,
    IK2D_PG_mechanism_joint,
    IK2D_PG_mechanism_driver,
    IK2D_PG_mechanism,
)
