# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels of bakes: Bake, with its result, and Bake Options."""

from bpy.types import Context, Object, Panel, PropertyGroup, Scene, UILayout

from ...bake.actions.arguments import ALL, INTO_NEW
from ...bake.request import chosen_range
from ...core.swing import POLE, SWING
from ...core.words import say
from ...rig.animation.versions import played_action
from ...ui.context import active_armature, shown_chain
from ...ui.registration import registration
from ...ui.sidebar import RigSidebar
from ...ui.text import draw_text, field, fitting, for_settings
from .all_actions import ActionsToBake, actions_to_bake
from .before import shows_before
from .clips import ClipResult, baked_clips, other_action
from .live import can_be_live
from .operators import frozen_motion_notes, other_selected, replaced_by_bake, unmoved_by_bake
from .results import bake_is_stale, has_results, solve_is_stale, warnings_once

# Rows for chains that missed their target; the others are only counted.
_MISSED_ROWS = 4
# Rows for actions that were baked, and for reasons why some cannot be; the others are only counted.
_CLIP_ROWS, _PROBLEMS = 12, 3
# The part of the width that Live has next to Bake Again.
_LIVE = 0.35

HEADINGS = {
    "bake": "settings.bake_selected settings.chains_to_bake",
    "bake-into": "settings.actions_to_bake settings.assign_baked",
    "custom-range": "settings.frame_*",
    "reduce-keys": "settings.reduce_error",
}


class IK2D_PT_bake(RigSidebar, Panel):
    """Key the chains over a range of frames, and see what was reached"""

    bl_label = "Bake"
    trouble = "my-keys-are-gone-undo-a-bake-or-bake-to-a-new-action"

    def draw(self, context):
        layout, armature = for_settings(self.layout), active_armature(context)
        stale = bake_is_stale(armature, context.scene) if has_results(armature) else ""
        self._draw_range(layout.column(), context, armature.ik2d)
        self._draw_buttons(layout.column(align=True), context, armature, stale)
        draw_results(layout, context, armature, stale)
        chain = _chain_to_bake(context, armature.ik2d)
        _draw_actions(layout, context, actions_to_bake(armature, context.scene, chain))
        for note in (replaced_by_bake(armature, context.scene, chain), unmoved_by_bake(armature, chain)):
            if note and note not in armature.ik2d.last_bake:
                draw_text(layout.column(), context, note, 'INFO')
        for note in frozen_motion_notes(armature, context.scene):
            draw_text(layout.box(), context, note, 'INFO')

    @classmethod
    def _draw_buttons(cls, column: UILayout, context: Context, armature: Object, stale: str) -> None:
        """Draw the Bake button, with a choice between all chains and the active one, and Clear Bake."""
        settings, chain = armature.ik2d, shown_chain(context)
        if chain is not None and len(settings.chains) > 1:
            row = column.row(align=True)
            row.use_property_split = False
            row.prop(settings, "chains_to_bake", expand=True)
        cls._draw_bake(column, context, armature, stale)
        if other_selected(context):
            row = column.row()
            row.use_property_split = False
            row.prop(settings, "bake_selected")
        label = fitting(context, clear_labels(settings))
        clear = column.operator("ik2d.clear_bake", text=label, translate=False, icon='X')
        clear.actions = settings.actions_to_bake
        if shows_before(armature):
            label = say("Back to the Baked Action")
            column.operator("ik2d.show_before", text=label, translate=False, icon='LOOP_BACK')

    @staticmethod
    def _draw_bake(column: UILayout, context: Context, armature: Object, stale: str) -> None:
        """Draw the Bake button; with a bake that is out of date Bake Again, and Live next to it."""
        row = column.row(align=True)
        row.scale_y = 1.5
        labels = bake_labels(armature, context.scene, bool(stale))
        label = fitting(context, labels)
        icon, live = 'KEY_HLT', row
        if stale:
            label = fitting(context, labels, left=_LIVE)
            icon = 'NONE'
            if can_be_live(armature):
                parts = row.split(factor=1.0 - _LIVE, align=True)
                row, live = parts.row(align=True), parts.row(align=True)
        button = row.operator("ik2d.bake", text=label, translate=False, icon=icon)
        button.chain = _chain_to_bake(context, armature.ik2d)
        if live != row:
            live.operator("ik2d.live_again", text=say("Live"), translate=False, icon='PLAY')

    @staticmethod
    def _draw_range(column: UILayout, context: Context, settings: PropertyGroup) -> None:
        field(column, context, settings, "use_custom_range")
        if settings.use_custom_range:
            numbers = column.column(align=True)
            for name in ("frame_start", "frame_end", "frame_step"):
                field(numbers, context, settings, name)


class IK2D_PT_bake_options(RigSidebar, Panel):
    """Frames and channels that get keys, and how the bake is measured"""

    bl_parent_id = "IK2D_PT_bake"
    bl_label = "Bake Options"
    trouble = "the-bake-says-missed-out-of-reach-off-the-plane"
    bl_options = {'DEFAULT_CLOSED'}

    def draw(self, context):
        layout, settings = for_settings(self.layout), active_armature(context).ik2d
        for name in ("actions_to_bake", "bake_into"):
            field(layout.column(), context, settings, name)
        if settings.bake_into == INTO_NEW:
            field(layout, context, settings, "assign_baked")
        for name in ("on_target_keys", "single_axis", "use_reduce"):
            field(layout, context, settings, name)
        error = layout.column()
        error.enabled = settings.use_reduce
        field(error, context, settings, "reduce_error")
        if any(chain.plane in (SWING, POLE) for chain in settings.chains):
            field(layout, context, settings, "ease_flips")
        field(layout.column(), context, settings, "verify")


