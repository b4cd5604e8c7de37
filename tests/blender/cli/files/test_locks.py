# SPDX-License-Identifier: GPL-3.0-or-later
"""Locks on files: one process at a time, and gone with it."""

import errno
import os
import subprocess
import sys

import pytest
from programs import ROOT

from ik2d_addon.cli.files import locks

HOLD = (
    "import sys; from ik2d_addon.cli.files.locks import hold; print(hold(sys.argv[1]), flush=True); input()"
)


def test_a_second_hold_fails_until_the_first_lets_go(tmp_path):
    path = str(tmp_path / "lock")
    first = locks.hold(path)
    assert locks.hold(path) is None and not locks.free(path)
    locks.let_go(path, first)
    assert not os.path.exists(path)
    second = locks.hold(path)
    assert second is not None
    locks.let_go(path, second)


def test_a_lock_goes_with_the_process_that_held_it(tmp_path):
    path = str(tmp_path / "lock")
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, path], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    holder.stdout.readline()
    assert locks.hold(path) is None
    holder.kill()
    holder.wait()
    assert os.path.exists(path) and locks.free(path)
    number = locks.hold(path)
    assert number is not None
    locks.let_go(path, number)


def test_what_was_removed_meanwhile_is_not_held(tmp_path, monkeypatch):
    # As when its holder ends just between our opening the file and our locking it.
    path = str(tmp_path / "lock")
    lock, calls = locks._lock, []

    def removed_first(number):
        calls.append(number)
        if len(calls) == 1:
            os.remove(path)
        lock(number)

    monkeypatch.setattr(locks, "_lock", removed_first)
    number = locks.hold(path)
    assert len(calls) == 2
    assert os.fstat(number).st_ino == os.stat(path).st_ino
    locks.let_go(path, number)


def test_a_file_that_is_not_there_is_neither_free_nor_made(tmp_path):
    with pytest.raises(FileNotFoundError):
        locks.free(str(tmp_path / "none"))
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("dangling", [False, True])
def test_a_link_is_not_followed(tmp_path, dangling):
    link, there = tmp_path / "lock", tmp_path / "there"
    link.symlink_to(there)
    if not dangling:
        there.touch()
    before = sorted(os.listdir(tmp_path))
    for function in (locks.hold, locks.free, lambda path: locks._open(path, os.O_CREAT | os.O_EXCL)):
        with pytest.raises(OSError) as raised:
            function(str(link))
        assert raised.value.errno == errno.ELOOP
    assert sorted(os.listdir(tmp_path)) == before and link.is_symlink()


def test_the_system_too_refuses_a_link_that_comes_meanwhile(tmp_path, monkeypatch):
    link = tmp_path / "lock"
    link.symlink_to(tmp_path / "there")
    monkeypatch.setattr(locks.os.path, "islink", lambda _: False)
    with pytest.raises(OSError):
        locks.hold(str(link))
    assert os.listdir(tmp_path) == ["lock"]
