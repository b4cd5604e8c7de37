# SPDX-License-Identifier: GPL-3.0-or-later
"""A robot throws a ball: four limbs in planes that turn with their targets towards poles."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import bpy
from mathutils import Vector

from ik2d_addon.bake import solve

from . import shapes, stage
from .rig import Bone, armature, attach, attach_all, chain, keys

Place = tuple[float, float, float]

HIPS, WAIST, NECK, CROWN = 0.98, 1.12, 1.58, 1.92
HIP, KNEE, ANKLE, TOES = (0.0, 0.98), (0.1, 0.53), (-0.04, 0.09), (0.17, 0.05)
SHOULDER, ELBOW, WRIST, FINGERS = (0.0, 1.47), (-0.06, 1.15), (0.02, 0.86), (0.03, 0.73)
HIP_Y, SHOULDER_Y = 0.12, 0.27  # of the left side; the right one is at as much below 0
SIDES = (("L", 1), ("R", -1))
LAST, RELEASE, HIT = 96, 46, 53


class Body(NamedTuple):
    """A key of the body: how far the hips are ahead and down, and turns in degrees."""

    frame: int
    ahead: float
    down: float
    hips: float  # anticlockwise from above
    chest: float  # the same, more than the hips
    lean: float  # ahead


BODY = (
    Body(1, 0.0, 0.05, -25, -10, 0),
    Body(12, 0.0, 0.05, -25, -10, 0),
    Body(26, -0.09, 0.04, -62, -22, -6),
    Body(36, 0.10, 0.10, -50, -40, -12),
    Body(41, 0.32, 0.17, -20, -38, -4),
    Body(RELEASE, 0.42, 0.20, 5, 5, 14),
    Body(51, 0.47, 0.22, 12, 26, 34),
    Body(60, 0.48, 0.20, 14, 32, 38),
    Body(74, 0.40, 0.13, 5, 10, 12),
    Body(LAST, 0.0, 0.05, -25, -10, 0),
)


class Key(NamedTuple):
    """A key of a limb: its target from the limb's root, or a foot's place, and its pole from the root."""

    frame: int
    goal: Place
    pole: Place


# Of arms, from the shoulder as the chest has it: ahead, to the left, up.
RIGHT_ARM = (
    Key(1, (0.33, 0.22, -0.12), (-0.1, -0.5, -0.8)),
    Key(12, (0.33, 0.22, -0.12), (-0.1, -0.5, -0.8)),
    Key(23, (0.02, -0.24, -0.50), (-0.7, -0.7, -0.1)),
    Key(28, (-0.14, -0.36, -0.34), (-0.3, -0.7, 0.6)),
    Key(33, (-0.24, -0.40, -0.02), (0.5, -0.7, 0.5)),
    Key(38, (-0.20, -0.33, 0.26), (0.6, -1.0, -0.2)),
    Key(42, (-0.13, -0.36, 0.30), (0.6, -1.0, -0.3)),
    Key(RELEASE, (0.24, -0.22, 0.46), (0.5, -0.9, -0.1)),
    Key(50, (0.52, -0.04, 0.06), (0.4, -0.9, -0.2)),
    Key(57, (0.36, 0.32, -0.34), (0.7, -0.6, -0.2)),
    Key(63, (0.28, 0.38, -0.36), (0.6, -0.7, -0.2)),
    Key(78, (0.20, 0.06, -0.42), (-0.3, -0.7, -0.6)),
    Key(LAST, (0.33, 0.22, -0.12), (-0.1, -0.5, -0.8)),
)
LEFT_ARM = (
    Key(1, (0.33, -0.18, -0.15), (-0.1, 0.5, -0.8)),
    Key(12, (0.33, -0.18, -0.15), (-0.1, 0.5, -0.8)),
    Key(26, (0.30, 0.34, 0.08), (0.1, 0.7, -0.9)),
    Key(36, (0.20, 0.52, 0.12), (0.0, 0.6, -1.0)),
    Key(41, (0.38, 0.22, 0.00), (-0.1, 0.8, -0.8)),
    Key(47, (0.22, 0.02, -0.26), (-0.8, 0.6, -0.4)),
    Key(56, (-0.14, 0.20, -0.44), (-1.0, 0.5, 0.1)),
    Key(76, (0.14, 0.06, -0.48), (-0.7, 0.6, -0.4)),
    Key(LAST, (0.33, -0.18, -0.15), (-0.1, 0.5, -0.8)),
)


class Step(NamedTuple):
    """A key of a foot: the place of its ankle, and turns in degrees."""

    frame: int
    place: Place
    pitch: float = 0.0  # toes up
    yaw: float = 0.0  # anticlockwise from above


LEFT_FOOT = (
    Step(1, (0.12, 0.14, ANKLE[1]), 0, -5),
    Step(14, (0.12, 0.14, ANKLE[1]), 0, -5),
    Step(25, (0.12, 0.06, 0.50), -25, -35),
    Step(33, (0.48, 0.12, 0.26), 10, -15),
    Step(38, (0.72, 0.14, ANKLE[1]), 0, 0),
    Step(78, (0.72, 0.14, ANKLE[1]), 0, 0),
    Step(84, (0.46, 0.15, 0.20), -12, 0),
    Step(90, (0.12, 0.14, ANKLE[1]), 0, -5),
)
RIGHT_FOOT = (
    Step(1, (-0.18, -0.15, ANKLE[1]), 0, -55),
    Step(38, (-0.18, -0.15, ANKLE[1]), 0, -55),
    Step(44, (-0.12, -0.17, 0.17), -38, -30),
    Step(52, (0.14, -0.22, 0.34), -50, -10),
    Step(62, (0.42, -0.24, ANKLE[1]), 0, -10),
    Step(70, (0.42, -0.24, ANKLE[1]), 0, -10),
    Step(76, (0.15, -0.20, 0.20), -12, -30),
    Step(82, (-0.18, -0.15, ANKLE[1]), 0, -55),
)
# Of the hand that throws: bent back, then snapped ahead. Degrees.
WRIST_TURNS = ((1, 25), (24, 10), (36, -45), (42, -50), (RELEASE, 15), (50, 55), (62, 30), (LAST, 25))
MOMENTS = (
    (12, "ready"),
    (26, "lift"),
    (36, "cock"),
    (RELEASE, "release"),
    (53, "hit"),
    (60, "follow through"),
)

STAND, CAN = 2.6, (0.085, 0.22)  # how far away the cans are; their radius and height
TABLE = 1.02

PRESS = """\
The limbs are live: press Space, and the robot throws. Each arm and leg bends in a plane that turns with its
pink target, towards its blue pole: Bends In is Towards Pole in the sidebar's tab IK 2D (N shows the sidebar).
Click the pole next to an elbow and move it with G: the elbow follows, and the wrist stays on its target.
Press Bake in the tab for keys.
"""


def build() -> bpy.types.Object:
    """Build the scene and return the armature."""
    bones = [
        Bone("hips", (0, 0, HIPS), (0, 0, WAIST)),
        Bone("chest", (0, 0, WAIST), (0, 0, NECK), "hips"),
        Bone("head", (0, 0, NECK), (0, 0, CROWN), "chest"),
    ]
    for side, sign in SIDES:
        arm, leg = (_joints(limb, sign) for limb in ("arm", "leg"))
        bones += _limb_bones(("upper arm", "forearm", "hand"), side, arm, "chest")
        bones += _limb_bones(("thigh", "shin", "foot"), side, leg, "hips")
    rig = armature("Robot", bones)
    for bone in rig.pose.bones:
        turns_freely = bone.name.startswith(("upper arm", "thigh"))
        bone.rotation_mode = 'QUATERNION' if turns_freely else 'YXZ'
    _body(rig)
    stage.settings(LAST, (800, 520))
    _move_body(rig)
    for side, sign in SIDES:
        _limb(rig, ("upper arm", "forearm", "hand"), side, _joints("arm", sign), 0.062)
        _limb(rig, ("thigh", "shin", "foot"), side, _joints("leg", sign), 0.088)
    _arm(rig, "R", RIGHT_ARM)
    _arm(rig, "L", LEFT_ARM)
    _leg(rig, "R", RIGHT_FOOT)
    _leg(rig, "L", LEFT_FOOT)
    keys(rig.pose.bones["hand.R"], "rotation_euler", 0, _radians(WRIST_TURNS))
    _surroundings()
    _throw(rig)
    for frame, name in MOMENTS:
        stage.marker(frame, name)
    stage.note("Press Space", PRESS)
    return rig


def _joints(limb: str, sign: int) -> list[Vector]:
    """Return the joints of an arm or a leg at rest, each limb in an upright plane."""
    points = (SHOULDER, ELBOW, WRIST, FINGERS) if limb == "arm" else (HIP, KNEE, ANKLE, TOES)
    y = sign * (SHOULDER_Y if limb == "arm" else HIP_Y)
    return [Vector((x, y, z)) for x, z in points]


def _limb_bones(names: Sequence[str], side: str, joints: Sequence[Vector], parent: str) -> list[Bone]:
    made = [f"{name}.{side}" for name in names]
    ends = zip(made, joints, joints[1:], (parent, *made), strict=False)
    return [Bone(name, head, tail, above) for name, head, tail, above in ends]


def _radians(points: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    return [(frame, math.radians(angle)) for frame, angle in points]


def _white():
    return shapes.material("White", (0.82, 0.82, 0.80), roughness=0.35)


def _dark():
    return shapes.material("Dark", (0.05, 0.055, 0.065), roughness=0.5)


def _orange():
    return shapes.material("Orange", (0.95, 0.33, 0.03), roughness=0.4)


def _body(rig) -> None:
    hips = [(-0.11, 0.90), (0.11, 0.90), (0.13, 1.02), (0.1, 1.12), (-0.1, 1.12), (-0.13, 1.02)]
    chest = [(-0.1, 1.18), (0.1, 1.18), (0.155, 1.34), (0.13, 1.52), (0.05, 1.56), (-0.1, 1.56), (-0.15, 1.4)]
    badge = [(0.12, 1.3), (0.165, 1.3), (0.165, 1.42), (0.12, 1.42)]
    glow = shapes.material("Visor", (0.03, 0.6, 0.75), roughness=0.1, glow=0.5)
    attach_all((shapes.plate("Hips", hips, 0.26, _white(), bevel=0.03),), rig, "hips")
    attach_all(
        (
            shapes.tube("Waist", (0, 0, 1.06), (0, 0, 1.24), (0.08, 0.08), _dark()),
            shapes.plate("Chest", chest, 0.36, _white(), bevel=0.045),
            shapes.plate("Badge", badge, 0.12, _orange(), bevel=0.012),
            shapes.pin("Shoulders", SHOULDER, 0.07, 0.5, _dark()),
            shapes.tube("Neck", (0, 0, 1.54), (0, 0, 1.66), (0.05, 0.05), _dark()),
        ),
        rig,
        "chest",
    )
    attach_all(
        (
            shapes.ball("Head", (0.02, 0, 1.76), 0.135, _white(), scale=(1.1, 1.0, 1.12)),
            shapes.ball("Visor", (0.07, 0, 1.775), 0.118, glow, scale=(1.0, 1.0, 0.45)),
            shapes.pin("Ear", (0.01, 1.76), 0.045, 0.3, _orange()),
        ),
        rig,
        "head",
    )


def _limb(rig, names: Sequence[str], side: str, joints: Sequence[Vector], size: float) -> None:
    """Put shapes on a limb whose joints are given, `size` thick at its root."""
    first, second, end = (f"{name}.{side}" for name in names)
    root, middle, tip, last = joints
    attach_all(
        (
            shapes.ball("Root joint", root, size * 1.15, _orange()),
            shapes.tube("Upper", root, middle, (size, size * 0.72), _white()),
            shapes.ball("Joint", middle, size * 0.86, _dark()),
        ),
        rig,
        first,
    )
    attach_all(
        (
            shapes.tube("Lower", middle, tip, (size * 0.82, size * 0.5), _white()),
            shapes.ball("End joint", tip, size * 0.6, _dark()),
        ),
        rig,
        second,
    )
    y = root.y
    if names[2] == "foot":
        sole = [(-0.12, 0.0), (0.17, 0.0), (0.18, 0.04), (0.05, 0.1), (-0.08, 0.12), (-0.13, 0.05)]
        attach(shapes.plate("Foot", sole, 0.12, _dark(), y=y, bevel=0.015), rig, end)
    else:
        palm = shapes.local(
            (tip.x, tip.z), (last.x, last.z), [(0.0, -0.03), (0.0, 0.03), (0.1, 0.03), (0.1, -0.03)]
        )
        attach(shapes.plate("Palm", palm, 0.075, _dark(), y=y, bevel=0.012), rig, end)


def _move_body(rig) -> None:
    """Key hips and chest. Their bones stand upright: X is the world's -Y, Y its Z, Z its -X."""
    hips, chest, head = (rig.pose.bones[name] for name in ("hips", "chest", "head"))
    keys(hips, "location", 2, [(key.frame, -key.ahead) for key in BODY])
    keys(hips, "location", 1, [(key.frame, -key.down) for key in BODY])
    keys(hips, "rotation_euler", 1, _radians([(key.frame, key.hips) for key in BODY]))
    keys(chest, "rotation_euler", 1, _radians([(key.frame, key.chest) for key in BODY]))
    # Ahead is along the world's X, whatever way the hips face, and the head looks that way.
    turned = [(key, math.radians(key.hips)) for key in BODY]
    for axis, share in ((0, math.cos), (2, math.sin)):
        leans = [(key.frame, -math.radians(key.lean) * share(turn)) for key, turn in turned]
        keys(chest, "rotation_euler", axis, leans)
    keys(head, "rotation_euler", 1, _radians([(key.frame, -0.85 * (key.hips + key.chest)) for key in BODY]))
    keys(head, "rotation_euler", 0, _radians([(key.frame, 0.6 * key.lean) for key in BODY]))


