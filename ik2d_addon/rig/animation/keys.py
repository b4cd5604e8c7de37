# SPDX-License-Identifier: GPL-3.0-or-later
"""F-Curves: replace the keys of a range, in bulk."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import IK2DError
from ...core.inputs import Floats
from . import actions as made
from . import versions
from .actions import KnownChannels
from .bone_channels import BoneRotation, channels_kept, set_mode
from .fcurves import KEY_FIELDS, Singles, column
from .key_faults import path_of, refuse_tweak_mode
from .times import animation_times, strip_times

# All fields of an F-Curve's keys, each column (keys, width).
Columns = dict[str, NDArray[Any]]

# Blender's numbers for these, the same in all versions; bulk access takes no names.
_BEZIER, _FREE, _ALIGNED, _AUTO_CLAMPED, _GENERATED = 2, 0, 3, 4, 5
_CONSTANT, _BY_HAND = 0, 0
# The values of new keys: such columns need no writing, each of which costs as much as update().
_ADDED = {
    "handle_left_type": _AUTO_CLAMPED,
    "handle_right_type": _AUTO_CLAMPED,
    "interpolation": _BEZIER,
    "easing": 0,
    "select_control_point": True,
    "select_left_handle": True,
    "select_right_handle": True,
}
# Two keys nearer than this many frames are one to Blender: of the two, update() keeps the later one's value.
SAME_FRAME = 1e-2


@contextmanager
def written(
    armature: bpy.types.Object, frames: Sequence[float] | Floats, rotations: Sequence[BoneRotation]
) -> Iterator[None]:
    """Key the rotations at the frames, in place of all keys from the first frame to the last.

    Sets the bones' rotation modes too. If it fails, or the code inside, everything is restored.
    """
    if not rotations:
        yield
        return
    others = versions.sharing_channels(armature)
    with channels_kept(armature, rotations, only_on_error=True, others=others), ExitStack() as undo:
        holder, times = made.channels(armature, undo), strip_times(armature, frames)
        known = KnownChannels(holder)
        for rotation in rotations:
            _write_bone(armature, holder, known, rotation, times, undo)
        yield
        undo.pop_all()


def _write_bone(
    armature: bpy.types.Object,
    holder: versions.Channels,
    known: KnownChannels,
    rotation: BoneRotation,
    times: Singles,
    undo: ExitStack,
) -> None:
    """Key one bone's channels: all that are not locked, or the one that turns. times: the action's."""
    if rotation.frames is not None:
        times = strip_times(armature, rotation.frames)
    set_mode(armature, rotation)
    path, handles = path_of(armature, rotation), rotation.handles
    for index in rotation.unlocked(armature):
        old = known.fcurves.find(path, index=index)
        if old is not None:
            put_back_later(holder, old, undo)
        if not rotation.keys(index):
            _rest(armature, old, rotation, index, np.unique(times[[0, -1]]))
            continue
        curve = made.fcurve(holder, path, index, rotation.bone, undo, known)
        own_handles = handles if handles is None else handles[:, :, index]
        kind = _GENERATED if rotation.generated else _BY_HAND
        _replace_keys(curve, times, rotation.values[:, index], own_handles, kind)


def _rest(
    armature: bpy.types.Object,
    curve: bpy.types.FCurve | None,
    rotation: BoneRotation,
    index: int,
    times: Singles,
) -> None:
    """Set a channel to 0: by two keys where it has a curve, else without any."""
    if curve is None:
        getattr(armature.pose.bones[rotation.bone], rotation.property)[index] = 0.0
    else:
        _replace_keys(curve, times, np.zeros(len(times)))


def put_back_later(holder: versions.Channels, curve: bpy.types.FCurve, undo: ExitStack) -> None:
    """Have `undo` give an F-Curve back the keys that it has now."""
    channel = versions.place_of(holder), curve.data_path, curve.array_index
    undo.callback(made.unless_gone, _put_keys_back, *channel, _columns(curve))


def _put_keys_back(place: versions.Place, path: str, index: int, columns: Columns) -> None:
    """Give an F-Curve its former keys, where it still is."""
    curve = versions.curve_at(place, path, index)
    if curve is not None:
        _fill(curve, columns, exact=True)


@contextmanager
def previewed(
    armature: bpy.types.Object, frames: Sequence[float], rotations: Sequence[BoneRotation]
) -> Iterator[None]:
    """Key the rotations for a while, in a copy of the action."""
    refuse_tweak_mode(armature)
    with made.action_copied(armature), channels_kept(armature, rotations):
        with written(armature, frames, rotations):
            pass
        yield


def made_by_hand(curve: bpy.types.FCurve) -> NDArray[np.bool_]:
    """Return a mask (m,) of an F-Curve's keys that no bake has made."""
    made: NDArray[np.bool_] = column(curve, "type")[:, 0] != _GENERATED
    return made


