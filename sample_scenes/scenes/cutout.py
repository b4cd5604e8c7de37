# SPDX-License-Identifier: GPL-3.0-or-later
"""A cut-out character: a fox waves, then walks up a stair on feet that roll."""

import math

import bpy

from ik2d_addon.bake import solve
from ik2d_addon.chains import add_foot

from . import shapes, stage
from .cut_out import fox, hills
from .cut_out.fox import ANKLE, BALL, ELBOW, FINGERS, HIP, KNEE, SHOULDERS, SIDES, TAIL_JOINTS, TOE, WRIST
from .cut_out.paint import color
from .rig import Bone, armature, attach, chain, keys

Point = shapes.Point

LAST = 148
SWITCH = 42  # from IK to FK of the arm that waves
MOMENTS = ((8, "hello"), (30, "wave"), (58, "first step"), (80, "stair"), (100, "up"), (128, "there"))
# The ground as the feet feel it: (x, z).
GROUND = ((-3.0, 0.0), (0.56, 0.0), (0.56, 0.15), (1.0, 0.15), (1.0, 0.30), (4.0, 0.30))

PRESS = """\
The fox is live: press Space. Every limb is a chain of the sidebar's tab IK 2D (N shows the sidebar).
Click a pink target at a foot and press G: leg and foot follow; R turns the foot. Roll, in Foot or Hand,
rolls it over heel, ball and toes; it has keys. The near arm waves by IK, and swings by keys of its own
from frame 42 on: its IK Blend is keyed. The tail bends evenly towards its target. Press Bake for keys.
"""


def build() -> bpy.types.Object:
    """Build the scene and return the armature."""
    rig = armature("Fox", _bones())
    stage.settings(LAST, (880, 560))
    cycles = bpy.context.scene.cycles
    cycles.samples, cycles.use_denoising = 16, False  # flat colors have no noise
    fox.draw(rig)
    _legs(rig)
    _arms(rig)
    _tail(rig)
    _move_body(rig)
    hills.draw(GROUND)
    stage.light(color("CDE9EE"), sun=0.0, strength=1.0)
    stage.camera((0.42, -12.0, 0.93), (0.42, 0.0, 0.93), width=3.84)
    for area in bpy.data.screens["Layout"].areas:
        if area.type == 'VIEW_3D':  # colors as they are drawn
            area.spaces.active.shading.light, area.spaces.active.shading.color_type = 'FLAT', 'MATERIAL'
    for frame, name in MOMENTS:
        stage.marker(frame, name)
    stage.note("Press Space", PRESS)
    return rig


def _bones() -> list[Bone]:
    def at(x: float, z: float) -> tuple[float, float, float]:
        return (x, 0.0, z)

    bones = [
        Bone("hips", at(0, 0.70), at(0, 0.84)),
        Bone("chest", at(0, 0.84), at(0, 1.08), "hips"),
        Bone("head", at(0.01, 1.10), at(0.01, 1.50), "chest"),
    ]
    for side, x, _ in SIDES:
        joints = [at(u + x, v) for u, v in (HIP, KNEE, ANKLE, BALL, TOE)]
        names = [f"{name}.{side}" for name in ("thigh", "shin", "foot", "toes")]
        above = ("hips", *names)
        bones += [Bone(*each) for each in zip(names, joints, joints[1:], above, strict=False)]
    for side, (x, z) in SHOULDERS.items():
        joints = [at(x + u, z + v) for u, v in ((0.0, 0.0), ELBOW, WRIST, FINGERS)]
        names = [f"{name}.{side}" for name in ("upper arm", "forearm", "hand")]
        above = ("chest", *names)
        bones += [Bone(*each) for each in zip(names, joints, joints[1:], above, strict=False)]
    bones.append(Bone("scarf", at(-0.08, 1.11), at(-0.12, 0.87), "chest", slides=True))
    above = "hips"
    for i, (head, tail) in enumerate(zip(TAIL_JOINTS, TAIL_JOINTS[1:], strict=False)):
        bones.append(Bone(f"tail.{i + 1}", at(*head), at(*tail), above))
        above = f"tail.{i + 1}"
    return bones


# --- Chains and their keys ---------------------------------------------------


def _target(name: str, place: Point, size: float = 0.05) -> bpy.types.Object:
    made = shapes.target(name, size, 0.16)
    made.location = (place[0], 0.0, place[1])
    made.hide_render = True
    return made


