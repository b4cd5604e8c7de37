# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar tab and the menus. Everything here only draws, and looks at no key."""

from contextlib import ExitStack
from math import degrees

import bpy
from bpy.types import Context, Menu, Object, Panel, PropertyGroup, UILayout, UIList

from ...live.registry import problem_of_live
from ...rig.chain.chain import chosen_solver
from ...rig.chain.hands import hanging_bones
from ...rig.chain.native_state import stand_of
from ...rig.chain.renames import bones_of
from ...ui.registration import register_classes, registration, unregister_classes
from ...ui.text import draw_text, field, fits_as_name, row_or_column, text_width
from ..adopt.operators import IK2D_OT_adopt, IK2D_OT_release, draw_adopt
from ..baking.live import draw_live, draw_toggle
from ..baking.operators import IK2D_OT_bake, IK2D_OT_clear_bake, IK2D_OT_solve, frozen_motion_notes
from ..baking.results import (
    IK2D_OT_mark_frames,
    IK2D_OT_worst_frame,
    bake_is_stale,
    has_results,
    solve_is_stale,
)
from ..ccd_steps.operator import IK2D_OT_ccd_step
from ..doctor.findings import shared_bones
from ..doctor.mute_constraints import IK2D_OT_mute_rulers
from ..doctor.operators import draw_findings, problem_of
from ..doctor.plane_to_target import IK2D_OT_plane_to_target
from ..drag.operator import IK2D_OT_drag
from ..match.operators import draw_match
from ..native.operators import draw_changed, draw_controls, draw_native
from .chain_presets import IK2D_PT_presets
from .menus import IK2D_OT_mirror, draw_list_menu
from .operators import (
    IK2D_OT_chain_add,
    IK2D_OT_chain_move,
    IK2D_OT_chain_remove,
    IK2D_OT_flip,
    IK2D_OT_joints_update,
    IK2D_OT_limits_from_bones,
    active_armature,
    is_flipped,
    plan_in_words,
    shown_chain,
    why_not_add,
)

# A rig with more chains that missed than these gets a word instead of more rows.
_MISSED_ROWS = 4
_HOW_TO_START = (
    "Select the target, then Shift-click the armature, enter Pose Mode (Ctrl Tab) and click the last bone of"
    " the chain."
)


# --- Lists -------------------------------------------------------------------


class IK2D_UL_chains(UIList):
    """The chains of a rig: enabled or not, name, and a sign of how each stands."""

    def draw_item(
        self, context, layout, data, item, _icon, _active_data, _active_property, _index=0, _flag=0
    ):
        row = layout.row(align=True)
        row.prop(item, "enabled", text="")
        name = row.row(align=True)
        name.active = item.enabled
        name.prop(item, "name", text="", emboss=False)
        sign = sign_of(item)
        if sign:
            row.label(text="", icon=sign)
        draw_toggle(row, item)


def sign_of(chain: PropertyGroup) -> str:
    """Return the icon that says how a chain stands; "" where there is nothing to say."""
    if problem_of(chain) or problem_of_live(chain):
        return 'ERROR'
    if shared_bones(chain):
        return 'LINKED'
    if not chain.bake_mark or not has_results(chain.id_data):
        return ""
    return 'CHECKMARK' if chain.bake_reached else 'CANCEL'


class IK2D_UL_joints(UIList):
    """The joints of a chain, root to tip: limited or not, bone, and its range where there is room."""

    def draw_item(
        self, context, layout, data, item, _icon, _active_data, _active_property, _index=0, _flag=0
    ):
        layout.use_property_split = False
        row = layout.row(align=True)
        row.prop(item, "use_limit", text="")
        row.label(text=item.name)
        limits = f"{degrees(item.limit_min):.0f}° to {degrees(item.limit_max):.0f}°" if item.use_limit else ""
        if item.use_slide:
            limits = f"{limits}, slides" if limits else "slides"
        if limits:
            if fits_as_name(context, limits) and fits_as_name(context, item.name):
                right = row.row()
                right.alignment = 'RIGHT'
                right.label(text=limits)


# --- The sidebar -------------------------------------------------------------


class _Sidebar:
    bl_space_type = 'VIEW_3D'
    bl_region_type = 'UI'
    bl_category = "IK 2D"


class _ChainSidebar(_Sidebar):
    """A panel for the chain that is shown."""

    @classmethod
    def poll(cls, context):
        return shown_chain(context) is not None

    def settings(self, context: Context) -> tuple[UILayout, Object, PropertyGroup]:
        """Return the layout for settings, the armature and the chain that is shown."""
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        return self.layout, active_armature(context), shown_chain(context)


