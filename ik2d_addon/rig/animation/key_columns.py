# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of an F-Curve as columns: new ones, and reading and writing them in bulk."""

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.inputs import Floats
from .fcurves import HANDLES, KEY_FIELDS, KeyPlaces, Singles, column

# All fields of an F-Curve's keys, each column (keys, width).
Columns = dict[str, NDArray[Any]]

# Blender's numbers for these, the same in all versions; bulk access takes no names.
BEZIER, FREE, ALIGNED, AUTO_CLAMPED, GENERATED = 2, 0, 3, 4, 5
CONSTANT, BY_HAND = 0, 0
# The values of new keys: such columns need no writing, each of which costs as much as update().
_ADDED = {
    "handle_left_type": AUTO_CLAMPED,
    "handle_right_type": AUTO_CLAMPED,
    "interpolation": BEZIER,
    "easing": 0,
    "select_control_point": True,
    "select_left_handle": True,
    "select_right_handle": True,
}


def new_keys(
    times: Singles,
    values: Floats,
    handles: Floats | None = None,
    kind: int = GENERATED,
    interpolation: int = BEZIER,
    held: NDArray[np.bool_] | None = None,
) -> list[Columns]:
    """Return the keys of some channels at times (m,), in order, up or down: the columns of each channel.

    Without the columns that are as of a key just added. values: (m, c). handles: (2, m, c) values of the
    handles before and after each key, at thirds of the gaps; NaN, or None for all, for automatic ones.
    kind and interpolation: of the keys, as Blender numbers them. held: (m,) keys that hold their values up to
    the next one whatever the interpolation; None: none.
    """
    if times[0] > times[-1]:  # an NLA strip that plays backwards, in which a key cannot hold
        times, values, held = times[::-1], values[::-1], None
        handles = None if handles is None else handles[::-1, ::-1]
    places = np.empty((values.shape[1], len(times), 2), "f4")
    places[:, :, 0], places[:, :, 1] = times, values.T
    new = {"co": places, "type": np.full((*places.shape[:2], 1), kind, "u1")}
    if interpolation != BEZIER:
        new["interpolation"] = np.full_like(new["type"], interpolation)
    if held is not None and held.any():
        kinds = np.where(held, CONSTANT, interpolation).astype("u1")
        new["interpolation"] = np.tile(kinds[:, None], (len(places), 1, 1))
    if len(times) == 1:
        new |= {"handle_left": places, "handle_right": places}
    plain = [{name: column[row] for name, column in new.items()} for row in range(len(places))]
    if handles is None:
        return plain
    shaped = ~np.isnan(handles).transpose(0, 2, 1)
    shaped[0, :, 0] = shaped[1, :, -1] = False
    rows = np.flatnonzero(shaped.any(axis=(0, 2)))
    columns = _shaped(places[rows], handles.transpose(0, 2, 1)[:, rows], shaped[:, rows])
    for place, row in enumerate(rows.tolist()):
        plain[row] |= {name: column[place] for name, column in columns.items()}
    return plain


def _shaped(places: Singles, handles: Floats, shaped: NDArray[np.bool_]) -> Columns:
    """Return the columns of handles with values (2, c, m), free where `shaped` (2, c, m).

    The two that point out of the range are aligned where the key's other one is free: automatic ones
    there would turn with the keys outside.
    """
    third = np.diff(places[:1, :, 0].astype(np.float64)) / 3.0
    columns: Columns = {}
    for side, name, gaps in (
        (0, "handle_left", np.pad(-third, ((0, 0), (1, 0)))),
        (1, "handle_right", np.pad(third, ((0, 0), (0, 1)))),
    ):
        columns[name] = places.copy()
        np.copyto(columns[name][..., 0], places[..., 0] + gaps, "same_kind", shaped[side])
        np.copyto(columns[name][..., 1], handles[side], "same_kind", shaped[side])
        columns[f"{name}_type"] = np.where(shaped[side], FREE, AUTO_CLAMPED).astype("u1")[..., None]
    for row, inner, outer in ((0, "handle_right", "handle_left"), (-1, "handle_left", "handle_right")):
        free = columns[f"{inner}_type"][:, row, 0] == FREE
        columns[outer][free, row] = 2.0 * places[free, row] - columns[inner][free, row]
        columns[f"{outer}_type"][free, row] = ALIGNED
    return columns


def with_all_fields(new: Columns) -> Columns:
    """Return all columns of new keys."""
    places = new["co"]
    whole = {
        name: np.full((len(places), width), _ADDED.get(name, 0), kind)
        for name, (width, kind) in KEY_FIELDS.items()
    }
    return whole | {"handle_left": places, "handle_right": places} | new


