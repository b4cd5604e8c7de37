# SPDX-License-Identifier: GPL-3.0-or-later
"""A driver whose F-Curve has keys: the property is the curve at what the expression comes to."""

import bpy
import numpy as np
import pytest

from ik2d_addon.features.native.drivers import handles, write_keys

# Pieces 3 times a power of two long: so Blender finds the place in a piece to rounding.
PLACES = np.array([-96.0, -48.0, -24.0, 0.0, 96.0, 96.1875])


def cubic_values(rng) -> np.ndarray:
    """Return values (k, 4) of pieces that join one another, at thirds."""
    ends = rng.uniform(-3.0, 3.0, len(PLACES))
    middle = rng.uniform(-3.0, 3.0, (len(PLACES) - 1, 2))
    return np.column_stack((ends[:-1], middle, ends[1:]))


def driven() -> tuple[bpy.types.Object, bpy.types.Object, bpy.types.FCurve]:
    """Return an object, another one whose property "y" is the first one's place on X, and its curve."""
    scene = bpy.context.scene
    source, owner = (bpy.data.objects.new(name, None) for name in ("Source", "Owner"))
    for ob in (source, owner):
        scene.collection.objects.link(ob)
    owner["y"] = 0.0
    curve = owner.driver_add('["y"]')
    while len(curve.modifiers):
        curve.modifiers.remove(curve.modifiers[0])
    variable = curve.driver.variables.new()
    variable.name, variable.type = "u", 'TRANSFORMS'
    variable.targets[0].id, variable.targets[0].transform_type = source, 'LOC_X'
    curve.driver.expression = "u"
    assert curve.driver.is_simple_expression
    return source, owner, curve


def played(source, owner, place: float) -> float:
    source.location.x = place
    bpy.context.view_layer.update()
    return owner.evaluated_get(bpy.context.evaluated_depsgraph_get())["y"]


def test_blender_gives_the_cubic_through_the_four_values_of_a_piece():
    rng = np.random.default_rng(4)
    values = cubic_values(rng)
    source, owner, curve = driven()
    write_keys(curve, handles(PLACES, values))
    for piece, (start, end) in enumerate(zip(PLACES[:-1], PLACES[1:], strict=True)):
        cubic = np.polynomial.Polynomial.fit(np.arange(4) / 3.0, values[piece], 3)
        for part in (0.0, 0.05, 1 / 3, 0.4, 0.7, 0.99):
            place = float(np.float32(start + part * (end - start)))
            exact = cubic((place - start) / (end - start))
            near = abs(cubic.deriv()(part)) * 2e-4 / (end - start)  # a place so near to a key counts as its
            assert played(source, owner, place) == pytest.approx(exact, abs=2e-6 + near)


def test_beyond_its_ends_the_curve_stays_where_it_is():
    values = cubic_values(np.random.default_rng(5))
    source, owner, curve = driven()
    write_keys(curve, handles(PLACES, values))
    assert played(source, owner, -500.0) == pytest.approx(values[0, 0], abs=1e-6)
    assert played(source, owner, 500.0) == pytest.approx(values[-1, 3], abs=1e-6)


def test_keys_that_were_there_are_gone():
    source, owner, curve = driven()
    curve.keyframe_points.add(3)
    write_keys(curve, handles(np.array([0.0, 3.0]), np.full((1, 4), 2.0)))
    assert [tuple(key.co) for key in curve.keyframe_points] == [(0.0, 2.0), (3.0, 2.0)]
    assert played(source, owner, 1.0) == 2.0
