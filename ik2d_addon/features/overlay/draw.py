# SPDX-License-Identifier: GPL-3.0-or-later
"""Drawing over the viewport: what limits a chain, so that you see why its tip stops where it stops.

Batches are made again only after something has changed, as Blender's handlers say; otherwise a redraw
compares a few names and draws three batches. Switched off, there is neither a handler nor a batch.
"""

from dataclasses import dataclass, field
from typing import Any

import blf
import bpy
import gpu
from bpy.app.handlers import persistent
from bpy.types import Context, Object, PropertyGroup
from bpy_extras.view3d_utils import location_3d_to_region_2d
from gpu_extras.batch import batch_for_shader

from ...bake.lengths import Units
from ...core.inputs import Floats
from ...core.words import say
from ...ui.context import shown_chain
from . import figure as figures
from .chain_view import ChainView
from .chains_seen import (
    background_of,
    chain_views,
    chains_seen,
    figure_of,
    mechanism_views,
    mechanisms_seen,
    settings_seen,
)
from .colors import RGB, farther_end, readable
from .contact_bars import ASIDE, ContactBars, contact_bars, triangles
from .figure import Figure
from .settings import listeners, overlay_settings

# The distance of words from their place, and the edge round bold lines, in pixels at a scale of 1.
_OFFSET, _EDGE = 20.0, 2.5
# Bold lines get an edge that stands out from them, so that they are seen over anything.
_EDGE_ALPHA = 0.35


@dataclass
class _Drawn:
    """Figure that was drawn last over a background."""

    settings: list[tuple] = field(default_factory=list)  # of the chains, as `settings_seen` reads them
    is_of_frame: bool = True  # whether it shows the current frame
    rigs: dict[tuple, Any] = field(default_factory=dict)  # kept when the frame changes
    views: dict[str, ChainView] = field(default_factory=dict)  # by the chains' names
    batches: list[tuple[Any, str, float]] = field(default_factory=list)  # batch, shader, pixels
    edges: list[tuple[Any, float]] = field(default_factory=list)
    labels: list = field(default_factory=list)
    bars: ContactBars | None = None  # of the chain that the sidebar shows
    bar_color: RGB = (1.0, 1.0, 1.0)
    edge: float = 0.0  # the grey of edges


# By armature, mode and background: viewports may differ in these.
_drawn: dict[tuple, _Drawn] = {}
# As many are kept: a background whose color is dragged has many.
_MOST = 8
# That of the viewport that is being drawn; None if it shows nothing.
_shown: _Drawn | None = None
_callbacks: list = []
# Whether all chains are drawn: asked at each redraw.
_all_chains = False
# Why the overlay switched itself off; "" if it did not.
problem = ""


# --- Drawing -----------------------------------------------------------------


def _draw_in_view() -> None:
    """Draw lines and areas."""
    global _shown
    _shown = None
    context = bpy.context
    if problem or not context.space_data.overlay.show_overlays:
        return
    try:
        _shown = _current(context)
        if _shown is not None:
            _draw_batches(context, _shown)
    except Exception as error:  # it would come again at each redraw
        _give_up(error)


def _draw_in_pixels() -> None:
    """Draw words: Blender calls it after the lines of the same viewport."""
    if problem or _shown is None:
        return
    try:
        if _shown.labels:
            _draw_labels(bpy.context, _shown)
        if _shown.bars is not None:
            _draw_bars(bpy.context, _shown, _shown.bars)
    except Exception as error:
        _give_up(error)


def _current(context: Context) -> _Drawn | None:
    """Return the cached drawing, made again if something has changed; None if there is nothing to draw."""
    armature, chains = chains_seen(context, _all_chains)
    mechanisms = mechanisms_seen(armature, _all_chains)
    if not (chains or mechanisms) or not armature.visible_get(viewport=context.space_data):
        return None
    settings = settings_seen(chains, mechanisms)
    key = (armature.session_uid, context.mode, background_of(context))
    drawn = _drawn.get(key)
    if drawn is None or not drawn.is_of_frame or drawn.settings != settings:
        rigs = next((other.rigs for other in _drawn.values() if other.settings == settings), {})
        if len(_drawn) > _MOST:
            _drawn.clear()
        drawn = _drawn[key] = _made(context, armature, chains, mechanisms, rigs)
        drawn.settings = settings
    return drawn


def chain_view_shown(context: Context) -> ChainView | None:
    """Return the chain that the sidebar shows, as the overlay draws it; None if it does not draw it."""
    chain = shown_chain(context)
    drawn = _current(context) if _callbacks and not problem and chain is not None else None
    return drawn.views.get(chain.name) if drawn is not None else None


