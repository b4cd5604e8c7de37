# SPDX-License-Identifier: GPL-3.0-or-later
"""The place: hills, trees, the stair, and the door that it leads to."""

import math
import random
from collections.abc import Sequence

from .paint import Point, curve, drawn, ink, oval, sheet

FAR = 3.0  # the sky's depth; all else here lies between it and the fox, but for the grass in front


def draw(ground: Sequence[Point]) -> None:
    """Draw the place; ground: the line of the path and the stair, from the left."""
    _draw_sky()
    _draw_hills()
    _draw_stair(ground)
    _draw_house(ground[-1][1])
    _draw_grass()


def box(left: float, low: float, right: float, high: float) -> list[Point]:
    """Return the outline of a rectangle."""
    return [(left, low), (right, low), (right, high), (left, high)]


def rounded(left: float, low: float, right: float, high: float, radius: float) -> list[Point]:
    """Return the outline of a rectangle with round corners."""
    found = []
    for x, z, turn in (
        (right - radius, high - radius, 0),
        (left + radius, high - radius, 1),
        (left + radius, low + radius, 2),
        (right - radius, low + radius, 3),
    ):
        for i in range(7):
            angle = math.pi / 2 * (turn + i / 6)
            found.append((x + radius * math.cos(angle), z + radius * math.sin(angle)))
    return found


def _draw_sky() -> None:
    sheet("Sky", box(-6, -3, 7, 5), ink("Sky", "CDE9EE"), FAR)
    sheet("Haze", box(-6, -3, 7, 1.05), ink("Haze", "DDF0EC"), FAR - 0.01)
    sheet("Low haze", box(-6, -3, 7, 0.75), ink("Low haze", "ECF5E8"), FAR - 0.02)
    for radius, text in ((0.44, "DCEDE0"), (0.34, "EEF0CF"), (0.245, "FFEFB5")):
        oval(
            f"Sun {radius}",
            (0.62, 1.62),
            (radius, radius),
            ink(f"Sun {radius}", text),
            FAR - 0.05 + radius * 0.05,
        )
    cloud = ink("Clouds", "F7FCFA")
    for x, z, size in ((-0.15, 1.86, 0.85), (1.18, 1.74, 1.0), (-1.25, 1.98, 1.0)):
        puffs = ((0.0, 0.0, 0.20, 0.055), (-0.06, 0.045, 0.085, 0.07), (0.06, 0.035, 0.075, 0.055))
        for u, v, wide, high in puffs:
            oval("Cloud", (x + u * size, z + v * size), (wide * size, high * size), cloud, FAR - 0.08)


def _hill(x: float, base: float, bump: float, pace: float, phase: float) -> float:
    return base + bump * math.sin(pace * x + phase) + 0.3 * bump * math.sin(2.3 * pace * x + 1.7 * phase)


def _draw_hills() -> None:
    chance = random.Random(8)
    layers = (
        ("Hills far", "BFE0D3", (0.86, 0.16, 1.3, 0.4), FAR - 0.2),
        ("Hills", "9CCFB6", (0.62, 0.13, 1.6, 2.4), FAR - 0.4),
        ("Hills near", "7CBD9B", (0.34, 0.10, 1.2, 4.6), FAR - 0.6),
    )
    for name, text, shape, y in layers:
        top = [(-6 + 0.05 * i, _hill(-6 + 0.05 * i, *shape)) for i in range(261)]
        sheet(name, [(-6, -3), *top, (7, -3)], ink(name, text), y)
    far, near = layers[1], layers[2]
    for x in (-1.02, -0.80, 0.20, 0.33, 0.52, 1.02, 1.30):
        high = chance.uniform(0.15, 0.24)
        _pine(x, _hill(x, *far[2]) - 0.03, high, ink("Pines far", "83BFA3"), far[3] + 0.05)
    for x, size in ((-0.28, 0.8), (0.80, 1.0), (1.07, 0.75)):
        _tree(x, _hill(x, *near[2]) - 0.03, size, near[3] + 0.05)
    meadow = ink("Meadow", "68AD89")
    top = [(-6 + 0.1 * i, 0.12 + 0.035 * math.sin(1.9 * i * 0.1 + 1.0)) for i in range(131)]
    sheet("Meadow", [(-6, -3), *top, (7, -3)], meadow, FAR - 0.7)


def _pine(x: float, z: float, high: float, look, y: float) -> None:
    for low, wide in ((0.0, 0.30), (0.28, 0.24), (0.54, 0.17)):
        base = z + low * high
        outline = [
            (x - wide * high, base),
            (x, base + 0.48 * high),
            (x + wide * high, base),
            (x, base - 0.04 * high),
        ]
        sheet("Pine", outline, look, y)


