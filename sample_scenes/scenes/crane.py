# SPDX-License-Identifier: GPL-3.0-or-later
"""A truck crane fetches a crate: its boom turns, and telescopes by two sections that slide."""

import math

import bpy
from mathutils import Vector

from . import shapes, stage
from .rig import Bone, Ram, add_ram, armature, attach_all, chain, path

PIVOT, LIFTED = (-1.0, 2.9), math.radians(25)
# From the pivot along the boom, slid in: the mouth of the boom, that of the inner section, the nose.
MOUTHS = (6.0, 6.7, 7.4)
STROKE = 4.5
# Where the cylinder holds the boom, along it and to its left, and the lug there.
ROOT = (3.4, -0.56)
LUG = ((2.8, -0.4), (3.25, -0.7), (3.55, -0.7), (4.0, -0.4))
CABLE, SLING, CRATE = 2.2, 0.6, 1.4
HANGS = CABLE + SLING + CRATE  # from the nose to the bottom of the crate
DECK = 2.4
PICK, PLACE = (12.5, HANGS), (8.2, DECK + HANGS)

# frame, nose of the boom
WAY = (
    (1, 6.2, 6.4),
    (22, 9.6, 8.6),
    (40, *PICK),
    (50, *PICK),
    (74, 12.2, 8.4),
    (94, 8.4, 11.6),
    (116, *PLACE),
    (124, *PLACE),
    (132, 8.0, 7.6),
    (150, 6.2, 6.4),
)
HELD = (46, 120)
MOMENTS = ((22, "extend"), (45, "hook on"), (74, "lift"), (94, "boom up"), (119, "set down"), (140, "return"))

PRESS = """\
The boom is live: press Space. It turns, and its sections slide; which bones slide, and how far, is under
Chain > Joints in the sidebar's tab IK 2D (N shows the sidebar). Press Bake there for keys.
"""


def build() -> bpy.types.Object:
    """Build the scene and return the armature."""
    boom, inner, nose = (_along(length) for length in MOUTHS)
    rig = armature(
        "Crane",
        (
            Bone("turret", (0, 0, 1.6), (0, 0, 2.6)),
            Bone("boom", (PIVOT[0], 0, PIVOT[1]), boom, "turret"),
            Bone("inner section", boom, inner, "boom", slides=True),
            Bone("outer section", inner, nose, "inner section", slides=True),
            Bone("hook", nose, (nose[0], 0, nose[2] - CABLE), "outer section", keeps_heading=True),
            *_ram().bones,
        ),
    )
    _truck()
    _turret(rig)
    _boom(rig)
    _hook(rig)
    _animate(rig)
    add_ram(rig, _ram())
    _surroundings()
    stage.note("Press Space", PRESS)
    return rig


def _along(length: float, left: float = 0.0) -> tuple[float, float, float]:
    """Point at a length along the boom from its pivot, in the rest pose."""
    x, z = shapes.local(PIVOT, _far(), [(length, left)])[0]
    return x, 0.0, z


def _far() -> shapes.Point:
    return PIVOT[0] + math.cos(LIFTED), PIVOT[1] + math.sin(LIFTED)


def _beam(name: str, ends: shapes.Point, height: float, width: float, look) -> bpy.types.Object:
    """Make a beam along the boom, from one length to another."""
    half = height / 2
    outline = [(ends[0], -half), (ends[1], -half), (ends[1], half), (ends[0], half)]
    return shapes.plate(name, shapes.local(PIVOT, _far(), outline), width, look, bevel=0.05)


def _red():
    return shapes.material("Red", (0.62, 0.05, 0.03), roughness=0.35)


def _cream():
    return shapes.material("Cream", (0.85, 0.79, 0.62), roughness=0.45)


def _dark():
    return shapes.material("Dark", (0.035, 0.035, 0.04), roughness=0.6)


def _iron():
    return shapes.material("Iron", (0.16, 0.16, 0.17), roughness=0.5)


def _glass():
    return shapes.material("Glass", (0.10, 0.19, 0.25), roughness=0.08)


