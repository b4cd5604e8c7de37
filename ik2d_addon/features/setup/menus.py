# SPDX-License-Identifier: GPL-3.0-or-later
"""Menus: next to the list of chains, in a bone's right-click menu, in Pose and in Object."""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack

import bpy
from bpy.props import BoolProperty, EnumProperty
from bpy.types import Context, Menu, Operator, PropertyGroup

from ...core import IK2DError
from ...core.words import number_of, quoted, say
from ...rig.chain.renames import bones_of, chain_named
from ...ui.context import active_armature, active_chain, shown_chain, why_no_chain, why_not_edit
from ...ui.operator import ChainOperator, chain_name
from ...ui.registration import register_classes, unregister_classes
from ...ui.settings.overlay import overlay_settings
from ..match.operators import draw_match_menu
from .copying import copy_settings, mirror_chain
from .selection import why_not_add


def chains_of_bones(chains: Sequence[PropertyGroup], names: Iterable[str]) -> list[PropertyGroup]:
    """Return the chains that contain any of some bones."""
    wanted = set(names)
    return [
        chain for chain in chains if wanted & set(bones_of(chain.id_data.data, chain.tip, chain.bone_count))
    ]


def _chosen(context: Context, which: str) -> list[PropertyGroup]:
    """Return the chains to copy the shown chain's settings to."""
    chain, chains = shown_chain(context), active_armature(context).ik2d.chains
    if which == 'SELECTED':
        selected = [bone.name for bone in context.selected_pose_bones or () if bone.id_data == chain.id_data]
        found = chains_of_bones(chains, selected)
    else:
        found = [other for other in chains if other.enabled]
    return [other for other in found if other != chain]


def _why_no_others(context: Context) -> str:
    reason = why_no_chain(context)
    return reason or ("" if len(active_armature(context).ik2d.chains) > 1 else say("There is only one chain"))


class IK2D_OT_copy_settings(ChainOperator, Operator):
    """Copy how the active chain is solved to other chains of the armature"""

    bl_idname = "ik2d.copy_settings"
    bl_label = "Copy Settings"

    why_not = staticmethod(_why_no_others)

    to: EnumProperty(
        name="To",
        description="Chains that get the settings",
        items=(
            ('ENABLED', "Enabled", "All other chains that are enabled"),
            ('SELECTED', "Selected", "The other chains of the selected bones"),
        ),
        default='ENABLED',
    )
    joints: BoolProperty(
        name="Joints",
        description="Copy limits, slides and weights too, from the root on, to chains with as many bones",
        default=False,
    )

    def execute(self, context):
        others = _chosen(context, self.to)
        if not others:
            words = say("is enabled") if self.to == 'ENABLED' else say("has a selected bone")
            return self.refuse(say("No other chain {words}", words=words), 'WARNING')
        count = copy_settings(shown_chain(context), others, self.joints)
        self.report({'INFO'}, say("Copied settings to {chains}", chains=number_of(count, "chain")))
        return {'FINISHED'}


class IK2D_OT_mirror(ChainOperator, Operator):
    """Make the chain's counterpart on the other side: the bones and the target with .L and .R exchanged"""

    bl_idname = "ik2d.mirror"
    bl_label = "Mirror Chain"

    all: BoolProperty(
        name="All Enabled",
        description="Mirror every enabled chain of the armature, not the active one alone",
        default=False,
    )
    chain: chain_name("Chain to mirror; empty for the active one")

    def execute(self, context):
        armature, chosen = active_armature(context), [self.chain or shown_chain(context).name]
        if chain_named(armature, chosen[0]) is None:
            return self.refuse(say("There is no chain '{chosen}'", chosen=chosen[0]))
        if self.all:
            chosen = [chain.name for chain in armature.ik2d.chains if chain.enabled]
        made = []
        for name in chosen:
            chain = chain_named(armature, name)
            if chain.tip in {other.tip for other in made}:
                continue  # itself the result of a mirrored chain before it
            try:
                made.append(mirror_chain(armature, chain))
            except IK2DError as error:
                self.report({'WARNING' if self.all else 'ERROR'}, str(error))
        if not made:
            return {'CANCELLED'}
        self.report({'INFO'}, say("Mirrored to ") + quoted(chain.name for chain in made))
        return {'FINISHED'}