# Of each foot its stands: the frames of the first touch and of the leaving, and the ankle's x.
STANDS = {
    "near": ((1, 58, -0.66), (70, 82, 0.10), (94, 106, 0.72), (118, LAST, 1.12)),
    "far": ((1, 46, -0.52), (58, 70, -0.20), (82, 94, 0.31), (106, 118, 1.10), (128, LAST, 1.28)),
}
LIFT, LIFT_ON_STAIR = 0.13, 0.09  # of an ankle on its way, above the place it comes to


def _level(x: float) -> float:
    return max(z for (start, z), (end, _) in zip(GROUND, GROUND[1:], strict=False) if start <= x <= end)


def _legs(rig) -> None:
    for side, x, _ in SIDES:
        ankle = (ANKLE[0] + x, ANKLE[1])
        goal = _target(f"Foot Target {side}", ankle)
        name = f"Leg.{side}"
        chain(rig, name, f"shin.{side}", 2, goal)
        bpy.context.view_layer.update()
        add_foot(rig, rig.ik2d.chains[name])
    ground = _felt_ground()
    for side, _, _ in SIDES:
        foot = rig.ik2d.chains[f"Leg.{side}"].foot
        foot.ground, foot.use_ground = ground, True
        goal = bpy.data.objects[f"Foot Target {side}"]
        places, rolls = [], []
        stands = STANDS[side]
        for i, (touch, leave, x) in enumerate(stands):
            z = _level(x) + ANKLE[1]
            if i:
                before = stands[i - 1]
                middle = (before[1] + touch) / 2
                rises = _level(x) > _level(before[2])  # then it goes up before it goes on
                high = z + (LIFT_ON_STAIR if rises else LIFT)
                part = 0.22 if rises else 0.55
                places.append((round(middle), before[2] + part * (x - before[2]), high))
                # From toe to heel on a frame: the ankle's way has a corner there, which no curve has.
                rolls += [(round(middle), 0.0), (round(middle) + 1, -0.1)]
                rolls += [(touch, -0.38), (touch + 4, 0.0)]
            places += [(touch, x, z), (leave, x, z)]
            if leave != LAST:
                rolls += [(max(touch + 5, leave - 7), 0.0), (leave, 0.72)]
        for axis, column in ((0, 1), (2, 2)):
            keys(goal, "location", axis, [(key[0], key[column]) for key in places])
        for frame, roll in rolls or [(1, 0.0)]:
            foot.roll = roll
            foot.keyframe_insert("roll", frame=frame)
        foot.roll = 0.0


def _felt_ground() -> bpy.types.Object:
    """Make the surface that the feet stay above."""
    corners = [(x, y, z) for x, z in GROUND for y in (-0.4, 0.4)]
    faces = [(2 * i, 2 * i + 1, 2 * i + 3, 2 * i + 2) for i in range(len(GROUND) - 1)]
    mesh = bpy.data.meshes.new("Ground")
    mesh.from_pydata(corners, [], faces)
    ground = shapes.link(bpy.data.objects.new("Ground", mesh), "Stage")
    ground.hide_render, ground.display_type = True, 'WIRE'
    return ground


# The waving wrist from the near shoulder: (frame, x, z); and the turn of its hand: (frame, degrees).
UP, OUT = (-0.350, 0.185), (-0.395, 0.095)
WAVE = (
    *((frame, *(OUT if i % 2 else UP)) for i, frame in enumerate((1, 7, 12, 17, 22, 27, 32))),
    (37, -0.37, -0.12),
    (SWITCH, -0.06, -0.4123),
    (LAST, -0.06, -0.4123),
)
PAW = (*((frame, -128 if i % 2 else -178) for i, frame in enumerate((2, 8, 13, 18, 23, 28, 33))), (39, -20))


def _arms(rig) -> None:
    for side, (x, z) in SHOULDERS.items():
        wrist = (x + WRIST[0], z + WRIST[1])
        goal = attach(_target(f"Hand Target {side}", (0.0, 0.0)), rig, "chest")
        name = f"Arm.{side}"
        chain(rig, name, f"forearm.{side}", 2, goal, hand_rotation='WORLD')
        if side == "near":
            path = [(frame, x + u, z + v) for frame, u, v in WAVE]
        else:
            path = [(1, *wrist), (44, *wrist)]
            for i, frame in enumerate(range(52, 120, 12)):
                path.append((frame, wrist[0] + (0.11 if i % 2 else -0.07), wrist[1] + 0.03))
            path += [(130, *wrist), (LAST, *wrist)]
        for axis, column in ((0, 1), (2, 2)):
            keys(goal, "location", axis, [(key[0], key[column]) for key in path])
    _switch(rig, rig.ik2d.chains["Arm.near"])


