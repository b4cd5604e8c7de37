# SPDX-License-Identifier: GPL-3.0-or-later
"""F-Curves: read at many times at once, with Blender's own arithmetic on arrays."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, TypeAlias

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.inputs import Floats
from ...core.roots.crossing import crossing
from .versions import plays

Singles: TypeAlias = NDArray[np.float32]
# Times of an action, in the 32 bits that Blender counts them in.
Times: TypeAlias = Singles
# Keys of an F-Curve, and their left and right handles, as Blender holds them: (keys, 2) each.
KeyPlaces: TypeAlias = tuple[Singles, Singles, Singles]
# Those of F-Curves, by path and index, as far as they are known without reading them.
KnownKeys: TypeAlias = Mapping[tuple[str, int], KeyPlaces | None]
# F-Curves by path and index.
Curves: TypeAlias = Mapping[tuple[str, int], bpy.types.FCurve]

# All fields of a key, with width and type; a round trip through these is lossless. Blender keeps bytes
# itself: it takes and gives them whole, nine times as fast as other numbers.
KEY_FIELDS = {
    "co": (2, "f4"),
    "handle_left": (2, "f4"),
    "handle_right": (2, "f4"),
    "handle_left_type": (1, "u1"),
    "handle_right_type": (1, "u1"),
    "interpolation": (1, "u1"),
    "easing": (1, "u1"),
    "type": (1, "u1"),
    "amplitude": (1, "f4"),
    "period": (1, "f4"),
    "back": (1, "f4"),
    "select_control_point": (1, "?"),
    "select_left_handle": (1, "?"),
    "select_right_handle": (1, "?"),
}

HANDLES = ("handle_left", "handle_right")
# Blender's numbers for how a key leads to the next one.
CONSTANT, LINEAR, BEZIER = 0, 1, 2
# So near to a key Blender takes its value; where keys are as near as that, Blender is asked.
_AT_KEY, _CROWDED = np.float32(1e-4), 1e-3
# The range that Blender accepts as a part of the way from key to key.
_FIRST, _LAST = np.float32(-1e-10), np.float32(1.000001)
_FLAT = np.finfo(np.float32).eps
# Fewer times than this are asked for one by one; many curves or times are worked out part by part, for the
# memory.
_FEW, _PART = 32, 1 << 16
# Steps to the place at which a segment is cut: ten are usual.
_CHORDS = 60


@dataclass(frozen=True, eq=False)
class _Gaps:
    """The gaps between keys that times (frames,) are in."""

    before: NDArray[np.intp]  # the key before, and the one after; of all but the last key the same
    after: NDArray[np.intp]
    nearest: NDArray[np.intp]  # whose value counts at a key, and beyond them all
    beyond: NDArray[np.bool_]
    between: NDArray[np.bool_]

    @classmethod
    def of(cls, at: Singles, times: Times) -> "_Gaps":
        """Return the gaps between keys at ascending times (keys,)."""
        last = len(at) - 1
        before = np.clip(np.searchsorted(at, times, side="right") - 1, 0, max(0, last - 1))
        after = np.minimum(before + 1, last)
        there = np.abs(times - at[after]) <= _AT_KEY
        nearest = np.where(there | (times > at[-1]), after, before)
        beyond = (times < at[0]) | (times > at[-1])
        return cls(
            before, after, nearest, beyond, ~(beyond | there | (np.abs(times - at[before]) <= _AT_KEY))
        )


@dataclass(frozen=True, eq=False)
class _Keys:
    """The keys of F-Curves that differ in their heights alone."""

    at: Singles  # (keys,) their times, ascending
    kinds: NDArray[np.uint8]  # (keys,) how each leads to the next
    heights: Singles  # (curves, keys)
    # Where any is Bezier, the handles (curves, keys, 2)
    right: Singles | None
    left: Singles | None

    @classmethod
    def of(cls, curve: bpy.types.FCurve, places: KeyPlaces | None) -> "_Keys | None":
        """Return the keys of a curve; None for one that has more than keys. places: of all, if known."""
        if not _is_simple(curve):
            return None
        kinds = column(curve, "interpolation")[:, 0]
        if places is not None and len(places[0]) == len(kinds):
            keys, left, right = places
            return cls(keys[:, 0], kinds, keys[None, :, 1], right[None], left[None])
        keys, sides = column(curve, "co"), list[Singles | None]((None, None))
        if (kinds == BEZIER).any():
            sides = [column(curve, f"handle_{side}")[None] for side in ("right", "left")]
        return cls(keys[:, 0], kinds, keys[None, :, 1], *sides)

    @property
    def name(self) -> bytes:
        """A digest that is the same for curves that differ in their heights alone."""
        times = [self.at, *(handles[0, :, 0] for handles in (self.right, self.left) if handles is not None)]
        return b"".join([time.tobytes() for time in times] + [self.kinds.tobytes()])

    @classmethod
    def joined(cls, parts: "Sequence[_Keys]") -> "_Keys":
        """Return the keys of curves of one name."""
        right = left = None
        if parts[0].right is not None:
            right, left = (
                np.concatenate([getattr(keys, side) for keys in parts]) for side in ("right", "left")
            )
        heights = np.concatenate([keys.heights for keys in parts])
        return cls(parts[0].at, parts[0].kinds, heights, right, left)

    def points(self) -> tuple[Singles, Singles]:
        """Return the times (keys - 1, 4) and heights (4, curves, keys - 1) of the points from key to key."""
        assert self.right is not None and self.left is not None
        start, end = slice(None, -1), slice(1, None)
        right, high = self._shortened(self.right[:, start], start, end)
        left, low = self._shortened(self.left[:, end], end, start)
        times = np.stack((self.at[start], right, left, self.at[end]), axis=-1)
        return times, np.stack((self.heights[:, start], high, low, self.heights[:, end]))

    def _shortened(self, handles: Singles, own: slice, others: slice) -> tuple[Singles, Singles]:
        """Return times (gaps,) and heights (curves, gaps) of handles, none longer than to the other key."""
        at, times, heights = self.at[own], handles[0, :, 0], handles[..., 1]
        span, length = np.abs(self.at[others] - at), np.abs(at - times)
        long = length > span
        if long.any():
            part = span[long] / length[long]
            times, heights, keys = times.copy(), heights.copy(), self.heights[:, own][:, long]
            times[long] = at[long] - part * (at - times)[long]
            heights[:, long] = keys - part * (keys - heights[:, long])
        return times, heights


class Reader:
    """F-Curves at ascending times (frames,) of their actions.

    Constant, linear and Bezier keys are computed as arrays, with Blender's steps in 32 and 64 bits;
    Blender evaluates other curves at each time. Curves with keys at the same times are computed together.
    """

    def __init__(self, times: Times) -> None:
        self._times = times

    def values(
        self, curves: Sequence[bpy.types.FCurve], known: Sequence[KeyPlaces | None] = ()
    ) -> Iterator[tuple[int, Singles]]:
        """Yield the number of each F-Curve, in any order, and its values (frames,), exactly as in Blender.

        known: where the keys of each are, if that is known.
        """
        alike: dict[bytes, list[tuple[int, _Keys]]] = {}
        for number, (curve, places) in enumerate(zip_longest(curves, known)):
            keys = _Keys.of(curve, places) if len(self._times) > _FEW else None
            if keys is None or len(keys.at) > 1 and not np.diff(keys.at).min() > _CROWDED:
                yield number, _evaluated(curve, self._times)
            else:
                alike.setdefault(keys.name, []).append((number, keys))
        most = max(1, _PART // max(1, len(self._times)))
        for group in alike.values():
            for first in range(0, len(group), most):
                numbers, parts = zip(*group[first : first + most], strict=True)
                results = self._worked_out([curves[number] for number in numbers], _Keys.joined(parts))
                yield from zip(numbers, results, strict=True)

    def _worked_out(self, curves: Sequence[bpy.types.FCurve], keys: _Keys) -> Singles:
        """Return the values (curves, frames) of curves whose keys differ in their heights alone."""
        gaps = _Gaps.of(keys.at, self._times)
        result: Singles = keys.heights.take(gaps.nearest, 1)
        asked = np.zeros(result.shape, np.bool_)
        asked[[curve.extrapolation != 'CONSTANT' for curve in curves]] = gaps.beyond
        kind = np.where(gaps.between, keys.kinds[gaps.before], CONSTANT)
        if (kind == LINEAR).any():
            self._draw_lines(result, keys, gaps, kind == LINEAR)
        if (kind == BEZIER).any():
            self._draw_beziers(result, asked, keys, gaps, kind == BEZIER)
        asked |= (kind != CONSTANT) & (kind != LINEAR) & (kind != BEZIER)
        for row in np.flatnonzero(asked.any(axis=1)):
            result[row, asked[row]] = _evaluated(curves[row], self._times[asked[row]])
        return result

    def _draw_lines(self, result: Singles, keys: _Keys, gaps: _Gaps, where: NDArray[np.bool_]) -> None:
        """Put values on the lines between keys into the result."""
        rows = np.flatnonzero(where)
        before, after = gaps.before[rows], gaps.after[rows]
        change = keys.heights[:, after] - keys.heights[:, before]
        passed, duration = self._times[rows] - keys.at[before], keys.at[after] - keys.at[before]
        result[:, rows] = change * passed / duration + keys.heights[:, before]

    def _draw_beziers(
        self, result: Singles, asked: NDArray[np.bool_], keys: _Keys, gaps: _Gaps, where: NDArray[np.bool_]
    ) -> None:
        """Put values on the Bezier curves between keys into the result; note where there are none."""
        times, points = keys.points()
        rows = np.flatnonzero(where)
        gap = gaps.before[rows]
        ways = self._ways_along(times, gap, rows)
        c0, c1, c2, c3 = (coefficients.take(gap, 1) for coefficients in _cubic(*points))
        flat = (np.abs(points[[0, 1, 2]] - points[[3, 2, 3]]) < _FLAT).all(axis=0).take(gap, 1)
        drawn = c0 + ways * c1 + ways * ways * c2 + ways * ways * ways * c3
        result[:, rows] = np.where(flat, c0, drawn)
        asked[:, rows] |= np.isnan(ways) & ~flat

    def _ways_along(self, points: Singles, gap: NDArray[np.intp], rows: NDArray[np.intp]) -> Singles:
        """Return the parameters, 0..1, of some of the times on their Bezier curves; NaN where unknown.

        points: (gaps, 4) times. gap: the gap of each of the rows' times.
        """
        cubics = _cubic(*points.T)
        parts = [slice(i, i + _PART) for i in range(0, len(rows), _PART)]
        return np.concatenate(
            [
                _ways(
                    [coefficients[gap[rows_of_part]] for coefficients in cubics],
                    self._times[rows[rows_of_part]],
                )
                for rows_of_part in parts
            ]
        )


def _evaluated(curve: bpy.types.FCurve, times: Times) -> Singles:
    """Return the values that Blender evaluates at each time."""
    return np.fromiter(map(curve.evaluate, times.tolist()), np.float32, len(times))


def _is_simple(curve: bpy.types.FCurve) -> bool:
    """Return whether an F-Curve has keys, and neither modifiers nor samples."""
    return len(curve.modifiers) == 0 and len(curve.sampled_points) == 0 and len(curve.keyframe_points) > 0


def playing_curves(ob: bpy.types.Object, curves: Iterable[bpy.types.FCurve]) -> Curves:
    """Return the object's F-Curves, or copies of them, that play, by path and index."""
    return {(curve.data_path, curve.array_index): curve for curve in curves if plays(ob, curve)}