class IK2D_PT_main(_Sidebar, Panel):
    """The chains of the active armature, or of the one that follows the active object"""

    bl_idname = "IK2D_PT_main"
    bl_label = "Chains"
    bl_description = __doc__

    def draw_header_preset(self, context):
        armature = active_armature(context)
        if armature is not None and text_width(context, armature.name) < 0.5 * context.region.width:
            self.layout.label(text=armature.name, icon='ARMATURE_DATA')

    def draw(self, context):
        layout, armature = self.layout, active_armature(context)
        if armature is None or not armature.ik2d.chains:
            self._draw_start(context, armature)
            return
        settings = armature.ik2d
        row = layout.row()
        rows = 4 if len(settings.chains) > 1 else 2
        row.template_list("IK2D_UL_chains", "", settings, "chains", settings, "active_index", rows=rows)
        self._draw_list_buttons(row.column(align=True), len(settings.chains))

    def _draw_start(self, context: Context, armature: Object | None) -> None:
        """Draw how to get to the first chain, or what the button will make of the selection."""
        if armature is None or why_not_add(context):
            draw_text(self.layout, context, _HOW_TO_START, 'INFO')
        else:
            column = self.layout.column(align=True)
            column.label(text="New chain:")
            draw_text(column, context, plan_in_words(context), 'BONE_DATA')
        if armature is not None:
            self.layout.operator(IK2D_OT_chain_add.bl_idname, icon='ADD')

    @staticmethod
    def _draw_list_buttons(column: UILayout, count: int) -> None:
        column.operator(IK2D_OT_chain_add.bl_idname, text="", icon='ADD')
        column.operator(IK2D_OT_chain_remove.bl_idname, text="", icon='REMOVE')
        if count > 1:
            column.separator()
            column.operator(IK2D_OT_chain_move.bl_idname, text="", icon='TRIA_UP').direction = 'UP'
            column.operator(IK2D_OT_chain_move.bl_idname, text="", icon='TRIA_DOWN').direction = 'DOWN'
            draw_list_menu(column)


class IK2D_PT_chain(_ChainSidebar, Panel):
    """What the active chain consists of and follows"""

    bl_idname = "IK2D_PT_chain"
    bl_label = "Active Chain"
    bl_description = __doc__

    def draw_header_preset(self, _context):
        IK2D_PT_presets.draw_panel_header(self.layout)

    def draw(self, context):
        layout, armature, chain = self.settings(context)
        column = layout.column()
        bones = {"icon": 'BONE_DATA', "search": "bones"}
        field(column, context, chain, "tip", search_in=armature.pose, **bones)
        field(column, context, chain, "bone_count")
        column.separator()
        field(column, context, chain, "target")
        if chain.target is not None and chain.target.type == 'ARMATURE':
            field(column, context, chain, "subtarget", search_in=chain.target.data, **bones)
        elif chain.subtarget:  # of an earlier target: to be emptied
            field(column, context, chain, "subtarget", icon='BONE_DATA')
        column.separator()
        stand = stand_of(chain)
        draw_changed(column, context, chain)
        if stand is not None:
            draw_controls(column, chain, stand)
        else:
            field(column, context, chain, "softness")
            field(column, context, chain, "influence")
        if chain.hand_rotation != 'NONE' or has_hands(armature, chain):
            field(column, context, chain, "hand_rotation")
        column.separator()
        button = column.operator(IK2D_OT_flip.bl_idname, icon='MOD_MIRROR', depress=is_flipped(chain))
        button.chain = chain.name
        problem = draw_findings(layout, context, armature, chain)
        draw_live(layout, context, chain, problem)


class IK2D_PT_stretch(_ChainSidebar, Panel):
    """How far the bones of the active chain get longer or shorter to reach the target"""

    bl_idname = "IK2D_PT_stretch"
    bl_parent_id = "IK2D_PT_chain"
    bl_label = "Stretch"
    bl_description = __doc__
    bl_options = {'DEFAULT_CLOSED'}

    @classmethod
    def poll(cls, context):
        chain = shown_chain(context)
        return chain is not None and stand_of(chain) is None  # else its controls have it

    def draw(self, context):
        layout, _armature, chain = self.settings(context)
        column = layout.column()
        field(column, context, chain, "stretch")
        field(column, context, chain, "compress")
        if chain.stretch != 1.0 or chain.compress != 1.0:
            field(column, context, chain, "stretch_bones")


