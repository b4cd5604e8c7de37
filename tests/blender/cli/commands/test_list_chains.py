# SPDX-License-Identifier: GPL-3.0-or-later
"""`ik2d list`: what is in the files, for people and for programs."""

import json
import subprocess
import sys
from pathlib import Path

import bpy
import pytest
from rigs import add_chain, add_leg, add_target, leg_with_target

from ik2d_addon.cli.commands import list_chains
from ik2d_addon.cli.program import run

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture
def scene_file(tmp_path) -> Path:
    """A .blend with one armature of three chains, one of them faulty, one disabled, and an idle one."""
    armature, target = leg_with_target()
    add_chain(armature, "toe", target, name="No tip")
    add_chain(armature, "thigh", armature, bone_count=1, name="Off", subtarget="body", enabled=False)
    add_leg("Idle")
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 3, 40
    path = tmp_path / "leg.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def as_program(*arguments) -> subprocess.CompletedProcess[str]:
    """Run the module as a program."""
    command = [sys.executable, "-m", "ik2d_addon", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.slow
def test_json_has_stdout_for_itself_and_names_everything(scene_file):
    before = scene_file.read_bytes()
    done = as_program("list", scene_file, "--json")
    assert done.returncode == 0, done.stderr
    (entry,) = json.loads(done.stdout)["files"]
    assert entry["file"] == str(scene_file) and entry["read"] and entry["problems"] == []
    assert entry["frames"] == [3, 40]
    rig, idle = sorted(entry["armatures"], key=lambda armature: armature["name"], reverse=True)
    assert idle == {"name": "Idle", "frames": [3, 40], "chains": [], "mechanisms": [], "problems": []}
    assert rig["name"] == "Rig" and rig["frames"] == [3, 40]
    leg, lost, off = rig["chains"]
    assert leg == {
        "name": "shin",
        "enabled": True,
        "tip": "shin",
        "bones": ["thigh", "shin"],
        "solver": "TWO_BONE",
        "target": "Target",
        "plane": "AUTO",
        "pole": None,
        "post": None,
        "other_controls": [],
        "problem": None,
    }
    assert lost["bones"] == [] and "no bone 'toe'" in lost["problem"]
    assert off["enabled"] is False and off["target"] == "Rig/body"
    (problem,) = rig["problems"]
    assert "no bone 'toe'" in problem
    assert scene_file.read_bytes() == before


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_json_that_is_cut_off_is_an_error(scene_file):
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "ik2d_addon", "list", str(scene_file), "--json"]
        done = subprocess.run(
            command, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False
        )
    assert done.returncode == 2
    assert "the list could not be written (No space left on device)" in done.stderr


def test_the_table_has_a_line_for_each_chain(scene_file, capsys):
    assert run(["list", str(scene_file)], opens_scene=True) == 0
    out = capsys.readouterr().out
    assert f"{scene_file}: frames 3 to 40" in out
    (line,) = [line for line in out.splitlines() if line.split()[:1] == ["shin"]]
    assert line.split() == "shin yes shin 2 from thigh TWO_BONE Target".split()
    assert "problem: " in out and "no bone 'toe'" in out
    assert run(["list"]) == 0  # through Blender's own door, the file that is open
    assert capsys.readouterr().out.endswith(out[out.index(f"{scene_file}: ") :])


def test_a_file_that_cannot_be_read_is_exit_code_2_and_the_others_are_listed(scene_file, tmp_path, capsys):
    torn = tmp_path / "torn.blend"
    torn.write_bytes(b"no scene")
    assert run(["list", str(torn), str(scene_file)], opens_scene=True) == 2
    told = capsys.readouterr()
    assert "cannot be opened as a .blend file" in told.err
    assert f"{scene_file}: frames 3 to 40" in told.out


def test_files_without_chains_and_without_a_range_are_listed_too(tmp_path, capsys):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "empty.blend"))
    assert run(["list", str(tmp_path / "empty.blend")], opens_scene=True) == 0
    assert "no armature has chains" in capsys.readouterr().out


def test_names_cannot_act_on_a_terminal(tmp_path, capsys):
    target = add_target({1: (0, 0.2, 0.3)}, "Tar\x1b[2J")
    add_chain(add_leg("größe日本"), "shin", target)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "odd.blend"))
    assert run(["list", str(tmp_path / "odd.blend")], opens_scene=True) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out and "\\x1b[2J" in out and "größe日本" in out


def test_blenders_own_door_wants_an_open_file(capsys):
    assert run(["list"]) == 2
    assert "no .blend file is open" in capsys.readouterr().err


def test_other_controls_of_the_bones_are_listed_while_they_act(tmp_path, capsys):
    armature, _ = leg_with_target()
    add_chain(armature, "thigh", add_target({1: (0, 0, 1)}), bone_count=1, name="Off", enabled=False)
    held = armature.pose.bones["shin"].constraints.new('COPY_ROTATION')
    held.target = add_target({1: (0, 0, 0)}, "Holder")
    path = str(tmp_path / "leg.blend")
    words = (
        "Chain 'shin': bone 'shin' is moved by its own constraint 'Copy Rotation'; mute it for these frames"
    )
    for muted in (False, True):
        armature.pose.bones["shin"].constraints[0].mute = muted
        bpy.ops.wm.save_as_mainfile(filepath=path)
        assert run(["list", path], opens_scene=True) == 0
        assert (f"    other control: {words}" in capsys.readouterr().out) != muted
        armature = bpy.data.objects["Rig"]
        leg, off = list_chains._armature(armature)["chains"]
        assert off["other_controls"] == []
        assert [line.startswith(words) for line in leg["other_controls"]] == [True] * (not muted)
