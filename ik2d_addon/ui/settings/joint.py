# SPDX-License-Identifier: GPL-3.0-or-later
"""The stored settings of a joint."""

from math import pi
from typing import Any

from bpy.props import (
    BoolProperty,
    BoolVectorProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import PropertyGroup

from ...live.registry import RIGS

OVERRIDABLE = {'LIBRARY_OVERRIDABLE'}
HIDDEN = {'HIDDEN'}
GROWING = {'LIBRARY_OVERRIDABLE', 'USE_INSERTION'}


def angle(most: float, usual: float) -> dict[str, Any]:
    """Return the keywords of an angle that goes so many half turns to both sides, usually by hand so many."""
    ends = {"min": -most * pi, "max": most * pi, "soft_min": -usual * pi, "soft_max": usual * pi}
    return {**ends, "subtype": 'ANGLE'}


def solving_changed(settings, _context):
    """Have the live chain of a setting look at its settings again."""
    RIGS.mark_edited(settings)


# Keywords that properties share: of all that a person sets; of those that say how a chain is solved; of those
# that can be animated; and of what the add-on itself stores, which is state.
STORED = {"override": OVERRIDABLE, "options": set()}
SETTING = {**STORED, "update": solving_changed}
ANIMATED = {"override": OVERRIDABLE, "update": solving_changed}
NOTE = {"override": OVERRIDABLE, "options": HIDDEN}


def ordered(moved: str, other: str, sign: float) -> dict[str, Any]:
    """Return the keywords of one end of a range, which moves the other along: up by 1.0, down by -1.0."""

    def changed(joint, _context):
        RIGS.mark_edited(joint)
        value = getattr(joint, moved)
        if sign * getattr(joint, other) < sign * value:  # also ends the update that this itself sets off
            setattr(joint, other, value)

    return {**STORED, "update": changed}


class IK2D_PG_place(PropertyGroup):
    """Where a bone stood in the rest pose when it last had the name that is stored beside this."""

    __slots__ = ()

    head: FloatVectorProperty(description="Head of the bone, in rest", **NOTE)
    tail: FloatVectorProperty(description="Tail of the bone, in rest", **NOTE)
    parent: StringProperty(description="Parent of the bone", **NOTE)
    index: IntProperty(
        description="Place of the bone among all bones; -1 where it is not known", default=-1, **NOTE
    )
    count: IntProperty(description="How many bones there were", **NOTE)


class IK2D_PG_joint(PropertyGroup):
    """The settings of the joint at one bone's head."""

    __slots__ = ()

    name: StringProperty(name="Bone", description="Bone that turns about this joint, its head", **STORED)
    use_limit: BoolProperty(
        name="Limit",
        description="Keep the joint's angle, in the chain's plane, between Min and Max",
        **SETTING,
    )
    limit_min: FloatProperty(
        name="Min",
        description="Smallest angle, relative to the rest pose. In Automatic, positive bends further; in "
        "other planes it turns about their normal",
        default=-pi,
        **angle(4.0, 2.0),
        **ordered("limit_min", "limit_max", 1.0),
    )
    limit_max: FloatProperty(
        name="Max",
        description="Largest angle, relative to the rest pose. In Automatic, positive bends further; in "
        "other planes it turns about their normal",
        default=pi,
        **angle(4.0, 2.0),
        **ordered("limit_max", "limit_min", -1.0),
    )
    weight: FloatProperty(
        name="Flexibility",
        description="How easily this joint bends compared with the others; 0 keeps it stiff",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype='FACTOR',
        **SETTING,
    )
    is_scaled: BoolProperty(
        name="Scaled", description="Whether a solve or a bake has changed the bone's Y Scale", **NOTE
    )
    scale_base: FloatProperty(description="Y Scale that the bone had before", default=1.0, **NOTE)
    scale_posed: FloatProperty(description="Y Scale that Pose This Frame or Live has set last", **NOTE)
    use_slide: BoolProperty(
        name="Slide",
        description=(
            "Let the bone slide along itself, as a piston does: it moves the next bone of the chain; the"
            " last bone moves itself"
        ),
        **SETTING,
    )
    slide_min: FloatProperty(
        name="Min",
        description="Least length added to the bone; negative slides in",
        soft_min=-10.0,
        soft_max=10.0,
        subtype='DISTANCE',
        **ordered("slide_min", "slide_max", 1.0),
    )
    slide_max: FloatProperty(
        name="Max",
        description="Most length added to the bone, where it slides out",
        default=1.0,
        soft_min=-10.0,
        soft_max=10.0,
        subtype='DISTANCE',
        **ordered("slide_max", "slide_min", -1.0),
    )
    slid: BoolVectorProperty(
        description="Channels of the bone's location that a solve or bake has moved", size=3, **NOTE
    )
    slide_base: FloatVectorProperty(
        description="Location that the bone had in these channels before", size=3, precision=6, **NOTE
    )
    place: PointerProperty(
        description="Where the bone stood last, to find it again when it is renamed",
        type=IK2D_PG_place,
        **NOTE,
    )
