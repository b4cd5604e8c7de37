# SPDX-License-Identifier: GPL-3.0-or-later
"""Flat parts in the XZ plane: colors, smooth outlines, and sheets that bend with several bones."""

import math
from collections.abc import Iterable, Sequence

import bpy

from .. import shapes

Point = shapes.Point


def color(text: str) -> tuple[float, float, float]:
    """Return the linear color of six hexadecimal digits."""
    found = [int(text[i : i + 2], 16) / 255.0 for i in (0, 2, 4)]
    return tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in found)


def ink(name: str, text: str) -> bpy.types.Material:
    """Return a material that shows its color in any light."""
    made = shapes.material(name, color(text), roughness=1.0, glow=1.0)
    shader = made.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (0.0, 0.0, 0.0, 1.0)
    shader.inputs["Specular IOR Level"].default_value = 0.0
    return made


def curve(points: Sequence[Point], steps: int = 8) -> list[Point]:
    """Return a smooth closed outline through points; a point given twice is a corner."""
    found, count = [], len(points)
    for i in range(count):
        a, b, c, d = (points[(i + k) % count] for k in (-1, 0, 1, 2))
        if b == c:
            continue
        for step in range(steps):
            t = step / steps
            found.append(tuple(_between(a[k], b[k], c[k], d[k], t) for k in (0, 1)))
    return found


def sheet(name: str, outline: Iterable[Point], look, y: float) -> bpy.types.Object:
    """Make a flat part from an outline."""
    outline = list(outline)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(x, y, z) for x, z in outline], [], [list(range(len(outline)))])
    mesh.materials.append(look)
    return shapes.link(bpy.data.objects.new(name, mesh), "Shapes")


def drawn(name: str, points: Sequence[Point], look, y: float) -> bpy.types.Object:
    """Make a flat part with a smooth outline."""
    return sheet(name, curve(points), look, y)


def oval(name: str, centre: Point, size: Point, look, y: float, lean: float = 0.0) -> bpy.types.Object:
    """Make a flat oval; lean: radians."""
    c, s = math.cos(lean), math.sin(lean)
    around = [2 * math.pi * i / 40 for i in range(40)]
    flat = [(size[0] * math.cos(a), size[1] * math.sin(a)) for a in around]
    return sheet(name, [(centre[0] + c * u - s * v, centre[1] + s * u + c * v) for u, v in flat], look, y)


def stroke(name: str, points: Sequence[Point], width: float, look, y: float) -> bpy.types.Object:
    """Make a line that is widest in its middle and thin at its ends."""
    way = _open_curve(points)
    upper, lower = [], []
    for i, (x, z) in enumerate(way):
        before, after = way[max(i - 1, 0)], way[min(i + 1, len(way) - 1)]
        length = math.dist(before, after)
        half = 0.5 * width * (0.25 + 0.75 * math.sin(math.pi * i / (len(way) - 1)))
        across = (-(after[1] - before[1]) / length * half, (after[0] - before[0]) / length * half)
        upper.append((x + across[0], z + across[1]))
        lower.append((x - across[0], z - across[1]))
    return sheet(name, upper + lower[::-1], look, y)


def limb(name: str, start: Point, end: Point, radii: Point, look, y: float) -> bpy.types.Object:
    """Make a flat limb with round ends."""
    return sheet(name, shapes.local(start, end, shapes.capsule(math.dist(start, end), *radii, 16)), look, y)


def shifted(points: Iterable[Point], x: float, z: float = 0.0) -> list[Point]:
    """Return points moved by x and z."""
    return [(u + x, v + z) for u, v in points]


def shown(ob: bpy.types.Object, frames: Iterable[tuple[int, bool]]) -> bpy.types.Object:
    """Key a part to be seen or hidden from each frame on: one of several drawings of a thing."""
    for channel in ("hide_render", "hide_viewport"):
        for frame, seen in frames:
            setattr(ob, channel, not seen)
            ob.keyframe_insert(channel, frame=frame)
        for key in ob.animation_data.action.fcurves.find(channel).keyframe_points:
            key.interpolation = 'CONSTANT'
    return ob


def brush(
    name: str,
    joints: Sequence[Point],
    bones: Sequence[str],
    radii: Sequence[float],
    part: Point,
    jag: float,
    look,
    y: float,
    rig: bpy.types.Object,
) -> bpy.types.Object:
    """Make a sheet along bones that bends with them as a whole.

    radii: half its width at each joint; part: where it begins and ends, 0 at the first joint and 1 at the
    last; jag: how far its first row goes up and down.
    """  # fmt: skip
    way, rows, columns = _open_curve(joints, 12), 36, 12
    points, places, faces = [], [], []
    for i in range(rows + 1):
        for j in range(columns + 1):
            start = part[0] + jag * (0.5 - abs(j / columns * 3 % 1 - 0.5)) * 2
            t = start + (part[1] - start) * i / rows
            at = t * (len(way) - 1)
            k = min(int(at), len(way) - 2)
            (x0, z0), (x1, z1) = way[k], way[k + 1]
            length = math.dist(way[k], way[k + 1])
            wide = _value(radii, t * (len(radii) - 1)) * (2 * j / columns - 1)
            x, z = x0 + (x1 - x0) * (at - k), z0 + (z1 - z0) * (at - k)
            points.append((x - wide * (z1 - z0) / length, y, z + wide * (x1 - x0) / length))
            places.append(t)
            if i < rows and j < columns:
                a = i * (columns + 1) + j
                faces.append((a, a + 1, a + columns + 2, a + columns + 1))
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], faces)
    mesh.materials.append(look)
    made = shapes.link(bpy.data.objects.new(name, mesh), "Shapes")
    made.parent = rig
    groups = [made.vertex_groups.new(name=bone) for bone in bones]
    for vertex, t in enumerate(places):
        at = min(max(t * len(bones) - 0.5, 0.0), len(bones) - 1.0)
        low = min(int(at), len(bones) - 2)
        groups[low].add([vertex], 1.0 - (at - low), 'REPLACE')
        groups[low + 1].add([vertex], at - low, 'REPLACE')
    made.modifiers.new("Armature", 'ARMATURE').object = rig
    return made


def _open_curve(points: Sequence[Point], steps: int = 8) -> list[Point]:
    ends = [points[0], *points, points[-1]]
    found = []
    for a, b, c, d in zip(ends, ends[1:], ends[2:], ends[3:], strict=False):
        for step in range(steps):
            found.append(tuple(_between(a[k], b[k], c[k], d[k], step / steps) for k in (0, 1)))
    return [*found, points[-1]]


def _between(a: float, b: float, c: float, d: float, t: float) -> float:
    """Return a value of Catmull and Rom's curve from b to c."""
    cubic = (3 * b - a - 3 * c + d) * t**3
    return 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t * t + cubic)


def _value(values: Sequence[float], at: float) -> float:
    """Return a value of the smooth curve through values, at a place between them."""
    k = min(int(at), len(values) - 2)
    a, b, c, d = (values[min(max(k + i, 0), len(values) - 1)] for i in (-1, 0, 1, 2))
    return max(_between(a, b, c, d, at - k), 0.0)
