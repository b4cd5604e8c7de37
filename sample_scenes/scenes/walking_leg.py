# SPDX-License-Identifier: GPL-3.0-or-later
"""A walker: two legs of two bones follow their ankles, on a body that bobs and moves on."""

import math

import bpy

from . import shapes, stage
from .rig import Bone, armature, attach, attach_all, chain, keys, path

HIP, KNEE, ANKLE, TOE = (0.0, 1.82), (0.3, 1.02), (0.0, 0.2), (0.38, 0.2)
STRIDE, PERIOD, STANCE = 1.5, 32, 20  # its length; frames of a cycle; of these, with the foot on the ground
LAST = 96
MOMENTS = (
    (5, "right lifts"),
    (11, "right swings"),
    (17, "right lands"),
    (21, "left lifts"),
    (27, "left swings"),
    (33, "left lands"),
)
SIDES = (("L", 0.36, 0), ("R", -0.36, PERIOD // 2))  # name, depth, frames ahead

PRESS = """\
The legs are live: press Space, and the walker walks. Move a pink ankle target with G, and its leg follows;
rotate it with R, and the foot does. Press Bake in the sidebar's tab IK 2D (N shows the sidebar) for keys;
Ctrl Z takes them away.
"""


def build() -> bpy.types.Object:
    """Build the scene and return the armature."""
    bones = [Bone("body", (0, 0, HIP[1]), (0, 0, HIP[1] + 0.7))]
    for side, y, _ in SIDES:
        hip, knee, ankle, toe = ((x, y, z) for x, z in (HIP, KNEE, ANKLE, TOE))
        bones.append(Bone(f"thigh.{side}", hip, knee, "body"))
        bones.append(Bone(f"shin.{side}", knee, ankle, f"thigh.{side}"))
        bones.append(Bone(f"foot.{side}", ankle, toe, f"shin.{side}"))
    rig = armature("Walker", bones)
    for bone in rig.data.bones:
        bone.inherit_scale = 'NONE' if bone.name.startswith("foot") else 'ALIGNED'
    for bone in rig.pose.bones:
        bone.rotation_mode = 'QUATERNION' if bone.name.startswith(("thigh", "shin")) else 'XYZ'
    _body(rig)
    for side, y, ahead in SIDES:
        _leg(rig, side, y)
        _step(rig, side, y, ahead)
    _travel(rig)
    _surroundings()
    stage.note("Press Space", PRESS)
    return rig


def _body(rig) -> None:
    shell = shapes.material("Shell", (0.8, 0.76, 0.66), roughness=0.4)
    dark = shapes.material("Joint", (0.06, 0.07, 0.09), roughness=0.5)
    glass = shapes.material("Glass", (0.05, 0.3, 0.38), roughness=0.1)
    cabin = [
        (-0.62, 2.1),
        (-0.5, 1.85),
        (0.45, 1.85),
        (0.75, 2.1),
        (0.78, 2.35),
        (0.5, 2.72),
        (-0.35, 2.76),
        (-0.62, 2.5),
    ]
    side = [(-0.3, 2.28), (0.18, 2.28), (0.18, 2.56), (-0.26, 2.58)]
    window = [(0.36, 2.24), (0.8, 2.24), (0.81, 2.35), (0.58, 2.62), (0.36, 2.62)]
    lamp = shapes.material("Lamp", (0.9, 0.6, 0.1), glow=0.6)
    attach_all(
        (
            shapes.plate("Cabin", cabin, 1.0, shell, bevel=0.12),
            shapes.plate("Window", window, 0.78, glass, bevel=0.03),
            shapes.plate("Side window", side, 1.02, glass, bevel=0.0),
            shapes.pin("Hip", HIP, 0.17, 0.9, dark),
            shapes.tube("Aerial", (-0.4, 0.2, 2.7), (-0.55, 0.2, 3.25), (0.02, 0.012), dark, steps=10),
            shapes.ball("Aerial tip", (-0.55, 0.2, 3.25), 0.045, lamp),
        ),
        rig,
        "body",
    )


def _leg(rig, side: str, y: float) -> None:
    color = (0.05, 0.36, 0.42) if side == "R" else (0.035, 0.15, 0.2)
    look = shapes.material(f"Leg {side}", color, roughness=0.4)
    dark = shapes.material("Joint", (0.06, 0.07, 0.09))
    thigh = shapes.capsule(math.dist(HIP, KNEE), 0.2, 0.14)
    shin = shapes.capsule(math.dist(KNEE, ANKLE), 0.14, 0.09)
    sole = [(-0.24, 0.0), (0.44, 0.0), (0.46, 0.07), (0.12, 0.2), (0.0, 0.27), (-0.12, 0.2), (-0.26, 0.08)]
    attach_all(
        (
            shapes.plate(f"Thigh {side}", shapes.local(HIP, KNEE, thigh), 0.24, look, y=y, bevel=0.05),
            shapes.pin(f"Knee {side}", KNEE, 0.1, 0.3, dark, y=y),
        ),
        rig,
        f"thigh.{side}",
    )
    calf = shapes.plate(f"Shin {side}", shapes.local(KNEE, ANKLE, shin), 0.2, look, y=y, bevel=0.05)
    attach(calf, rig, f"shin.{side}")
    attach(shapes.plate(f"Foot {side}", sole, 0.3, dark, y=y, bevel=0.03), rig, f"foot.{side}")


def _step(rig, side: str, y: float, ahead: int) -> None:
    """Key the ankle's target: still while the foot stands, an arc forward while it swings."""
    goal = shapes.target(f"Ankle Target {side}", 0.15, 0.2)
    points, pitch = [], []
    for cycle in range(-1, LAST // PERIOD + 2):
        down = 1 + cycle * PERIOD - ahead
        up, speed = down + STANCE, STRIDE / PERIOD
        here = speed * (down + STANCE / 2 - 1)  # the body passes over the foot halfway through the stance
        middle = (up + down + PERIOD) / 2
        points += [(down, here, ANKLE[1]), (up, here, ANKLE[1]), (middle, here + STRIDE / 2, ANKLE[1] + 0.36)]
        pitch += [(down, 0.0), (up - 2, 0.0), (up + 3, -0.45), (down + PERIOD - 4, 0.18)]
    path(goal, points, y)
    # The knee eases towards straight, and the leg gets a little longer there: the ankle stays on its target.
    soft = {"softness": 0.15, "stretch": 1.1}
    chain(rig, f"Leg.{side}", f"shin.{side}", 2, goal, hand_rotation='TARGET', **soft)
    keys(goal, "rotation_euler", 1, [(frame, -angle) for frame, angle in pitch])  # the foot follows it


def _travel(rig) -> None:
    """Move the body on, and up and down twice in a step cycle; let the camera follow."""
    stage.settings(LAST, (800, 620))
    body, quarter = rig.pose.bones["body"], PERIOD // 4
    distance = STRIDE / PERIOD * (LAST - 1)
    keys(rig, "location", 0, [(1, 0.0), (LAST, distance)], 'LINEAR')
    first = 1 + (STANCE - PERIOD // 2) // 2  # halfway through the time with both feet on the ground
    bob = [(first + quarter * i, -0.12 if i % 2 == 0 else -0.03) for i in range(-1, LAST // quarter + 2)]
    keys(body, "location", 1, bob)  # the body bone stands upright: its Y axis is the world's Z
    keys(body, "rotation_euler", 0, [(frame + 2, -0.03 if low < -0.1 else 0.03) for frame, low in bob])
    view = stage.camera((1.6, -9.0, 2.0), (0.1, 0.0, 1.42), lens=62)
    keys(view, "location", 0, [(1, 1.6), (LAST, 1.6 + distance)], 'LINEAR')
    for frame, name in MOMENTS:
        stage.marker(frame, name)


def _surroundings() -> None:
    pale = shapes.material("Slab pale", (0.56, 0.55, 0.52), roughness=0.9)
    dark = shapes.material("Slab dark", (0.42, 0.42, 0.41), roughness=0.9)
    grass = shapes.material("Ground", (0.34, 0.42, 0.36), roughness=1.0)
    for i in range(-5, 12):
        low, high = (i * 0.75 - 0.36, -1.5, -0.3), (i * 0.75 + 0.36, 1.5, 0.0)
        shapes.box("Slab", low, high, pale if i % 2 else dark, bevel=0.03)
    shapes.box("Ground", (-60, -40, -stage.DEEP), (60, 60, -0.06), grass)
    stage.light((0.6, 0.75, 0.84), sun=2.3, strength=0.7)
    stage.aim_sun((0.45, 0.7, -0.9))
