# SPDX-License-Identifier: GPL-3.0-or-later
"""Simple meshes. Chains bend in the XZ plane, so most shapes are outlines there, made thick along Y."""

import itertools
import math
import random
from collections.abc import Sequence

import bmesh
import bpy
from mathutils import Matrix, Vector

Point = tuple[float, float]  # x, z
TARGET_COLOR, POLE_COLOR = (0.95, 0.03, 0.28), (0.03, 0.25, 0.95)


def link(ob: bpy.types.Object, collection: str) -> bpy.types.Object:
    """Put an object into the collection of that name, made when missing."""
    home = bpy.data.collections.get(collection)
    if home is None:
        home = bpy.data.collections.new(collection)
        bpy.context.scene.collection.children.link(home)
    home.objects.link(ob)
    return ob


def material(
    name: str, color: Sequence[float], *, roughness: float = 0.55, metallic: float = 0.0, glow: float = 0.0
) -> bpy.types.Material:
    """Return the material of that name, made when missing."""
    found = bpy.data.materials.get(name)
    if found:
        return found
    made = bpy.data.materials.new(name)
    made.use_nodes = True
    shader = made.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (*color, 1.0)
    shader.inputs["Roughness"].default_value = roughness
    shader.inputs["Metallic"].default_value = metallic
    shader.inputs["Emission Color"].default_value = (*color, 1.0)
    shader.inputs["Emission Strength"].default_value = glow
    made.diffuse_color = (*color, 1.0)  # Solid shading in the viewport and Workbench use this one.
    made.roughness = roughness
    return made


def local(head: Point, tail: Point, points: Sequence[Point]) -> list[Point]:
    """Map points (along, left) of the segment from `head` to `tail` to x, z."""
    length = math.dist(head, tail)
    cx, cz = (tail[0] - head[0]) / length, (tail[1] - head[1]) / length
    return [(head[0] + u * cx - v * cz, head[1] + u * cz + v * cx) for u, v in points]


def capsule(length: float, start: float, end: float, steps: int = 10) -> list[Point]:
    """Outline along +u with round ends of the radii `start` and `end`."""
    half = [math.pi * i / steps for i in range(steps + 1)]
    back = [(-start * math.sin(a), -start * math.cos(a)) for a in half]
    front = [(length + end * math.sin(a), end * math.cos(a)) for a in half]
    return back + front


def circle(centre: Point, radius: float, steps: int = 32) -> list[Point]:
    """Outline of a circle."""
    turn = [2 * math.pi * i / steps for i in range(steps)]
    return [(centre[0] + radius * math.cos(a), centre[1] + radius * math.sin(a)) for a in turn]


def plate(
    name: str, outline: Sequence[Point], thickness: float, look, *, y: float = 0.0, bevel: float = 0.03
) -> bpy.types.Object:
    """Make an outline in the XZ plane `thickness` thick, centred on `y`, with bevelled edges."""
    bm = bmesh.new()
    front = bm.faces.new([bm.verts.new((x, y - thickness / 2, z)) for x, z in outline])
    moved = bmesh.ops.extrude_face_region(bm, geom=[front])["geom"]
    verts = [item for item in moved if isinstance(item, bmesh.types.BMVert)]
    bmesh.ops.translate(bm, verts=verts, vec=(0.0, thickness, 0.0))
    if bevel:
        rim = [edge for edge in bm.edges if abs(edge.verts[0].co.y - edge.verts[1].co.y) < 1e-6]
        bmesh.ops.bevel(
            bm, geom=rim, offset=bevel, segments=2, profile=0.7, affect='EDGES', clamp_overlap=True
        )
    return _finish(bm, name, look)


def ball(name: str, centre: Sequence[float], radius: float, look, *, scale=(1, 1, 1)) -> bpy.types.Object:
    """Make a ball, or an egg with `scale`."""
    bm = bmesh.new()
    matrix = Matrix.Translation(centre) @ Matrix.Diagonal((*scale, 1))
    bmesh.ops.create_uvsphere(bm, u_segments=24, v_segments=14, radius=radius, matrix=matrix)
    return _finish(bm, name, look, smooth=True)


def tube(
    name: str, start: Sequence[float], end: Sequence[float], radii: Point, look, *, steps: int = 24
) -> bpy.types.Object:
    """Make a round tube from point to point, with a radius at each end."""
    bm = bmesh.new()
    _add_tube(bm, start, end, radii, steps)
    return _finish(bm, name, look)


def bars(name: str, lines: Sequence[tuple[Sequence[float], Sequence[float]]], radius: float, look):
    """Make round bars from point to point, in one mesh, with a knob of twice their thickness at each end."""
    bm = bmesh.new()
    for start, end in lines:
        _add_tube(bm, start, end, (radius, radius), 12)
    for x, y, z in {tuple(point) for line in lines for point in line}:
        knob = radius * 1.7
        _add_tube(bm, (x, y - knob, z), (x, y + knob, z), (knob, knob), 16)
    return _finish(bm, name, look)


