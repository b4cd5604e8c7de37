# SPDX-License-Identifier: GPL-3.0-or-later
"""A beetle walks on six native legs: plain drivers, which play without the extension."""

import math
import random
from typing import NamedTuple

import bpy
from mathutils import Matrix, Vector

from ik2d_addon.features.native import make_native

from . import shapes, stage
from .rig import Bone, armature, attach, attach_all, chain, keys


class Leg(NamedTuple):
    """A leg on the left: where the coxa turns, where the foot stands, and how long femur and tibia are."""

    name: str
    hip: tuple[float, float, float]
    foot: tuple[float, float]
    femur: float
    tibia: float


LEGS = (
    Leg("front", (0.52, 0.3, 0.8), (1.3, 0.92), 0.8, 0.9),
    Leg("middle", (0.12, 0.34, 0.78), (0.12, 1.42), 0.82, 0.98),
    Leg("hind", (-0.2, 0.36, 0.76), (-1.16, 1.34), 0.98, 1.2),
)
COXA, ANKLE, TOES = 0.2, 0.1, 0.2  # length; height over the ground; length of the tarsus
PARTS = ("coxa", "femur", "tibia", "tarsus")
STRIDE, PERIOD, STANCE = 1.1, 24, 14  # its length; frames of a cycle; of these, with the foot on the ground
CYCLES = 4
LAST, DISTANCE = CYCLES * PERIOD, CYCLES * STRIDE
STEP_HEIGHT, STEP_OUT = 0.34, 0.08
MOMENTS = (
    (2, "all six stand"),
    (6, "one tripod lifts"),
    (10, "and reaches ahead"),
    (14, "all six stand"),
    (18, "the other lifts"),
    (22, "and reaches ahead"),
)

PRESS = """\
Press Space: the beetle walks. Its six legs are chains on drivers in Blender's simple expressions, with two
hidden empties each. They play wherever Blender does, without the extension and with scripts turned off.
Move a pink target with G, and its leg follows.

With the extension, the sidebar's tab IK 2D (N shows the sidebar) has the chains: Remove Drivers, under Rig,
takes the drivers away again, and Bake keys the legs.
"""


