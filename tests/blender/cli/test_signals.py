# SPDX-License-Identifier: GPL-3.0-or-later
"""Ctrl-C: noted at once, heeded where a bake can stop, and nothing is written."""

import os
import signal
import subprocess
import sys

import pytest
from programs import ROOT, bake_here, command, is_baked, leg_file

import ik2d_addon
from ik2d_addon.cli import signals
from ik2d_addon.cli.commands import bake, one_file
from ik2d_addon.cli.files import files


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_raised_until_it_is_asked_for(number):
    before = signal.getsignal(number)
    with signals.heeded():
        signals.stop_if_asked()
        os.kill(os.getpid(), number)
        assert signals.asked_to_end().exit_code == 128 + number
        with pytest.raises(signals.Interrupted):
            signals.stop_if_asked()
    assert signal.getsignal(number) == before and signals.asked_to_end() is None


def test_a_terminal_that_is_closed_asks_as_sigterm_does():
    with signals.heeded():
        for _ in range(3):  # the terminal sends it, and the shell again: no second request
            os.kill(os.getpid(), signal.SIGHUP)
        assert signals.asked_to_end().exit_code == 143
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_DFL


def test_with_nohup_it_asks_for_nothing():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with signals.heeded(), signals.heeded():
            os.kill(os.getpid(), signal.SIGHUP)
            assert signals.asked_to_end() is None
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize(
    "words, ours",
    [
        ("blender -b a.blend --command ik2d bake", True),
        ("blender -c ik2d list", True),
        ("blender --command extension build", False),
        ("blender ik2d --command", False),
        ("blender", False),
    ],
)
def test_signals_are_taken_over_for_our_own_command_alone(words, ours, monkeypatch):
    taken = []
    monkeypatch.setattr(ik2d_addon, "heed_from_now", lambda: taken.append(1))
    monkeypatch.setattr(ik2d_addon, "_MODULES", ())
    monkeypatch.setattr(sys, "argv", words.split())
    ik2d_addon.register()
    assert bool(taken) == ours


def test_what_came_before_is_heeded_too():
    with signals.heeded():
        os.kill(os.getpid(), signal.SIGINT)
        with signals.heeded():
            assert signals.asked_to_end()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("when", ["open_scene", "armatures_of", "put_in_place"])
def test_asked_before_the_one_step_nothing_is_written(tmp_path, capsys, monkeypatch, number, when):
    scene, report = leg_file(tmp_path), tmp_path / "r.json"
    before = scene.read_bytes()
    if when == "put_in_place":  # at the last moment at which it is asked about
        where, name = bake.scene, "versions_kept"
        stop = one_file.stop_if_asked
        asked = []

        def last(*_):
            asked.append(1)
            if scene_is_saved_beside(tmp_path):
                os.kill(os.getpid(), number)
            stop()

        monkeypatch.setattr(one_file, "stop_if_asked", last)
    else:
        where, name = {"open_scene": (bake.scene, when), "armatures_of": (bake, when)}[when]
        there = getattr(where, name)

        def first(*arguments, **options):
            os.kill(os.getpid(), number)
            return there(*arguments, **options)

        monkeypatch.setattr(where, name, first)
    assert bake_here(scene, "--report", report) == 128 + number
    assert "ik2d: interrupted; nothing is changed" in capsys.readouterr().err
    assert scene.read_bytes() == before and os.listdir(tmp_path) == ["leg.blend"]


def scene_is_saved_beside(folder) -> bool:
    """Return whether the scene was saved to its temporary file."""
    return any(path.suffix == ".blend" and path.name != "leg.blend" for path in folder.iterdir())


@pytest.mark.slow
def test_asked_when_the_file_is_in_place_it_says_so(tmp_path, capsys, monkeypatch):
    scene, report = leg_file(tmp_path), tmp_path / "r.json"
    place = files.put_in_place

    def then_asked(*arguments):
        place(*arguments)
        if arguments[1] == str(scene):
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(files, "put_in_place", then_asked)
    assert bake_here(scene, "--report", report) == 130
    assert f"interrupted when '{scene}' was saved already" in capsys.readouterr().err
    assert is_baked(scene) and report.exists()


@pytest.mark.slow
def test_asked_twice_the_process_ends_at_once(tmp_path):
    # With the scene half written, which is what the second signal then leaves: beside the old file.
    script = """
import os, signal, sys
from ik2d_addon.__main__ import main
from ik2d_addon.cli.files import files
real = files.put_in_place
def place(*arguments):
    os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGINT)
    real(*arguments)
files.put_in_place = place
sys.argv = ["ik2d", "bake", sys.argv[1]]
os._exit(main())
"""
    scene = leg_file(tmp_path)
    before = scene.read_bytes()
    words = [command()[0], "-c", script, str(scene)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, timeout=120, check=False)
    assert done.returncode == 130, done.stderr
    assert scene.read_bytes() == before
    assert len(os.listdir(tmp_path)) > 1  # its lock and its temporary file
    assert bake_here(scene) == 0  # and the next run clears them away
    assert sorted(os.listdir(tmp_path)) == ["leg.blend", "leg.blend1"]