def _place(ob: bpy.types.Object, places: Sequence[tuple[int, Sequence[float]]]) -> None:
    for axis in range(3):
        keys(ob, "location", axis, [(frame, place[axis]) for frame, place in places])


def _arm(rig, side: str, way: Sequence[Key]) -> None:
    """Key an arm's target and pole, both on the chest, and have the arm follow them."""
    root = rig.data.bones[f"upper arm.{side}"].head_local
    goal = attach(shapes.target(f"Hand Target {side}", 0.075, 0.09), rig, "chest")
    pole = attach(shapes.pole(f"Elbow Pole {side}", 0.06), rig, "chest")
    _place(goal, [(key.frame, root + Vector(key.goal)) for key in way])
    _place(pole, [(key.frame, root + 0.5 * Vector(key.pole)) for key in way])
    settings = {"plane": 'POLE', "pole": pole, "pole_angle": math.radians(-90)}
    chain(rig, f"Arm.{side}", f"forearm.{side}", 2, goal, **settings)


def _leg(rig, side: str, way: Sequence[Step]) -> None:
    """Key a foot's target, and have leg and foot follow it; the pole is on the hips."""
    goal = shapes.target(f"Foot Target {side}", 0.085, 0.1)
    pole = attach(shapes.pole(f"Knee Pole {side}", 0.06), rig, "hips")
    root = rig.data.bones[f"thigh.{side}"].head_local
    pole.location = root + Vector((0.75, 0.6 * root.y, -0.3))
    settings = {"plane": 'POLE', "pole": pole, "pole_angle": math.radians(90)}
    goal.rotation_mode = 'YXZ'
    chain(rig, f"Leg.{side}", f"shin.{side}", 2, goal, hand_rotation='TARGET', **settings)
    _place(goal, [(step.frame, step.place) for step in way])
    keys(goal, "rotation_euler", 1, _radians([(step.frame, -step.pitch) for step in way]))
    keys(goal, "rotation_euler", 2, _radians([(step.frame, step.yaw) for step in way]))


