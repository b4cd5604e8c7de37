# SPDX-License-Identifier: GPL-3.0-or-later
"""Enabling, disabling and enabling the add-on again."""

import bpy
import pytest

import ik2d_addon

OPERATORS = ("chain_add", "chain_remove", "solve", "bake")


def registered_names() -> set[str]:
    """Return what Blender knows of ours: classes, operators and the properties' owner."""
    classes = {name for name in dir(bpy.types) if name.startswith("IK2D_")}
    operators = {f"ik2d.{name}" for name in dir(bpy.ops.ik2d)}
    return classes | operators | ({"Object.ik2d"} if hasattr(bpy.types.Object, "ik2d") else set())


def test_rig_settings_operators_and_panel_are_registered() -> None:
    expected = {"Object.ik2d", "IK2D_PT_main", *(f"ik2d.{name}" for name in OPERATORS)}
    assert expected <= registered_names()


def test_unregister_removes_everything_and_register_brings_it_back() -> None:
    before = registered_names()
    ik2d_addon.unregister()
    try:
        without = registered_names()
    finally:
        ik2d_addon.register()
    assert without == set()
    assert registered_names() == before


def test_registering_twice_fails_loudly_and_changes_nothing() -> None:
    before = registered_names()
    with pytest.raises(ValueError, match="already registered"):
        ik2d_addon.register()
    assert registered_names() == before


def test_settings_survive_while_the_add_on_is_disabled() -> None:
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    rig.ik2d.chains.add().tip = "shin"
    ik2d_addon.unregister()
    ik2d_addon.register()
    assert [chain.tip for chain in rig.ik2d.chains] == ["shin"]
