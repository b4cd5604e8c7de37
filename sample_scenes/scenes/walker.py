# SPDX-License-Identifier: GPL-3.0-or-later
"""A walking machine by Theo Jansen's numbers: twelve legs on one crank, one mechanism, cross a beach."""

import cmath
import math

import bpy

from . import shapes, stage
from .rig import Bone, armature, attach, attach_all, keys, mechanism

SIZE = 0.03  # of one of his units
# His eleven numbers: the crank, its links to the upper and the lower triangle, and so on down to the foot.
CRANK, TO_UPPER, TO_LOWER = 15.0, 50.0, 61.9
UPPER, LOWER = (41.5, 40.1, 55.8), 39.3
HINGE, OUTER, FOOT = complex(-38.0, -7.8), 39.4, (36.7, 65.7, 49.0)
SHOE = 0.08  # radius of a foot's round shoe, in metres
GROUND = 91.8 + SHOE / SIZE  # the crank's height over the sand, on which the lowest shoe rests
# Forward in a turn of the crank, at one speed: at this one the standing feet slip least.
PACE = 136.9
TURN, TURNS = 48, 3  # frames of a turn
LAST = TURN * TURNS
# Depth of the legs, and how far ahead of the crank's bone each is.
ROWS = ((-1.5, 0.0), (-1.02, 1 / 3), (-0.54, 2 / 3), (0.54, 1 / 6), (1.02, 1 / 2), (1.5, 5 / 6))
MOMENTS = (
    (6, "sets out"),
    (32, "first turn"),
    (58, "to the groyne"),
    (84, "past the groyne"),
    (110, "third turn"),
    (138, "has crossed"),
)

PRESS = """\
One mechanism of 73 bones: press Space. The bone crank has two keys, and turns everything else; the bone
body has two more, and carries it. Press Bake in the sidebar's tab IK 2D (N shows the sidebar) for keys on all
bones; then it walks without the extension, too. Turn the crank by hand (R X X), and all twelve legs follow.
"""


def build() -> bpy.types.Object:
    """Build the scene and return the armature."""
    bones = [
        Bone("body", _at(0, 0), _at(20, 0)),
        Bone("crank", _at(0, 0), _at(CRANK, 0), "body"),
        Bone("fore sail", _at(26, 56), _at(26, 120), "body"),
        Bone("aft sail", _at(-30, 56), _at(-30, 110), "body"),
    ]
    legs = [Leg(number, way) for number in range(len(ROWS)) for way in (1, -1)]
    for leg in legs:
        bones += leg.bones
    rig = armature("Walker", bones)
    parts = ["crank", *(bone for leg in legs for bone in leg.bones)]
    mechanism(rig, "Walker", parts, [pin for leg in legs for pin in leg.pins], ["crank"])
    for leg in legs:
        leg.dress(rig)
    _crank(rig)
    _body(rig)
    _sails(rig)
    _animate(rig)
    _surroundings()
    stage.note("Press Space", PRESS)
    return rig


class Leg:
    """One of the legs: its places at rest as complex numbers, in front of the crank (1) or behind it (-1)."""

    def __init__(self, number: int, way: int) -> None:
        depth, ahead = ROWS[number]
        self.depth, self.way, self.name = depth, way, f"{number + 1} {'fore' if way > 0 else 'aft'}"
        x = self.mirrored(CRANK * cmath.exp(2j * math.pi * ahead))
        u = _crossing(x, TO_UPPER, HINGE, UPPER[0], -1)
        v = _crossing(x, TO_LOWER, HINGE, LOWER, 1)
        w = _crossing(u, UPPER[2], HINGE, UPPER[1], -1)
        z = _crossing(w, OUTER, v, FOOT[0], -1)
        t = _crossing(z, FOOT[1], v, FOOT[2], -1)
        self.crank, self.hinge, self.top, self.knee, self.side, self.ankle, self.foot = (
            self.mirrored(place) for place in (x, HINGE, u, v, w, z, t)
        )

    def mirrored(self, place: complex) -> complex:
        """Return a place, on the other side of the crank for a leg in front of it."""
        return -place.conjugate() if self.way > 0 else place

    @property
    def bones(self) -> list[Bone]:
        """Its six bones; upper and foot are triangles, whose third corner is a pin or the shoe."""
        made = (
            ("upper link", self.crank, self.top, "crank"),
            ("lower link", self.crank, self.knee, "crank"),
            ("upper", self.hinge, self.top, "body"),
            ("lower", self.hinge, self.knee, "body"),
            ("outer", self.side, self.ankle, f"upper {self.name}"),
            ("foot", self.knee, self.foot, f"lower {self.name}"),
        )
        return [
            Bone(f"{part} {self.name}", self.at(head), self.at(tail), parent, slides=True)
            for part, head, tail, parent in made
        ]

    @property
    def pins(self) -> tuple[tuple[str, str], ...]:
        """The bones whose tails are pinned to another bone."""
        pairs = (("upper link", "upper"), ("lower link", "lower"), ("outer", "foot"))
        return tuple((f"{bone} {self.name}", f"{other} {self.name}") for bone, other in pairs)

    def at(self, place: complex, aside: float = 0.0) -> tuple[float, float, float]:
        """Return a place in x, y, z, `aside` of the leg's depth."""
        return _at(place.real, place.imag, self.depth + aside * self.way)

    def dress(self, rig: bpy.types.Object) -> None:
        """Put bars on its bones, side by side where they cross."""
        far = self.depth > 0.0
        pale = shapes.material("Far cane", (0.47, 0.36, 0.2), roughness=0.6) if far else _cane()
        dark = shapes.material("Far tan", (0.3, 0.19, 0.1), roughness=0.6) if far else _tan()
        parts = (
            ("upper link", dark, 0.11, ((self.crank, self.top),)),
            ("lower link", dark, -0.11, ((self.crank, self.knee),)),
            ("upper", pale, 0.0, ((self.hinge, self.side), (self.side, self.top), (self.top, self.hinge))),
            ("lower", dark, 0.11, ((self.hinge, self.knee),)),
            ("outer", dark, -0.11, ((self.side, self.ankle),)),
            ("foot", pale, 0.0, ((self.knee, self.ankle), (self.ankle, self.foot), (self.foot, self.knee))),
        )
        for part, look, aside, lines in parts:
            ends = [(self.at(start, aside), self.at(end, aside)) for start, end in lines]
            attach(shapes.bars(part.capitalize(), ends, 0.042, look), rig, f"{part} {self.name}")
        x, y, z = self.at(self.foot)
        attach(shapes.pin("Shoe", (x, z), SHOE, 0.26, _rubber(), y=y), rig, f"foot {self.name}")


