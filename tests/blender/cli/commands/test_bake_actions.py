# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes of all actions from the command line: by action, paired, checked, listed, whole or not at all."""

import csv
import json
import os
import signal
import subprocess
from pathlib import Path
from time import monotonic

import bpy
import pytest
from clip_rigs import CLIPS, add_clips, everything, misses, part
from programs import ROOT, python_in_blender

from ik2d_addon.cli.program import run
from ik2d_addon.rig.animation.versions import assign_action

NAMES = [f"{clip} Rig" for clip in sorted(CLIPS)]
LONG = 120


def ik2d(*words: object) -> int:
    """Run the command line; return the exit code."""
    return run([*map(str, words)], opens_scene=True)


@pytest.fixture
def clips_file(tmp_path) -> Path:
    """A .blend with a leg of three clips, of which none is assigned but the target's walk."""
    _, target = add_clips()
    assign_action(target.animation_data_create(), bpy.data.actions["Walk Rig targets"], f"OB{target.name}")
    path = tmp_path / "clips.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def test_all_actions_are_baked_and_told_by_action(clips_file, tmp_path, capsys):
    report = tmp_path / "r.json"
    assert ik2d("bake", clips_file, "--actions", "all", "--report", report, "--strict") == 0
    out = capsys.readouterr().out
    assert "ik2d: Rig: Baked 38 frames in 3 actions on 1 chain; every target reached" in out
    for name in NAMES:
        assert f"ik2d:   {name}, 1 to {CLIPS[name.split()[0]][0]}: Baked" in out
    (told,) = json.loads(report.read_text())["armatures"]
    assert "chains" not in told and told["all_reached"]
    assert [(clip["action"], clip["source_action"]) for clip in told["by_action"]] == list(
        zip(NAMES, NAMES, strict=True)
    )
    bpy.ops.wm.open_mainfile(filepath=str(clips_file))
    armature, target = bpy.data.objects["Rig"], bpy.data.objects["Rig's foot"]
    assert target.animation_data.action.name == "Walk Rig targets"
    for clip, (last, *_) in CLIPS.items():
        plays = {
            armature: bpy.data.actions[f"{clip} Rig"],
            target: bpy.data.actions[f"{clip} Rig targets"],
        }
        assert misses(armature, plays, last) < 2e-6


def test_new_actions_are_told_with_what_they_are_copies_of(clips_file, tmp_path, capsys):
    report = tmp_path / "r.csv"
    words = ["--actions", "Run Rig", "Idle Rig", "--into", "new", "--report", report]
    assert ik2d("bake", clips_file, *words) == 0
    assert "ik2d:   Run Rig baked (of Run Rig), 1 to 12: " in capsys.readouterr().out
    rows = list(csv.DictReader(report.read_text().splitlines()))
    assert [row["action"] for row in rows] == ["Run Rig baked"] * 12 + ["Idle Rig baked"] * 10
    assert (rows[0]["armature"], rows[0]["chain"], rows[0]["frame"]) == ("Rig", "shin", "1")
    bpy.ops.wm.open_mainfile(filepath=str(clips_file))
    assert {action.name for action in bpy.data.actions} >= {"Run Rig baked", "Idle Rig baked", *NAMES}
    assert bpy.data.objects["Rig"].animation_data is None


def test_new_actions_are_assigned_where_that_is_asked_for(clips_file, capsys):
    bpy.ops.wm.open_mainfile(filepath=str(clips_file))
    assign_action(bpy.data.objects["Rig"].animation_data_create(), bpy.data.actions["Walk Rig"], "OBRig")
    bpy.ops.wm.save_mainfile()
    for words, played in (([], "Walk Rig"), (["--assign-baked"], "Walk Rig baked")):
        assert ik2d("bake", clips_file, "--actions", "all", "--into", "new", *words) == 0
        bpy.ops.wm.open_mainfile(filepath=str(clips_file))
        assert bpy.data.objects["Rig"].animation_data.action.name == played
    assert ik2d("bake", clips_file, "--into", "new", "--frames", "1:16") == 0
    assert "; its keys are in 'Walk Rig baked'" in capsys.readouterr().out


def test_pairs_are_given_by_name(clips_file, capsys):
    bpy.ops.wm.open_mainfile(filepath=str(clips_file))
    part("Run Rig", bpy.data.objects["Rig"])
    bpy.ops.wm.save_mainfile()
    before = clips_file.read_bytes()
    assert ik2d("bake", clips_file, "--actions", "all") == 2
    assert "No action of 'Rig's foot' is known to go with 'Run Rig'" in capsys.readouterr().err
    assert ik2d("bake", clips_file, "--pair", "Run Rig=Sprint") == 2
    assert "--pair goes with --actions" in capsys.readouterr().err
    assert clips_file.read_bytes() == before
    assert ik2d("bake", clips_file, "--actions", "all", "--pair", "Run Rig=Sprint") == 0


