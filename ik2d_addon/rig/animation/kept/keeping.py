# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep the keys, the values and the rotation modes that new keys replace, and mark the new keys."""

import re
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from ....core.words import number_of, say
from .. import versions
from ..bone_channels import ROTATIONS
from ..fcurves import HANDLES, KeyPlaces, column, row_from
from ..key_columns import Columns, are_shaped, columns_of
from ..replacing import SAME_FRAME, replace_keys
from .channel_values import default_of, is_at_default, number_in
from .marks import FIELDS, IN_PLANTING, PLANTED, PURPOSES, Marks, marked, purpose_of
from .record import KEPT, MODE, VALUE, WHOLE, KeptMotion, StoredValue

_BONE = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]')
# The rotation modes of a bone, by their numbers in a record.
MODES = tuple(bpy.types.PoseBone.bl_rna.properties["rotation_mode"].enum_items.keys())


@dataclass(frozen=True)
class Replaced:
    """Keys made by hand that were replaced and are kept, of one object or of several."""

    keys: int = 0
    bones: tuple[str, ...] = ()  # that these turn; of other channels the object's name
    dropped: tuple[str, ...] = ()  # sentences on keys that could not be kept

    @classmethod
    def joined(cls, parts: "list[Replaced]") -> "Replaced":
        """Return the keys of several writes together."""
        bones = dict.fromkeys(name for write in parts for name in write.bones)
        dropped = dict.fromkeys(line for write in parts for line in write.dropped)
        return cls(sum(write.keys for write in parts), tuple(bones), tuple(dropped))

    @property
    def words(self) -> str:
        """The keys in words; "" for none."""
        if not self.keys:
            return ""
        return say(
            "{keys} made by hand on {bones}",
            keys=number_of(self.keys, "key"),
            bones=number_of(len(self.bones), "bone"),
        )


