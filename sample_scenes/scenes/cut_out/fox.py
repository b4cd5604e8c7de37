# SPDX-License-Identifier: GPL-3.0-or-later
"""The fox: its joints, and the parts that hang on its bones."""

import bpy

from .. import shapes
from ..rig import attach, attach_all
from .paint import brush, color, curve, drawn, ink, limb, oval, sheet, shifted, shown, stroke

# Depths, from the viewer on: what is nearer covers what is farther.
NEAR_ARM, FACE, HEAD, SCARF, SKIRT, NEAR_LEG, BODY, TAIL, FAR_LEG, FAR_ARM = (0.02 * i for i in range(-7, 3))
SIDES = (("near", -0.075, NEAR_LEG), ("far", 0.075, FAR_LEG))
HIP, KNEE, ANKLE, BALL, TOE = (0.0, 0.70), (0.03, 0.405), (-0.01, 0.11), (0.10, 0.035), (0.19, 0.02)
SHOULDERS = {"near": (-0.115, 1.045), "far": (0.125, 1.045)}
ELBOW, WRIST, FINGERS = (-0.05, -0.205), (0.0, -0.405), (0.015, -0.49)  # from the shoulder
TAIL_JOINTS = (
    (-0.08, 0.74),
    (-0.22, 0.665),
    (-0.37, 0.64),
    (-0.52, 0.685),
    (-0.63, 0.78),
    (-0.685, 0.905),
    (-0.675, 1.04),
)
BLINKS, HELLO = (20, 40, 66, 91, 121, 139), (4, 38)  # frames


def draw(rig: bpy.types.Object) -> None:
    """Draw all parts and hang them on their bones."""
    _draw_legs(rig)
    _draw_arms(rig)
    _draw_tail(rig)
    _draw_body(rig)
    _draw_head(rig)


def _fur(near: bool = True) -> bpy.types.Material:
    return ink("Fur", "F28A3F") if near else ink("Fur in shade", "D46A2C")


def _cream() -> bpy.types.Material:
    return ink("Cream", "FFF1DC")


def _dark() -> bpy.types.Material:
    return ink("Dark", "43282B")


def _draw_legs(rig) -> None:
    for side, x, y in SIDES:
        near = side == "near"
        leg = ink("Trousers", "3D4A6B") if near else ink("Trousers in shade", "313C59")
        boot = ink("Boots", "8A4B38") if near else ink("Boots in shade", "703B2F")
        sole_look = ink("Soles", "4E2A26") if near else ink("Soles in shade", "42231F")
        cuff_look = _cream() if near else ink("Cream in shade", "E3CDB4")
        hip, knee, ankle = ((u + x, v) for u, v in (HIP, KNEE, ANKLE))
        attach(limb("Thigh", hip, knee, (0.088, 0.064), leg, y), rig, f"thigh.{side}")
        shin = limb("Shin", knee, ankle, (0.064, 0.046), leg, y + 0.001)
        low = (knee[0] * 0.38 + ankle[0] * 0.62, knee[1] * 0.38 + ankle[1] * 0.62)
        shaft = limb("Boot shaft", low, ankle, (0.056, 0.054), boot, y - 0.002)
        left, right = (low[0] - 0.052, low[1] + 0.008), (low[0] + 0.056, low[1] + 0.012)
        cuff = limb("Boot cuff", left, right, (0.026, 0.026), cuff_look, y - 0.004)
        attach_all((shin, shaft, cuff), rig, f"shin.{side}")
        heel = [(-0.07, 0.0), (-0.07, 0.0), (0.10, 0.0), (0.125, 0.0), (0.135, 0.035), (0.10, 0.085)]
        heel += [(0.05, 0.125), (-0.01, 0.15), (-0.062, 0.115), (-0.08, 0.05)]
        toes = [(0.07, 0.0), (0.07, 0.0), (0.17, 0.0), (0.215, 0.006), (0.215, 0.045), (0.165, 0.085)]
        toes += [(0.10, 0.095), (0.07, 0.08)]
        for name, points, bone, ends in (
            ("Boot", heel, "foot", (-0.076, 0.125)),
            ("Boot toe", toes, "toes", (0.075, 0.216)),
        ):
            outline = [(u, max(v, 0.0)) for u, v in curve(shifted(points, x + ANKLE[0]))]  # a level sole
            left, right = (u + x + ANKLE[0] for u in ends)
            sole = sheet(
                "Sole", [(left, 0.0), (right, 0.0), (right, 0.024), (left, 0.024)], sole_look, y - 0.0045
            )
            attach_all((sheet(name, outline, boot, y - 0.003), sole), rig, f"{bone}.{side}")


