# SPDX-License-Identifier: GPL-3.0-or-later
"""What is stored of a chain beside its settings: drivers that stand for it, and its last solve and bake."""

import bpy
from bpy.props import BoolProperty, IntProperty, PointerProperty, StringProperty

from ..joint import NOTE


class NativeNotes:
    """What is known of a chain's or a mechanism's drivers."""

    __slots__ = ()

    native_stand: PointerProperty(
        description="Empty in the plane of a native chain that carries its controls",
        type=bpy.types.Object,
        **NOTE,
    )
    native_probe: PointerProperty(
        description="Empty that is where the target of a native chain is",
        type=bpy.types.Object,
        **NOTE,
    )
    native_constraint: StringProperty(
        description="Name of the constraints that turn the bones of a native chain; empty for another", **NOTE
    )
    native_before: StringProperty(
        description="What is to be put back when the chain is on drivers no more",
        **NOTE,
    )
    native_print: StringProperty(
        description="What a native chain was made from, to see whether it still does what its settings say",
        **NOTE,
    )


class BakeNotes:
    """What is known of a chain's or a mechanism's bakes."""

    __slots__ = ()

    last_bake: StringProperty(description="Result of the last bake", **NOTE)
    bake_mark: StringProperty(
        description="What the last bake was made of, to see whether it still holds", **NOTE
    )
    bones_baked: StringProperty(description="Bones that bakes have keyed", **NOTE)


class ChainNotes(BakeNotes, NativeNotes):
    """What is known of a chain, which nobody sets."""

    __slots__ = ()

    last_solve: StringProperty(
        name="Last Pose", description="Result of the last Pose This Frame of this chain", **NOTE
    )
    bake_reached: BoolProperty(
        description="Whether the last bake brought the tip to its target on every frame",
        **NOTE,
    )
    solve_mark: StringProperty(
        name="Pose Mark",
        description="What the last Pose This Frame was made of, to see whether it still holds",
        **NOTE,
    )
    left_out: StringProperty(description="Limits that could not be copied from the bones", **NOTE)
    missed_frames: StringProperty(
        description="Frames on which the last bake missed the target, as \"3..7 12\"", **NOTE
    )
    worst_frame: IntProperty(
        description="Frame on which the last bake missed the target most; -1 where it missed none",
        default=-1,
        **NOTE,
    )