def _truck() -> None:
    shapes.box("Frame", (-6.4, -1.0, 0.75), (3.0, 1.0, 1.15), _dark(), bevel=0.05)
    shapes.box("Bed", (-4.7, -1.25, 1.15), (3.1, 1.25, 1.42), _red(), bevel=0.05)
    shapes.tube("Turntable", (0, 0, 1.35), (0, 0, 1.65), (1.0, 1.0), _iron(), steps=48)
    cab = [(-6.9, 0.75), (-4.95, 0.75), (-4.95, 2.75), (-6.25, 2.75), (-6.8, 1.75)]
    door = [(-6.05, 1.7), (-5.2, 1.7), (-5.2, 2.5), (-6.05, 2.5)]
    screen = [(-6.72, 1.75), (-6.2, 1.75), (-6.2, 2.58), (-6.3, 2.58)]
    shapes.plate("Driver's cab", cab, 2.3, _red(), bevel=0.08)
    shapes.plate("Door window", door, 2.34, _glass(), bevel=0.0)
    shapes.plate("Windscreen", screen, 2.32, _glass(), bevel=0.0)
    for x in (-5.6, -3.5, -2.35, 1.6):
        for y in (-1.05, 1.05):
            shapes.pin("Wheel", (x, 0.55), 0.55, 0.5, _dark(), y=y)
            shapes.pin("Hub", (x, 0.55), 0.28, 0.54, _iron(), y=y)
    for x in (-4.35, 2.7):
        shapes.box("Outrigger", (x - 0.16, -2.3, 0.8), (x + 0.16, 2.3, 1.05), _red(), bevel=0.03)
        for y in (-2.15, 2.15):
            shapes.tube("Leg", (x, y, 0.1), (x, y, 1.0), (0.11, 0.11), _iron(), steps=16)
            shapes.tube("Foot", (x, y, 0.0), (x, y, 0.12), (0.42, 0.36), _iron(), steps=24)


def _turret(rig) -> None:
    house = [(-3.0, 1.65), (1.1, 1.65), (1.1, 2.0), (-0.3, 2.1), (-0.55, 3.15), (-1.45, 3.2), (-2.3, 2.5)]
    weight = [(-3.55, 1.55), (-2.5, 1.55), (-2.5, 2.75), (-3.3, 2.75), (-3.55, 2.5)]
    cab = [(-0.2, 1.7), (1.35, 1.7), (1.55, 2.3), (1.15, 3.3), (-0.2, 3.3)]
    window = [(0.0, 2.25), (1.38, 2.25), (1.43, 2.35), (1.08, 3.12), (0.0, 3.12)]
    attach_all(
        (
            shapes.plate("House", house, 1.5, _red(), bevel=0.06),
            shapes.plate("Counterweight", weight, 2.2, _iron(), bevel=0.08),
            shapes.plate("Crane cab", cab, 0.85, _cream(), y=-1.15, bevel=0.06),
            shapes.plate("Crane cab window", window, 0.88, _glass(), y=-1.15, bevel=0.0),
            shapes.pin("Boom pivot", PIVOT, 0.2, 1.7, _dark()),
        ),
        rig,
        "turret",
    )


def _boom(rig) -> None:
    boom, inner, nose = MOUTHS
    back = STROKE + 0.7  # what stays inside when all is out
    attach_all(
        (
            _beam("Boom", (-0.5, boom), 0.86, 0.72, _cream()),
            _beam("Boom collar", (boom - 0.35, boom + 0.04), 1.0, 0.86, _red()),
            shapes.plate("Boom lug", shapes.local(PIVOT, _far(), LUG), 0.3, _cream(), bevel=0.03),
        ),
        rig,
        "boom",
    )
    attach_all(
        (
            _beam("Inner section", (boom - back, inner), 0.64, 0.52, _red()),
            _beam("Inner collar", (inner - 0.22, inner + 0.03), 0.74, 0.62, _iron()),
        ),
        rig,
        "inner section",
    )
    head = shapes.local(PIVOT, _far(), [(nose - 0.5, 0.24), (nose - 0.5, -0.24), (nose, -0.3), (nose, 0.22)])
    attach_all(
        (
            _beam("Outer section", (inner - back, nose - 0.3), 0.46, 0.36, _cream()),
            shapes.plate("Nose", head, 0.44, _red(), bevel=0.03),
            shapes.pin("Sheave", (_along(nose)[0], _along(nose)[2]), 0.3, 0.26, _dark()),
        ),
        rig,
        "outer section",
    )


def _ram() -> Ram:
    root = shapes.local(PIVOT, _far(), [ROOT])[0]
    return Ram("luffing", ("turret", (0.75, 1.95)), ("boom", root), 0.15, (-0.26, 0.26), shares=(0.62, 0.7))


