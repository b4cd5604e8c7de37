# SPDX-License-Identifier: GPL-3.0-or-later
"""A cut-out character: a fox waves, then walks up a stair on feet that roll."""

import math
from collections.abc import Sequence

import bpy
from mathutils import Vector

from ik2d_addon.chains import add_foot

from . import shapes, stage
from .rig import Bone, armature, attach, attach_all, chain, keys

Point = shapes.Point

LAST = 148
SWITCH = 42  # from IK to FK of the arm that waves
MOMENTS = ((8, "hello"), (30, "wave"), (58, "first step"), (80, "stair"), (100, "up"), (128, "there"))
# Depths, from the viewer on: the nearer part covers the farther one.
NEAR_ARM, FACE, HEAD, SKIRT, NEAR_LEG, BODY, TAIL, FAR_LEG, FAR_ARM = (0.02 * i for i in range(-6, 3))
SIDES = (("near", -0.075, NEAR_LEG), ("far", 0.075, FAR_LEG))
HIP, KNEE, ANKLE, BALL, TOE = (0.0, 0.70), (0.045, 0.40), (-0.01, 0.11), (0.10, 0.035), (0.19, 0.02)
SHOULDERS = {"near": (-0.125, 1.045), "far": (0.135, 1.045)}
ELBOW, WRIST, FINGERS = (-0.06, -0.20), (0.0, -0.39), (0.015, -0.48)  # from the shoulder
TAIL_JOINTS = (
    (-0.10, 0.74),
    (-0.22, 0.71),
    (-0.34, 0.73),
    (-0.45, 0.80),
    (-0.52, 0.91),
    (-0.53, 1.04),
    (-0.47, 1.15),
)
# The ground as the feet feel it: (x, z).
GROUND = ((-3.0, 0.0), (0.56, 0.0), (0.56, 0.15), (1.0, 0.15), (1.0, 0.30), (4.0, 0.30))

PRESS = """\
The fox is live: press Space. Every limb is a chain of the sidebar's tab IK 2D (N shows the sidebar).
Click a pink target at a foot and press G: leg and foot follow; R turns the foot. Roll, in Foot or Hand,
rolls it over heel, ball and toes; it has keys. The near arm waves by IK, and swings by keys of its own
from frame 42 on: its Influence is keyed. The tail bends evenly towards its target. Press Bake for keys.
"""


def color(text: str) -> tuple[float, float, float]:
    """Return a linear color of its hexadecimal digits."""
    found = [int(text[i : i + 2], 16) / 255.0 for i in (0, 2, 4)]
    return tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in found)


def ink(name: str, text: str) -> bpy.types.Material:
    """Return a material that shows a color as it is, whatever light there is."""
    made = shapes.material(name, color(text), roughness=1.0, glow=1.0)
    shader = made.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (0.0, 0.0, 0.0, 1.0)
    shader.inputs["Specular IOR Level"].default_value = 0.0
    return made


def curve(points: Sequence[Point], steps: int = 6) -> list[Point]:
    """Return a smooth closed outline through points, as Catmull and Rom have it."""
    found, count = [], len(points)
    for i in range(count):
        a, b, c, d = (points[(i + k) % count] for k in (-1, 0, 1, 2))
        for step in range(steps):
            t = step / steps
            found.append(
                tuple(
                    0.5
                    * (
                        2 * b[k]
                        + (c[k] - a[k]) * t
                        + (2 * a[k] - 5 * b[k] + 4 * c[k] - d[k]) * t * t
                        + (3 * b[k] - a[k] - 3 * c[k] + d[k]) * t**3
                    )
                    for k in (0, 1)
                )
            )
    return found