class Keeping:
    """Replaces keys of one object's action, and keeps what was there.

    purpose: one of PURPOSES. Within the keys of a planting, new keys are a part of it: they go with it,
    whatever they were written for. Closing `undo` takes all of it back.
    """

    def __init__(self, owner: bpy.types.Object, place: versions.Place, purpose: int, undo: ExitStack) -> None:
        self.owner, self.purpose = owner, purpose
        self._place, self._undo = place, undo
        self._record = KeptMotion(place)
        self._keys, self._bones, self._dropped = 0, dict[str, None](), list[str]()
        # Where the new keys are, by path and index, as far as that was read.
        self.placed: dict[tuple[str, int], KeyPlaces | None] = {}

    @property
    def replaced(self) -> Replaced:
        """The keys made by hand that were replaced so far."""
        return Replaced(self._keys, tuple(self._bones), tuple(self._dropped))

    def replace(self, curves: Sequence[bpy.types.FCurve], keys: Sequence[Columns]) -> list[int]:
        """Put new keys, as many on each, on F-Curves in place of those from the first to the last.

        Returns the curves' numbers.
        """
        empty = dict.fromkeys(curve.data_path for curve in curves if not len(curve.keyframe_points))
        changed = {path for path in empty if not is_at_default(self.owner, path)}
        each = zip(curves, keys, strict=True)
        kept = [self._kept(curve, new["co"][:, 0], curve.data_path in changed) for curve, new in each]
        new_keys = marked(keys, [numbers for _, numbers, _ in kept])
        placed = replace_keys(curves, new_keys, self._place, self._undo, [looks for *_, looks in kept])
        for curve, there in zip(curves, placed, strict=True):
            self.placed[curve.data_path, curve.array_index] = there
        return [number for number, *_ in kept]

    def _kept(
        self, curve: bpy.types.FCurve, times: NDArray[np.float32], is_changed: bool
    ) -> tuple[int, NDArray[np.intp] | int, Columns | None]:
        """Keep what new keys at some times replace; return the curve's number, the keys', and what was read.

        is_changed: whether a curve without keys has a value to keep.
        """
        if not len(curve.keyframe_points):
            number = self._number(curve, None, self.purpose)
            if is_changed and self._record.curve(KEPT, number, curve.array_index) is None:
                self.keep_value(curve.data_path, curve.array_index, number)
            return number, number, None
        looks = {name: column(curve, name) for name in FIELDS}
        marks, at = Marks.of(looks), looks["co"][:, 0]
        if marks.single is not None and purpose_of(marks.single) == self.purpose:  # there is nothing to keep
            return marks.single, marks.single, looks
        within = (at >= times[0] - SAME_FRAME) & (at <= times[-1] + SAME_FRAME)
        numbers = self._numbers(curve, marks, at, times)
        kept = within & ~marks.of_purposes((self.purpose, IN_PLANTING.get(self.purpose, self.purpose)))
        if kept.any() or not marks.ours.any():
            looks = columns_of(curve, looks)
            if not marks.ours.any():
                self._keep_whole(curve, looks, int(numbers[0]))
            rows = np.searchsorted(times, at).clip(max=len(times) - 1)
            self._keep_rows(curve, looks, marks, kept, numbers[rows])
        return int(numbers[0]), numbers, looks

    def number_of(self, curve: bpy.types.FCurve) -> int:
        """Return the number of an F-Curve's new keys."""
        marks = Marks.on(curve) if len(curve.keyframe_points) else None
        return self._number(curve, marks, self.purpose)

    def keep_value(self, path: str, index: int, number: int) -> None:
        """Keep the value of a channel without keys, unless it is the default."""
        value = number_in(self.owner, path, index)
        if value is not None and value != default_of(self.owner, path, index):
            self._record.set_value(StoredValue(VALUE, number, index, path, (value,)), self._undo)

    def keep_mode(self, bone: str, number: int, pose: tuple[float, ...], new_mode: str) -> None:
        """Keep the rotation mode that a bone had, with its rotation values (`pose_of`)."""
        values = (*pose, float(MODES.index(new_mode)))
        self._record.set_value(StoredValue(MODE, number, 0, bone, values), self._undo)

    def _numbers(
        self, curve: bpy.types.FCurve, marks: Marks, at: NDArray[np.float32], times: NDArray[np.float32]
    ) -> NDArray[np.intp]:
        """Return the number of each new key: within the keys of a planting its own."""
        numbers = np.empty(len(times), np.intp)
        planted = at[marks.of_purposes(PLANTED)]
        inside = np.zeros(len(times), bool)
        if len(planted) and self.purpose in IN_PLANTING:
            inside = (times >= planted.min()) & (times <= planted.max())
        for mask, purpose in ((inside, IN_PLANTING.get(self.purpose)), (~inside, self.purpose)):
            if purpose is not None and mask.any():
                numbers[mask] = self._number(curve, marks, purpose)
        return numbers

    def _number(self, curve: bpy.types.FCurve, marks: Marks | None, purpose: int) -> int:
        """Return the number of an F-Curve for a purpose: that of its marks, of what is kept, or a new one."""
        if marks is not None and (numbers := marks.numbers_of((purpose,))):
            return numbers[0]
        number = self._record.number_at(curve.data_path, curve.array_index, purpose)
        if number is not None and not self._is_taken(number, curve):
            return number
        return self._record.new_number(purpose, self._undo)

    def _is_taken(self, number: int, curve: bpy.types.FCurve) -> bool:
        """Return whether another F-Curve has keys with a number: one whose bone was renamed."""
        holder = versions.channels_at(self._place)
        return any(
            number in Marks.on(other).numbers_of(PURPOSES)
            for other in (holder.fcurves if holder is not None else ())
            if other.array_index == curve.array_index and other.data_path != curve.data_path
        )

    def _keep_rows(
        self,
        curve: bpy.types.FCurve,
        columns: Columns,
        marks: Marks,
        kept: NDArray[np.bool_],
        numbers: NDArray[np.intp],
    ) -> None:
        """Keep some keys (m,) of an F-Curve. numbers: (m,) of the new keys in their places."""
        by_hand = kept & ~marks.ours
        self._keys += int(by_hand.sum())
        if by_hand.any():
            self._bones[_bone_of(curve) or self.owner.name] = None
        for number in np.unique(numbers[kept]):
            self.keep(curve, picked(columns, kept & (numbers == number)), int(number))

    def keep(self, curve: bpy.types.FCurve, rows: Columns, number: int) -> None:
        """Keep some keys of an F-Curve, next to those that are kept already."""
        before = self._record.rows(KEPT, number, curve.array_index)
        if before is not None:  # the first ones stay
            again = on_same_frame(rows["co"][:, 0], before["co"][:, 0])
            if lost := rows["co"][again & ~Marks.of(rows).ours, 0].tolist():
                self._dropped.append(_dropped(curve, self.owner, lost))
            rows = merged(before, picked(rows, ~again))
        self._record.set_rows(KEPT, number, curve, rows, self._undo)

    def _keep_whole(self, curve: bpy.types.FCurve, columns: Columns, number: int) -> None:
        """Keep a whole F-Curve where update() would not give its handles back, as importers leave them.

        New keys anywhere on it change those. Tried on the curve itself, since its extrapolation and modifiers
        count, and from handles elsewhere.
        """
        if self._record.is_kept(curve.data_path, curve.array_index):
            return
        shaped, points = are_shaped(columns), curve.keyframe_points
        if shaped.all():
            return
        for side, name in enumerate(HANDLES):
            trial = np.where(shaped[:, side : side + 1], columns[name], columns["co"] + np.float32(1.0))
            points.foreach_set(name, trial.ravel())
        curve.update()
        same = [
            np.array_equal(column(curve, name)[~shaped[:, side]], columns[name][~shaped[:, side]])
            for side, name in enumerate(HANDLES)
        ]
        for name in HANDLES:
            points.foreach_set(name, columns[name].ravel())
        if not all(same):
            self._record.set_rows(WHOLE, number, curve, columns, self._undo)


