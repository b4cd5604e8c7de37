# SPDX-License-Identifier: GPL-3.0-or-later
"""Take keys that were written here away again, and give back what they replaced."""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

import bpy
import numpy as np
from numpy.typing import NDArray

from ....core.words import number_of, refusal, say
from .. import actions, versions
from ..curve_copies import copy_settings
from ..fcurves import HANDLES, column, is_locked
from ..key_columns import GENERATED, Columns, are_shaped, columns_of, fill
from ..replacing import SAME_FRAME
from .channel_values import default_of, number_in, set_number
from .keeping import MODES, merged, moved_to, on_same_frame, picked, turns_same_bone
from .marks import OLD, PURPOSES, Marks, purpose_of
from .record import KEPT, MODE, VALUE, WHOLE, KeptMotion, StoredValue, has_record

# What one purpose has kept of another's keys is given back in turn.
_LAYERS = len(PURPOSES) + 1

# Whether a channel, by its path and index, is one to give back.
Wanted = Callable[[str, int], bool]


@dataclass
class GivenBack:
    """The result of giving back."""

    removed: int = 0  # keys written here
    returned: int = 0  # kept keys
    lost: list[str] = field(default_factory=list)  # sentences on kept keys whose frames others have now

    def add(self, other: "GivenBack") -> None:
        """Count another result too."""
        self.removed += other.removed
        self.returned += other.returned
        self.lost += other.lost

    def sentence(self, what: str, where: str = "") -> str:
        """Return the result in one sentence. what: the keys, such as "baked"; where: the range, in words."""
        removed = say("Removed {count} {what} keys{where}", count=self.removed, what=what, where=where)
        if not self.returned:
            return removed
        return say(
            "{removed}; {keys} that they replaced are back",
            removed=removed,
            keys=number_of(self.returned, "key"),
        )

    @property
    def any(self) -> bool:
        """Whether anything was changed."""
        return bool(self.removed or self.returned or self.lost)


def give_back(
    owner: bpy.types.Object,
    wanted: Wanted,
    purposes: Collection[int],
    start: float | None = None,
    end: float | None = None,
) -> GivenBack:
    """Remove unmoved keys that were written for some purposes; give back those that they replaced.

    It is about the object's own action.

    start, end: times of the action; None has no end. Keys on locked channels stay. Where somebody has made a
    key by now it stays, and the kept one is named. Raises IK2DError, with nothing changed, for a linked
    action.
    """
    holder = versions.existing_channels(owner)
    if holder is None:
        return GivenBack()
    work = _Giving(owner, holder, wanted, purposes, start, end)
    work.give()
    if work.result.any:
        work.give_values()
        work.tidy()
    return work.result


def has_keys(owner: bpy.types.Object, wanted: Wanted, purposes: Collection[int]) -> bool:
    """Return whether an object's own action has keys, or keeps some, that `give_back` would change."""
    holder = versions.existing_channels(owner)
    return holder is not None and holds_keys(holder, wanted, purposes)


def holds_keys(holder: versions.Channels, wanted: Wanted, purposes: Collection[int]) -> bool:
    """Return whether channels have keys, or keep some, that `give_back` would change."""
    for curve in holder.fcurves:
        if wanted(curve.data_path, curve.array_index) and Marks.on(curve).of_purposes(purposes).any():
            return True
    kept = KeptMotion(versions.place_of(holder)).kept_curves()
    return any(purpose_of(number) in purposes and wanted(path, index) for number, index, path in kept)


@contextmanager
def by_hand_alone(owner: bpy.types.Object, wanted: Wanted) -> Iterator[versions.Channels | None]:
    """Yield a copy of an object's channels, of which the wanted ones are as they are without bakes.

    They have no generated keys, but those that such keys have replaced. None where there are no channels.
    """
    with versions.channels_copied(owner) as holder:
        if holder is not None:
            work = _Giving(owner, holder, wanted, PURPOSES, None, None)
            work.is_copy = True
            work.give()
        yield holder


