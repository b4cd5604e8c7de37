# SPDX-License-Identifier: GPL-3.0-or-later
"""An excavator digs, swings and dumps: house and arm follow a target, its rams and bucket linkage the arm."""

import math

import bpy
from mathutils import Vector

from . import shapes, stage
from .rig import Bone, Ram, armature, attach, attach_all, chain, dress_ram, keys, mechanism, path

FOOT, ELBOW, WRIST, TEETH = (0.5, 1.8), (4.76, 5.12), (5.49, 2.42), (4.94, 1.24)
# The bucket's linkage: a rocker on the stick, and a link from its end, which the ram moves, to the bucket.
(PIVOT,), (LUG,) = shapes.local(ELBOW, WRIST, [(2.3, 0.02)]), shapes.local(WRIST, TEETH, [(-0.2, 0.42)])
BELL = (5.98827, 3.02293)  # 0.62 from the pivot, and 0.6 from the lug

# frame, bucket's pin forward of and above the turntable's centre, degrees that the bucket curls from rest:
# the same while it lifts and swings
CYCLE = (
    (1, 6.0, 2.3, -17),
    (16, 7.4, 1.75, -69),
    (24, 7.3, 1.15, -55),
    (40, 5.4, 0.95, 26),
    (52, 4.7, 1.9, 62),
    (64, 5.3, 3.1, 62),
    (80, 6.0, 3.3, 62),
    (100, 6.1, 3.2, -66),
    (104, 6.1, 3.3, -66),
    (120, 6.0, 2.3, -17),
)
SWING = ((1, 0), (60, 0), (80, 62), (102, 62), (120, 0))
LOAD = ((1, 0.01), (28, 0.01), (46, 1), (84, 1), (96, 0.01))
# As far as the cylinders let each joint turn from rest, in degrees.
LIMITS = {"boom": (-20, 30), "stick": (-60, 30), "bucket": (-60, 100)}
MOMENTS = ((16, "reach"), (30, "dig"), (46, "curl"), (64, "lift"), (76, "swing"), (96, "dump"))

PRESS = """\
The arm is live: press Space. The house turns to the target (Bends In: Turns About Bone), the teeth follow
it, and the bucket turns as it does: while it lifts, it stays level (Last Bone: Follow Target). No joint
leaves its limits, which are under Active Chain > Joints in the sidebar's tab IK 2D (N shows the sidebar).
The three rams and the bucket's linkage are one mechanism, which boom, stick and bucket drive: it follows the
arm. Move the target to any side, and the house follows. Press Bake in the tab for keys.
"""


def build() -> bpy.types.Object:
    """Build the scene and return the armature."""
    rig = armature(
        "Excavator",
        (
            Bone("house", (0, 0, 1.0), (0, 0, 1.8)),
            Bone("boom", _joint(FOOT), _joint(ELBOW), "house"),
            Bone("stick", _joint(ELBOW), _joint(WRIST), "boom"),
            Bone("bucket", _joint(WRIST), _joint(TEETH), "stick"),
            Bone("rocker", _joint(PIVOT), _joint(BELL), "stick", slides=True),
            Bone("link", _joint(BELL), _joint(LUG), "rocker"),
            *_ram_bones(),
        ),
    )
    _undercarriage()
    _house(rig)
    _arm(rig)
    _bucket(rig)
    _linkage(rig)
    _animate(rig)
    for ram in _rams():
        dress_ram(rig, ram)
    arm = ("boom", "stick", "bucket")
    mechanism(rig, "Hydraulics", (*arm, "rocker", "link", *_ram_bones()), [("link", "bucket")], arm, _rams())
    _surroundings()
    stage.note("Press Space", PRESS)
    return rig


def _joint(point: shapes.Point) -> tuple[float, float, float]:
    return point[0], 0.0, point[1]


def _yellow():
    return shapes.material("Yellow", (0.9, 0.47, 0.02), roughness=0.38)


def _dark():
    return shapes.material("Dark", (0.035, 0.035, 0.04), roughness=0.6)


def _iron():
    return shapes.material("Iron", (0.16, 0.16, 0.17), roughness=0.5)


