# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage of a bake: objects play the actions of one clip after another, then what they played before."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

import bpy
import numpy as np
from numpy.typing import NDArray

from ...rig.animation import remembered, versions
from ...rig.animation.actions import remove_empty_animation_data
from ...rig.animation.bone_channels import ROTATIONS, channel_values, width_of
from ...rig.animation.remembered import ChannelValue
from .clips import Clip, Play

# Of armatures, the names of some bones.
_Bones: TypeAlias = Mapping[bpy.types.Object, Collection[str]]
_CHANNELS = ("location", *ROTATIONS, "scale")


@dataclass(frozen=True)
class _Former:
    """What an object played before."""

    action: bpy.types.Action | None
    slot: str
    last_slot: str
    use_nla: bool
    was_there: bool  # whether it had animation data

    @classmethod
    def of(cls, ob: bpy.types.Object) -> "_Former":
        animation = ob.animation_data
        if animation is None:
            return cls(None, "", "", True, False)
        slot, last = versions.slot_played(animation), versions.last_slot(animation)
        return cls(animation.action, slot, last, animation.use_nla, True)


class Stage:
    """Objects that play clips for a while. A context: at its end, and on errors, all is as it was before."""

    def __init__(self, clips: Sequence[Clip], alone: bool = True, keep_poses: bool = True) -> None:
        """Take all clips that may be assigned. alone: turn NLA strips off meanwhile.

        keep_poses: whether bones that new keys turn get back the pose that they had without.
        """
        self._alone = alone
        self._clip: Clip | None = None
        owners = dict.fromkeys(play.owner for clip in clips for play in clip.plays)
        self._former = {ob: _Former.of(ob) for ob in owners}
        self._values = list(_animated(clips, owners))
        self._poses = {ob: _pose(ob) for ob in owners if ob.pose is not None} if keep_poses else {}

    def __enter__(self) -> "Stage":
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def show(self, clip: Clip) -> None:
        """Assign the actions of a clip; objects that have no part in it play what they did before."""
        self._clip = clip
        playing = {play.owner: play for play in clip.plays}
        self._set_values()
        for ob, former in self._former.items():
            play = playing.get(ob)
            if play is not None:
                _assign(play, self._alone)
            else:
                _put_back(ob, former)
        bpy.context.view_layer.update()

    @contextmanager
    def showing(self, clip: Clip, changing: _Bones | None = None) -> Iterator[None]:
        """Assign the actions of a clip; those before it again if what is done inside fails.

        changing: bones that get another pose for good when it ends. Then the clip before is assigned again,
        too, for the end of what was done with it.
        """
        before = self._clip
        self.show(clip)
        try:
            yield
        except BaseException:
            if before is not None:
                self.show(before)
            raise
        if changing is not None and any(changing.values()):
            self.note(changing)
            if before is not None:
                self.show(before)

    def note(self, changed: _Bones) -> None:
        """Take the unkeyed pose that some bones have now for the one to put back."""
        for ob, names in changed.items():
            keyed = {(curve.data_path, curve.array_index) for curve in versions.existing_fcurves(ob)}
            for name, values in self._poses.get(ob, {}).items():
                width, now = width_of(name), channel_values(ob.pose.bones, name)
                for bone in filter(ob.pose.bones.__contains__, names):
                    path = ob.pose.bones[bone].path_from_id(name)
                    first = width * ob.pose.bones.find(bone)
                    for index in range(width):
                        if (path, index) not in keyed:
                            values[first + index] = now[first + index]

    def clear(self) -> None:
        """Assign what all objects played before."""
        self._set_values()
        for ob, former in self._former.items():
            with suppress(ReferenceError):
                _put_back(ob, former)
        self._clip = None
        bpy.context.view_layer.update()

    def _set_values(self) -> None:
        """Give unkeyed channels the values that they had, which other clips may have changed."""
        for ob, path, index, value in self._values:
            with suppress(ReferenceError, ValueError, AttributeError, IndexError, TypeError):
                if remembered.value_of(ob, path, index) != value:
                    _set_value(ob, path, index, value)
        for ob, pose in self._poses.items():
            with suppress(ReferenceError):
                _set_pose(ob, pose)


def _set_value(ob: bpy.types.Object, path: str, index: int, value: Any) -> None:
    """Set a channel, a custom property of a bone too."""
    owner, _, name = path.rpartition('["')
    if name.endswith('"]') and owner:
        ob.path_resolve(owner)[bpy.utils.unescape_identifier(name[:-2])] = value
    else:
        remembered.set_values([(ob, path, index, value)])


def _pose(ob: bpy.types.Object) -> dict[str, NDArray[np.float32]]:
    """Return the channels of all bones of an armature, flat."""
    return {name: channel_values(ob.pose.bones, name) for name in _CHANNELS}


def _set_pose(ob: bpy.types.Object, pose: dict[str, NDArray[np.float32]]) -> None:
    for name, values in pose.items():
        if not np.array_equal(channel_values(ob.pose.bones, name), values):
            ob.pose.bones.foreach_set(name, values)
            ob.update_tag()


def _assign(play: Play, alone: bool) -> None:
    animation = play.owner.animation_data or play.owner.animation_data_create()
    if alone:
        animation.use_nla = False
    versions.assign_action(animation, play.action, play.slot)


def _put_back(ob: bpy.types.Object, former: _Former) -> None:
    animation = ob.animation_data
    if animation is None:
        return
    versions.assign_action(animation, former.action, former.slot)
    if versions.HAS_SLOTS:
        animation.last_slot_identifier = former.last_slot
    animation.use_nla = former.use_nla
    if not former.was_there:
        remove_empty_animation_data(ob)


def _animated(clips: Iterable[Clip], owners: Iterable[bpy.types.Object]) -> Iterator[ChannelValue]:
    """Yield the channels (object, path, index, value) that clips animate, or the actions before them."""
    channels: dict[tuple[bpy.types.Object, str, int], None] = {}
    for clip in clips:
        for play in clip.plays:
            holders = versions.holders_of(play.action) if play.action is not None else ()
            for holder, slot in holders:
                if slot == play.slot:
                    channels |= {
                        (play.owner, curve.data_path, curve.array_index): None for curve in holder.fcurves
                    }
    for ob in owners:
        for curve in versions.existing_fcurves(ob):
            channels[ob, curve.data_path, curve.array_index] = None
    for ob, path, index in channels:
        with suppress(ValueError, AttributeError, IndexError, TypeError):
            yield ob, path, index, remembered.value_of(ob, path, index)
