# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of one slot of an action: the keys, values and rotation modes that were replaced there.

It is an action of its own, "Walk, before IK 2D", which `Action.ik2d.kept` of the recorded action points to.
Its F-Curves have the paths `ik2d_kept[NUMBER].PATH`, PATH being that of the curve when it was first replaced:
nothing plays them, no exporter takes them for a clip, and a person sees whose they are. NUMBER is in the
marks of the keys that came in their place, so that renamed bones and moved chains are found.
`ik2d_whole[NUMBER].PATH` is a whole curve whose handles Blender would not compute again as they were.

Files are not trusted: an action without our mark is not read, and only one with our curves alone, that nobody
else uses, is ever changed or removed.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from math import isfinite
from typing import Any

import bpy

from .. import versions
from ..actions import unless_gone
from ..curve_copies import copy_settings
from ..key_columns import Columns, columns_of, fill
from .marks import PURPOSES, number_for, purpose_of

_MARK, _NAME, _SLOT = "ik2d_kept", "before IK 2D", "before IK 2D"
KEPT, WHOLE = "kept", "whole"
_PATH = re.compile(r"ik2d_(kept|whole)\[(\d{1,7})\]\.(.+)", re.DOTALL)
# Values without a curve are custom properties of the kept action, by these names.
_VALUE = re.compile(r"ik2d_(value|mode)\[(\d{1,7})\]\[(\d{1,2})\]")
VALUE, MODE = "value", "mode"
_LONGEST = 1000  # letters of a path


@dataclass(frozen=True)
class StoredValue:
    """A value that a channel without a curve had, or the rotation mode of a bone with its rotation values."""

    kind: str
    number: int
    index: int
    path: str
    values: tuple[float, ...]

    @property
    def name(self) -> str:
        """Its name among the custom properties of a kept action."""
        return f"ik2d_{self.kind}[{self.number}][{self.index}]"


