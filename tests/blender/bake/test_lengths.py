# SPDX-License-Identifier: GPL-3.0-or-later
"""Lengths in the scene's units."""

from ik2d_addon.bake.lengths import length_text


def test_lengths_are_in_the_scenes_units():
    assert length_text(0.12, 'METRIC') == "12 cm"
    assert length_text(1.5, 'IMPERIAL').endswith("'") or "\"" in length_text(1.5, 'IMPERIAL')
    assert length_text(0.12, 'NONE') == "0.12 units"
    assert [length_text(0.0, system) for system in ('METRIC', 'IMPERIAL', 'NONE')] == ["0 m", "0'", "0 units"]


def test_no_length_but_zero_is_said_to_be_zero():
    assert length_text(3e-7, 'METRIC') == "300 nm" and length_text(3e-9, 'METRIC') == "3 nm"
    assert length_text(-3e-7, 'METRIC') == "-300 nm"
    assert length_text(3.048e-8, 'IMPERIAL') == "1e-07'"
    assert length_text(3e-7, 'NONE') == "3e-07 units"
