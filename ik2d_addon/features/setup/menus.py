# SPDX-License-Identifier: GPL-3.0-or-later
"""Menus: next to the list of chains, in a bone's right-click menu, in Pose and in Object."""

from contextlib import ExitStack

import bpy
from bpy.types import Context, Menu

from ...core.words import say
from ...ui.context import active_armature, active_chain
from ...ui.registration import register_classes, unregister_classes
from ...ui.settings.overlay import overlay_settings
from ..match.operators import draw_match_menu
from .chain_operators import chain_here
from .selection import why_not_add


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
classes = (IK2D_MT_list, IK2D_MT_bone, IK2D_MT_menu)


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