def _undercarriage() -> None:
    for y in (-1.3, 1.3):
        shapes.plate("Track", _track_outline(), 0.62, _dark(), y=y, bevel=0.02)
        inner = shapes.local((-1.65, 0.48), (1.65, 0.48), shapes.capsule(3.3, 0.34, 0.34))
        shapes.plate("Track frame", inner, 0.66, _iron(), y=y, bevel=0.03)
        for x, radius in ((-1.65, 0.3), (1.65, 0.3), (-0.8, 0.17), (0, 0.17), (0.8, 0.17)):
            height = 0.48 if radius > 0.2 else 0.3
            shapes.pin("Wheel", (x, height), radius, 0.74, _yellow() if radius > 0.2 else _dark(), y=y)
    shapes.box("Carbody", (-1.1, -1.1, 0.4), (1.1, 1.1, 0.92), _iron(), bevel=0.06)
    shapes.tube("Turntable", (0, 0, 0.9), (0, 0, 1.2), (0.85, 0.85), _dark(), steps=48)


def _track_outline() -> list[shapes.Point]:
    """Round-ended track with a tread: every other piece of the outline stands out."""
    half, radius, treads = 1.65, 0.44, 44
    loop = 4 * half + 2 * math.pi * radius
    outline = []
    for i in range(treads):
        for share, out in ((0.0, 0.0), (0.45, 0.0), (0.5, 0.055), (0.95, 0.055)):
            outline.append(_on_track((i + share) / treads * loop, half, radius, out))
    return outline


def _on_track(s: float, half: float, radius: float, out: float) -> shapes.Point:
    """Point at the arc length `s` of the track, moved `out`wards."""
    straight, bend = 2 * half, math.pi * radius
    side = 1.0 if s < straight + bend else -1.0
    s = s if side > 0 else s - straight - bend
    if s < straight:
        x, z = -half + s, -(radius + out)
    else:
        a = (s - straight) / radius
        x, z = half + (radius + out) * math.sin(a), -(radius + out) * math.cos(a)
    return side * x, 0.5 + side * z


def _house(rig) -> None:
    back = [(-2.3, 1.45), (0.0, 1.45), (0.0, 2.2), (-0.25, 2.45), (-1.9, 2.55), (-2.2, 2.3)]
    end = [(-2.75, 1.5), (-2.5, 1.2), (-2.0, 1.2), (-2.0, 2.3), (-2.45, 2.25), (-2.75, 1.95)]
    foot = [(0.0, 1.4), (1.1, 1.4), (0.75, 1.95), (0.55, 2.05), (0.3, 1.95)]
    deck = shapes.box("Deck", (-2.0, -1.35, 1.2), (1.5, 1.35, 1.45), _dark(), bevel=0.04)
    hood = shapes.plate("Hood", back, 2.6, _yellow(), bevel=0.07)
    weight = shapes.plate("Counterweight", end, 2.7, _iron(), bevel=0.08)
    tank = shapes.box("Tank", (0.0, -1.32, 1.45), (1.35, -0.4, 2.1), _yellow(), bevel=0.07)
    lugs = shapes.plate("Boom foot", foot, 0.62, _iron(), bevel=0.03)
    pipe = shapes.tube("Exhaust", (-1.5, -0.7, 2.4), (-1.5, -0.7, 3.05), (0.08, 0.08), _iron(), steps=16)
    attach_all((deck, hood, weight, tank, lugs, pipe, *_cab()), rig, "house")