def keep_rows(owner: bpy.types.Object, curve: bpy.types.FCurve, rows: Columns, purpose: int) -> int:
    """Keep keys of an F-Curve that get other handles; return the number for the marks of the new ones."""
    holder = versions.existing_channels(owner)
    with ExitStack() as undo:
        keeping = Keeping(owner, versions.place_of(holder), purpose, undo)
        number = keeping.number_of(curve)
        keeping.keep(curve, rows, number)
        undo.pop_all()
    return number


def mark_key(owner: bpy.types.Object, curve: bpy.types.FCurve, time: float, purpose: int) -> None:
    """Mark the Generated key of an F-Curve at a time of the action as one that was written here."""
    row = row_from(curve, time - SAME_FRAME)
    point = curve.keyframe_points[row] if row < len(curve.keyframe_points) else None
    holder = versions.existing_channels(owner)
    if point is None or holder is None or abs(point.co[0] - time) > SAME_FRAME or point.type != 'GENERATED':
        return
    with ExitStack() as undo:
        number = Keeping(owner, versions.place_of(holder), purpose, undo).number_of(curve)
        undo.pop_all()
    (point.amplitude, point.period, point.back) = (2.0 * number + 2.0, point.co[1], point.co[0])


def made_by_hand_between(curves: Iterable[bpy.types.FCurve], start: float, end: float) -> Replaced:
    """Return the keys made by hand on F-Curves from one time to another, which new keys would replace."""
    keys, bones = 0, dict[str, None]()
    for curve in curves:
        at = column(curve, "co")[:, 0]
        count = int((~Marks.on(curve).ours & (at >= start) & (at <= end)).sum())
        if count:
            keys += count
            bones[_bone_of(curve)] = None
    return Replaced(keys, tuple(bones))


def pose_of(bone: bpy.types.PoseBone) -> tuple[float, ...]:
    """Return the number of a bone's rotation mode, its quaternion, Euler angles, and axis angle (12,)."""
    values = (*bone.rotation_quaternion, *bone.rotation_euler, *bone.rotation_axis_angle)
    return (float(MODES.index(bone.rotation_mode)), *values)


def picked(columns: Columns, mask: NDArray[np.bool_] | NDArray[np.intp]) -> Columns:
    """Return some of the keys (m), by a mask or by their rows."""
    return {name: values[mask] for name, values in columns.items()}


def merged(columns: Columns, others: Columns) -> Columns:
    """Return the keys of both, sorted."""
    both = {name: np.concatenate((values, others[name])) for name, values in columns.items()}
    return picked_in_order(both)


def picked_in_order(columns: Columns) -> Columns:
    """Return keys in the order of their times."""
    order = np.argsort(columns["co"][:, 0], kind="stable")
    return {name: values[order] for name, values in columns.items()}


def on_same_frame(times: NDArray[np.float32], others: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return a mask (m,) of the times that are as near to one of the others as to be one key to Blender."""
    if not len(others):
        return np.zeros(len(times), bool)
    ordered = np.sort(others)
    after = np.searchsorted(ordered, times).clip(max=len(ordered) - 1)
    before = (after - 1).clip(min=0)
    apart = np.minimum(np.abs(ordered[after] - times), np.abs(ordered[before] - times))
    same: NDArray[np.bool_] = apart <= SAME_FRAME
    return same


def _bone_of(curve: bpy.types.FCurve) -> str:
    """Return the name, as paths have it, of the bone that an F-Curve is of; "" for none."""
    named = _BONE.match(curve.data_path)
    return bpy.utils.unescape_identifier(named[1]) if named is not None else ""


def moved_to(path: str, other: str) -> str:
    """Return a path on the bone that another path is on: that has another name by now. Itself for none."""
    bone, now = _BONE.match(path), _BONE.match(other)
    return now[0] + path[bone.end() :] if bone is not None and now is not None else path


def turns_same_bone(path: str, other: str) -> bool:
    """Return whether a path is of a rotation or a rotation mode, on the bone that another path is on."""
    bone, beside = _BONE.match(path), _BONE.match(other)
    if bone is None or beside is None or bone[0] != beside[0]:
        return False
    return path[bone.end() + 1 :] in ("rotation_mode", *ROTATIONS)


def _dropped(curve: bpy.types.FCurve, owner: bpy.types.Object, frames: list[float]) -> str:
    return say(
        "'{owner}': the keys made by hand on {channel} at {frames} were replaced, and others are kept there "
        "already, which Clear gives back",
        owner=_bone_of(curve) or owner.name,
        channel=f"{curve.data_path.rpartition('.')[2]}[{curve.array_index}]",
        frames=", ".join(f"{frame:g}" for frame in frames),
    )
