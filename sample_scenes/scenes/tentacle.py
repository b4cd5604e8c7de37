# SPDX-License-Identifier: GPL-3.0-or-later
"""A tentacle of twelve bones follows a wandering target, bent as little as that takes."""

import math

import bpy

from . import shapes, stage
from .rig import Bone, armature, attach_all, chain, path

COUNT, FIRST, TAPER, TURN = 12, 0.42, 0.94, math.radians(5)

# frame, x, z: all between 0.7 and 0.85 of the tentacle's reach from its root
WANDER = (
    (1, 1.9, 2.1),
    (20, 2.75, 0.95),
    (40, 2.15, 1.8),
    (58, 0.7, 2.8),
    (76, -1.2, 2.55),
    (92, -2.6, 1.1),
    (106, -0.9, 2.75),
    (120, 1.9, 2.1),
)

# x, y, size
ROCKS = ((-0.35, 0.35, 0.75), (0.55, 0.6, 0.6), (0.3, 0.1, 0.45), (-2.7, 1.4, 0.8), (2.9, 1.8, 1.0))

PRESS = """\
The tentacle is live: press Space, or click the pink target and drag it with G, and the tentacle follows.
Press Bake in the sidebar's tab IK 2D (N shows the sidebar) for keys.
"""


def build() -> bpy.types.Object:
    """Build the scene and return the armature."""
    joints = _joints()
    names = [f"tentacle.{i + 1:02d}" for i in range(COUNT)]
    rig = armature(
        "Tentacle",
        (
            Bone(name, (x0, 0, z0), (x1, 0, z1), names[i - 1] if i else "")
            for i, (name, (x0, z0), (x1, z1)) in enumerate(zip(names, joints, joints[1:], strict=False))
        ),
    )
    for i, name in enumerate(names):
        attach_all(_segment(i, joints[i], joints[i + 1]), rig, name)
    stage.settings(120, (800, 600))
    goal = shapes.target("Target", 0.17, 0.13)
    path(goal, WANDER, handles='AUTO')
    # It grows out of the rock, where its root has no room to turn.
    chain(rig, "Tentacle", names[-1], COUNT, goal, solver='EVEN', root_turns_freely=False)
    for frame in (1, 20, 40, 58, 76, 92):
        stage.marker(frame, "")
    _surroundings()
    stage.note("Press Space", PRESS)
    return rig


def _joints() -> list[shapes.Point]:
    """Joints of the rest pose: upright at the root, slightly curved."""
    joints, heading = [(0.0, 0.0)], math.pi / 2 + TURN
    for i in range(COUNT):
        length = FIRST * TAPER**i
        heading -= TURN
        x, z = joints[-1]
        joints.append((x + length * math.cos(heading), z + length * math.sin(heading)))
    return joints


def _segment(i: int, head: shapes.Point, tail: shapes.Point) -> list[bpy.types.Object]:
    skin = shapes.material("Skin", (0.42, 0.1, 0.3), roughness=0.35)
    pale = shapes.material("Sucker", (0.85, 0.55, 0.6), roughness=0.5)
    wide, narrow = (0.3 * (1 - j / (COUNT + 0.8)) + 0.015 for j in (i, i + 1))
    start, end = (head[0], 0, head[1]), (tail[0], 0, tail[1])
    parts = [
        shapes.tube("Segment", start, end, (wide, narrow), skin, steps=28),
        shapes.ball("Joint", start, wide * 1.005, skin),
    ]
    if i == COUNT - 1:
        parts.append(shapes.ball("End", end, narrow, skin))
    middle = math.dist(head, tail) / 2
    for y in (-0.4, 0.4):
        radius = (wide + narrow) / 2
        x, z = shapes.local(head, tail, [(middle, -radius * 0.86)])[0]
        parts.append(shapes.ball("Sucker", (x, y * radius, z), radius * 0.3, pale))
    return parts


def _surroundings() -> None:
    sand = shapes.material("Sand", (0.62, 0.52, 0.36), roughness=1.0)
    sea = shapes.material("Sea", (0.07, 0.33, 0.42), roughness=1.0)
    rock = shapes.material("Rock", (0.16, 0.2, 0.22), roughness=0.9)
    shapes.box("Sea floor", (-40, -30, -stage.DEEP), (40, 3.2, -0.02), sand)
    shapes.box("Back wall", (-40, 3.0, -1.0), (40, 3.4, 30), sea)
    for i, (x, y, radius) in enumerate(ROCKS):
        shapes.heap("Rock", (x, y), radius, radius * 0.7, rock, seed=i)
    stage.light((0.75, 0.9, 1.0), sun=2.3, strength=0.55)
    stage.aim_sun((0.35, 0.55, -0.8))
    stage.camera((0.1, -10.5, 2.4), (0.1, 0.0, 1.6), lens=64)
