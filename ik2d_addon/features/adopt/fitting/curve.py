# SPDX-License-Identifier: GPL-3.0-or-later
"""A curve with few keys through numbers that were measured on frames and half-way between them."""

from contextlib import ExitStack
from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from ....core.inputs import Floats
from ....rig.animation import actions, key_columns
from ....rig.animation.times import animation_times, strip_times

# The curve is nearer than this to all numbers (radians), but within a jump. A number that changes by more
# than the second between two frames, and not up to half-way, jumps.
_NEAR, _JUMP = 2e-4, 0.05


@dataclass(frozen=True, eq=False)
class KeyCurve:
    """Keys on frames, with handles at thirds of the gaps."""

    frames: Floats  # (k,)
    values: Floats  # (k,)
    handles: Floats  # (2, k) values of the handles before and after each key; NaN for automatic ones
    held: NDArray[np.bool_]  # (k,) keys that hold their values up to the next one


def fitted(frames: Floats, values: Floats, wanted: Floats) -> KeyCurve:
    """Return a curve through values (m,) at frames (m,), with keys on whole frames alone.

    wanted: frames near which keys are set in any case. More are set where the curve is not near enough.
    """
    whole = np.flatnonzero(frames == np.round(frames))
    nearest = np.abs(frames[whole][None] - wanted[:, None]).argmin(axis=1) if len(wanted) else []
    knots = sorted({int(whole[0]), int(whole[-1]), *whole[nearest].tolist()})
    waiting = list(zip(knots[:-1], knots[1:], strict=True))[::-1]
    rows, parts, held = [knots[0]], list[Floats](), list[bool]()
    while waiting:
        first, last = waiting.pop()
        inner = whole[(whole > first) & (whole < last)]
        ends, error = _part(frames[first : last + 1], values[first : last + 1])
        if error > _NEAR and len(inner):
            middle = int(inner[np.abs(frames[inner] - 0.5 * (frames[first] + frames[last])).argmin()])
            waiting += [(middle, last), (first, middle)]
            continue
        rows.append(last)
        parts.append(ends)
        held.append(not len(inner) and _jumps(values[first : last + 1]))
    handles = np.full((2, len(rows)), np.nan)
    if parts:
        handles[1, :-1], handles[0, 1:] = np.array(parts).T
    return KeyCurve(frames[rows], values[rows], handles, np.array([*held, False]))


def _part(frames: Floats, values: Floats) -> tuple[Floats, float]:
    """Return both handles (2,) of the cubic nearest to values (m,) and its error; it keeps both ends."""
    s = (frames - frames[0]) / (frames[-1] - frames[0])
    rest = 1.0 - s
    even = values[0] + (values[-1] - values[0]) * np.array((1.0, 2.0)) / 3.0
    weights = np.stack((3.0 * s * rest**2, 3.0 * s**2 * rest), axis=1)
    straight = values[0] * rest**3 + values[-1] * s**3 + weights @ even
    more = np.linalg.lstsq(weights[1:-1], (values - straight)[1:-1], rcond=None)[0] if len(s) > 2 else 0.0
    ends: Floats = even + more
    error = np.abs(values - straight - weights @ (ends - even)).max()
    return ends, float(error)


def _jumps(values: Floats) -> bool:
    """Return whether values (m,) from one frame to the next stay up to half-way, and then change."""
    stays = np.abs(values[:-1] - values[0]).max() <= _NEAR
    return bool(stays and len(values) > 2 and abs(values[-1] - values[0]) > _JUMP)


def key_curve(
    armature: bpy.types.Object, path: str, group: str, curve: KeyCurve, scene: bpy.types.Scene
) -> None:
    """Give an armature's property the keys of a curve."""
    times = strip_times(armature, animation_times(scene, curve.frames.tolist()))
    (new,) = key_columns.new_keys(
        times,
        curve.values[:, None],
        curve.handles[..., None],
        key_columns.BY_HAND,
        key_columns.BEZIER,
        curve.held,
    )
    with ExitStack() as undo:
        its = actions.fcurve(actions.channels(armature, undo), path, 0, group, undo)
        key_columns.fill(its, key_columns.with_all_fields(new))
        undo.pop_all()
