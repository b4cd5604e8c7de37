# SPDX-License-Identifier: GPL-3.0-or-later
"""The temporary folder of a run: nothing is left, and what killed runs left goes."""

import os
import tempfile
import time

import pytest
from programs import in_shell, is_baked, leg_file

from ik2d_addon.cli import locks, session


@pytest.fixture
def parent(tmp_path, monkeypatch):
    """The folder for temporary folders."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


def test_a_run_leaves_no_folder_behind(tmp_path, parent):
    scene = leg_file(tmp_path)
    assert in_shell('"$@"', "bake", scene).returncode == 0
    assert list(parent.iterdir()) == [] and is_baked(scene)


def test_a_run_goes_on_without_a_folder_for_temporary_ones(tmp_path):
    scene = leg_file(tmp_path)
    assert in_shell('TMPDIR=/nonexistent "$@"', "bake", scene).returncode == 0
    assert is_baked(scene)


def test_folders_of_killed_runs_go_and_others_stay(parent):
    killed, young, old, running, stranger = (
        parent / name for name in ("ik2d-run-1", "ik2d-run-2", "ik2d-run-3", "ik2d-run-4", "ik2d-mine")
    )
    for folder in (killed, young, old, running, stranger):
        folder.mkdir()
    for folder in (killed, stranger):
        (folder / "in-use").touch()
    hour_ago = time.time() - 3600
    os.utime(old, (hour_ago, hour_ago))
    number = locks.hold(str(running / "in-use"))
    with session.temporary_folder():
        (own,) = [p for p in parent.iterdir() if p not in (killed, young, old, running, stranger)]
        assert os.environ["TMPDIR"] == str(own)
    assert sorted(parent.iterdir()) == sorted([young, running, stranger])
    assert os.environ["TMPDIR"] == str(parent)
    os.close(number)


def test_a_link_in_its_place_is_not_followed(parent, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "in-use").touch()
    (parent / "ik2d-run-link").symlink_to(outside)
    with session.temporary_folder():
        pass
    assert (outside / "in-use").exists()