class IK2D_OT_enable_chains(ChainOperator, Operator):
    """Choose which chains are posed and baked"""

    bl_idname = "ik2d.enable_chains"
    bl_label = "Enable Chains"

    why_not = staticmethod(_why_no_others)

    which: EnumProperty(
        name="Which",
        description="Chains to enable; all others are disabled",
        items=(
            ('ALL', "All", "All chains of the armature"),
            ('ACTIVE', "Only the Active One", "The active chain alone"),
        ),
        default='ALL',
    )

    def work(self, context):
        chain = shown_chain(context)
        for other in active_armature(context).ik2d.chains:
            other.enabled = self.which == 'ALL' or other == chain


class IK2D_OT_chain_activate(ChainOperator, Operator):
    """Show the chain of this bone in the sidebar"""

    bl_idname = "ik2d.chain_activate"
    bl_label = "Make Chain Active"

    chain: chain_name("Chain to make active; empty for the one of the active bone")

    @staticmethod
    def why_not(context):
        return why_not_edit(context) or ("" if chain_here(context) else say("The active bone is in no chain"))

    def work(self, context):
        armature = active_armature(context)
        chain = chain_named(armature, self.chain) if self.chain else chain_here(context)
        if chain is None:
            raise IK2DError(say("There is no chain '{chain}'", chain=self.chain))
        armature.ik2d.active_index = list(armature.ik2d.chains).index(chain)


def chain_here(context: Context) -> PropertyGroup | None:
    """Return the chain of the active bone, of several the active chain or the first; None without any."""
    armature = active_armature(context)
    bone = armature.data.bones.active if armature is not None else None
    if bone is None or not armature.is_property_set("ik2d"):
        return None
    found = chains_of_bones(armature.ik2d.chains, [bone.name])
    chosen = active_chain(armature)
    return chosen if chosen in found else next(iter(found), None)


# --- Menus -------------------------------------------------------------------


class IK2D_MT_list(Menu):
    """More to do with the chains in the list"""

    bl_idname = "IK2D_MT_list"
    bl_label = "Chains"
    bl_description = __doc__

    def draw(self, _context):
        layout = self.layout
        layout.operator("ik2d.solve", icon='POSE_HLT')
        layout.separator()
        layout.operator(
            "ik2d.copy_settings", text=say("Copy Settings to Enabled"), translate=False, icon='COPYDOWN'
        ).to = 'ENABLED'
        layout.operator(
            "ik2d.copy_settings", text=say("Copy Settings to Selected Bones' Chains"), translate=False
        ).to = 'SELECTED'
        layout.operator("ik2d.mirror", icon='MOD_MIRROR')
        layout.separator()
        draw_match_menu(layout)
        layout.separator()
        layout.operator(
            "ik2d.enable_chains", text=say("Enable All"), translate=False, icon='CHECKBOX_HLT'
        ).which = 'ALL'
        layout.operator(
            "ik2d.enable_chains", text=say("Enable Only the Active One"), translate=False
        ).which = 'ACTIVE'
        layout.separator()
        layout.operator(
            "ik2d.chain_move", text=say("Move Up"), translate=False, icon='TRIA_UP'
        ).direction = 'UP'
        layout.operator(
            "ik2d.chain_move", text=say("Move Down"), translate=False, icon='TRIA_DOWN'
        ).direction = 'DOWN'


class IK2D_MT_bone(Menu):
    """What IK 2D does with the active bone and the chain that it is in"""

    bl_idname = "IK2D_MT_bone"
    bl_label = "IK 2D"
    bl_description = __doc__

    def draw(self, context):
        layout, chain = self.layout, chain_here(context)
        if chain is not None:
            layout.label(text=say("Chain '{chain}'", chain=chain.name), translate=False)
            if chain != active_chain(chain.id_data):
                layout.operator("ik2d.chain_activate", icon='RESTRICT_SELECT_OFF').chain = chain.name
            layout.operator("ik2d.solve", icon='POSE_HLT').chain = chain.name
            layout.operator("ik2d.bake", icon='KEY_HLT').chain = chain.name
            layout.operator("ik2d.flip", icon='MOD_MIRROR').chain = chain.name
            layout.operator("ik2d.mirror", icon='MOD_MIRROR').chain = chain.name
            layout.separator()
            draw_match_menu(layout, chain.name, ranges=False)
            layout.separator()
        layout.operator("ik2d.chain_add", icon='ADD')
        layout.prop(overlay_settings(), "show", text=say("Show Overlay"), translate=False)


