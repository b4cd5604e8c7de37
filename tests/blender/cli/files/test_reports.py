# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports in files and on streams: what they may replace, and what is escaped."""

import csv
import io
import json
import os
import socket
import stat
import subprocess

import numpy as np
import pytest
from programs import bake_here, in_shell, is_baked, leg_file
from rigs import leg_with_target

from ik2d_addon.bake import bake
from ik2d_addon.cli.files import files, reports
from ik2d_addon.core import IK2DError


def test_a_device_is_written_to_and_stays_a_device(tmp_path):
    scene = leg_file(tmp_path)
    before = os.stat("/dev/null")
    assert bake_here(scene, "--report", "/dev/null") == 0
    after = os.stat("/dev/null")
    assert stat.S_ISCHR(after.st_mode) and after.st_rdev == before.st_rdev
    assert is_baked(scene)


def test_a_device_is_no_output(tmp_path, capsys):
    scene = leg_file(tmp_path)
    before = scene.read_bytes()
    assert bake_here(scene, "--output", "/dev/null") == 2
    assert "'/dev/null' is no regular file" in capsys.readouterr().err
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode) and scene.read_bytes() == before


@pytest.mark.slow
def test_a_pipe_is_written_to_if_somebody_reads_it(tmp_path, capsys):
    scene, pipe = leg_file(tmp_path), tmp_path / "pipe.json"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        assert bake_here(scene, "--report", pipe) == 0
        assert json.loads(reader.stdout.read())["armatures"]
    assert bake_here(scene, "--report", pipe) == 0  # and does not wait for ever
    assert "the report could not be written" in capsys.readouterr().err
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)


def test_somebodys_files_beside_the_report_stay(tmp_path):
    scene, report = leg_file(tmp_path), tmp_path / "r.json"
    for name in ("r.json.part", "r.json@", "leg.blend@", "leg.blend.part"):
        (tmp_path / name).write_text("mine")
    assert bake_here(scene, "--report", report) == 0
    assert sorted(os.listdir(tmp_path)) == sorted(
        ["leg.blend", "leg.blend1", "leg.blend@", "leg.blend.part", "r.json", "r.json.part", "r.json@"]
    )
    assert (tmp_path / "r.json.part").read_text() == (tmp_path / "leg.blend@").read_text() == "mine"


def test_a_link_to_a_report_stays_a_link(tmp_path):
    scene, place = leg_file(tmp_path), tmp_path / "place.json"
    link = tmp_path / "link.json"
    place.write_text("old")
    link.symlink_to(place)
    assert bake_here(scene, "--report", link) == 0
    assert link.is_symlink() and json.loads(place.read_text())["armatures"]


@pytest.mark.parametrize(
    "written, told", [("=1+1", "'=1+1"), ("+a", "'+a"), ("@x", "'@x"), ("a\x1bb", "a\\x1bb")]
)
def test_a_name_that_a_spreadsheet_would_work_out_is_escaped(written, told):
    (row,) = csv.DictReader(io.StringIO(reports.table([{"armature": written, "residual": -1.5}])))
    assert row == {"armature": told, "residual": "-1.5"}


def test_the_table_of_an_armature_with_such_a_name(tmp_path):
    scene, table = leg_file(tmp_path, rig="=cmd|' /C calc'!A0"), tmp_path / "t.csv"
    assert bake_here(scene, "--report", table) == 0
    with open(table, encoding="utf-8", newline="") as file:
        assert {row["armature"] for row in csv.DictReader(file)} == {"'=cmd|' /C calc'!A0"}


