# SPDX-License-Identifier: GPL-3.0-or-later
"""What is told: escaped, in any encoding, on streams that may be gone; and the bake that goes on."""

import io
import json
import os
import sys

import pytest
from programs import in_shell, is_baked, leg_file

from ik2d_addon.cli import console

ODD = "größe日本\x1b[31m\nRig"


@pytest.mark.parametrize(
    "text, told",
    [
        ("größe 日本", "größe 日本"),
        ("a\nb\tc\x1b[31m", "a\\nb\\tc\\x1b[31m"),
        ("\u2028\u202e\x9b", "\\u2028\\u202e\\x9b"),
        ("\udcff", "\\udcff"),
    ],
)
def test_what_would_act_on_a_terminal_is_escaped(text, told):
    assert console.printable(text) == told


def test_what_the_encoding_lacks_is_escaped(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    console.say("größe\x07")
    assert stream.buffer.getvalue() == b"gr\\xf6\\xdfe\\x07\n"


@pytest.mark.parametrize("redirected", [console.stdout_to_stderr, console.stdout_unheard])
def test_errors_of_the_work_pass_through_a_redirected_stdout(redirected):
    with pytest.raises(FileNotFoundError), redirected():
        open("there/is/none")


def test_a_stream_that_fails_is_let_go(monkeypatch):
    for stream in (None, io.StringIO()):
        if stream:
            stream.close()
        monkeypatch.setattr(sys, "stderr", stream)
        console.complain("lost")
    full = open("/dev/full", "w", encoding="utf-8")
    monkeypatch.setattr(sys, "stderr", full)
    console.complain("lost")
    console.complain("lost too")
    full.close()  # with nothing left that could fail


def test_closed_standard_streams_get_a_place():
    kept = os.dup(2)
    os.close(2)
    try:
        with console.streams_open():
            with open(os.devnull) as file:
                assert file.fileno() > 2
        with pytest.raises(OSError):
            os.fstat(2)
    finally:
        os.dup2(kept, 2)
        os.close(kept)


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        '"$@" | head -n 1; exit ${PIPESTATUS[0]}',
        '"$@" 2>&1 | true; exit ${PIPESTATUS[0]}',
        '"$@" > /dev/full',
        '"$@" > /dev/full 2>&1',
        '"$@" >&-',
        '"$@" 2>&-',
        '"$@" <&- >&- 2>&-',
        'PYTHONIOENCODING=ascii "$@"',
        'LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 "$@"',
    ],
)
def test_a_lost_stream_neither_stops_the_saving_nor_changes_the_exit_code(tmp_path, line):
    scene, report = leg_file(tmp_path, rig=ODD), tmp_path / "r.json"
    done = in_shell(line, "bake", scene, "--report", report)
    assert done.returncode == 0, done
    assert b"\x1b" not in done.stdout and b"Traceback" not in done.stderr
    assert is_baked(scene)
    assert json.loads(report.read_text())["armatures"][0]["armature"] == ODD


@pytest.mark.slow
@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1"])
def test_a_report_on_stdout_is_all_that_is_there(tmp_path, name):
    scene = leg_file(tmp_path)
    done = in_shell('"$@"', "bake", scene, "--report", name)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["armatures"][0]["all_reached"]
    assert b"every target reached" in done.stderr


@pytest.mark.slow
def test_a_report_on_stdout_goes_to_the_file_that_stdout_is(tmp_path):
    scene, log = leg_file(tmp_path), tmp_path / "log.txt"
    log.write_text("before\n")
    inode = log.stat().st_ino
    assert in_shell(f'"$@" >> {log}', "bake", scene, "--report", "/dev/stdout").returncode == 0
    before, rest = log.read_text().split("\n", 1)
    assert before == "before" and json.loads(rest)["armatures"]
    assert log.stat().st_ino == inode


@pytest.mark.slow
def test_a_report_that_nobody_reads_is_no_error_of_the_bake(tmp_path):
    scene = leg_file(tmp_path)
    done = in_shell('"$@" > /dev/full', "bake", scene, "--report", "-")
    assert done.returncode == 0
    assert b"warning: the report could not be written" in done.stderr
    assert is_baked(scene)
