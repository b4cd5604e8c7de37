# SPDX-License-Identifier: GPL-3.0-or-later
"""Shortcuts, all on J, which no keymap of Blender's uses in Pose Mode."""

from collections.abc import Iterator
from dataclasses import dataclass

import bpy
from bpy.types import KeyMap, KeyMapItem

KEYMAP = "Pose"


@dataclass(frozen=True)
class Shortcut:
    """A key that runs an operator in Pose Mode."""

    operator: str
    key: str
    alt: bool = False
    at_mouse: bool = False  # whether it takes the chain under the mouse


SHORTCUTS = (
    Shortcut("ik2d.drag", 'J', at_mouse=True),
    Shortcut("ik2d.flip", 'J', alt=True),
)
_added: list[tuple[KeyMap, KeyMapItem]] = []


def shown_items() -> Iterator[tuple[KeyMap, KeyMapItem]]:
    """Yield our shortcuts in the user's keymap, to be drawn and changed."""
    user = bpy.context.window_manager.keyconfigs.user
    keymap = user.keymaps.get(KEYMAP) if user else None
    ours = {shortcut.operator for shortcut in SHORTCUTS}
    for item in keymap.keymap_items if keymap else ():
        if item.idname in ours:
            yield keymap, item


def register() -> None:
    """Add the shortcuts; in background there is nothing to add them to."""
    configuration = bpy.context.window_manager.keyconfigs.addon
    if configuration is None:
        return
    keymap = configuration.keymaps.new(name=KEYMAP)
    for shortcut in SHORTCUTS:
        item = keymap.keymap_items.new(shortcut.operator, shortcut.key, 'PRESS', alt=shortcut.alt)
        if shortcut.at_mouse:
            item.properties.at_mouse = True
        _added.append((keymap, item))


def unregister() -> None:
    """Remove them."""
    for keymap, item in _added:
        keymap.keymap_items.remove(item)
    _added.clear()
