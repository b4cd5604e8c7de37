# SPDX-License-Identifier: GPL-3.0-or-later
"""A mechanism in the pose that the viewport shows, and what is drawn of it: joints, ranges and targets."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import bpy
import numpy as np

from ...bake.lengths import Units
from ...core import IK2DError
from ...core.inputs import Floats
from ...core.mechanism.joints import Kind
from ...live.status.chain import off_words
from ...rig.mechanism.placing import RestBone, common_plane
from ...rig.mechanism.posing import Motions, evaluated_motions, opening, pose_of
from ...rig.mechanism.read import GUIDE, PIN, RAM, TARGET, TURN, MeasuredJoint, RigDriver, RigMechanism
from . import shapes
from .chain_view import as_shown, matrix_of
from .colors import RGB
from .figure import AT_LIMIT, BOLD, DASH, Figure, Miss, across, draw_miss, kept

# Joints that are open by more than this part of the size are drawn as open: a bake leaves them less.
OPEN = 1e-4
# A mechanism that is not the active one is fainter.
FAINT = 0.4
# Sizes as parts of the mechanism's: a ring, half the gap of a double line, what a line goes on beyond its
# slide, half a tick, a driver's arc, and the greater wheel of a gear whose wheels do not touch.
_RING, _RAIL, _BEYOND, _TICK, _ARC, _WHEEL = 0.014, 0.008, 0.06, 0.02, 0.11, 0.07
# A small ring, of few pieces: there are many.
_CIRCLE = shapes.around(np.linspace(0.0, 2.0 * np.pi, 25), 1.0)
# Values of a driver at which it is looked how far slides go.
_LOOKS = 48


@dataclass(frozen=True, eq=False)
class Ranges:
    """What a mechanism can do, whatever its pose."""

    drivers: dict[str, Floats]  # (k, 2) the values at which it closes, of those that are known
    slides: dict[int, tuple[float, float]]  # of joints, by their number: how far they go along their line


@dataclass(frozen=True, eq=False)
class DraggedPoint:
    """A point that a mechanism drags to a target, (3,) each in the world."""

    view: "MechanismView"
    tip: Floats
    target: Floats

    @property
    def size(self) -> float:
        """As the mechanism's."""
        return self.view.size

    @property
    def to_world(self) -> Floats:
        """As the mechanism's."""
        return self.view.to_world

    def miss(self, units: Units) -> Miss:
        """Return how far the point is off its target in the plane, in words; "" where it is on it."""
        normal = np.cross(*self.to_world[:3, :2].T)
        normal /= np.linalg.norm(normal)
        way = self.target - self.tip
        off = float(np.linalg.norm(way - (way @ normal) * normal))
        return Miss(off_words(off, units) if off > OPEN * self.size else "")


@dataclass(frozen=True, eq=False)
class MechanismView:
    """A mechanism in the current pose."""

    rig: RigMechanism
    settings: bpy.types.PropertyGroup
    motions: Motions  # one pose
    world: Floats  # (4, 4) from the mechanism's frame to the world
    stroke: dict[str, tuple[float, float]]  # of rams, by their barrels

    @cached_property
    def to_world(self) -> Floats:
        """The plane's x, y and height in the world, (4, 4)."""
        matrix: Floats = self.world @ self.rig.plane.matrix
        return matrix

    @property
    def size(self) -> float:
        """The mechanism's size in the world."""
        return self.rig.size * float(np.linalg.norm(self.to_world[:3, 0]))

    def at(self, bone: str, place: Floats) -> Floats:
        """Return where a place (3,) at rest of a bone is, in the world."""
        at: Floats = self.world[:3, :3] @ self.motions.at(bone, place)[0] + self.world[:3, 3]
        return at

    def way(self, bone: str, along: Floats) -> Floats:
        """Return a direction (3,) at rest, as a bone has turned it, in the world."""
        way: Floats = self.world[:3, :3] @ self.motions.way(bone, along)[0]
        return way

    def turn(self, bone: str) -> float:
        """Return a bone's turn in the plane from rest, in radians; 0 of the frame, ""."""
        turned = self.motions.way(bone, self.rig.plane.x)[0]
        return float(np.arctan2(turned @ self.rig.plane.y, turned @ self.rig.plane.x))

    def is_open(self, joint: MeasuredJoint) -> bool:
        """Whether a joint is open."""
        return bool(opening(self.rig, self.motions, joint)[0] > OPEN * self.rig.size)

    @property
    def ranges(self) -> Ranges:
        """What it can do; cached by its joints and drivers."""
        core, joints = self.rig.core, [(one.kind, one.bone, one.other) for one in self.rig.joints]
        key = core.joints, core.drivers, core.sides, tuple(joints), tuple(self.stroke.items())
        return kept(_ranges, key, lambda: _ranges_of(self.rig, self.stroke))

    @property
    def dragged(self) -> Iterator[DraggedPoint]:
        """Yield its points that targets drag."""
        for one in self.rig.drivers:
            if one.kind == TARGET and one.target is not None:
                tip = self.at(one.bone, self.rig.placed[one.bone].tail)
                yield DraggedPoint(self, tip, np.array(matrix_of(one.target).translation, np.float64))