def _draw_arms(rig) -> None:
    for side, (x, z) in SHOULDERS.items():
        near = side == "near"
        sleeve = ink("Sleeve", "3C8FA3") if near else ink("Sleeve in shade", "22586D")
        cuff_look = ink("Cuff", "2F7A90") if near else ink("Cuff in shade", "1D4C5F")
        y = NEAR_ARM if near else FAR_ARM
        elbow, wrist, _ = ((x + u, z + v) for u, v in (ELBOW, WRIST, FINGERS))
        attach(limb("Sleeve", (x, z), elbow, (0.07, 0.06), sleeve, y), rig, f"upper arm.{side}")
        low, end = (tuple(elbow[i] + part * (wrist[i] - elbow[i]) for i in (0, 1)) for part in (0.52, 0.78))
        cuff = limb("Cuff", low, end, (0.064, 0.062), cuff_look, y - 0.001)
        attach_all((limb("Forearm", elbow, end, (0.06, 0.056), sleeve, y), cuff), rig, f"forearm.{side}")
        hand = [(-0.05, 0.03), (0.03, 0.035), (0.055, 0.0), (0.088, -0.012), (0.084, -0.042), (0.052, -0.05)]
        hand += [(0.05, -0.085), (0.012, -0.112), (-0.03, -0.10), (-0.056, -0.05)]
        closed = drawn("Hand", shifted(hand, *wrist), _fur(near), y + 0.001)
        parts = [closed]
        if near:
            lines = [
                stroke("Finger", shifted([(u, -0.075), (u + 0.003, -0.104)], *wrist), 0.008, _fur(False), y)
                for u in (-0.014, 0.014)
            ]
            for part in (closed, *lines):
                shown(part, ((1, False), (HELLO[1], True)))
            parts += [*lines, *_open_hand(wrist, y)]
        attach_all(parts, rig, f"hand.{side}")


def _open_hand(wrist, y: float) -> list[bpy.types.Object]:
    """Return the parts of the hand that waves, shown in place of the closed one."""
    palm = [(-0.045, 0.03), (-0.052, -0.01), (-0.10, -0.02), (-0.112, -0.048), (-0.085, -0.062)]
    palm += [(-0.052, -0.055), (-0.068, -0.115), (-0.050, -0.138), (-0.028, -0.122), (-0.018, -0.10)]
    palm += [(-0.012, -0.135), (0.006, -0.152), (0.026, -0.134), (0.026, -0.098), (0.044, -0.118)]
    palm += [(0.066, -0.118), (0.074, -0.09), (0.062, -0.05), (0.055, 0.0), (0.04, 0.03)]
    size, pad = 1.15, ink("Pads", "FBC9A4")
    palm = [(size * u, size * v) for u, v in palm]
    parts = [drawn("Open hand", shifted(palm, *wrist), _fur(), y + 0.001)]
    for u, v, wide, high in (
        (0.0, -0.052, 0.033, 0.027),
        (-0.045, -0.115, 0.011, 0.013),
        (0.005, -0.128, 0.011, 0.013),
        (0.055, -0.098, 0.011, 0.013),
    ):
        spot = (wrist[0] + size * u, wrist[1] + size * v)
        parts.append(oval("Pad", spot, (size * wide, size * high), pad, y + 0.0005))
    for part in parts:
        shown(part, ((1, True), (HELLO[1], False)))
    return parts


def _draw_tail(rig) -> None:
    bones = [f"tail.{i + 1}" for i in range(len(TAIL_JOINTS) - 1)]
    radii = (0.045, 0.078, 0.112, 0.132, 0.128, 0.092, 0.0)
    shade = [0.55 * radius for radius in radii]
    brush("Tail", TAIL_JOINTS, bones, radii, (0.0, 1.0), 0.0, _fur(), TAIL, rig)
    joints = [(x + 0.012, z - 0.048) for x, z in TAIL_JOINTS]
    brush(
        "Tail in shade",
        joints,
        bones,
        shade,
        (0.02, 0.72),
        0.0,
        ink("Fur, darker", "E27632"),
        TAIL - 0.001,
        rig,
    )
    wider = [radius + 0.002 for radius in radii]
    brush("Tail tip", TAIL_JOINTS, bones, wider, (0.66, 1.0), -0.07, _cream(), TAIL - 0.002, rig)


