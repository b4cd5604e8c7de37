# SPDX-License-Identifier: GPL-3.0-or-later
"""What IK 2D stores on an action: `Action.ik2d`."""

from bpy.props import BoolProperty, CollectionProperty, IntProperty, PointerProperty, StringProperty
from bpy.types import Action, PropertyGroup

_STATE = {"options": {'HIDDEN'}}


class IK2D_PG_kept(PropertyGroup):
    """The motion that was replaced in one slot."""

    __slots__ = ()

    slot: IntProperty(name="Slot", description="Handle of the slot; 0 before Blender 4.4", **_STATE)
    action: PointerProperty(
        name="Action", description="Action that keeps the motion that was replaced", type=Action, **_STATE
    )


class IK2D_PG_action(PropertyGroup):
    """What keys that IK 2D has written into an action replaced there."""

    __slots__ = ()

    kept: CollectionProperty(
        name="Kept", description="Motion that was replaced, by slot", type=IK2D_PG_kept, **_STATE
    )
    count: IntProperty(name="Count", description="How many curves have had marked keys", **_STATE)
    made: BoolProperty(
        name="Made", description="Whether it was made to hold a bake, and goes when it is empty", **_STATE
    )
    baked_from: StringProperty(
        name="Baked From", description="Name of the action that a bake has copied for its keys", **_STATE
    )
    baked_digest: StringProperty(
        name="Baked Digest", description="Digest of such a copy when it was baked, to see edits", **_STATE
    )
    shown_from: PointerProperty(
        name="Shown From", description="Action whose kept motion this one shows", type=Action, **_STATE
    )
    shown_digest: StringProperty(
        name="Shown Digest", description="Digest of its keys when it was made, to see edits", **_STATE
    )


classes = (IK2D_PG_kept, IK2D_PG_action)
