# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on's preferences: its shortcuts, and what the overlay shows, to be seen and changed."""

import bpy
import rna_keymap_ui
from bpy.props import BoolProperty, PointerProperty
from bpy.types import AddonPreferences

from ..core.words import say
from .keymaps import KEYMAP, SHORTCUTS, shown_items
from .registration import registration
from .settings.overlay import EXTENSION, IK2D_PG_overlay, draw_colors, draw_parts


class IK2D_AP_preferences(AddonPreferences):
    """What holds for all files"""

    bl_idname = EXTENSION

    live_at_once: BoolProperty(
        name="New Chains Are Live",
        description="Have a chain follow its target as soon as it is added or adopted",
        default=True,
    )
    overlay: PointerProperty(name="Overlay", description="What the overlay shows", type=IK2D_PG_overlay)

    def draw(self, context):
        self.layout.prop(self, "live_at_once")
        self._draw_shortcuts(context)
        self.layout.prop(self.overlay, "show", text=say("Show the Overlay in the Viewport"), translate=False)
        columns = self.layout.split(factor=0.5)
        draw_parts(columns.column(), self.overlay)
        draw_colors(columns.column(), self.overlay)

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


classes = (IK2D_AP_preferences,) if EXTENSION else ()
register, unregister = registration(classes)