def _hook(rig) -> None:
    x, _, z = _along(MOUTHS[-1])
    low = z - CABLE
    attach_all(
        (
            *(
                shapes.tube("Cable", (x, y, z), (x, y, low + 0.6), (0.03, 0.03), _dark(), steps=8)
                for y in (-0.1, 0.1)
            ),
            shapes.plate("Hook block", shapes.circle((x, low + 0.5), 0.3), 0.34, _cream(), bevel=0.04),
            shapes.plate("Hook", _hook_outline(x, low), 0.14, _iron(), bevel=0.02),
        ),
        rig,
        "hook",
    )


def _hook_outline(x: float, low: float) -> list[shapes.Point]:
    """A hook that opens to the right; what it holds is at x, low."""
    turn = [math.radians(a) for a in range(100, 381, 20)]
    outer = [(x + 0.2 * math.cos(a), low + 0.02 + 0.2 * math.sin(a)) for a in turn]
    inner = [(x + 0.1 * math.cos(a), low + 0.02 + 0.1 * math.sin(a)) for a in reversed(turn)]
    return [(x - 0.05, low + 0.4), *outer, *inner, (x + 0.05, low + 0.4)]


def _crate() -> bpy.types.Object:
    """Make a crate in slings, whose origin is what the hook holds."""
    wood = shapes.material("Wood", (0.42, 0.25, 0.11), roughness=0.8)
    batten = shapes.material("Batten", (0.28, 0.16, 0.07), roughness=0.85)
    top, bottom, half = -SLING, -SLING - CRATE, 0.8
    parts = [shapes.box("Crate", (-half, -half, bottom), (half, half, top), wood, bevel=0.02)]
    for z in (top - 0.1, bottom + 0.1):
        parts.append(
            shapes.box(
                "Batten", (-half - 0.04, -half - 0.04, z - 0.09), (half + 0.04, half + 0.04, z + 0.09), batten
            )
        )
    for x in (-half, half):
        parts.append(shapes.box("Post", (x - 0.1, -half - 0.03, bottom), (x + 0.1, half + 0.03, top), batten))
        for y in (-half, half):
            parts.append(
                shapes.tube("Sling", (0, 0, 0), (x * 0.95, y * 0.95, top), (0.03, 0.03), _dark(), steps=8)
            )
    crate = shapes.link(bpy.data.objects.new("Load", None), "Pivots")
    crate.empty_display_size = 0.2
    for part in parts:
        part.parent = crate
    bpy.data.collections["Pivots"].hide_render = True
    return crate


def _animate(rig) -> None:
    stage.settings(150, (800, 520))
    goal = shapes.target("Nose Target", 0.34, 0.42)
    path(goal, WAY)
    crate = _crate()
    stands = [(1, (PICK[0], PICK[1] - CABLE)), (HELD[1], (PLACE[0], PLACE[1] - CABLE))]
    path(crate, [(frame, x, z) for frame, (x, z) in stands], interpolation='CONSTANT')
    hangs = crate.constraints.new('COPY_LOCATION')
    hangs.target, hangs.subtarget, hangs.head_tail = rig, "hook", 1.0
    for frame, held in ((1, 0.0), (HELD[0], 1.0), (HELD[1], 0.0)):
        hangs.influence = held
        hangs.keyframe_insert("influence", frame=frame)
    for point in crate.animation_data.action.fcurves.find(hangs.path_from_id("influence")).keyframe_points:
        point.interpolation = 'CONSTANT'
    slides = {"boom": (0.0, STROKE), "inner section": (0.0, STROKE)}
    chain(rig, "Boom", "outer section", 3, goal, solver='EVEN', slides=slides)
    for frame, name in MOMENTS:
        stage.marker(frame, name)


def _surroundings() -> None:
    ground = shapes.material("Ground", (0.42, 0.36, 0.27), roughness=1.0)
    concrete = shapes.material("Concrete", (0.5, 0.5, 0.49), roughness=0.95)
    shapes.box("Ground", (-150, -60, -stage.DEEP), (150, 300, 0.0), ground)
    x = PLACE[0]
    shapes.box("Deck", (x - 1.5, -1.6, DECK - 0.3), (x + 1.5, 1.6, DECK), concrete, bevel=0.03)
    for side in (-1.2, 1.2):
        for y in (-1.3, 1.3):
            shapes.box(
                "Column", (x + side - 0.15, y - 0.15, 0), (x + side + 0.15, y + 0.15, DECK - 0.3), concrete
            )
    stage.light((0.5, 0.7, 0.88), sun=3.1, strength=0.75)
    stage.aim_sun(Vector((0.35, 0.75, -0.8)))
    stage.camera((3.4, -28.0, 6.8), (3.25, 0.0, 6.2), lens=47)