def _cab() -> list[bpy.types.Object]:
    glass = shapes.material("Glass", (0.10, 0.19, 0.25), roughness=0.08)
    frame = [(0.05, 1.45), (1.62, 1.45), (1.78, 2.1), (1.4, 3.2), (0.05, 3.2)]
    rear = [(0.16, 2.2), (0.66, 2.2), (0.66, 3.04), (0.16, 3.04)]
    front = [(0.78, 1.75), (1.55, 1.75), (1.66, 2.12), (1.34, 3.04), (0.78, 3.04)]
    screen = [(1.2, 1.9), (1.72, 1.9), (1.8, 2.12), (1.48, 3.06), (1.2, 3.06)]
    return [
        shapes.plate("Cab", frame, 1.0, _yellow(), y=0.85, bevel=0.06),
        shapes.plate("Rear window", rear, 1.02, glass, y=0.85, bevel=0.0),
        shapes.plate("Door window", front, 1.02, glass, y=0.85, bevel=0.0),
        shapes.plate("Windscreen", screen, 0.8, glass, y=0.85, bevel=0.0),
        shapes.box("Cab roof", (0.0, 0.32, 3.2), (1.46, 1.38, 3.28), _dark(), bevel=0.03),
    ]


def _arm(rig) -> None:
    boom = [
        (-0.22, -0.1),
        (-0.2, 0.14),
        (1.75, 1.12),
        (2.15, 1.24),
        (2.6, 1.16),
        (5.2, 0.3),
        (5.55, 0.2),
        (5.66, 0.02),
        (5.58, -0.17),
        (5.35, -0.24),
        (2.6, 0.36),
        (2.15, 0.36),
        (0.15, -0.22),
        (-0.08, -0.24),
    ]
    stick = [
        (-0.95, 0.25),
        (-0.95, -0.02),
        (-0.1, -0.32),
        (0.3, -0.3),
        (2.65, -0.14),
        (2.9, -0.1),
        (2.96, 0.02),
        (2.88, 0.13),
        (2.65, 0.17),
        (0.55, 0.42),
        (0.0, 0.46),
    ]
    attach_all(
        (
            shapes.plate("Boom", shapes.local(FOOT, ELBOW, boom), 0.42, _yellow(), bevel=0.05),
            shapes.pin("Boom pin", FOOT, 0.15, 0.7, _dark()),
        ),
        rig,
        "boom",
    )
    attach_all(
        (
            shapes.plate("Stick", shapes.local(ELBOW, WRIST, stick), 0.34, _yellow(), bevel=0.05),
            shapes.pin("Stick pin", ELBOW, 0.14, 0.56, _dark()),
            shapes.pin("Bucket pin", WRIST, 0.11, 0.52, _dark()),
        ),
        rig,
        "stick",
    )


def _bucket(rig) -> None:
    back = [(-0.12, 0.28), (0.1, 0.62), (0.45, 0.8), (0.85, 0.78), (1.15, 0.52), (1.32, 0.1), (1.36, -0.12)]
    inside = [(1.27, -0.1), (1.22, 0.08), (1.07, 0.44), (0.82, 0.68), (0.47, 0.7), (0.18, 0.54), (0.0, 0.26)]
    side = [(-0.14, 0.0), *back, (0.7, -0.3), (0.12, -0.32), (-0.1, -0.14)]

    def part(name, outline, thickness, y=0.0):
        return shapes.plate(name, shapes.local(WRIST, TEETH, outline), thickness, _iron(), y=y, bevel=0.012)

    parts = [part("Bucket back", back + inside, 1.2)]
    parts += [part("Bucket side", side, 0.06, y) for y in (-0.6, 0.6)]
    ear = [(-0.12, -0.1), (0.12, -0.1), (0.45, 0.5), (0.3, 0.72), (-0.1, 0.54), (-0.32, 0.46), (-0.32, 0.34)]
    parts += [part("Bucket ear", ear, 0.07, y) for y in (-0.25, 0.25)]
    tooth = [(1.22, 0.02), (1.34, 0.04), (1.62, -0.2), (1.3, -0.1)]
    parts += [part("Tooth", tooth, 0.12, y) for y in (-0.54, -0.18, 0.18, 0.54)]
    attach_all(parts, rig, "bucket")