def values_by(curves: Curves, path: str, times: Sequence[float] | Singles, others: Floats) -> Floats:
    """Return the values (times, c) of a property by its F-Curves, where it has none `others` (c,).

    times: of the action.
    """
    values: Floats = np.tile(np.asarray(others, np.float64), (len(times), 1))
    for index in range(values.shape[1]):
        if curve := curves.get((path, index)):
            values[:, index] = [curve.evaluate(time) for time in times]
    return values


def column(curve: bpy.types.FCurve, name: str) -> NDArray[Any]:
    """Return an array (keys, width) of one of KEY_FIELDS of an F-Curve."""
    width, kind = KEY_FIELDS[name]
    points = curve.keyframe_points
    values = np.empty(len(points) * width, kind)
    points.foreach_get(name, values)
    return values.reshape(-1, width)


def is_locked(curve: bpy.types.FCurve) -> bool:
    """Return whether an F-Curve or its group is locked."""
    return bool(curve.lock or (curve.group and curve.group.lock))


def row_from(curve: bpy.types.FCurve, time: float) -> int:
    """Return the row of an F-Curve's first key at a time or later; of a few keys only is the time read."""
    return bisect_left(curve.keyframe_points, time, key=_time_of)


def _time_of(point: bpy.types.Keyframe) -> float:
    return float(point.co[0])