def _draw_body(rig) -> None:
    coat, dark_coat = ink("Coat", "2F7A90"), ink("Coat in shade", "286A80")
    hem, yellow = ink("Hem", "235C71"), ink("Buttons", "FFD36B")
    chest = [(-0.10, 1.10), (0.0, 1.12), (0.12, 1.10), (0.17, 1.01), (0.165, 0.88), (0.168, 0.76)]
    chest += [(0.0, 0.73), (-0.168, 0.76), (-0.162, 0.88), (-0.165, 1.01)]
    front = [(0.035, 1.10), (0.12, 1.09), (0.163, 1.0), (0.158, 0.88), (0.16, 0.77), (0.10, 0.745)]
    front += [(0.065, 0.85), (0.06, 0.98)]
    skirt = [(-0.160, 0.84), (0.0, 0.85), (0.160, 0.84), (0.190, 0.72), (0.228, 0.595), (0.228, 0.595)]
    skirt += [(0.12, 0.565), (0.0, 0.56), (-0.12, 0.565), (-0.228, 0.595), (-0.228, 0.595), (-0.190, 0.72)]
    flap = [(0.070, 0.83), (0.157, 0.83), (0.187, 0.72), (0.222, 0.60), (0.222, 0.60), (0.10, 0.566)]
    flap += [(0.10, 0.566), (0.078, 0.70)]
    edge = [(-0.228, 0.595), (-0.228, 0.595), (-0.12, 0.565), (0.0, 0.56), (0.12, 0.565), (0.228, 0.595)]
    edge += [(0.228, 0.595), (0.220, 0.625), (0.220, 0.625), (0.115, 0.597), (0.0, 0.592), (-0.115, 0.597)]
    edge += [(-0.220, 0.625), (-0.220, 0.625)]
    belt = [(-0.166, 0.845), (-0.166, 0.845), (0.0, 0.825), (0.166, 0.845), (0.166, 0.845), (0.172, 0.80)]
    belt += [(0.172, 0.80), (0.0, 0.782), (-0.172, 0.80), (-0.172, 0.80)]
    pocket = [(-0.135, 0.755), (-0.135, 0.755), (-0.045, 0.748), (-0.045, 0.748), (-0.04, 0.68)]
    pocket += [(-0.055, 0.662), (-0.125, 0.668), (-0.142, 0.688)]
    attach_all(
        (drawn("Coat", chest, coat, BODY), drawn("Front", front, dark_coat, BODY - 0.001)), rig, "chest"
    )
    parts = [
        drawn("Skirt", skirt, coat, SKIRT),
        drawn("Flap", flap, dark_coat, SKIRT - 0.001),
        drawn("Hem", edge, hem, SKIRT - 0.002),
        drawn("Pocket", pocket, hem, SKIRT - 0.002),
        drawn("Belt", belt, hem, SKIRT - 0.003),
        oval("Buckle", (0.068, 0.812), (0.020, 0.024), yellow, SKIRT - 0.004),
    ]
    attach_all(parts, rig, "hips")
    buttons = [oval("Button", (0.103, z), (0.0125, 0.0135), yellow, BODY - 0.002) for z in (0.99, 0.915)]
    collar = [(-0.14, 1.05), (-0.03, 1.015), (0.10, 1.02), (0.168, 1.06), (0.15, 1.12), (-0.12, 1.12)]
    scarf, band = ink("Scarf", "FFC145"), ink("Scarf in shade", "EDA32B")
    loop = [(-0.165, 1.105), (-0.10, 1.068), (0.03, 1.052), (0.14, 1.075), (0.185, 1.12), (0.17, 1.175)]
    loop += [(0.05, 1.165), (-0.08, 1.165), (-0.16, 1.175)]
    fold = [(-0.15, 1.09), (0.0, 1.085), (0.11, 1.10), (0.178, 1.135)]
    attach_all(
        (
            *buttons,
            drawn("Collar", collar, hem, BODY - 0.003),
            drawn("Scarf", loop, scarf, SCARF),
            stroke("Scarf fold", fold, 0.014, band, SCARF - 0.001),
        ),
        rig,
        "chest",
    )
    end = [(-0.105, 1.135), (-0.045, 1.10), (-0.06, 1.0), (-0.085, 0.865), (-0.085, 0.865), (-0.165, 0.875)]
    end += [(-0.165, 0.875), (-0.15, 1.0), (-0.135, 1.09)]
    stripes = [
        [(-0.15, z), (-0.15, z), (-0.066 - 0.1 * (1 - z), z - 0.012), (-0.066 - 0.1 * (1 - z), z - 0.012)]
        for z in (0.94, 0.905)
    ]
    wide = [[(x - 0.006 * (i < 2), z) for i, (x, z) in enumerate(points)] for points in stripes]
    strips = [
        sheet(
            "Scarf stripe",
            [a[0], a[2], (a[2][0], a[2][1] - 0.016), (a[0][0], a[0][1] - 0.016)],
            band,
            SCARF + 0.002,
        )
        for a in wide
    ]
    attach_all((drawn("Scarf end", end, scarf, SCARF + 0.003), *strips), rig, "scarf")
    attach(oval("Scarf knot", (-0.082, 1.115), (0.046, 0.04), band, SCARF - 0.002, -0.4), rig, "chest")


