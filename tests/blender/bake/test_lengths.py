# SPDX-License-Identifier: GPL-3.0-or-later
"""Lengths in the scene's units."""

import bpy

from ik2d_addon.bake.lengths import Units, length_text, rough_length


def test_lengths_are_in_the_scenes_units():
    assert length_text(0.12, Units('METRIC')) == "12 cm"
    assert length_text(1.5, Units('IMPERIAL')).endswith("'") or "\"" in length_text(1.5, Units('IMPERIAL'))
    assert length_text(0.12, Units('NONE')) == "0.12 units"
    assert [length_text(0.0, Units(system)) for system in ('METRIC', 'IMPERIAL', 'NONE')] == [
        "0 m",
        "0'",
        "0 units",
    ]


def test_no_length_but_zero_is_said_to_be_zero():
    assert length_text(3e-7, Units('METRIC')) == "300 nm" and length_text(3e-9, Units('METRIC')) == "3 nm"
    assert length_text(-3e-7, Units('METRIC')) == "-300 nm"
    assert length_text(3.048e-8, Units('IMPERIAL')) == "1e-07'"
    assert length_text(3e-7, Units('NONE')) == "3e-07 units"


def test_lengths_are_scaled_as_blender_scales_them():
    scene = bpy.context.scene
    scene.unit_settings.system, scene.unit_settings.scale_length = 'METRIC', 0.01
    assert length_text(0.12, Units.of(scene)) == "1.2 mm"
    assert length_text(3e-7, Units.of(scene)) == "3 nm"
    scene.unit_settings.system = 'NONE'  # Blender units as they are
    assert length_text(0.12, Units.of(scene)) == "0.12 units"


def test_rough_lengths_are_those_that_people_use():
    metric = Units('METRIC')
    assert [rough_length(length, metric) for length in (2.67e-7, 2.67e-4, 0.012345, 1.234)] == [
        "less than 0.01 mm",
        "0.27 mm",
        "1.2 cm",
        "1.2 m",
    ]
    assert rough_length(0.0, metric) == "less than 0.01 mm"
    assert rough_length(2.67e-4, Units('METRIC', 0.001)) == "less than 0.01 mm"
    assert rough_length(0.0, Units('IMPERIAL')) == "less than 1 thou"
    assert rough_length(0.1234, Units('NONE')) == "0.12 units"