def _cubic(q0: Singles, q1: Singles, q2: Singles, q3: Singles) -> tuple[Singles, Singles, Singles, Singles]:
    """Return the polynomial's coefficients, constant first, of a Bezier curve along one axis."""
    three, two = np.float32(3.0), np.float32(2.0)
    return q0, three * (q1 - q0), three * (q0 - two * q1 + q2), q3 - q0 + three * (q1 - q2)


def _ways(cubics: Sequence[Singles], times: Times) -> Singles:
    """Return the parameters (m,), 0..1, at which cubics have the times; NaN for no root in that range.

    The first root of each cubic, by Cardano's formula as in Blender.
    """
    ways = np.full(len(times), np.nan, np.float32)
    c0, c1, c2, c3 = cubics
    constants = (c0 - times).astype(np.float64)
    with np.errstate(all="ignore"):
        for root in _roots(constants, *(coefficients.astype(np.float64) for coefficients in (c1, c2, c3))):
            single = root.astype(np.float32)
            ways = np.where(np.isnan(ways) & (single >= _FIRST) & (single <= _LAST), single, ways)
    return ways


def _roots(c0: Floats, c1: Floats, c2: Floats, c3: Floats) -> list[Floats]:
    """Return three candidates (m,) for the roots of cubics; no finite numbers where there are fewer."""
    a, b, c = c2 / c3 / 3.0, c1 / c3, c0 / c3
    p = b / 3.0 - a * a
    q = (2.0 * a * a * a - a * b + c) / 2.0
    d = q * q + p * p * p
    first, two, three = (np.full(len(c0), np.nan) for _ in range(3))
    rows = np.flatnonzero(d > 0.0)
    t = np.sqrt(d[rows])
    first[rows] = _cube_root(t - q[rows]) + _cube_root(-q[rows] - t) - a[rows]
    rows = np.flatnonzero(d == 0.0)
    t = _cube_root(-q[rows])
    first[rows], two[rows] = 2.0 * t - a[rows], -t - a[rows]
    rows = np.flatnonzero(d < 0.0)
    t = np.sqrt(-p[rows])
    cosine = np.cos(np.arccos(-q[rows] / np.sqrt(-(p[rows] * p[rows] * p[rows]))) / 3.0)
    sine = np.sqrt(3.0 - 3.0 * cosine * cosine)
    first[rows] = 2.0 * t * cosine - a[rows]
    two[rows] = -t * (cosine + sine) - a[rows]
    three[rows] = -t * (cosine - sine) - a[rows]
    rows = np.flatnonzero(c3 == 0.0)
    if len(rows):
        first[rows], two[rows] = _square_roots(c0[rows], c1[rows], c2[rows])
    return [first, two, three]


