# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line, run as pipelines run it."""

import csv
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import bpy
import pytest
from rigs import (
    add_chain,
    add_leg,
    add_target,
    animation_of,
    evaluated_tip,
    leg_with_target,
    played_back_errors,
)

from ik2d_addon.bake import bake
from ik2d_addon.cli.program import run

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def scene_file(tmp_path) -> Path:
    """A .blend with the leg, frames 1 to 40, with nothing baked."""
    leg_with_target()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 40
    path = tmp_path / "leg.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True)
    return path


def bake_file(*arguments) -> int:
    """Run the command line in this process."""
    return run(["bake", *map(str, arguments)], opens_scene=True)


def refused(capsys, *arguments) -> str:
    """Run with bad input; return the one line of complaint."""
    assert bake_file(*arguments) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("ik2d: ")]
    assert len(lines) == 1 and lines[0].startswith("ik2d: error: ")
    return lines[0]


@pytest.mark.slow
def test_the_module_is_a_program(scene_file, tmp_path):
    out, report = tmp_path / "out.blend", tmp_path / "report.json"
    command = [
        sys.executable,
        "-m",
        "ik2d_addon",
        "bake",
        str(scene_file),
        "--output",
        str(out),
        "--report",
        str(report),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "Baked 40 frames on 1 chain; every target reached" in done.stdout
    assert out.exists() and report.exists()


@pytest.mark.slow
def test_bad_input_as_a_program_is_one_line_and_exit_code_2(tmp_path):
    command = [sys.executable, "-m", "ik2d_addon", "bake", str(tmp_path / "none.blend")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "there is no file" in done.stderr.splitlines()[-1]


def test_output_gets_the_keys_and_the_scene_stays_as_it_was(scene_file, tmp_path):
    before = scene_file.read_bytes()
    out = tmp_path / "out.blend"
    assert bake_file(scene_file, "--output", out) == 0
    assert scene_file.read_bytes() == before
    bpy.ops.wm.open_mainfile(filepath=str(out))
    rig, target = bpy.data.objects["Rig"], bpy.data.objects["Target"]
    for frame in (1, 13, 40):
        bpy.context.scene.frame_set(frame)
        assert (evaluated_tip(rig, "shin") - target.matrix_world.translation).length < 2e-5


@pytest.mark.slow
def test_without_output_the_scene_itself_is_saved(scene_file):
    assert bake_file(scene_file) == 0
    bpy.ops.wm.open_mainfile(filepath=str(scene_file))
    assert animation_of(bpy.data.objects["Rig"])


@pytest.mark.slow
def test_the_same_keys_as_from_python(scene_file):
    assert bake_file(scene_file, "--frames", "3:17:2") == 0
    by_command = animation_of(bpy.data.objects["Rig"])
    bpy.data.objects["Rig"].animation_data_clear()
    bake(bpy.data.objects["Rig"], None, 3, 17, 2)
    assert animation_of(bpy.data.objects["Rig"]) == by_command


@pytest.mark.slow
def test_a_compressed_file_stays_compressed(scene_file, tmp_path):
    plain = tmp_path / "plain.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(plain), compress=False)
    for path in (scene_file, plain):
        start = path.read_bytes()[:4]
        assert bake_file(path) == 0
        assert path.read_bytes()[:4] == start


@pytest.mark.slow
def test_the_report_names_frames_status_and_residual(tmp_path):
    add_chain(add_leg(), "shin", add_target({1: (0, 0, 0.5), 11: (0, 0, -1.5)}))
    scene = tmp_path / "far.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(scene))
    path = tmp_path / "report.json"
    assert bake_file(scene, "--frames", "1:11", "--report", path) == 0
    (armature,) = json.loads(path.read_text())["armatures"]
    (chain,) = armature["chains"]
    assert chain["frames"] == list(range(1, 12))
    assert chain["status"][0] == "REACHED" and chain["status"][-1] == "TOO_FAR"
    assert len(chain["residual"]) == 11
    assert armature["max_residual"] == max(chain["residual"]) > 1.5


@pytest.mark.slow
def test_a_report_that_ends_in_csv_is_a_table_of_the_same_numbers(scene_file, tmp_path):
    table, report = tmp_path / "report.csv", tmp_path / "report.json"
    out = tmp_path / "out.blend"
    for path in (table, report):
        assert bake_file(scene_file, "--frames", "1:9:2", "--output", out, "--report", path) == 0
    with open(table, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    chain = json.loads(report.read_text())["armatures"][0]["chains"][0]
    assert [int(row["frame"]) for row in rows] == chain["frames"] == list(range(1, 10))
    assert chain["keyed"] == [True, False] * 4 + [True]
    assert [row["status"] for row in rows] == chain["status"]
    assert [float(row["residual"]) for row in rows] == chain["residual"]
    assert {(row["armature"], row["chain"]) for row in rows} == {("Rig", "shin")}
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.slow
@pytest.mark.parametrize("asked, looked_at", [("NONE", 0), ("all", 300), ("SAMPLE", 300), (None, 300)])
def test_verify_decides_what_is_played_back(scene_file, tmp_path, asked, looked_at):
    report = tmp_path / "report.json"
    verify = [] if asked is None else ["--verify", asked]
    out = tmp_path / "out.blend"
    assert bake_file(scene_file, "--frames", "1:300", "--output", out, "--report", report, *verify) == 0
    chain = json.loads(report.read_text())["armatures"][0]["chains"][0]
    assert chain["verified"] == (asked or "SAMPLE").upper() and len(chain["played_back"]) == 300
    assert sum(error is not None for error in chain["played_back"]) == looked_at


@pytest.mark.slow
def test_max_error_decides_the_exit_code(tmp_path):
    add_chain(add_leg(), "shin", add_target({1: (0, 0, 0.05)}))  # 39.5 mm too far
    scene = tmp_path / "far.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(scene))
    assert bake_file(scene, "--frames", "1:2", "--max-error", "0.05") == 0
    assert bake_file(scene, "--frames", "1:2", "--max-error", "0.03") == 1
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    assert animation_of(bpy.data.objects["Rig"])  # done, and saved, all the same


@pytest.mark.slow
def test_all_armatures_with_enabled_chains_are_baked_by_default(tmp_path, capsys):
    for name in ("One", "Two", "Idle"):
        add_chain(add_leg(name), "shin", add_target({1: (0, 0.3, 0.5)}, f"{name} target"), name=name)
    bpy.data.objects["Idle"].ik2d.chains[0].enabled = False
    scene = tmp_path / "three.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(scene))
    assert bake_file(scene, "--frames", "1:3") == 0
    assert {o.name for o in bpy.data.objects if animation_of(o)} >= {"One", "Two"}
    assert not animation_of(bpy.data.objects["Idle"])
    for name in ("One", "Two"):
        bpy.data.objects[name].animation_data_clear()
    bpy.ops.wm.save_as_mainfile(filepath=str(scene))
    assert bake_file(scene, "--frames", "1:3", "--chain", "Two") == 0
    assert animation_of(bpy.data.objects["Two"]) and not animation_of(bpy.data.objects["One"])


def add_follower(name: str, height: float = 0.0) -> bpy.types.Object:
    """Add a leg whose armature object stands a bit behind and below the others."""
    leg = add_leg(name)
    leg.location = 0.0, 0.5, height
    return leg


@pytest.mark.slow
def test_an_armature_that_moves_anothers_target_is_baked_first(tmp_path):
    # In the scene's order each stands before the one that moves its target.
    last, middle, first = add_follower("A", -1.4), add_follower("B", -0.7), add_leg("C")
    add_chain(last, "shin", middle, subtarget="shin")
    add_chain(middle, "shin", first, subtarget="shin")
    add_chain(first, "shin", add_target({1: (0, 0.2, 0.3), 20: (0, -0.9, 0.8), 40: (0, 0.8, 0.6)}))
    scene = tmp_path / "three.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(scene))
    for chosen in ([], ["--chain", "shin"]):
        assert bake_file(scene, "--frames", "1:40", "--output", tmp_path / "out.blend", *chosen) == 0
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "out.blend"))
        for name in "ABC":
            armature = bpy.data.objects[name]
            errors = [e for _, e in played_back_errors(armature, armature.ik2d.chains[0], range(1, 41))]
            assert max(errors) < 4e-5, name


def test_armatures_that_move_each_others_targets_are_refused(tmp_path, capsys):
    one, two, other = add_leg("One"), add_follower("Two"), add_leg("Other")
    add_chain(one, "shin", two, subtarget="shin")
    add_chain(two, "shin", one, subtarget="shin")
    add_chain(other, "shin", add_target({1: (0, 0.3, 0.5)}))
    scene = tmp_path / "circle.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(scene))
    before = scene.read_bytes()
    assert "'One', 'Two' depend on one another in a circle" in refused(capsys, scene)
    assert scene.read_bytes() == before


@pytest.mark.slow
def test_a_held_bone_counts_against_max_error(tmp_path, capsys):
    armature, _ = leg_with_target()
    held = armature.pose.bones["thigh"].constraints.new('COPY_ROTATION')
    held.target = add_target({1: (0, 0, 0)}, "Holder")
    scene, path = tmp_path / "held.blend", tmp_path / "report.json"
    bpy.ops.wm.save_as_mainfile(filepath=str(scene))
    command = scene, "--frames", "1:40", "--verify", "ALL", "--report", path
    assert bake_file(*command, "--max-error", "0.1") == 1
    assert " units, is over --max-error 0.1" in capsys.readouterr().err
    (result,) = json.loads(path.read_text())["armatures"]
    assert result["max_residual"] < 1e-5
    assert "40 of 40 frames moved by something other than the keys" in result["summary"]
    errors = [
        e
        for _, e in played_back_errors(
            bpy.data.objects["Rig"], bpy.context.object.ik2d.chains[0], range(1, 41)
        )
    ]
    (chain,) = result["chains"]
    assert max(chain["played_back"]) == pytest.approx(max(errors), abs=1e-5) and max(errors) > 0.5
    assert bake_file(*command, "--max-error", result["max_error"] + 1e-4) == 0
    assert bake_file(*command, "--max-error", result["max_error"]) == 0  # no more than that
    assert bake_file(*command, "--max-error", math.nextafter(result["max_error"], 0.0)) == 1


@pytest.mark.slow
def test_what_is_unknown_is_named_with_what_there_is(scene_file, capsys):
    assert "no armature 'Robot'; the file's armatures are: 'Rig'" in refused(
        capsys, scene_file, "--armature", "Robot"
    )
    assert "'Target' is not an armature" in refused(capsys, scene_file, "--armature", "Target")
    assert "no chain 'arm'; its chains are: 'shin'" in refused(
        capsys, scene_file, "--armature", "Rig", "--chain", "arm"
    )
    assert "chain" in refused(capsys, scene_file, "--chain", "shin", "--chain", "arm")


def test_a_file_that_is_not_a_blend_is_refused(tmp_path, capsys):
    text = tmp_path / "text.blend"
    text.write_text("not a scene")
    assert "cannot be opened as a .blend file" in refused(capsys, text)


def test_places_that_cannot_be_written_are_refused_before_anything_is_done(scene_file, tmp_path, capsys):
    before = scene_file.read_bytes()
    assert "no folder" in refused(capsys, scene_file, "--output", tmp_path / "none" / "out.blend")
    assert "is a folder" in refused(capsys, scene_file, "--output", tmp_path)
    assert "no folder" in refused(capsys, scene_file, "--report", tmp_path / "none" / "report.json")
    if os.geteuid() != 0:  # root may write anywhere
        scene_file.chmod(0o400)
        assert "cannot be written" in refused(capsys, scene_file)
    assert scene_file.read_bytes() == before


def test_an_error_in_one_armature_leaves_the_file_alone(tmp_path, capsys):
    add_chain(add_leg("Good"), "shin", add_target({1: (0, 0.3, 0.5)}))
    add_chain(add_leg("Bad"), "shin", None)
    scene = tmp_path / "two.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(scene))
    before = scene.read_bytes()
    assert "has no target" in refused(capsys, scene)
    assert scene.read_bytes() == before


@pytest.mark.slow
def test_a_report_never_takes_the_place_of_a_scene(scene_file, tmp_path, capsys):
    before = scene_file.read_bytes()
    link, table = tmp_path / "link.json", tmp_path / "scene.csv"
    link.symlink_to(scene_file)
    for report in (scene_file, link, tmp_path / "sub" / ".." / "leg.blend"):
        (tmp_path / "sub").mkdir(exist_ok=True)
        assert "would overwrite the .blend" in refused(
            capsys, scene_file, "--output", tmp_path / "out.blend", "--report", report
        )
    assert "would overwrite" in refused(capsys, scene_file, "--output", table, "--report", table)
    for name in ("other.blend", "other.BLEND", "other.blend1", "other.blend@"):
        assert "has the name of a .blend" in refused(capsys, scene_file, "--report", tmp_path / name)
    assert scene_file.read_bytes() == before
    assert not table.exists()


@pytest.mark.parametrize("option", ["--output", "--report"])
def test_an_empty_name_is_refused(scene_file, option, capsys):
    before = scene_file.read_bytes()
    assert f"{option} is given without a name" in refused(capsys, scene_file, option, "")
    assert scene_file.read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("frames", [["--frames", "-5:5"], ["--frames=-5:5:1"]])
def test_frames_below_zero(scene_file, tmp_path, frames):
    report = tmp_path / "report.json"
    assert bake_file(scene_file, *frames, "--report", report) == 0
    (armature,) = json.loads(report.read_text())["armatures"]
    assert armature["chains"][0]["frames"] == list(range(-5, 6))


@pytest.mark.parametrize(
    "arguments",
    [
        ["--frames", "5"],
        ["--frames", "-5"],
        ["--frames", "-5:b"],
        ["--frames", "--target-keys"],
        ["--frames", "a:b"],
        ["--frames", "1:2:3:4"],
        ["--max-error", "-1"],
        ["--verify", "MAYBE"],
        ["--nonsense"],
    ],
)
def test_options_that_make_no_sense_exit_with_2(scene_file, arguments, capsys):
    assert bake_file(scene_file, *arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("ik2d: error: ") and arguments[0] in line


def test_no_command_is_one_line_too(capsys):
    assert run([]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("ik2d: error: ") and "COMMAND" in line


def test_help_names_every_option(capsys):
    with pytest.raises(SystemExit) as caught:
        run(["bake", "--help"])
    assert caught.value.code == 0
    told = capsys.readouterr().out
    options = "armature chain frames output report reduce target-keys single-axis ease-flips verify max-error"
    for option in options.split():
        assert f"--{option}" in told


@pytest.mark.parametrize("fk, code", [(20, 0), (40, 1)])
def test_fk_frames_are_no_misses_unless_all_are(tmp_path, capsys, fk, code):
    armature, _ = leg_with_target()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 40
    chain, path = armature.ik2d.chains[0], tmp_path / "leg.blend"
    for frame, influence in ((1, 0.0), (fk, 0.0), (fk + 1, 1.0)):
        chain.influence = influence
        chain.keyframe_insert("influence", frame=frame)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    said = f"{fk} of 40 frames are FK" if fk < 40 else "40 frames FK, as IK Blend is 0"
    for option in (["--strict"], ["--max-error", "0.002"]):
        report = tmp_path / "report.json"
        assert bake_file(path, *option, "--output", tmp_path / "out.blend", "--report", report) == code
        told, chain = capsys.readouterr(), json.loads(report.read_text())["armatures"][0]["chains"][0]
        assert said in told.out and (option[0] in told.err) == bool(code)
        assert chain["fk_frames"] == fk and chain["max_error"] <= 0.002
        assert code == 0 or said in told.err and "does not hold" in told.err
    assert bake_file(path, "--output", tmp_path / "out.blend") == 0
    table = tmp_path / "report.csv"
    bake_file(path, "--output", tmp_path / "out.blend", "--report", table)
    with table.open(newline="") as file:
        assert [row["fk"] for row in csv.DictReader(file)].count("True") == fk


def test_a_reversed_range_is_refused(scene_file, capsys):
    assert "reversed" in refused(capsys, scene_file, "--frames", "9:3")


def test_blenders_own_door_wants_an_open_file(capsys):
    assert run(["bake"]) == 2
    assert "no .blend file is open" in capsys.readouterr().err