class KeptMotion:
    """The record at a place; it makes the kept action when something is first kept."""

    def __init__(self, place: versions.Place) -> None:
        self.place = place
        self._curves: dict[tuple[str, int, int], bpy.types.FCurve] = {}
        self._by_origin: dict[tuple[str, int, int], int] = {}
        self._values: dict[str, StoredValue] = {}
        self._is_counting = False  # whether closing undo gives the count back already
        self._read(_kept_action(place))

    def _read(self, action: bpy.types.Action | None) -> None:
        """Index a kept action."""
        self._curves, self._by_origin, self._values = {}, {}, {}
        holder = _holder(action)
        for curve in holder.fcurves if holder is not None else ():
            self._remember(curve)
        stored = [_stored(action, name) for name in action.keys()] if action is not None else []
        self._values = {value.name: value for value in stored if value is not None}

    def _remember(self, curve: bpy.types.FCurve) -> None:
        named = _PATH.fullmatch(curve.data_path)
        if named is not None:
            kind, number, origin = named[1], int(named[2]), named[3]
            self._curves.setdefault((kind, number, curve.array_index), curve)
            if kind == KEPT:
                self._by_origin.setdefault((origin, curve.array_index, purpose_of(number)), number)

    # --- Reading -------------------------------------------------------------

    def number_at(self, path: str, index: int, purpose: int) -> int | None:
        """Return the number of the kept curve that was at a path; None for none."""
        return self._by_origin.get((path, index, purpose))

    def curve(self, kind: str, number: int, index: int) -> bpy.types.FCurve | None:
        """Return a kept curve; None for none."""
        return self._curves.get((kind, number, index))

    def rows(self, kind: str, number: int, index: int) -> Columns | None:
        """Return the keys of a kept curve; None for none."""
        curve = self.curve(kind, number, index)
        return columns_of(curve) if curve is not None and len(curve.keyframe_points) else None

    def kept_curves(self, wanted: str = KEPT) -> Iterator[tuple[int, int, str]]:
        """Yield the number, the index and the former path of each curve with kept keys, or of whole ones."""
        for (kind, number, index), curve in list(self._curves.items()):
            if kind == wanted and len(curve.keyframe_points):
                yield number, index, origin_of(curve)

    def is_kept(self, path: str, index: int) -> bool:
        """Return whether keys of the curve that was at a path are kept, for any purpose."""
        numbers = [self.number_at(path, index, purpose) for purpose in PURPOSES]
        curves = [self.curve(KEPT, number, index) for number in numbers if number is not None]
        return any(len(curve.keyframe_points) for curve in curves if curve is not None)

    def values(self) -> list[StoredValue]:
        """Return the values and rotation modes that are kept; damaged ones are left out."""
        return list(self._values.values())

    def value(self, kind: str, number: int, index: int) -> StoredValue | None:
        """Return a value that is kept; None for none."""
        return self._values.get(f"ik2d_{kind}[{number}][{index}]")

    # --- Writing -------------------------------------------------------------

    def new_number(self, purpose: int, undo: ExitStack) -> int:
        """Return a number that no curve of this action has had: marks outlive kept curves."""
        settings = self.place[0].ik2d
        count = max(settings.count, 0)
        if not self._is_counting:
            undo.callback(unless_gone, setattr, settings, "count", count)
            self._is_counting = True
        settings.count = count + 1
        return number_for(count, purpose)

    def set_rows(
        self,
        kind: str,
        number: int,
        like: bpy.types.FCurve,
        rows: Columns,
        undo: ExitStack,
    ) -> None:
        """Keep these sorted keys, and no others, of an F-Curve, with its settings if it is new here."""
        index = like.array_index
        curve = self.curve(kind, number, index)
        before = columns_of(curve) if curve is not None and len(curve.keyframe_points) else {}
        holder = self._writable(undo)
        curve = self.curve(kind, number, index)  # of a copy now, if it was shared
        path = f"ik2d_{kind}[{number}].{like.data_path}" if curve is None else curve.data_path
        undo.callback(unless_gone, _keys_back, self.place, path, index, before)
        if curve is None:
            curve = holder.fcurves.new(path, index=index)
            copy_settings(like, curve)
            _group_like(holder, like, curve)
            self._remember(curve)
        fill(curve, rows, exact=True)

    def shorten(self, kind: str, number: int, index: int, rows: Columns, undo: ExitStack) -> None:
        """Leave only some of the keys of a curve here; none for {}."""
        curve = self.curve(kind, number, index)
        if curve is not None:
            self.set_rows(kind, number, curve, rows, undo)

    def set_value(self, value: StoredValue, undo: ExitStack) -> None:
        """Keep a value, unless there is one already: the first one stays."""
        holder = self._writable(undo)
        action = holder.id_data
        if value.name not in self._values:
            undo.callback(unless_gone, _drop_value, self.place, value.name)
            action[value.name] = {"path": value.path, "values": value.values}
            self._values[value.name] = value

    def drop(self, value: StoredValue, undo: ExitStack) -> None:
        """Forget a value that was given back."""
        self._writable(undo)
        undo.callback(unless_gone, _set_value_again, self.place, value)
        _drop_value(self.place, value.name)
        self._values.pop(value.name, None)

    def tidy(self) -> None:
        """Remove kept curves without keys, and the kept action when nothing is left in it."""
        entry = _entry(self.place)
        if entry is None or not self.place[0].is_editable:
            return
        action = entry.action
        if is_kept_action(action) and action.is_editable and _users(action) == 1:
            holder = _holder(action)
            if holder is not None:
                for curve in list(holder.fcurves):
                    if not len(curve.keyframe_points) and _PATH.fullmatch(curve.data_path):
                        holder.fcurves.remove(curve)
            for name in [name for name in action.keys() if _VALUE.fullmatch(name)]:
                if _stored(action, name) is None:
                    del action[name]
        self._read(action if is_kept_action(action) else None)
        if self._curves or self._values:
            return
        entries = self.place[0].ik2d.kept
        entries.remove(list(entries).index(entry))
        if is_kept_action(action) and action.is_editable and _users(action) == 0 and not _others(action):
            bpy.data.actions.remove(action)

    def rewrite(self, new_path: Callable[[str], str | None]) -> None:
        """Rename the former paths of what is kept; None for the new one removes it."""
        paths = {origin_of(curve) for curve in self._curves.values()}
        paths |= {value.path for value in self._values.values()}
        if not self.place[0].is_editable or all(new_path(path) == path for path in paths):
            return
        undo = ExitStack()  # never closed
        holder = self._writable(undo)
        for curve in list(self._curves.values()):
            path = new_path(origin_of(curve))
            if path is None:
                holder.fcurves.remove(curve)
            else:
                curve.data_path = curve.data_path.removesuffix(origin_of(curve)) + path
        for value in self.values():
            path = new_path(value.path)
            if path is None:
                del holder.id_data[value.name]
            elif path != value.path:
                holder.id_data[value.name] = {"path": path, "values": value.values}
        self.tidy()

    def _writable(self, undo: ExitStack) -> versions.Channels:
        """Return the channels of the kept action: made where missing, copied where others use it too."""
        _leave_old_copy(self.place[0])
        entry = _entry(self.place) or _new_entry(self.place)
        former = entry.action
        if not is_kept_action(former):
            made = bpy.data.actions.new(f"{self.place[0].name}, {_NAME}")
            made[_MARK] = 1
        elif _users(former) > 1 or not former.is_editable:  # a duplicate's too: copy on write
            made = former.copy()
        else:
            return _holder(former, make=True)
        undo.callback(unless_gone, _leave, self.place, made, former)
        entry.action = made
        holder = _holder(made, make=True)
        self._read(made)
        return holder