def _switch(rig, near) -> None:
    """Let the near arm wave by IK, and swing by its own keys from one frame on, which take over its pose."""
    near.bend = 'NEGATIVE'  # the elbow of a raised arm is below
    scene = bpy.context.scene
    scene.frame_set(SWITCH)
    solve(rig, [near.name])
    upper, fore, hand = (rig.pose.bones[f"{name}.near"] for name in ("upper arm", "forearm", "hand"))
    taken = [math.degrees(bone.rotation_euler[0]) for bone in (upper, fore)]
    scene.frame_set(1)
    steps = range(52, 124, 12)
    swings = ([24.0 if i % 2 else -20.0 for i in range(6)], [22.0 if i % 2 else 4.0 for i in range(6)])
    for bone, pose, swing in zip((upper, fore), taken, swings, strict=True):
        _turn(bone, [(1, pose), (SWITCH, pose), *zip(steps, swing, strict=True), (130, 0.0)])
    _turn(hand, [*PAW, (SWITCH + 2, 0.0)])
    for frame, influence in ((1, 1.0), (SWITCH, 0.0)):
        near.influence = influence
        near.keyframe_insert("influence", frame=frame)
    near.influence = 1.0
    for curve in rig.animation_data.action.fcurves:
        if curve.data_path.endswith("influence"):
            for point in curve.keyframe_points:
                point.interpolation = 'CONSTANT'


def _tail(rig) -> None:
    end = TAIL_JOINTS[-1]
    goal = attach(_target("Tail Target", (0.0, 0.0)), rig, "hips")
    chain(rig, "Tail", f"tail.{len(TAIL_JOINTS) - 1}", len(TAIL_JOINTS) - 1, goal, solver='EVEN')
    for axis, place, far, period in ((0, end[0], 0.09, 24), (2, end[1], 0.07, 16)):
        frames = range(1, LAST + 8, period // 2)
        points = [(frame, place + (far if i % 2 else -far)) for i, frame in enumerate(frames)]
        keys(goal, "location", axis, points)


def _move_body(rig) -> None:
    """Key hips, chest and head. Upright bones: X is the world's -Y, Y its Z, Z its -X."""
    hips, chest, head = (rig.pose.bones[name] for name in ("hips", "chest", "head"))
    way = [(1, -0.59), (44, -0.59), (58, -0.40), (70, -0.05), (82, 0.23), (94, 0.55), (106, 0.92)]
    way += [(118, 1.17), (126, 1.20), (LAST, 1.20)]
    high = [(1, -0.01), (10, -0.02), (30, 0.0), (44, -0.015), (52, -0.02), (58, -0.045), (64, -0.005)]
    high += [(70, -0.04), (76, -0.005), (82, -0.04), (90, -0.005), (94, 0.0), (102, 0.12), (106, 0.155)]
    high += [(113, 0.265), (118, 0.26), (126, 0.285), (LAST, 0.285)]
    keys(hips, "location", 2, [(frame, -x) for frame, x in way])
    keys(hips, "location", 1, high)
    lean = [(1, 0), (13, 4), (33, 4), (44, 0), (52, -4), (94, -7), (118, -5), (128, 0)]
    _turn(chest, lean)
    nod = [(1, 0), (13, -4), (21, 3), (29, -4), (37, 2), (44, 0), (70, 3), (94, 6), (118, 4), (130, 0)]
    _turn(head, nod)
    flutter = [(1, 0), (20, 3), (40, -2), (52, -14)]
    flutter += [(58 + 6 * i, -22 if i % 2 else -9) for i in range(11)] + [(128, -4), (136, 3), (LAST, 0)]
    _turn(rig.pose.bones["scarf"], flutter)


def _turn(bone, points) -> None:
    """Key the turn of a bone about its X axis at (frame, degrees)."""
    keys(bone, "rotation_euler", 0, [(frame, math.radians(angle)) for frame, angle in points])
