# SPDX-License-Identifier: GPL-3.0-or-later
"""F-Curves: read at many times at once, with Blender's own arithmetic on arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.inputs import Floats

Singles: TypeAlias = NDArray[np.float32]
# Times of an action, in the 32 bits that Blender counts them in.
Times: TypeAlias = Singles

# Blender's numbers for how a key leads to the next one.
_CONSTANT, _LINEAR, _BEZIER = 0, 1, 2
# So near to a key Blender takes its value; where keys are as near as that, Blender is asked.
_AT_KEY, _CROWDED = np.float32(1e-4), 1e-3
# What Blender still takes as a part of the way from key to key.
_FIRST, _LAST = np.float32(-1e-10), np.float32(1.000001)
_FLAT = np.finfo(np.float32).eps
# Fewer times than this are asked for one by one; cubics are solved part by part, for the memory.
_FEW, _PART = 32, 1 << 16


@dataclass(frozen=True, eq=False)
class _Gaps:
    """Between which of some keys the times (frames,) are."""

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


class Reader:
    """F-Curves at ascending times (frames,) of their actions.

    Constant, linear and Bezier keys are worked out as arrays, with Blender's steps in 32 and 64 bits;
    where that is not all there is to a curve, it is asked for each time. Curves with keys at the same
    times, as those of one object mostly have, share what follows from these.
    """

    def __init__(self, times: Times) -> None:
        self._times = times
        self._gaps: tuple[bytes, _Gaps] | None = None
        self._ways: tuple[bytes, tuple[Singles, NDArray[np.bool_]]] | None = None

    def values(self, curve: bpy.types.FCurve) -> Singles:
        """Return what an F-Curve is (frames,), as Blender evaluates it."""
        keys = _read(curve) if len(self._times) > _FEW and _is_simple(curve) else None
        if keys is None:
            return _evaluated(curve, self._times)
        gaps = self._gaps_between(keys[:, 0])
        result: Singles = keys[gaps.nearest, 1]
        asked = gaps.beyond if curve.extrapolation != 'CONSTANT' else np.zeros(len(self._times), bool)
        if gaps.between.any():
            kinds = np.empty(len(keys), np.int32)
            curve.keyframe_points.foreach_get("interpolation", kinds)
            kind = np.where(gaps.between, kinds[gaps.before], _CONSTANT)
            if (kind == _LINEAR).any():
                self._draw_lines(result, keys, gaps, kind == _LINEAR)
            if (kind == _BEZIER).any():
                asked = asked | self._draw_beziers(result, curve, keys, gaps, kind == _BEZIER)
            asked = asked | (kind != _CONSTANT) & (kind != _LINEAR) & (kind != _BEZIER)
        if asked.any():
            result[asked] = _evaluated(curve, self._times[asked])
        return result

    def _gaps_between(self, at: Singles) -> _Gaps:
        name = at.tobytes()
        if self._gaps is None or self._gaps[0] != name:
            self._gaps = name, _Gaps.of(at, self._times)
        return self._gaps[1]

    def _draw_lines(self, result: Singles, keys: Singles, gaps: _Gaps, where: NDArray[np.bool_]) -> None:
        """Put values on the lines between keys into the result."""
        rows = np.flatnonzero(where)
        start, end = keys[gaps.before[rows]], keys[gaps.after[rows]]
        change, duration = end[:, 1] - start[:, 1], end[:, 0] - start[:, 0]
        result[rows] = change * (self._times[rows] - start[:, 0]) / duration + start[:, 1]

    def _draw_beziers(
        self, result: Singles, curve: bpy.types.FCurve, keys: Singles, gaps: _Gaps, where: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Put values on the Bezier curves between keys into the result; return where there are none."""
        right, left = _column(curve, "handle_right", 2), _column(curve, "handle_left", 2)
        points = (
            keys[:-1],
            _shortened(keys[:-1], right[:-1], keys[1:]),
            _shortened(keys[1:], left[1:], keys[:-1]),
            keys[1:],
        )
        rows = np.flatnonzero(where)
        ways, lost = self._ways_along([point[:, 0] for point in points], gaps.before[rows], rows)
        heights = [point[:, 1] for point in points]
        c0, c1, c2, c3 = (one[gaps.before[rows]] for one in _cubic(*heights))
        result[rows] = c0 + ways * c1 + ways * ways * c2 + ways * ways * ways * c3
        flat = (
            (np.abs(heights[0] - heights[3]) < _FLAT)
            & (np.abs(heights[1] - heights[2]) < _FLAT)
            & (np.abs(heights[2] - heights[3]) < _FLAT)
        )[gaps.before[rows]]
        result[rows[flat]] = c0[flat]
        asked = np.zeros(len(self._times), bool)
        asked[rows[lost & ~flat]] = True
        return asked

    def _ways_along(
        self, points: Sequence[Singles], gap: NDArray[np.intp], rows: NDArray[np.intp]
    ) -> tuple[Singles, NDArray[np.bool_]]:
        """Return how far along their Bezier curves some of the times are, 0..1, and where that is not known.

        points: four times for each gap between keys. gap: which of these the times of the rows are in.
        """
        name = b"".join([*(point.tobytes() for point in points), rows.tobytes()])
        if self._ways is None or self._ways[0] != name:
            cubics = _cubic(*points)
            parts = [slice(i, i + _PART) for i in range(0, len(rows), _PART)]
            found = [_ways([one[gap[part]] for one in cubics], self._times[rows[part]]) for part in parts]
            ways = np.concatenate(found)
            self._ways = name, (ways, np.isnan(ways))
        return self._ways[1]