def keep_hand_made(curve: bpy.types.FCurve) -> bool:
    """Remove a bake's keys from an F-Curve; return whether any keys are left."""
    by_hand = made_by_hand(curve)
    if by_hand.any() and not by_hand.all():
        keep_keys(curve, by_hand)
    return bool(by_hand.any())


def keep_keys(curve: bpy.types.FCurve, kept: NDArray[np.bool_]) -> None:
    """Keep only some of an F-Curve's keys (m,), exactly as they are."""
    columns = {name: values[kept] for name, values in _columns(curve).items()}
    _fill(curve, columns, _are_shaped(columns))


def copy_keys(source: bpy.types.FCurve, curve: bpy.types.FCurve) -> None:
    """Give an F-Curve the keys of another, exactly."""
    _fill(curve, _columns(source), exact=True)


def is_hand_made(curve: bpy.types.FCurve, refusal: str) -> bool:
    """Return whether an F-Curve has keys made by hand; raise IK2DError(refusal) for a bake's among them."""
    by_hand = made_by_hand(curve)
    if by_hand.any() and not by_hand.all():
        raise IK2DError(refusal)
    return bool(by_hand.any())


def bounds(
    scene: bpy.types.Scene, armature: bpy.types.Object, first: float, last: float
) -> tuple[float, float]:
    """Return the times of an action between which a bake from one frame to another has its keys."""
    times = strip_times(armature, animation_times(scene, [first, last]))
    return float(times.min()) - SAME_FRAME, float(times.max()) + SAME_FRAME


def hand_made_between(curves: Iterable[bpy.types.FCurve], start: float, end: float) -> set[float]:
    """Return the times of keys made by hand on F-Curves from one time to another."""
    points = (point for curve in curves for point in curve.keyframe_points)
    return {point.co[0] for point in points if point.type != 'GENERATED' and start <= point.co[0] <= end}


def _replace_keys(
    curve: bpy.types.FCurve,
    frames: Singles,
    values: Floats,
    handles: Floats | None = None,
    kind: int = _GENERATED,
    interpolation: int = _BEZIER,
) -> None:
    """Put keys at frames (m,) in order, up or down; keys before the first and after the last stay.

    handles: (2, m) values of the handles before and after each key, at thirds of the gaps; NaN, or None
    for all, for automatic ones. kind and interpolation: of the keys, as Blender numbers them.
    """
    if frames[0] > frames[-1]:  # an NLA strip that plays backwards
        frames, values = frames[::-1], values[::-1]
        handles = None if handles is None else handles[::-1, ::-1]
    x = column(curve, "co")[:, 0]
    kept = (x < frames[0] - SAME_FRAME) | (x > frames[-1] + SAME_FRAME)
    stays = len(x) > 0 and bool(kept.any())
    if handles is None and interpolation == _BEZIER and len(frames) > 1 and not stays:
        _fill_plainly(curve, frames, values, kind)
        return
    new = _new_keys(frames, values)
    new["type"][:], new["interpolation"][:] = kind, interpolation
    if handles is not None:
        _shape(new, handles)
    if not stays:
        _fill(curve, new)
        return
    old = _columns(curve)
    order = np.argsort(np.concatenate((x[kept], frames)), kind="stable")
    columns = {name: np.concatenate((old[name][kept], new[name]))[order] for name in old}
    _fill(curve, columns, (order < kept.sum())[:, None] & _are_shaped(columns))


