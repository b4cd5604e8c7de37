# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions, slots, F-Curves and groups that hold a bake's keys: make them, and remove them again.

Functions that make something take an ExitStack, `undo`; closing it removes what they made, and nothing
else. Each step back looks its data up anew, since references may be gone by then.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import bpy

from . import versions


class KnownChannels:
    """An index of the F-Curves and groups that an action has now, used like it."""

    def __init__(self, holder: versions.Channels) -> None:
        # From the last to the first, which counts where a damaged file has two of a kind.
        curves, groups = list(holder.fcurves)[::-1], list(holder.groups)[::-1]
        self.fcurves = KnownCurves(((curve.data_path, curve.array_index), curve) for curve in curves)
        self.groups = {group.name: group for group in groups}


def channels(armature_object: bpy.types.Object, undo: ExitStack) -> versions.Channels:
    """Return the object's action or channel bag, made and assigned where missing.

    A linked action is copied first: keys written to it would be lost. Closing `undo` removes what was
    made here, unless something else was put into it since.
    """
    animation = _animation_data(armature_object, undo)
    action = animation.action
    if action is None:
        action = bpy.data.actions.new(f"{armature_object.name}Action")
        action.ik2d.made = True
        undo.callback(unless_gone, _remove_empty_action, action)
        _assign_made(armature_object, action, undo, only_empty=True)
    elif not action.is_editable:
        action = action.copy()
        undo.callback(unless_gone, bpy.data.actions.remove, action)
        _assign_made(armature_object, action, undo)
    if not versions.HAS_SLOTS:
        return action
    if animation.action_slot is None:
        slot = action.slots.new(id_type=armature_object.id_type, name=armature_object.name)
        last = animation.last_slot_identifier
        undo.callback(unless_gone, remove_empty_slot, action, slot.handle)
        undo.callback(unless_gone, leave_empty_slot, armature_object, action, slot.handle, last)
        animation.action_slot = slot
    if not len(action.layers):
        undo.callback(unless_gone, remove_empty_layer, action)
        action.layers.new("Layer")
    layer = action.layers[0]
    if not len(layer.strips):
        undo.callback(unless_gone, remove_empty_strip, action)
        layer.strips.new(type='KEYFRAME')
    strip = layer.strips[0]
    if strip.channelbag(animation.action_slot) is None:
        undo.callback(unless_gone, remove_empty_bag, action, animation.action_slot_handle)
    return strip.channelbag(animation.action_slot, ensure=True)


def fcurve(holder: versions.Channels, path: str, index: int, group: str, undo: ExitStack) -> bpy.types.FCurve:
    """Return the F-Curve of one channel, made where missing; otherwise as `fcurves`."""
    return fcurves(holder, [(path, index, group)], undo, holder)[0]


def fcurves(
    holder: versions.Channels,
    wanted: Sequence[tuple[str, int, str]],
    undo: ExitStack,
    known: KnownChannels | versions.Channels,
) -> list[bpy.types.FCurve]:
    """Return the F-Curves of channels, each (path, index, group), made in their channel groups where missing.

    An existing one keeps its group. Closing `undo` removes those made here. known: an index of the holder,
    or the holder. Grouped when all are there, which is faster, and afterwards, since the argument for it
    has another name in each version.
    """
    there = [known.fcurves.find(path, index=index) for path, index, _ in wanted]
    missing = dict.fromkeys(channel for channel, curve in zip(wanted, there, strict=True) if curve is None)
    place, names = versions.place_of(holder), dict.fromkeys(group for _, _, group in missing)
    groups = {name: _group(holder, known, place, name, undo) for name in names}
    undo.callback(unless_gone, _remove_curves, place, [(path, index) for path, index, _ in missing])
    new = {channel: holder.fcurves.new(channel[0], index=channel[1]) for channel in missing}
    for (_, _, group), curve in new.items():
        curve.group = groups[group]
        curve.auto_smoothing = 'NONE'  # handles follow from the keys beside them alone
    each = zip(wanted, there, strict=True)
    return [new[channel] if curve is None else curve for channel, curve in each]


