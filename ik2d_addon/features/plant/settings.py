# SPDX-License-Identifier: GPL-3.0-or-later
"""Stored state of planted feet, besides the keys that were replaced (`rig/animation/kept`)."""

from bpy.props import CollectionProperty, IntProperty, PointerProperty, StringProperty
from bpy.types import Object, PropertyGroup

from ...ui.registration import registration
from ...ui.settings.chain import IK2D_PG_chain
from ...ui.settings.joint import GROWING, HIDDEN, NOTE


class IK2D_PG_planted_channel(PropertyGroup):
    """A channel as it was before its chain was planted by 1.0.0; now only read."""

    __slots__ = ()

    owner: PointerProperty(description="Object that has the channel", type=Object, **NOTE)
    path: StringProperty(description="Path of the property; of the chain's own it begins with a dot", **NOTE)
    index: IntProperty(description="Index of the channel", default=-1, **NOTE)
    value: StringProperty(description="Its value, as JSON", **NOTE)
    curve: StringProperty(description="Its F-Curve, as JSON; empty without one", **NOTE)


class IK2D_PG_planted_setting(PropertyGroup):
    """A setting of a chain that was changed when it was planted."""

    __slots__ = ()

    name: StringProperty(description="Name of the setting", **NOTE)
    before: StringProperty(description="Its value before", **NOTE)
    after: StringProperty(description="The value that it was set to", **NOTE)


class IK2D_PG_planted(PropertyGroup):
    """The changes to a chain that was planted, besides keys."""

    __slots__ = ()

    channels: CollectionProperty(type=IK2D_PG_planted_channel, override=GROWING, options=HIDDEN)
    settings: CollectionProperty(type=IK2D_PG_planted_setting, override=GROWING, options=HIDDEN)
    pole: PointerProperty(description="Empty that was made for it", type=Object, **NOTE)


# Of a chain.
SETTINGS = {
    "planted": PointerProperty(description="The motion before Plant Feet", type=IK2D_PG_planted, **NOTE),
}

classes = (IK2D_PG_planted_channel, IK2D_PG_planted_setting, IK2D_PG_planted)
register, unregister = registration(classes, (IK2D_PG_chain, SETTINGS))