def _columns(curve: bpy.types.FCurve) -> Columns:
    """Return all fields of an F-Curve's keys, each column (keys, width)."""
    return {name: column(curve, name) for name in KEY_FIELDS}


def _are_shaped(columns: Columns) -> NDArray[np.bool_]:
    """Return a mask (m, 2) of the left and right handles to restore exactly.

    Aligned ones too: Blender aligns them anew, which moves them by their last bits.
    """
    types = np.column_stack((columns["handle_left_type"], columns["handle_right_type"]))
    return np.isin(types, (_FREE, _ALIGNED))


def _fill_plainly(curve: bpy.types.FCurve, frames: Singles, values: Floats, kind: int) -> None:
    """Give an F-Curve new keys with default handles at frames (m,), m > 1, instead of its own."""
    places = np.empty((len(frames), 2), "f4")
    places[:, 0], places[:, 1] = frames, values
    points = curve.keyframe_points
    points.clear()
    points.add(len(frames))
    points.foreach_set("co", places.ravel())
    points.foreach_set("type", np.full(len(frames), kind, "u1"))
    curve.update()


def _fill(curve: bpy.types.FCurve, columns: Columns, exact: NDArray[np.bool_] | bool = False) -> None:
    """Give an F-Curve these sorted keys (m) instead of its own.

    exact: (m, 2) which left and right handles to set exactly; or all, or none.
    """
    points = curve.keyframe_points
    fresh = {name for name, value in _ADDED.items() if (columns[name] == value).all()}
    if fresh >= {"handle_left_type", "handle_right_type"} and len(columns["co"]) > 1:
        fresh |= {"handle_left", "handle_right"}  # update() places automatic handles
    points.clear()
    points.add(len(columns["co"]))
    for name, values in columns.items():
        if name not in fresh:
            points.foreach_set(name, np.ascontiguousarray(values).ravel())
    curve.update()
    if exact is False:
        return
    which = np.broadcast_to(exact, (len(columns["co"]), 2))
    for side, given in zip(("handle_left", "handle_right"), which.T, strict=True):
        handles = np.empty_like(columns[side])
        points.foreach_get(side, handles.ravel())
        handles[given] = columns[side][given]
        points.foreach_set(side, handles.ravel())


def _shape(keys: Columns, handles: Floats) -> None:
    """Give keys free handles with values (2, m), where these are not NaN.

    The two that point out of the range are aligned where the key's other one is free: automatic ones
    there would turn with the keys outside.
    """
    third = np.diff(keys["co"][:, 0].astype(np.float64)) / 3.0
    shaped = ~np.isnan(handles)
    shaped[0, 0] = shaped[1, -1] = False
    for side, name, gaps in ((0, "handle_left", -third), (1, "handle_right", third)):
        rows = np.flatnonzero(shaped[side])
        keys[name][rows, 0] += gaps[rows - (side == 0)]
        keys[name][rows, 1] = handles[side, rows]
        keys[f"{name}_type"][rows] = _FREE
    for row, inner, outer in ((0, "handle_right", "handle_left"), (-1, "handle_left", "handle_right")):
        if keys[f"{inner}_type"][row] == _FREE:
            keys[outer][row] = 2.0 * keys["co"][row] - keys[inner][row]
            keys[f"{outer}_type"][row] = _ALIGNED


def _new_keys(frames: Singles, values: Floats) -> Columns:
    new = {name: np.zeros((len(frames), width), kind) for name, (width, kind) in KEY_FIELDS.items()}
    new["co"][:, 0], new["co"][:, 1] = frames, values
    new["handle_left"][:] = new["handle_right"][:] = new["co"]
    for name, value in _ADDED.items():
        new[name][:] = value
    return new
