# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels of chains in the sidebar. They only draw, and read no keys."""

from math import degrees

from bpy.types import Context, Object, Panel, PropertyGroup, UILayout

from ...core import IK2DError
from ...core.words import noted, say
from ...rig.chain.native_state import shown
from ...rig.chain.planes import FOLLOWING
from ...rig.chain.readable import unreadable
from ...rig.chain.slides import may_slide
from ...ui.context import active_armature
from ...ui.manual import draw_help
from ...ui.parts import named
from ...ui.registration import registration
from ...ui.sidebar import ChainSidebar, Sidebar
from ...ui.text import bone_field, draw_text, draw_value, field, text_width
from ..baking.live import draw_live
from ..doctor.operators import cached_problem, draw_findings, read
from ..foot.operators import draw_foot
from ..keying.operators import draw_key_target
from ..native.operators import draw_bend, draw_bend_control, draw_changed, draw_setting
from ..overlay.chain_view import view_chain
from ..plant.operators import draw_plant
from ..pole.pole import draw_pole
from ..post.settings import draw_post
from ..tip_angle.settings import draw_tip_angle
from ..two_targets.operators import draw_targets
from .adding import draw_add, offers_another
from .chain_presets import IK2D_PT_presets
from .selection import why_not_add
from .solver import solver_of
from .straight_limb import draw_straight

HEADINGS = {
    "chains": "chain.enabled",
    "live": "preferences.live_at_once",
    "target-and-bone": "chain.target chain.subtarget",
    "bends-in": "chain.plane_normal chain.swing_normal",
    "planes-that-follow": "chain.plane_turn",
    "bend": "chain.shown_bend",
    "stretch": "chain.stretch_bones chain.compress",
    "limit": "joint.limit_*",
    "slide": "joint.slide_m*",
    "foot-or-hand": "chain.hand_*",
    "iterations-and-reached-within": "chain.iterations chain.tolerance",
}
_HOW_TO_START = noted(
    "Select the armature, enter Pose Mode (Ctrl Tab), click the last bone of a limb or "
    "select all of its bones, and press Add Chain."
)


class IK2D_PT_main(Sidebar, Panel):
    """The chains of the active armature, or of the one that follows the active object"""

    bl_label = "Chains"

    def draw_header_preset(self, context):
        row, armature = self.layout.row(align=True), active_armature(context)
        if armature is not None and text_width(context, armature.name) < 0.5 * context.region.width:
            row.label(text=armature.name, translate=False, icon='ARMATURE_DATA')
        draw_help(row)

    def draw(self, context):
        layout, armature = self.layout, active_armature(context)
        if armature is not None and (words := unreadable(armature)):
            draw_text(layout, context, words, 'ERROR')
            return
        if armature is None or not armature.ik2d.chains:
            self._draw_start(context, armature)
            return
        settings = armature.ik2d
        row = layout.row()
        rows = min(max(len(settings.chains), 5), 8) if len(settings.chains) > 1 else 2
        row.template_list("IK2D_UL_chains", "", settings, "chains", settings, "active_index", rows=rows)
        self._draw_list_buttons(row.column(align=True), len(settings.chains))
        if settings.paths_left:
            draw_text(layout, context, settings.paths_left, 'ERROR')
        if offers_another(context):
            draw_add(layout, context)

    def _draw_start(self, context: Context, armature: Object | None) -> None:
        """Draw how to add the first chain, or the chain that the button will add."""
        if armature is None or why_not_add(context):
            draw_text(self.layout, context, say(_HOW_TO_START), 'INFO')
        if armature is not None:
            draw_add(self.layout, context)

    @staticmethod
    def _draw_list_buttons(column: UILayout, count: int) -> None:
        column.operator("ik2d.chain_add", text="", icon='ADD')
        column.operator("ik2d.chain_remove", text="", icon='REMOVE')
        column.separator()
        column.menu("IK2D_MT_chain", text="", icon='DOWNARROW_HLT')
        if count > 1:
            column.separator()
            column.operator("ik2d.chain_move", text="", icon='TRIA_UP').direction = 'UP'
            column.operator("ik2d.chain_move", text="", icon='TRIA_DOWN').direction = 'DOWN'


