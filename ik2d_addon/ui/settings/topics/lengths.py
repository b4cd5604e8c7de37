# SPDX-License-Identifier: GPL-3.0-or-later
"""The stored settings of bones that stretch."""

from bpy.props import (
    EnumProperty,
    FloatProperty,
)

from ..joint import SETTING


class LengthSettings:
    """The settings of a chain that change the length of its bones."""

    __slots__ = ()

    stretch: FloatProperty(
        name="Stretch",
        description=(
            "How much longer the bones may get to reach a far target, by their Y Scale: 2 = twice as long,"
            " 1 = off"
        ),
        default=1.0,
        min=1.0,
        soft_max=2.0,
        max=100.0,
        **SETTING,
    )
    compress: FloatProperty(
        name="Shortest Length",
        description=(
            "How short the bones may get for a target that is too close, by their Y Scale: 0.5 = half,"
            " 1 = off"
        ),
        default=1.0,
        min=0.01,
        soft_min=0.1,
        soft_max=1.0,
        max=100.0,
        **SETTING,
    )
    stretch_bones: EnumProperty(
        name="Stretched Bones",
        description="Bones that change their length",
        items=(
            ('ALL', "All", "All bones by the same factor, so that the chain keeps its shape"),
            ('LAST', "Last Only", "The last bone alone; the others keep their length"),
        ),
        default='ALL',
        **SETTING,
    )