def _tree(x: float, z: float, size: float, y: float) -> None:
    sheet("Trunk", box(x - 0.014 * size, z, x + 0.014 * size, z + 0.18 * size), ink("Trunks", "8A6A55"), y)
    for u, v, radius, text in ((0.0, 0.27, 0.125, "58A07F"), (-0.025, 0.30, 0.085, "68AF8C")):
        look = ink(f"Leaves {text}", text)
        oval(
            "Leaves",
            (x + u * size, z + v * size),
            (radius * size, 1.15 * radius * size),
            look,
            y - 0.4 * radius,
        )


def _draw_stair(ground: Sequence[Point]) -> None:
    y = FAR - 0.9
    path, edge = ink("Path", "E8C79A"), ink("Path's edge", "F7E2BF")
    stone, tread = ink("Stone", "D3B593"), ink("Tread", "F3E0C3")
    start = ground[1][0]
    last = ground[-1][0]
    sheet("Path", [(-3.0, -3.0), ground[0], ground[1], (start, -3.0)], path, y)
    sheet("Stair", [(start, -3.0), *ground[1:], (last, -3.0)], stone, y)
    chance = random.Random(5)
    for (x0, z0), (x1, z1) in zip(ground, ground[1:], strict=False):
        if z0 != z1:
            continue
        first = x0 < start
        look, deep = (edge, 0.028) if first else (tread, 0.045)
        left = x0 if first else x0 - 0.018
        sheet("Tread", rounded(left, z0 - deep, x1, z0, 0.012), look, y - 0.02)
        if not first:
            sheet(
                "Tread's shade",
                box(x0, z0 - deep - 0.02, x1, z0 - deep + 0.01),
                ink("Stone in shade", "BD9C7B"),
                y - 0.01,
            )
    brick = (ink("Brick", "DDC2A2"), ink("Dark brick", "C8A886"))
    for row in range(7):
        low = 0.205 - 0.1 * row
        left = ground[3][0] if low > 0.09 else start
        x = left + 0.03 + 0.08 * (row % 2)
        while x < last - 0.4:
            wide = chance.uniform(0.14, 0.22)
            if low + 0.075 < 0.09 or x > ground[3][0]:
                sheet(
                    "Brick",
                    rounded(x, low - 0.04, x + wide, low + 0.03, 0.014),
                    brick[chance.random() < 0.4],
                    y - 0.005,
                )
            x += wide + 0.03
    for i in range(16):
        x, z = -1.5 + 0.13 * i + chance.uniform(-0.04, 0.04), chance.uniform(-0.22, -0.06)
        oval(
            "Pebble",
            (x, z),
            (chance.uniform(0.012, 0.03), chance.uniform(0.006, 0.011)),
            ink("Pebbles", "D9B483"),
            y - 0.01,
        )


