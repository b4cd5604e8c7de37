# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar tab and the menus. Everything here only draws."""

from collections.abc import Callable
from contextlib import ExitStack

import blf
import bpy
from bpy.types import Context, Menu, Panel, UILayout, UIList

from ..rig.armature import problem_of
from .baking import IK2D_OT_bake, IK2D_OT_solve
from .chains import (
    IK2D_OT_chain_add,
    IK2D_OT_chain_move,
    IK2D_OT_chain_remove,
    IK2D_OT_joints_update,
    IK2D_OT_limits_from_bones,
    active_armature,
    active_chain,
)
from .plane import IK2D_OT_plane_to_target
from .properties import joints_missing
from .registration import register_classes, unregister_classes
from .results import IK2D_OT_mark_frames, IK2D_OT_worst_frame
from .rulers import IK2D_OT_mute_rulers, ruler_lines

# A rig with more chains that missed than these gets a word instead of more rows.
_MISSED_ROWS = 4

# --- Text that fits the sidebar ----------------------------------------------


def wrapped(text: str, width: float, measure: Callable[[str], float]) -> list[str]:
    """Break text between words into lines no wider than `width`; a word that is wider itself is cut."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if measure(longer) <= width:
            lines[-1] = longer
            continue
        if lines[-1]:
            lines.append("")
        for letter in word:
            if lines[-1] and measure(lines[-1] + letter) > width:
                lines.append("")
            lines[-1] += letter
    return lines


def draw_text(layout: UILayout, context: Context, text: str, icon: str) -> None:
    """Draw paragraphs over as many lines as the sidebar's width asks for."""
    system, style = context.preferences.system, context.preferences.ui_styles[0]
    blf.size(0, style.widget.points * system.ui_scale)
    button = 20 * system.ui_scale
    # Not text in a line are the tabs, the margins of the panel and of a box, and the icon.
    width = max(sidebar_width(context) - 4.6 * button, 4 * button)
    column = layout.column(align=True)
    column.scale_y = 0.8
    for paragraph in text.splitlines():
        sign = icon
        for line in wrapped(paragraph, width, lambda line: blf.dimensions(0, line)[0]):
            column.label(text=line, icon=sign)
            sign = 'BLANK1'  # below an icon the text keeps its left edge


def sidebar_width(context: Context) -> float:
    """Return the sidebar's width in the pixels that its text is measured in, whatever its zoom."""
    region = context.region
    if region is None:
        return 280.0
    view = region.view2d
    return view.region_to_view(region.width, 0)[0] - view.region_to_view(0, 0)[0]


# --- The sidebar -------------------------------------------------------------


class IK2D_UL_chains(UIList):
    """The chains of a rig: enabled or not, name, and a sign where one is not complete."""

    def draw_item(
        self, _context, layout, data, item, _icon, _active_data, _active_property, _index=0, _flag=0
    ):
        row = layout.row(align=True)
        row.prop(item, "enabled", text="")
        name = row.row(align=True)
        name.active = item.enabled
        name.prop(item, "name", text="", emboss=False)
        if problem_of(data.id_data, item):
            row.label(text="", icon='ERROR')


class IK2D_UL_joints(UIList):
    """The joints of a chain, root to tip: bone, and what limits it."""

    def draw_item(
        self, _context, layout, data, item, _icon, _active_data, _active_property, _index=0, _flag=0
    ):
        layout.use_property_split = False
        row = layout.split(factor=0.36, align=True)
        row.label(text=item.name)
        limit = row.row(align=True)
        limit.prop(item, "use_limit", text="" if item.use_limit else "Limit")
        if item.use_limit:
            limit.prop(item, "limit_min", text="")
            limit.prop(item, "limit_max", text="")


class _Sidebar:
    bl_space_type = 'VIEW_3D'
    bl_region_type = 'UI'
    bl_category = "IK 2D"


class _ChainSidebar(_Sidebar):
    """A panel for the active chain of the active armature."""

    @classmethod
    def poll(cls, context):
        armature = active_armature(context)
        return armature is not None and active_chain(armature) is not None

    def settings(self, context: Context) -> tuple[UILayout, bpy.types.Object, bpy.types.PropertyGroup]:
        """Return the layout for settings, the armature and its active chain."""
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        armature = active_armature(context)
        return self.layout, armature, active_chain(armature)


