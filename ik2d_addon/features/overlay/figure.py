# SPDX-License-Identifier: GPL-3.0-or-later
"""The coloured lines, triangles and words that are drawn for a chain in a pose. Needs no window."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...core.inputs import Floats
from ...core.pops import pop_bands
from ...core.words import say
from . import shapes
from .chain_view import ChainView
from .colors import RGB

_Made = TypeVar("_Made")
THIN, BOLD = 1.0, 2.0  # pixels, at a scale of 1
# The radius of a joint's fan, as a part of its bone, and at most of the reach.
FAN_OF_BONE, FAN_OF_REACH = 0.45, 0.3
# Number of chains whose grounds are kept.
_KEPT = 32
# A joint nearer than this to an end of its range is at its limit (radians).
AT_LIMIT = np.radians(0.5)
# A last bone nearer than this to its angle has it (radians).
_OFF_ANGLE = np.radians(0.1)
# Sizes as parts of the reach: a dash with its gap, half a cross.
DASH, _CROSS = 0.04, 0.025
_PATH_CROSS, _TICK, _PIVOT = 0.012, 0.008, 0.02


@dataclass(frozen=True, eq=False)
class TargetPath:
    """Path of a chain's target over some frames."""

    frames: NDArray[np.int64]  # (m,)
    places: Floats  # (m, 3) in the world
    missed: NDArray[np.bool_]  # (m,) where the chain cannot follow it


class Miss(NamedTuple):
    """A tip off its target, in words; "" where it is on it."""

    words: str
    is_real: bool = True  # not only since the chain is not solved at this frame, or FK


@dataclass
class Figure:
    """Coloured pieces of lines, by their widths, triangles, and words, all in the world."""

    lines: dict[float, list[tuple[Floats, tuple]]] = field(default_factory=lambda: {THIN: [], BOLD: []})
    triangles: list[tuple[Floats, tuple]] = field(default_factory=list)
    labels: list[tuple[Floats, str, RGB]] = field(default_factory=list)

    def line(self, pieces: Floats, color: RGB, alpha: float = 1.0, width: float = THIN) -> None:
        """Add pieces of lines (m, 2, 3)."""
        self.lines[width].append((pieces.reshape(-1, 3), (*color, alpha)))

    def fill(self, triangles: Floats, color: RGB, alpha: float) -> None:
        """Add triangles (m, 3, 3)."""
        self.triangles.append((triangles.reshape(-1, 3), (*color, alpha)))


