# SPDX-License-Identifier: GPL-3.0-or-later
"""NLA strips that move the bones, and the effect of new keys on top of them."""

from collections.abc import Iterator, Mapping

import bpy

from ...core.words import number_of, quoted, say
from . import versions

# Bones that a sentence names one by one.
_NAMED = 3


def keyed_paths(ob: bpy.types.Object) -> set[str]:
    """Return the paths of an object's F-Curves, in its own action and in NLA strips."""
    return {curve.data_path for curve in versions.existing_fcurves(ob)} | strip_paths(ob)


def strip_paths(armature: bpy.types.Object) -> set[str]:
    """Return the data paths that the NLA strips of an object animate."""
    animation = armature.animation_data
    holders = map(versions.strip_channels, versions.playing_strips(animation)) if animation else ()
    return {curve.data_path for holder in holders if holder is not None for curve in holder.fcurves}


def why_silent(armature: bpy.types.Object) -> str:
    """Say why the NLA keeps an object's own action from playing; "" where it does not."""
    animation = armature.animation_data
    if animation is None or not animation.use_nla or animation.use_tweak_mode:
        return ""
    if any(track.is_solo for track in animation.nla_tracks):
        return say(
            "'{armature}': an NLA track plays solo, so that new keys do not play; turn solo off",
            armature=armature.name,
        )
    return ""


def frozen_motion(
    armature: bpy.types.Object, paths: Mapping[str, str], first: float, last: float
) -> Iterator[str]:
    """Yield a sentence on bones that strips move outside `first` to `last`, and that new keys will freeze.

    paths: the channels that are to get keys, each with its bone. Reads no keys.
    """
    animation = armature.animation_data
    if animation is None or animation.use_tweak_mode or why_silent(armature):
        return
    channels = versions.existing_channels(armature)
    new = [path for path in paths if channels is None or not _animates(channels, path)]
    # Outside its keys an action holds them, or leaves the strips alone.
    holds_before = animation.action_extrapolation == 'HOLD'
    holds_after = animation.action_extrapolation != 'NOTHING'
    bones: dict[str, None] = {}
    starts, ends = [], []
    for strip in versions.playing_strips(animation):
        early, late = holds_before and strip.frame_start < first, holds_after and strip.frame_end > last
        holder = versions.strip_channels(strip) if early or late else None
        moved = [path for path in new if _animates(holder, path)] if holder is not None else []
        if moved:
            bones.update((paths[path], None) for path in moved)
            starts.append(strip.frame_start)
            ends.append(strip.frame_end)
    if not bones:
        return
    start, end = min(starts), max(ends)
    where = [say("before frame {first:g}", first=first)] if holds_before and start < first else []
    where += [say("after frame {last:g}", last=last)] if holds_after and end > last else []
    way_out = say("bake all these frames")
    if animation.action is None:
        way_out = say("bake all these frames, or set Action Extrapolation to Nothing in the NLA Editor")
    yield say(
        "'{armature}': NLA strips move {bones} from frame {start:g} to {end:g}; {where} the new keys "
        "hold the pose: {way_out}",
        armature=armature.name,
        bones=quoted(bones) if len(bones) <= _NAMED else number_of(len(bones), "bone"),
        start=start,
        end=end,
        where=say(" and ").join(where),
        way_out=way_out,
    )


def _animates(holder: versions.Channels, path: str) -> bool:
    return any(holder.fcurves.find(path, index=index) for index in range(4))