def _crossing(a: complex, from_a: float, b: complex, from_b: float, side: int) -> complex:
    """Return the place at two distances from a and b, on the left (1) or the right (-1) of the way."""
    apart = abs(b - a)
    along = (apart * apart + from_a * from_a - from_b * from_b) / (2.0 * apart)
    return a + (b - a) / apart * complex(along, side * math.sqrt(from_a * from_a - along * along))


def _at(x: float, z: float, y: float = 0.0) -> tuple[float, float, float]:
    """Return a place given in Jansen's units from the crank's axle; the depth y in metres."""
    return x * SIZE, y, (z + GROUND) * SIZE


def _cane():
    return shapes.material("Cane", (0.86, 0.67, 0.33), roughness=0.5)


def _tan():
    return shapes.material("Tan", (0.62, 0.40, 0.17), roughness=0.55)


def _red():
    return shapes.material("Sail red", (0.8, 0.16, 0.08), roughness=0.9)


def _rubber():
    return shapes.material("Rubber", (0.05, 0.045, 0.05), roughness=0.8)


def _crank(rig) -> None:
    """Make a shaft with a throw for each row of legs."""
    steel = shapes.material("Crank", (0.75, 0.1, 0.06), roughness=0.35)
    parts = [shapes.tube("Shaft", _at(0, 0, -1.8), _at(0, 0, 1.8), (0.06, 0.06), steel)]
    for depth, ahead in ROWS:
        throw = CRANK * cmath.exp(2j * math.pi * ahead)
        ends = [(_at(0, 0, y), _at(throw.real, throw.imag, y)) for y in (depth - 0.21, depth + 0.21)]
        parts.append(shapes.bars("Throw", ends, 0.05, steel))
        axle = [_at(throw.real, throw.imag, depth + y) for y in (-0.24, 0.24)]
        parts.append(shapes.tube("Throw pin", *axle, (0.05, 0.05), steel))
    attach_all(parts, rig, "crank")


def _body(rig) -> None:
    wood = shapes.material("Deck", (0.42, 0.22, 0.09), roughness=0.7)
    frame = shapes.material("Frame", (0.93, 0.86, 0.7), roughness=0.5)
    x, z = -HINGE.real, HINGE.imag
    parts = []
    for y in (-1.85, 0.0, 1.85):
        lines = [
            (_at(-x, z, y), _at(0, 0, y)),
            (_at(0, 0, y), _at(x, z, y)),
            (_at(-x, z, y), _at(-52, 52, y)),
            (_at(x, z, y), _at(52, 52, y)),
            (_at(-52, 52, y), _at(52, 52, y)),
            (_at(0, 0, y), _at(0, 52, y)),
        ]
        parts.append(shapes.bars("Frame", lines, 0.045, frame))
    for side in (-x, x):
        parts.append(shapes.tube("Axle", _at(side, z, -1.95), _at(side, z, 1.95), (0.05, 0.05), frame))
    for i in range(11):
        left = -60 + i * 11
        low, high = _at(left, 53.5, -1.95), _at(left + 10, 56.5, 1.95)
        parts.append(shapes.box("Plank", low, high, wood, bevel=0.015))
    for y in (-1.85, 1.85):
        rails = [(_at(a, 56, y), _at(a, 70, y)) for a in (-56, -20, 20, 56)]
        rails.append((_at(-56, 70, y), _at(56, 70, y)))
        parts.append(shapes.bars("Rail", rails, 0.025, frame))
    attach_all(parts, rig, "body")