class _Giving:
    """One way through the curves of an object's action."""

    def __init__(
        self,
        owner: bpy.types.Object,
        holder: versions.Channels,
        wanted: Wanted,
        purposes: Collection[int],
        start: float | None,
        end: float | None,
    ) -> None:
        self.owner, self.holder, self.wanted, self.purposes = owner, holder, wanted, tuple(purposes)
        self.start = -np.inf if start is None else start - SAME_FRAME
        self.end = np.inf if end is None else end + SAME_FRAME
        self.undo = ExitStack()  # never closed
        self.place = versions.place_of(holder)
        self.record = KeptMotion(self.place)
        self.result = GivenBack()
        self.is_copy = False  # of the channels: nothing else is changed, and keys made by hand all stay
        self._groups: set[str] = set()
        self._numbers: dict[int, str] = {}  # of wanted curves, with their paths
        self._given: set[tuple[int, int]] = set()  # numbers and indices whose kept keys are in a copy

    def give(self) -> None:
        """Give back layer by layer, until nothing changes."""
        for _ in range(_LAYERS):
            if not self._give_layer():
                return

    def _give_layer(self) -> bool:
        """Give back one layer; return whether anything changed."""
        before = self.result.removed, self.result.returned, len(self.result.lost)
        paired: set[tuple[int, int]] = set()
        for curve in list(self.holder.fcurves):
            if self.wanted(curve.data_path, curve.array_index):
                self._give_curve(curve, paired)
        for number, index, path in self.record.kept_curves():
            if purpose_of(number) in self.purposes and (number, index) not in paired:
                if self.wanted(path, index):
                    self._revive(number, index, path)
        return before != (self.result.removed, self.result.returned, len(self.result.lost))

    def _give_curve(self, curve: bpy.types.FCurve, paired: set[tuple[int, int]]) -> None:
        columns = columns_of(curve) if len(curve.keyframe_points) else None
        marks = Marks.of(columns) if columns is not None else None
        numbers = self._numbers_of(curve, columns, marks)
        paired.update((number, curve.array_index) for number in numbers)
        self._numbers.update(dict.fromkeys(numbers, curve.data_path))
        if is_locked(curve) and not self.is_copy:
            return
        rest, removed = columns, 0
        if columns is not None and marks is not None:
            gone = self._mask(columns, marks) & self._inside(columns["co"][:, 0])
            rest, removed = None if gone.all() else picked(columns, ~gone), int(gone.sum())
        back = self._taken(curve, numbers, rest)
        if not removed and back is None:
            return
        self._check_editable()
        self.result.removed += removed
        if back is not None:
            rest = back if rest is None else merged(rest, back)
        if rest is None:
            self._empty(curve, numbers)
            return
        # Automatic handles are left to Blender: the keys next to them may have changed since.
        fill(curve, rest, are_shaped(rest))
        self._shape_as_before(curve, rest)

    def _numbers_of(self, curve: bpy.types.FCurve, columns: Columns | None, marks: Marks | None) -> list[int]:
        """Return the numbers under which the keys are kept that an F-Curve had."""
        numbers, known = [], set()
        if columns is not None and marks is not None:
            mask = self._mask(columns, marks)
            numbers = [int(number) for number in np.unique(marks.numbers[mask]) if number != OLD]
            if self.is_copy:  # such as snapped keys, which count as made by hand
                known = set(marks.purposes[marks.ours].tolist())
        known |= {purpose_of(number) for number in numbers}
        for purpose in self.purposes:
            number = self.record.number_at(curve.data_path, curve.array_index, purpose)
            if number is not None and purpose not in known:
                numbers.append(number)
        return numbers

    def _mask(self, columns: Columns, marks: Marks) -> NDArray[np.bool_]:
        """Return a mask (m,) of the keys to take away, whatever their times."""
        mask = marks.of_purposes(self.purposes)
        return mask & (columns["type"][:, 0] == GENERATED) if self.is_copy else mask

    def _taken(self, curve: bpy.types.FCurve, numbers: Iterable[int], rest: Columns | None) -> Columns | None:
        """Take the kept keys of an F-Curve that are in the range; return those to put back, None for none."""
        back, index = None, curve.array_index
        kept = {number: self.record.rows(KEPT, number, index) for number in numbers}
        over = [rows["co"][Marks.of(rows).ours, 0] for rows in kept.values() if rows is not None]
        for number, rows in kept.items():
            if rows is None or (number, index) in self._given:
                continue
            times = rows["co"][:, 0]
            # What another purpose wrote over them goes first: it may be kept itself.
            waits = ~Marks.of(rows).ours & on_same_frame(times, np.concatenate(over))
            if rest is not None:
                waits |= on_same_frame(times, rest["co"][Marks.of(rest).ours, 0])
            if back is not None:  # one layer after the other
                waits |= on_same_frame(times, back["co"][:, 0])
            inside = self._inside(times) & ~waits
            if not inside.any():
                continue
            self._check_editable()
            taken = picked(rows, inside)
            self._leave(number, index, picked(rows, ~inside))
            if rest is not None:
                held = on_same_frame(taken["co"][:, 0], rest["co"][:, 0])
                if (lost := held & ~Marks.of(taken).ours).any():
                    self.result.lost.append(_lost(curve, self.owner, taken["co"][lost, 0].tolist()))
                taken = picked(taken, ~held)
            if len(taken["co"]):
                self.result.returned += len(taken["co"])
                back = taken if back is None else merged(back, taken)
        return back

    def _revive(self, number: int, index: int, path: str) -> None:
        """Give the kept keys of an F-Curve back that is gone."""
        kept = self.record.curve(KEPT, number, index)
        if kept is None or (number, index) in self._given:
            return
        if self.holder.fcurves.find(path, index=index) is not None:
            return
        if not self._inside(column(kept, "co")[:, 0]).any():
            return
        self._check_editable()
        curve = self.holder.fcurves.new(path, index=index)
        copy_settings(kept, curve)
        if kept.group is not None:
            groups = self.holder.groups
            curve.group = groups.get(kept.group.name) or groups.new(kept.group.name)
        back = self._taken(curve, [number], None)
        if back is not None:
            fill(curve, back, are_shaped(back))
            self._shape_as_before(curve, back)

    def _leave(self, number: int, index: int, rows: Columns) -> None:
        """Leave only some of the kept keys of a curve."""
        if self.is_copy:
            self._given.add((number, index))
        else:
            self.record.shorten(KEPT, number, index, rows if len(rows["co"]) else {}, self.undo)

    def _empty(self, curve: bpy.types.FCurve, numbers: Collection[int]) -> None:
        """Take the last keys of an F-Curve, and show its channel's former value.

        The curve goes, unless it has modifiers.
        """
        path, index = curve.data_path, curve.array_index
        self._groups |= {curve.group.name} if curve.group is not None else set()
        if len(curve.modifiers):
            curve.keyframe_points.clear()
        else:
            self.holder.fcurves.remove(curve)
        if not self.is_copy and numbers:  # after a bake of 1.0.0 the last pose stays
            kept = [self.record.value(VALUE, number, index) for number in numbers]
            values = [value.values[0] for value in kept if value is not None]
            number = values[0] if values else default_of(self.owner, path, index)
            if number is not None:
                self._set(path, index, number)

    def _shape_as_before(self, curve: bpy.types.FCurve, rest: Columns) -> None:
        """Give a curve that has exactly its former keys its former handles, where Blender computes others."""
        channel = (curve.data_path, curve.array_index)
        wholes = {(path, index): number for number, index, path in self.record.kept_curves(WHOLE)}
        if channel in wholes:
            numbers = [wholes[channel]]
        elif wholes:  # its bone may have been renamed
            there = _channels(self.holder)
            numbers = [n for (path, i), n in wholes.items() if i == channel[1] and (path, i) not in there]
        else:
            return
        for number in numbers:
            whole = self.record.rows(WHOLE, number, channel[1])
            if whole is None or len(whole["co"]) != len(rest["co"]):
                continue
            fields = [name for name in whole if name not in HANDLES and not name.startswith("select")]
            if all(np.array_equal(whole[name], rest[name]) for name in fields):
                for side in HANDLES:
                    curve.keyframe_points.foreach_set(side, whole[side].ravel())
                return

    def _drop_wholes(self) -> None:
        """Forget whole curves on which no key is ours any more."""
        wholes = list(self.record.kept_curves(WHOLE))
        if not wholes:
            return
        there = _channels(self.holder)
        kept = {(path, index) for _, index, path in self.record.kept_curves()}
        kept |= {channel for channel, curve in there.items() if Marks.on(curve).ours.any()}
        for number, index, path in wholes:
            may_be_renamed = bool(kept) and (path, index) not in there
            if (path, index) not in kept and not may_be_renamed:
                self.record.shorten(WHOLE, number, index, {}, self.undo)

    def give_values(self) -> None:
        """Give back the values and rotation modes whose keys are all gone."""
        values = [value for value in self.record.values() if purpose_of(value.number) in self.purposes]
        if not values:
            return
        playing: set[int] = set()
        for curve in self.holder.fcurves:
            playing.update(Marks.on(curve).numbers_of(self.purposes))
        playing.update(number for number, _, _ in self.record.kept_curves())
        # The last writing first, so that the first one's stay; of one, its modes hold what was before it.
        for value in sorted(values, key=lambda value: (-value.number, value.kind == MODE)):
            if value.number in playing:
                continue
            beside = self._numbers.get(value.number, "")
            value = replace(value, path=moved_to(value.path, beside))
            path = f"{value.path}.rotation_mode" if value.kind == MODE else value.path
            if not turns_same_bone(path, beside) and not self.wanted(path, value.index):
                if number_in(self.owner, path, value.index) is not None:
                    continue  # else its bone is gone, or renamed with no key of ours left to tell
            self._check_editable()
            if value.kind == MODE:
                self._set_mode(value)
            elif self.holder.fcurves.find(value.path, index=value.index) is None:
                self._set(value.path, value.index, value.values[0])
            self.record.drop(value, self.undo)

    def _set(self, path: str, index: int, number: float) -> None:
        now = number_in(self.owner, path, index)
        if now is not None and now != number:
            set_number(self.owner, path, index, number)

    def _set_mode(self, value: StoredValue) -> None:
        """Give a bone its rotation mode and values back, unless somebody has changed the mode."""
        try:
            bone = self.owner.path_resolve(value.path)
        except ValueError:
            return
        numbers = value.values
        if not isinstance(bone, bpy.types.PoseBone) or len(numbers) != 13:
            return
        mode, changed = int(numbers[0]), int(numbers[12])
        if not (0 <= mode < len(MODES) and 0 <= changed < len(MODES)) or bone.rotation_mode != MODES[changed]:
            return
        _pose(bone, MODES[mode], numbers[1:12])

    def tidy(self) -> None:
        """Remove emptied groups, a kept action without anything, and what was made to hold the keys."""
        for name in self._groups:
            actions.remove_empty_group(self.place, name)
        if has_record(self.place[0]):
            self._drop_wholes()
            self.record.tidy()
        actions.remove_made(self.owner)

    def _inside(self, times: NDArray[np.float32]) -> NDArray[np.bool_]:
        return (times >= self.start) & (times <= self.end)

    def _check_editable(self) -> None:
        if not self.place[0].is_editable:
            raise refusal(
                "The action of '{armature}' is linked from another file; its keys stay",
                armature=self.owner.name,
            )


def _channels(holder: versions.Channels) -> dict[tuple[str, int], bpy.types.FCurve]:
    """Return F-Curves by path and index."""
    return {(curve.data_path, curve.array_index): curve for curve in holder.fcurves}


def _pose(bone: bpy.types.PoseBone, mode: str, rotations: tuple[float, ...]) -> None:
    """Set a bone's rotation mode, and all of its rotation values (11,)."""
    bone.rotation_mode = mode
    bone.rotation_quaternion, bone.rotation_euler = rotations[:4], rotations[4:7]
    bone.rotation_axis_angle = rotations[7:]


def _lost(curve: bpy.types.FCurve, owner: bpy.types.Object, frames: list[float]) -> str:
    return say(
        "'{owner}': keys made by hand on {channel} at {frames} stay, and those of before the bake do not "
        "come back there",
        owner=owner.name,
        channel=f"{curve.data_path}[{curve.array_index}]",
        frames=", ".join(f"{frame:g}" for frame in frames),
    )
