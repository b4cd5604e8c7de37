# SPDX-License-Identifier: GPL-3.0-or-later
"""Grounds as Blender shows them: heights of objects, triangles of meshes with their modifiers."""

import bpy
import numpy as np
import pytest
from rigs import add_target

from ik2d_addon.rig.scene.feet.surface import Ground, triangles_of

SOLE = np.array([[(0.0, 0.0, 0.1), (0.0, -0.3, -0.05)]])


def level(height, triangles=None, root=1.0):
    return Ground(np.array([(0.0, 0.0, height)]), np.eye(3)[None], triangles, np.array([root]))


def test_only_meshes_have_triangles():
    assert triangles_of(add_target({}, "Floor"), None) is None
    bpy.ops.mesh.primitive_plane_add(size=2.0)
    assert triangles_of(bpy.context.object, None).shape == (2, 3, 3)


def test_modifiers_count():
    bpy.ops.mesh.primitive_plane_add(size=2.0)
    plane = bpy.context.object
    plane.modifiers.new("Array", 'ARRAY').count = 3
    graph = bpy.context.evaluated_depsgraph_get()
    assert triangles_of(plane, graph).shape == (6, 3, 3)
    assert triangles_of(plane, None).shape == (2, 3, 3)


def test_a_height_lifts_the_lowest_point():
    assert level(0.0).lifts(SOLE) == pytest.approx([0.05])
    assert level(-1.0).lifts(SOLE) == pytest.approx([0.0])
    assert np.isnan(level(2.0).lifts(SOLE)).all()


def test_of_two_floors_the_one_below_the_root_counts():
    floor = np.array([[(-5.0, -5.0, 0.0), (5.0, -5.0, 0.0), (0.0, 5.0, 0.0)]])
    both = np.concatenate((floor, floor + (0.0, 0.0, 2.0)))
    assert level(0.0, both).lifts(SOLE) == pytest.approx([0.05])
    assert level(0.0, both, root=3.0).lifts(SOLE) == pytest.approx([2.05])