_ranges: OrderedDict[tuple, Ranges] = OrderedDict()


def _ranges_of(rig: RigMechanism, strokes: dict[str, tuple[float, float]]) -> Ranges:
    """Return the ranges of each driver, the others at rest; none where Newton's method would take long."""
    drivers: dict[str, Floats] = {}
    slides: dict[int, tuple[float, float]] = {}
    if rig.core.plan.groups:
        return Ranges(drivers, slides)
    for one in rig.drivers:
        least, most = strokes[one.bone] if one.kind == RAM else (-np.pi, np.pi)
        intervals = drivers[str(one.body)] = rig.core.feasible(one.body, least, most)
        values = np.concatenate([np.linspace(*interval, _LOOKS) for interval in intervals] or [np.zeros(0)])
        if not len(values):
            continue
        solution = rig.core.solve({one.body: values})
        for number, joint in enumerate(rig.joints):
            if joint.kind in (PIN, RAM):
                continue
            along = rig.flat(joint.place + joint.along) - rig.flat(joint.place)
            ways = [solution.places(body or 0, rig.flat(joint.place)) for body in (joint.bone, joint.other)]
            turned = solution.turn(joint.other or 0)
            line = np.exp(1j * turned) * complex(*along) / np.hypot(*along)
            went = ((ways[0] - ways[1]) @ [1.0, 1j] * line.conj()).real
            low, high = slides.get(number, (0.0, 0.0))
            slides[number] = min(low, float(went.min())), max(high, float(went.max()))
    return Ranges(drivers, slides)


def view_mechanism(rig: RigMechanism, settings: bpy.types.PropertyGroup) -> MechanismView | None:
    """Return a mechanism in the current pose; None for bones of no finite place."""
    armature = as_shown(rig.armature)
    pose = pose_of(rig, armature)
    world = np.array(armature.matrix_world, np.float64) @ pose[""]
    if not all(np.isfinite(matrix).all() for matrix in (world, *pose.values())):
        return None
    strokes = {
        joint.bone: (float(joint.stroke[0]), float(joint.stroke[1]))
        for joint in settings.joints
        if joint.kind == RAM
    }
    return MechanismView(rig, settings, evaluated_motions(rig, [pose]), world, strokes)


# --- The parts: each adds one to a figure ------------------------------------


def draw_joints(figure: Figure, view: MechanismView, color: RGB, stop: RGB, alpha: float) -> None:
    """Add the joints: rings of pins, double lines of slides, rams, wheels of gears; open ones in `stop`."""
    rig = view.rig
    is_open = [view.is_open(joint) for joint in rig.joints]
    rams = zip(rig.joints, is_open, strict=True)
    torn = {bone for one, off in rams if off and one.kind == RAM for bone in (one.bone, one.other)}
    for bone, placed in rig.placed.items():
        _draw_ring(figure, view, view.at(bone, placed.head), stop if bone in torn else color, alpha)
    for number, joint in enumerate(rig.joints):
        shade = stop if is_open[number] else color
        if joint.kind == RAM:
            _draw_ram(figure, view, joint, shade, alpha)
            continue
        places = view.at(joint.bone, joint.place), view.at(joint.other, joint.place)
        if joint.kind != PIN:
            places = places[0], _draw_rails(figure, view, number, joint, places, color, alpha)
        for place in places if is_open[number] else places[:1]:
            _draw_ring(figure, view, place, shade, 1.0 if is_open[number] else alpha)
        if is_open[number]:
            figure.line(shapes.dashes(*places, DASH * view.size), stop, 1.0, BOLD)
    for joint in (one for one in rig.core.joints if one.kind is Kind.GEAR):
        bones = [str(rig.core.bodies[body]) for body in (joint.a, joint.b)]
        _draw_gear(figure, view, bones, joint.ratio, color, alpha)


