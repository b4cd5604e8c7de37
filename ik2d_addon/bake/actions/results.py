# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of a bake of clips: which actions hold the keys, and which are assigned afterwards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import bpy

from ...core.affine import changed
from ...rig.animation import versions
from ..reporting.report import BakeReport
from .clips import Clip
from .copies import Copies
from .planning import ActionsAsked


@dataclass(frozen=True)
class BakedClip:
    """A clip that was baked."""

    clip: Clip  # as it was asked for
    reports: Mapping[bpy.types.Object, BakeReport]
    holders: Mapping[
        bpy.types.Object, bpy.types.Action | None
    ]  # the actions that hold the keys of each armature

    @classmethod
    def now(cls, clip: Clip, reports: Mapping[bpy.types.Object, BakeReport]) -> "BakedClip":
        """Return it while the armatures play what was baked."""
        return cls(clip, reports, {armature: versions.played_action(armature) for armature in clip.baked})

    def report(self, copies: Copies) -> BakeReport:
        """Return its report, with the names of the actions, and of copies that stay next to new ones."""
        parts = []
        for armature in self.clip.baked:
            report, holder, source = (
                self.reports[armature],
                self.holders[armature],
                self.clip.source(armature),
            )
            name = holder.name if holder is not None else ""
            parts.append(
                changed(
                    report,
                    action=name,
                    source_action=source.name if source is not None else name,
                    rig_warnings=(*report.rig_warnings, *copies.notes_on(holder)),
                )
            )
        return BakeReport.joined(parts)


def finish(
    armatures: Sequence[bpy.types.Object],
    clips: list[BakedClip],
    copies: Copies,
    asked: ActionsAsked,
    assign: bool | None,
) -> BakeReport:
    """Keep new actions, assign those that are to be, and return the report. assign: as `assign_baked`."""
    for baked in clips:
        for armature, action in baked.holders.items():
            if action is not None and baked.clip.source(armature) is None and asked.actions is not None:
                action.name, action.use_fake_user = baked.clip.name or action.name, True
    if assign is None:
        assign = asked.actions is None
    if assign or asked.actions is None:
        _assign(clips, copies, assign)
    bpy.context.view_layer.update()
    reports = [baked.report(copies) for baked in clips]
    return (
        reports[0]
        if asked.actions is None
        else BakeReport.over_actions(reports, [armature.name for armature in armatures])
    )


def _assign(clips: list[BakedClip], copies: Copies, assign: bool) -> None:
    """Assign the copies of what armatures play.

    One that plays nothing gets the action that was made for it, or that goes with what its targets play.
    """
    for baked in clips:
        for armature, holder in baked.holders.items():
            played = versions.played_action(armature)
            is_shown = played is None and baked.clip.others_play_now
            if holder is None or not (is_shown or played == baked.clip.source(armature)):
                continue
            if played is None or (assign and copies.of(played) is not None):
                if played is not None and played.users == 1 and played.is_editable:  # else the file loses it
                    played.use_fake_user = True
                animation = armature.animation_data or armature.animation_data_create()
                slot = versions.slot_played(animation) or f"OB{armature.name}"
                versions.assign_action(animation, holder, slot)
