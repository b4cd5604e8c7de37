# SPDX-License-Identifier: GPL-3.0-or-later
"""What is stored of a blend that was made for a chain's target or its pole."""

from bpy.props import BoolProperty, CollectionProperty, FloatVectorProperty, PointerProperty
from bpy.types import Object, PropertyGroup

from ...ui.registration import registration
from ...ui.settings.chain import IK2D_PG_chain
from ...ui.settings.joint import GROWING, HIDDEN, NOTE


class IK2D_PG_blended(PropertyGroup):
    """An object that a blend copies: it was made for that and goes with it, or was there before."""

    __slots__ = ()

    object: PointerProperty(description="The object", type=Object, **NOTE)
    was_there: BoolProperty(description="Whether it was there before the blend", **NOTE)
    is_kept: BoolProperty(description="Whether it stays where somebody has worked on it", **NOTE)


class IK2D_PG_blend(PropertyGroup):
    """An empty that was made for a chain to follow, and that copies others; none where it has no object."""

    __slots__ = ()

    empty: PointerProperty(description="Empty that the chain follows", type=Object, **NOTE)
    owned: BoolProperty(description="Whether the target before was made with the chain", **NOTE)
    copied: CollectionProperty(type=IK2D_PG_blended, override=GROWING, options=HIDDEN)
    offset: FloatVectorProperty(description="Hand Offset before", size=9, precision=6, **NOTE)
    offset_made: FloatVectorProperty(description="Hand Offset from the empty", size=9, precision=6, **NOTE)


# Of a chain: the blends in place of its target and its pole.
SETTINGS = {
    "target_blend": PointerProperty(
        description="Blend that is the chain's target, and what gives that back", type=IK2D_PG_blend, **NOTE
    ),
    "pole_blend": PointerProperty(
        description="Blend that is the chain's pole, and what gives that back", type=IK2D_PG_blend, **NOTE
    ),
}

classes = (IK2D_PG_blended, IK2D_PG_blend)
register, unregister = registration(classes, (IK2D_PG_chain, SETTINGS))
