# SPDX-License-Identifier: GPL-3.0-or-later
"""What the scripts share that take pictures in Blender's window."""

import json
import os
import sys
from collections.abc import Iterator
from ctypes import c_char_p, c_short, c_void_p, string_at
from functools import cache
from pathlib import Path

import bpy

sys.dont_write_bytecode = True
SCENES = Path(__file__).resolve().parents[2] / "sample_scenes"
sys.path[:0] = [os.environ["IK2D_GUI_TOOLS"], os.environ["IK2D_GUI_STEPS"], str(SCENES)]
from arm_steps import at, ui  # noqa: E402
from scenes import tab  # noqa: E402

__all__ = ["at", "call", "calm", "in_front", "look_at", "named", "picture", "scroll", "set_open", "ui"]

SHOTS = Path(os.environ["IK2D_SHOTS"])
SCALE = 1.6  # of the interface: its text is legible at half the picture's size
REST = (12, 12)  # where the mouse hides nothing and asks for no tooltip
CLOSED, OPEN = 1 << 2, 1  # of a panel, of a panel within one: bits of their flags in Blender's files


def calm() -> None:
    """Leave out of the viewport what the pictures do not speak of."""
    bpy.context.preferences.view.smooth_view = 0
    area, _ = ui.region()
    space = area.spaces.active
    space.shading.color_type = 'MATERIAL'
    space.show_gizmo_navigate = space.show_region_toolbar = space.show_region_hud = False
    overlay = space.overlay
    overlay.show_cursor = overlay.show_text = overlay.show_relationship_lines = False
    overlay.show_extras = overlay.show_axis_x = overlay.show_axis_y = False
    for name in ("Stage", "Pivots"):
        if name in bpy.data.collections:
            for ob in bpy.data.collections[name].objects:
                ob.hide_set(ob.type != 'MESH')


def look_at(x: float, z: float, distance: float) -> None:
    """See the point (x, 0, z) from the front, from a distance in units."""
    area, _ = ui.region()
    view = area.spaces.active.region_3d
    view.view_perspective = 'ORTHO'
    view.view_rotation = (0.70710678, 0.70710678, 0.0, 0.0)
    view.view_location, view.view_distance = (x, 0.0, z), distance


def in_front(name: str):
    """Show a tab of the sidebar, large, next to viewport and timeline alone; return its area and region."""
    bpy.context.preferences.view.ui_scale = SCALE
    for kind in ('OUTLINER', 'PROPERTIES'):
        for area in [area for area in ui.window().screen.areas if area.type == kind]:
            with bpy.context.temp_override(window=ui.window(), area=area):
                bpy.ops.screen.area_close()
    yield 1.0
    area, sidebar = yield from ui.sidebar(name)
    return area, sidebar


def named(kind: str, name: str):
    """Return a thing of the file by name: undo makes all anew."""
    return getattr(bpy.data, kind)[name]


def picture(name: str, *regions: bpy.types.Region, still: bool = True, rows: int = 0):
    """Keep a picture of the window, or of the rectangle that the regions fill.

    still: take the mouse out of the way first; rows: keep so many pixels from the top, 0 for all.
    """
    if still:
        yield from ui.move(*REST)
        yield 0.2
    for area in ui.window().screen.areas:
        area.tag_redraw()
    path = SHOTS / f"{name}.png"
    yield from ui.shot(str(path))
    if regions:
        height = ui.window().height
        left, right = min(r.x for r in regions), max(r.x + r.width for r in regions)
        low, high = min(r.y for r in regions), max(r.y + r.height for r in regions)
        low = high - rows if rows else low
        path.with_suffix(".json").write_text(json.dumps([left, height - high, right, height - low]))


def call(operator: str, how: str = 'EXEC_DEFAULT', **arguments):
    """Run an operator of ours as a button in the sidebar does."""
    area, view = ui.region()
    with bpy.context.temp_override(window=ui.window(), area=area, region=view):
        getattr(bpy.ops.ik2d, operator)(how, **arguments)
    yield 1.0


def set_open(sidebar: bpy.types.Region, name: str, is_open: bool = True):
    """Open or close a panel, by its class, or a part of one, by its id: Blender lets only clicks do it."""
    for panel in _panels(sidebar.as_pointer() + _place("ARegion", "panels")):
        if string_at(panel + _place("Panel", "panelname[64]")).decode() == name:
            _set(panel + _place("Panel", "flag"), CLOSED, not is_open)
            break
        parts = _items(panel + _place("Panel", "layout_panel_states"))
        ids = {
            c_char_p.from_address(part + _place("LayoutPanelState", "*idname")).value: part for part in parts
        }
        if name.encode() in ids:
            _set(ids[name.encode()] + _place("LayoutPanelState", "flag"), OPEN, is_open)
            break
    else:
        raise AssertionError(f"The sidebar has no panel {name}")
    for _ in range(2):  # where the panels below it go is known once it is drawn
        sidebar.tag_redraw()
        yield 0.5


@cache
def _place(struct: str, member: str) -> int:
    return tab.member(struct, member)[0]


def _items(place: int) -> Iterator[int]:
    """Yield the addresses of a list's items; each begins with that of the next."""
    item = c_void_p.from_address(place).value
    while item:
        yield item
        item = c_void_p.from_address(item).value


def _panels(place: int) -> Iterator[int]:
    """Yield the panels of a list and those below them."""
    for panel in _items(place):
        yield panel
        yield from _panels(panel + _place("Panel", "children"))


def _set(place: int, bit: int, on: bool) -> None:
    flag = c_short.from_address(place)
    flag.value = flag.value | bit if on else flag.value & ~bit


def scroll(sidebar, way=1):
    """Turn the wheel over the sidebar until its last panel is seen; with -1 its first."""
    yield from ui.move(sidebar.x + sidebar.width // 2, sidebar.y + sidebar.height // 3)
    for _ in range(12):
        yield from ui.button('PRESS', 'WHEELDOWNMOUSE' if way > 0 else 'WHEELUPMOUSE')
        yield 0.1
