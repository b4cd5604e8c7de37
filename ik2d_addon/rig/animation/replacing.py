# SPDX-License-Identifier: GPL-3.0-or-later
"""F-Curves: replace the keys of a range, in bulk.

In a long F-Curve a few keys are changed where they are: the others are neither read nor written again.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from . import actions, versions
from .fcurves import HANDLES, KEY_FIELDS, KeyPlaces, Singles, column, row_from
from .key_columns import ALIGNED, FREE, Columns, add, are_shaped, columns_of, fill, with_all_fields
from .remembered import plain

# Two keys nearer than this many frames are one to Blender: of the two, update() keeps the later one's value.
SAME_FRAME = 1e-2
# One by one, keys take as long as this many of a curve that is written as a whole.
_PRICE = 16
# The place of an F-Curve: that of its channels, its path and its index.
CurvePlace = tuple[versions.Place, str, int]


def replace_keys(
    curves: Sequence[bpy.types.FCurve],
    keys: Sequence[Columns],
    place: versions.Place,
    undo: ExitStack,
    known: Sequence[Columns | None] = (),
) -> list[KeyPlaces | None]:
    """Put new keys, as many on each, on F-Curves of a place; keys before the first and after the last stay.

    Closing `undo` gives them back the keys that they have now. known: columns of these that were read before.
    Returns where the keys are, as `add` does.
    """
    placed: list[KeyPlaces | None] = [None] * len(curves)
    empty, rows = [], []
    for row, (curve, new) in enumerate(zip(curves, keys, strict=True)):
        if not len(curve.keyframe_points):
            empty.append((curve.data_path, curve.array_index))
        elif _merged(curve, new, place, undo, known[row] if known else None):
            continue
        rows.append(row)
    undo.callback(actions.unless_gone, _empty_again, place, empty)
    added = add([curves[row] for row in rows], [keys[row] for row in rows])
    for row, there in zip(rows, added, strict=True):
        placed[row] = there
    return placed


def _merged(
    curve: bpy.types.FCurve, new: Columns, place: versions.Place, undo: ExitStack, known: Columns | None
) -> bool:
    """Put new keys among others of an F-Curve; return False, with nothing done, where all of these go."""
    channel, times = (place, curve.data_path, curve.array_index), new["co"][:, 0]
    if change_in_place(curve, new, channel, undo):
        return True
    old = columns_of(curve, known)
    undo.callback(actions.unless_gone, put_keys_back, *channel, old)
    x = old["co"][:, 0]
    kept = (x < times[0] - SAME_FRAME) | (x > times[-1] + SAME_FRAME)
    if not kept.any():
        return False
    order = np.argsort(np.concatenate((x[kept], times)), kind="stable")
    whole = with_all_fields(new)
    columns = {name: np.concatenate((old[name][kept], whole[name]))[order] for name in old}
    fill(curve, columns, are_shaped(columns))
    return True


def _empty_again(place: versions.Place, channels: Sequence[tuple[str, int]]) -> None:
    for path, index in channels:
        put_keys_back(place, path, index, {})


def put_keys_back(place: versions.Place, path: str, index: int, columns: Columns) -> None:
    """Give an F-Curve its former keys, where it still is."""
    curve = versions.curve_at(place, path, index)
    if curve is not None:
        fill(curve, columns, exact=True)


def change_in_place(curve: bpy.types.FCurve, new: Columns, channel: CurvePlace, undo: ExitStack) -> bool:
    """Give some keys of an F-Curve new values, where it has keys at exactly the new ones' times.

    channel: where the curve is found again. Closing `undo` puts them back. Returns False, with nothing
    done, where there are other keys in that range, and where writing the whole curve is faster.
    """
    rows = _rows_of(curve, new["co"][:, 0])
    if not rows:
        return False
    points = curve.keyframe_points
    before = [{name: plain(getattr(points[row], name)) for name in KEY_FIELDS} for row in rows]
    wanted = _fields(with_all_fields(new))
    if all(map(_is_same, before, wanted)):
        return True
    kinds = {side: column(curve, f"{side}_type")[:, 0] for side in HANDLES}
    for kind in kinds.values():
        kind[rows.start : rows.stop] = FREE
    # Automatic ones follow the keys next to them.
    automatic = {side: ~np.isin(kind, (FREE, ALIGNED)) for side, kind in kinds.items()}
    following = any(mask.any() for mask in automatic.values())
    # Aligned handles of other keys Blender aligns anew, which moves them by their last bits; free ones it may
    # align with an automatic one of the same key.
    moved = [
        (row, side)
        for side, other in zip(HANDLES, reversed(HANDLES), strict=True)
        for row in np.flatnonzero((kinds[side] == ALIGNED) | (automatic[other] & ~automatic[side])).tolist()
    ]
    if len(moved) * _PRICE > len(points):
        return False
    kept = [(row, side, tuple(getattr(points[row], side))) for row, side in moved]
    handles = {side: column(curve, side) for side in HANDLES} if following else {}
    undo.callback(actions.unless_gone, _put_back, channel, rows, before, handles)
    _write(curve, rows, wanted)
    points.handles_recalc()
    for row, side, place in kept:
        setattr(points[row], side, place)
    return True


def _rows_of(curve: bpy.types.FCurve, times: Singles) -> range:
    """Return the rows of the keys at times (m,), if they are few and all in that range; else none."""
    points = curve.keyframe_points
    if len(times) * _PRICE > len(points):
        return range(0)
    first = row_from(curve, times[0] - SAME_FRAME)
    rows = range(first, min(first + len(times), len(points)))
    if [points[row].co.x for row in rows] != times.tolist():
        return range(0)
    ends = rows.stop == len(points) or points[rows.stop].co.x > times[-1] + SAME_FRAME
    return rows if ends else range(0)


def _is_same(before: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Return whether a key has the fields that it is to have, but for handles that Blender places."""
    placed = [side for side in HANDLES if wanted[f"{side}_type"] == 'AUTO_CLAMPED']
    return all(before[name] == value for name, value in wanted.items() if name not in placed)


