# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of the overlay that are shown, and their colours.

They belong to the user, not to the file: they are stored in the add-on's preferences if these have the group
as `overlay`, else on the window manager. So they change no file, and undo does not change them. Loading a
file resets the window manager; then they are put back.
"""

from collections.abc import Callable
from typing import Any

import bpy
from bpy.app.handlers import persistent
from bpy.props import BoolProperty, FloatVectorProperty, PointerProperty
from bpy.types import PropertyGroup, UILayout

from ...core.words import say
from ...ui.preferences import EXTENSION
from ...ui.registration import registration

HEADINGS = {
    "colors": "overlay.*_color",
    "targets-path": "overlay.path",
    "handles": "overlay.handles",
    "overlay": "overlay.show preferences.overlay",
    "what-it-draws": "overlay.*",  # all others
}
# Called, without arguments, after any change here.
listeners: list[Callable[[], None]] = []


def _changed(_settings, _context):
    for listener in listeners:
        listener()


def _part(name: str, description: str, default: bool = True):
    return BoolProperty(name=name, description=description, default=default, update=_changed)


def _color(name: str, description: str, default: tuple[float, float, float]):
    return FloatVectorProperty(
        name=name,
        description=f"{description}. It is made lighter or darker where the theme's background asks for it",
        default=default,
        min=0.0,
        max=1.0,
        subtype='COLOR_GAMMA',
        update=_changed,
    )


class IK2D_PG_overlay(PropertyGroup):
    """The overlay's settings. The colours are told apart with all common kinds of sight."""

    __slots__ = ()

    show: _part(
        "Show IK 2D", "Draw the active chain's plane, reach, limits and target over the viewport", False
    )
    all_chains: _part(
        "All Chains",
        "Draw it of all chains and mechanisms of the armature, not of the active ones alone",
        False,
    )
    plane: _part("Plane", "A patch of the plane that the chain bends in")
    reach: _part("Reach", "The outline of where the tip can go, within the joints' limits")
    limits: _part(
        "Limits",
        "The range of each limited joint, of a post, and of what drives a mechanism, as a fan with a needle",
    )
    bend: _part(
        "Bend", "An arrow to the side that the chain bends to, a line to its pole, and its post's axis"
    )
    foot: _part("Foot", "The sole of a foot with its pivots, a line to its control, and bars where it stands")
    miss: _part(
        "Missed Target",
        "A line to a target, or an angle, that the chain misses, how far it is, and why; open joints of "
        "mechanisms",
    )
    pops: _part(
        "Pops",
        "The bands in which a joint turns by more than 5 degrees for 1 % of the reach: round "
        "the root, and where the elbow of two bones pops, which Softness makes smaller",
    )
    path: _part(
        "Target's Path",
        "Where the target goes, and where the chain cannot follow, once Calculate Path has found it",
    )
    joints: _part(
        "Joints of Mechanisms",
        "Pins as rings, slides as double lines, rams with the ends of their stroke, and the wheels of gears",
    )
    handles: _part(
        "Handles", "In Pose Mode: to drag the ends of the active bone's limits, and to flip the bend"
    )
    plane_color: _color("Plane", "Colour of the plane's grid", (0.55, 0.55, 0.65))
    reach_color: _color("Reach", "Colour of the reach", (0.25, 0.62, 0.95))
    path_color: _color("Path", "Colour of the target's path, where the chain follows it", (0.85, 0.85, 0.85))
    limit_color: _color("Limits", "Colour of limits and needles", (0.0, 0.62, 0.45))
    bend_color: _color("Bend", "Colour of the bend's arrow", (0.4, 0.95, 0.55))
    foot_color: _color("Foot", "Colour of a foot's sole and pivots", (0.8, 0.5, 0.75))
    joint_color: _color("Joints", "Colour of a mechanism's joints", (0.94, 0.89, 0.26))
    miss_color: _color("Missed", "Colour of what is missed and of joints at a limit", (0.88, 0.33, 0.1))
    pop_color: _color("Pops", "Colour of where joints turn far", (0.9, 0.65, 0.05))


SWITCHES = ("show", "all_chains")
PARTS = ("plane", "reach", "limits", "bend", "foot", "miss", "pops", "path", "joints", "handles")
_COLORED = ("plane", "reach", "limit", "bend", "foot", "joint", "miss", "pop", "path")
COLORS = tuple(f"{name}_color" for name in _COLORED)


def overlay_settings() -> PropertyGroup:
    """Return the overlay's settings: those in the add-on's preferences, else those of the session."""
    addon = bpy.context.preferences.addons.get(EXTENSION) if EXTENSION else None
    stored = getattr(addon.preferences, "overlay", None) if addon is not None else None
    return bpy.context.window_manager.ik2d_overlay if stored is None else stored


def draw_parts(layout: UILayout, settings: PropertyGroup) -> None:
    """Draw the parts that can be shown, in two columns of ticks."""
    column = layout.column()
    column.active = settings.show
    column.prop(settings, "all_chains")
    ticks = column.grid_flow(row_major=True, columns=2, even_columns=True, align=True)
    for name in PARTS:
        ticks.prop(settings, name)


def draw_preferences(layout: UILayout) -> None:
    """Draw the settings with their colours, for the add-on's preferences."""
    settings = overlay_settings()
    layout.prop(settings, "show", text=say("Show the Overlay in the Viewport"), translate=False)
    columns = layout.split(factor=0.5)
    draw_parts(columns.column(), settings)
    colors = columns.column().column(align=True)
    for name in COLORS:
        colors.prop(settings, name)


# The settings before a file is loaded.
_kept: dict[str, Any] = {}


@persistent
def _keep(*_arguments) -> None:
    """Remember the settings before loading."""
    _kept.clear()
    settings = overlay_settings()
    for name in (*SWITCHES, *PARTS, *COLORS):
        if settings.is_property_set(name):
            value = getattr(settings, name)
            _kept[name] = tuple(value) if name in COLORS else value


@persistent
def _put_back(*_arguments) -> None:
    """Put the settings back after loading; those in the user's preferences are still there."""
    settings = overlay_settings()
    for name, value in _kept.items():
        if not settings.is_property_set(name):
            setattr(settings, name, value)


PREFERENCES = {
    "overlay": PointerProperty(name="Overlay", description="What the overlay shows", type=IK2D_PG_overlay)
}
# Of the window manager, for a session without preferences.
SETTINGS = {"ik2d_overlay": PointerProperty(name="IK 2D Overlay", type=IK2D_PG_overlay)}
classes = (IK2D_PG_overlay,)
_register, _unregister = registration(classes, (bpy.types.WindowManager, SETTINGS))


def register() -> None:
    """Register the settings."""
    _register()
    bpy.app.handlers.load_pre.append(_keep)
    bpy.app.handlers.load_post.append(_put_back)


def unregister() -> None:
    """Unregister them."""
    bpy.app.handlers.load_post.remove(_put_back)
    bpy.app.handlers.load_pre.remove(_keep)
    _unregister()