def columns_of(curve: bpy.types.FCurve, known: Columns | None = None) -> Columns:
    """Return all fields of an F-Curve's keys, each column (keys, width). known: those that were read."""
    known = known or {}
    return {name: known[name] if name in known else column(curve, name) for name in KEY_FIELDS}


def are_shaped(columns: Columns) -> NDArray[np.bool_]:
    """Return a mask (m, 2) of the left and right handles to restore exactly.

    Aligned ones too: Blender aligns them anew, which moves them by their last bits.
    """
    return _shaped_sides([columns])[:, 0].T


def _shaped_sides(keys: Sequence[Columns]) -> NDArray[np.bool_]:
    """Return the masks of F-Curves with as many keys (m) as `are_shaped` has them, (2, c, m)."""
    types = np.array([[columns[f"{side}_type"][:, 0] for columns in keys] for side in HANDLES])
    mask: NDArray[np.bool_] = (types == FREE) | (types == ALIGNED)
    return mask


def add(curves: Sequence[bpy.types.FCurve], keys: Sequence[Columns]) -> list[KeyPlaces | None]:
    """Give F-Curves sorted new keys, as many on each, instead of their own.

    Returns for each the places of keys and handles, where handles are set exactly: after the keys are
    sorted, since Blender may align a free one with an automatic one.
    """
    placed: list[KeyPlaces | None] = [None] * len(curves)
    rows = [row for row, columns in enumerate(keys) if "handle_left_type" in columns]
    exact = _shaped_sides([keys[row] for row in rows]) if rows else np.ones((2, 0, 0), bool)
    whole = {row for row, is_whole in zip(rows, exact.all(axis=(0, 2)), strict=True) if is_whole}
    merged = []
    for row, (curve, columns) in enumerate(zip(curves, keys, strict=True)):
        later = HANDLES if row in whole else ()
        _write(curve, {name: values for name, values in columns.items() if name not in later})
        if len(curve.keyframe_points) != len(columns["co"]):  # of keys in one place Blender keeps one
            _write(curve, columns)
            merged.append(row)
    places = [place for place, row in enumerate(rows) if row not in merged]
    if places:
        rows = [rows[place] for place in places]
        sides = _set_exactly([curves[row] for row in rows], [keys[row] for row in rows], exact[:, places])
        for row, left, right in zip(rows, *sides, strict=True):
            placed[row] = keys[row]["co"], left, right
    return placed


def _write(curve: bpy.types.FCurve, columns: Columns) -> None:
    """Give an F-Curve these keys instead of its own: the columns that are not as of a new key."""
    points = curve.keyframe_points
    points.clear()
    points.add(len(columns["co"]))
    for name, values in columns.items():
        points.foreach_set(name, values.ravel() if values.shape[1] > 1 else values[:, 0])
    curve.update()


def fill(curve: bpy.types.FCurve, columns: Columns, exact: NDArray[np.bool_] | bool = False) -> None:
    """Give an F-Curve these sorted keys (m), with all of their fields, instead of its own; none for {}.

    exact: (m, 2) which left and right handles to set exactly; or all, or none.
    """
    if not columns:
        curve.keyframe_points.clear()
        return
    fresh = {name for name, value in _ADDED.items() if (columns[name] == value).all()}
    if fresh >= {"handle_left_type", "handle_right_type"} and len(columns["co"]) > 1:
        fresh |= {"handle_left", "handle_right"}  # update() places automatic handles
    _write(curve, {name: values for name, values in columns.items() if name not in fresh})
    free = [columns[f"{side}_type"] == FREE for side in HANDLES]
    if (free[0] != free[1]).any():  # as in `add`
        exact = exact | are_shaped(columns)
    if np.any(exact) and len(curve.keyframe_points) == len(columns["co"]):
        _set_exactly([curve], [columns], np.broadcast_to(exact, (len(columns["co"]), 2)).T[:, None])


def _set_exactly(
    curves: Sequence[bpy.types.FCurve], keys: Sequence[Columns], exact: NDArray[np.bool_]
) -> Singles:
    """Set some handles of F-Curves as in columns, as many keys (m) on each; return all (2, c, m, 2).

    exact: (2, c, m) which left and right handles.
    """
    handles: Singles = np.array([[columns[side] for columns in keys] for side in HANDLES], "f4")
    for row, curve in enumerate(curves):
        its, free = handles[:, row], exact[:, row, :, None]
        if not free.all():
            there = np.empty_like(its)
            for name, values in zip(HANDLES, there, strict=True):
                curve.keyframe_points.foreach_get(name, values.ravel())
            np.copyto(its, there, where=~free)
        for name, values in zip(HANDLES, its, strict=True):
            curve.keyframe_points.foreach_set(name, values.ravel())
    return handles
