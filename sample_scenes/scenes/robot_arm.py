# SPDX-License-Identifier: GPL-3.0-or-later
"""A robot arm on a turntable picks a part and places it elsewhere: one target turns and bends it."""

import math

import bpy
from mathutils import Matrix, Vector

from . import shapes, stage
from .rig import Bone, armature, attach, attach_all, chain, keys

TABLE = 0.84
# x and z of the joints at rest, where the arm reaches along X and the gripper points down.
SHOULDER, ELBOW, WRIST = (0.06, TABLE + 0.36), (-0.03, TABLE + 0.91), (0.46, TABLE + 0.8)
HAND, PALM = 0.23, 0.11  # from the wrist down: the point that grips, where the jaws begin
TIP = (WRIST[0], WRIST[1] - HAND)
KNOB, OPEN = 0.03, 0.035  # half the knob's width; how far each jaw is off it when open
GRIP = 0.115  # the height of the point that the gripper holds above the part's foot
TRAY, RACK = 0.025, 0.15  # heights of what the parts stand on

# Headings in degrees from above, and distances from the turntable's axis.
PICK, PLACE, SPACING = (-142.0, 0.72), (-38.0, 0.68), 0.2
HOME = (-62.0, 0.5, 0.6)
LOW, HIGH = GRIP + TRAY, 0.42  # of the gripper's point above the table, over the tray
SET, ABOVE = GRIP + RACK, 0.5  # the same over the rack
# frame, heading, distance from the axis and height above the table of the gripper's point
WAY = (
    (1, *HOME),
    (20, *PICK, HIGH),
    (31, *PICK, LOW),
    (41, *PICK, LOW),
    (52, *PICK, HIGH),
    (67, -92.0, 0.66, 0.56),
    (82, *PLACE, ABOVE),
    (92, *PLACE, SET),
    (102, *PLACE, SET),
    (112, *PLACE, ABOVE),
    (130, *HOME),
)
HELD = (37, 97)
JAWS = ((1, OPEN), (33, OPEN), (HELD[0], 0.0), (HELD[1], 0.0), (101, OPEN))
# As far as each joint turns from rest, in degrees; the turntable from where the arm reaches along X.
LIMITS = {"upper arm": (-40, 80), "forearm": (-70, 40), "gripper": (-80, 50)}
TURNS = (-165, 165)
MOMENTS = ((20, "reach"), (37, "grip"), (54, "lift"), (67, "turn"), (94, "set down"), (114, "return"))

PRESS = """\
The arm is live: press Space. Its turntable, the bone 'base', turns so that the arm's plane
holds the target: Bends In is Turns About Bone in the sidebar's tab IK 2D (N shows the sidebar). Turntable and
joints have limits, and the gripper points down all the time (Last Bone: Keep in World). Move the target round
the turntable, and the arm follows. Press Bake in the tab for keys.
"""


def build() -> bpy.types.Object:
    """Build the scene and return the armature."""
    rig = armature(
        "Robot Arm",
        (
            Bone("base", (0, 0, TABLE + 0.06), (0, 0, TABLE + 0.26)),
            Bone("upper arm", _joint(SHOULDER), _joint(ELBOW), "base"),
            Bone("forearm", _joint(ELBOW), _joint(WRIST), "upper arm"),
            Bone("gripper", _joint(WRIST), _joint(TIP), "forearm"),
            *(Bone(f"jaw.{side}", *_jaw_ends(sign), "gripper") for side, sign in (("L", 1), ("R", -1))),
        ),
    )
    _lock(rig)
    stage.settings(130, (800, 520))
    _turntable(rig)
    _arm(rig)
    _gripper(rig)
    _animate(rig)
    _surroundings()
    stage.note("Press Space", PRESS)
    return rig


def _joint(point: shapes.Point) -> Vector:
    return Vector((point[0], 0.0, point[1]))


def _jaw_ends(sign: int) -> tuple[Vector, Vector]:
    """Return head and tail of a jaw's bone, closed on the knob, on the left (1) or the right (-1)."""
    x, z = WRIST
    return Vector((x, sign * KNOB, z - PALM)), Vector((x, sign * KNOB, z - HAND))


def _lock(rig) -> None:
    """Leave the turntable's bone its own Y to turn about, and each joint its X, by the hand and by IK."""
    for name, free in (("base", 1), ("upper arm", 0), ("forearm", 0), ("gripper", 0)):
        bone = rig.pose.bones[name]
        bone.lock_rotation = [axis != free for axis in range(3)]
        for axis, letter in enumerate("xyz"):
            setattr(bone, f"lock_ik_{letter}", axis != free)


def _place(heading: float, distance: float, height: float) -> Vector:
    """Return the place at a heading in degrees, a distance from the turntable's axis, above the table."""
    turn = math.radians(heading)
    return Vector((distance * math.cos(turn), distance * math.sin(turn), TABLE + height))


