# SPDX-License-Identifier: GPL-3.0-or-later
"""The active mechanism and the selected bones, and the reasons why nothing can be done with them."""

from collections.abc import Sequence
from typing import Any

from bpy.types import Context, Object

from ...core.words import say
from ...ui.context import active_armature, active_mechanism, why_no_mechanism, why_not_edit


def mechanism_with(armature: Object, bones: Sequence[str]) -> Any:
    """Return the mechanism that has any of some bones, the active one first; None where none has."""
    active = active_mechanism(armature)
    first = [active] if active is not None else []
    found = (one for one in (*first, *armature.ik2d.mechanisms) if any(bone in one.bones for bone in bones))
    return next(found, None)


def selected_bones(context: Context) -> list[str]:
    """Return the selected bones of the active armature, the active bone last."""
    armature = active_armature(context)
    if armature is None:
        return []
    names = [bone.name for bone in context.selected_pose_bones or () if bone.id_data == armature]
    active = armature.data.bones.active
    return sorted(names, key=lambda name: active is not None and name == active.name)


def _why_not_select(context: Context, least: int, most: int, words: str) -> str:
    if reason := why_not_edit(context):
        return reason
    if context.mode != 'POSE':
        return say("Switch to Pose Mode and select bones")
    return "" if least <= len(selected_bones(context)) <= most else words


def why_no_new(context: Context) -> str:
    return _why_not_select(context, 2, 500, say("Select all bones of the machine, in Pose Mode"))


def why_no_pair(context: Context) -> str:
    reason = _why_not_select(context, 2, 2, say("Select two bones"))
    return reason or why_no_mechanism(context)


def why_no_end(context: Context) -> str:
    words = say("Select two bones, or one whose tail is held by the frame")
    return _why_not_select(context, 1, 2, words) or why_no_mechanism(context)


def why_no_ram(context: Context) -> str:
    return _why_not_select(context, 2, 2, say("Select two bones: the barrel and the rod"))


def active_part(context: Context) -> tuple[Any, str]:
    """Return the active bone's mechanism, None where it is in none, and its name."""
    armature = active_armature(context)
    bone = armature.data.bones.active if armature is not None else None
    if armature is None or bone is None:
        return None, ""
    return mechanism_with(armature, [bone.name]), str(bone.name)


def why_no_bone(context: Context) -> str:
    """Return why the active bone is none of a mechanism's."""
    if reason := why_no_mechanism(context):
        return reason
    is_there = context.mode == 'POSE' and active_part(context)[0] is not None
    return "" if is_there else say("Select a bone of the mechanism, in Pose Mode")