class IK2D_PT_joints(_ChainSidebar, Panel):
    """How far each joint of the active chain may turn, and how willingly"""

    bl_idname = "IK2D_PT_joints"
    bl_parent_id = "IK2D_PT_chain"
    bl_label = "Joints"
    bl_description = __doc__
    bl_options = {'DEFAULT_CLOSED'}

    def draw(self, context):
        layout, _armature, chain = self.settings(context)
        rows = max(2, min(len(chain.joints), 6))
        layout.template_list("IK2D_UL_joints", "", chain, "joints", chain, "active_joint", rows=rows)
        if 0 <= chain.active_joint < len(chain.joints):
            self._draw_joint(layout.column(), context, chain, chain.joints[chain.active_joint])
        layout.operator(IK2D_OT_limits_from_bones.bl_idname, icon='CON_ROTLIMIT')
        if chain.left_out:
            draw_text(layout, context, chain.left_out, 'INFO')

    @staticmethod
    def _draw_joint(column: UILayout, context: Context, chain: PropertyGroup, joint: PropertyGroup) -> None:
        limits = column.column(align=True)
        limits.active = joint.use_limit
        field(limits, context, joint, "limit_min")
        field(limits, context, joint, "limit_max")
        weight = column.column()
        weight.active = weight_counts(chain, joint)
        field(weight, context, joint, "weight")
        column.prop(joint, "use_slide")
        if joint.use_slide:
            slide = column.column(align=True)
            field(slide, context, joint, "slide_min")
            field(slide, context, joint, "slide_max")


def has_hands(armature: Object, chain: PropertyGroup) -> bool:
    """Return whether a bone hangs on the end of the chain's tip: a hand or a foot."""
    tip = armature.pose.bones.get(chain.tip) if armature.pose else None
    return tip is not None and bool(hanging_bones(tip))


def weight_counts(chain: PropertyGroup, joint: PropertyGroup) -> bool:
    """Return whether the joint's weight has an effect: two free bones have no choice how to share a turn."""
    if chain.solver == 'ARC':
        return False
    limited = any(other.use_limit for other in chain.joints)
    return solver_of(chain) != 'TWO_BONE' or limited or joint.weight == 0.0


def solver_of(chain: PropertyGroup) -> str:
    """Return the solver that solves the chain, where one is to be chosen too."""
    if chain.solver == 'AUTO':
        bones = bones_of(chain.id_data.data, chain.tip, chain.bone_count)
        return chosen_solver(len(bones), slides(chain))
    return chain.solver


def slides(chain: PropertyGroup) -> bool:
    """Return whether any bone of the chain may slide."""
    return any(joint.use_slide and (joint.slide_min or joint.slide_max) for joint in chain.joints)


def solver_name(chain: PropertyGroup, solver: str) -> str:
    """Return what the menu calls a solver, and that it keeps to limits where there are any."""
    name = chain.bl_rna.properties['solver'].enum_items[solver].name
    return f"{name}, within limits" if any(joint.use_limit for joint in chain.joints) else name


class IK2D_PT_solver(_ChainSidebar, Panel):
    """How the active chain is solved, and in which plane"""

    bl_idname = "IK2D_PT_solver"
    bl_parent_id = "IK2D_PT_chain"
    bl_label = "Solver"
    bl_description = __doc__
    bl_options = {'DEFAULT_CLOSED'}

    def draw(self, context):
        layout, _armature, chain = self.settings(context)
        column = layout.column()
        field(column, context, chain, "solver")
        solver = solver_of(chain)
        if chain.solver == 'AUTO':
            draw_text(column, context, f"Solver: {solver_name(chain, solver)}", 'BLANK1')
        field(column, context, chain, "plane")
        if chain.plane == 'CUSTOM':
            column.prop(chain, "plane_normal")
        elif chain.plane_taken:
            draw_text(column, context, f"Plane: {chain.plane_taken}", 'BLANK1')
        column.separator()
        if solver == 'EVEN':
            column.prop(chain, "root_turns_freely")
            if slides(chain):
                field(column, context, chain, "slide_weight")
        elif solver == 'CCD':
            field(column, context, chain, "start_from")
            field(column, context, chain, "iterations")
        field(column, context, chain, "tolerance")
        field(column, context, chain, "turn_over")


class _RigSidebar(_Sidebar):
    """A panel for all chains of the armature."""

    @classmethod
    def poll(cls, context):
        armature = active_armature(context)
        return armature is not None and len(armature.ik2d.chains) > 0


class IK2D_PT_bake(_RigSidebar, Panel):
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
        layout.operator(IK2D_OT_clear_bake.bl_idname, icon='X')
        for note in frozen_motion_notes(active_armature(context), context.scene):
            draw_text(layout.box(), context, note, 'INFO')

    @staticmethod
    def _draw_buttons(column: UILayout, context: Context, chain: str, which: str, height: float) -> None:
        """Draw Solve and Bake for one chain, or all."""
        labels = [f"Solve{which}", f"Bake{which}"]
        row = row_or_column(column, context, labels)
        row.scale_y = height
        row.operator(IK2D_OT_solve.bl_idname, text=labels[0], icon='POSE_HLT').chain = chain
        row.operator(IK2D_OT_bake.bl_idname, text=labels[1], icon='KEY_HLT').chain = chain

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


