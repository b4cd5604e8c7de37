# SPDX-License-Identifier: GPL-3.0-or-later
"""Menus: next to the list of chains, in a bone's right-click menu, in Pose and in Object.

Their entries are those that features name in `MENU`.
"""

from contextlib import ExitStack

import bpy
from bpy.types import Context, Menu

from ...core.words import say
from ...ui.context import active_armature, active_chain, why_not_edit
from ...ui.parts import draw_entries
from ...ui.registration import register_classes, unregister_classes
from ..overlay.settings import overlay_settings
from .chain_operators import chain_here
from .selection import why_not_add


class IK2D_MT_bone(Menu):
    """What IK 2D does with the active bone and the chain that it is in"""

    bl_label = "IK 2D"

    def draw(self, context):
        layout, chain = self.layout, chain_here(context)
        if chain is not None:
            layout.label(text=say("Chain '{chain}'", chain=chain.name), translate=False)
            if chain != active_chain(chain.id_data) and not why_not_edit(context):
                index = list(chain.id_data.ik2d.chains).index(chain)
                words = {"text": say("Make Chain Active"), "translate": False, "icon": 'RESTRICT_SELECT_OFF'}
                activate = layout.operator("wm.context_set_int", **words)
                activate.data_path, activate.value = "object.ik2d.active_index", index
            draw_entries(layout, "bone", chain=chain.name)
            layout.separator()
        layout.operator("ik2d.chain_add", icon='ADD')
        layout.prop(overlay_settings(), "show", text=say("Show Overlay"), translate=False)


def draw_bone_menu(menu: Menu, context: Context) -> None:
    """Add the submenu to a bone's right-click menu, if the bone has a chain or can get one."""
    if context.mode == 'POSE' and (chain_here(context) is not None or not why_not_add(context)):
        menu.layout.separator()
        menu.layout.menu(IK2D_MT_bone.__name__, icon='CON_KINEMATIC')


class _Submenu:
    """A menu of the entries that parts name for it."""

    def draw(self, _context):
        draw_entries(self.layout, self.bl_idname.removeprefix("IK2D_MT_"), lines=True)


class IK2D_MT_chain(_Submenu, Menu):
    """Copy, mirror and enable chains, and set their plane, joints and foot"""

    bl_label = "Chain"


class IK2D_MT_pose(_Submenu, Menu):
    """Bring the target to the bones or the bones to the chain, and switch between IK and FK"""

    bl_label = "Pose"


class IK2D_MT_bake(_Submenu, Menu):
    """Look at a bake and at the motion before it, and plant feet"""

    bl_label = "Baked Motion"


class IK2D_MT_rig(_Submenu, Menu):
    """Take over the IK that the rig has, and convert chains to drivers"""

    bl_label = "Rig"


class IK2D_MT_mechanism(_Submenu, Menu):
    """Make machines whose loops are closed, join their bones, and choose what drives them"""

    bl_label = "Mechanism"


SUBMENUS = (IK2D_MT_chain, IK2D_MT_mechanism, IK2D_MT_pose, IK2D_MT_bake, IK2D_MT_rig)


class IK2D_MT_menu(Menu):
    """Pose, bake and set up chains of bones that bend in a plane"""

    bl_label = "IK 2D"

    def draw(self, _context):
        draw_entries(self.layout, "main")
        self.layout.separator()
        for menu in SUBMENUS:
            self.layout.menu(menu.__name__)


def draw_menu(menu: Menu, context: Context) -> None:
    """Add the IK 2D menu to Pose and, where an armature is active, to Object."""
    if active_armature(context) is not None:
        menu.layout.separator()
        menu.layout.menu(IK2D_MT_menu.__name__)


# Blender's menus, each with the function that draws our entries in it.
MENUS = (
    ("VIEW3D_MT_pose_context_menu", draw_bone_menu),
    ("VIEW3D_MT_pose", draw_menu),
    ("VIEW3D_MT_object", draw_menu),
)
classes = (IK2D_MT_bone, *SUBMENUS, IK2D_MT_menu)


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
