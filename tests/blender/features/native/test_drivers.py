# SPDX-License-Identifier: GPL-3.0-or-later
"""Drivers that Blender evaluates itself."""

import bpy
import pytest
from rigs import add_target

from ik2d_addon.core import IK2DError
from ik2d_addon.features.native.drivers import Empties, drive, drive_step


def empties():
    stand, probe = add_target({}, "stand"), add_target({}, "probe")
    probe.parent = stand
    return Empties(stand, probe)


def test_steps_are_worked_out_of_one_another_and_of_the_probes_place():
    both = empties()
    both.probe.location, both.stand.location = (3.0, 4.0, 9.0), (7.0, 7.0, 7.0)
    drive_step(both, "d", "sqrt(x*x+y*y)")
    drive_step(both, "e", "d/10")  # within 0..1, where keys of a new driver would round
    bpy.context.view_layer.update()
    assert abs(both.stand["d"] - 5.0) < 1e-6 and abs(both.stand["e"] - 0.5) < 1e-7


def test_another_object_is_driven_too():
    both, other = empties(), add_target({}, "other")
    both.stand["a"] = 0.25
    drive(other, "empty_display_size", "2*a", both)
    bpy.context.view_layer.update()
    assert other.empty_display_size == 0.5


def test_what_blender_would_give_to_python_is_refused():
    both = empties()
    with pytest.raises(IK2DError, match="Python"):
        drive_step(both, "d", "x**2")