def _made(
    context: Context,
    armature: Object,
    chains: list[PropertyGroup],
    mechanisms: list[PropertyGroup],
    rigs: dict[tuple, Any],
) -> _Drawn:
    """Return the drawing of an armature's chains and mechanisms as posed. rigs: those read before."""
    background = background_of(context)
    views = chain_views(armature, chains, rigs)
    units = Units.of(context.scene)
    machines = mechanism_views(armature, mechanisms, rigs)
    figure = figure_of(armature, views, overlay_settings(), background, units, machines)
    drawn = _batched(figure, farther_end(background))
    chain = shown_chain(context)
    if overlay_settings().foot and chain is not None:
        drawn.bars = contact_bars(chain, context.scene)
        drawn.bar_color = readable(tuple(overlay_settings().foot_color), background)
    drawn.rigs, drawn.views = rigs, {chain.name: chain_view for chain, chain_view in views}
    return drawn


def _batched(figure: Figure, edge: float) -> _Drawn:
    """Return the drawing of a figure, in batches for the graphics card."""
    drawn = _Drawn(labels=figure.labels, edge=1.0 - edge)
    points, colors = figures.joined(figure.triangles)
    if len(points):
        drawn.batches.append((_batch('FLAT_COLOR', 'TRIS', pos=points, color=colors), 'FLAT_COLOR', 0.0))
    for width, parts in figure.lines.items():
        points, colors = figures.joined(parts)
        if not len(points):
            continue
        shader = 'POLYLINE_FLAT_COLOR'
        drawn.batches.append((_batch(shader, 'LINES', pos=points, color=colors), shader, width))
        if width == figures.BOLD:
            drawn.edges.append((_batch('POLYLINE_UNIFORM_COLOR', 'LINES', pos=points), width))
    return drawn


def _batch(shader: str, kind: str, **columns) -> Any:
    return batch_for_shader(gpu.shader.from_builtin(shader), kind, columns)


def _draw_batches(context: Context, drawn: _Drawn) -> None:
    scale = context.preferences.system.ui_scale
    viewport = gpu.state.viewport_get()[2:]
    gpu.state.blend_set('ALPHA')
    gpu.state.depth_test_set('NONE')
    try:
        for batch, name, width in drawn.batches:
            if width == figures.BOLD:
                _draw_edges(drawn, viewport, scale)
            shader = gpu.shader.from_builtin(name)
            shader.bind()
            if width:
                shader.uniform_float("viewportSize", viewport)
                shader.uniform_float("lineWidth", width * scale)
            batch.draw(shader)
    finally:
        gpu.state.blend_set('NONE')


def _draw_edges(drawn: _Drawn, viewport, scale: float) -> None:
    """Draw the edges of bold lines."""
    shader = gpu.shader.from_builtin('POLYLINE_UNIFORM_COLOR')
    shader.bind()
    shader.uniform_float("viewportSize", viewport)
    shader.uniform_float("color", (drawn.edge, drawn.edge, drawn.edge, _EDGE_ALPHA))
    for batch, width in drawn.edges:
        shader.uniform_float("lineWidth", (width + _EDGE) * scale)
        batch.draw(shader)


def _draw_labels(context: Context, drawn: _Drawn) -> None:
    scale = context.preferences.system.ui_scale
    size = context.preferences.ui_styles[0].widget.points * scale
    shadow = 0.0 if drawn.edge < 0.5 else 1.0
    blf.size(0, size)
    blf.enable(0, blf.SHADOW)
    blf.shadow(0, 0, shadow, shadow, shadow, 0.8)
    blf.shadow_offset(0, 1, -1)
    taken: list[tuple[float, float, float]] = []
    for place, words, color in drawn.labels:
        at = location_3d_to_region_2d(context.region, context.region_data, place)
        if at is None:  # behind the viewer
            continue
        width, height = blf.dimensions(0, words)
        x = min(max(at.x + _OFFSET * scale, 0.0), max(context.region.width - width, 0.0))
        y = free_line(taken, x, at.y + _OFFSET * scale, width, 1.5 * height)
        blf.position(0, x, y, 0.0)
        blf.color(0, *color, 1.0)
        blf.draw(0, words)
    blf.disable(0, blf.SHADOW)


