# SPDX-License-Identifier: GPL-3.0-or-later
"""F-Curves: replace the keys of a range, in bulk."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import IK2DError
from ...core.inputs import Floats
from . import actions as made
from . import versions
from .actions import KnownChannels
from .bone_channels import BoneRotation, channels_kept, set_mode
from .fcurves import Singles
from .kept.keeping import Keeping, pose_of
from .kept.marks import BAKE, generated
from .key_columns import BY_HAND, GENERATED, Columns, new_keys
from .key_faults import path_of, refuse_tweak_mode
from .replacing import SAME_FRAME, replace_keys
from .times import animation_times, strip_times

# Keys of so many at once, as arrays.
_PART = 1 << 18


@contextmanager
def written(
    armature: bpy.types.Object,
    frames: Sequence[float] | Floats,
    rotations: Sequence[BoneRotation],
    purpose: int | None = BAKE,
) -> Iterator[Keeping | None]:
    """Key the rotations at the frames, in place of all keys from the first frame to the last.

    Sets the bones' rotation modes too. purpose: what the keys are for; what they replace is kept. None: for
    nothing that lasts. If it fails, or the code inside, everything is restored.
    """
    if not rotations:
        yield None
        return
    others = versions.sharing_channels(armature)
    with channels_kept(armature, rotations, only_on_error=True, others=others), ExitStack() as undo:
        holder = made.channels(armature, undo)
        keeping = None
        if purpose is not None:
            keeping = Keeping(armature, versions.place_of(holder), purpose, undo)
        _write(armature, holder, rotations, strip_times(armature, frames), undo, keeping)
        yield keeping
        undo.pop_all()


def _write(
    armature: bpy.types.Object,
    holder: versions.Channels,
    rotations: Sequence[BoneRotation],
    times: Singles,
    undo: ExitStack,
    keeping: Keeping | None,
) -> None:
    """Key the channels of bones: all that are not locked, or the one that turns. times: the action's."""
    known, place = KnownChannels(holder), versions.place_of(holder)
    # Without a key, nothing could give the mode before back.
    rotations = [rotation for rotation in rotations if not rotation.mode or rotation.has_keys(armature)]
    poses = {
        rotation.bone: pose_of(bone)
        for rotation in rotations
        if rotation.mode not in ("", (bone := armature.pose.bones[rotation.bone]).rotation_mode)
    }
    for rotation in rotations:
        set_mode(armature, rotation)
    keyed, resting = _channels(armature, rotations)
    wanted = [(channel.path, channel.component, channel.rotation.bone) for channel in keyed]
    curves = iter(made.fcurves(holder, wanted, undo, known))
    put = partial(replace_keys, place=place, undo=undo) if keeping is None else keeping.replace
    numbers: dict[str, Any] = {}  # of bones' curves
    for channels, new in _keys_of(armature, keyed, times):
        written_ones = put(list(islice(curves, len(channels))), new)
        for channel, number in zip(channels, written_ones, strict=True):
            numbers.setdefault(channel.rotation.bone, number)
    for channel in resting:
        bone = channel.rotation.bone
        if keeping is not None and bone in numbers and bone not in poses:
            keeping.keep_value(channel.path, channel.component, numbers[bone])
        for curve, keys in _resting(armature, known, channel, times):
            put([curve], keys)
    for bone, pose in poses.items():
        if keeping is not None and bone in numbers:
            posed = armature.pose.bones[bone]
            keeping.keep_mode(posed.path_from_id(), numbers[bone], pose, posed.rotation_mode)


class _Channel(NamedTuple):
    """A channel that is written."""

    kind: tuple[int, bool, bool, int]  # the same for those whose keys can be made as one array
    rotation: BoneRotation
    path: str
    component: int  # Blender's index


def _channels(
    armature: bpy.types.Object, rotations: Sequence[BoneRotation]
) -> tuple[list[_Channel], list[_Channel]]:
    """Return the channels that get keys, and those that are to rest at 0."""
    keyed: list[_Channel] = []
    resting: list[_Channel] = []
    for rotation in rotations:
        path = path_of(armature, rotation)
        kind = (id(rotation.frames), rotation.handles is None, rotation.generated, id(rotation.held))
        for index in rotation.unlocked(armature):
            (keyed if rotation.keys(index) else resting).append(_Channel(kind, rotation, path, index))
    return keyed, resting


def _times_of(armature: bpy.types.Object, rotation: BoneRotation, times: Singles) -> Singles:
    """Return the action's times of a rotation's keys: its own, or those of the bake."""
    return times if rotation.frames is None else strip_times(armature, rotation.frames)


def _keys_of(
    armature: bpy.types.Object, channels: Sequence[_Channel], times: Singles
) -> Iterator[tuple[list[_Channel], list[Columns]]]:
    """Yield channels that are alike, many at a time, with the keys of each."""
    for _, group in groupby(channels, itemgetter(0)):
        alike = list(group)
        first = alike[0].rotation
        its_times = _times_of(armature, first, times)
        most = max(1, _PART // len(its_times))
        for start in range(0, len(alike), most):
            some = alike[start : start + most]
            values = np.stack([rotation.values[:, index] for _, rotation, _, index in some], axis=1)
            given = [
                rotation.handles[:, :, index]
                for _, rotation, _, index in some
                if rotation.handles is not None
            ]
            handles = np.stack(given, axis=2) if given else None
            kind = GENERATED if first.generated else BY_HAND
            yield some, new_keys(its_times, values, handles, kind, held=first.held)


def _resting(
    armature: bpy.types.Object, known: KnownChannels, channel: _Channel, times: Singles
) -> Iterator[tuple[bpy.types.FCurve, list[Columns]]]:
    """Set a channel to 0 where it has no curve; else yield the curve, with two keys that do it."""
    curve = known.fcurves.find(channel.path, index=channel.component)
    if curve is None:
        getattr(armature.pose.bones[channel.rotation.bone], channel.rotation.property)[channel.component] = (
            0.0
        )
        return
    ends = np.unique(_times_of(armature, channel.rotation, times)[[0, -1]])
    yield curve, new_keys(ends, np.zeros((len(ends), 1)))


@contextmanager
def previewed(
    armature: bpy.types.Object, frames: Sequence[float], rotations: Sequence[BoneRotation]
) -> Iterator[None]:
    """Key the rotations for a while, in a copy of the action."""
    refuse_tweak_mode(armature)
    with made.action_copied(armature), channels_kept(armature, rotations):
        with written(armature, frames, rotations, purpose=None):
            pass
        yield


def made_by_hand(curve: bpy.types.FCurve) -> NDArray[np.bool_]:
    """Return a mask (m,) of an F-Curve's keys that no bake has made, or that were changed since."""
    return ~generated(curve)


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