def _group(
    holder: versions.Channels,
    known: KnownChannels | versions.Channels,
    place: versions.Place,
    name: str,
    undo: ExitStack,
) -> bpy.types.ActionGroup:
    """Return a channel group that takes new F-Curves, made where missing."""
    group = known.groups.get(name)
    if group is None:
        undo.callback(unless_gone, remove_empty_group, place, name)
        return holder.groups.new(name)
    if not len(group.channels):
        undo.callback(
            unless_gone, _make_group_again, place, [each.name for each in holder.groups], _looks(group)
        )
    return group


def group_for(holder: versions.Channels | KnownChannels | None, group: str) -> bpy.types.ActionGroup | None:
    """Return the channel group that `fcurve` would put a new curve into; None where it would make it."""
    return holder.groups.get(group) if holder is not None else None


@contextmanager
def action_copied(armature_object: bpy.types.Object) -> Iterator[None]:
    """Assign the object a copy of its action for a while, then the original again."""
    with ExitStack() as undo:
        original = _animation_data(armature_object, undo).action
        copy = original.copy() if original else bpy.data.actions.new("ik2d preview")
        undo.callback(unless_gone, bpy.data.actions.remove, copy)
        _assign_made(armature_object, copy, undo)
        yield


# --- Taking it away ----------------------------------------------------------


def unless_gone(function: Callable[..., None], *arguments: Any) -> None:
    """Call a function unless its data was deleted meanwhile."""
    with suppress(ReferenceError):
        function(*arguments)


def _animation_data(ob: bpy.types.Object, undo: ExitStack) -> bpy.types.AnimData:
    if ob.animation_data is None:
        undo.callback(unless_gone, remove_empty_animation_data, ob)
    return ob.animation_data or ob.animation_data_create()


def _assign_made(
    ob: bpy.types.Object, made: bpy.types.Action, undo: ExitStack, only_empty: bool = False
) -> None:
    """Assign a new action, and its slot of the same name; only_empty: undone only without curves in it."""
    animation = ob.animation_data
    identifier = versions.slot_played(animation)
    former = (animation.action, identifier, versions.last_slot(animation))
    undo.callback(unless_gone, _assign_again, ob, made, former, only_empty)
    versions.assign_action(animation, made, identifier)


def _assign_again(
    ob: bpy.types.Object,
    made: bpy.types.Action,
    former: tuple[bpy.types.Action | None, str, str],
    only_empty: bool,
) -> None:
    animation, (action, slot, last) = ob.animation_data, former
    if animation is None or animation.action != made or (only_empty and versions.has_curves(made)):
        return
    versions.assign_action(animation, action, slot)
    if versions.HAS_SLOTS:
        animation.last_slot_identifier = last


def leave_empty_slot(ob: bpy.types.Object, action: bpy.types.Action, handle: int, last: str) -> None:
    """Unassign the slot made for an object if it is empty."""
    animation, bag = ob.animation_data, versions.channels_at((action, handle))
    if bag is not None and len(bag.fcurves):
        return
    if animation is not None and (animation.action, animation.action_slot_handle) == (action, handle):
        animation.action_slot = None
        animation.last_slot_identifier = last


def remove_empty_animation_data(ob: bpy.types.Object) -> None:
    """Remove an object's animation data if nothing is in it: no action, driver or NLA track."""
    animation = ob.animation_data
    if animation and not (animation.action or len(animation.drivers) or len(animation.nla_tracks)):
        ob.animation_data_clear()


def remove_made(ob: bpy.types.Object) -> None:
    """Remove the action of an object that `channels` has made, once it is empty and nobody else has it."""
    action = versions.played_action(ob)
    if action is None or not action.is_property_set("ik2d") or not action.ik2d.made:
        return
    if action.users == 1 and not action.use_fake_user and not versions.has_curves(action):
        ob.animation_data.action = None
        bpy.data.actions.remove(action)
        remove_empty_animation_data(ob)


def remove_emptied(ob: bpy.types.Object, action: bpy.types.Action | None) -> None:
    """Remove an action that was made for an object, once it is empty, even one with a fake user.

    Not one that others have.
    """
    if action is None or not action.is_property_set("ik2d") or not action.ik2d.made:
        return
    if versions.has_curves(action):
        return
    had_fake_user, action.use_fake_user = action.use_fake_user, False
    if not action.users:
        bpy.data.actions.remove(action)
    elif action.users == 1 and versions.played_action(ob) == action:
        remove_made(ob)
    else:
        action.use_fake_user = had_fake_user