def _evaluated(curve: bpy.types.FCurve, times: Times) -> Singles:
    """Return what Blender evaluates at each time."""
    return np.fromiter(map(curve.evaluate, times.tolist()), np.float32, len(times))


def _is_simple(curve: bpy.types.FCurve) -> bool:
    """Return whether keys are all there is to an F-Curve."""
    return len(curve.modifiers) == 0 and len(curve.sampled_points) == 0 and len(curve.keyframe_points) > 0


def _read(curve: bpy.types.FCurve) -> Singles | None:
    """Return an F-Curve's keys (keys, 2); None where they are out of order or as good as at one time."""
    keys = _column(curve, "co", 2)
    return keys if len(keys) == 1 or np.diff(keys[:, 0]).min() > _CROWDED else None


def _column(curve: bpy.types.FCurve, name: str, width: int) -> Singles:
    values = np.empty((len(curve.keyframe_points), width), np.float32)
    curve.keyframe_points.foreach_get(name, values.ravel())
    return values


def _shortened(key: Singles, handle: Singles, other: Singles) -> Singles:
    """Return the keys' handles (m, 2), none longer than it is to the other key."""
    span, length = np.abs(other[:, 0] - key[:, 0]), np.abs(key[:, 0] - handle[:, 0])
    long = length > span
    shortened = handle.copy()
    shortened[long] = key[long] - (span[long] / length[long])[:, None] * (key - handle)[long]
    return shortened


def _cubic(q0: Singles, q1: Singles, q2: Singles, q3: Singles) -> tuple[Singles, Singles, Singles, Singles]:
    """Return the coefficients, constant first, of what a Bezier curve goes through along one axis."""
    three, two = np.float32(3.0), np.float32(2.0)
    return q0, three * (q1 - q0), three * (q0 - two * q1 + q2), q3 - q0 + three * (q1 - q2)


def _ways(cubics: Sequence[Singles], times: Times) -> Singles:
    """Return how far along cubics (m,) the times are, 0..1; NaN where none is.

    The first root in that range of each cubic, by Cardano's formula as Blender has it.
    """
    found = np.full(len(times), np.nan, np.float32)
    c0, c1, c2, c3 = cubics
    constants = (c0 - times).astype(np.float64)
    with np.errstate(all="ignore"):
        for root in _roots(constants, *(one.astype(np.float64) for one in (c1, c2, c3))):
            single = root.astype(np.float32)
            found = np.where(np.isnan(found) & (single >= _FIRST) & (single <= _LAST), single, found)
    return found


def _roots(c0: Floats, c1: Floats, c2: Floats, c3: Floats) -> list[Floats]:
    """Return three candidates (m,) for the roots of cubics; no finite numbers where there are fewer."""
    a, b, c = c2 / c3 / 3.0, c1 / c3, c0 / c3
    p = b / 3.0 - a * a
    q = (2.0 * a * a * a - a * b + c) / 2.0
    d = q * q + p * p * p
    one, two, three = (np.full(len(c0), np.nan) for _ in range(3))
    rows = np.flatnonzero(d > 0.0)
    t = np.sqrt(d[rows])
    one[rows] = _cube_root(t - q[rows]) + _cube_root(-q[rows] - t) - a[rows]
    rows = np.flatnonzero(d == 0.0)
    t = _cube_root(-q[rows])
    one[rows], two[rows] = 2.0 * t - a[rows], -t - a[rows]
    rows = np.flatnonzero(d < 0.0)
    t = np.sqrt(-p[rows])
    cosine = np.cos(np.arccos(-q[rows] / np.sqrt(-(p[rows] * p[rows] * p[rows]))) / 3.0)
    sine = np.sqrt(3.0 - 3.0 * cosine * cosine)
    one[rows] = 2.0 * t * cosine - a[rows]
    two[rows] = -t * (cosine + sine) - a[rows]
    three[rows] = -t * (cosine - sine) - a[rows]
    rows = np.flatnonzero(c3 == 0.0)
    if len(rows):
        one[rows], two[rows] = _square_roots(c0[rows], c1[rows], c2[rows])
    return [one, two, three]


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
