# SPDX-License-Identifier: GPL-3.0-or-later
"""The stored settings of the foot on a chain's tip."""

from math import pi

import bpy
from bpy.props import BoolProperty, FloatProperty, FloatVectorProperty, PointerProperty
from bpy.types import PropertyGroup

from ...ui.registration import registration
from ...ui.settings.chain import IK2D_PG_chain
from ...ui.settings.joint import ANIMATED, OVERRIDABLE, SETTING


def _pivot(name: str, description: str) -> FloatVectorProperty:
    """Return a pivot's property: a place in the armature's rest space, from the end of the last bone."""
    return FloatVectorProperty(
        name=name, description=description, size=3, subtype='TRANSLATION', precision=4, **SETTING
    )


def _contact(name: str, description: str) -> BoolProperty:
    """Return the property of a contact, which Plant Feet reads: it does nothing by itself."""
    return BoolProperty(
        name=name,
        description=f"{description} on the frames on which this is keyed on, for Plant Feet",
        override=OVERRIDABLE,
    )


class IK2D_PG_foot(PropertyGroup):
    """A foot whose control is the chain's target: how it rolls, and the ground under it."""

    __slots__ = ()

    is_added: BoolProperty(
        name="Foot",
        description="Whether the chain's target is the control of a foot, rather than of the tip",
        **SETTING,
    )
    roll: FloatProperty(
        name="Roll",
        description="Rolls the foot: below 0 over the heel, above over the ball, then over the toe tip",
        min=-pi / 2.0,
        max=pi / 2.0,
        subtype='ANGLE',
        **ANIMATED,
    )
    toe: FloatProperty(
        name="Toes Up",
        description="Bends the toes alone, up or down",
        min=-pi / 2.0,
        max=pi / 2.0,
        subtype='ANGLE',
        **ANIMATED,
    )
    break_angle: FloatProperty(
        name="Break Angle",
        description="Roll up to which the toes stay on the ground; beyond, the foot rolls over the toe tip",
        default=pi / 4.0,
        min=0.0,
        max=pi / 2.0,
        subtype='ANGLE',
        **ANIMATED,
    )
    use_ground: BoolProperty(
        name="Above Ground",
        description="Lift the ankle wherever the sole would go below the ground",
        **ANIMATED,
    )
    ground: PointerProperty(
        name="Ground",
        description="Object that the sole stays above: a mesh by its surface, any other by its height",
        type=bpy.types.Object,
        **SETTING,
    )
    contact: _contact("Contact", "The end of the chain stands still")
    contact_heel: _contact("Heel Contact", "The heel stands still")
    contact_toe: _contact("Toe Contact", "The toes stand still")
    heel: _pivot("Heel", "Rearmost point of the sole, from the ankle, in the armature's rest pose")
    ball: _pivot("Ball", "Joint of the toes, from the ankle, in the armature's rest pose")
    toe_tip: _pivot("Toe Tip", "Foremost point of the sole, from the ankle, in the armature's rest pose")


# Of a chain.
SETTINGS = {
    "foot": PointerProperty(
        name="Foot",
        description="Foot on the end of the chain, whose control is the chain's target",
        type=IK2D_PG_foot,
        override=OVERRIDABLE,
        options=set(),
    ),
}

classes = (IK2D_PG_foot,)
register, unregister = registration(classes, (IK2D_PG_chain, SETTINGS))
