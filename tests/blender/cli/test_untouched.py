# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake in place changes the keys of the chains' bones and their results, and nothing else in the file."""

from pathlib import Path

import bpy
import pytest
from rigs import leg_with_target
from users_scenes import (
    SCENES,
    STEPPED_THROUGH,
    a_library,
    changed_by_baking,
    moved_by_hand_and_not_keyed,
    reads_the_scene,
    save,
    start_anew,
    windows_of_ones_own,
)

from ik2d_addon.cli.program import run


def save_again(path: Path) -> None:
    start_anew()
    bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=True)
    compressed = path.read_bytes()[:7] != b"BLENDER"
    save(path, copy=True, compress=compressed, relative_remap=False)


def bake_in_place(path: Path, *options: str) -> None:
    start_anew()
    assert run(["bake", str(path), "--frames", "1:40", *options], opens_scene=True) == 0


@pytest.mark.slow
@pytest.mark.parametrize("add", SCENES, ids=lambda add: add.__name__)
def test_only_the_keys_and_the_results_change(add, tmp_path: Path) -> None:
    leg_with_target()
    add(tmp_path)
    assert changed_by_baking(save(tmp_path / "scene.blend"), bake_in_place, save_again) == {}


@pytest.mark.slow
@pytest.mark.parametrize("compress", [False, True])
def test_one_file_with_all_of_it(compress: bool, tmp_path: Path) -> None:
    leg_with_target()
    for add in (add for add in SCENES if add is not a_library):
        add(tmp_path)
    assert (
        changed_by_baking(save(tmp_path / "scene.blend", compress=compress), bake_in_place, save_again) == {}
    )


@pytest.mark.slow
@pytest.mark.parametrize("add", STEPPED_THROUGH, ids=lambda add: add.__name__)
def test_nothing_else_changes_where_the_full_scene_is_stepped_through(add, tmp_path: Path) -> None:
    leg_with_target()
    reads_the_scene()
    add(tmp_path)
    assert changed_by_baking(save(tmp_path / "scene.blend"), bake_in_place, save_again) == {}


@pytest.mark.slow
@pytest.mark.parametrize("full_scene", [False, True])
def test_an_armature_of_a_scene_that_is_not_shown(full_scene: bool, tmp_path: Path) -> None:
    leg_with_target()
    if full_scene:
        reads_the_scene()
    moved_by_hand_and_not_keyed(tmp_path)
    bpy.context.scene.frame_set(17, subframe=0.5)
    bpy.data.objects["Target"].location.x = 4.0
    shown = bpy.data.scenes.new("Shown")
    shown.frame_current = 3
    bpy.context.window.scene = shown
    path = save(tmp_path / "scene.blend")
    assert changed_by_baking(path, lambda path: bake_in_place(path, "--armature", "Rig"), save_again) == {}


@pytest.mark.slow
def test_a_file_that_was_opened_without_its_windows_is_not_saved(tmp_path: Path, capsys) -> None:
    leg_with_target()
    windows_of_ones_own(tmp_path)
    path = save(tmp_path / "scene.blend")
    whole = path.read_bytes()
    bpy.context.preferences.filepaths.use_load_ui = False
    bpy.ops.wm.open_mainfile(
        filepath=str(path), load_ui=False
    )  # as Blender then opens what it is started with
    for output in ([], ["--output", str(tmp_path / "out.blend")]):
        assert run(["bake", *output]) == 2
        assert "without its windows" in capsys.readouterr().err
    assert path.read_bytes() == whole and not (tmp_path / "out.blend").exists()
    assert run(["bake", str(path)]) == 0  # named, it is opened with them
    assert bpy.context.window.workspace.name == "My Own Workspace"
