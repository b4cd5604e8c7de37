# SPDX-License-Identifier: GPL-3.0-or-later
"""`ik2d gather`: the reports of many bakes as one."""

import json
import re
import shutil
from pathlib import Path

import bpy
import pytest
from rigs import add_chain, add_leg, add_target, leg_with_target

from ik2d_addon.cli.program import run


@pytest.fixture(scope="module")
def baked(registered, tmp_path_factory) -> list[Path]:
    """The reports of two bakes: one that reaches its target, one that is 39.5 mm off."""
    folder = tmp_path_factory.mktemp("baked")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    leg_with_target()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 5
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "near.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    add_chain(add_leg(), "shin", add_target({1: (0, 0, 0.05)}))
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 2
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "far.blend"))
    for name in ("near", "far"):
        bake = ["bake", str(folder / f"{name}.blend"), "--report", str(folder / "{name}.json")]
        assert run(bake, opens_scene=True) == 0
    return [folder / "near.json", folder / "far.json"]


@pytest.fixture
def reports(baked, tmp_path) -> list[Path]:
    """Copies of these reports, to be changed and removed."""
    return [Path(shutil.copy(path, tmp_path)) for path in baked]


def gather(*arguments) -> int:
    """Gather through the door of the module."""
    return run(["gather", *map(str, arguments)], opens_scene=True)


@pytest.mark.slow
def test_all_reports_are_one_with_what_counts(reports, tmp_path):
    summary = tmp_path / "all.json"
    assert gather(*reports, "--report", summary) == 0
    content = json.loads(summary.read_text(encoding="utf-8"))
    assert content["complete"] and not content["all_reached"]
    near, far = content["files"]
    assert (near["file"], far["file"]) == ("near.blend", "far.blend")
    assert content["max_error"] == far["max_error"] == pytest.approx(0.0395, abs=1e-3)
    (chain,) = near["chains"]
    assert (chain["frames"], chain["keys"], chain["first_frame"], chain["last_frame"]) == (5, 5, 1, 5)
    assert (chain["armature"], chain["name"]) == ("Rig", "shin")


def test_max_error_decides_and_names_the_files(reports, capsys):
    assert gather(*reports, "--max-error", "0.05") == 0
    assert gather(*reports, "--max-error", "0.03") == 1
    told = capsys.readouterr()
    assert "over --max-error 0.03: far.blend" in told.err
    assert re.search(r"its target is 0\.039\d+ units, in far\.blend", told.out)
    assert gather(reports[0], "--max-error", "0.03") == 0


def test_strict_names_the_files_that_miss(reports, capsys):
    assert gather(reports[0], "--strict") == 0
    assert gather(*reports, "--strict", "--max-error", "9") == 1
    assert "ik2d: --strict does not hold: far.blend" in capsys.readouterr().err


def test_a_chain_that_is_fk_on_all_frames_is_never_near_enough(reports, capsys):
    content = json.loads(reports[0].read_text(encoding="utf-8"))
    (chain,) = content["armatures"][0]["chains"]
    for fk, code in ((0, 0), (4, 0), (5, 1), (None, 0)):
        chain["fk_frames"] = fk
        if fk is None:  # as in reports of 1.0
            del chain["fk_frames"]
        reports[0].write_text(json.dumps(content), encoding="utf-8")
        assert (
            gather(reports[0], "--strict", "--max-error", "9", "--report", reports[0].parent / "all.json")
            == code
        )
        told = json.loads((reports[0].parent / "all.json").read_text(encoding="utf-8"))
        assert told["files"][0]["chains"][0]["fk_frames"] == (fk or 0)
    words = "ik2d: chains FK on all frames, so --max-error does not hold: near.blend"
    assert capsys.readouterr().err.splitlines().count(words) == 1


@pytest.mark.parametrize("fault", ["left_out", "forced"])
def test_what_was_left_out_or_forced_is_never_near_enough(reports, fault, capsys):
    content = json.loads(reports[0].read_text(encoding="utf-8"))
    holder = content["armatures"][0]
    (holder if fault == "left_out" else holder["chains"][0])[fault] = ["a sentence"]
    reports[0].write_text(json.dumps(content), encoding="utf-8")
    assert gather(reports[0], "--max-error", "9") == 1
    assert "does not hold: near.blend" in capsys.readouterr().err
    assert gather(reports[0]) == 0


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "{}",
        "[]",
        "7",
        '{"file": "a.blend", "armatures": []}',
        '{"file": "a.blend", "armatures": [{"chains": []}]}',
        "[" * 100_000,
        "\udcff",
    ],
)
def test_missing_and_broken_reports_are_named(reports, tmp_path, text, capsys):
    broken, summary = tmp_path / "broken.json", tmp_path / "all.json"
    if text is not None:
        broken.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert gather(*reports, broken, "--max-error", "9", "--report", summary) == 2
    told = capsys.readouterr()
    assert f"the report '{broken}'" in told.err and "1 of 3 reports missing or broken" in told.err
    assert "near.blend: " in told.out
    content = json.loads(summary.read_text(encoding="utf-8"))
    assert not content["complete"] and "problem" in content["files"][2]


@pytest.mark.parametrize("distance", ["NaN", "-1", "true", '"0.1"', "null", "1e999"])
def test_a_distance_that_is_none_is_a_broken_report(reports, distance, capsys):
    content = json.loads(reports[0].read_text(encoding="utf-8"))
    content["armatures"][0]["max_error"] = "HERE"
    reports[0].write_text(json.dumps(content).replace('"HERE"', distance), encoding="utf-8")
    assert gather(*reports) == 2
    assert "near.json" in capsys.readouterr().err


def test_no_report_that_is_gathered_is_overwritten(reports, capsys):
    before = reports[0].read_bytes()
    assert gather(*reports, "--report", reports[0]) == 2
    assert "would overwrite a report" in capsys.readouterr().err
    assert reports[0].read_bytes() == before