def cloth(name: str, outline: Sequence[Point], bulge: float, look, *, y: float = 0.0) -> bpy.types.Object:
    """Make a sail: four corners (x, z), from the foot of its luff round, bulging along Y in the middle."""
    bm, steps = bmesh.new(), 12
    a, b, c, d = (Vector((x, y, z)) for x, z in outline)
    rows = [
        [
            bm.verts.new(
                a.lerp(b, u).lerp(d.lerp(c, u), v)
                + Vector(
                    (0.0, bulge * math.sin(math.pi * u**0.8) * math.sin(math.pi * (0.12 + 0.8 * v)), 0.0)
                )
            )
            for u in (i / steps for i in range(steps + 1))
        ]
        for v in (j / steps for j in range(steps + 1))
    ]
    for low, high in itertools.pairwise(rows):
        for i in range(steps):
            bm.faces.new((low[i], low[i + 1], high[i + 1], high[i]))
    return _finish(bm, name, look, smooth=True)


def pin(name: str, centre: Point, radius: float, depth: float, look, *, y: float = 0.0) -> bpy.types.Object:
    """Make a round pin along Y."""
    return plate(name, circle(centre, radius), depth, look, y=y, bevel=min(radius, depth) * 0.15)


def box(
    name: str, low: Sequence[float], high: Sequence[float], look, *, bevel: float = 0.0
) -> bpy.types.Object:
    """Make a box from corner to corner."""
    outline = [(low[0], low[2]), (high[0], low[2]), (high[0], high[2]), (low[0], high[2])]
    return plate(name, outline, high[1] - low[1], look, y=(low[1] + high[1]) / 2, bevel=bevel)


def ring(name: str, centre: Point, radius: float, wire: float, look, *, y: float = 0.0) -> bpy.types.Object:
    """Make a thin ring in the XZ plane."""
    bm = bmesh.new()
    _add_ring(bm, centre, radius, wire, y)
    return _finish(bm, name, look, smooth=True)


def target(name: str, radius: float, depth: float, thickness: float = 1.0) -> bpy.types.Object:
    """Make a target: a ring on either side of the chain, `depth` off its plane, with a small ball in each.

    Its origin is the point that the tip goes to. thickness: of rings and balls, in parts of the usual one.
    """
    bm = bmesh.new()
    for y in (-depth, depth):
        _add_ring(bm, (0.0, 0.0), radius, radius * 0.16 * thickness, y)
        middle = Matrix.Translation((0.0, y, 0.0))
        bmesh.ops.create_uvsphere(
            bm, u_segments=16, v_segments=10, radius=radius * 0.38 * thickness, matrix=middle
        )
    look = material("Target", TARGET_COLOR, roughness=0.4, glow=0.35)
    return _finish(bm, name, look, smooth=True, collection="Targets")


def pole(name: str, radius: float) -> bpy.types.Object:
    """Make a pole: a faceted ball whose origin is the point that an elbow or a knee points at."""
    bm = bmesh.new()
    bmesh.ops.create_icosphere(bm, subdivisions=1, radius=radius)
    look = material("Pole", POLE_COLOR, roughness=0.4, glow=0.35)
    return _finish(bm, name, look, collection="Targets")


def heap(name: str, centre: Point, radius: float, height: float, look, seed: int) -> bpy.types.Object:
    """Make an uneven heap of earth on the ground; `centre` is x, y."""
    chance = random.Random(seed)
    bm = bmesh.new()
    bmesh.ops.create_icosphere(bm, subdivisions=3, radius=1.0)
    for vert in bm.verts:
        vert.co *= 1.0 + chance.uniform(-0.07, 0.07)
        slope = max(0.0, 1.0 - math.hypot(vert.co.x, vert.co.y) ** 1.2)
        vert.co = (
            centre[0] + radius * vert.co.x,
            centre[1] + radius * vert.co.y,
            (height * slope if vert.co.z > 0 else -0.05) + chance.uniform(0, 0.05),
        )
    return _finish(bm, name, look)


def _add_tube(
    bm: bmesh.types.BMesh, start: Sequence[float], end: Sequence[float], radii: Point, steps: int
) -> None:
    """Add a closed tube to `bm`."""
    start, axis = Vector(start), Vector(end) - Vector(start)
    turn = axis.to_track_quat('Z', 'Y').to_matrix().to_4x4()
    bmesh.ops.create_cone(
        bm,
        cap_ends=True,
        segments=steps,
        radius1=radii[0],
        radius2=radii[1],
        depth=axis.length,
        matrix=Matrix.Translation(start + axis / 2) @ turn,
    )


def _add_ring(bm: bmesh.types.BMesh, centre: Point, radius: float, wire: float, y: float) -> None:
    """Add a ring to `bm`: bmesh has no torus of its own."""
    around, section = 72, 10
    rows = []
    for i in range(around):
        a = 2 * math.pi * i / around
        row = []
        for j in range(section):
            b = 2 * math.pi * j / section
            r, depth = radius + wire * math.cos(b), y + wire * math.sin(b)
            row.append(bm.verts.new((centre[0] + r * math.cos(a), depth, centre[1] + r * math.sin(a))))
        rows.append(row)
    for i in range(around):
        for j in range(section):
            k, m = (i + 1) % around, (j + 1) % section
            bm.faces.new((rows[i][j], rows[i][m], rows[k][m], rows[k][j]))


def _finish(bm, name: str, look, *, smooth: bool = False, collection: str = "Shapes") -> bpy.types.Object:
    """Turn `bm` into an object with one material."""
    bmesh.ops.recalc_face_normals(bm, faces=bm.faces)
    mesh = bpy.data.meshes.new(name)
    bm.to_mesh(mesh)
    bm.free()
    mesh.materials.append(look)
    mesh.shade_smooth()
    if not smooth:
        mesh.set_sharp_from_angle(angle=math.radians(35))
    return link(bpy.data.objects.new(name, mesh), collection)