def _remove_empty_action(action: bpy.types.Action) -> None:
    if not versions.has_curves(action):
        bpy.data.actions.remove(action)


def remove_empty_slot(action: bpy.types.Action, handle: int) -> None:
    """Remove a slot of an action if no curve is in it."""
    bag = versions.channels_at((action, handle))
    for slot in [slot for slot in action.slots if slot.handle == handle]:
        if bag is None or not len(bag.fcurves):
            action.slots.remove(slot)


def remove_empty_layer(action: bpy.types.Action) -> None:
    """Remove the layers of an action that have no strip."""
    for layer in [layer for layer in action.layers if not len(layer.strips)]:
        action.layers.remove(layer)


def remove_empty_strip(action: bpy.types.Action) -> None:
    """Remove the strips of an action that have no channel bag."""
    for layer in action.layers:
        for strip in [strip for strip in layer.strips if not len(strip.channelbags)]:
            layer.strips.remove(strip)


def remove_empty_bag(action: bpy.types.Action, handle: int) -> None:
    """Remove the channel bags of a slot that have neither curves nor groups."""
    for strip in [strip for layer in action.layers for strip in layer.strips]:
        for bag in [bag for bag in strip.channelbags if bag.slot_handle == handle]:
            if not len(bag.fcurves) and not len(bag.groups):
                strip.channelbags.remove(bag)


def _remove_curves(place: versions.Place, made: Sequence[tuple[str, int]]) -> None:
    holder = versions.channels_at(place)
    if holder is None:
        return
    for path, index in reversed(made):
        curve = holder.fcurves.find(path, index=index)
        if curve is not None:
            holder.fcurves.remove(curve)


def remove_empty_group(place: versions.Place, name: str) -> None:
    """Remove a channel group at a place if no curve is in it."""
    holder = versions.channels_at(place)
    group = holder.groups.get(name) if holder is not None else None
    if holder is not None and group is not None and not len(group.channels):
        holder.groups.remove(group)


def _looks(group: bpy.types.ActionGroup) -> dict[str, Any]:
    """Return all settings of a channel group."""
    colors = {name: tuple(getattr(group.colors, name)) for name in ("normal", "select", "active")}
    return {"colors": colors, **{name: getattr(group, name) for name in _GROUP_SETTINGS}}


_GROUP_SETTINGS = (
    *("name", "select", "lock", "mute"),
    *("show_expanded", "show_expanded_graph", "use_pin", "color_set"),
)


def _make_group_again(place: versions.Place, order: Sequence[str], looks: dict[str, Any]) -> None:
    """Make an empty channel group again: from 4.4 on it is removed with the last of its curves.

    order: the names of all groups then; those after it are made anew, to come after it.
    """
    holder = versions.channels_at(place)
    if holder is None or holder.groups.get(looks["name"]):
        return
    _new_group(holder, looks)
    for name in order[order.index(looks["name"]) + 1 :]:
        group = holder.groups.get(name)
        if group is None:
            continue
        state, curves = _looks(group), [(curve.data_path, curve.array_index) for curve in group.channels]
        holder.groups.remove(group)
        group = _new_group(holder, state)
        for path, index in curves:
            holder.fcurves.find(path, index=index).group = group


def _new_group(holder: versions.Channels, looks: dict[str, Any]) -> bpy.types.ActionGroup:
    group = holder.groups.new(looks["name"])
    for name in _GROUP_SETTINGS:
        setattr(group, name, looks[name])
    if looks["color_set"] == 'CUSTOM':
        for name, color in looks["colors"].items():
            setattr(group.colors, name, color)
    return group


class KnownCurves(dict[tuple[str, int], bpy.types.FCurve]):
    """F-Curves by path and index."""

    def find(self, path: str, index: int = 0) -> bpy.types.FCurve | None:
        """Return the F-Curve of a channel, or None, as Blender's own collections do."""
        return self.get((path, index))
