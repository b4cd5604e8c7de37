# SPDX-License-Identifier: GPL-3.0-or-later
"""CurveMotion between frames: the F-Curves of data blocks half-way, and what else may move there unseen."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...core.inputs import Floats
from . import versions
from .fcurves import BEZIER, LINEAR, Reader, Times
from .key_columns import ALIGNED, FREE
from .value_keys import existing_drivers

# Channels that turn or scale what they are of; those that place it; and those that go along a path.
_TURNS = re.compile(r"(?:^|\.)(?:delta_)?(?:rotation_(?:euler|quaternion|axis_angle)|scale)$")
_PLACES = re.compile(r"(?:^|\.)(?:delta_)?location$")
_ALONG_PATH = re.compile(r"(?:^|\.)(?:eval_time|offset|offset_factor)$")
# Those that move nothing, or whose values are sampled themselves.
_ASIDE = ("hide_", "color", "show_", "display_", "empty_display_", "pass_index")
# Functions of simple expressions that neither jump nor swing.
_SMOOTH = {"abs", "acos", "asin", "atan", "atan2", "clamp", "degrees", "exp", "lerp", "log", "max", "min"}
_SMOOTH |= {"pi", "pow", "radians", "smoothstep", "sqrt"}
_JUMPS = re.compile(r"[%<>=!]|//")
# Properties that nothing but animation of their own path changes: custom ones, channels, influences.
_PROPERTY = re.compile(
    r'((?:pose\.bones\["[^"\\]+"\]\.?)?(?:constraints\["[^"\\]+"\]\.)?'
    r'(?:\["[^"\\]+"\]|location|rotation_\w+|scale|influence))(?:\[\d+\]|\.[wxyz])?'
)
# Values at which a driver's own curve is looked at, to see whether it leaves them as they are.
_TRIED = (-3.7, 0.0, 0.31, 0.64, 1.0, 4.2)
_SAME = 1e-5
# So near to a frame, in frames, a key counts as on it.
_AT_FRAME = 1e-3
# By Blender's numbers: whether a key leads to the next one by a cubic, and whether a person sets a handle.
_IS_CUBIC, _IS_BY_HAND = np.zeros((2, 256), bool)
_IS_CUBIC[[LINEAR, BEZIER]] = _IS_BY_HAND[[FREE, ALIGNED]] = True


@dataclass(frozen=True, eq=False)
class CurveMotion:
    """The values of an F-Curve at some times."""

    kind: str  # 'PLACE', 'TURN', 'PATH' or 'OTHER'
    wraps: bool  # whether its values are angles, which look the same after a full turn
    values: Floats
    bends: bool = True  # whether it may bend or jump between two frames, rather than turn fast alone


def moves_unseen(block: bpy.types.ID) -> bool:
    """Return whether strips, layers or drivers may move a data block between frames as no frame shows."""
    animation = getattr(block, "animation_data", None)
    if animation is None:
        return False
    if len(animation.nla_tracks) or animation.use_tweak_mode or not versions.is_plain(animation.action):
        return True
    return any(not (curve.mute or _is_smooth(curve) or _is_still(curve)) for curve in animation.drivers)


def is_amplified(block: bpy.types.ID) -> bool:
    """Return whether drivers of a data block read motion, which they may enlarge."""
    return any(not (curve.mute or _is_still(curve)) for curve in existing_drivers(block))


def motions(
    block: bpy.types.ID, times: Times, left_out: set[str], frames: Times | None = None
) -> Iterator[CurveMotion]:
    """Yield the F-Curves of a data block that play, at ascending times of its action.

    left_out: paths, but for curves with modifiers. frames: of the action; given, only curves that may bend or
    jump between two of these, or turn fast.
    """
    curves = [
        curve
        for curve in versions.existing_fcurves(block)
        if not curve.data_path.startswith(_ASIDE)
        and (curve.data_path not in left_out or len(curve.modifiers))
        and versions.plays(block, curve)
    ]
    if frames is None:
        bends = [True] * len(curves)
    else:
        bending = zip(curves, _bent(curves, frames), strict=True)
        told = [(curve, is_bent) for curve, is_bent in bending if is_bent or _wraps(curve)]
        curves, bends = [curve for curve, _ in told], [is_bent for _, is_bent in told]
    for number, values in Reader(times).values(curves):
        curve = curves[number]
        yield CurveMotion(_kind(curve.data_path), _wraps(curve), values.astype(np.float64), bends[number])


def _bent(curves: Sequence[bpy.types.FCurve], frames: Times) -> list[bool]:
    """Return whether curves may do more between two of the frames than a cubic from one to the other.

    By modifiers, keys between frames, keys that jump or ease, or handles made by hand.
    """
    counts = [len(curve.keyframe_points) for curve in curves]
    ends = np.cumsum([0, *counts])
    at, kinds = np.empty((ends[-1], 2), "f4"), np.empty((3, ends[-1]), "u1")
    flat = at.ravel()
    for curve, first, end in zip(curves, ends.tolist(), ends[1:].tolist(), strict=False):
        points = curve.keyframe_points
        points.foreach_get("co", flat[2 * first : 2 * end])
        for name, row in zip(("interpolation", "handle_left_type", "handle_right_type"), kinds, strict=True):
            points.foreach_get(name, row[first:end])
    odd = ~_IS_CUBIC[kinds[0]] | _IS_BY_HAND[kinds[1:]].any(axis=0)
    times = at[:, 0]
    rows = np.searchsorted(frames, times).clip(1, len(frames) - 1)
    apart = np.minimum(np.abs(frames[rows] - times), np.abs(frames[rows - 1] - times))
    odd |= (times > frames[0]) & (times < frames[-1]) & (apart > _AT_FRAME)
    return [
        not count or bool(odd[end - count : end].any() or len(curve.modifiers) or len(curve.sampled_points))
        for curve, count, end in zip(curves, counts, ends[1:].tolist(), strict=True)
    ]


def _wraps(curve: bpy.types.FCurve) -> bool:
    """Return whether a curve's values are angles, which look the same after a full turn."""
    path = curve.data_path
    is_turn = path.endswith("rotation_axis_angle") and curve.array_index == 0
    return bool(is_turn or path.endswith("rotation_euler"))