class IK2D_PT_main(_Sidebar, Panel):
    """The chains of the active armature."""

    bl_idname = "IK2D_PT_main"
    bl_label = "Chains"

    def draw_header_preset(self, context):
        armature = active_armature(context)
        if armature is not None:
            self.layout.label(text=armature.name, icon='ARMATURE_DATA')

    def draw(self, context):
        layout, armature = self.layout, active_armature(context)
        if armature is None:
            draw_text(layout, context, "Make an armature the active object to see its chains.", 'INFO')
            return
        settings = armature.ik2d
        if not settings.chains:
            hint = "Select the target, then in Pose Mode the last bone of the chain."
            draw_text(layout, context, hint, 'INFO')
            layout.operator(IK2D_OT_chain_add.bl_idname, icon='ADD')
            return
        row = layout.row()
        rows = 4 if len(settings.chains) > 1 else 2
        row.template_list("IK2D_UL_chains", "", settings, "chains", settings, "active_index", rows=rows)
        self._draw_list_buttons(row.column(align=True), len(settings.chains))

    @staticmethod
    def _draw_list_buttons(column: UILayout, count: int) -> None:
        column.operator(IK2D_OT_chain_add.bl_idname, text="", icon='ADD')
        column.operator(IK2D_OT_chain_remove.bl_idname, text="", icon='REMOVE')
        if count > 1:
            column.separator()
            column.operator(IK2D_OT_chain_move.bl_idname, text="", icon='TRIA_UP').direction = 'UP'
            column.operator(IK2D_OT_chain_move.bl_idname, text="", icon='TRIA_DOWN').direction = 'DOWN'


class IK2D_PT_chain(_ChainSidebar, Panel):
    """What the active chain consists of and follows."""

    bl_idname = "IK2D_PT_chain"
    bl_label = "Active Chain"

    def draw(self, context):
        layout, armature, chain = self.settings(context)
        column = layout.column()
        column.prop_search(chain, "tip", armature.pose, "bones", icon='BONE_DATA')
        column.prop(chain, "bone_count")
        column.separator()
        column.prop(chain, "target")
        if chain.target is not None and chain.target.type == 'ARMATURE':
            column.prop_search(chain, "subtarget", chain.target.data, "bones", icon='BONE_DATA')
        elif chain.subtarget:  # of an earlier target: to be emptied
            column.prop(chain, "subtarget", icon='BONE_DATA')
        column.separator()
        column.row().prop(chain, "bend", expand=True)
        column.prop(chain, "softness")
        column.prop(chain, "influence")
        problem = problem_of(armature, chain)
        if problem:
            draw_text(layout, context, problem, 'ERROR')
        rulers = ruler_lines(context, armature, chain)
        if rulers:
            draw_text(layout, context, "\n".join(rulers), 'ERROR')
            layout.operator(IK2D_OT_mute_rulers.bl_idname, icon='HIDE_ON')
        if not problem and (len(armature.ik2d.chains) > 1 or not armature.ik2d.last_bake):
            # For a single chain that was baked the Bake panel says the same.
            draw_text(layout, context, chain.last_result, 'INFO')
        if chain.is_off_plane:
            layout.operator(IK2D_OT_plane_to_target.bl_idname, icon='ORIENTATION_NORMAL')


class IK2D_PT_joints(_ChainSidebar, Panel):
    """What each joint of the active chain may do."""

    bl_idname = "IK2D_PT_joints"
    bl_parent_id = "IK2D_PT_chain"
    bl_label = "Joints"
    bl_options = {'DEFAULT_CLOSED'}

    def draw(self, context):
        layout, _armature, chain = self.settings(context)
        if joints_missing(chain):
            draw_text(layout, context, "The joints do not match the chain's bones.", 'INFO')
            layout.operator(IK2D_OT_joints_update.bl_idname, icon='FILE_REFRESH')
        rows = max(2, min(len(chain.joints), 6))
        layout.template_list("IK2D_UL_joints", "", chain, "joints", chain, "active_joint", rows=rows)
        if chain.active_joint < len(chain.joints):
            layout.prop(chain.joints[chain.active_joint], "weight")
        layout.operator(IK2D_OT_limits_from_bones.bl_idname, icon='CON_ROTLIMIT')


class IK2D_PT_solver(_ChainSidebar, Panel):
    """How the active chain is solved."""

    bl_idname = "IK2D_PT_solver"
    bl_parent_id = "IK2D_PT_chain"
    bl_label = "Solver"
    bl_options = {'DEFAULT_CLOSED'}

    def draw(self, context):
        layout, _armature, chain = self.settings(context)
        column = layout.column()
        column.prop(chain, "solver")
        column.prop(chain, "plane")
        if chain.plane == 'CUSTOM':
            column.prop(chain, "plane_normal")
        elif chain.plane_taken:
            draw_text(column, context, f"Plane: {chain.plane_taken}", 'BLANK1')
        column.separator()
        ccd = column.column()
        ccd.active = chain.solver != 'TWO_BONE'
        ccd.prop(chain, "iterations")
        ccd.prop(chain, "tolerance")