def draw_bone_menu(menu: Menu, context: Context) -> None:
    """Add the submenu to a bone's right-click menu, if the bone has a chain or can get one."""
    if context.mode == 'POSE' and (chain_here(context) is not None or not why_not_add(context)):
        menu.layout.separator()
        menu.layout.menu(IK2D_MT_bone.bl_idname, icon='CON_KINEMATIC')


OPERATORS = (IK2D_OT_copy_settings, IK2D_OT_mirror, IK2D_OT_enable_chains, IK2D_OT_chain_activate)
# --- Menus: also what F3 searches --------------------------------------------


class IK2D_MT_menu(Menu):
    """Pose, bake and set up chains of bones that bend in a plane"""

    bl_idname = "IK2D_MT_menu"
    bl_label = "IK 2D"
    bl_description = __doc__

    def draw(self, _context):
        layout = self.layout
        layout.operator("ik2d.solve", icon='POSE_HLT')
        layout.operator("ik2d.bake", icon='KEY_HLT')
        layout.operator("ik2d.clear_bake", icon='X')
        layout.operator("ik2d.worst_frame", icon='TIME')
        layout.operator("ik2d.mark_frames", icon='MARKER_HLT')
        layout.separator()
        layout.operator("ik2d.chain_add", icon='ADD')
        layout.operator("ik2d.chain_remove", icon='REMOVE')
        layout.operator(
            "ik2d.chain_move", text=say("Move Chain Up"), translate=False, icon='TRIA_UP'
        ).direction = 'UP'
        layout.operator(
            "ik2d.chain_move", text=say("Move Chain Down"), translate=False, icon='TRIA_DOWN'
        ).direction = 'DOWN'
        layout.operator("ik2d.mirror", icon='MOD_MIRROR')
        layout.operator("ik2d.adopt", icon='CON_KINEMATIC')
        layout.operator(
            "ik2d.adopt", text=say("Adopt All IK"), translate=False, icon='CON_KINEMATIC'
        ).all = True
        layout.operator("ik2d.release", icon='LOOP_BACK')
        layout.operator("ik2d.flip", icon='MOD_MIRROR')
        layout.operator(
            "ik2d.flip", text=say("Flip Over 10 Frames"), translate=False, icon='MOD_MIRROR'
        ).frames = 10
        layout.operator("ik2d.drag", icon='VIEW_PAN')
        layout.operator("ik2d.ccd_step", icon='CON_ROTLIKE')
        layout.separator()
        layout.operator("ik2d.limits_from_bones", icon='CON_ROTLIMIT')
        layout.operator("ik2d.joints_update", icon='FILE_REFRESH')
        layout.operator("ik2d.mute_constraints", icon='HIDE_ON')
        layout.operator("ik2d.plane_to_target", icon='ORIENTATION_NORMAL')


def draw_menu(menu: Menu, context: Context) -> None:
    """Add the IK 2D menu to Pose and, where an armature is active, to Object."""
    if active_armature(context) is not None:
        menu.layout.separator()
        menu.layout.menu(IK2D_MT_menu.bl_idname)


# Blender's menus, each with the function that draws our entries in it.
MENUS = (
    ("VIEW3D_MT_pose_context_menu", draw_bone_menu),
    ("VIEW3D_MT_pose", draw_menu),
    ("VIEW3D_MT_object", draw_menu),
)
classes = (*OPERATORS, IK2D_MT_list, IK2D_MT_bone, IK2D_MT_menu)


def register() -> None:
    """Register the menus and add entries to Blender's own."""
    with ExitStack() as undo:
        register_classes(classes)
        undo.callback(unregister_classes, classes)
        for name, draw in MENUS:
            menu = getattr(bpy.types, name)
            menu.append(draw)
            undo.callback(menu.remove, draw)
        undo.pop_all()


def unregister() -> None:
    """Remove the entries and unregister the menus."""
    for name, draw in MENUS:
        getattr(bpy.types, name).remove(draw)
    unregister_classes(classes)
