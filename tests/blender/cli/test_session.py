# SPDX-License-Identifier: GPL-3.0-or-later
"""The temporary folder of a run: nothing is left, and what killed runs left goes."""

import os
from pathlib import Path

import pytest
from programs import in_shell, is_baked, leg_file

from ik2d_addon.cli import session
from ik2d_addon.cli.files import locks


@pytest.fixture
def parent(tmp_path, monkeypatch):
    """The folder for temporary folders."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@pytest.mark.slow
def test_a_run_leaves_no_folder_behind(tmp_path, parent):
    scene = leg_file(tmp_path)
    assert in_shell('"$@"', "bake", scene).returncode == 0
    assert list(parent.iterdir()) == [] and is_baked(scene)


@pytest.mark.slow
def test_a_run_goes_on_without_a_folder_for_temporary_ones(tmp_path):
    scene = leg_file(tmp_path)
    assert in_shell('TMPDIR=/nonexistent "$@"', "bake", scene).returncode == 0
    assert is_baked(scene)


def test_folders_of_killed_runs_go_and_others_stay(parent):
    killed, before_its_folder, running = (parent / f"ik2d-run-{digit * 16}" for digit in "012")
    stranger, unlocked = parent / "ik2d-mine", parent / "ik2d-run-mine"
    for folder in (killed, running, stranger, unlocked):
        folder.mkdir()
        (folder / "blender_abc").mkdir()
    for folder in (killed, before_its_folder, stranger):
        folder.with_name(f"{folder.name}.lock").touch()
    number = locks.hold(f"{running}.lock")
    stay = {running, parent / f"{running.name}.lock", stranger, parent / "ik2d-mine.lock", unlocked}
    with session.temporary_folder():
        own = Path(os.environ["TMPDIR"])
        assert set(parent.iterdir()) == {*stay, own, parent / f"{own.name}.lock"}
    assert set(parent.iterdir()) == stay
    assert os.environ["TMPDIR"] == str(parent)
    os.close(number)


def test_a_link_in_its_place_is_not_followed(parent, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine").touch()
    (parent / f"ik2d-run-{'0' * 16}").symlink_to(outside)
    (parent / f"ik2d-run-{'0' * 16}.lock").touch()
    (parent / f"ik2d-run-{'1' * 16}.lock").symlink_to(outside / "mine")
    with session.temporary_folder():
        pass
    assert (outside / "mine").exists()