def _throw(rig) -> None:
    """Have the hand hold the ball, then let it fly into the cans."""
    ball = shapes.ball("Ball", (0, 0, 0), 0.06, shapes.material("Ball", (0.75, 0.06, 0.05), roughness=0.5))
    hold = ball.constraints.new('COPY_LOCATION')
    hold.target, hold.subtarget, hold.head_tail = rig, "hand.R", 1.0
    for frame, held in ((1, 1.0), (RELEASE, 0.0)):
        hold.influence = held
        hold.keyframe_insert("influence", frame=frame)
    for point in ball.animation_data.action.fcurves.find(hold.path_from_id("influence")).keyframe_points:
        point.interpolation = 'CONSTANT'
    bpy.context.scene.frame_set(RELEASE)
    solve(rig)
    hand = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["hand.R"]
    goal = Vector((STAND - 0.16, 0.0, TABLE + 1.25 * CAN[1]))
    _fly(ball, RELEASE, hand.tail, goal, HIT)
    _fly(ball, HIT, goal, Vector((STAND - 0.7, -0.5, 0.06)), HIT + 13)
    radius, height = CAN
    tin, label = shapes.material("Tin", (0.6, 0.62, 0.65), roughness=0.25, metallic=1.0), _orange()
    lands = ((0.35, -0.7), (0.6, 0.5), (0.95, -0.3))
    for (shift, level), (x, aside) in zip(((-0.1, 0), (0.1, 0), (0.0, 1)), lands, strict=True):
        start = Vector((STAND + shift, 0.0, TABLE + level * height))
        can = _can(radius, height, tin, label)
        _fly(can, HIT, start, Vector((STAND + x, aside, radius)), HIT + 15 + 2 * level)
        keys(can, "rotation_euler", 1, [(HIT, 0.0), (HIT + 15 + 2 * level, math.radians(450))], 'LINEAR')