def _draw_head(rig) -> None:
    fur, shade, cream, dark = _fur(), ink("Fur, darker", "E27632"), _cream(), _dark()
    parts = _head_parts(fur, shade, cream, dark)
    blush, white = ink("Blush", "F9A58E"), ink("White", "FFFFFF")
    lids = []
    for x, wide in ((0.0, 0.043), (0.212, 0.034)):
        parts.append(oval("Eye", (x, 1.385), (wide, 0.066), dark, FACE))
        parts.append(
            oval("Glow", (x + 0.004, 1.352), (wide * 0.62, 0.024), ink("Iris", "7A4A3A"), FACE - 0.001)
        )
        parts.append(oval("Glint", (x + 0.014, 1.412), (wide * 0.38, 0.021), white, FACE - 0.002))
        parts.append(oval("Small glint", (x - 0.014, 1.362), (wide * 0.16, 0.008), white, FACE - 0.002))
        lash = [(x - wide - 0.014, 1.412), (x - wide * 0.5, 1.45), (x + wide * 0.5, 1.452), (x + wide, 1.425)]
        parts.append(stroke("Lash", lash, 0.016, dark, FACE - 0.003))
        lids.append(oval("Lid", (x, 1.385), (wide + 0.022, 0.082), fur, FACE - 0.004))
        closed = [(x - wide - 0.006, 1.378), (x, 1.352), (x + wide + 0.006, 1.378)]
        lids.append(stroke("Closed eye", closed, 0.018, dark, FACE - 0.005))
        brow = [(x - wide - 0.01, 1.492), (x, 1.517), (x + wide + 0.008, 1.503)]
        parts.append(stroke("Brow", brow, 0.020, ink("Brows", "8F4420"), FACE))
    parts.append(oval("Blush", (-0.125, 1.292), (0.054, 0.029), blush, FACE))
    parts.append(oval("Blush", (0.262, 1.302), (0.026, 0.022), blush, FACE))
    parts.append(oval("Nose", (0.372, 1.283), (0.034, 0.026), dark, FACE - 0.002, -0.3))
    parts.append(oval("Nose glint", (0.378, 1.294), (0.010, 0.006), white, FACE - 0.003, -0.3))
    smile = stroke("Smile", [(0.135, 1.232), (0.19, 1.207), (0.26, 1.207), (0.335, 1.244)], 0.013, dark, FACE)
    open_mouth = [
        (0.145, 1.238),
        (0.145, 1.238),
        (0.23, 1.226),
        (0.315, 1.240),
        (0.315, 1.240),
        (0.29, 1.185),
    ]
    open_mouth += [(0.225, 1.162), (0.17, 1.185)]
    speak = drawn("Open mouth", open_mouth, ink("Mouth", "6B2A30"), FACE)
    tongue = oval("Tongue", (0.228, 1.185), (0.042, 0.019), ink("Tongue", "EE7E72"), FACE - 0.001)
    attach_all((*parts, *lids, smile, speak, tongue), rig, "head")
    blinks = [(1, False)] + [(f + k, not k) for f in BLINKS for k in (0, 3)]
    for lid in lids:
        shown(lid, blinks)
    shown(smile, ((1, True), (HELLO[0], False), (HELLO[1], True)))
    for part in (speak, tongue):
        shown(part, ((1, False), (HELLO[0], True), (HELLO[1], False)))
    attach(_whiskers(), rig, "head")