def _teal():
    return shapes.material("Teal", (0.02, 0.30, 0.33), roughness=0.35)


def _light():
    return shapes.material("Light", (0.72, 0.74, 0.74), roughness=0.4)


def _dark():
    return shapes.material("Dark", (0.04, 0.045, 0.05), roughness=0.5)


def _steel():
    return shapes.material("Steel", (0.6, 0.62, 0.65), roughness=0.3, metallic=0.8)


def _turntable(rig) -> None:
    shapes.tube("Plinth", (0, 0, TABLE), (0, 0, TABLE + 0.06), (0.21, 0.2), _dark(), steps=48)
    x, z = SHOULDER
    low = TABLE + 0.13
    cheek = [(-0.13, low), (0.16, low), (x + 0.09, z), (x + 0.06, z + 0.08), (x - 0.06, z + 0.08), (-0.06, z)]
    disc = shapes.tube("Turntable", (0, 0, TABLE + 0.065), (0, 0, low), (0.18, 0.18), _teal(), steps=48)
    cheeks = [shapes.plate("Cheek", cheek, 0.04, _teal(), y=y, bevel=0.01) for y in (-0.12, 0.12)]
    parts = [
        shapes.box("Arrow", (0.1, -0.03, low), (0.17, 0.03, low + 0.006), _light()),
        shapes.pin("Shoulder pin", SHOULDER, 0.055, 0.3, _light()),
        shapes.tube("Motor", (x, 0.14, z), (x, 0.25, z), (0.075, 0.07), _dark()),
    ]
    attach_all((disc, *cheeks, *parts), rig, "base")


def _arm(rig) -> None:
    upper = shapes.local(SHOULDER, ELBOW, shapes.capsule(math.dist(SHOULDER, ELBOW), 0.085, 0.07))
    lower = [(-0.13, -0.05), (-0.13, 0.05), (0.0, 0.08), (0.12, 0.07), (0.5, 0.045), (0.54, 0.0)]
    lower += [(u, -v) for u, v in lower[-2:1:-1]]
    attach_all(
        (
            *(shapes.plate("Upper arm", upper, 0.035, _light(), y=y, bevel=0.01) for y in (-0.075, 0.075)),
            shapes.plate("Spar", _between(SHOULDER, ELBOW, 0.12, 0.42, 0.035), 0.13, _dark(), bevel=0.01),
            shapes.pin("Elbow pin", ELBOW, 0.045, 0.23, _dark()),
        ),
        rig,
        "upper arm",
    )
    attach_all(
        (
            shapes.plate("Forearm", shapes.local(ELBOW, WRIST, lower), 0.1, _teal(), bevel=0.015),
            shapes.plate("Stripe", _between(ELBOW, WRIST, 0.2, 0.25, 0.055), 0.104, _light(), bevel=0.0),
            shapes.pin("Wrist pin", WRIST, 0.03, 0.15, _light()),
        ),
        rig,
        "forearm",
    )


def _between(
    head: shapes.Point, tail: shapes.Point, start: float, end: float, half: float
) -> list[shapes.Point]:
    """Return the outline of a bar along a bone, from one length to another, `half` as thick as it is."""
    return shapes.local(head, tail, [(start, -half), (end, -half), (end, half), (start, half)])


def _gripper(rig) -> None:
    x, z = WRIST
    fork = [(x - 0.045, z - 0.075), (x + 0.045, z - 0.075), (x + 0.04, z), (x, z + 0.04), (x - 0.04, z)]
    body = (x - 0.045, -0.105, z - PALM), (x + 0.045, 0.105, z - 0.07)
    forks = [shapes.plate("Fork", fork, 0.022, _dark(), y=y, bevel=0.005) for y in (-0.063, 0.063)]
    attach_all((*forks, shapes.box("Palm", *body, _dark(), bevel=0.012)), rig, "gripper")
    for side, sign in (("L", 1), ("R", -1)):
        head, tail = _jaw_ends(sign)
        near, far = sorted((head.y, head.y + sign * 0.022))
        low, high = (x - 0.026, near, tail.z - 0.03), (x + 0.026, far, head.z)
        attach(shapes.box("Jaw", low, high, _steel(), bevel=0.004), rig, f"jaw.{side}")
        # A bone that points down has its X along the world's -Y.
        keys(rig.pose.bones[f"jaw.{side}"], "location", 0, [(frame, -sign * gap) for frame, gap in JAWS])


