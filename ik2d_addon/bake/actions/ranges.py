# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames of a clip: its action's manual range, else its targets' keys, else its own."""

from collections.abc import Collection, Iterable
from math import ceil, floor

import bpy

from ...core.words import refusal
from ...rig.animation import versions
from ...rig.animation.fcurves import column
from ...rig.animation.times import pace_of
from .clips import Play

# Keys so near to a frame are on it.
_ON_FRAME = 1e-3


def clip_frames(
    scene: bpy.types.Scene,
    name: str,
    plays: Iterable[Play],
    followed: Collection[tuple[bpy.types.Object, str]],
    given: tuple[int | None, int | None],
) -> tuple[int, int]:
    """Return the first and the last frame of a clip, cut by those given; raise IK2DError where none is left.

    plays: of the armatures first. followed: objects, and bones, that move what chains read.
    """
    plays = list(plays)
    found = _manual(plays) or _keys(plays, followed) or _keys(plays, None)
    if found is None:
        raise refusal(
            "The action '{action}' has no keys and no manual frame range, so that there is nothing to bake; "
            "set its range in the Action Editor",
            action=name,
        )
    pace = pace_of(scene)
    first, last = floor(found[0] / pace + _ON_FRAME), ceil(found[1] / pace - _ON_FRAME)
    start = first if given[0] is None else max(first, given[0])
    end = last if given[1] is None else min(last, given[1])
    if end < start:
        raise refusal(
            "The action '{action}' has frames {first} to {last}, of which the range that was given leaves "
            "none; give other frames",
            action=name,
            first=first,
            last=last,
        )
    return start, end


def _manual(plays: Iterable[Play]) -> tuple[float, float] | None:
    for play in plays:
        if play.action is not None and play.action.use_frame_range:
            return play.action.frame_start, play.action.frame_end
    return None


def _keys(
    plays: Iterable[Play], followed: Collection[tuple[bpy.types.Object, str]] | None
) -> tuple[float, float] | None:
    """Return the times of the first and the last key of what is followed; None for that: of all channels."""
    ends = []
    for play in plays:
        bones = None if followed is None else [bone for ob, bone in followed if ob == play.owner]
        for holder, slot in versions.holders_of(play.action) if play.action is not None else ():
            for curve in holder.fcurves if slot == play.slot else ():
                if len(curve.keyframe_points) and (bones is None or _is_of(curve.data_path, bones)):
                    times = column(curve, "co")[:, 0]
                    ends += [float(times.min()), float(times.max())]
    return (min(ends), max(ends)) if ends else None


def _is_of(path: str, bones: Collection[str]) -> bool:
    """Return whether a path is of one of some bones, or for "" of the object itself."""
    if not path.startswith("pose.bones["):
        return "" in bones and not path.startswith(("ik2d", "["))
    return any(
        path.startswith(f'pose.bones["{bpy.utils.escape_identifier(bone)}"].') for bone in bones if bone
    )
