# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of mechanisms in the sidebar, and its lists. They only draw."""

from bpy.types import Context, Panel, PropertyGroup, UILayout, UIList

from ...core.words import say
from ...rig.chain.readable import unreadable
from ...ui.context import active_armature, active_mechanism, shown_mechanism
from ...ui.registration import registration
from ...ui.sidebar import Sidebar
from ...ui.text import bone_field, draw_text, field, fitting, for_settings
from ..baking.live import draw_listed, draw_live
from ..native.mechanism.operators import draw_native
from .editing import ram_of
from .selection import active_part
from .words import description, gap_words, joint_words, problem

TROUBLE = "the-machine-jams-tears-or-does-not-move"
_ICONS = {
    'PIN': 'PIVOT_INDIVIDUAL',
    'SLIDE': 'ARROW_LEFTRIGHT',
    'GUIDE': 'ARROW_LEFTRIGHT',
    'RAM': 'MOD_LENGTH',
    'GEAR': 'PREFERENCES',
}
# The part of the sidebar's width that a list's margins and its scroll bar take.
_MARGIN = 0.06


class IK2D_UL_mechanisms(UIList):
    """The mechanisms of a rig: enabled or not, name, whether it is faulty, and Live."""

    def draw_item(
        self, context, layout, data, item, _icon, _active_data, _active_property, _index=0, _flag=0
    ):
        draw_listed(layout, item, 'ERROR' if problem(item) else "")


class IK2D_UL_mechanism_joints(UIList):
    """The joints of a mechanism besides those at the bones' heads."""

    def draw_item(self, context, layout, data, item, _icon, _active_data, _active_property, index=0, _flag=0):
        row = layout.row(align=True)
        bones = item.bone, item.other or say("the frame")  # each is cut by itself where not all fits
        icon = _ICONS[item.kind]
        for text in [joint_words(item)] if _fits(context, item) else bones:
            row.label(text=text, translate=False, icon=icon)
            icon = 'NONE'
        _draw_remove(row, 'JOINT', index)


def _fits(context: Context, joint: PropertyGroup) -> bool:
    """Return whether the words on a joint fit its row in the list."""
    return bool(fitting(context, (joint_words(joint), ""), left=_MARGIN))


def _draw_remove(row: UILayout, what: str, index: int) -> None:
    button = row.operator("ik2d.mechanism_remove_item", text="", icon='X', emboss=False)
    button.what, button.index = what, index


class IK2D_PT_mechanism(Sidebar, Panel):
    """Machines whose loops are closed: bones that joints hold together, and what drives them"""

    bl_label = "Mechanism"
    bl_options = {'DEFAULT_CLOSED'}
    trouble = TROUBLE

    @classmethod
    def poll(cls, context):
        armature = active_armature(context)
        return armature is not None and not unreadable(armature)

    def draw_header_preset(self, context):
        if not active_armature(context).ik2d.mechanisms:  # closed, it is one row
            self.layout.operator("ik2d.mechanism_new", text="", icon='ADD', emboss=False)
        super().draw_header_preset(context)

    def draw(self, context):
        layout, armature = self.layout, active_armature(context)
        settings, mechanism = armature.ik2d, active_mechanism(armature)
        if not settings.mechanisms:
            layout.operator("ik2d.mechanism_new", icon='ADD')
            layout.operator("ik2d.mechanism_ram", icon='MOD_LENGTH')
            return
        row, rows = layout.row(), min(len(settings.mechanisms), 5)
        names = "mechanisms", settings, "active_mechanism"
        row.template_list("IK2D_UL_mechanisms", "", settings, *names, rows=rows)
        buttons = row.column(align=True)
        buttons.operator("ik2d.mechanism_new", text="", icon='ADD')
        buttons.operator("ik2d.mechanism_remove", text="", icon='REMOVE')
        if mechanism is None:
            return
        self._draw_state(layout.column(align=True), context, mechanism)
        draw_live(layout, context, mechanism, problem(mechanism))
        if mechanism.last_bake:
            sentence, *warnings = mechanism.last_bake.splitlines()
            sentence = sentence[:1].upper() + sentence[1:]
            draw_text(layout.column(), context, sentence, 'ERROR' if warnings else 'CHECKMARK')

    @staticmethod
    def _draw_state(column: UILayout, context: Context, mechanism: PropertyGroup) -> None:
        """Draw what a mechanism is, or what is wrong with it and what cures it."""
        if words := description(mechanism):
            draw_text(column, context, words, 'MOD_INSTANCE')
        if words := problem(mechanism):
            draw_text(column.box(), context, words, 'ERROR')
        if words := gap_words(mechanism):
            draw_text(column.box(), context, words, 'INFO')
            column.operator("ik2d.mechanism_close_rest", icon='CON_LOCLIKE')