def _head_parts(fur, shade, cream, dark) -> list[bpy.types.Object]:
    """Draw skull, cheeks, ears and the tuft on the forehead."""
    skull = [(-0.285, 1.34), (-0.245, 1.49), (-0.12, 1.595), (0.05, 1.612), (0.20, 1.545), (0.278, 1.43)]
    skull += [(0.335, 1.335), (0.398, 1.285), (0.385, 1.225), (0.28, 1.165), (0.12, 1.125), (-0.05, 1.118)]
    skull += [(-0.19, 1.15), (-0.28, 1.125), (-0.28, 1.125), (-0.295, 1.185), (-0.385, 1.195)]
    skull += [(-0.385, 1.195), (-0.335, 1.25), (-0.385, 1.29), (-0.385, 1.29)]
    cheeks = [(-0.385, 1.195), (-0.385, 1.195), (-0.30, 1.25), (-0.21, 1.255), (-0.10, 1.325), (0.0, 1.318)]
    cheeks += [(0.07, 1.29), (0.14, 1.335), (0.19, 1.355), (0.26, 1.345), (0.335, 1.322), (0.396, 1.282)]
    cheeks += [(0.385, 1.223), (0.28, 1.163), (0.12, 1.123), (-0.05, 1.116), (-0.19, 1.148)]
    cheeks += [(-0.28, 1.123), (-0.28, 1.123), (-0.295, 1.183)]
    chin = [(-0.18, 1.152), (-0.05, 1.118), (0.12, 1.125), (0.27, 1.162), (0.33, 1.195), (0.20, 1.168)]
    chin += [(0.05, 1.148), (-0.08, 1.152)]
    parts = [drawn("Head", skull, fur, HEAD), drawn("Cheeks", cheeks, cream, HEAD - 0.002)]
    parts.append(drawn("Chin", chin, ink("Cream, darker", "F3DCC0"), HEAD - 0.003))
    ears = (
        (
            [
                (-0.255, 1.44),
                (-0.30, 1.60),
                (-0.30, 1.80),
                (-0.30, 1.80),
                (-0.16, 1.735),
                (-0.03, 1.585),
                (-0.13, 1.48),
            ],
            [
                (-0.225, 1.52),
                (-0.255, 1.62),
                (-0.262, 1.735),
                (-0.262, 1.735),
                (-0.175, 1.68),
                (-0.095, 1.58),
            ],
            [(-0.287, 1.70), (-0.302, 1.80), (-0.302, 1.80), (-0.213, 1.768), (-0.225, 1.73), (-0.255, 1.74)],
            HEAD - 0.001,
        ),
        (
            [
                (0.06, 1.585),
                (0.135, 1.70),
                (0.268, 1.80),
                (0.268, 1.80),
                (0.298, 1.65),
                (0.255, 1.47),
                (0.15, 1.50),
            ],
            [(0.13, 1.585), (0.175, 1.665), (0.243, 1.732), (0.243, 1.732), (0.258, 1.63), (0.225, 1.53)],
            [(0.197, 1.762), (0.27, 1.802), (0.27, 1.802), (0.287, 1.715), (0.26, 1.74), (0.225, 1.738)],
            HEAD + 0.002,
        ),
    )
    for ear, inner, tip, y in ears:
        parts.append(drawn("Ear", ear, fur, y))
        parts.append(drawn("Inner ear", inner, ink("Inner ears", "FBD9BE"), y - 0.0003))
        parts.append(drawn("Ear tip", tip, dark, y - 0.0006))
    tuft = [(-0.06, 1.555), (-0.04, 1.62), (-0.01, 1.675), (-0.01, 1.675), (0.02, 1.64), (0.07, 1.69)]
    tuft += [(0.07, 1.69), (0.08, 1.64), (0.14, 1.655), (0.14, 1.655), (0.12, 1.59), (0.06, 1.545)]
    parts.append(drawn("Tuft", tuft, fur, HEAD - 0.0015))
    for points in (
        [(0.0, 1.615), (0.012, 1.58), (0.03, 1.555)],
        [(0.075, 1.625), (0.07, 1.59), (0.075, 1.565)],
    ):
        parts.append(stroke("Tuft line", points, 0.012, shade, HEAD - 0.0017))
    return parts


def _whiskers() -> bpy.types.Object:
    """Draw the whiskers in Grease Pencil."""
    data = bpy.data.grease_pencils.new("Whiskers")
    look = bpy.data.materials.new("Whiskers")
    bpy.data.materials.create_gpencil_data(look)
    look.grease_pencil.color = (*color("7A4A34"), 1.0)
    data.materials.append(look)
    frame = data.layers.new("Strokes").frames.new(1)
    for start, end in (
        ((-0.165, 1.235), (-0.325, 1.262)),
        ((-0.170, 1.212), (-0.335, 1.205)),
        ((-0.162, 1.189), (-0.315, 1.152)),
    ):
        made = frame.strokes.new()
        made.line_width, made.display_mode = 12, '3DSPACE'
        made.points.add(12)
        for i, point in enumerate(made.points):
            t = i / 11
            x, z = (a + (b - a) * t for a, b in zip(start, end, strict=True))
            point.co = (x, FACE - 0.006, z - 0.02 * 4 * t * (1 - t))
            point.pressure = 1.0 - 0.8 * t
    return shapes.link(bpy.data.objects.new("Whiskers", data), "Shapes")
