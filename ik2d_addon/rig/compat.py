# SPDX-License-Identifier: GPL-3.0-or-later
"""Every difference between the Blender versions that IK 2D runs on, 4.2 to 5.2."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import bpy

# What holds F-Curves and groups: an action, from 4.4 on the channel bag of one of its slots, a type which
# earlier versions do not have.
Channels: TypeAlias = Any


def channels(armature_object: bpy.types.Object) -> Channels:
    """Return what holds the object's F-Curves and groups; made, and assigned, where missing.

    An action that a library owns is copied first: keys written to it would be lost.
    """
    animation = armature_object.animation_data or armature_object.animation_data_create()
    action = animation.action
    if action is not None and not action.is_editable:
        action = action.copy()
        animation.action = action
    if action is None:
        action = bpy.data.actions.new(f"{armature_object.name}Action")
        animation.action = action
    if not hasattr(animation, "action_slot"):  # 4.2 and 4.3; goes when 4.4 is the oldest
        return action
    if animation.action_slot is None:
        animation.action_slot = action.slots.new(id_type=armature_object.id_type, name=armature_object.name)
    layer = action.layers[0] if len(action.layers) else action.layers.new("Layer")
    strip = layer.strips[0] if len(layer.strips) else layer.strips.new(type='KEYFRAME')
    return strip.channelbag(animation.action_slot, ensure=True)


def fcurve(holder: Channels, path: str, index: int, group: str) -> bpy.types.FCurve:
    """Return the F-Curve of one channel, made in the channel group `group` where missing.

    Grouped afterwards, since the argument for it has another name in each version.
    """
    curve = holder.fcurves.find(path, index=index) or holder.fcurves.new(path, index=index)
    if curve.group is None:
        curve.group = holder.groups.get(group) or holder.groups.new(group)
    return curve


def existing_channels(armature_object: bpy.types.Object) -> Channels | None:
    """Return what holds the F-Curves that the object is animated by now; None where there is nothing."""
    animation = armature_object.animation_data
    action = animation.action if animation else None
    if action is None or not hasattr(animation, "action_slot"):  # 4.2 and 4.3; goes when 4.4 is the oldest
        return action
    if animation.action_slot is None or not len(action.layers) or not len(action.layers[0].strips):
        return None
    return action.layers[0].strips[0].channelbag(animation.action_slot)


def existing_fcurves(armature_object: bpy.types.Object) -> Sequence[bpy.types.FCurve]:
    """Return the F-Curves that the object is animated by now."""
    holder = existing_channels(armature_object)
    return holder.fcurves if holder else ()


def sharing_channels(armature_object: bpy.types.Object) -> list[bpy.types.Object]:
    """Return the other objects that play the F-Curves that the object is animated by now."""
    animation = armature_object.animation_data
    if animation is None or animation.action is None or not animation.action.is_editable:
        return []
    if hasattr(animation, "action_slot") and animation.action_slot is None:  # the test goes with 4.2 and 4.3
        return []
    slot = getattr(animation, "action_slot_handle", 0)
    return [
        ob
        for ob in bpy.data.objects
        if ob != armature_object
        and ob.animation_data
        and ob.animation_data.action == animation.action
        and getattr(ob.animation_data, "action_slot_handle", 0) == slot
    ]


@contextmanager
def action_copied(armature_object: bpy.types.Object) -> Iterator[None]:
    """Let the object play a copy of its action for a while; then the original again, as it was."""
    had_animation = armature_object.animation_data is not None
    animation = armature_object.animation_data or armature_object.animation_data_create()
    original, slot = animation.action, getattr(animation, "action_slot", None)
    copy = original.copy() if original else bpy.data.actions.new("ik2d preview")
    try:
        assign_action(animation, copy, slot)
        yield
    finally:
        if had_animation:
            assign_action(animation, original, slot)
        else:
            armature_object.animation_data_clear()
        bpy.data.actions.remove(copy)


@contextmanager
def actions_put_back_on_error(armature_object: bpy.types.Object) -> Iterator[None]:
    """Take away what is made to hold F-Curves meanwhile, and assign what was assigned, if that fails."""
    had_animation, actions = armature_object.animation_data is not None, set(bpy.data.actions)
    animation = armature_object.animation_data
    action, slot = (animation.action, getattr(animation, "action_slot", None)) if animation else (None, None)
    layout = _layout(action) if action else None
    try:
        yield
    except BaseException:
        if not had_animation:
            armature_object.animation_data_clear()
        elif animation.action != action or getattr(animation, "action_slot", None) != slot:
            assign_action(animation, action, slot)
        if layout:
            _trim(action, *layout)
        bpy.data.batch_remove([made for made in bpy.data.actions if made not in actions])
        raise


def _layout(action: bpy.types.Action) -> tuple[set[str], int, int, set[str]] | None:
    """Return an action's slots, how many layers and strips it has, and the slots with channels."""
    if not hasattr(action, "layers"):  # 4.2 and 4.3; goes when 4.4 is the oldest
        return None
    strips: Sequence[Any] = action.layers[0].strips if len(action.layers) else ()
    bags: Iterable[Any] = strips[0].channelbags if len(strips) else ()
    slots = {slot.identifier for slot in action.slots}
    return slots, len(action.layers), len(strips), {bag.slot.identifier for bag in bags}


def _trim(action: bpy.types.Action, slots: set[str], layers: int, strips: int, bags: set[str]) -> None:
    """Take from an action what was not in its layout."""
    for slot in [slot for slot in action.slots if slot.identifier not in slots]:
        action.slots.remove(slot)
    if not layers:
        for layer in list(action.layers):
            action.layers.remove(layer)
    elif not strips:
        for strip in list(action.layers[0].strips):
            action.layers[0].strips.remove(strip)
    else:
        channelbags = action.layers[0].strips[0].channelbags
        for bag in [bag for bag in channelbags if bag.slot.identifier not in bags]:
            channelbags.remove(bag)


def assign_action(animation: bpy.types.AnimData, action: bpy.types.Action | None, slot: Any) -> None:
    """Assign an action, and of its slots the one of the same identifier as `slot`."""
    identifier = slot.identifier if slot else ""
    animation.action = action
    if hasattr(animation, "action_slot") and action is not None:  # the test goes when 4.4 is the oldest
        animation.action_slot = action.slots.get(identifier) if identifier else None
