# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels of bakes: Bake, with its result, and Bake Options."""

from bpy.types import Context, Object, Panel, PropertyGroup, UILayout

from ...bake.request import chosen_range
from ...core.swing import POLE, SWING
from ...core.words import say
from ...ui.context import active_armature, shown_chain
from ...ui.registration import registration
from ...ui.sidebar import RigSidebar
from ...ui.text import draw_text, field, fitting_icon, row_or_column
from .operators import frozen_motion_notes, other_selected
from .results import bake_is_stale, has_results, solve_is_stale

# Rows for chains that missed their target; the others are only counted.
_MISSED_ROWS = 4


class IK2D_PT_bake(RigSidebar, Panel):
    """Key the chains over a range of frames, and see what was reached"""

    bl_idname = "IK2D_PT_bake"
    bl_label = "Bake"
    bl_description = __doc__

    def draw(self, context):
        layout, armature = self.layout, active_armature(context)
        layout.use_property_split = True
        layout.use_property_decorate = False
        self._draw_range(layout.column(), context, armature.ik2d)
        self._draw_buttons(layout.column(align=True), context, armature)
        if has_results(armature):
            draw_results(layout.column(), context, armature)
        for note in frozen_motion_notes(armature, context.scene):
            draw_text(layout.box(), context, note, 'INFO')

    @staticmethod
    def _draw_buttons(column: UILayout, context: Context, armature: Object) -> None:
        """Draw the Bake button, with a choice between all chains and the active one, and Clear Bake."""
        settings, chain = armature.ik2d, shown_chain(context)
        several = len(settings.chains) > 1 and chain is not None
        if several:
            row = column.row(align=True)
            row.use_property_split = False
            row.prop(settings, "chains_to_bake", expand=True)
        button = column.column(align=True)
        button.scale_y = 1.5
        active = several and settings.chains_to_bake == 'ACTIVE'
        first, last, _step = chosen_range(armature, context.scene)
        label = say("Bake {first} to {last}", first=first, last=last)
        button.operator(
            "ik2d.bake", text=label, translate=False, icon=fitting_icon(context, label, 'KEY_HLT')
        ).chain = chain.name if active else ""
        if other_selected(context):
            row = column.row()
            row.use_property_split = False
            row.prop(settings, "bake_selected")
        label = clear_label(settings)
        column.operator(
            "ik2d.clear_bake", text=label, translate=False, icon=fitting_icon(context, label, 'X')
        )

    @staticmethod
    def _draw_range(column: UILayout, context: Context, settings: PropertyGroup) -> None:
        field(column, context, settings, "use_custom_range")
        if settings.use_custom_range:
            numbers = column.column(align=True)
            for name in ("frame_start", "frame_end", "frame_step"):
                field(numbers, context, settings, name)


class IK2D_PT_bake_options(RigSidebar, Panel):
    """Frames and channels that get keys, and how the bake is measured"""

    bl_idname = "IK2D_PT_bake_options"
    bl_parent_id = "IK2D_PT_bake"
    bl_label = "Bake Options"
    bl_description = __doc__
    bl_options = {'DEFAULT_CLOSED'}

    def draw(self, context):
        layout, settings = self.layout, active_armature(context).ik2d
        layout.use_property_split = True
        layout.use_property_decorate = False
        for name in ("on_target_keys", "single_axis", "use_reduce"):
            field(layout, context, settings, name)
        error = layout.column()
        error.enabled = settings.use_reduce
        field(error, context, settings, "reduce_error")
        if any(chain.plane in (SWING, POLE) for chain in settings.chains):
            field(layout, context, settings, "ease_flips")
        field(layout.column(), context, settings, "verify")


def clear_label(settings: PropertyGroup) -> str:
    """Return the label of Clear Bake, with the range that it clears if it is not all frames."""
    if not settings.use_custom_range:
        return say("Clear Bake")
    return say("Clear Bake, {start} to {end}", start=settings.frame_start, end=settings.frame_end)


def draw_results(layout: UILayout, context: Context, armature: Object) -> None:
    """Draw the results of the last bake and of the last pose of this frame, each in a box."""
    settings, scene = armature.ik2d, context.scene
    if settings.last_bake:
        stale = bake_is_stale(armature, scene)
        missed = [chain for chain in settings.chains if chain.missed_frames]
        _draw_result(layout, context, settings.last_bake, settings.last_bake_alert, stale, missed)
    if settings.last_solve:
        stale = solve_is_stale(armature, scene)
        _draw_result(layout, context, settings.last_solve, settings.last_solve_alert, stale, [])


def _draw_result(
    layout: UILayout, context: Context, text: str, alert: bool, stale: str, missed: list
) -> None:
    """Draw a result in a box, grey if out of date: the sentence, missed frames, warnings."""
    box = layout.box().column()
    if stale:
        draw_text(box, context, say("Out of date: {stale} changed since.", stale=stale), 'FILE_REFRESH')
    words = box.column()
    words.active = not stale
    sentence, _, warnings = text.partition("\n")
    draw_text(words, context, sentence, 'ERROR' if alert else 'CHECKMARK')
    _draw_missed(words, context, missed)
    if warnings:
        draw_text(words, context, warnings, 'ERROR')


def _draw_missed(column: UILayout, context: Context, missed: list) -> None:
    """Draw the buttons that jump to missed frames, for each chain that has any."""
    for chain in missed[:_MISSED_ROWS]:
        if len(chain.id_data.ik2d.chains) > 1:
            column.label(text=chain.name, translate=False)
        labels = [say("Frame {frame}", frame=chain.worst_frame), say("Mark in Timeline")]
        row = row_or_column(column, context, labels)
        row.operator("ik2d.worst_frame", text=labels[0], translate=False, icon='TIME').chain = chain.name
        row.operator(
            "ik2d.mark_frames",
            text=labels[1],
            translate=False,
            icon=fitting_icon(context, labels[1], 'MARKER_HLT', in_box=True),
        ).chain = chain.name
    if len(missed) > _MISSED_ROWS:
        column.label(text=say("and {count} more", count=len(missed) - _MISSED_ROWS), translate=False)


classes = (IK2D_PT_bake, IK2D_PT_bake_options)
register, unregister = registration(classes)