class IK2D_PT_bake_options(_RigSidebar, Panel):
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


class IK2D_PT_result(_RigSidebar, Panel):
    """What came of the last bake and the last solve, and whether it still holds"""

    bl_idname = "IK2D_PT_result"
    bl_label = "Result"
    bl_description = __doc__
    bl_order = 1  # below all others, so that it pushes no button

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
        """Draw a result in a box, grey where it no longer holds: the sentence, what it missed, warnings."""
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
        """Draw buttons for each chain that missed its target, which lead to these frames."""
        for chain in missed[:_MISSED_ROWS]:
            if len(chain.id_data.ik2d.chains) > 1:
                column.label(text=chain.name)
            labels = [f"Frame {chain.worst_frame}", "Mark"]
            row = row_or_column(column, context, labels)
            row.operator(IK2D_OT_worst_frame.bl_idname, text=labels[0], icon='TIME').chain = chain.name
            row.operator(IK2D_OT_mark_frames.bl_idname, text=labels[1], icon='MARKER_HLT').chain = chain.name
        if len(missed) > _MISSED_ROWS:
            column.label(text=f"and {len(missed) - _MISSED_ROWS} more")


# --- Menus: also what F3 searches --------------------------------------------


class IK2D_MT_menu(Menu):
    """Solve, bake and set up chains of bones that bend in a plane"""

    bl_idname = "IK2D_MT_menu"
    bl_label = "IK 2D"
    bl_description = __doc__

    def draw(self, _context):
        layout = self.layout
        layout.operator(IK2D_OT_solve.bl_idname, icon='POSE_HLT')
        layout.operator(IK2D_OT_bake.bl_idname, icon='KEY_HLT')
        layout.operator(IK2D_OT_clear_bake.bl_idname, icon='X')
        layout.operator(IK2D_OT_worst_frame.bl_idname, icon='TIME')
        layout.operator(IK2D_OT_mark_frames.bl_idname, icon='MARKER_HLT')
        layout.separator()
        layout.operator(IK2D_OT_chain_add.bl_idname, icon='ADD')
        layout.operator(IK2D_OT_chain_remove.bl_idname, icon='REMOVE')
        layout.operator(IK2D_OT_chain_move.bl_idname, text="Move Chain Up", icon='TRIA_UP').direction = 'UP'
        layout.operator(
            IK2D_OT_chain_move.bl_idname, text="Move Chain Down", icon='TRIA_DOWN'
        ).direction = 'DOWN'
        layout.operator(IK2D_OT_mirror.bl_idname, icon='MOD_MIRROR')
        layout.operator(IK2D_OT_adopt.bl_idname, icon='CON_KINEMATIC')
        layout.operator(IK2D_OT_adopt.bl_idname, text="Adopt All IK", icon='CON_KINEMATIC').all = True
        layout.operator(IK2D_OT_release.bl_idname, icon='LOOP_BACK')
        layout.operator(IK2D_OT_flip.bl_idname, icon='MOD_MIRROR')
        layout.operator(IK2D_OT_flip.bl_idname, text="Flip Over 10 Frames", icon='MOD_MIRROR').frames = 10
        layout.operator(IK2D_OT_drag.bl_idname, icon='VIEW_PAN')
        layout.operator(IK2D_OT_ccd_step.bl_idname, icon='CON_ROTLIKE')
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
    IK2D_PT_stretch,
    IK2D_PT_joints,
    IK2D_PT_solver,
    IK2D_PT_bake,
    IK2D_PT_bake_options,
    IK2D_PT_result,
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


# Each draws a row, from the file of the operators that are in it: (layout, context).
ROWS = (draw_adopt, draw_match, draw_native)


class IK2D_PT_rig(Panel):
    """Take over the IK that the rig has, leave it one of its own, and go between the two"""

    bl_idname = "IK2D_PT_rig"
    bl_space_type = 'VIEW_3D'
    bl_region_type = 'UI'
    bl_category = "IK 2D"
    bl_label = "Rig"
    bl_description = __doc__
    bl_options = {'DEFAULT_CLOSED'}

    @classmethod
    def poll(cls, context):
        return active_armature(context) is not None

    def draw(self, context):
        for draw_row in ROWS:
            draw_row(self.layout, context)


classes = (IK2D_PT_rig,)
register, unregister = registration(classes)
