# SPDX-License-Identifier: GPL-3.0-or-later
"""Locks on files: one process at a time, and gone with it."""

import os
import subprocess
import sys

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


def test_a_file_that_is_not_there_is_not_free(tmp_path):
    assert not locks.free(str(tmp_path / "none"))
