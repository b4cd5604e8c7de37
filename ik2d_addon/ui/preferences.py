# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on's preferences: its shortcuts, and those of features, to be seen and changed."""

import bpy
import rna_keymap_ui
from bpy.props import BoolProperty
from bpy.types import AddonPreferences

from ..core.words import say
from .keymaps import KEYMAP, SHORTCUTS, shown_items
from .parts import named
from .registration import register_classes, unregister_classes

# The extension's name in Blender's preferences; "" if the package runs from its source folder.
EXTENSION = __package__.rpartition(".ik2d_addon")[0]


class _Preferences:
    """What holds for all files."""

    bl_idname = EXTENSION

    live_at_once: BoolProperty(
        name="New Chains Are Live",
        description="Have a chain follow its target as soon as it is added or adopted",
        default=True,
    )

    def draw(self, context):
        self.layout.prop(self, "live_at_once")
        self._draw_shortcuts(context)
        for draw in named("draw_preferences"):
            draw(self.layout)

    def _draw_shortcuts(self, context):
        column = self.layout.column()
        column.label(text=say("Shortcuts in {mode} Mode", mode=KEYMAP), translate=False)
        keyconfig = context.window_manager.keyconfigs.user
        items = list(shown_items())
        for keymap, item in items:
            column.context_pointer_set("keymap", keymap)
            rna_keymap_ui.draw_kmi([], keyconfig, keymap, item, column, 0)
        if len(items) < len(SHORTCUTS):
            column.label(
                text=say("Some are removed; Restore in Preferences > Keymap brings them back"),
                translate=False,
            )


def is_live_at_once() -> bool:
    """Return whether a new chain is live; the code that is run from its folder has no preferences."""
    addon = bpy.context.preferences.addons.get(EXTENSION) if EXTENSION else None
    return addon is None or addon.preferences.live_at_once


_registered: list[type] = []


def register() -> None:
    """Register the extension's preferences, with those of the parts that are registered before."""
    if EXTENSION:
        declared = {name: made for settings in named("PREFERENCES") for name, made in settings.items()}
        _registered.append(
            type("IK2D_AP_preferences", (_Preferences, AddonPreferences), {"__annotations__": declared})
        )
    register_classes(_registered)


def unregister() -> None:
    """Unregister them."""
    unregister_classes(_registered)
    _registered.clear()