def _draw_house(floor: float) -> None:
    y = FAR - 0.95
    left, high = 1.88, 1.62
    sheet("Wall", box(left, floor, 4.0, high), ink("Wall", "F6E7D0"), y)
    sheet("Wall's shade", box(left, high - 0.22, 4.0, high), ink("Wall in shade", "E4CDB0"), y - 0.005)
    sheet("Post", box(left - 0.03, floor, left + 0.045, high), ink("Post", "9C5F47"), y - 0.01)
    sheet("Plinth", box(left + 0.045, floor, 4.0, floor + 0.07), ink("Plinth", "CDAE8B"), y - 0.006)
    roof = [
        (left - 0.22, high - 0.06),
        (left - 0.14, high + 0.02),
        (left + 0.45, high + 0.75),
        (4.0, high + 0.75),
    ]
    roof += [(4.0, high - 0.06)]
    sheet("Roof", roof, ink("Roof", "C9654A"), y - 0.02)
    sheet("Eave", rounded(left - 0.24, high - 0.085, 4.0, high - 0.03, 0.02), ink("Eave", "8E4636"), y - 0.03)
    for row in range(2):
        for i in range(12):
            x = left - 0.08 + 0.10 * i + 0.05 * row + 0.08 * row
            oval("Tile", (x, high + 0.01 + 0.09 * row), (0.036, 0.028), ink("Tiles", "B85841"), y - 0.025)
    door = [(2.00, floor), (2.00, floor + 0.62), (2.05, floor + 0.77), (2.18, floor + 0.83)]
    door += [(2.31, floor + 0.77), (2.36, floor + 0.62), (2.36, floor)]
    frame = [(2.18 + (x - 2.18) * 1.18, floor + (z - floor) * 1.055) for x, z in door]
    sheet("Door frame", _arch(frame), ink("Post", "9C5F47"), y - 0.007)
    sheet("Door", _arch(door), ink("Door", "3E8E86"), y - 0.008)
    for x in (2.09, 2.18, 2.27):
        sheet(
            "Board", box(x - 0.004, floor, x + 0.004, floor + 0.74), ink("Door in shade", "347B75"), y - 0.009
        )
    oval("Pane", (2.18, floor + 0.60), (0.085, 0.085), ink("Post", "9C5F47"), y - 0.010)
    oval("Pane light", (2.18, floor + 0.60), (0.066, 0.066), ink("Light", "FFE08A"), y - 0.011)
    oval("Knob", (2.035, floor + 0.36), (0.017, 0.017), ink("Light", "FFE08A"), y - 0.011)
    sheet(
        "Lamp's arm",
        box(left - 0.16, high - 0.13, left - 0.148, high - 0.05),
        ink("Iron", "5B4A4A"),
        y - 0.04,
    )
    sheet(
        "Lamp",
        rounded(left - 0.195, high - 0.25, left - 0.113, high - 0.13, 0.02),
        ink("Iron", "5B4A4A"),
        y - 0.04,
    )
    sheet(
        "Flame",
        rounded(left - 0.18, high - 0.235, left - 0.128, high - 0.15, 0.015),
        ink("Light", "FFE08A"),
        y - 0.05,
    )
    pot = [(1.735, floor + 0.13), (1.875, floor + 0.13), (1.855, floor), (1.755, floor)]
    for u, v, lean in (
        (-0.05, 0.24, 0.5),
        (0.05, 0.24, -0.5),
        (0.0, 0.28, 0.0),
        (-0.075, 0.19, 1.0),
        (0.075, 0.19, -1.0),
    ):
        oval("Leaf", (1.805 + u, floor + v), (0.032, 0.09), ink("Leaves 58A07F", "58A07F"), y - 0.05, lean)
    sheet("Pot", pot, ink("Pot", "D9745A"), y - 0.06)
    sheet(
        "Pot's rim",
        rounded(1.725, floor + 0.105, 1.885, floor + 0.145, 0.012),
        ink("Pot's rim", "C4614A"),
        y - 0.07,
    )


def _arch(points: Sequence[Point]) -> list[Point]:
    """Return a door's outline: upright sides, and a smooth arch."""
    smooth = curve([points[0], points[0], points[1], *points[2:5], points[5], points[6], points[6]])
    left, right, low = points[0][0], points[-1][0], points[0][1]
    return [(min(max(x, left), right), max(z, low)) for x, z in smooth]


def _draw_grass() -> None:
    chance = random.Random(3)
    back, front = ink("Grass", "58A07F"), ink("Grass in front", "4A9072")
    for look, y, places, size in (
        (back, FAR - 0.92, [-1.5 + 0.115 * i for i in range(17)], 0.07),
        (
            front,
            -0.8,
            (-1.36, -1.30, -1.24, -1.15, -1.09, 0.26, 0.33, 0.40, 0.46, 2.02, 2.12, 2.22, 2.32),
            0.15,
        ),
    ):
        for x in places:
            x += chance.uniform(-0.03, 0.03)
            base = 0.0 if y > 0 else -0.30
            for k in range(4):
                lean, high = 0.35 * (k - 1.5) + chance.uniform(-0.1, 0.1), size * chance.uniform(0.6, 1.1)
                root = x + 0.10 * size * (k - 1.5)
                tip = (root + lean * high, base + high)
                blade = [(root - 0.10 * size, base), (root - 0.10 * size, base), tip, tip]
                blade += [(root + 0.10 * size, base), (root + 0.10 * size, base)]
                if y < 0 or chance.random() < 0.45:
                    drawn("Grass", blade, look, y)
    for x, text in ((-1.20, "FFFFFF"), (-1.31, "FFD36B"), (0.37, "FFFFFF"), (2.17, "FFD36B")):
        for i in range(5):
            angle = 2 * math.pi * i / 5
            spot = (x + 0.022 * math.cos(angle), -0.16 + 0.022 * math.sin(angle))
            oval("Petal", spot, (0.017, 0.017), ink(f"Petals {text}", text), -0.82)
        oval("Flower", (x, -0.16), (0.013, 0.013), ink("Scarf", "FFC145"), -0.83)