def _chain_to_bake(context: Context, settings: PropertyGroup) -> str:
    """Return the name of the only chain that the Bake button bakes; "" for all."""
    chain = shown_chain(context)
    alone = chain is not None and len(settings.chains) > 1 and settings.chains_to_bake == 'ACTIVE'
    return str(chain.name) if alone else ""


def clear_labels(settings: PropertyGroup) -> list[str]:
    """Return labels of Clear Bake, in fewer words, with the range that it clears if it is not all frames."""
    if settings.actions_to_bake == ALL:
        return [say("Clear Bake in All Actions"), say("Clear All Bakes")]
    if not settings.use_custom_range:
        return [say("Clear Bake")]
    return [say("Clear Bake, {start} to {end}", start=settings.frame_start, end=settings.frame_end)]


def bake_labels(armature: Object, scene: Scene, is_stale: bool) -> list[str]:
    """Return labels of the Bake button, in fewer and fewer words."""
    if armature.ik2d.actions_to_bake == ALL:
        return (
            [say("Bake All Again"), say("Bake Again")]
            if is_stale
            else [say("Bake All Actions"), say("Bake All")]
        )
    first, last, _step = chosen_range(armature, scene)
    if not is_stale:
        return [say("Bake {first} to {last}", first=first, last=last)]
    return [say("Bake Again {first} to {last}", first=first, last=last), say("Bake Again")]


def _draw_actions(layout: UILayout, context: Context, asked: ActionsToBake) -> None:
    """Draw which actions a bake of all takes, and why some cannot be baked."""
    if words := asked.sentence():
        draw_text(layout.column(), context, words, 'ACTION')
    for problem in asked.problems[:_PROBLEMS]:
        draw_text(layout.box(), context, problem, 'ERROR')


def draw_results(layout: UILayout, context: Context, armature: Object, stale: str) -> None:
    """Draw the result of the last bake in one line, and that of the last pose of this frame, if there is any.

    The line is there before the first bake too: nothing moves when there is a result. Details are folded.
    """
    settings, of_armature = armature.ik2d, has_results(armature)
    if of_armature and settings.last_bake:
        missed = [] if other_action(armature) else [c for c in settings.chains if c.missed_frames]
        _draw_result(layout, context, armature, "bake", stale, missed)
    else:
        row = layout.row()
        row.active = False
        row.label(text=say("Not baked yet"), translate=False, icon='BLANK1')
    if of_armature and settings.last_solve:
        _draw_result(layout, context, armature, "solve", solve_is_stale(armature, context.scene), [])


def _draw_result(
    layout: UILayout, context: Context, armature: Object, kind: str, stale: str, missed: list
) -> None:
    """Draw a result, "bake" or "solve": one line, below it sentence, missed frames and warnings, folded."""
    settings = armature.ik2d
    text, alert = getattr(settings, f"last_{kind}"), getattr(settings, f"last_{kind}_alert")
    sentence, *warnings = text.splitlines()
    header, body = layout.panel(f"ik2d_last_{kind}", default_closed=True)
    if stale:
        changed = say("Out of date: {stale} changed", stale=stale)
        lines = [changed, say("Changed: {stale}", stale=stale), say("Out of date")]
    else:
        lines = getattr(settings, f"last_{kind}_lines").splitlines() or [sentence]
    icon = 'FILE_REFRESH' if stale else 'ERROR' if alert else 'CHECKMARK'
    header.label(text=fitting(context, lines), translate=False, icon=icon)
    if body is None:
        return
    column = body.column()
    if stale:
        draw_text(column, context, say("Out of date: {stale} changed since.", stale=stale), 'FILE_REFRESH')
    words = column.column()
    words.active = not stale
    draw_text(words, context, sentence, 'ERROR' if alert else 'CHECKMARK')
    if kind == "bake":
        _draw_clips(words, context, baked_clips(settings))
    played = played_action(armature) if baked_clips(settings) else None
    _draw_missed(words, missed, played.name if played else "")
    for warning in warnings_once(warnings, [chain.name for chain in settings.chains]):
        draw_text(words, context, warning, 'ERROR')


def _draw_clips(column: UILayout, context: Context, clips: list[ClipResult]) -> None:
    """Draw a line for each action that was baked, those that miss first if there are many."""
    shown = clips
    if len(clips) > _CLIP_ROWS:
        shown = sorted(clips, key=lambda clip: clip.is_good)[:_CLIP_ROWS]
    for clip in shown:
        draw_text(column, context, clip.line, 'CHECKMARK' if clip.is_good else 'ERROR')
    if len(clips) > len(shown):
        column.label(text=say("and {count} more", count=len(clips) - len(shown)), translate=False)


def _draw_missed(column: UILayout, missed: list, action: str) -> None:
    """Draw the buttons that jump to missed frames, for each chain that has any. action: whose; "" for one."""
    for chain in missed[:_MISSED_ROWS]:
        if action or len(chain.id_data.ik2d.chains) > 1:
            where = say(" in '{action}'", action=action) if action else ""
            column.label(text=f"{chain.name}{where}", translate=False)
        row = column.row(align=True)
        label = say("Frame {frame}", frame=chain.worst_frame)
        go = row.operator("wm.context_set_int", text=label, translate=False, icon='TIME')
        go.data_path, go.value = "scene.frame_current", chain.worst_frame
        mark = {"text": say("Mark in Timeline"), "translate": False, "icon": 'MARKER_HLT'}
        row.operator("ik2d.mark_frames", **mark).chain = chain.name
    if len(missed) > _MISSED_ROWS:
        column.label(text=say("and {count} more", count=len(missed) - _MISSED_ROWS), translate=False)


classes = (IK2D_PT_bake, IK2D_PT_bake_options)
register, unregister = registration(classes)