def _draw_ring(figure: Figure, view: MechanismView, place: Floats, color: RGB, alpha: float) -> None:
    """Add a ring of a pin at a place (3,), in the mechanism's plane."""
    ring = shapes.spanned(_CIRCLE, place, *across(view, _RING))
    figure.line(shapes.pieces(ring), color, alpha, BOLD)


def _draw_rails(
    figure: Figure,
    view: MechanismView,
    number: int,
    joint: MeasuredJoint,
    places: Sequence[Floats],
    color: RGB,
    alpha: float,
) -> Floats:
    """Add the double line of a slide; return the place (3,) on it that is nearest to the sliding end."""
    line = view.way(joint.other, joint.along)
    scale = float(np.linalg.norm(line)) / float(np.linalg.norm(joint.along))
    line /= np.linalg.norm(line)
    went = float((places[0] - places[1]) @ line)
    low, high = (scale * end for end in view.ranges.slides.get(number, (0.0, 0.0)))
    beyond = _BEYOND * view.size
    ends = [min(low, went) - beyond, max(high, went) + beyond]
    side = np.cross(view.to_world[:3, 2], line)
    side *= _RAIL * view.size / np.linalg.norm(side)
    rails = places[1] + np.array(ends)[:, None] * line
    figure.line(np.array([rails + side, rails - side]), color, alpha)
    nearest: Floats = places[1] + went * line
    if joint.kind == GUIDE:
        corners = shapes.around(np.linspace(0.25 * np.pi, 2.25 * np.pi, 5), 1.4)
        block = shapes.spanned(corners, nearest, 2.0 * _RING * view.size * line, 2.0 * side)
        figure.line(shapes.pieces(block), color, alpha, BOLD)
    return nearest


def _draw_ram(figure: Figure, view: MechanismView, joint: MeasuredJoint, color: RGB, alpha: float) -> None:
    """Add a ram's line from head to head, with the ends of its stroke marked."""
    ends = [view.at(bone, view.rig.placed[bone].head) for bone in (joint.bone, joint.other)]
    figure.line(np.array([ends]), color, alpha, BOLD)
    _draw_ticks(figure, view, joint.bone, view.stroke[joint.bone], color, alpha)


def _draw_ticks(
    figure: Figure,
    view: MechanismView,
    barrel: str,
    lengths: Sequence[float],
    color: RGB,
    alpha: float,
    size: float = _TICK,
) -> None:
    """Add ticks across a ram at some lengths of it, from its barrel's head."""
    ram = next(joint for joint in view.rig.rams if joint.bone == barrel)
    start, end = (view.at(bone, view.rig.placed[bone].head) for bone in (ram.bone, ram.other))
    way = (end - start) / max(float(np.linalg.norm(end - start)), 1e-300)
    scale = view.size / view.rig.size
    places = start + scale * np.array(lengths, np.float64)[:, None] * way
    normal = view.to_world[:3, 2] / np.linalg.norm(view.to_world[:3, 2])
    figure.line(shapes.ticks(places, normal, size * view.size), color, alpha, BOLD)


def _draw_gear(
    figure: Figure, view: MechanismView, bones: Sequence[str], ratio: float, color: RGB, alpha: float
) -> None:
    """Add both wheels of a gear, dashed: they touch if they turn in opposite ways, else a line links them."""
    start, end = (view.at(bone, view.rig.placed[bone].head) for bone in bones)
    apart, share = float(np.linalg.norm(end - start)) / view.size, abs(ratio) / (1.0 + abs(ratio))
    radii = [share, 1.0 - share]
    touches = ratio < 0.0 and apart > _WHEEL
    whole = apart if touches else _WHEEL / max(radii)
    for place, radius in zip((start, end), radii, strict=True):
        ring = shapes.pieces(shapes.spanned(shapes.arc(1.0), place, *across(view, whole * radius)))
        figure.line(ring[::2], color, alpha)
    if not touches:
        figure.line(shapes.dashes(start, end, DASH * view.size), color, alpha)