def sheet(name: str, outline: Sequence[Point], look, y: float) -> bpy.types.Object:
    """Make a flat part in the XZ plane."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(x, y, z) for x, z in outline], [], [list(range(len(outline)))])
    mesh.materials.append(look)
    return shapes.link(bpy.data.objects.new(name, mesh), "Shapes")


def oval(name: str, centre: Point, size: Point, look, y: float, lean: float = 0.0) -> bpy.types.Object:
    """Make a flat oval; lean: radians."""
    c, s = math.cos(lean), math.sin(lean)
    around = [2 * math.pi * i / 28 for i in range(28)]
    flat = [(size[0] * math.cos(a), size[1] * math.sin(a)) for a in around]
    return sheet(name, [(centre[0] + c * u - s * v, centre[1] + s * u + c * v) for u, v in flat], look, y)


def limb(name: str, start: Point, end: Point, radii: Point, look, y: float) -> bpy.types.Object:
    """Make a flat limb with round ends."""
    return sheet(name, shapes.local(start, end, shapes.capsule(math.dist(start, end), *radii, 14)), look, y)


def shifted(points: Sequence[Point], x: float, z: float = 0.0) -> list[Point]:
    return [(u + x, v + z) for u, v in points]


def build() -> bpy.types.Object:
    """Build the scene and return the armature."""
    rig = armature("Fox", _bones())
    stage.settings(LAST, (880, 560))
    bpy.context.scene.cycles.samples = 16
    _draw(rig)
    _legs(rig)
    _arms(rig)
    _tail(rig)
    _move_body(rig)
    _surroundings()
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
    above = "hips"
    for i, (head, tail) in enumerate(zip(TAIL_JOINTS, TAIL_JOINTS[1:], strict=False)):
        bones.append(Bone(f"tail.{i + 1}", at(*head), at(*tail), above))
        above = f"tail.{i + 1}"
    return bones


# --- The drawing -------------------------------------------------------------


def _draw(rig) -> None:
    fur, shade, cream = ink("Fur", "F0863C"), ink("Fur in shade", "CF6526"), ink("Cream", "FFF0D9")
    coat, dark_coat = ink("Coat", "2F7482"), ink("Coat in shade", "245A68")
    brown, dark_brown = ink("Boots", "5B3A33"), ink("Boots in shade", "472C28")
    yellow = ink("Scarf", "F6C445")
    for side, x, y in SIDES:
        near = side == "near"
        leg, boot = (fur, brown) if near else (shade, dark_brown)
        hip, knee, ankle = ((u + x, v) for u, v in (HIP, KNEE, ANKLE))
        attach(limb("Thigh", hip, knee, (0.085, 0.06), leg, y), rig, f"thigh.{side}")
        low = ((knee[0] * 0.35 + ankle[0] * 0.65), (knee[1] * 0.35 + ankle[1] * 0.65))
        shin = limb("Shin", knee, ankle, (0.058, 0.042), leg, y + 0.001)
        shaft = limb("Boot shaft", low, ankle, (0.058, 0.052), boot, y - 0.002)
        attach_all((shin, shaft), rig, f"shin.{side}")
        sole = [(-0.075, 0.0), (0.03, 0.0), (0.115, 0.0), (0.125, 0.035), (0.09, 0.085), (0.03, 0.125)]
        sole += [(-0.03, 0.135), (-0.075, 0.10), (-0.088, 0.04)]
        toes = [(0.075, 0.0), (0.16, 0.0), (0.205, 0.012), (0.195, 0.055), (0.14, 0.082), (0.08, 0.085)]
        for name, points, bone in (("Boot", sole, "foot"), ("Boot toe", toes, "toes")):
            outline = [(u, max(v, 0.0)) for u, v in curve(shifted(points, x + ANKLE[0]))]  # a level sole
            attach(sheet(name, outline, boot, y - 0.003), rig, f"{bone}.{side}")
    for side, (x, z) in SHOULDERS.items():
        near = side == "near"
        sleeve, paw, y = (ink("Sleeve", "3E8C9A"), fur, NEAR_ARM) if near else (dark_coat, shade, FAR_ARM)
        elbow, wrist, end = ((x + u, z + v) for u, v in (ELBOW, WRIST, FINGERS))
        attach(limb("Sleeve", (x, z), elbow, (0.068, 0.056), sleeve, y), rig, f"upper arm.{side}")
        cuff = limb(
            "Cuff",
            ((elbow[0] + 4 * wrist[0]) / 5, (elbow[1] + 4 * wrist[1]) / 5),
            wrist,
            (0.056, 0.054),
            cream if near else shade,
            y - 0.001,
        )
        attach_all((limb("Forearm", elbow, wrist, (0.056, 0.05), sleeve, y), cuff), rig, f"forearm.{side}")
        hand = [(-0.042, 0.03), (0.035, 0.035), (0.06, -0.01), (0.045, -0.075), (0.0, -0.095), (-0.04, -0.07)]
        attach(sheet("Hand", curve(shifted(hand, *wrist)), paw, y + 0.001), rig, f"hand.{side}")
    radii = (0.055, 0.085, 0.105, 0.112, 0.105, 0.085, 0.035)
    for i, (head, tail) in enumerate(zip(TAIL_JOINTS, TAIL_JOINTS[1:], strict=False)):
        look = cream if i > 3 else shade
        attach(limb("Tail", head, tail, radii[i : i + 2], look, TAIL - 0.0005 * i), rig, f"tail.{i + 1}")
    chest = [(-0.12, 1.09), (0.0, 1.12), (0.13, 1.09), (0.175, 0.98), (0.165, 0.84), (0.17, 0.74)]
    chest += [(0.0, 0.72), (-0.17, 0.74), (-0.165, 0.86), (-0.17, 0.98)]
    belly = [(0.05, 1.08), (0.13, 1.06), (0.16, 0.95), (0.15, 0.80), (0.11, 0.72), (0.08, 0.80), (0.07, 0.95)]
    skirt = [(-0.165, 0.84), (0.0, 0.86), (0.165, 0.84), (0.195, 0.70), (0.215, 0.58), (0.10, 0.555)]
    skirt += [(0.0, 0.57), (-0.10, 0.555), (-0.215, 0.58), (-0.195, 0.70)]
    attach_all(
        (sheet("Coat", curve(chest), coat, BODY), sheet("Front", curve(belly), dark_coat, BODY - 0.001)),
        rig,
        "chest",
    )
    attach(sheet("Skirt", curve(skirt), coat, SKIRT), rig, "hips")
    buttons = [oval("Button", (0.095, z), (0.013, 0.013), yellow, BODY - 0.002) for z in (0.98, 0.89, 0.80)]
    band = [(-0.155, 1.10), (-0.05, 1.075), (0.08, 1.075), (0.17, 1.11), (0.165, 1.165), (0.05, 1.15)]
    band += [(-0.07, 1.15), (-0.155, 1.165)]
    end = [(-0.13, 1.13), (-0.07, 1.10), (-0.10, 0.98), (-0.135, 0.90), (-0.20, 0.92), (-0.17, 1.02)]
    scarf = [sheet("Scarf", curve(band), yellow, HEAD + 0.004), sheet("Scarf end", curve(end), yellow, SKIRT)]
    attach_all((*buttons, *scarf), rig, "chest")
    _draw_head(rig, fur, shade, cream)


def _draw_head(rig, fur, shade, cream) -> None:
    dark, white, blush = ink("Eyes", "33211F"), ink("White", "FFFFFF"), ink("Blush", "F7A08B")
    skull = [(-0.30, 1.34), (-0.24, 1.50), (-0.10, 1.595), (0.07, 1.60), (0.21, 1.52), (0.275, 1.40)]
    skull += [(0.345, 1.31), (0.385, 1.255), (0.33, 1.195), (0.20, 1.15), (0.04, 1.125), (-0.13, 1.14)]
    skull += [(-0.26, 1.175), (-0.375, 1.165), (-0.325, 1.255)]
    cheeks = [(-0.375, 1.165), (-0.26, 1.27), (-0.12, 1.31), (0.02, 1.275), (0.10, 1.30), (0.19, 1.345)]
    cheeks += [(0.29, 1.325), (0.375, 1.265), (0.335, 1.195), (0.20, 1.148), (0.04, 1.122), (-0.13, 1.137)]
    cheeks += [(-0.26, 1.172)]
    parts = [sheet("Head", curve(skull), fur, HEAD), sheet("Cheeks", curve(cheeks), cream, HEAD - 0.002)]
    for points, inner, y in (
        (
            [(-0.255, 1.46), (-0.285, 1.63), (-0.27, 1.80), (-0.16, 1.74), (-0.04, 1.585), (-0.13, 1.50)],
            [(-0.215, 1.52), (-0.235, 1.63), (-0.235, 1.73), (-0.17, 1.69), (-0.105, 1.58)],
            HEAD - 0.001,
        ),
        (
            [(0.07, 1.58), (0.135, 1.70), (0.245, 1.79), (0.275, 1.66), (0.245, 1.48), (0.15, 1.50)],
            [(0.13, 1.58), (0.165, 1.66), (0.225, 1.72), (0.24, 1.63), (0.215, 1.53)],
            HEAD + 0.002,
        ),
    ):
        parts.append(sheet("Ear", curve(points), fur, y))
        parts.append(sheet("Inner ear", curve(inner), shade, y - 0.0005))
    for x, wide in ((0.005, 0.036), (0.205, 0.029)):
        parts.append(oval("Eye", (x, 1.385), (wide, 0.054), dark, FACE))
        parts.append(oval("Glint", (x + 0.012, 1.405), (wide * 0.36, 0.017), white, FACE - 0.001))
        brow = [(x - wide - 0.012, 1.455), (x, 1.482), (x + wide + 0.01, 1.468), (x, 1.466)]
        parts.append(sheet("Brow", curve(brow), dark, FACE))
    parts.append(oval("Nose", (0.368, 1.268), (0.03, 0.023), dark, FACE, -0.35))
    parts.append(oval("Blush", (-0.12, 1.275), (0.05, 0.026), blush, FACE))
    mouth = [(0.16, 1.215), (0.21, 1.195), (0.27, 1.197), (0.325, 1.225), (0.265, 1.183), (0.205, 1.18)]
    parts.append(sheet("Mouth", curve(mouth), dark, FACE))
    attach_all(parts, rig, "head")
    attach(_whiskers(), rig, "head")


def _whiskers() -> bpy.types.Object:
    """Draw the whiskers in Grease Pencil."""
    data = bpy.data.grease_pencils.new("Whiskers")
    look = bpy.data.materials.new("Whiskers")
    bpy.data.materials.create_gpencil_data(look)
    look.grease_pencil.color = (*color("7A4A34"), 1.0)
    data.materials.append(look)
    frame = data.layers.new("Strokes").frames.new(1)
    for start, end in (
        ((-0.17, 1.235), (-0.33, 1.265)),
        ((-0.175, 1.21), (-0.335, 1.205)),
        ((-0.17, 1.185), (-0.32, 1.145)),
    ):
        stroke = frame.strokes.new()
        stroke.line_width, stroke.display_mode = 14, '3DSPACE'
        stroke.points.add(12)
        for i, point in enumerate(stroke.points):
            t = i / 11
            x, z = (a + (b - a) * t for a, b in zip(start, end, strict=True))
            point.co = (x, FACE - 0.002, z - 0.02 * math.sin(math.pi * t))
            point.pressure = 1.0 - 0.8 * t
    return shapes.link(bpy.data.objects.new("Whiskers", data), "Shapes")


# --- Chains and their keys ---------------------------------------------------


def _target(name: str, place: Point, size: float = 0.05) -> bpy.types.Object:
    made = shapes.target(name, size, 0.16)
    made.location = (place[0], 0.0, place[1])
    made.hide_render = True
    return made


# Of each foot its stands: the frames of the first touch and of the leaving, and the ankle's x.
STANDS = {
    "near": ((1, 58, -0.66), (70, 82, 0.10), (94, 106, 0.72), (118, LAST, 1.20)),
    "far": ((1, 46, -0.52), (58, 70, -0.20), (82, 94, 0.31), (106, 118, 1.14), (128, LAST, 1.36)),
}
LIFT = 0.13


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
                high = _level(x) + ANKLE[1] + LIFT
                part = 0.30 if rises else 0.55
                places.append((round(middle), before[2] + part * (x - before[2]), high))
                rolls.append((round(middle) + 1, -0.1))
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


# The waving hand from the near shoulder: (frame, x, z).
WAVE = (
    (1, 0.0, -0.39),
    (5, -0.10, -0.34),
    (12, -0.34, 0.02),
    (17, -0.30, 0.20),
    (21, -0.35, 0.05),
    (25, -0.29, 0.21),
    (29, -0.35, 0.05),
    (33, -0.30, 0.18),
    (38, -0.25, -0.26),
    (SWITCH, 0.0, -0.39),
    (LAST, 0.0, -0.39),
)


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
    near = rig.ik2d.chains["Arm.near"]
    for frame, influence in ((1, 1.0), (SWITCH, 0.0)):
        near.influence = influence
        near.keyframe_insert("influence", frame=frame)
    near.influence = 1.0
    for curve_ in rig.animation_data.action.fcurves:
        if curve_.data_path.endswith("influence"):
            for point in curve_.keyframe_points:
                point.interpolation = 'CONSTANT'
    swing = [(1, 0.0), (SWITCH, 0.0)]
    swing += [(52 + 12 * i, 24.0 if i % 2 else -20.0) for i in range(6)] + [(130, 0.0)]
    bend = [(1, 0.0), (SWITCH, 0.0)]
    bend += [(52 + 12 * i, 22.0 if i % 2 else 4.0) for i in range(6)] + [(130, 0.0)]
    for bone, angles in (("upper arm.near", swing), ("forearm.near", bend)):
        turns = [(frame, math.radians(angle)) for frame, angle in angles]
        keys(rig.pose.bones[bone], "rotation_euler", 0, turns)


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
    way = [(1, -0.59), (44, -0.59), (58, -0.36), (70, -0.05), (82, 0.24), (94, 0.55), (106, 0.94)]
    way += [(118, 1.26), (126, 1.28), (LAST, 1.28)]
    high = [(1, -0.01), (10, -0.02), (30, 0.0), (44, -0.02), (52, -0.045), (58, -0.06), (64, -0.03)]
    high += [(70, -0.06), (76, -0.03), (82, -0.06), (90, -0.02), (94, -0.01), (102, 0.11), (106, 0.15)]
    high += [(114, 0.25), (118, 0.25), (126, 0.28), (LAST, 0.285)]
    keys(hips, "location", 2, [(frame, -x) for frame, x in way])
    keys(hips, "location", 1, high)
    lean = [(1, 0), (13, 4), (33, 4), (44, 0), (52, -4), (94, -7), (118, -5), (128, 0)]
    keys(chest, "rotation_euler", 0, [(frame, math.radians(angle)) for frame, angle in lean])
    nod = [(1, 0), (13, -4), (21, 3), (29, -4), (37, 2), (44, 0), (70, 3), (94, 6), (118, 4), (130, 0)]
    keys(head, "rotation_euler", 0, [(frame, math.radians(angle)) for frame, angle in nod])


# --- The stage ---------------------------------------------------------------


def _surroundings() -> None:
    stage.light((0.8, 0.9, 0.9), sun=0.0, strength=1.0)
    far = 3.0
    back = [(-6, -3), (7, -3), (7, 5), (-6, 5)]
    sheet("Sky", back, ink("Sky", "D6EEE9"), far)
    oval("Sun", (-0.55, 1.93), (0.30, 0.30), ink("Sun", "FFE9AE"), far - 0.1)
    for name, text, base, bumps, y in (
        ("Hills far", "B5DCCB", 0.75, 0.28, far - 0.2),
        ("Hills near", "8CC6AC", 0.42, 0.22, far - 0.3),
    ):
        top = [(-6 + 0.1 * i, base + bumps * math.sin(0.9 * (-6 + 0.1 * i) + 7 * base)) for i in range(131)]
        sheet(name, [(-6, -3), *top, (7, -3)], ink(name, text), y)
    top, front = ink("Tread", "F4D3A6"), ink("Stone", "DFA877")
    outline = [(-3.0, -3.0), *GROUND, (4.0, -3.0)]
    sheet("Stairs", outline, front, far - 0.5)
    for (x0, z0), (x1, z1) in zip(GROUND, GROUND[1:], strict=False):
        if z0 == z1:
            sheet("Tread", [(x0, z0 - 0.035), (x1, z1 - 0.035), (x1, z1), (x0, z0)], top, far - 0.6)
    stage.camera((0.42, -12.0, 1.03), (0.42, 0.0, 1.03), width=3.55)
    world = bpy.context.scene.world
    world.color = Vector(color("D6EEE9"))
