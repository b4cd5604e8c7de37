# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules that are registered, and what they name for menus, panels and the manual.

`MENU`: entries by menu. `BOX`: the label of a box in the Rig panel, and a function that draws it. `HEADINGS`:
headings of the manual (`ui/manual.py`). `PREFERENCES`: properties of the add-on's
preferences, which `draw_preferences` draws.
"""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from ..core.words import say

# In the order of registration.
PARTS: list[ModuleType] = []


def named(name: str) -> Iterator[Any]:
    """Yield what the parts hold under a name."""
    return (getattr(part, name) for part in PARTS if hasattr(part, name))


def entry(operator: str, icon: str = 'NONE', text: str = "", **options: object) -> Callable[..., None]:
    """Return a function that draws an operator in a menu. text: instead of its label; options: its own."""

    def draw(layout: Any, **more: object) -> None:
        words = {"text": say(text), "translate": False} if text else {}
        button = layout.operator(operator, icon=icon, **words)
        for name, value in {**options, **more}.items():
            setattr(button, name, value)

    return draw


def draw_entries(layout: Any, menu: str, lines: bool = False, **options: object) -> None:
    """Draw the entries of a menu. lines: one between those of two parts; options: for all entries."""
    groups = [entries[menu] for entries in named("MENU") if menu in entries]
    for group in groups:
        if lines and group is not groups[0]:
            layout.separator()
        for draw in group:
            draw(layout, **options)