class MechanismSidebar(Sidebar):
    """A panel for the mechanism that is shown."""

    bl_parent_id = "IK2D_PT_mechanism"
    trouble = TROUBLE

    @classmethod
    def poll(cls, context):
        return shown_mechanism(context) is not None


class IK2D_PT_mechanism_joints(MechanismSidebar, Panel):
    """Where bones of the active mechanism are joined, besides their heads"""

    bl_label = "Joints"

    def draw(self, context):
        layout, mechanism = self.layout, shown_mechanism(context)
        if len(mechanism.joints):
            names = "joints", mechanism, "active_joint"
            rows = min(len(mechanism.joints), 6)
            layout.template_list("IK2D_UL_mechanism_joints", "", mechanism, *names, rows=rows)
        if 0 <= mechanism.active_joint < len(mechanism.joints):
            self._draw_joint(layout.column(), context, mechanism.joints[mechanism.active_joint])
        grid = layout.grid_flow(row_major=True, columns=2, even_columns=True, align=True)
        grid.operator("ik2d.mechanism_pin", icon=_ICONS['PIN'])
        grid.operator("ik2d.mechanism_slide", icon=_ICONS['SLIDE'])
        grid.operator("ik2d.mechanism_ram", icon=_ICONS['RAM'])
        grid.operator("ik2d.mechanism_gear", icon=_ICONS['GEAR'])
        layout.operator("ik2d.mechanism_other_side", icon='MOD_MIRROR')

    @staticmethod
    def _draw_joint(column: UILayout, context: Context, joint: PropertyGroup) -> None:
        for_settings(column)
        if not _fits(context, joint):
            draw_text(column, context, joint_words(joint), _ICONS[joint.kind])
        if joint.kind == 'RAM':
            for index, end in enumerate((say("Stroke Min"), say("Max"))):
                column.prop(joint, "stroke", index=index, text=end, translate=False)
        elif joint.kind == 'GEAR':
            field(column, context, joint, "ratio")


class IK2D_PT_mechanism_drivers(MechanismSidebar, Panel):
    """What drives the active mechanism"""

    bl_label = "Driven By"

    def draw(self, context):
        layout, mechanism = self.layout, shown_mechanism(context)
        layout.use_property_split = True
        for index, driver in enumerate(mechanism.drivers):
            self._draw_driver(layout.column(align=True), context, driver, index)
        its, bone = active_part(context)
        is_ram = its == mechanism and ram_of(mechanism, bone) is not None
        row = layout.row(align=True)
        for by, icon in (('KEYS', 'KEY_HLT'), ('TARGET', 'OBJECT_ORIGIN')):
            own = say("Its Length") if is_ram else say("Its Keys")
            label = own if by == 'KEYS' else say("Target")
            row.operator("ik2d.mechanism_drive", text=label, translate=False, icon=icon).by = by

    @staticmethod
    def _draw_driver(column: UILayout, context: Context, driver: PropertyGroup, index: int) -> None:
        row = column.row(align=True)
        icon = {'TURN': 'BONE_DATA', 'RAM': 'MOD_LENGTH', 'TARGET': 'OBJECT_ORIGIN'}[driver.kind]
        row.label(text=driver.bone, translate=False, icon=icon)
        _draw_remove(row, 'DRIVER', index)
        if driver.kind == 'RAM':
            column.prop(driver, "length")
        elif driver.kind == 'TARGET':
            column.use_property_decorate = False
            field(column, context, driver, "target")
            bone_field(column, context, driver, "subtarget", driver.target)


class IK2D_PT_mechanism_options(MechanismSidebar, Panel):
    """What the active mechanism does at dead points, and how its bake is keyed"""

    bl_label = "Options"
    bl_options = {'DEFAULT_CLOSED'}

    def draw(self, context):
        layout, mechanism = for_settings(self.layout), shown_mechanism(context)
        field(layout, context, mechanism, "dead")
        if mechanism.dead == 'EASE':
            field(layout, context, mechanism, "softness")
        if any(driver.kind == 'TARGET' for driver in mechanism.drivers):
            field(layout, context, mechanism, "way")
        field(layout, context, mechanism, "open_between")
        layout.separator()
        draw_native(layout, context)


classes = (
    IK2D_UL_mechanisms,
    IK2D_UL_mechanism_joints,
    IK2D_PT_mechanism,
    IK2D_PT_mechanism_joints,
    IK2D_PT_mechanism_drivers,
    IK2D_PT_mechanism_options,
)
register, unregister = registration(classes)
