# SPDX-License-Identifier: GPL-3.0-or-later
"""Menus: next to the list of chains, in a bone's right-click menu, in Pose and in Object."""

from contextlib import ExitStack

import bpy
from bpy.types import Context, Menu, UILayout

from ...core.words import say
from ...ui.context import active_armature, active_chain, why_not_edit
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
        _entry(layout, "ik2d.solve", 'POSE_HLT')
        layout.separator()
        _draw_copies(layout)
        _entry(layout, "ik2d.mirror", 'MOD_MIRROR')
        layout.separator()
        draw_match_menu(layout)
        layout.separator()
        _draw_enabled(layout)
        layout.separator()
        _entry(layout, "ik2d.chain_move", 'TRIA_UP', say("Move Up"), direction='UP')
        _entry(layout, "ik2d.chain_move", 'TRIA_DOWN', say("Move Down"), direction='DOWN')


class IK2D_MT_bone(Menu):
    """What IK 2D does with the active bone and the chain that it is in"""

    bl_idname = "IK2D_MT_bone"
    bl_label = "IK 2D"
    bl_description = __doc__

    def draw(self, context):
        layout, chain = self.layout, chain_here(context)
        if chain is not None:
            layout.label(text=say("Chain '{chain}'", chain=chain.name), translate=False)
            if chain != active_chain(chain.id_data) and not why_not_edit(context):
                index = list(chain.id_data.ik2d.chains).index(chain)
                words = {"text": say("Make Chain Active"), "translate": False, "icon": 'RESTRICT_SELECT_OFF'}
                activate = layout.operator("wm.context_set_int", **words)
                activate.data_path, activate.value = "object.ik2d.active_index", index
            _entry(layout, "ik2d.solve", 'POSE_HLT', chain=chain.name)
            _entry(layout, "ik2d.key_target", 'KEYFRAME_HLT', chain=chain.name)
            _entry(layout, "ik2d.bake", 'KEY_HLT', chain=chain.name)
            _entry(layout, "ik2d.flip", 'MOD_MIRROR', chain=chain.name)
            _entry(layout, "ik2d.mirror", 'MOD_MIRROR', chain=chain.name)
            layout.separator()
            draw_match_menu(layout, chain.name, ranges=False)
            layout.separator()
        _entry(layout, "ik2d.chain_add", 'ADD')
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
        _entry(layout, "ik2d.solve", 'POSE_HLT')
        _entry(layout, "ik2d.bake", 'KEY_HLT')
        _entry(layout, "ik2d.clear_bake", 'X')
        _entry(layout, "ik2d.live_again", 'PLAY')
        _entry(layout, "ik2d.show_before", 'HIDE_OFF')
        _entry(layout, "ik2d.mark_frames", 'MARKER_HLT')
        _entry(layout, "ik2d.target_path", 'ANIM')
        layout.separator()
        _entry(layout, "ik2d.flip", 'MOD_MIRROR')
        _entry(layout, "ik2d.flip", 'MOD_MIRROR', say("Flip Over 10 Frames"), frames=10)
        _entry(layout, "ik2d.drag", 'VIEW_PAN')
        _entry(layout, "ik2d.key_target", 'KEYFRAME_HLT')
        _entry(layout, "ik2d.ccd_step", 'CON_ROTLIKE')
        layout.menu(IK2D_MT_match.bl_idname)
        layout.menu(IK2D_MT_feet.bl_idname)
        layout.separator()
        _entry(layout, "ik2d.chain_add", 'ADD')
        _entry(layout, "ik2d.chain_remove", 'REMOVE')
        _entry(layout, "ik2d.chain_move", 'TRIA_UP', say("Move Chain Up"), direction='UP')
        _entry(layout, "ik2d.chain_move", 'TRIA_DOWN', say("Move Chain Down"), direction='DOWN')
        _entry(layout, "ik2d.mirror", 'MOD_MIRROR')
        _draw_copies(layout)
        _draw_enabled(layout)
        layout.menu(IK2D_MT_joints.bl_idname)
        layout.separator()
        _entry(layout, "ik2d.adopt", 'CON_KINEMATIC')
        _entry(layout, "ik2d.adopt", 'CON_KINEMATIC', say("Adopt All IK"), all=True)
        _entry(layout, "ik2d.release", 'LOOP_BACK')
        _entry(layout, "ik2d.make_native", 'DRIVER')
        _entry(layout, "ik2d.remove_native")


class IK2D_MT_match(Menu):
    """Bring the target to the bones or the bones to the chain, and switch between IK and FK"""

    bl_idname = "IK2D_MT_match"
    bl_label = "FK and IK"
    bl_description = __doc__

    def draw(self, _context):
        draw_match_menu(self.layout)


class IK2D_MT_feet(Menu):
    """Add feet to chains, and plant them where they stand"""

    bl_idname = "IK2D_MT_feet"
    bl_label = "Feet"
    bl_description = __doc__

    def draw(self, _context):
        layout = self.layout
        _entry(layout, "ik2d.foot_add", 'ADD')
        _entry(layout, "ik2d.foot_remove", 'X')
        layout.separator()
        _entry(layout, "ik2d.find_contacts", 'VIEWZOOM')
        _entry(layout, "ik2d.plant_feet", 'CON_FLOOR')
        _entry(layout, "ik2d.plant_clear", 'X', say("Clear Planted Feet"))


class IK2D_MT_joints(Menu):
    """Set the plane that the chain bends in, its solver and its joints"""

    bl_idname = "IK2D_MT_joints"
    bl_label = "Plane and Joints"
    bl_description = __doc__

    def draw(self, _context):
        layout = self.layout
        _entry(layout, "ik2d.turn_plane")
        _entry(layout, "ik2d.pole_add", 'EMPTY_AXIS')
        _entry(layout, "ik2d.pole_fit", 'CON_TRACKTO')
        layout.separator()
        _entry(layout, "ik2d.limits_from_bones", 'CON_ROTLIMIT')


def _entry(layout: UILayout, name: str, icon: str = 'NONE', text: str = "", **properties: object) -> None:
    """Draw an operator with some properties; nothing where the feature that has it was removed."""
    if not hasattr(bpy.types, name.replace("ik2d.", "IK2D_OT_")):
        return
    words = {"text": text, "translate": False} if text else {}
    entry = layout.operator(name, icon=icon, **words)
    for key, value in properties.items():
        setattr(entry, key, value)


def _draw_copies(layout: UILayout) -> None:
    _entry(layout, "ik2d.copy_settings", 'COPYDOWN', say("Copy Settings to Enabled"), to='ENABLED')
    _entry(layout, "ik2d.copy_settings", text=say("Copy Settings to Selected Bones' Chains"), to='SELECTED')


def _draw_enabled(layout: UILayout) -> None:
    _entry(layout, "ik2d.enable_chains", 'CHECKBOX_HLT', say("Enable All"), which='ALL')
    _entry(layout, "ik2d.enable_chains", text=say("Enable Only the Active One"), which='ACTIVE')


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
classes = (IK2D_MT_list, IK2D_MT_bone, IK2D_MT_match, IK2D_MT_feet, IK2D_MT_joints, IK2D_MT_menu)


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