def _fields(columns: Columns) -> list[dict[str, Any]]:
    """Return the fields of each key, as single keys take them."""
    fields = {name: _plain(name, values) for name, values in columns.items()}
    return [dict(zip(fields, row, strict=True)) for row in zip(*fields.values(), strict=True)]


def _plain(name: str, values: NDArray[Any]) -> list[Any]:
    values_read: list[Any] = (
        list(map(tuple, values.tolist())) if values.shape[1] > 1 else values[:, 0].tolist()
    )
    words = _words(name)
    return [words[value] for value in values_read] if words else values_read


@cache
def _words(name: str) -> Mapping[int, str]:
    """Return Blender's words for the numbers of a key's field; {} for one that is no choice."""
    field: Any = bpy.types.Keyframe.bl_rna.properties[name]
    return {item.value: item.identifier for item in getattr(field, "enum_items", ())}


def _write(curve: bpy.types.FCurve, rows: range, fields: Sequence[Mapping[str, Any]]) -> None:
    points = curve.keyframe_points
    for row, key in zip(rows, fields, strict=True):
        point = points[row]
        for name, value in key.items():
            setattr(point, name, value)


def _put_back(
    channel: CurvePlace, rows: range, before: Sequence[Mapping[str, Any]], handles: Mapping[str, Singles]
) -> None:
    """Give an F-Curve's keys their former fields, where it still has as many."""
    curve = versions.curve_at(*channel)
    if curve is None or len(curve.keyframe_points) < rows.stop:
        return
    _write(curve, rows, before)
    for side, values in handles.items():
        if len(values) == len(curve.keyframe_points):
            curve.keyframe_points.foreach_set(side, values.ravel())