def _linkage(rig) -> None:
    """Put two plates on the rocker, at the stick's sides, and two on the link, within the bucket's ears."""
    rocker = shapes.local(PIVOT, BELL, shapes.capsule(math.dist(PIVOT, BELL), 0.13, 0.12))
    link = shapes.local(BELL, LUG, shapes.capsule(math.dist(BELL, LUG), 0.12, 0.11))
    for bone, name, outline, far in (("rocker", "Rocker", rocker, 0.26), ("link", "Link", link, 0.17)):
        attach_all([shapes.plate(name, outline, 0.07, _iron(), y=y) for y in (-far, far)], rig, bone)
    pins = ((PIVOT, "stick", 0.6), (BELL, "rocker", 0.62), (LUG, "bucket", 0.6))
    for place, bone, depth in pins:
        attach(shapes.pin("Linkage pin", place, 0.075, depth, _dark()), rig, bone)


def _rams() -> tuple[Ram, ...]:
    ear, top = shapes.local(FOOT, ELBOW, [(2.1, 0.75), (2.45, 1.32)])
    end, lug = shapes.local(ELBOW, WRIST, [(-0.85, 0.12), (0.25, 0.55)])
    return (
        Ram("boom", ("house", (1.05, 1.5)), ("boom", ear), 0.11, (-0.33, 0.33)),
        Ram("stick", ("boom", top), ("stick", end), 0.12),
        Ram("bucket", ("stick", lug), ("rocker", BELL), 0.09, shares=(0.74, 0.78)),
    )


def _ram_bones() -> list[Bone]:
    return [bone for ram in _rams() for bone in ram.bones]


def _animate(rig) -> None:
    stage.settings(120, (800, 520))
    goal = shapes.target("Teeth Target", 0.3, 0.34)
    goal.parent = _swing_centre()
    path(goal, [(frame, *_teeth(x, z, turn)) for frame, x, z, turn in CYCLE])
    keys(goal, "rotation_euler", 1, [(frame, math.radians(turn)) for frame, _, _, turn in CYCLE])
    load = shapes.ball("Load", (0, 0, 0), 0.5, _earth(), scale=(0.9, 1.1, 0.75))
    x, z = shapes.local(WRIST, TEETH, [(0.66, 0.08)])[0]
    load.location = Vector((x, 0.0, z))
    attach(load, rig, "bucket")
    for axis in range(3):
        keys(load, "scale", axis, LOAD)
    slews = {"plane": 'POST', "post": "house", "post_axis": 'Y'}
    chain(rig, "Arm", "bucket", 3, goal, limits=LIMITS, tip_rotation='TARGET', **slews)
    for frame, name in MOMENTS:
        stage.marker(frame, name)


def _swing_centre() -> bpy.types.Object:
    """Make an empty on the ground below the turntable that carries the target round, by keys of its own."""
    centre = shapes.link(bpy.data.objects.new("Swing Centre", None), "Pivots")
    centre.empty_display_type, centre.empty_display_size = 'SINGLE_ARROW', 0.8
    keys(centre, "rotation_euler", 2, [(frame, math.radians(turn)) for frame, turn in SWING])
    return centre


def _teeth(x: float, z: float, turn: float) -> shapes.Point:
    """Return the place of the teeth for that of the bucket's pin, curled by `turn` degrees."""
    along, up = TEETH[0] - WRIST[0], TEETH[1] - WRIST[1]
    sine, cosine = math.sin(math.radians(turn)), math.cos(math.radians(turn))
    return x + along * cosine + up * sine, z + up * cosine - along * sine


def _earth():
    return shapes.material("Earth", (0.19, 0.105, 0.05), roughness=0.95)


def _surroundings() -> None:
    ground = shapes.material("Ground", (0.42, 0.33, 0.21), roughness=1.0)
    shapes.box("Ground", (-150, -300, -stage.DEEP), (150, 60, 0.0), ground)
    shapes.heap("Dig site", (6.4, 0.0), 2.3, 0.75, _earth(), seed=3)
    angle = math.radians(62)
    shapes.heap("Spoil heap", (6.0 * math.cos(angle), 6.0 * math.sin(angle)), 1.5, 0.9, _earth(), seed=5)
    stage.light((0.5, 0.7, 0.88), sun=3.1, strength=0.75)
    stage.aim_sun((0.35, -0.75, -0.8))
    stage.camera((6.0, 23.6, 5.4), (2.75, 0.0, 2.62), lens=56)