def origin_of(curve: bpy.types.FCurve) -> str:
    """Return the path that a kept curve had; "" for another curve."""
    named = _PATH.fullmatch(curve.data_path)
    return named[3] if named is not None else ""


def has_record(action: bpy.types.Action) -> bool:
    """Return whether keys, values or modes are kept for any slot of an action."""
    return action.is_property_set("ik2d") and any(is_kept_action(entry.action) for entry in action.ik2d.kept)


def remove_with_kept(action: bpy.types.Action | None) -> None:
    """Remove an action that was made here and that nothing uses, with the actions that keep motion of it."""
    if action is None or not action.is_property_set("ik2d") or not action.ik2d.made or action.users:
        return
    kept = [entry.action for entry in action.ik2d.kept if is_kept_action(entry.action)]
    bpy.data.actions.remove(action)
    for record in kept:
        if not record.users and record.is_editable and not _others(record):
            bpy.data.actions.remove(record)


def name_records(action: bpy.types.Action) -> None:
    """Name the actions that keep motion of an action after it, which has a new name."""
    for entry in action.ik2d.kept:
        if is_kept_action(entry.action) and _users(entry.action) == 1 and entry.action.is_editable:
            entry.action.name = f"{action.name}, {_NAME}"


def rewrite_paths(place: versions.Place, new_path: Callable[[str], str | None]) -> None:
    """Rename the former paths of what is kept at a place; None for the new one removes it."""
    KeptMotion(place).rewrite(new_path)


# --- The kept action of a place ----------------------------------------------


def _entry(place: versions.Place) -> Any:
    """Return the item of `Action.ik2d.kept` for a slot; None for none."""
    action, slot = place
    if not action.is_property_set("ik2d"):  # reading settings that are not there would make some
        return None
    entries = action.ik2d.kept
    entry = next((entry_there for entry_there in entries if entry_there.slot == slot), None)
    if entry is None and slot and len(action.slots) == 1:  # saved by a Blender without slots
        entry = next((entry_there for entry_there in entries if entry_there.slot == 0), None)
        if entry is not None and action.is_editable:
            entry.slot = slot
    return entry


def _new_entry(place: versions.Place) -> Any:
    entry = place[0].ik2d.kept.add()
    entry.slot = place[1]
    return entry


