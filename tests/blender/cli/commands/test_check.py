# SPDX-License-Identifier: GPL-3.0-or-later
"""`ik2d check`: all that would stop a bake, and nothing written."""

import os
from pathlib import Path

import bpy
import pytest
from rigs import add_chain, add_leg, add_target, leg_with_target

from ik2d_addon.bake import bake
from ik2d_addon.cli.files import files
from ik2d_addon.cli.program import run


def saved(path: Path) -> Path:
    """Save what is open, frames 1 to 10."""
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 10
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def check(*arguments) -> int:
    """Check through the door of the module."""
    return run(["check", *map(str, arguments)], opens_scene=True)


def problems(capsys, *arguments) -> list[str]:
    """Return the sentences of a check that finds something."""
    capsys.readouterr()
    assert check(*arguments) == 2
    told = capsys.readouterr()
    assert "Nothing would stop" not in told.out
    return [line for line in told.err.splitlines() if line.startswith("ik2d: error: ")]


def test_a_good_file_has_its_result_told_and_stays_as_it_is(tmp_path, capsys):
    leg_with_target()
    path = saved(tmp_path / "leg.blend")
    before, when = path.read_bytes(), path.stat().st_mtime_ns
    assert check(path) == 0
    told = capsys.readouterr()
    assert told.err == ""
    first, second = [line for line in told.out.splitlines() if line.startswith("ik2d: ")]
    result = f"ik2d: {path}: Rig: Nothing would stop a bake of 10 frames on 1 chain; every target reached"
    assert first.startswith(result)
    assert second.startswith(f"ik2d: {path}:   shin (TWO_BONE, 2 bones): 10 frames, target reached on all")
    assert list(tmp_path.iterdir()) == [path]
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (before, when)


@pytest.mark.slow
def test_each_problem_of_each_file_has_its_sentence(tmp_path, capsys):
    armature, _ = leg_with_target()
    add_chain(armature, "thigh", None, bone_count=1, name="Lost")
    add_chain(armature, "toe", add_target({1: (0, 0, 1)}), bone_count=1, name="Gone")
    two = saved(tmp_path / "two.blend")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    add_leg()
    none = saved(tmp_path / "none.blend")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    leg_with_target()
    good = saved(tmp_path / "good.blend")
    capsys.readouterr()
    assert check(two, none, good) == 2
    told = capsys.readouterr()
    assert f"ik2d: {good}: Rig: Nothing would stop a bake" in told.out
    first, second, third = [line for line in told.err.splitlines() if line.startswith("ik2d: ")]
    assert first.startswith(f"ik2d: error: {two}: Chain 'Lost' has no target")
    assert second.startswith(f"ik2d: error: {two}: Chain 'Gone'") and "no bone 'toe'" in second
    assert third.startswith(f"ik2d: error: {none}: ") and "enabled chain" in third


def test_where_all_chains_are_faulty_all_are_named(tmp_path, capsys):
    armature = add_leg()
    for tip in ("toe", "nail"):
        add_chain(armature, tip, add_target({1: (0, 0, 1)}))
    first, second = problems(capsys, saved(tmp_path / "leg.blend"))
    assert "no bone 'toe'" in first and "no bone 'nail'" in second


def test_what_only_a_bake_comes_upon_is_found_too(tmp_path, capsys):
    _, target = leg_with_target()
    holder = add_target({}, "Holder")
    target.parent = holder
    target.delta_location = (0, -1e3, 1e3)
    for frame, scale in ((3, 1.0), (4, 1e38), (5, 1.0)):
        holder.scale = (scale,) * 3
        holder.keyframe_insert("scale", frame=frame)
    path = saved(tmp_path / "leg.blend")
    before = path.read_bytes()
    (line,) = problems(capsys, path)
    assert "has no finite position at frame 4" in line
    assert check(path, "--frames", "5:9") == 0
    assert path.read_bytes() == before


def test_locked_channels_are_found(tmp_path, capsys):
    armature, _ = leg_with_target()
    bone = armature.pose.bones["shin"]
    bone.keyframe_insert("rotation_quaternion", frame=1)
    from ik2d_addon.rig.animation.versions import existing_fcurves

    for curve in existing_fcurves(armature):
        curve.lock = True
    (line,) = problems(capsys, saved(tmp_path / "leg.blend"))
    assert "is locked; unlock it to bake" in line


