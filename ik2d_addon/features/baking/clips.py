# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of bakes by their actions, stored on the rig: a line for each, and which the chains show."""

import json
from dataclasses import asdict, dataclass

from bpy.types import Object, PropertyGroup

from ...bake import BakeReport
from ...core.words import noted
from ...rig.animation.versions import played_action

BAKED_TOO = "baked too"
_ANOTHER = noted("the action")


@dataclass(frozen=True)
class ClipResult:
    """The result of a bake in one action."""

    action: str  # that has the keys
    source: str  # that was baked
    line: str  # its name with the result
    is_good: bool


def shown_clip(armature: Object, report: BakeReport) -> tuple[BakeReport, bool]:
    """Return the report of the action that an armature plays, whose results its chains show.

    Whether that is so, too: without one it is the report of one that misses, or of the first one.
    """
    played = _played(armature)
    for clip in report.by_action:
        if not report.actions or played in (clip.action, clip.source_action):
            return clip, True
    return min(report.by_action, key=lambda clip: clip.is_good), False


def clips_as_json(armature: Object, report: BakeReport) -> str:
    """Return the results of a bake's actions, and which the armature plays, to be stored."""
    clips = [
        ClipResult(clip.action, clip.source_action, clip.action_line(), clip.is_good and not clip.warnings)
        for clip in report.actions
    ]
    return json.dumps([_played(armature), [asdict(clip) for clip in clips]])


def baked_clips(settings: PropertyGroup) -> list[ClipResult]:
    """Return the result of each action of the last bake; none where it was of one, or they are damaged."""
    return _read(settings)[1]


def other_action(armature: Object) -> str:
    """Return "" if an armature plays the action that its chains' results are of, or if that is not known.

    BAKED_TOO for another one that the same bake has keyed; "the action" for any other.
    """
    before, clips = _read(armature.ik2d)
    played = _played(armature)
    if before in (None, played):
        return ""
    return BAKED_TOO if any(played in (clip.action, clip.source) for clip in clips) else _ANOTHER


def _read(settings: PropertyGroup) -> tuple[str | None, list[ClipResult]]:
    try:
        played, clips = json.loads(settings.last_bake_clips)
        found = [
            ClipResult(
                str(clip["action"]),
                str(clip["source"]),
                str(clip["line"]),
                bool(clip["is_good"]),
            )
            for clip in clips
        ]
    except (ValueError, TypeError, LookupError):
        return None, []
    return str(played), found


def _played(armature: Object) -> str:
    action = played_action(armature)
    return action.name if action is not None else ""
