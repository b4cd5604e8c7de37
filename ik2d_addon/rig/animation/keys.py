# SPDX-License-Identifier: GPL-3.0-or-later
"""F-Curves: replace the keys of a range, in bulk."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import groupby

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import IK2DError
from ...core.inputs import Floats
from . import actions as made
from . import in_place, versions
from .actions import KnownChannels
from .bone_channels import BoneRotation, channels_kept, set_mode
from .fcurves import Singles, column
from .in_place import SAME_FRAME as SAME_FRAME
from .key_columns import (
    BY_HAND,
    GENERATED,
    Columns,
    add,
    are_shaped,
    columns_of,
    fill,
    new_keys,
    with_all_fields,
)
from .key_faults import path_of, refuse_tweak_mode
from .times import animation_times, strip_times

# Keys of so many at once, as arrays.
_PART = 1 << 18


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
        _write(armature, made.channels(armature, undo), rotations, strip_times(armature, frames), undo)
        yield
        undo.pop_all()


def _write(
    armature: bpy.types.Object,
    holder: versions.Channels,
    rotations: Sequence[BoneRotation],
    times: Singles,
    undo: ExitStack,
) -> None:
    """Key the channels of bones: all that are not locked, or the one that turns. times: the action's."""
    known, place = KnownChannels(holder), versions.place_of(holder)
    for rotation in rotations:
        set_mode(armature, rotation)
    keyed: list[tuple[BoneRotation, int]] = []
    wanted = []
    for rotation in rotations:
        path = path_of(armature, rotation)
        for index in rotation.unlocked(armature):
            if rotation.keys(index):
                keyed.append((rotation, index))
                wanted.append((path, index, rotation.bone))
            else:
                own = _times_of(armature, rotation, times)
                _rest(armature, known.fcurves.find(path, index=index), rotation, index, own, place, undo)
    curves = made.fcurves(holder, wanted, undo, known)
    for curve, new in zip(curves, _keys_of(armature, keyed, times), strict=True):
        replace_keys(curve, new, place, undo)


def _times_of(armature: bpy.types.Object, rotation: BoneRotation, times: Singles) -> Singles:
    """Return the action's times of a rotation's keys: its own, or those of the bake."""
    return times if rotation.frames is None else strip_times(armature, rotation.frames)


def _keys_of(
    armature: bpy.types.Object, channels: Iterable[tuple[BoneRotation, int]], times: Singles
) -> Iterator[Columns]:
    """Yield the keys of channels, each a rotation and an index; made many at a time where they are alike."""
    for _, group in groupby(channels, lambda channel: _kind_of(channel[0])):
        alike = list(group)
        first = alike[0][0]
        own = _times_of(armature, first, times)
        most = max(1, _PART // len(own))
        for start in range(0, len(alike), most):
            some = alike[start : start + most]
            values = np.stack([rotation.values[:, index] for rotation, index in some], axis=1)
            handles = None
            if first.handles is not None:
                given = [
                    rotation.handles[:, :, index] for rotation, index in some if rotation.handles is not None
                ]
                handles = np.stack(given, axis=2)
            yield from new_keys(own, values, handles, GENERATED if first.generated else BY_HAND)


def _kind_of(rotation: BoneRotation) -> tuple[int, bool, bool]:
    """Return a key that is the same for rotations whose keys can be made as one array."""
    return id(rotation.frames), rotation.handles is None, rotation.generated


def _rest(
    armature: bpy.types.Object,
    curve: bpy.types.FCurve | None,
    rotation: BoneRotation,
    index: int,
    times: Singles,
    place: versions.Place,
    undo: ExitStack,
) -> None:
    """Set a channel to 0: by two keys where it has a curve, else without any."""
    if curve is None:
        getattr(armature.pose.bones[rotation.bone], rotation.property)[index] = 0.0
        return
    ends = np.unique(times[[0, -1]])
    (new,) = new_keys(ends, np.zeros((len(ends), 1)))
    replace_keys(curve, new, place, undo)


def _put_keys_back(place: versions.Place, path: str, index: int, columns: Columns) -> None:
    """Give an F-Curve its former keys, where it still is."""
    curve = versions.curve_at(place, path, index)
    if curve is not None:
        fill(curve, columns, exact=True)


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
    made: NDArray[np.bool_] = column(curve, "type")[:, 0] != GENERATED
    return made


def keep_hand_made(curve: bpy.types.FCurve) -> bool:
    """Remove a bake's keys from an F-Curve; return whether any keys are left."""
    by_hand = made_by_hand(curve)
    if by_hand.any() and not by_hand.all():
        keep_keys(curve, by_hand)
    return bool(by_hand.any())


def keep_keys(curve: bpy.types.FCurve, kept: NDArray[np.bool_]) -> None:
    """Keep only some of an F-Curve's keys (m,), exactly as they are."""
    columns = {name: values[kept] for name, values in columns_of(curve).items()}
    fill(curve, columns, are_shaped(columns))


def copy_keys(source: bpy.types.FCurve, curve: bpy.types.FCurve) -> None:
    """Give an F-Curve the keys of another, exactly, with the other's way of smoothing them."""
    curve.auto_smoothing = source.auto_smoothing
    fill(curve, columns_of(source), exact=True)


def copy_curve(source: bpy.types.FCurve, curve: bpy.types.FCurve) -> None:
    """Give an F-Curve without modifiers the keys, the extrapolation and the modifiers of another."""
    copy_keys(source, curve)
    curve.extrapolation = source.extrapolation
    for modifier in source.modifiers:
        copy = curve.modifiers.new(modifier.type)
        _copy_values(modifier, copy)
        if modifier.type == 'ENVELOPE':
            _copy_points(modifier.control_points, copy.control_points)
    curve.update()


def _copy_values(source: bpy.types.bpy_struct, copy: bpy.types.bpy_struct) -> None:
    names = [found.identifier for found in source.bl_rna.properties if not found.is_readonly]
    for name in (*names, *names):  # twice: some, such as blend_in, are bounded by those set after them
        setattr(copy, name, getattr(source, name))


def _copy_points(
    source: bpy.types.FModifierEnvelopeControlPoints, copy: bpy.types.FModifierEnvelopeControlPoints
) -> None:
    """Give an Envelope the points of another; in bulk, as Blender may crash where one value of one is set."""
    values = np.empty(len(source), np.float32)
    for number in range(len(source)):
        copy.add(number)
    for name in ("frame", "min", "max"):
        source.foreach_get(name, values)
        copy.foreach_set(name, values)


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


def replace_keys(curve: bpy.types.FCurve, new: Columns, place: versions.Place, undo: ExitStack) -> None:
    """Put new keys on an F-Curve of a place; its keys before the first and after the last of them stay.

    Closing `undo` gives it back the keys that it has now.
    """
    channel, times = (place, curve.data_path, curve.array_index), new["co"][:, 0]
    if in_place.change(curve, new, channel, undo):
        return
    old = columns_of(curve) if len(curve.keyframe_points) else {}
    undo.callback(made.unless_gone, _put_keys_back, *channel, old)
    if not old:
        add(curve, new)
        return
    x = old["co"][:, 0]
    kept = (x < times[0] - SAME_FRAME) | (x > times[-1] + SAME_FRAME)
    if not kept.any():
        add(curve, new)
        return
    order = np.argsort(np.concatenate((x[kept], times)), kind="stable")
    whole = with_all_fields(new)
    columns = {name: np.concatenate((old[name][kept], whole[name]))[order] for name in old}
    fill(curve, columns, are_shaped(columns))
