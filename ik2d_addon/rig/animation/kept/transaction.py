# SPDX-License-Identifier: GPL-3.0-or-later
"""Several writes to the animation of objects that are done as a whole or not at all."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import bpy
import numpy as np

from .. import actions, versions
from ..curve_copies import copy_curve
from ..key_columns import columns_of, fill
from ..remembered import put_back, remembered
from .record import is_kept_action, remove_with_kept


@contextmanager
def restored_on_error(
    owners: Iterable[bpy.types.Object], properties: Iterable[tuple[Any, str]]
) -> Iterator[None]:
    """Restore the F-Curves of some objects, with what is kept of them, and some properties, if this fails.

    properties: owners with names. Copies of the actions hold them meanwhile, so that what is kept is copied
    before it is changed.
    """
    before = remembered(properties)
    held = [(owner, versions.played_action(owner), _copy_of(owner)) for owner in dict.fromkeys(owners)]
    former = {kept for _, _, copy in held if copy is not None for kept in _kept_by(copy)}
    # So that none goes when it is empty for a while.
    lone = {action for _, action, _ in held if action and action.is_editable and not action.use_fake_user}
    for action in lone:
        action.use_fake_user = True
    try:
        yield
    except BaseException:
        for owner, action, copy in held:
            with suppress(ReferenceError):
                _restore(owner, action, copy)
        put_back(before)
        bpy.context.view_layer.update()
        raise
    finally:
        for action in lone:
            with suppress(ReferenceError):
                action.use_fake_user = False
        for owner, action, _ in held:
            with suppress(ReferenceError):
                actions.remove_made(owner)
            with suppress(ReferenceError):  # its owner may be gone, such as a pole
                remove_with_kept(action)
        for _, _, copy in held:
            if copy is not None:
                bpy.data.actions.remove(copy)
        for kept in former:
            with suppress(ReferenceError):
                if kept.users == 0 and kept.is_editable:
                    bpy.data.actions.remove(kept)


def _copy_of(owner: bpy.types.Object) -> bpy.types.Action | None:
    action = versions.played_action(owner)
    return action.copy() if action is not None else None


def _kept_by(action: bpy.types.Action) -> list[bpy.types.Action]:
    """Return the actions of ours that keep motion of an action."""
    entries = action.ik2d.kept if action.is_property_set("ik2d") else ()
    return [entry.action for entry in entries if is_kept_action(entry.action)]


def _restore(owner: bpy.types.Object, action: bpy.types.Action | None, copy: bpy.types.Action | None) -> None:
    """Give an object's action the F-Curves of a copy; without one its action goes, if it was made since."""
    if action is None or copy is None:
        holder = versions.existing_channels(owner)
        if holder is not None:
            holder.fcurves.clear()
        actions.remove_made(owner)
        return
    slot = versions.slot_handle(owner.animation_data)
    holder, former = versions.channels_at((action, slot)), versions.channels_at((copy, slot))
    if holder is not None:
        sources = [] if former is None else list(former.fcurves)
        there = {(source.data_path, source.array_index) for source in sources}
        for curve in list(holder.fcurves):
            if (curve.data_path, curve.array_index) not in there:
                holder.fcurves.remove(curve)
        for source in sources:
            _restore_curve(holder, source)
        groups = set() if former is None else {group.name for group in former.groups}
        for group in list(holder.groups):  # before 4.4 one stays when its last curve goes
            if group.name not in groups:
                holder.groups.remove(group)
    _restore_kept(action, copy)


def _restore_curve(holder: versions.Channels, source: bpy.types.FCurve) -> None:
    curve = holder.fcurves.find(source.data_path, index=source.array_index)
    if curve is None:
        curve = holder.fcurves.new(source.data_path, index=source.array_index)
        copy_curve(source, curve)
        if source.group is not None:
            curve.group = holder.groups.get(source.group.name) or holder.groups.new(source.group.name)
    elif not _same_keys(source, curve):
        fill(curve, columns_of(source), exact=True)


def _same_keys(source: bpy.types.FCurve, curve: bpy.types.FCurve) -> bool:
    if len(source.keyframe_points) != len(curve.keyframe_points):
        return False
    columns = columns_of(curve)
    return all(np.array_equal(values, columns[name]) for name, values in columns_of(source).items())


def _restore_kept(action: bpy.types.Action, copy: bpy.types.Action) -> None:
    made = set(_kept_by(action)) - set(_kept_by(copy))
    if copy.is_property_set("ik2d") or action.is_property_set("ik2d"):
        action.ik2d.kept.clear()
        for entry in copy.ik2d.kept:
            again = action.ik2d.kept.add()
            again.slot, again.action = entry.slot, entry.action
    for kept in made:
        if kept.users == 0:
            bpy.data.actions.remove(kept)
