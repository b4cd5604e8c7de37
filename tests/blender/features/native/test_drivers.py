# SPDX-License-Identifier: GPL-3.0-or-later
"""Drivers that Blender evaluates itself."""

import bpy
import numpy as np
import pytest
from rigs import add_target

from ik2d_addon.core import IK2DError
from ik2d_addon.features.native.drivers import Empties, drive, drive_step, handles, write_keys


def empties():
    controls, target_copy = add_target({}, "stand"), add_target({}, "probe")
    target_copy.parent = controls
    return Empties(controls, target_copy)


def test_steps_are_worked_out_of_one_another_and_of_the_probes_place():
    both = empties()
    both.target_copy.location, both.controls.location = (3.0, 4.0, 9.0), (7.0, 7.0, 7.0)
    drive_step(both, "d", "sqrt(x*x+y*y)")
    drive_step(both, "e", "d/10")  # within 0..1, where keys of a new driver would round
    bpy.context.view_layer.update()
    assert abs(both.controls["d"] - 5.0) < 1e-6 and abs(both.controls["e"] - 0.5) < 1e-7


def test_another_object_is_driven_too():
    both, other = empties(), add_target({}, "other")
    both.controls["a"] = 0.25
    drive(other, "empty_display_size", "2*a", both)
    bpy.context.view_layer.update()
    assert other.empty_display_size == 0.5


def test_what_blender_would_give_to_python_is_refused():
    both = empties()
    with pytest.raises(IK2DError, match="Python"):
        drive_step(both, "d", "x**2")


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
