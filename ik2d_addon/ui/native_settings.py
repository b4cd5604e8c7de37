# SPDX-License-Identifier: GPL-3.0-or-later
"""What a chain knows of what makes it native."""

import bpy
from bpy.props import BoolProperty, PointerProperty, StringProperty
from bpy.types import PropertyGroup

_OVERRIDABLE = {'LIBRARY_OVERRIDABLE'}
_HIDDEN = {'HIDDEN'}


class IK2D_PG_native(PropertyGroup):
    """The empties and constraints of a native chain."""

    is_on: BoolProperty(
        name="Native",
        description="Whether Blender's own drivers turn the chain's bones",
        override=_OVERRIDABLE,
        options=_HIDDEN,
    )
    stand: PointerProperty(
        name="Stand",
        description="Empty in the chain's plane that carries its controls",
        type=bpy.types.Object,
        override=_OVERRIDABLE,
        options=_HIDDEN,
    )
    probe: PointerProperty(
        name="Probe",
        description="Empty that is where the chain's target is",
        type=bpy.types.Object,
        override=_OVERRIDABLE,
        options=_HIDDEN,
    )
    constraint: StringProperty(
        name="Constraint",
        description="Name of the constraints that turn the bones",
        override=_OVERRIDABLE,
        options=_HIDDEN,
    )
    was_live: BoolProperty(
        name="Was Live",
        description="Whether the chain was live before",
        override=_OVERRIDABLE,
        options=_HIDDEN,
    )
    made_animation: BoolProperty(
        name="Made Animation",
        description="Whether the armature had no animation before",
        override=_OVERRIDABLE,
        options=_HIDDEN,
    )