class IK2D_PT_bake(_Sidebar, Panel):
    """Solve, bake, and what came of it."""

    bl_idname = "IK2D_PT_bake"
    bl_label = "Bake"

    @classmethod
    def poll(cls, context):
        return active_armature(context) is not None

    def draw(self, context):
        layout, settings = self.layout, active_armature(context).ik2d
        layout.use_property_split = True
        layout.use_property_decorate = False
        self._draw_range(layout.column(), context.scene, settings)
        row = layout.row()
        row.scale_y = 1.5
        row.operator(IK2D_OT_solve.bl_idname, icon='POSE_HLT')
        row.operator(IK2D_OT_bake.bl_idname, icon='KEY_HLT')
        if settings.last_bake:
            box = layout.box()
            draw_text(box, context, settings.last_bake, 'ERROR' if settings.last_bake_alert else 'INFO')
            missed = [chain for chain in settings.chains if chain.missed_frames]
            if missed:
                self._draw_missed(box.column(align=True), missed, len(settings.chains) > 1)

    @staticmethod
    def _draw_missed(column: UILayout, missed: list, named: bool) -> None:
        """Draw a row for each chain that missed its target: buttons that lead to these frames."""
        for chain in missed[:_MISSED_ROWS]:
            row = column.row(align=True)
            if named:
                row.label(text=chain.name)
            text = f"Frame {chain.worst_frame}"
            row.operator(IK2D_OT_worst_frame.bl_idname, text=text, icon='TIME').chain = chain.name
            row.operator(
                IK2D_OT_mark_frames.bl_idname, text="Mark Frames", icon='MARKER_HLT'
            ).chain = chain.name
        if len(missed) > _MISSED_ROWS:
            column.label(text=f"and {len(missed) - _MISSED_ROWS} more chains")

    @staticmethod
    def _draw_range(column: UILayout, scene: bpy.types.Scene, settings) -> None:
        owner = settings if settings.use_custom_range else scene
        frames = column.row(align=True, heading="Frames")
        frames.prop(settings, "use_custom_range", text="")
        numbers = frames.row(align=True)
        numbers.enabled = settings.use_custom_range
        numbers.prop(owner, "frame_start", text="")
        numbers.prop(owner, "frame_end", text="")
        if settings.use_custom_range:
            column.prop(settings, "frame_step", text="Step")


class IK2D_PT_bake_options(_Sidebar, Panel):
    """What a bake does beyond keying every frame."""

    bl_idname = "IK2D_PT_bake_options"
    bl_parent_id = "IK2D_PT_bake"
    bl_label = "Bake Options"
    bl_options = {'DEFAULT_CLOSED'}

    def draw(self, context):
        layout, settings = self.layout, active_armature(context).ik2d
        layout.use_property_split = True
        layout.use_property_decorate = False
        column = layout.column()
        column.prop(settings, "on_target_keys")
        column.prop(settings, "use_reduce")
        error = column.column()
        error.enabled = settings.use_reduce
        error.prop(settings, "reduce_error")
        column.separator()
        column.prop(settings, "single_axis")
        column.prop(settings, "verify")


# --- Menus: also what F3 searches --------------------------------------------


class IK2D_MT_menu(Menu):
    """All that IK 2D does, in Pose Mode and Object Mode."""

    bl_idname = "IK2D_MT_menu"
    bl_label = "IK 2D"

    def draw(self, _context):
        layout = self.layout
        layout.operator(IK2D_OT_solve.bl_idname, icon='POSE_HLT')
        layout.operator(IK2D_OT_bake.bl_idname, icon='KEY_HLT')
        layout.operator(IK2D_OT_worst_frame.bl_idname, icon='TIME')
        layout.operator(IK2D_OT_mark_frames.bl_idname, icon='MARKER_HLT')
        layout.separator()
        layout.operator(IK2D_OT_chain_add.bl_idname, icon='ADD')
        layout.operator(IK2D_OT_chain_remove.bl_idname, icon='REMOVE')
        layout.operator(IK2D_OT_chain_move.bl_idname, text="Move Chain Up", icon='TRIA_UP').direction = 'UP'
        layout.operator(
            IK2D_OT_chain_move.bl_idname, text="Move Chain Down", icon='TRIA_DOWN'
        ).direction = 'DOWN'
        layout.separator()
        layout.operator(IK2D_OT_limits_from_bones.bl_idname, icon='CON_ROTLIMIT')
        layout.operator(IK2D_OT_joints_update.bl_idname, icon='FILE_REFRESH')
        layout.operator(IK2D_OT_mute_rulers.bl_idname, icon='HIDE_ON')
        layout.operator(IK2D_OT_plane_to_target.bl_idname, icon='ORIENTATION_NORMAL')


def draw_menu(menu: Menu, context: Context) -> None:
    """Add the IK 2D menu to Pose and, where an armature is active, to Object."""
    if active_armature(context) is not None:
        menu.layout.separator()
        menu.layout.menu(IK2D_MT_menu.bl_idname)


MENUS = ("VIEW3D_MT_pose", "VIEW3D_MT_object")
classes = (
    IK2D_UL_chains,
    IK2D_UL_joints,
    IK2D_PT_main,
    IK2D_PT_chain,
    IK2D_PT_joints,
    IK2D_PT_solver,
    IK2D_PT_bake,
    IK2D_PT_bake_options,
    IK2D_MT_menu,
)


def register() -> None:
    """Register the panels and add the menu to Blender's own."""
    with ExitStack() as undo:
        register_classes(classes)
        undo.callback(unregister_classes, classes)
        for menu in [getattr(bpy.types, name) for name in MENUS]:
            menu.append(draw_menu)
            undo.callback(menu.remove, draw_menu)
        undo.pop_all()


def unregister() -> None:
    """Take the menu out of Blender's own and unregister the panels."""
    for name in MENUS:
        getattr(bpy.types, name).remove(draw_menu)
    unregister_classes(classes)
