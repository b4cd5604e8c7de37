# SPDX-License-Identifier: GPL-3.0-or-later
"""New actions that a bake goes to: copies of those that it was asked for, "Walk baked"."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import bpy

from ...core.affine import changed
from ...rig.animation import versions
from ...rig.animation.kept.record import name_records, remove_with_kept
from .arguments import INTO_NEW
from .clips import Clip, Play

_NAME = "baked"  # names of data are the same in all languages


class Copies:
    """Copies of the actions of clips; the originals are never written to.

    A context: if it fails, the copies go. Otherwise they take the place of those that an earlier bake made of
    the same actions.
    """

    def __init__(self) -> None:
        self._copies: dict[bpy.types.Action, bpy.types.Action] = {}

    @contextmanager
    def made(self, clips: Sequence[Clip], into: str) -> Iterator[list[Clip]]:
        """Yield the clips with copies of their armatures' actions; as they are where none are asked for."""
        if into != INTO_NEW:
            yield list(clips)
            return
        try:
            yield [changed(clip, armatures=tuple(map(self._copied, clip.armatures))) for clip in clips]
        except BaseException:
            for copy in self._copies.values():
                with suppress(ReferenceError):
                    bpy.data.actions.remove(copy)
            raise
        for source, copy in self._copies.items():
            _replace_earlier(source, copy)

    def of(self, action: bpy.types.Action | None) -> bpy.types.Action | None:
        """Return the copy of an action; None for none."""
        return self._copies.get(action) if action is not None else None

    def _copied(self, play: Play) -> Play:
        if play.action is None:
            return play
        if play.action not in self._copies:
            source = play.action
            copy = source.copy()
            copy.name = f"{source.name} {_NAME}"
            copy.use_fake_user = True
            copy.ik2d.baked_from = source.name
            self._copies[source] = copy
        return changed(play, action=self._copies[play.action])


def _replace_earlier(source: bpy.types.Action, copy: bpy.types.Action) -> None:
    """Put a copy in the place of the one that an earlier bake made of the same action."""
    made = [action for action in bpy.data.actions if action != copy and is_copy_of(action, source)]
    earlier = min(made, key=lambda action: action.name, default=None)
    if earlier is None:
        return
    name = earlier.name
    played = list(_playing(earlier))
    earlier.user_remap(copy)
    for user, slot in played:
        if versions.HAS_SLOTS and slot in copy.slots and user.action_slot != copy.slots[slot]:
            user.action_slot = copy.slots[slot]
    earlier.use_fake_user, earlier.ik2d.made = False, True
    remove_with_kept(earlier)
    copy.name = name
    name_records(copy)


def is_copy_of(action: bpy.types.Action, source: bpy.types.Action) -> bool:
    """Return whether a bake has made an action from another one."""
    named = action.name.startswith(f"{source.name} {_NAME}") and action.library is None
    return named and action.is_property_set("ik2d") and bool(action.ik2d.baked_from == source.name)


def original_of(action: bpy.types.Action | None) -> bpy.types.Action | None:
    """Return the action that a bake has copied for one that it made, if that is still there; else itself."""
    if action is None or not action.is_property_set("ik2d"):
        return action
    source = bpy.data.actions.get(action.ik2d.baked_from)
    return source if source is not None and is_copy_of(action, source) else action


def _playing(action: bpy.types.Action) -> Iterator[tuple[bpy.types.AnimData | bpy.types.NlaStrip, str]]:
    """Yield the animation data and the NLA strips that play an action, each with its slot's identifier."""
    for ob in bpy.data.objects:
        animation = ob.animation_data
        if animation is None:
            continue
        strips = [strip for track in animation.nla_tracks for strip in track.strips]
        for user in (animation, *strips):
            if user.action == action:
                slot = user.action_slot if versions.HAS_SLOTS else None
                yield user, slot.identifier if slot else ""