def _cube_root(values: Floats) -> Floats:
    roots: Floats = np.sign(values) * np.exp(np.log(np.abs(values)) / 3.0)
    return np.where(values == 0.0, 0.0, roots)


def _square_roots(c: Floats, b: Floats, a: Floats) -> tuple[Floats, Floats]:
    """Return both roots (m,) of a x^2 + b x + c, the first alone where a is 0."""
    root = np.sqrt(b * b - 4.0 * a * c)
    straight = a == 0.0
    return np.where(straight, -c / b, (-b - root) / (2.0 * a)), np.where(
        straight, np.nan, (root - b) / (2.0 * a)
    )


def cut_at(corners: Floats, time: float) -> tuple[Floats, Floats]:
    """Return the corners (4, 2) of both parts of a Bezier segment cut at a time, as Blender plays it."""
    corners = corners.copy()
    gap = corners[3, 0] - corners[0, 0]
    for handle, end in ((1, 0), (2, 3)):
        length = abs(corners[handle, 0] - corners[end, 0])
        if length > gap:  # Blender shortens each that is longer than the segment
            corners[handle] = corners[end] + (corners[handle] - corners[end]) * gap / length
    share = crossing(lambda u: float(_parts(corners, u)[0][3, 0]) - time, 0.0, _CHORDS)
    return _parts(corners, share)


def _parts(corners: Floats, u: float) -> tuple[Floats, Floats]:
    """Return the corners (4, 2) of a Bezier segment's parts before and after u, 0..1, by de Casteljau."""
    rows = [corners]
    while len(rows[-1]) > 1:
        rows.append((1.0 - u) * rows[-1][:-1] + u * rows[-1][1:])
    return np.array([row[0] for row in rows]), np.array([row[-1] for row in rows[::-1]])
