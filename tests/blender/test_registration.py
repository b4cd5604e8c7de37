# SPDX-License-Identifier: GPL-3.0-or-later
"""Enabling, disabling and enabling the add-on again."""

import shutil
import subprocess
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import bpy
import pytest
from programs import python_in_blender

import ik2d_addon
from ik2d_addon.features.setup import menus
from ik2d_addon.features.tip_angle import settings as tip_angle
from ik2d_addon.ui import registration

OPERATORS = ("chain_add", "chain_remove", "solve", "bake")


def registered_names() -> set[str]:
    """Return what Blender knows of ours: classes, operators and the properties' owner."""
    classes = {name for name in dir(bpy.types) if name.startswith("IK2D_")}
    operators = {f"ik2d.{name}" for name in dir(bpy.ops.ik2d)}
    return classes | operators | ({"Object.ik2d"} if hasattr(bpy.types.Object, "ik2d") else set())


def test_rig_settings_operators_and_panel_are_registered() -> None:
    expected = {"Object.ik2d", "IK2D_PT_main", *(f"ik2d.{name}" for name in OPERATORS)}
    assert expected <= registered_names()


def test_what_one_feature_needs_is_loaded_when_it_is_first_used() -> None:
    # Ended by hand: bpy as a module may crash at Python's own exit.
    code = (
        "import os, sys, bpy, ik2d_addon; ik2d_addon.register(); print(*sys.modules, flush=True);"
        " ik2d_addon.unregister(); os._exit(0)"
    )
    loaded = subprocess.run(
        python_in_blender(code), capture_output=True, text=True, check=True, timeout=120
    ).stdout.split()
    assert "ik2d_addon.live.registry" in loaded
    late = {"cli.program", "features.adopt.adopt", "features.match.match", "features.native.build"}
    assert late.isdisjoint(name.removeprefix("ik2d_addon.") for name in loaded)


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
    with pytest.raises(ValueError, match="already (registered|contains)"):  # before and from Blender 5.2
        ik2d_addon.register()
    assert registered_names() == before


@pytest.mark.slow
def test_without_the_folder_of_a_feature_and_its_lines_the_rest_works(tmp_path) -> None:
    package = tmp_path / "ik2d_addon"
    shutil.copytree(Path(ik2d_addon.__file__).parent, package, ignore=shutil.ignore_patterns("ccd_steps"))
    lines = (package / "__init__.py").read_text(encoding="utf-8").splitlines(keepends=True)
    left = [line for line in lines if ".features.ccd_steps." not in line]
    assert len(lines) - len(left) == 2
    (package / "__init__.py").write_text("".join(left), encoding="utf-8")
    here = str(Path(__file__).parent)
    code = f"sys.path.insert(0, {here!r}); import without_a_feature as one; one.use('ccd_steps')"
    told = subprocess.run(python_in_blender(code), cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert "works" in told.stdout.splitlines(), told.stdout + told.stderr


def test_settings_survive_while_the_add_on_is_disabled() -> None:
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    rig.ik2d.chains.add().tip = "shin"
    ik2d_addon.unregister()
    ik2d_addon.register()
    assert [chain.tip for chain in rig.ik2d.chains] == ["shin"]


def test_settings_of_a_feature_go_with_it_and_their_values_come_back() -> None:
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    chain = rig.ik2d.chains.add()
    chain.tip_angle_offset = 0.5
    tip_angle.unregister()
    try:
        there = hasattr(chain, "tip_angle_offset")
    finally:
        tip_angle.register()
    assert not there and chain.tip_angle_offset == 0.5


def failing_at(monkeypatch: pytest.MonkeyPatch, owner: object, name: str, call: int) -> None:
    """Have the call of that number (from 0) of a function fail, and all others do as before."""
    real, calls = getattr(owner, name), []

    def sometimes(*arguments, **named):
        calls.append(arguments)
        if len(calls) == call + 1:
            raise ValueError("as the test wants")
        return real(*arguments, **named)

    monkeypatch.setattr(owner, name, sometimes)


def menu_entries() -> int:
    """Return how many entries other code has added to the menus that show ours."""
    names = ("VIEW3D_MT_pose", "VIEW3D_MT_object")
    return sum(len(getattr(getattr(bpy.types, name).draw, "_draw_funcs", ())) for name in names)


def classes_registered() -> int:
    """Return how many classes the add-on registers."""
    parts = [import_module(name, ik2d_addon.__name__) for name in ik2d_addon._MODULES]
    return sum(len(part.classes) for part in parts if hasattr(part, "classes"))


FAILURES = [(bpy.utils, "register_class", call) for call in range(classes_registered())] + [
    *((registration, "hang", call) for call in range(8)),
    (bpy.utils, "register_cli_command", 0),
]


@pytest.mark.parametrize(("owner", "name", "call"), FAILURES)
def test_a_failed_register_undoes_what_it_did_and_the_next_one_works(owner, name, call, monkeypatch) -> None:
    before, entries = registered_names(), menu_entries()
    ik2d_addon.unregister()
    try:
        with monkeypatch.context() as patch:
            failing_at(patch, owner, name, call)
            with pytest.raises(ValueError, match="as the test wants"):
                ik2d_addon.register()
        without, entries_without = registered_names(), menu_entries()
    finally:
        try:
            ik2d_addon.register()
        except ValueError:  # half of it is still there: the test has failed, those after it go on
            with suppress(Exception):
                ik2d_addon.unregister()
    assert without == set()
    assert registered_names() == before
    assert entries_without < menu_entries() == entries


def test_a_menu_that_is_not_there_undoes_all_too(monkeypatch) -> None:
    before = registered_names()
    ik2d_addon.unregister()
    try:
        with monkeypatch.context() as patch:
            patch.setattr(menus, "MENUS", (*menus.MENUS, ("VIEW3D_MT_gone", menus.draw_menu)))
            with pytest.raises(AttributeError, match="VIEW3D_MT_gone"):
                ik2d_addon.register()
        without, entries = registered_names(), menu_entries()
    finally:
        ik2d_addon.register()
    assert without == set()
    assert registered_names() == before
    assert entries < menu_entries()
