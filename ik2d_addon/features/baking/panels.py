# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels of bakes: Bake, Bake Options and Result."""

from bpy.types import Context, Panel, PropertyGroup, UILayout

from ...ui.context import active_armature, shown_chain
from ...ui.registration import registration
from ...ui.sidebar import RigSidebar
from ...ui.text import draw_text, field, row_or_column
from .operators import frozen_motion_notes, other_selected
from .results import bake_is_stale, has_results, solve_is_stale

# Rows for chains that missed their target; the others are only counted.
_MISSED_ROWS = 4


class IK2D_PT_bake(RigSidebar, Panel):
    """Pose the chains at this frame, or key them over a range of frames"""

    bl_idname = "IK2D_PT_bake"
    bl_label = "Bake"
    bl_description = __doc__

    def draw(self, context):
        layout, settings = self.layout, active_armature(context).ik2d
        layout.use_property_split = True
        layout.use_property_decorate = False
        self._draw_range(layout.column(), context, settings)
        several = len(settings.chains) > 1
        buttons = layout.column(align=True)
        self._draw_buttons(buttons, context, "", " All" if several else "", 1.5)
        chain = shown_chain(context)
        if several and chain is not None:
            self._draw_buttons(buttons, context, chain.name, " Active", 1.0)
        if other_selected(context):
            row = layout.row()
            row.use_property_split = False
            row.prop(settings, "bake_selected")
        layout.operator("ik2d.clear_bake", icon='X')
        for note in frozen_motion_notes(active_armature(context), context.scene):
            draw_text(layout.box(), context, note, 'INFO')

    @staticmethod
    def _draw_buttons(column: UILayout, context: Context, chain: str, which: str, height: float) -> None:
        """Draw the Solve and Bake buttons of one chain, or of all."""
        labels = [f"Solve{which}", f"Bake{which}"]
        row = row_or_column(column, context, labels)
        row.scale_y = height
        row.operator("ik2d.solve", text=labels[0], icon='POSE_HLT').chain = chain
        row.operator("ik2d.bake", text=labels[1], icon='KEY_HLT').chain = chain

    @staticmethod
    def _draw_range(column: UILayout, context: Context, settings: PropertyGroup) -> None:
        own = settings.use_custom_range
        owner = settings if own else context.scene
        numbers = column.column(align=True)
        numbers.enabled = own
        field(numbers, context, owner, "frame_start", "Start")
        field(numbers, context, owner, "frame_end", "End")
        if own:
            field(numbers, context, owner, "frame_step", "Step")
        row = column.row()
        row.use_property_split = False
        row.prop(settings, "use_custom_range")


class IK2D_PT_bake_options(RigSidebar, Panel):
    """Which frames get keys, on which channels, and how the bake is measured"""

    bl_idname = "IK2D_PT_bake_options"
    bl_parent_id = "IK2D_PT_bake"
    bl_label = "Bake Options"
    bl_description = __doc__
    bl_options = {'DEFAULT_CLOSED'}

    def draw(self, context):
        layout, settings = self.layout, active_armature(context).ik2d
        layout.use_property_split = True
        layout.use_property_decorate = False
        ticks = layout.column()
        ticks.use_property_split = False
        ticks.prop(settings, "on_target_keys")
        ticks.prop(settings, "single_axis")
        ticks.prop(settings, "use_reduce")
        error = layout.column()
        error.enabled = settings.use_reduce
        field(error, context, settings, "reduce_error")
        field(layout.column(), context, settings, "verify")


class IK2D_PT_result(RigSidebar, Panel):
    """What came of the last bake and the last solve, and whether it still holds"""

    bl_idname = "IK2D_PT_result"
    bl_label = "Result"
    bl_description = __doc__
    bl_order = 2  # below all others, so that it moves no button

    @classmethod
    def poll(cls, context):
        armature = active_armature(context)
        if armature is None or not has_results(armature):
            return False
        return bool(armature.ik2d.last_bake or armature.ik2d.last_solve)

    def draw(self, context):
        armature = active_armature(context)
        settings, scene = armature.ik2d, context.scene
        if settings.last_bake:
            stale = bake_is_stale(armature, scene)
            missed = [chain for chain in settings.chains if chain.missed_frames]
            self._draw_result(context, settings.last_bake, settings.last_bake_alert, stale, missed)
        if settings.last_solve:
            stale = solve_is_stale(armature, scene)
            self._draw_result(context, settings.last_solve, settings.last_solve_alert, stale, [])

    def _draw_result(self, context: Context, text: str, alert: bool, stale: str, missed: list) -> None:
        """Draw a result in a box, grey if out of date: the sentence, missed frames, warnings."""
        box = self.layout.box().column()
        if stale:
            draw_text(box, context, f"Out of date: {stale} changed since.", 'FILE_REFRESH')
        words = box.column()
        words.active = not stale
        sentence, _, warnings = text.partition("\n")
        draw_text(words, context, sentence, 'ERROR' if alert else 'CHECKMARK')
        self._draw_missed(words, context, missed)
        if warnings:
            draw_text(words, context, warnings, 'ERROR')

    @staticmethod
    def _draw_missed(column: UILayout, context: Context, missed: list) -> None:
        """Draw the buttons that jump to missed frames, for each chain that has any."""
        for chain in missed[:_MISSED_ROWS]:
            if len(chain.id_data.ik2d.chains) > 1:
                column.label(text=chain.name)
            labels = [f"Frame {chain.worst_frame}", "Mark"]
            row = row_or_column(column, context, labels)
            row.operator("ik2d.worst_frame", text=labels[0], icon='TIME').chain = chain.name
            row.operator("ik2d.mark_frames", text=labels[1], icon='MARKER_HLT').chain = chain.name
        if len(missed) > _MISSED_ROWS:
            column.label(text=f"and {len(missed) - _MISSED_ROWS} more")


classes = (IK2D_PT_bake, IK2D_PT_bake_options, IK2D_PT_result)
register, unregister = registration(classes)