def _kind(path: str) -> str:
    for kind, pattern in (('PLACE', _PLACES), ('TURN', _TURNS), ('PATH', _ALONG_PATH)):
        if pattern.search(path):
            return kind
    return 'OTHER'


def _is_smooth(curve: bpy.types.FCurve) -> bool:
    """Return whether a driver follows what it reads without jumps and swings of its own."""
    driver = curve.driver
    if any(abs(curve.evaluate(value) - value) > _SAME * (1.0 + abs(value)) for value in _TRIED):
        return False
    if driver.type != 'SCRIPTED':
        return True
    names = set(re.findall(r"[A-Za-z_]\w*", driver.expression)) - {
        variable.name for variable in driver.variables
    }
    if _JUMPS.search(driver.expression):
        return False
    return names <= _SMOOTH or names == {"frame"}


def _is_still(curve: bpy.types.FCurve) -> bool:
    """Return whether a driver reads nothing but properties that nothing animates."""
    driver = curve.driver
    if driver.type == 'SCRIPTED' and re.search(r"\b(?:frame|self|depsgraph)\b", driver.expression):
        return False
    return all(
        variable.type == 'SINGLE_PROP' and all(map(_reads_still, variable.targets))
        for variable in driver.variables
    )


def _reads_still(target: bpy.types.DriverTarget) -> bool:
    """Return whether a driver's variable reads a property that is known to be still."""
    block, named = target.id, _PROPERTY.fullmatch(target.data_path.replace("'", '"'))
    if block is None or not named:
        return block is None
    animation = getattr(block, "animation_data", None)
    if animation is None:
        return True
    curves: Sequence[bpy.types.FCurve] = [*versions.existing_fcurves(block), *animation.drivers]
    return not len(animation.nla_tracks) and all(curve.data_path != named[1] for curve in curves)