def _draw_bars(context: Context, drawn: _Drawn, bars: ContactBars) -> None:
    """Draw the contacts of a foot as bars over the frames, with the current frame."""
    scale = context.preferences.system.ui_scale
    left, right = _free_sides(context)
    rows, mark = bars.boxes(left + ASIDE * scale, right - ASIDE * scale, scale)
    shader = gpu.shader.from_builtin('UNIFORM_COLOR')
    ink = (1.0 - drawn.edge,) * 3
    gpu.state.blend_set('ALPHA')
    for _, ground, boxes in rows:
        _fill(shader, ground[None], (*ink, 0.15))
        _fill(shader, boxes, (*drawn.bar_color, 0.9))
    _fill(shader, mark[None], (*ink, 1.0))
    gpu.state.blend_set('NONE')
    blf.size(0, context.preferences.ui_styles[0].widget.points * scale)
    for words, ground, _ in rows:
        blf.position(0, ground[0] - blf.dimensions(0, words)[0] - 8.0 * scale, ground[1], 0.0)
        blf.color(0, *ink, 1.0)
        blf.draw(0, words)


def _free_sides(context: Context) -> tuple[float, float]:
    """Return where the viewport is free of the regions that lie over it, from the left to the right."""
    left, right, view_region = 0.0, float(context.region.width), context.region
    for region in context.area.regions:
        if region.type == 'UI' and region.width > 1:
            right = min(right, float(region.x - view_region.x))
        elif region.type == 'TOOLS' and region.width > 1:
            left = max(left, float(region.x + region.width - view_region.x))
    return left, right


def _fill(shader: Any, boxes: Floats, color: tuple) -> None:
    """Fill boxes (m, 4) of the region."""
    if len(boxes):
        shader.bind()
        shader.uniform_float("color", color)
        batch_for_shader(shader, 'TRIS', {"pos": triangles(boxes)}).draw(shader)


def free_line(
    taken: list[tuple[float, float, float]], x: float, y: float, width: float, height: float
) -> float:
    """Return the lowest y, from one on, at which words of a width overlap no others, and add it to `taken`.

    taken: (left, right, y) of the words that are there already, all of one height.
    """
    in_the_way = sorted(other for left, right, other in taken if left < x + width and x < right)
    for other in in_the_way:
        if abs(other - y) < height:
            y = other + height
    taken.append((x, x + width, y))
    return y


# --- Switching it on and off -------------------------------------------------


def _give_up(error: Exception) -> None:
    """Switch the overlay off, after the redraw, for a reason that the sidebar shows."""
    global problem
    problem = say(
        "The overlay failed and is off: {error}. Please report it; Show IK 2D tries again", error=error
    )
    bpy.app.timers.register(_switch_off, first_interval=0.0)


def _switch_off() -> None:
    global problem
    kept = problem
    overlay_settings().show = False
    problem = kept  # which the switch forgets


def _redraw() -> None:
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == 'VIEW_3D':
                area.tag_redraw()


def update() -> None:
    """Draw all again, or stop drawing, as the settings say."""
    global _all_chains, problem
    settings = overlay_settings()
    _drawn.clear()
    _all_chains = settings.all_chains
    wanted = settings.show and not bpy.app.background
    if wanted and not _callbacks:
        problem = ""
        add = bpy.types.SpaceView3D.draw_handler_add
        _callbacks.extend(
            add(function, (), 'WINDOW', when)
            for function, when in ((_draw_in_view, 'POST_VIEW'), (_draw_in_pixels, 'POST_PIXEL'))
        )
        for name, function in _HANDLERS:
            getattr(bpy.app.handlers, name).append(function)
    elif not wanted and _callbacks:
        _stop()
    _redraw()


def _stop() -> None:
    global _shown, problem
    problem = ""
    for callback in _callbacks:
        bpy.types.SpaceView3D.draw_handler_remove(callback, 'WINDOW')
    for name, function in _HANDLERS:
        getattr(bpy.app.handlers, name).remove(function)
    _callbacks.clear()
    _drawn.clear()
    _shown = None


@persistent
def _anything_changed(*_arguments) -> None:
    _drawn.clear()


@persistent
def _frame_changed(*_arguments) -> None:
    """Draw the new pose; the rigs are kept."""
    for drawn in _drawn.values():
        drawn.is_of_frame = False


@persistent
def _file_loaded(*_arguments) -> None:
    """Follow the settings of the new file."""
    update()


_HANDLERS = (
    ("depsgraph_update_post", _anything_changed),
    ("undo_post", _anything_changed),
    ("redo_post", _anything_changed),
    ("frame_change_post", _frame_changed),
)


def register() -> None:
    """Follow the settings."""
    listeners.append(update)
    bpy.app.handlers.load_post.append(_file_loaded)
    update()


def unregister() -> None:
    """Stop drawing."""
    bpy.app.handlers.load_post.remove(_file_loaded)
    listeners.remove(update)
    if _callbacks:
        _stop()
