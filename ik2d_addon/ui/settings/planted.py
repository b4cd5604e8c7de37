# SPDX-License-Identifier: GPL-3.0-or-later
"""Stored state of planted feet: the motion that they had before."""

from bpy.props import CollectionProperty, IntProperty, PointerProperty, StringProperty
from bpy.types import Object, PropertyGroup

from .joint import GROWING, HIDDEN, NOTE


class IK2D_PG_planted_channel(PropertyGroup):
    """A channel as it was before its chain was planted."""

    owner: PointerProperty(name="Owner", description="Object that has the channel", type=Object, **NOTE)
    path: StringProperty(
        name="Path", description="Path of the property; of the chain's own it begins with a dot", **NOTE
    )
    index: IntProperty(name="Index", description="Index of the channel", default=-1, **NOTE)
    value: StringProperty(name="Value", description="Its value, as JSON", **NOTE)
    curve: StringProperty(name="Curve", description="Its F-Curve, as JSON; empty without one", **NOTE)


class IK2D_PG_planted(PropertyGroup):
    """The motion of a chain before it was planted; no channels where it is not."""

    channels: CollectionProperty(
        name="Channels", type=IK2D_PG_planted_channel, override=GROWING, options=HIDDEN
    )
    pole: PointerProperty(name="Pole", description="Empty that was made for it", type=Object, **NOTE)


classes = (IK2D_PG_planted_channel, IK2D_PG_planted)