def _can(radius: float, height: float, tin, label) -> bpy.types.Object:
    """Make a can that stands on its origin."""
    can = shapes.tube("Can", (0, 0, 0), (0, 0, height), (radius, radius), tin, steps=32)
    low, high = (0, 0, 0.15 * height), (0, 0, 0.85 * height)
    shapes.tube("Label", low, high, (radius * 1.02,) * 2, label, steps=32).parent = can
    return can


def _fly(ob: bpy.types.Object, start: int, here: Vector, there: Vector, end: int) -> None:
    """Key a throw from one place to another under gravity, a key every other frame."""
    seconds = (end - start) / bpy.context.scene.render.fps
    frames = sorted({*range(start, end, 2), end})
    shares = [(frame - start) / (end - start) for frame in frames]
    for axis in range(3):
        fall = 0.5 * 9.81 * seconds**2 if axis == 2 else 0.0
        values = [
            here[axis] + share * (there[axis] - here[axis]) + fall * share * (1 - share) for share in shares
        ]
        keys(ob, "location", axis, zip(frames, values, strict=True), 'LINEAR')


def _surroundings() -> None:
    grass = shapes.material("Ground", (0.27, 0.38, 0.2), roughness=1.0)
    wood = shapes.material("Wood", (0.42, 0.26, 0.12), roughness=0.8)
    line = shapes.material("Line", (0.9, 0.88, 0.8), roughness=0.8)
    shapes.box("Ground", (-80, -30, -stage.DEEP), (80, 90, 0.0), grass)
    shapes.box("Line", (0.95, -1.6, 0.0), (1.02, 1.6, 0.004), line)
    shapes.box("Shelf", (STAND - 0.32, -0.22, TABLE - 0.06), (STAND + 0.32, 0.22, TABLE), wood, bevel=0.01)
    shapes.box("Post", (STAND - 0.06, -0.06, 0.0), (STAND + 0.06, 0.06, TABLE - 0.06), wood, bevel=0.01)
    shapes.box("Base", (STAND - 0.26, -0.22, 0.0), (STAND + 0.26, 0.22, 0.06), wood, bevel=0.01)
    stage.light((0.5, 0.7, 0.9), sun=2.5, strength=0.7)
    stage.aim_sun((0.35, 0.8, -1.0))
    stage.camera((2.4, -6.4, 1.9), (1.17, 0.0, 0.98), lens=58)
