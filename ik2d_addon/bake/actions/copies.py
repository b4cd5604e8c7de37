# SPDX-License-Identifier: GPL-3.0-or-later
"""New actions that a bake goes to: copies of those that it was asked for, "Walk baked"."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import bpy

from ...core.affine import changed
from ...core.words import say
from ...rig.animation import versions
from ...rig.animation.kept.digest import digest_of
from ...rig.animation.kept.record import name_records, remove_with_kept
from .arguments import INTO_NEW
from .clips import Clip, Play

_NAME = "baked"  # names of data are the same in all languages


class Copies:
    """Copies of the actions of clips; the originals are never written to.

    A context: if it fails, the copies go. Otherwise they take the place of those that an earlier bake made of
    the same actions, unless somebody has edited these. A copy that is baked again is written to itself.
    """

    def __init__(self) -> None:
        self._copies: dict[bpy.types.Action, bpy.types.Action] = {}
        # Copies of earlier bakes that are written to; and for each new one those that stay, edited.
        self._again: dict[bpy.types.Action, None] = {}
        self._edited: dict[bpy.types.Action, list[str]] = {}

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
        for copy in self._again:
            copy.ik2d.baked_digest = digest_of(copy)
        for source, copy in self._copies.items():
            copy.ik2d.baked_digest = digest_of(copy)
            self._edited[copy] = _replace_earlier(source, copy)

    def of(self, action: bpy.types.Action | None) -> bpy.types.Action | None:
        """Return the copy of an action; None for none."""
        return self._copies.get(action) if action is not None else None

    def notes_on(self, copy: bpy.types.Action | None) -> list[str]:
        """Return a sentence on earlier copies that stay next to a new one."""
        if copy is None:
            return []
        return [
            say(
                "'{earlier}' was edited since it was baked, so it stays; the new bake is in '{copy}'",
                earlier=name,
                copy=copy.name,
            )
            for name in self._edited.get(copy, ())
        ]

    def _copied(self, play: Play) -> Play:
        source = play.action
        if source is None:
            return play
        if is_copy(source):
            if is_as_baked(source):
                self._again[source] = None
            return play
        if source not in self._copies:
            copy = source.copy()
            copy.name = _name_for(source)
            copy.use_fake_user = True
            copy.ik2d.baked_from = source.name
            self._copies[source] = copy
        return changed(play, action=self._copies[source])


def _replace_earlier(source: bpy.types.Action, copy: bpy.types.Action) -> list[str]:
    """Put a copy in the place of the one that an earlier bake made of the same action.

    Returns the names of those that somebody has edited, which stay.
    """
    made = [action for action in bpy.data.actions if action != copy and is_copy_of(action, source)]
    cleared = digest_of(source) if made else ""
    earlier, edited = None, []
    for action in sorted(made, key=lambda action: action.name):
        if not (is_as_baked(action) or digest_of(action) == cleared):
            edited.append(action.name)
        elif earlier is None:
            earlier = action
    if earlier is None:
        return edited
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
    return edited


def is_copy(action: bpy.types.Action) -> bool:
    """Return whether a bake has made an action for its keys, and this file can change it."""
    return action.is_editable and action.is_property_set("ik2d") and bool(action.ik2d.baked_from)


def is_copy_of(action: bpy.types.Action, source: bpy.types.Action) -> bool:
    """Return whether a bake has made an action from another one, and it still has such a name."""
    return (
        action.name.startswith(_name_for(source))
        and is_copy(action)
        and action.ik2d.baked_from == source.name
    )


def original_of(action: bpy.types.Action | None) -> bpy.types.Action | None:
    """Return the action that a bake has copied for one that it made, if that is still there; else itself."""
    if action is None or not action.is_property_set("ik2d"):
        return action
    source = bpy.data.actions.get(action.ik2d.baked_from)
    return source if source is not None and is_copy_of(action, source) else action


def give_original_back(armature: bpy.types.Object) -> None:
    """Have an armature play the original of a copy again that a clear has left as that is; the copy goes."""
    action = versions.played_action(armature)
    original = original_of(action)
    if action is None or original is None or original == action or digest_of(action) != digest_of(original):
        return
    animation = armature.animation_data
    versions.assign_action(animation, original, versions.slot_played(animation))
    if action.users == action.use_fake_user:
        action.use_fake_user, action.ik2d.made = False, True
        remove_with_kept(action)


def baked_anew(action: bpy.types.Action | None) -> bpy.types.Action | None:
    """Return the action of which a new one is to be baked while one is played.

    Of a copy its original; a copy that somebody has edited itself, which then gets the new keys.
    """
    return (
        action if action is not None and is_copy(action) and not is_as_baked(action) else original_of(action)
    )


def is_as_baked(copy: bpy.types.Action) -> bool:
    """Return whether nobody has edited a copy since it was baked."""
    return bool(copy.ik2d.baked_digest == digest_of(copy))


def _name_for(source: bpy.types.Action) -> str:
    """Return the name for a copy, of a long name the beginning: Blender's names end somewhere."""
    longest = bpy.types.ID.bl_rna.properties["name"].length_max - len(f" {_NAME}.0001")
    return f"{source.name.encode()[:longest].decode(errors='ignore')} {_NAME}"


def _playing(action: bpy.types.Action) -> Iterator[tuple[bpy.types.AnimData | bpy.types.NlaStrip, str]]:
    """Yield the animation data and the NLA strips that play an action, each with its slot's identifier."""
    for ob in bpy.data.objects:
        animation = ob.animation_data
        if animation is None:
            continue
        strips = [strip for track in animation.nla_tracks for strip in track.strips]
        for user in (animation, *strips):
            if user.action == action:
                yield user, versions.slot_played(user)
