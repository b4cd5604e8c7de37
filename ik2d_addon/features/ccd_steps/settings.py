# SPDX-License-Identifier: GPL-3.0-or-later
"""Stored state of a walk through plain CCD."""

from bpy.props import IntProperty, PointerProperty, StringProperty
from bpy.types import PropertyGroup

from ...ui.registration import registration
from ...ui.settings.chain import IK2D_PG_chain
from ...ui.settings.joint import NOTE


class IK2D_PG_ccd_walk(PropertyGroup):
    """Where a walk through plain CCD, joint by joint, has come to."""

    __slots__ = ()

    joint: IntProperty(name="Next Joint", description="Joint that turns next, 0 for the root", min=0, **NOTE)
    mark: StringProperty(description="Pose, target and frame after the last step; others begin anew", **NOTE)


# Of a chain.
SETTINGS = {
    "ccd_walk": PointerProperty(
        name="CCD Walk",
        description="Where a walk through plain CCD has come to",
        type=IK2D_PG_ccd_walk,
        **NOTE,
    ),
}

classes = (IK2D_PG_ccd_walk,)
register, unregister = registration(classes, (IK2D_PG_chain, SETTINGS))
