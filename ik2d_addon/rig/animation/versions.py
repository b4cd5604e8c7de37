# SPDX-License-Identifier: GPL-3.0-or-later
"""Every difference between the Blender versions that IK 2D runs on, 4.2 to 5.2."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import bpy

# The holder of F-Curves and groups: an action; from 4.4 on the channel bag of one of its slots.
Channels: TypeAlias = Any
# Where channels are, to find them again: their action, and the handle of their slot (0 before 4.4).
Place: TypeAlias = tuple[bpy.types.Action, int]

# Whether actions have slots, layers and channel bags: from 4.4 on. All tests of it go when 4.4 is the oldest.
HAS_SLOTS = "action_slot" in bpy.types.AnimData.bl_rna.properties

# Whether files of an older Blender open with a second copy of an add-on's settings, as custom properties:
# from 5.0 on. The test goes when 5.0 is the oldest.
COPIES_OLD_SETTINGS = bpy.app.version >= (5, 0)


def played_action(ob: bpy.types.Object) -> bpy.types.Action | None:
    """Return the action that an object plays, strips aside; None for none."""
    return ob.animation_data.action if ob.animation_data is not None else None


def existing_channels(armature_object: bpy.types.Object) -> Channels | None:
    """Return the action or channel bag that animates the object now; None for none."""
    action = played_action(armature_object)
    if action is None or not HAS_SLOTS:
        return action
    slot = armature_object.animation_data.action_slot
    if slot is not None:
        for layer in action.layers:  # live chains ask often: this is faster than by numbers
            for strip in layer.strips:
                return strip.channelbag(slot)
            break
    return None


def existing_fcurves(armature_object: bpy.types.Object) -> Sequence[bpy.types.FCurve]:
    """Return the F-Curves that animate the object now."""
    holder = existing_channels(armature_object)
    return holder.fcurves if holder else ()


def sharing_channels(armature_object: bpy.types.Object) -> list[bpy.types.Object]:
    """Return the other objects that play the object's F-Curves, as their action or in NLA strips."""
    animation = armature_object.animation_data
    if animation is None or animation.action is None or not animation.action.is_editable:
        return []
    if animation.action.users - animation.action.use_fake_user < 2:  # spare the look at all objects
        return []
    if HAS_SLOTS and animation.action_slot is None:
        return []
    played = (animation.action, slot_handle(animation))
    return [ob for ob in bpy.data.objects if ob != armature_object and played in _played(ob)]


def _played(ob: bpy.types.Object) -> Iterator[tuple[bpy.types.Action | None, int]]:
    """Yield the actions that an object plays, each with the handle of its slot."""
    animation = ob.animation_data
    if animation is None:
        return
    for user in (animation, *playing_strips(animation)):
        yield user.action, slot_handle(user)


def places_played(ob: bpy.types.Object) -> Iterator[Place]:
    """Yield the places of the channels that an object plays or has set aside: its action and all NLA strips.

    Muted strips count, and so does the action that waits while a strip is tweaked.
    """
    animation = ob.animation_data
    if animation is None:
        return
    waiting = getattr(animation, "action_slot_handle_tweak_storage", 0)
    strips = [strip for track in animation.nla_tracks for strip in _all(track.strips)]
    for action, handle in (
        (animation.action, slot_handle(animation)),
        (animation.action_tweak_storage, waiting),
        *((strip.action, slot_handle(strip)) for strip in strips),
    ):
        if action is not None:
            yield action, handle


def _all(strips: Iterable[bpy.types.NlaStrip]) -> Iterator[bpy.types.NlaStrip]:
    for strip in strips:
        yield strip
        yield from _all(strip.strips)


def holders_of(action: bpy.types.Action) -> Iterator[tuple[Channels, str]]:
    """Yield all channels of an action, each with the identifier of its slot; "" before 4.4."""
    if not HAS_SLOTS:
        yield action, ""
        return
    slots = {slot.handle: slot.identifier for slot in action.slots}
    for layer in action.layers:
        for strip in layer.strips:
            for bag in strip.channelbags:
                yield bag, slots.get(bag.slot_handle, "")


def is_for_objects(action: bpy.types.Action) -> bool:
    """Return whether objects can play an action: before 4.4, one that a material has played is its alone."""
    return HAS_SLOTS or action.id_root in ('', 'OBJECT')


@contextmanager
def channels_copied(armature_object: bpy.types.Object) -> Iterator[Channels | None]:
    """Yield an unassigned copy of the object's action or channel bag; None for none."""
    if existing_channels(armature_object) is None:
        yield None
        return
    animation = armature_object.animation_data
    copy = animation.action.copy()
    try:
        if not HAS_SLOTS:
            yield copy
        else:
            slot = copy.slots.get(animation.action_slot.identifier)
            yield copy.layers[0].strips[0].channelbag(slot)
    finally:
        bpy.data.actions.remove(copy)


def playing_strips(animation: bpy.types.AnimData) -> Iterator[bpy.types.NlaStrip]:
    """Yield the NLA strips that play an action, those in meta strips too."""
    if not animation.use_nla:
        return
    solo = any(track.is_solo for track in animation.nla_tracks)
    for track in animation.nla_tracks:
        if track.is_solo if solo else not track.mute:
            yield from _unmuted(track.strips)