def _sails(rig) -> None:
    canvas = shapes.material("Canvas", (0.95, 0.93, 0.86), roughness=0.9)
    for bone, x, top, reach in (("fore sail", 26, 120, 40), ("aft sail", -30, 110, 38)):
        parts = [
            shapes.tube("Mast", _at(x, 56), _at(x, top + 4), (0.055, 0.035), _tan()),
            shapes.tube("Boom", _at(x, 65), _at(x - reach - 2, 63), (0.03, 0.025), _tan()),
            shapes.ball("Truck", _at(x, top + 4), 0.06, _red()),
        ]
        for name, look, low, high in (("Sail foot", _red(), 66, 82), ("Sail", canvas, 82, top)):
            foot, head = (reach * (1.0 - (z - 66) / (top - 54)) for z in (low, high))
            outline = [(x - 1, low), (x - foot, low), (x - head, high), (x - 1, high)]
            corners = [_at(*corner)[::2] for corner in outline]
            parts.append(shapes.cloth(name, corners, 0.22, look))
        attach_all(parts, rig, bone)


def _animate(rig) -> None:
    """Turn the crank and move the body on, both evenly, and swing the sails a little."""
    stage.settings(LAST, (800, 560))
    bones, end = rig.pose.bones, LAST + 1
    keys(bones["crank"], "rotation_euler", 0, [(1, 0.0), (end, -TURNS * math.tau)], 'LINEAR')
    way = TURNS * PACE * SIZE
    keys(bones["body"], "location", 1, [(1, 0.0), (end, way)], 'LINEAR')  # its Y axis is the world's X
    for name, ahead in (("fore sail", 0), ("aft sail", 7)):
        swing = [
            (frame - ahead, 0.28 + (0.09 if i % 2 else -0.09)) for i, frame in enumerate(range(1, 180, 18))
        ]
        keys(bones[name], "rotation_euler", 1, swing)
    view = stage.camera((1.9, -15.4, 2.9), (1.9, 0.0, 3.1), lens=49)
    keys(view, "location", 0, [(1, 1.9), (end, way - 2.0)], 'LINEAR')
    for frame, name in MOMENTS:
        stage.marker(frame, name)


def _surroundings() -> None:
    sand = shapes.material("Sand", (0.66, 0.5, 0.29), roughness=1.0)
    wet = shapes.material("Wet sand", (0.42, 0.31, 0.19), roughness=0.5)
    sea = shapes.material("Sea", (0.04, 0.27, 0.36), roughness=0.3)
    foam = shapes.material("Foam", (0.92, 0.95, 0.95), roughness=0.9)
    post = shapes.material("Post", (0.16, 0.12, 0.09), roughness=0.9)
    hill = shapes.material("Headland", (0.26, 0.42, 0.36), roughness=1.0)
    cloud = shapes.material("Cloud", (1.0, 1.0, 1.0), roughness=1.0, glow=0.25)
    shapes.box("Beach", (-80, -60, -stage.DEEP), (120, 13, 0.0), sand)
    shapes.box("Wet beach", (-80, 13, -1.0), (120, 18, -0.01), wet)
    shapes.box("Foam", (-80, 17.6, -1.0), (120, 18.4, 0.0), foam)
    shapes.box("Wave", (-80, 23.0, -1.0), (120, 23.3, 0.0), foam)
    shapes.box("Sea", (-400, 18, -1.0), (400, 400, -0.03), sea)
    for i in range(12):  # a groyne, from the dry sand into the sea
        height = 1.5 - 0.07 * i
        shapes.tube("Groyne", (7.2, 5 + 1.5 * i, -0.5), (7.2, 5 + 1.5 * i, height), (0.16, 0.14), post)
    stone = shapes.material("Stone", (0.3, 0.28, 0.26), roughness=0.95)
    for x, y, radius in ((-3.6, 5.0, 0.5), (3.4, 3.6, 0.5), (14.0, 4.6, 0.7)):
        shapes.heap("Stone", (x, y), radius, radius * 0.6, stone, seed=20 + int(x))
    for x, radius, height in ((-36, 34, 9), (-12, 24, 6), (66, 40, 10)):
        shapes.heap("Headland", (x, 210), radius, height, hill, seed=int(x) + 40)
    shapes.tube("Lighthouse", (-30, 190, 0), (-30, 190, 17), (1.5, 1.0), foam)
    shapes.tube("Lantern", (-30, 190, 17), (-30, 190, 20), (1.1, 0.5), _red())
    for x, z, size in (
        (-20, 44, 6.0),
        (-12, 43, 4.0),
        (-27, 43, 3.6),
        (40, 50, 6.6),
        (49, 49, 4.2),
        (70, 40, 5),
    ):
        shapes.ball("Cloud", (x, 260, z), size, cloud, scale=(1.7, 0.6, 0.45))
    stage.light((0.42, 0.68, 0.9), sun=2.9, strength=0.8)
    stage.aim_sun((0.45, 0.75, -0.85))