def joined(parts: list[tuple[Floats, tuple]]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the points (m, 3) of parts and their colours (m, 4)."""
    points = [np.zeros((0, 3)), *(points for points, _ in parts)]
    colors = [np.zeros((0, 4)), *(np.tile(color, (len(points), 1)) for points, color in parts)]
    return np.concatenate(points, dtype=np.float32), np.concatenate(colors, dtype=np.float32)


def lifted(chain_view: ChainView, flat: Floats) -> Floats:
    """Return points (..., 2) of the chain's plane in the world (..., 3)."""
    world = chain_view.to_world
    return shapes.spanned(flat, world[:3, 3], world[:3, 0], world[:3, 1])


class PlaneView(Protocol):
    """Plane in the world that something of a size is drawn in."""

    @property
    def to_world(self) -> Floats:
        """(4, 4) from x, y and height over the plane."""

    @property
    def size(self) -> float:
        """What sizes of what is drawn are parts of, in the world."""


def across(view: PlaneView, part: float) -> tuple[Floats, Floats]:
    """Return vectors (3,) along the plane's x and y, of a length that is a part of the view's size."""
    x, y = (part * view.size * axis / np.linalg.norm(axis) for axis in view.to_world[:3, :2].T)
    return x, y


class DraggedTip(PlaneView, Protocol):
    """Place that is dragged to a target, both (3,) in the world."""

    @property
    def tip(self) -> Floats:
        """Where it is."""

    @property
    def target(self) -> Floats:
        """Where it would be."""


# --- The parts: each adds one to a figure ------------------------------------


def draw_plane(figure: Figure, chain_view: ChainView, color: RGB) -> None:
    """Add a faint patch of the chain's plane."""
    outer = chain_view.reach[1]
    figure.fill(lifted(chain_view, shapes.disc(outer)), color, 0.05)
    figure.line(lifted(chain_view, shapes.grid(outer)), color, 0.22)


@dataclass(frozen=True, eq=False)
class _Ground:
    """Pieces and triangles in a chain's plane that stay while the chain moves."""

    outline: Floats  # (m, 2, 2)
    pops: list[tuple[float, float, Floats, Floats]]  # from, to, triangles, strokes


# Cached grounds, by their fingerprints.
_grounds: OrderedDict[tuple, _Ground] = OrderedDict()


def _ground(chain_view: ChainView) -> _Ground:
    """Return the cached ground of a chain, made again if its lengths, limits or softness have changed."""
    chain = chain_view.chain
    limits = b"" if chain.limits is None else chain.limits.tobytes() + chain.weights.tobytes()
    slides = b"" if chain.slides is None else chain.slides.tobytes()
    key = chain.lengths.tobytes(), limits, slides, chain_view.reach, chain_view.settings.softness
    return kept(_grounds, key, lambda: _made_ground(chain_view))


def kept(cache: OrderedDict[tuple, _Made], key: tuple, make: Callable[[], _Made]) -> _Made:
    """Look a key up in a cache, and make its value where it has none; the cache keeps those used last."""
    if key not in cache:
        cache[key] = make()
        while len(cache) > _KEPT:
            cache.popitem(last=False)
    cache.move_to_end(key)
    return cache[key]


def _made_ground(chain_view: ChainView) -> _Ground:
    if chain_view.region is not None:
        outlines = chain_view.region.outline()
    else:
        outlines = [shapes.arc(radius) for radius in chain_view.reach if radius > 0.0]
    pops = []
    for low, high in pop_bands(chain_view.chain, chain_view.settings.softness):
        triangles, strokes = (_kept(chain_view, shape) for shape in shapes.band(low, high))
        pops.append((low, high, triangles, strokes))
    pieces = [shapes.pieces(outline) for outline in outlines]
    return _Ground(np.concatenate([*pieces, np.zeros((0, 2, 2))]), pops)


def _kept(chain_view: ChainView, parts: Floats) -> Floats:
    """Return the parts (m, k, 2) whose middles the tip can reach within its limits."""
    if chain_view.region is None:
        return parts
    return parts[chain_view.region.contains(parts.mean(axis=1))]


def draw_reach(figure: Figure, chain_view: ChainView, color: RGB) -> None:
    """Add the outline of the tip's reach: a ring, or the part of it within limits."""
    figure.line(lifted(chain_view, _ground(chain_view).outline), color, 0.9, BOLD)


def draw_pops(figure: Figure, chain_view: ChainView, color: RGB) -> None:
    """Add hatched bands where an elbow is about to pop or a chain to whirl, bolder with the target in."""
    distance = float(np.hypot(*chain_view.flat(chain_view.target)[:2]))
    for low, high, triangles, strokes in _ground(chain_view).pops:
        inside = low <= distance <= high
        figure.fill(lifted(chain_view, triangles), color, 0.3 if inside else 0.15)
        figure.line(lifted(chain_view, strokes), color, 0.9 if inside else 0.6)


def fan_radius(chain_view: ChainView, joint: int) -> float:
    """Return the radius of a joint's fan, in the chain's units."""
    return min(FAN_OF_BONE * float(chain_view.chain.lengths[joint]), FAN_OF_REACH * chain_view.reach[1])


def draw_limits(figure: Figure, chain_view: ChainView, color: RGB, stop: RGB, active: str) -> None:
    """Add a fan with a needle at each limited joint; active: the bone whose fan is bolder."""
    for joint, bone in enumerate(chain_view.bones):
        low, high, needle = chain_view.fan(joint)
        radius = fan_radius(chain_view, joint)
        if not np.isfinite((low, high)).all() or radius <= 0.0:
            continue
        chosen, stopped = bone == active, not low + AT_LIMIT < needle < high - AT_LIMIT
        centre = chain_view.joints[joint]
        triangles, outline = shapes.fan(centre, radius, low, high)
        figure.fill(lifted(chain_view, triangles), color, 0.3 if chosen else 0.18)
        figure.line(lifted(chain_view, outline), color, 0.95, BOLD if chosen else THIN)
        pointing = shapes.needle(centre, 1.12 * radius, needle, stopped)
        figure.line(lifted(chain_view, pointing), stop if stopped else color, 1.0, BOLD)


def draw_bend(figure: Figure, chain_view: ChainView, color: RGB) -> None:
    """Add an arrow to the side that the chain bends to."""
    ends = shapes.bend_arrow(chain_view.joints, chain_view.settings.bend, chain_view.reach[1])
    if ends is not None:
        head, shaft = shapes.arrow(*ends)
        figure.fill(lifted(chain_view, head), color, 0.9)
        figure.line(lifted(chain_view, shaft), color, 0.9, BOLD)


def draw_pole(figure: Figure, chain_view: ChainView, color: RGB) -> None:
    """Add a dashed line from the knee, or the middle of a single bone, to the pole."""
    if chain_view.pole is None:
        return
    joints = chain_view.joints
    knee = joints[len(joints) // 2] if len(joints) > 2 else joints.mean(axis=0)
    size = chain_view.size
    figure.line(shapes.dashes(lifted(chain_view, knee), chain_view.pole, DASH * size, 0.4), color, 0.9)


def draw_post(figure: Figure, chain_view: ChainView, color: RGB) -> None:
    """Add a dashed line along the axis that a post turns the chain's plane about."""
    if chain_view.post is not None:
        size = chain_view.size
        figure.line(shapes.dashes(*chain_view.post.axis, 2.0 * DASH * size, 0.8), color, 0.9, BOLD)


def draw_post_limits(figure: Figure, chain_view: ChainView, color: RGB, stop: RGB) -> None:
    """Add a fan about a post's axis with a needle where the chain leads to, if the post has limits."""
    post = chain_view.post
    if post is None or post.limits is None:
        return
    low, high = post.limits
    stopped = not low + AT_LIMIT < post.angle < high - AT_LIMIT
    triangles, outline = shapes.fan(np.zeros(2), 1.0, low, high)
    figure.fill(post.around(triangles), color, 0.18)
    figure.line(post.around(outline), color, 0.95)
    pointing = shapes.needle(np.zeros(2), 1.12, post.angle, stopped)
    figure.line(post.around(pointing), stop if stopped else color, 1.0, BOLD)


def draw_foot(figure: Figure, chain_view: ChainView, color: RGB) -> None:
    """Add a foot's sole with a cross at each pivot, and a dashed line from its control to its ankle."""
    foot = chain_view.foot
    if foot is None:
        return
    size = chain_view.size
    figure.line(shapes.pieces(foot.sole), color, 1.0, BOLD)
    figure.line(shapes.crosses(foot.sole, *across(chain_view, _PIVOT)), color)
    if np.linalg.norm(foot.control - chain_view.tip) > _PIVOT * size:
        figure.line(shapes.dashes(foot.control, chain_view.tip, DASH * size, 0.4), color, 0.9)


def draw_miss(figure: Figure, dragged: DraggedTip, color: RGB, quiet: RGB, miss: Miss) -> None:
    """Add a dashed line from the tip to a target that it is not on, and words next to the target."""
    if not miss.words:
        return
    shade = color if miss.is_real else quiet
    ends = dragged.tip, dragged.target
    figure.line(shapes.dashes(*ends, DASH * dragged.size, 0.6 if miss.is_real else 0.3), shade, 1.0, BOLD)
    if miss.is_real:
        strokes = shapes.crosses(dragged.target[np.newaxis], *across(dragged, _CROSS))
        figure.line(strokes, shade, 1.0, BOLD)
    figure.labels.append((dragged.target, miss.words, shade))


def draw_heading(figure: Figure, chain_view: ChainView, color: RGB) -> None:
    """Add a dashed line where the last bone would be at its angle, and words, if it is off that."""
    if chain_view.heading is None or chain_view.heading_off <= _OFF_ANGLE:
        return
    along = np.array((np.cos(chain_view.heading), np.sin(chain_view.heading)))
    start = chain_view.joints[-2]
    end = start + chain_view.chain.lengths[-1] * along
    figure.line(lifted(chain_view, shapes.dashes(start, end, DASH * chain_view.reach[1])), color, 1.0, BOLD)
    words = say("{angle:.3g}° off its angle", angle=np.degrees(chain_view.heading_off))
    figure.labels.append((lifted(chain_view, end), words, color))


def draw_path(figure: Figure, chain_view: ChainView, path: TargetPath, color: RGB, missed: RGB) -> None:
    """Add where the target goes: a line with a tick at each frame, dashes with crosses where it is missed."""
    size = chain_view.size
    steps = shapes.pieces(path.places)
    out = path.missed[:-1] | path.missed[1:]
    figure.line(steps[~out], color, 0.9, BOLD)
    figure.line(shapes.ticks(path.places, chain_view.to_world[:3, 2], _TICK * size)[~path.missed], color, 0.9)
    broken = steps[out]
    middles = broken.mean(axis=1, keepdims=True)
    figure.line(middles + 0.5 * (broken - middles), missed, 0.9, BOLD)
    figure.line(shapes.crosses(path.places[path.missed], *across(chain_view, _PATH_CROSS)), missed, 0.9)
