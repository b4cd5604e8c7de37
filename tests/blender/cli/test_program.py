# SPDX-License-Identifier: GPL-3.0-or-later
"""How the program ends: an exit code and one sentence for each way."""

import os
import subprocess
import sys

import pytest
from programs import ROOT, bake_here, command, in_shell, is_baked, leg_file

from ik2d_addon.bake import BakeOptions
from ik2d_addon.bake.playback import VERIFY_ALL, VERIFY_NOTHING, VERIFY_SAMPLE
from ik2d_addon.cli.commands import bake
from ik2d_addon.cli.files import files
from ik2d_addon.cli.parser import parsed
from ik2d_addon.cli.program import run

ODD_ARGUMENTS = [
    ["--frames=--"],
    ["--output=--"],
    ["--frames", "1:2:0.5"],
    ["--frames", "1.5:3"],
    ["--frames", "1_0:20"],
    ["--frames", "١:٣"],
    ["--frames", " 1:3"],
    ["--frames", "1:" + "9" * 5000],
    ["--max-error", "nan"],
    ["--reduce", "inf"],
    ["--output", "a\0b"],
    ["--output", "x" * 5000],
    ["--report", "x" * 300 + ".json"],
    ["--output", "f/" * 600 + "x.blend"],
]


@pytest.mark.parametrize("arguments", ODD_ARGUMENTS, ids=lambda a: " ".join(a)[:30].replace("\0", "0"))
def test_arguments_that_make_no_sense_are_one_line(tmp_path, capsys, arguments):
    scene = leg_file(tmp_path)
    before = scene.read_bytes()
    capsys.readouterr()
    assert bake_here(scene, *arguments) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "Read blend" not in line]
    assert line.startswith("ik2d: error: ") and len(line) < 6000
    assert scene.read_bytes() == before and os.listdir(tmp_path) == ["leg.blend"]


def test_frames_beyond_blenders_are_refused(tmp_path, capsys):
    scene = leg_file(tmp_path)
    for frames in ("1:1048575", "-1048575:1", "1:100000000"):
        assert bake_here(scene, "--frames", frames) == 2
        assert "1048574" in capsys.readouterr().err


def test_an_unexpected_error_asks_for_a_report(tmp_path, capsys, monkeypatch):
    scene = leg_file(tmp_path)
    before = scene.read_bytes()

    def broken(*_):
        raise ZeroDivisionError("something\nodd")

    monkeypatch.setattr(bake, "armatures_of", broken)
    capsys.readouterr()
    assert bake_here(scene) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert "unexpected: ZeroDivisionError: something\\nodd; please report it" in line
    assert bake_here(scene, "--debug") == 3
    told = capsys.readouterr().err
    assert "Traceback" in told and "in broken" in told
    assert scene.read_bytes() == before and os.listdir(tmp_path) == ["leg.blend"]


@pytest.mark.slow
def test_a_file_that_another_run_is_writing_is_refused(tmp_path, capsys):
    scene = leg_file(tmp_path)
    before = scene.read_bytes()
    with files.locked(str(scene)):
        done = in_shell('"$@"', "bake", scene)
        assert done.returncode == 2
        assert b"is being written by another ik2d process; wait until it has ended" in done.stderr
        out = tmp_path / "out.blend"
        assert in_shell('"$@"', "bake", scene, "--output", out).returncode == 0  # it is only read
    assert scene.read_bytes() == before
    assert bake_here(scene) == 0


@pytest.mark.slow
def test_two_at_once_leave_a_whole_file(tmp_path):
    for number in range(3):
        scene = leg_file(tmp_path, f"{number}.blend")
        runs = [subprocess.Popen(command("bake", scene), cwd=ROOT, stderr=subprocess.PIPE) for _ in "ab"]
        ends = [(run.communicate(timeout=120)[1], run.returncode) for run in runs]
        assert {code for _, code in ends} <= {0, 2} and 0 in {code for _, code in ends}
        assert all(b"another ik2d process" in words for words, code in ends if code == 2)
        assert is_baked(scene)
        assert sorted(path.name for path in tmp_path.glob(f"*{number}.blend*")) == [
            f"{number}.blend",
            f"{number}.blend1",
        ]
        assert not list(tmp_path.glob(".*"))


def test_a_file_that_was_written_since_blender_opened_it_is_not_overwritten(tmp_path, capsys, monkeypatch):
    import bpy

    from ik2d_addon.cli.files import scene as scene_module

    path = leg_file(tmp_path)
    bpy.ops.wm.open_mainfile(filepath=str(path))  # as Blender does before --command
    assert run(["bake", "--frames", "1:3", "--output", str(path)]) == 0  # seen as it was
    bpy.ops.wm.open_mainfile(filepath=str(path))
    newer = path.read_bytes() + b"\0"
    path.write_bytes(newer)
    assert run(["bake"]) == 2
    assert "was written since Blender opened it" in capsys.readouterr().err
    assert path.read_bytes() == newer
    assert scene_module._found


def test_importing_the_command_line_needs_no_blender():
    code = "import sys; import ik2d_addon.cli.signals, ik2d_addon.cli.session; print('bpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.slow
def test_what_is_blocked_stops_a_bake_unless_it_is_forced(tmp_path, capsys):
    import bpy

    path = leg_file(tmp_path)
    target = bpy.data.objects["Target"]
    target.animation_data_clear()
    target.driver_add("location", 2).driver.expression = "0.3 + 0 * len(str(frame.__class__))"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    before = path.read_bytes()
    arguments = path, "--max-error", "1000", "--output", tmp_path / "out.blend"
    assert in_shell('"$@"', "bake", *arguments).returncode == 2
    assert path.read_bytes() == before
    done = in_shell('"$@"', "bake", *arguments, "--force")
    assert done.returncode == 1 and b"so --max-error does not hold" in done.stderr
    assert b"warning: " in done.stderr and b"is blocked" in done.stderr
    assert in_shell('"$@"', "bake", path, "--force").returncode == 0
    assert in_shell('"$@"', "bake", path, "-y", "--max-error", "1").returncode == 0


# --- Help ---------------------------------------------------------------------

WITHOUT_BLENDER = """
import runpy, sys
sys.argv = ["ik2d_addon", *{words}]
sys.modules["bpy"] = sys.modules["numpy"] = None  # importing either fails
runpy.run_module("ik2d_addon", run_name="__main__")
"""


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["list", "--help"], ["bake", "a.blend", "-h"]])
def test_help_needs_neither_blender_nor_numpy(words):
    code = WITHOUT_BLENDER.format(words=words)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith("usage: python -m ik2d_addon")


def test_help_after_words_that_make_no_sense_says_so():
    words = [sys.executable, "-m", "ik2d_addon", "list", "--json=--", "--help"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == "ik2d: error: --json is given without a value; --help lists the options\n"


def test_verify_takes_what_a_bake_knows():
    for word in (VERIFY_SAMPLE, VERIFY_ALL, VERIFY_NOTHING):
        assert parsed(["bake", "--verify", word], opens_scene=False).verify == word
    assert parsed(["bake"], opens_scene=False).verify == BakeOptions().verify