def draw_ranges(figure: Figure, view: MechanismView, color: RGB, stop: RGB, alpha: float) -> None:
    """Add the values at which the mechanism closes: arcs of turns with a needle, ticks of rams' lengths."""
    for one in view.rig.drivers:
        intervals = view.ranges.drivers.get(str(one.body))
        if intervals is None or not len(intervals):
            continue
        if one.kind == RAM:
            _draw_ticks(figure, view, one.bone, intervals.ravel().tolist(), color, alpha, 0.7 * _TICK)
        elif one.kind == TURN:
            _draw_arc(figure, view, one, intervals, color, stop, alpha)


def _draw_arc(
    figure: Figure,
    view: MechanismView,
    one: RigDriver,
    intervals: Floats,
    color: RGB,
    stop: RGB,
    alpha: float,
) -> None:
    """Add the range of a driver that turns about its head."""
    placed = view.rig.placed[one.bone]
    along = view.rig.flat(placed.tail) - view.rig.flat(placed.head)
    zero = float(np.arctan2(along[1], along[0])) + view.turn(placed.parent)
    turn = float(np.remainder(view.turn(one.bone) - view.turn(placed.parent) + np.pi, 2.0 * np.pi) - np.pi)
    place, sides = view.at(one.bone, placed.head), across(view, _ARC)
    round_ = np.ptp(intervals) >= 2.0 * np.pi - 1e-9
    whole = bool(round_ and len(intervals) == 1)
    if round_ and not whole:  # the first and the last meet half a turn from rest
        joined = intervals[-1, 0] - 2.0 * np.pi, intervals[0, 1]
        intervals = np.vstack((joined, intervals[1:-1]))
        turn -= 2.0 * np.pi if turn > joined[1] and turn - 2.0 * np.pi > joined[0] else 0.0
    for low, high in intervals:
        triangles, outline = shapes.fan(np.zeros(2), 1.0, zero + low, zero + high)
        figure.line(shapes.spanned(outline, place, *sides), color, 0.95 * alpha)
        if not whole:
            figure.fill(shapes.spanned(triangles, place, *sides), color, 0.18 * alpha)
    if not whole:
        stopped = not any(low + AT_LIMIT < turn < high - AT_LIMIT for low, high in intervals)
        needle = shapes.needle(np.zeros(2), 1.12, zero + turn, stopped)
        figure.line(shapes.spanned(needle, place, *sides), stop if stopped else color, alpha, BOLD)


def draw_dragged(figure: Figure, view: MechanismView, color: RGB, quiet: RGB, units: Units) -> None:
    """Add a line from each dragged point to its target, where it is not on it."""
    for point in view.dragged:
        draw_miss(figure, point, color, quiet, point.miss(units))


def draw_faulty(figure: Figure, settings: bpy.types.PropertyGroup, color: RGB, alpha: float) -> None:
    """Add the pins of a mechanism that cannot be read: at its bones' heads, and the ends at its joints."""
    evaluated = as_shown(settings.id_data)
    bones = [evaluated.pose.bones[bone.name] for bone in settings.bones if bone.name in evaluated.pose.bones]
    if not bones:
        return
    rests = RestBone.each_of([bone.bone for bone in bones], [""] * len(bones))
    try:
        plane = common_plane(settings.name, rests)
        axes = plane.x, plane.y
    except IK2DError:  # it has none: that of its first bone
        axes = rests[0].axes[:, 0], rests[0].axes[:, 1]
    world = np.array(evaluated.matrix_world, np.float64)
    places = [bone.head for bone in bones]
    by_name = {bone.name: bone for bone in bones}
    places += [
        by_name[joint.bone].tail for joint in settings.joints if joint.bone in by_name and joint.end == 'TAIL'
    ]
    at = np.array(places, np.float64) @ world[:3, :3].T + world[:3, 3]
    size = float(np.linalg.norm(np.ptp(at, axis=0)))
    x, y = (_RING * size * axis for axis in axes)
    for place in at:
        ring = shapes.spanned(_CIRCLE, place, world[:3, :3] @ x, world[:3, :3] @ y)
        figure.line(shapes.pieces(ring), color, alpha, BOLD)
