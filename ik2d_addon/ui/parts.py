# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules that are registered, and what they name for menus, panels and the manual.

`MENU`: entries by menu, in the order of their numbers. `BOX`: the label of a box in the Rig panel, and a
function that draws it. `HEADINGS`: headings of the manual (`ui/manual.py`). `PREFERENCES`: properties of the
add-on's preferences, which `draw_preferences` draws.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ..core.words import say

# In the order of registration.
PARTS: list[ModuleType] = []


def named(name: str) -> Iterator[Any]:
    """Yield what the parts hold under a name."""
    return (getattr(part, name) for part in PARTS if hasattr(part, name))


@dataclass(frozen=True)
class MenuEntry:
    """An entry of a menu: a function that draws it, and its number in the order from above."""

    draw: Callable[..., None]
    order: int


# Entries without a number of their own are below those with one, in the order of registration.
_LATER, LAST = 50, 100


def entry(
    operator: str, icon: str = 'NONE', text: str = "", order: int = _LATER, **options: object
) -> MenuEntry:
    """Return an operator's entry. text: instead of its label; options: values of its properties."""

    def draw(layout: Any, **more: object) -> None:
        words = {"text": say(text), "translate": False} if text else {}
        button = layout.operator(operator, icon=icon, **words)
        for name, value in {**options, **more}.items():
            setattr(button, name, value)

    return MenuEntry(draw, order)


def draw_entries(layout: Any, menu: str, lines: bool = False, **options: object) -> None:
    """Draw the entries of a menu. lines: one between those of two parts; options: for all entries."""
    found = [(each, i) for i, menus in enumerate(named("MENU")) for each in menus.get(menu, ())]
    found.sort(key=lambda pair: pair[0].order)
    for (each, part), (_, above) in zip(found, [*found[:1], *found], strict=False):
        if lines and part != above:
            layout.separator()
        each.draw(layout, **options)