def build() -> bpy.types.Object:
    """Build the scene and return the armature."""
    bones = [
        Bone("body", (0, 0, 0.85), (0, 0, 1.35)),
        Bone("head", (0.72, 0, 0.92), (1.12, 0, 0.86), "body"),
        Bone("abdomen", (0.1, 0, 0.95), (-0.4, 0, 0.98), "body"),
    ]
    for side in (1, -1):
        bones.append(Bone(_name("feeler", side), _feeler(side)[0], _feeler(side)[1], "head"))
        for leg in LEGS:
            bones += _leg_bones(leg, side)
    rig = armature("Beetle", bones)
    _body(rig)
    for side in (1, -1):
        for i, leg in enumerate(LEGS):
            _leg(rig, leg, side)
            _step(rig, leg, side, ahead=PERIOD // 2 * ((i + (side > 0)) % 2))
    _travel(rig)
    _surroundings()
    for settings in rig.ik2d.chains:
        make_native(rig, settings)
    stage.note("Press Space", PRESS)
    return rig


def _name(bone: str, side: int) -> str:
    return f"{bone}.{'L' if side > 0 else 'R'}"


def _feeler(side: int) -> tuple[tuple[float, float, float], ...]:
    """Return the joints of a feeler: at the head, its elbow, its end."""
    return (1.1, 0.12 * side, 0.98), (1.34, 0.3 * side, 1.3), (1.78, 0.44 * side, 1.36)


class _Joints(NamedTuple):
    hip: Vector
    root: Vector
    knee: Vector
    ankle: Vector
    toes: Vector
    normal: Vector  # of the leg's plane


def _joints(leg: Leg, side: int) -> _Joints:
    """Return a leg's joints in the rest pose, all in one upright plane through hip and foot."""
    hip = Vector((leg.hip[0], leg.hip[1] * side, leg.hip[2]))
    ankle = Vector((leg.foot[0], leg.foot[1] * side, ANKLE))
    out = Vector((*(ankle - hip).xy, 0.0)).normalized()
    root = hip + COXA * out
    way = ankle - root
    along = (way.length_squared + leg.femur**2 - leg.tibia**2) / (2.0 * way.length)
    normal = out.cross(Vector((0.0, 0.0, 1.0)))
    up = normal.cross(way).normalized()
    knee = root + along * way.normalized() + math.sqrt(leg.femur**2 - along**2) * up
    toes = ankle + TOES * out - Vector((0.0, 0.0, ANKLE - 0.03))
    return _Joints(hip, root, knee, ankle, toes, normal)


def _leg_bones(leg: Leg, side: int) -> list[Bone]:
    at = _joints(leg, side)
    coxa, femur, tibia, tarsus = (_name(f"{leg.name} {part}", side) for part in PARTS)
    return [
        Bone(coxa, at.hip, at.root, "body", axis=at.normal),
        Bone(femur, at.root, at.knee, coxa, axis=at.normal),
        Bone(tibia, at.knee, at.ankle, femur, axis=at.normal),
        Bone(tarsus, at.ankle, at.toes, tibia, keeps_heading=True, axis=at.normal),
    ]


def _wing_case():
    return shapes.material("Wing case", (0.015, 0.25, 0.10), roughness=0.22, metallic=0.35)


def _armour():
    return shapes.material("Armour", (0.01, 0.12, 0.09), roughness=0.3, metallic=0.3)


def _dark():
    return shapes.material("Dark", (0.022, 0.018, 0.016), roughness=0.35)


def _limb():
    return shapes.material("Limb", (0.20, 0.075, 0.02), roughness=0.4)


def _body(rig) -> None:
    shell = shapes.ball("Wing cases", (-0.72, 0, 0.98), 1.0, _wing_case(), scale=(0.98, 0.64, 0.5))
    seam = shapes.ball("Seam", (-0.72, 0, 0.985), 1.0, _dark(), scale=(0.985, 0.012, 0.505))
    belly = shapes.ball("Belly", (-0.66, 0, 0.88), 1.0, _dark(), scale=(0.94, 0.6, 0.4))
    attach_all((shell, seam, belly), rig, "abdomen")
    for y in (0.2, 0.4):  # ridges where the cases are cut at this depth, on both sides
        cut = math.sqrt(1.0 - (y / 0.64) ** 2)
        size = (0.98 * cut + 0.008, 0.014, 0.5 * cut + 0.008)
        ridges = [
            shapes.ball("Ridge", (-0.72, y * side, 0.98), 1.0, _armour(), scale=size) for side in (1, -1)
        ]
        attach_all(ridges, rig, "abdomen")
    thorax = shapes.ball("Thorax", (0.34, 0, 0.95), 1.0, _armour(), scale=(0.46, 0.5, 0.38))
    neck = shapes.ball("Neck", (0.72, 0, 0.92), 0.24, _dark())
    attach_all((thorax, neck), rig, "body")
    head = [shapes.ball("Head", (0.93, 0, 0.92), 1.0, _armour(), scale=(0.27, 0.28, 0.22))]
    for side in (1, -1):
        head.append(shapes.ball("Eye", (1.0, 0.22 * side, 0.98), 0.095, _dark()))
        head.append(
            shapes.tube("Jaw", (1.1, 0.1 * side, 0.83), (1.34, 0.03 * side, 0.77), (0.05, 0.012), _dark())
        )
        start, elbow, end = _feeler(side)
        parts = (
            shapes.tube("Feeler", start, elbow, (0.024, 0.018), _dark(), steps=10),
            shapes.tube("Feeler", elbow, end, (0.018, 0.012), _dark(), steps=10),
            shapes.ball("Feeler end", end, 0.04, _limb(), scale=(1.5, 0.8, 0.8)),
        )
        attach_all(parts, rig, _name("feeler", side))
    attach_all(head, rig, "head")


def _leg(rig, leg: Leg, side: int) -> None:
    at = _joints(leg, side)
    coxa, femur, tibia, tarsus = (_name(f"{leg.name} {part}", side) for part in PARTS)
    attach(shapes.tube("Coxa", at.hip, at.root, (0.13, 0.1), _dark(), steps=16), rig, coxa)
    attach_all(
        (
            shapes.ball("Hip", at.root, 0.105, _dark()),
            _spindle("Femur", at.root, at.knee, 0.1, _limb()),
            shapes.ball("Knee", at.knee, 0.07, _dark()),
        ),
        rig,
        femur,
    )
    attach_all(
        (
            shapes.tube("Tibia", at.knee, at.ankle, (0.062, 0.03), _limb(), steps=16),
            shapes.ball("Ankle", at.ankle, 0.042, _dark()),
        ),
        rig,
        tibia,
    )
    attach(shapes.tube("Tarsus", at.ankle, at.toes, (0.036, 0.016), _dark(), steps=12), rig, tarsus)


def _spindle(name: str, start: Vector, end: Vector, radius: float, look) -> bpy.types.Object:
    """Make a limb that is thickest at its middle."""
    ob = shapes.ball(name, (0, 0, 0), 1.0, look, scale=(radius, radius, (end - start).length / 2 + 0.03))
    ob.matrix_world = (
        Matrix.Translation((start + end) / 2) @ (end - start).to_track_quat('Z', 'Y').to_matrix().to_4x4()
    )
    return ob


def _step(rig, leg: Leg, side: int, ahead: int) -> None:
    """Key the foot's target, and the tarsus; have the coxa face the target, and the leg follow it."""
    normal = _joints(leg, side).normal
    goal = shapes.target(_name(f"{leg.name.title()} Foot", side), 0.085, 0.1)
    goal.rotation_euler.z = math.atan2(normal.x, -normal.y)  # its rings beside the leg
    coxa, _, tibia, tarsus = (_name(f"{leg.name} {part}", side) for part in PARTS)
    _place(goal, leg, side, ahead)
    _droop(rig.pose.bones[tarsus], ahead)
    facing = rig.pose.bones[coxa].constraints.new('LOCKED_TRACK')
    facing.target, facing.track_axis, facing.lock_axis = goal, 'TRACK_Y', 'LOCK_Z'
    chain(rig, _name(leg.name.title(), side), tibia, 2, goal)


def _landings(ahead: int) -> list[int]:
    """Return the frames on which a foot comes down, from before the first frame to after the last."""
    return [1 + cycle * PERIOD - ahead for cycle in range(-1, CYCLES + 2)]


def _place(goal: bpy.types.Object, leg: Leg, side: int, ahead: int) -> None:
    """Key a foot's target: still while the foot stands, an arc forward while it swings."""
    x, y, z = _joints(leg, side).ankle
    points: list[tuple[int, tuple[float, float, float]]] = []
    for down in _landings(ahead):
        up = down + STANCE
        here = x + STRIDE / PERIOD * (down + STANCE / 2 - 1)  # the body passes halfway through the stance
        points += [(down, (here, y, z)), (up, (here, y, z))]
        top = (here + STRIDE / 2, y + STEP_OUT * side, z + STEP_HEIGHT)
        points.append(((up + down + PERIOD) // 2, top))
    for axis in range(3):
        keys(goal, "location", axis, [(frame, point[axis]) for frame, point in points])


def _droop(tarsus: bpy.types.PoseBone, ahead: int) -> None:
    """Key a tarsus: flat while the foot stands, hanging while it swings."""
    pitch: list[tuple[int, float]] = []
    for down in _landings(ahead):
        up = down + STANCE
        pitch += [(down, 0.0), (up, 0.0), (up + 3, -0.7), (down + PERIOD - 2, -0.25)]
    keys(tarsus, "rotation_euler", 0, pitch)


# Bone, channel, index, size, first frame, frames from one end to the other.
_HALF, _QUARTER = PERIOD // 2, PERIOD // 4
SWAYS = (
    ("body", "location", 1, 0.03, 2, _QUARTER),  # the body bone stands upright: its Y axis is the world's Z
    ("body", "location", 0, 0.03, 4, _HALF),
    ("body", "rotation_euler", 0, 0.025, 4, _QUARTER),
    ("body", "rotation_euler", 1, 0.03, 1, _HALF),
    ("body", "rotation_euler", 2, 0.035, 4, _HALF),
    ("head", "rotation_euler", 0, 0.05, 3, _QUARTER),
    ("head", "rotation_euler", 2, 0.06, 7, _HALF),
    ("abdomen", "rotation_euler", 0, 0.02, 5, _QUARTER),
    ("abdomen", "rotation_euler", 2, 0.03, 6, _HALF),
    ("feeler.L", "rotation_euler", 0, 0.16, 7, _HALF),
    ("feeler.L", "rotation_euler", 2, 0.12, 10, _HALF),
    ("feeler.R", "rotation_euler", 0, 0.16, 2, _HALF),
    ("feeler.R", "rotation_euler", 2, 0.12, 5, _HALF),
)


def _travel(rig) -> None:
    """Move the body on, and to and fro in each cycle; let the camera follow."""
    stage.settings(LAST, (800, 560))
    view = stage.camera((4.1, -5.9, 2.2), (0.02, 0.0, 0.66), lens=50)
    for owner in (rig, view):
        start = owner.location.x
        keys(owner, "location", 0, [(1, start), (LAST + 1, start + DISTANCE)], 'LINEAR')
    for bone, channel, index, size, first, every in SWAYS:
        swings = range(-PERIOD // every, (LAST + PERIOD) // every + 1)
        points = [(first + every * i, size if i % 2 else -size) for i in swings]
        keys(rig.pose.bones[bone], channel, index, points)
    for frame, name in MOMENTS:
        stage.marker(frame, name)


def _surroundings() -> None:
    """Lay out a ground that repeats after the way walked, so that the moving picture has no end."""
    chance = random.Random(7)
    ground = shapes.material("Ground", (0.50, 0.41, 0.28), roughness=1.0)
    shapes.box("Ground", (-300, -40, -stage.DEEP), (100, 300, 0.0), ground)
    stones = [
        shapes.material(f"Stone {i}", color, roughness=0.9)
        for i, color in enumerate(((0.38, 0.36, 0.33), (0.55, 0.5, 0.42), (0.27, 0.25, 0.24)))
    ]
    blade = shapes.material("Grass", (0.16, 0.34, 0.06), roughness=0.7)
    pebbles = [shapes.ball("Pebble", (0, 0, 0), 1.0, look) for look in stones]
    blades = [_blade(blade, plain) for plain in (0.25, -0.4)]
    for kind, count in ((pebbles, 46), (blades, 30)):
        for i in range(count):
            x, y = chance.uniform(0.0, DISTANCE), _clear(chance, kind is blades)
            size = chance.uniform(0.03, 0.11) * (2.2 if y > 2.5 and kind is pebbles else 1.0)
            turn = chance.uniform(0.0, 6.28)
            for repeat in range(-3, 5):
                ob = shapes.link(kind[i % len(kind)].copy(), "Shapes")
                ob.location = (x + repeat * DISTANCE, y, 0.0)
                ob.rotation_euler.z = turn
                ob.scale = (size * 1.3, size, size * 0.7) if kind is pebbles else (1, 1, 5.0 * size + 0.6)
    for ob in (*pebbles, *blades):
        bpy.data.objects.remove(ob)
    stage.light((0.62, 0.78, 0.9), sun=3.0, strength=0.7)
    stage.aim_sun((0.25, 0.8, -1.0))


def _clear(chance: random.Random, far: bool) -> float:
    """Return a depth away from where the feet go."""
    return chance.uniform(2.0, 7.0) if far else chance.choice((-1, 1, 1)) * chance.uniform(1.75, 5.0)


def _blade(look, plain: float) -> bpy.types.Object:
    """Make a blade of grass."""
    left = [(-0.04, 0.0), (-0.03 + 0.3 * plain, 0.5), (plain, 1.0)]
    right = [(0.03 + 0.3 * plain, 0.5), (0.04, 0.0)]
    return shapes.plate("Blade", left + right, 0.02, look, bevel=0.0)