@pytest.mark.parametrize("words", [["--strict"], ["--max-error", "0.01"]])
def test_limits_count_all_actions(clips_file, capsys, words):
    bpy.ops.wm.open_mainfile(filepath=str(clips_file))
    action = bpy.data.actions["Idle Rig targets"]
    holder = action if hasattr(action, "fcurves") else action.layers[0].strips[0].channelbags[0]
    holder.fcurves.find("location", index=2).keyframe_points[1].co.y = -5.0
    bpy.ops.wm.save_mainfile()
    assert ik2d("bake", clips_file, "--actions", "Walk Rig", *words) == 0
    capsys.readouterr()
    for command in ("check", "bake"):
        assert ik2d(command, clips_file, "--actions", "all", *words) == 1
        assert "'Idle Rig'" in capsys.readouterr().out


def test_a_check_tells_each_action_and_saves_nothing(clips_file, capsys):
    before = clips_file.read_bytes()
    assert ik2d("check", clips_file, "--actions", "all", "--into", "new") == 0
    out = capsys.readouterr().out
    assert "Nothing would stop a bake of 38 frames in 3 actions" in out
    assert "  Walk Rig baked (of Walk Rig), 1 to 16: Nothing would stop a bake of 16 frames" in out
    assert ik2d("check", clips_file, "--actions", "Jump") == 2
    assert "There is no action 'Jump'" in capsys.readouterr().err
    assert clips_file.read_bytes() == before


def test_the_list_has_the_actions_with_frames_and_pairs(clips_file, capfd):
    assert ik2d("list", clips_file) == 0
    lines = [" ".join(line.split()) for line in capfd.readouterr().out.splitlines()]
    assert "action frames with" in lines
    assert "Walk Rig 1 to 16, a loop Rig's foot: Walk Rig targets" in lines
    part("Run Rig", bpy.data.objects["Rig"])
    bpy.ops.wm.save_mainfile()
    assert ik2d("list", clips_file, "--json") == 0
    out = capfd.readouterr().out
    (entry,) = json.loads(out[out.index('{\n "files"') :])["files"]
    (armature,) = entry["armatures"]
    assert armature["actions"] == [
        {
            "name": f"{clip} Rig",
            "frames": [1, CLIPS[clip][0]],
            "cyclic": CLIPS[clip][2],
            "with": {"Rig's foot": f"{clip} Rig targets"},
        }
        for clip in ("Idle", "Walk")
    ]
    (problem,) = armature["action_problems"]
    assert "'Run Rig'" in problem


def test_reports_by_action_are_gathered(clips_file, tmp_path, capsys):
    report, whole = tmp_path / "r.json", tmp_path / "all.json"
    assert ik2d("bake", clips_file, "--actions", "all", "--report", report) == 0
    assert ik2d("gather", report, "--strict", "--report", whole) == 0
    (entry,) = json.loads(whole.read_text())["files"]
    assert [(chain["action"], chain["last_frame"]) for chain in entry["chains"]] == [
        (name, CLIPS[name.split()[0]][0]) for name in NAMES
    ]
    assert "1 reports" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.skipif("blender" in bpy.app.binary_path, reason="it needs Python with the module bpy")
def test_several_files_are_told_of_the_actions(clips_file, tmp_path, capsys):
    other = tmp_path / "other.blend"
    other.write_bytes(clips_file.read_bytes())
    words = [
        "--actions",
        "all",
        "--into",
        "new",
        "--jobs",
        "2",
        "--output",
        str(tmp_path / "out_{name}.blend"),
    ]
    assert ik2d("bake", *words, clips_file, other) == 0
    out = capsys.readouterr().out
    assert out.count("Baked 38 frames in 3 actions") >= 2 and "2 files: 2 reached" in out


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
def test_a_kill_in_mid_run_leaves_the_file_as_it_was(clips_file, tmp_path):
    bpy.ops.wm.open_mainfile(filepath=str(clips_file))
    # It limits nothing, but has Blender step through all frames, which takes minutes.
    bpy.data.objects["Rig's foot"].constraints.new('LIMIT_LOCATION')
    for name in NAMES:
        bpy.data.actions[name].frame_end = 60000
    bpy.ops.wm.save_as_mainfile(filepath=str(clips_file), copy=False)
    before, contents = clips_file.read_bytes(), everything()
    words = ["bake", str(clips_file), "--actions", "all", "--into", "new"]
    code = "; ".join(
        (
            "import ik2d_addon",
            "ik2d_addon.register()",
            "from ik2d_addon.cli.program import run",
            f"run({words}, opens_scene=True)",
        )
    )
    process = subprocess.Popen(
        python_in_blender(code),
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    end = monotonic() + LONG
    for line in process.stdout:  # "Rig: 40 of 180000 frames": it bakes
        if " of 180000 frames" in line or monotonic() > end:
            break
    assert process.poll() is None
    process.kill()
    process.communicate(timeout=LONG)
    assert process.returncode == -signal.SIGKILL
    assert clips_file.read_bytes() == before
    bpy.ops.wm.open_mainfile(filepath=str(clips_file))
    assert everything() == contents
    for name in NAMES:
        bpy.data.actions[name].frame_end = 5
    bpy.ops.wm.save_mainfile()
    assert ik2d("bake", clips_file, "--actions", "all") == 0
    assert not list(tmp_path.glob(".ik2d-*"))
