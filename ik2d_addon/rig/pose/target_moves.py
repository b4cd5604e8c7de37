# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a target, an object or a bone, can be moved by its location."""

import bpy

from ...core.words import say
from ..animation.value_keys import acting_driver
from ..chain.dependencies import acts_now


def why_fixed(target: bpy.types.Object, subtarget: str, constrained: bool = False) -> str:
    """Say why a target cannot be moved by its location; "" where it can.

    constrained: whether it may have constraints, which may let it.
    """
    holder = target.pose.bones[subtarget] if subtarget else target
    name = f"'{holder.name}'"
    if not target.is_editable:
        return say("{name} is linked from another file", name=name)
    if any(holder.lock_location):
        return say("the location of {name} is locked", name=name)
    if acting_constraints(holder) and not constrained:
        return say("{name} has constraints", name=name)
    if subtarget and holder.parent is not None and holder.bone.use_connect:
        return say("bone {name} is connected to its parent", name=name)
    path = holder.path_from_id("location")
    if any(acting_driver(target, path, channel) for channel in range(3)):
        return say("the location of {name} has a driver", name=name)
    return ""


def acting_constraints(holder: bpy.types.Object | bpy.types.PoseBone) -> list[bpy.types.Constraint]:
    """Return the constraints of an object or a bone that are not muted and have influence now."""
    return [constraint for constraint in holder.constraints if acts_now(constraint)]
