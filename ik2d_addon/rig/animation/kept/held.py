# SPDX-License-Identifier: GPL-3.0-or-later
"""F-Curves that play outside a range as they did: their automatic handles would follow new keys inside it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from ..fcurves import cut_at
from ..key_columns import ALIGNED, AUTO_CLAMPED, BEZIER, BY_HAND, FREE, Columns, columns_of, fill
from ..remembered import Channel
from ..replacing import SAME_FRAME
from ..times import animation_times, strip_times
from ..value_keys import curve_of
from .keeping import keep_rows, picked
from .marks import Marks, marked

_AUTO, _VECTOR = 1, 2  # further kinds of handles
_SIDES = ("handle_left", "handle_right")
# Values and handles that differ by less than this part of their size are the same in 32 bits.
_SAME = 1e-6


@dataclass(frozen=True, eq=False)
class HeldCurve:
    """An F-Curve as it was before keys were written over a range."""

    place: Channel
    columns: Columns
    start: float  # of the range, a time of the action
    end: float
    value: float  # at its start


def held(scene: bpy.types.Scene, places: Iterable[Channel], frames: Sequence[float]) -> list[HeldCurve]:
    """Return the F-Curves of channels as they are now, to play so outside some frames later."""
    stretches = []
    for place in dict.fromkeys(places):
        curve = curve_of(*place)
        if curve is not None and len(curve.keyframe_points):
            times = strip_times(place[0], animation_times(scene, [frames[0], frames[-1]]))
            start, end = sorted(times.tolist())
            stretches.append(HeldCurve(place, columns_of(curve), start, end, curve.evaluate(start)))
    return stretches


def hold(curve_held: HeldCurve, purpose: int, *, pinned: bool = False) -> None:
    """Have an F-Curve play outside its range as it did, wherever the range's ends let it.

    The gap before the range stays the same if the first key in it has the value that the curve had there.
    pinned: give it that value. Handles that would have moved are aligned ones from then on. purpose: what the
    keys in the range are for; those outside it that get other handles are kept as they were.
    """
    curve = curve_of(*curve_held.place)
    if curve is None:
        return
    now, old = columns_of(curve), curve_held.columns
    outside, before = (_outside(each, curve_held) for each in (now, old))
    rows, olds = np.flatnonzero(outside), np.flatnonzero(before)
    if len(rows) != len(olds) or not np.abs(now["co"][rows] - old["co"][olds]).max(initial=0.0) == 0.0:
        return
    new = {name: values.copy() for name, values in now.items()}
    for name, values in old.items():
        new[name][rows] = values[olds]
    exact = np.zeros((len(new["co"]), 2), bool)
    for side, name in enumerate(_SIDES):
        size = np.abs(old["co"][olds]).max(axis=1, initial=1.0)
        moved = np.abs(now[name][rows] - old[name][olds]).max(axis=1, initial=0.0) > _SAME * size
        for row in rows[moved]:
            _free(new, row, side)
        exact[rows, side] = True
    first = int(np.searchsorted(now["co"][:, 0], curve_held.start - SAME_FRAME))
    if first < len(now["co"]) and abs(now["co"][first, 0] - curve_held.start) <= SAME_FRAME:
        if pinned:
            new["co"][first, 1] = curve_held.value
            new["handle_right"][first, 1] += curve_held.value - now["co"][first, 1]
        if abs(new["co"][first, 1] - curve_held.value) <= _SAME * max(1.0, abs(curve_held.value)):
            _join(new, old, first, curve_held, exact)
    ours = Marks.of(now).ours
    new["period"][ours], new["back"][ours] = new["co"][ours, 1:], new["co"][ours, :1]
    kinds = [f"{side}_type" for side in _SIDES]
    changed = np.any([(new[kind][rows] != old[kind][olds])[:, 0] for kind in kinds], axis=0)
    changed &= ~ours[rows]
    if changed.any():
        number = keep_rows(curve_held.place[0], curve, picked(old, olds[changed]), purpose)
        kept = rows[changed]
        new["type"][kept] = BY_HAND
        for name, values in marked([picked(new, kept)], [number])[0].items():
            new[name][kept] = values
    fill(curve, new, exact)


def _outside(columns: Columns, stretch: HeldCurve) -> NDArray[np.bool_]:
    times = columns["co"][:, 0]
    outside: NDArray[np.bool_] = (times < stretch.start - SAME_FRAME) | (times > stretch.end + SAME_FRAME)
    return outside


def _free(columns: Columns, row: int, side: int) -> None:
    """Make an automatic handle of a key an aligned one, and one that points at the next key free."""
    kinds = columns[f"{_SIDES[side]}_type"]
    if kinds[row, 0] in (_AUTO, AUTO_CLAMPED):
        kinds[row, 0] = ALIGNED
    elif kinds[row, 0] == _VECTOR:
        kinds[row, 0] = FREE


def _join(new: Columns, old: Columns, first: int, stretch: HeldCurve, exact: NDArray[np.bool_]) -> None:
    """Have the gap before the range's first key play as the old curve, of which that key cuts a part off."""
    times = old["co"][:, 0]
    last = int(np.searchsorted(times, stretch.start - SAME_FRAME)) - 1
    if first == 0 or last < 0 or old["interpolation"][last, 0] != BEZIER:
        return
    if last + 1 == len(times):
        ends = np.array((old["co"][last], (stretch.start, stretch.value)), np.float64)
        points = np.linspace(ends[0], ends[1], 4)
        points[:, 1] = old["co"][last, 1]
    else:
        whole = [old[name][row] for name, row in (("co", last), ("handle_right", last))]
        whole += [old[name][last + 1] for name in ("handle_left", "co")]
        points, _ = cut_at(np.array(whole, np.float64), stretch.start)
    row = first - 1
    new["handle_right"][row], new["handle_left"][first] = points[1], points[2]
    _free(new, row, 1)
    if last + 1 == len(times):
        new["handle_left_type"][row], new["handle_right_type"][row] = FREE, FREE
    new["handle_left_type"][first] = FREE
    if new["handle_right_type"][first, 0] in (_AUTO, AUTO_CLAMPED, ALIGNED):
        new["handle_right_type"][first] = FREE
    exact[row], exact[first] = True, True