class IK2D_PT_chain(ChainSidebar, Panel):
    """Live, the bones of the active chain, the target that they follow, and the side that they bend to"""

    bl_label = "Chain"
    bl_order = 1  # below Bake, so that its result is in sight
    trouble = "the-knee-bends-the-wrong-way-or-the-elbow-flips"

    def draw_header_preset(self, context):
        IK2D_PT_presets.draw_panel_header(self.layout)
        super().draw_header_preset(context)

    def draw(self, context):
        layout, armature, chain = self.settings(context)
        draw_live(layout, context, chain, cached_problem(chain))
        draw_key_target(layout, chain)
        column = layout.column()
        field(column, context, chain, "tip", icon='BONE_DATA', search_in=armature.pose, search="bones")
        field(column, context, chain, "bone_count")
        column.separator()
        field(column, context, chain, "target")
        bone_field(column, context, chain, "subtarget", chain.target)
        draw_targets(column, context, chain)
        draw_setting(column, context, chain, "influence")
        column.separator()
        field(column, context, chain, "plane")
        draw_pole(column, context, chain)
        draw_post(column, context, chain)
        draw_bend(column, context, chain)
        draw_changed(column, context, chain)
        draw_straight(column, context, chain)
        draw_findings(layout, context, armature, chain)


class IK2D_PT_reach(ChainSidebar, Panel):
    """How the active chain eases towards full reach, and how far its bones get longer or shorter"""

    bl_parent_id = "IK2D_PT_chain"
    bl_label = "Reach"
    trouble = "the-limb-pops-or-jitters"
    bl_options = {'DEFAULT_CLOSED'}

    def draw(self, context):
        layout, _armature, chain = self.settings(context)
        column = layout.column()
        for name in ("softness", "stretch", "compress"):
            draw_setting(column, context, chain, name)
        if shown(chain, "stretch") != 1.0 or shown(chain, "compress") != 1.0:
            field(column, context, chain, "stretch_bones")


class IK2D_PT_joints(ChainSidebar, Panel):
    """How far each joint of the active chain may turn and slide, and how much it turns"""

    bl_parent_id = "IK2D_PT_chain"
    bl_label = "Joints"
    trouble = "the-arm-is-straight-as-in-a-t-pose-and-does-nothing"
    bl_options = {'DEFAULT_CLOSED'}

    def draw(self, context):
        layout, _armature, chain = self.settings(context)
        rows = max(2, min(len(chain.joints), 6))
        layout.template_list("IK2D_UL_joints", "", chain, "joints", chain, "shown_joint", rows=rows)
        if 0 <= chain.shown_joint < len(chain.joints):
            self._draw_joint(layout.column(), context, chain, chain.joints[chain.shown_joint])
        layout.operator("ik2d.limits_from_bones", icon='CON_ROTLIMIT')
        if chain.left_out:
            draw_text(layout, context, chain.left_out, 'INFO')

    @staticmethod
    def _draw_joint(column: UILayout, context: Context, chain: PropertyGroup, joint: PropertyGroup) -> None:
        limits = column.column(align=True)
        limits.active = joint.use_limit
        field(limits, context, joint, "limit_min")
        field(limits, context, joint, "limit_max")
        angle = joint_angle(chain, joint.name)
        if angle is not None:
            draw_value(column, context, say("Now"), say("{angle:.1f}°", angle=degrees(angle)))
        weight = column.column()
        weight.active = weight_counts(chain, joint)
        field(weight, context, joint, "weight")
        column.prop(joint, "use_slide")
        if joint.use_slide:
            slide = column.column(align=True)
            field(slide, context, joint, "slide_min")
            field(slide, context, joint, "slide_max")