def test_a_blocked_driver_is_a_problem_unless_it_is_forced_or_trusted(tmp_path, capsys):
    _, target = leg_with_target()
    target.driver_add("location", 1).driver.expression = "__import__('math').sin(frame / 10)"
    path = saved(tmp_path / "leg.blend")
    (line,) = problems(capsys, path)
    assert "is blocked" in line
    assert check(path, "--enable-autoexec") == 0


def test_places_that_cannot_be_written_are_problems(tmp_path, capsys):
    leg_with_target()
    path = saved(tmp_path / "leg.blend")
    line, other = problems(
        capsys, path, "--output", tmp_path / "no" / "{name}.blend", "--report", tmp_path / "r.blend1"
    )
    assert "there is no folder" in line and "has the name of a .blend" in other
    (tmp_path / "folder.blend").mkdir()
    (line,) = problems(capsys, path, "--output", tmp_path / "folder.blend")
    assert "is a folder" in line


def test_a_file_that_is_being_written_is_a_problem(tmp_path, capsys):
    leg_with_target()
    path = saved(tmp_path / "leg.blend")
    with files.locked(str(path)):
        (line,) = problems(capsys, path)
    assert "is being written by another ik2d process" in line
    assert check(path) == 0


def test_a_lock_that_a_killed_run_left_is_none(tmp_path):
    leg_with_target()
    path = saved(tmp_path / "leg.blend")
    with files.locked(str(path)):
        (lock,) = tmp_path.glob(".ik2d-*.lock")
    lock.touch()
    assert check(path) == 0
    assert lock.exists()  # nothing is written, nor cleared away


def test_files_that_are_not_there_or_none_of_blenders_are_problems(tmp_path, capsys):
    torn = tmp_path / "torn.blend"
    torn.write_bytes(os.urandom(64))
    (line,) = problems(capsys, torn)
    assert "cannot be opened as a .blend file" in line
    (line,) = problems(capsys, tmp_path / "none.blend")
    assert "there is no file" in line
    (line,) = problems(capsys, tmp_path / "none.blend", torn)
    assert "there is no file" in line and "none.blend" in line


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--armature", "Robot"], "no armature 'Robot'"),
        (["--chain", "arm"], "has a chain 'arm'; the chains are: 'shin'"),
        (["--armature", "Rig", "--mechanism", "bars"], "'Rig' has no mechanism 'bars'"),
        (["--frames", "9:3"], "reversed"),
        (["--reduce", "0.1", "--target-keys"], "either reduced or on the target's own key frames"),
    ],
)
def test_what_is_asked_for_and_cannot_be_is_a_problem(tmp_path, capsys, arguments, words):
    leg_with_target()
    (line,) = problems(capsys, saved(tmp_path / "leg.blend"), *arguments)
    assert words in line


def test_blenders_own_door_checks_the_file_that_is_open(tmp_path, capsys):
    assert run(["check"]) == 2
    assert "no .blend file is open" in capsys.readouterr().err
    leg_with_target()
    path = saved(tmp_path / "leg.blend")
    assert run(["check"]) == 0
    assert f"{path}: Rig: Nothing would stop a bake" in capsys.readouterr().out


def ruled_leg(path: Path) -> Path:
    """Save the leg with an IK constraint that holds it elsewhere than its chain's target."""
    armature, _ = leg_with_target()
    constraint = armature.pose.bones["shin"].constraints.new('IK')
    constraint.target, constraint.chain_count = add_target({1: (0, -0.8, 1.2)}, "Elsewhere"), 2
    return saved(path)


def test_a_rig_that_another_ik_moves_is_told_as_its_bake_would_be(tmp_path, capsys):
    path = ruled_leg(tmp_path / "leg.blend")
    before = path.read_bytes()
    assert check(path) == 0
    told = capsys.readouterr()
    report = bake(bpy.data.objects["Rig"])
    assert "10 of 10 frames moved by something other than the keys, worst by " in report.sentence()
    assert f"{path}: Rig: {report.sentence().replace('Baked', 'Nothing would stop a bake of')}" in told.out
    warnings = [line for line in told.err.splitlines() if line.startswith("ik2d: ")]
    assert warnings == [f"ik2d: warning: {path}: {warning}" for warning in report.warnings]
    assert any("moved by the IK constraint 'IK'" in line for line in warnings)
    assert path.read_bytes() == before


def test_a_check_holds_a_bake_to_its_limits(tmp_path, capsys):
    path = ruled_leg(tmp_path / "leg.blend")
    assert check(path, "--strict") == 1
    assert "ik2d: --strict does not hold: Rig: Nothing would stop" in capsys.readouterr().err
    assert check(path, "--max-error", "0.01") == 1
    assert check(path, "--max-error", "9") == 0
