# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts over as many lines as the sidebar asks for, and fields."""

from collections.abc import Callable, Sequence

import blf
from bpy.types import Context, Object, UILayout, bpy_struct

from ..core.words import say

# In heights of a button. Not for text are the tabs and the panel's margins; a box has margins too.
_MARGINS, _BOX, _ICON, _PADDING = 2.2, 1.4, 1.1, 0.8
# The part of the width that a property's name gets next to its value.
_NAMES = 0.4


def wrapped(text: str, width: float, measure: Callable[[str], float]) -> list[str]:
    """Break text between words into lines no wider than `width`; a word that is wider itself is cut."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if measure(longer) <= width:
            lines[-1] = longer
            continue
        if lines[-1]:
            lines.append("")
        for letter in word:
            if lines[-1] and measure(lines[-1] + letter) > width:
                lines.append("")
            lines[-1] += letter
    return lines


def draw_text(layout: UILayout, context: Context, text: str, icon: str, buttons: int = 0) -> None:
    """Draw paragraphs over as many lines as the sidebar's width asks for; 'NONE' draws no icon.

    buttons: how many without text are at its right.
    """
    button = button_height(context)
    width = content_width(context) - (_BOX + buttons + (_ICON if icon != 'NONE' else 0.0)) * button
    column = layout.column(align=True)
    column.scale_y = 0.8
    for paragraph in text.splitlines():
        sign = icon
        for line in wrapped(paragraph, max(width, 3.0 * button), lambda line: text_width(context, line)):
            column.label(text=line, translate=False, icon=sign)
            if icon != 'NONE':
                sign = 'BLANK1'  # below an icon the text keeps its left edge


def draw_lines(layout: UILayout, context: Context, text: str, icon: str, width: float) -> None:
    """Draw a text in as many lines as a dialog of a width in pixels asks for."""
    for line in wrapped(text, width, lambda line: text_width(context, line)):
        layout.label(text=line, translate=False, icon=icon)
        icon = 'BLANK1'


def fitting(context: Context, texts: Sequence[str], left: float = 0.0) -> str:
    """Return the first of some texts that fits one line with an icon and a triangle; else the last.

    left: the part of the sidebar's width that is taken by something else.
    """
    room = (1.0 - left) * content_width(context) - (2.0 * _ICON + 0.5 * _PADDING) * button_height(context)
    return next((text for text in texts if text_width(context, text) <= room), texts[-1])


def for_settings(layout: UILayout) -> UILayout:
    """Return a layout set up for settings: their names at the left of them, without buttons for keys."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    return layout


def field(
    layout: UILayout, context: Context, owner: bpy_struct, name: str, label: str = "", **options
) -> None:
    """Draw a property next to its name; a tick with its whole label, all others as Blender cuts them.

    search_in and search: the collection that its value is a name from.
    """
    known = owner.bl_rna.properties.get(name)  # None for a custom property
    label = say(label or known.name)
    if known is not None and known.type == 'BOOLEAN':
        _draw_tick(layout, context, owner, name, label)
        return
    search_in, search = options.pop("search_in", None), options.pop("search", "")
    if search_in is None:
        layout.prop(owner, name, text=label, translate=False, **options)
    else:
        layout.prop_search(owner, name, search_in, search, text=label, translate=False, **options)


def bone_field(layout: UILayout, context: Context, owner: bpy_struct, name: str, ob: Object | None) -> None:
    """Draw a bone of an armature to choose; of another object only one that is left there, to clear it."""
    if ob is not None and ob.type == 'ARMATURE':
        field(layout, context, owner, name, icon='BONE_DATA', search_in=ob.data, search="bones")
    elif getattr(owner, name):
        field(layout, context, owner, name, icon='BONE_DATA')


def _draw_tick(layout: UILayout, context: Context, owner: bpy_struct, name: str, label: str) -> None:
    """Draw a tick with its label, which takes more lines where one would be cut."""
    row = layout.row(align=True)
    row.use_property_split = False
    if text_width(context, label) <= content_width(context) - 2.0 * _ICON * button_height(context):
        row.prop(owner, name, text=label, translate=False)
    else:
        row.prop(owner, name, text="")
        draw_text(row, context, label, 'NONE')


def draw_value(layout: UILayout, context: Context, name: str, value: str) -> None:
    """Draw a value that cannot be edited next to its name, where those of fields are."""
    row = layout.split(factor=_NAMES)
    label = row.row()
    label.alignment = 'RIGHT'
    label.label(text=name, translate=False)
    row.label(text=value, translate=False)


def fits_as_name(context: Context, label: str) -> bool:
    """Return whether a property's name fits where Blender puts it, at the left of its value."""
    room = _NAMES * content_width(context) - 0.4 * button_height(context)
    return text_width(context, label) <= room


def text_width(context: Context, text: str) -> float:
    """Return the width of a text in the sidebar, in the pixels of `content_width`."""
    system, style = context.preferences.system, context.preferences.ui_styles[0]
    blf.size(0, style.widget.points * system.ui_scale)
    return blf.dimensions(0, text)[0]


def button_height(context: Context) -> float:
    """Return the height of a button, the unit of margins and icons."""
    return 20.0 * context.preferences.system.ui_scale


def content_width(context: Context) -> float:
    """Return the sidebar's width without its tabs and margins."""
    return sidebar_width(context) - _MARGINS * button_height(context)


def sidebar_width(context: Context) -> float:
    """Return the sidebar's width in the pixels that its text is measured in, whatever its zoom."""
    region = context.region
    if region is None:
        return 280.0
    view = region.view2d
    return view.region_to_view(region.width, 0)[0] - view.region_to_view(0, 0)[0]
