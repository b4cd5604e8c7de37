# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on's preferences: its shortcuts, to be seen and changed."""

import bpy
import rna_keymap_ui
from bpy.types import AddonPreferences

from .keymaps import KEYMAP, SHORTCUTS, shown_items
from .registration import register_classes, unregister_classes

# The extension's name; none where the package runs from its source folder.
EXTENSION = __package__.rpartition(".ik2d_addon")[0]


class IK2D_AP_preferences(AddonPreferences):
    """What holds for all files"""

    bl_idname = EXTENSION

    def draw(self, context):
        column = self.layout.column()
        column.label(text=f"Shortcuts in {KEYMAP} Mode")
        keyconfig = context.window_manager.keyconfigs.user
        items = list(shown_items())
        for keymap, item in items:
            column.context_pointer_set("keymap", keymap)
            rna_keymap_ui.draw_kmi([], keyconfig, keymap, item, column, 0)
        if len(items) < len(SHORTCUTS):
            column.label(text="Some are removed; Restore in Preferences > Keymap brings them back")


classes = (IK2D_AP_preferences,) if EXTENSION else ()


def register() -> None:
    """Register the preferences, where there is an extension to have them."""
    register_classes(classes)


def unregister() -> None:
    """Unregister them."""
    unregister_classes(classes)


def preferences() -> bpy.types.AddonPreferences | None:
    """Return the preferences as set; None where the package runs from its source folder."""
    addon = bpy.context.preferences.addons.get(EXTENSION) if EXTENSION else None
    return addon.preferences if addon is not None else None