def test_numbers_are_in_one_line_and_a_long_report_of_two_bones_stays_under_220_bytes_a_frame():
    armature, _ = leg_with_target()
    reports_of = {frames: bake(armature, frame_start=1, frame_end=frames) for frames in (10, 210)}
    texts = {
        frames: reports.report_text("r.json", "leg.blend", [report]) for frames, report in reports_of.items()
    }
    assert len(texts[10].splitlines()) == len(texts[210].splitlines())
    assert len(texts[210]) - len(texts[10]) < 200 * 220  # with what is half-way
    content = {"file": "leg.blend", "armatures": [reports_of[210].to_dict()]}
    assert json.loads(texts[210]) == json.loads(json.dumps(content))
    rows = list(csv.DictReader(io.StringIO(reports.report_text("r.csv", "leg.blend", [reports_of[10]]))))
    thigh = json.loads(texts[10])["armatures"][0]["chains"][0]["angles"]["from_rest"]["thigh"]
    degrees = [float(row["angle_1_degrees"]) for row in rows]
    assert np.degrees(thigh) == pytest.approx(degrees, abs=2e-5) and rows[0]["bones"] == "thigh shin"


@pytest.mark.slow
def test_a_report_that_cannot_be_written_leaves_the_scene_alone(tmp_path):
    scene, report = leg_file(tmp_path), tmp_path / "report.json"
    before = scene.read_bytes()
    # As on a full disk: no file may grow beyond a kilobyte.
    done = in_shell('ulimit -f 1; "$@"', "bake", scene, "--report", report)
    (error,) = done.stderr.decode().splitlines()
    assert done.returncode == 2 and "report" in error and "File too large" in error
    assert "nothing is saved" in error
    assert scene.read_bytes() == before and os.listdir(tmp_path) == ["leg.blend"]


@pytest.mark.slow
def test_a_scene_that_cannot_be_saved_leaves_no_report(tmp_path):
    scene = leg_file(tmp_path)
    before = scene.read_bytes()
    report = tmp_path / "report.csv"
    done = in_shell('ulimit -f 16; "$@"', "bake", scene, "--report", report)
    error = done.stderr.decode().splitlines()[-1]
    assert done.returncode == 2 and "could not be saved (File too large)" in error
    assert scene.read_bytes() == before and os.listdir(tmp_path) == ["leg.blend"]


def test_a_report_that_cannot_be_put_in_its_place_is_told_and_cleaned_away(tmp_path, capsys, monkeypatch):
    scene, report = leg_file(tmp_path), tmp_path / "report.json"
    replace = os.replace

    def full(source, destination):
        if destination == str(report):
            raise OSError(28, "No space left on device")
        replace(source, destination)

    monkeypatch.setattr(files.os, "replace", full)
    assert bake_here(scene, "--report", report) == 2
    complaint = capsys.readouterr().err
    assert "is saved, but the report" in complaint and "No space left on device" in complaint
    assert not report.exists() and is_baked(scene)


@pytest.mark.parametrize("kind", ["missing/r.json", "folder", "socket", "blend", "lock"])
def test_a_report_that_cannot_be_written_is_refused_before_anything_is_baked(
    tmp_path, monkeypatch, kind, capsys
):
    scene = leg_file(tmp_path)
    before = scene.read_bytes()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")
    report = {"blend": "r.blend", "lock": "r.json"}.get(kind, kind)
    if kind == "lock":
        with files.locked(str(tmp_path / report)):
            (lock,) = tmp_path.glob(".ik2d*")
        lock.symlink_to("nowhere")
    there = sorted(os.listdir(tmp_path))
    monkeypatch.setattr("ik2d_addon.cli.commands.bake.baked", lambda _: pytest.fail("it was baked"))
    capsys.readouterr()
    assert bake_here(scene, "--report", report) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("ik2d: ")]
    assert line.startswith("ik2d: error: ") and report.partition("/")[0] in line
    assert scene.read_bytes() == before and sorted(os.listdir(tmp_path)) == there


def test_a_report_whose_folder_goes_meanwhile_leaves_the_scene_alone(tmp_path):
    (tmp_path / "gone").mkdir()
    report = str(tmp_path / "gone" / "r.json")
    (tmp_path / "gone").rmdir()
    with pytest.raises(IK2DError, match="could not be written .*so nothing is saved"):
        with reports.report_written(report, report, "text", "out.blend", None):
            pytest.fail("it was saved")
