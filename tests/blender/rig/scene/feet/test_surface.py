# SPDX-License-Identifier: GPL-3.0-or-later
"""Grounds as Blender shows them: heights of objects, triangles of meshes with their modifiers."""

import bpy
import numpy as np
import pytest

from ik2d_addon.rig.scene.feet.surface import Ground, MeshReader, Surface

SOLE = np.array([[(0.0, 0.0, 0.1), (0.0, -0.3, -0.05)]])


def level(height, surface=None, root=1.0):
    shapes = None if surface is None else [surface]
    return Ground(np.array([(0.0, 0.0, height)]), np.eye(3)[None], shapes, np.array([root]))


def test_modifiers_count():
    bpy.ops.mesh.primitive_plane_add(size=2.0)
    plane = bpy.context.object
    plane.modifiers.new("Array", 'ARRAY').count = 3
    graph = bpy.context.evaluated_depsgraph_get()
    assert len(MeshReader(plane).whole(graph).corners) == 6
    assert len(MeshReader(plane).whole(None).corners) == 2


def test_a_height_lifts_the_lowest_point():
    assert level(0.0).lifts(SOLE) == pytest.approx([0.05])
    assert level(-1.0).lifts(SOLE) == pytest.approx([0.0])
    assert np.isnan(level(2.0).lifts(SOLE)).all()


def test_of_two_floors_the_one_below_the_root_counts():
    floor = np.array([(-5.0, -5.0, 0.0), (5.0, -5.0, 0.0), (0.0, 5.0, 0.0)], np.float32)
    corners = np.arange(6, dtype=np.int32).reshape(2, 3)
    both = Surface(np.concatenate((floor, floor + np.array((0.0, 0.0, 2.0), np.float32))), corners)
    assert level(0.0, both).lifts(SOLE) == pytest.approx([0.05])
    assert level(0.0, both, root=3.0).lifts(SOLE) == pytest.approx([2.05])


def rows_of(surface, rows=slice(None)):
    """Return the triangles of a surface as a set of sorted corners."""
    return {tuple(sorted(map(tuple, surface.vertices[row].tolist()))) for row in surface.corners[rows]}


def test_the_part_nearby_holds_each_triangle_that_meets_the_square():
    rng = np.random.default_rng(4)
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=20, y_subdivisions=25, size=4.0)
    grid = bpy.context.object
    grid.modifiers.new("Subsurf", 'SUBSURF').levels = 1
    grid.shape_key_add(name="Basis")
    bumps = grid.shape_key_add(name="Bumps")
    for point in bumps.data:
        point.co += bumps.data[0].co.__class__(rng.normal(0.0, 0.05, 3))
    reader = MeshReader(grid)
    for weight in np.linspace(0.0, 1.0, 8):
        bumps.value = weight
        graph = bpy.context.evaluated_depsgraph_get()
        whole, place = MeshReader(grid).whole(graph), rng.uniform(-2.0, 2.0, 2)
        corners = whole.vertices[whole.corners][..., :2]
        met = (corners.min(axis=1) <= place + 0.3) & (corners.max(axis=1) >= place - 0.3)
        expected = rows_of(whole, met.all(axis=1))
        near = reader.near(graph, place - 0.3, place + 0.3)
        assert expected <= rows_of(near) and len(expected) > 10
        assert len(near.corners) < len(whole.corners) / 4


def test_other_faces_are_read_anew():
    bpy.ops.mesh.primitive_plane_add(size=2.0)
    plane = bpy.context.object
    array = plane.modifiers.new("Array", 'ARRAY')
    array.count, reader = 2, MeshReader(plane)
    for count in (2, 5, 1, 3):
        array.count = count
        graph = bpy.context.evaluated_depsgraph_get()
        assert len(reader.near(graph, np.full(2, -100.0), np.full(2, 100.0)).corners) == 2 * count
        assert len(reader.near(graph, np.array((50.0, 0.0)), np.array((51.0, 1.0))).corners) == 0
