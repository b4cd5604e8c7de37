# SPDX-License-Identifier: GPL-3.0-or-later
"""What the scripts share that take pictures in Blender's window."""

import json
import os
import sys
from pathlib import Path

import bpy

sys.dont_write_bytecode = True
sys.path[:0] = [os.environ["IK2D_GUI_TOOLS"], os.environ["IK2D_GUI_STEPS"]]
from arm_steps import at, click_sub_panel, ui  # noqa: E402

__all__ = ["at", "calm", "click_sub_panel", "in_front", "look_at", "named", "picture", "scroll", "ui"]

SHOTS = Path(os.environ["IK2D_SHOTS"])
SCALE = 1.6  # of the interface: its text is legible at half the picture's size
REST = (12, 12)  # where the mouse hides nothing and asks for no tooltip


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


def scroll(sidebar, way=1):
    """Turn the wheel over the sidebar until its last panel is seen; with -1 its first."""
    yield from ui.move(sidebar.x + sidebar.width // 2, sidebar.y + sidebar.height // 3)
    for _ in range(12):
        yield from ui.button('PRESS', 'WHEELDOWNMOUSE' if way > 0 else 'WHEELUPMOUSE')
        yield 0.1