def _unmuted(strips: Iterable[bpy.types.NlaStrip]) -> Iterator[bpy.types.NlaStrip]:
    for strip in strips:
        if not strip.mute:
            yield from _unmuted(strip.strips)
            if strip.action is not None:
                yield strip


def heeds_muted_groups(ob: bpy.types.Object) -> bool:
    """Return whether a muted channel group keeps the object's own action from playing it.

    From 4.4 on Blender looks at the curves alone, but where it mixes the action with NLA strips.
    """
    animation = ob.animation_data
    if animation is None or not HAS_SLOTS:
        return True
    return bool(animation.use_tweak_mode) or any(True for _ in playing_strips(animation))


def plays(ob: bpy.types.Object, curve: bpy.types.FCurve) -> bool:
    """Return whether no mute keeps the object's own action from playing one of its F-Curves."""
    if curve.mute:
        return False
    return not (curve.group and curve.group.mute and heeds_muted_groups(ob))


def strip_channels(strip: bpy.types.NlaStrip) -> Channels | None:
    """Return the action or channel bag that an NLA strip plays."""
    return channels_at((strip.action, slot_handle(strip)))


def slot_handle(user: bpy.types.AnimData | bpy.types.NlaStrip) -> int:
    """Return the handle of the slot that animation data or an NLA strip plays; 0 before 4.4."""
    return user.action_slot_handle if HAS_SLOTS else 0


def slot_played(user: bpy.types.AnimData | bpy.types.NlaStrip | None) -> str:
    """Return the identifier of the slot that animation data or an NLA strip plays; "" for none."""
    slot = user.action_slot if HAS_SLOTS and user is not None else None
    return str(slot.identifier) if slot is not None else ""


def last_slot(animation: bpy.types.AnimData) -> str:
    """Return the identifier of the slot that animation data played last; "" before 4.4."""
    return str(animation.last_slot_identifier) if HAS_SLOTS else ""


def assign_action(animation: bpy.types.AnimData, action: bpy.types.Action | None, slot: str) -> None:
    """Assign an action, and of its slots the one of that identifier; "" for none.

    A slot of a 4.3 file has no type ("XXLegacy Slot") until it is assigned, which changes its identifier.
    """
    animation.action = action
    if HAS_SLOTS and action is not None:
        typed = f"{animation.id_data.id_type[:2]}{slot[2:]}" if slot.startswith("XX") else slot
        animation.action_slot = (action.slots.get(slot) or action.slots.get(typed)) if slot else None


def first_slot(action: bpy.types.Action) -> str:
    """Return the identifier of an action's first slot; "" for none, and before 4.4."""
    return next((str(slot.identifier) for slot in action.slots), "") if HAS_SLOTS else ""


def place_of(holder: Channels) -> Place:
    """Return the place of channels: their action, and the handle of their slot."""
    return holder.id_data, holder.slot_handle if HAS_SLOTS else 0


def curve_at(place: Place, path: str, index: int) -> bpy.types.FCurve | None:
    """Return the F-Curve of a channel at a place; None where it is gone."""
    holder = channels_at(place)
    return holder.fcurves.find(path, index=index) if holder else None


def channels_at(place: Place) -> Channels | None:
    """Return the channels of a place; None where they are gone."""
    action, handle = place
    if action is None or not HAS_SLOTS:
        return action
    bags = (bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags)
    return next((bag for bag in bags if bag.slot_handle == handle), None)


def has_curves(action: bpy.types.Action) -> bool:
    """Return whether an action holds an F-Curve, of whichever slot."""
    return any(len(holder.fcurves) for holder, _ in holders_of(action))


def is_plain(action: bpy.types.Action | None) -> bool:
    """Return whether an action has at most one layer, which plays at full influence."""
    if action is None or not HAS_SLOTS or len(action.layers) == 0:
        return True
    layer = action.layers[0]
    is_whole = getattr(layer, "influence", 1.0) == 1.0  # not in all versions
    return len(action.layers) == 1 and len(layer.strips) <= 1 and is_whole


def select_bone(bone: bpy.types.PoseBone, select: bool) -> None:
    """Select a pose bone, or take it out of the selection."""
    if hasattr(bone, "select"):  # 5.0 moved it here; the other branch goes with 4.5
        bone.select = select
    else:
        bone.bone.select = select


def is_hidden(bone: bpy.types.PoseBone) -> bool:
    """Return whether a pose bone is hidden in Pose Mode, by itself or with all of its collections."""
    if getattr(bone, "hide", False) or bone.bone.hide:  # the first is 5.0's; before, there is the second
        return True
    collections = bone.bone.collections
    return len(collections) > 0 and not any(collection.is_visible_effectively for collection in collections)


def is_selected(bone: bpy.types.PoseBone) -> bool:
    """Return whether a pose bone is selected."""
    return bool(bone.select if hasattr(bone, "select") else bone.bone.select)  # as in select_bone