class IK2D_PT_foot(ChainSidebar, Panel):
    """How the last bone of the active chain is turned, and the foot or hand on it"""

    bl_parent_id = "IK2D_PT_chain"
    bl_label = "Foot or Hand"
    trouble = "the-foot-slides-or-sinks-into-the-ground"
    bl_options = {'DEFAULT_CLOSED'}

    def draw(self, context):
        layout, _armature, chain = self.settings(context)
        column = layout.column()
        if chain.foot.is_added:
            draw_foot(column, context, chain, draw_setting)
        else:
            field(column, context, chain, "hand_rotation")
            column.operator("ik2d.foot_add", icon='ADD')
        draw_plant(layout, context, chain)
        column = layout.column()
        draw_tip_angle(column, context, chain)


def joint_angle(chain: PropertyGroup, bone: str) -> float | None:
    """Return the angle of a joint in the pose that is shown, as its Min and Max count; None if not known."""
    rig = read(chain)
    if isinstance(rig, str) or bone not in rig.bones:
        return None
    try:
        return float(view_chain(rig, chain).turns[rig.bones.index(bone)])
    except IK2DError:  # it has no finite place
        return None


def weight_counts(chain: PropertyGroup, joint: PropertyGroup) -> bool:
    """Return whether the joint's weight has an effect: two free bones have one pose only."""
    if chain.solver == 'ARC':
        return False
    limited = any(other.use_limit for other in chain.joints)
    return solver_of(chain) != 'TWO_BONE' or limited or joint.weight == 0.0


def solver_name(chain: PropertyGroup, solver: str) -> str:
    """Return a solver's label in the menu, with "within limits" if the chain has any."""
    name = say(chain.bl_rna.properties['solver'].enum_items[solver].name)
    return say("{name}, within limits", name=name) if any(joint.use_limit for joint in chain.joints) else name


class IK2D_PT_advanced(ChainSidebar, Panel):
    """How the active chain is solved"""

    bl_parent_id = "IK2D_PT_chain"
    bl_label = "Advanced"
    trouble = "the-limb-pops-or-jitters"
    bl_options = {'DEFAULT_CLOSED'}

    def draw(self, context):
        layout, _armature, chain = self.settings(context)
        column = layout.column()
        field(column, context, chain, "solver")
        solver = solver_of(chain)
        if chain.solver == 'AUTO':
            draw_text(column, context, say("Solver: {solver}", solver=solver_name(chain, solver)), 'BLANK1')
        if solver == 'EVEN':
            field(column, context, chain, "root_turns_freely")
            if may_slide(chain):
                field(column, context, chain, "slide_weight")
        if solver in ('CCD', 'EVEN'):
            field(column, context, chain, "start_from")
        if solver == 'CCD':
            field(column, context, chain, "iterations")
        field(column, context, chain, "tolerance")
        if chain.tolerance == 0.0:
            draw_value(column, context, "", say("Automatic"))
        draw_setting(column, context, chain, "turn_over")
        draw_bend_control(column, context, chain)
        swings = chain.plane == 'SWING' and any(chain.swing_normal)
        if chain.plane == 'CUSTOM' or swings:
            column.prop(chain, "plane_normal")
        if chain.plane in FOLLOWING:
            draw_setting(column, context, chain, "plane_turn")
        if swings:
            column.prop(chain, "swing_normal")
        elif chain.plane == 'AUTO' and chain.plane_taken:
            draw_text(column, context, say("Bends in: {plane}", plane=noted(chain.plane_taken)), 'BLANK1')


class IK2D_PT_rig(Sidebar, Panel):
    """Take over the IK that the rig has, switch between FK and IK, and convert chains to drivers"""

    bl_label = "Rig"
    trouble = "the-ikfk-switch-pops"
    bl_options = {'DEFAULT_CLOSED'}
    bl_order = 2  # below all other panels

    @classmethod
    def poll(cls, context):
        armature = active_armature(context)
        return armature is not None and not unreadable(armature)

    def draw(self, context):
        for label, draw_box in named("BOX"):
            box = self.layout.box().column()
            box.label(text=say(label), translate=False)
            draw_box(box, context)


classes = (
    IK2D_PT_main,
    IK2D_PT_chain,
    IK2D_PT_reach,
    IK2D_PT_joints,
    IK2D_PT_foot,
    IK2D_PT_advanced,
    IK2D_PT_rig,
)
register, unregister = registration(classes)