def _kept_action(place: versions.Place) -> bpy.types.Action | None:
    """Return the kept action of a place, if it is one of ours."""
    entry = _entry(place)
    return entry.action if entry is not None and is_kept_action(entry.action) else None


def is_kept_action(action: bpy.types.Action | None) -> bool:
    """Return whether an action is one that keeps motion of another."""
    return action is not None and action.get(_MARK) == 1


def _users(action: bpy.types.Action) -> int:
    return int(action.users - action.use_fake_user)


def _others(action: bpy.types.Action) -> bool:
    """Return whether an action holds curves that are not kept ones."""
    holder = _holder(action)
    if holder is None:
        return False
    alone = not versions.HAS_SLOTS or (len(action.slots) == 1 and len(action.layers) == 1)
    return not alone or any(not _PATH.fullmatch(curve.data_path) for curve in holder.fcurves)


def _holder(action: bpy.types.Action | None, make: bool = False) -> versions.Channels | None:
    """Return the channels of a kept action, made where asked for; None for none."""
    if action is None or not versions.HAS_SLOTS:
        return action
    if not len(action.slots):
        if not make:
            return None
        slot = action.slots.new(id_type='OBJECT', name=_SLOT)
        strip = action.layers.new("Layer").strips.new(type='KEYFRAME')
        return strip.channelbag(slot, ensure=True)
    if not len(action.layers) or not len(action.layers[0].strips):
        return None
    return action.layers[0].strips[0].channelbag(action.slots[0], ensure=make)


def _leave_old_copy(action: bpy.types.Action) -> None:
    """Drop the second copy of our settings that 5.0 makes of a file of 4.2: its pointers count as users."""
    if versions.COPIES_OLD_SETTINGS and "ik2d" in action.keys():
        del action["ik2d"]


def _leave(place: versions.Place, made: bpy.types.Action, former: bpy.types.Action | None) -> None:
    """Take a kept action away that was made, for the one before it."""
    entry = _entry(place)
    if entry is None or entry.action != made:
        return
    if former is None:
        entries = place[0].ik2d.kept
        entries.remove(list(entries).index(entry))
    else:
        entry.action = former
    bpy.data.actions.remove(made)


def _group_like(holder: versions.Channels, like: bpy.types.FCurve, curve: bpy.types.FCurve) -> None:
    if like.group is not None and curve.group is None:
        curve.group = holder.groups.get(like.group.name) or holder.groups.new(like.group.name)


def _keys_back(place: versions.Place, path: str, index: int, columns: Columns) -> None:
    """Give a kept curve its former keys; without any it goes."""
    holder = _holder(_kept_action(place))
    curve = holder.fcurves.find(path, index=index) if holder is not None else None
    if curve is not None and columns:
        fill(curve, columns, exact=True)
    elif curve is not None and holder is not None:
        holder.fcurves.remove(curve)


# --- Values ------------------------------------------------------------------


def _stored(action: bpy.types.Action, name: str) -> StoredValue | None:
    """Return a value that is kept under a name; None for a name that is not ours, and for a damaged one."""
    named = _VALUE.fullmatch(name)
    note: Any = action.get(name) if named is not None else None
    if named is None or not hasattr(note, "to_dict"):
        return None
    path, values = note.get("path"), note.get("values")
    if not isinstance(path, str) or not 0 < len(path) <= _LONGEST:
        return None
    if not hasattr(values, "to_list") or len(values) > 16:
        return None
    numbers = values.to_list()
    if not all(isinstance(number, (int, float)) and isfinite(number) for number in numbers):
        return None
    return StoredValue(named[1], int(named[2]), int(named[3]), path, tuple(map(float, numbers)))


def _drop_value(place: versions.Place, name: str) -> None:
    action = _kept_action(place)
    if action is not None and name in action.keys():
        del action[name]


def _set_value_again(place: versions.Place, value: StoredValue) -> None:
    action = _kept_action(place)
    if action is not None:
        action[value.name] = {"path": value.path, "values": value.values}