def _animate(rig) -> None:
    goal = shapes.target("Gripper Target", 0.125, 0.012, thickness=0.4)
    goal.rotation_euler.x = math.pi / 2  # its rings lie flat
    places = [(frame, _place(*place)) for frame, *place in WAY]
    for axis in range(3):
        keys(goal, "location", axis, [(frame, place[axis]) for frame, place in places])
    _carry(rig, _part("Part"))
    turns = {"post_limit_min": math.radians(TURNS[0]), "post_limit_max": math.radians(TURNS[1])}
    slews = {"plane": 'POST', "post": "base", "use_post_limit": True, **turns}
    chain(rig, "Arm", "gripper", 3, goal, limits=LIMITS, tip_rotation='WORLD', **slews)
    for frame, name in MOMENTS:
        stage.marker(frame, name)


def _part(name: str) -> bpy.types.Object:
    """Make a part, whose origin is the middle of the knob that the gripper holds."""
    brass = shapes.material("Brass", (0.85, 0.50, 0.08), roughness=0.35, metallic=0.3)
    foot, top = -GRIP, -0.045
    knob = shapes.box("Knob", (-KNOB, -KNOB, top), (KNOB, KNOB, 0.03), _steel(), bevel=0.004)
    part = shapes.tube(name, (0, 0, foot), (0, 0, top), (0.078, 0.07), brass, steps=6)
    knob.parent = part
    return part


def _carry(rig, part: bpy.types.Object) -> None:
    """Have the gripper hold a part from the tray to the rack, where it stays.

    Child Of has the inverse that Set Inverse gives it as the gripper is about the part; as it lets go, keys
    have the part where the gripper has brought it.
    """
    tip = rig.data.bones["gripper"].matrix_local.copy()
    tip.translation = (0.0, 0.0, 0.0)
    there = [(*PICK, LOW), (*PLACE, SET)]
    for frame, (heading, *place) in zip((1, HELD[1]), there, strict=True):
        spot, turn = _place(heading, *place), math.radians(heading)
        for axis in range(3):
            keys(part, "location", axis, [(frame, spot[axis])], 'CONSTANT')
        keys(part, "rotation_euler", 2, [(frame, turn)], 'CONSTANT')
    hold = part.constraints.new('CHILD_OF')
    hold.target, hold.subtarget = rig, "gripper"
    spot, turn = _place(*PICK, LOW), Matrix.Rotation(math.radians(PICK[0]), 4, 'Z')
    hand = Matrix.Translation(spot) @ turn @ tip @ Matrix.Translation((0.0, -HAND, 0.0))
    hold.inverse_matrix = hand.inverted()
    for frame, held in ((1, 0.0), (HELD[0], 1.0), (HELD[1], 0.0)):
        hold.influence = held
        hold.keyframe_insert("influence", frame=frame)
    for point in part.animation_data.action.fcurves.find(hold.path_from_id("influence")).keyframe_points:
        point.interpolation = 'CONSTANT'


def _surroundings() -> None:
    wood = shapes.material("Table", (0.50, 0.36, 0.22), roughness=0.7)
    floor = shapes.material("Floor", (0.30, 0.33, 0.36), roughness=0.9)
    wall = shapes.material("Wall", (0.40, 0.46, 0.50), roughness=1.0)
    shapes.box("Floor", (-30, -30, -stage.DEEP), (30, 2.2, 0.0), floor)
    shapes.box("Wall", (-30, 2.2, -0.5), (30, 2.6, 20), wall)
    shapes.box("Table", (-1.15, -0.95, TABLE - 0.06), (1.15, 0.42, TABLE), wood, bevel=0.012)
    for x in (-1.05, 1.05):
        for y in (-0.85, 0.32):
            shapes.box("Leg", (x - 0.04, y - 0.04, 0.0), (x + 0.04, y + 0.04, TABLE - 0.06), _dark())
    _stand("Tray", PICK, TRAY, (-1, 1))
    _stand("Rack", PLACE, RACK, (-1, 1))
    stage.light((0.75, 0.85, 0.95), sun=2.6, strength=0.55)
    stage.aim_sun((0.45, 0.75, -1.1))
    stage.camera((0.5, -3.9, 2.75), (0.0, -0.2, TABLE + 0.4), lens=63)


def _stand(name: str, spot: tuple[float, float], height: float, taken: tuple[int, ...]) -> None:
    """Make a tray with three places across the arm's heading, and parts on those that are taken."""
    heading, distance = spot
    low, high = (distance - 0.13, -1.5 * SPACING, TABLE), (distance + 0.13, 1.5 * SPACING, TABLE + height)
    made = [shapes.box(name, low, high, _light(), bevel=0.008)]
    for number in (-1, 0, 1):
        mark = (distance, number * SPACING, TABLE + height)
        made.append(shapes.tube("Mark", mark, Vector(mark) + Vector((0, 0, 0.002)), (0.09, 0.09), _dark()))
        if number in taken:
            part = _part("Other part")
            part.location = Vector(mark) + Vector((0, 0, GRIP))
            made.append(part)
    for ob in made:
        turn = Matrix.Rotation(math.radians(heading), 4, 'Z')
        ob.matrix_world = turn @ Matrix.Translation(ob.location)
