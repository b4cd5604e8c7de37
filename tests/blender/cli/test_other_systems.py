# SPDX-License-Identifier: GPL-3.0-or-later
"""Windows and macOS: their branches, on Linux with stand-ins for what it has not."""

import os
import subprocess
import sys

from programs import ROOT

from ik2d_addon.cli.files import outputs

# msvcrt.locking locks a byte for a process, and fails at once where it is locked: as lockf does.
AS_WINDOWS = """
import fcntl, os, sys, types
stand_in = types.ModuleType("msvcrt")
stand_in.LK_NBLCK = 2
stand_in.locking = lambda number, mode, count: fcntl.lockf(number, fcntl.LOCK_EX | fcntl.LOCK_NB, count)
sys.modules["msvcrt"], sys.modules["fcntl"] = stand_in, None
del os.O_NOFOLLOW, os.O_NONBLOCK, os.O_CLOEXEC
import signal
del signal.SIGHUP
signal.SIGBREAK = signal.SIGUSR1
import ik2d_addon.cli.files.locks as locks
locks.os = types.SimpleNamespace(**{**vars(os), "name": "nt"})
"""
HOLD = AS_WINDOWS + "print(locks.hold(sys.argv[1]) is not None, flush=True); input()"
USE = """
path = sys.argv[1]
number = locks.hold(path)
print(number is not None, locks.free(path + "x") if os.path.exists(path + "x") else None)
print(locks.let_go(path, number), os.path.exists(path))
os.symlink(path + "y", path)
try:
    locks.hold(path)
except OSError as error:
    print(error.strerror)
"""
BREAK = """
from ik2d_addon.cli import signals
with signals.heeded():
    os.kill(os.getpid(), signal.SIGBREAK)
    print(signals.asked_to_end().exit_code)
"""


def run(code, *arguments, **more):
    """Run code in a Python of its own; return its process."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **more}
    return subprocess.run(command, env=environment, text=True, capture_output=True, timeout=60, check=False)


def test_a_lock_by_msvcrt_is_held_let_go_and_made_through_no_link(tmp_path):
    done = run(AS_WINDOWS + USE, tmp_path / "lock")
    assert done.stdout.split("\n")[:3] == ["True None", "True False", "it is a link"], done.stderr
    assert not (tmp_path / "locky").exists()


def test_a_lock_by_msvcrt_keeps_others_out(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path / "lock")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment, **streams) as other:
        assert other.stdout.readline() == "True\n"
        done = run(AS_WINDOWS + "print(locks.hold(sys.argv[1]))", tmp_path / "lock")
        other.communicate("\n", timeout=30)
    assert done.stdout == "None\n", done.stderr
    assert run(AS_WINDOWS + "print(locks.free(sys.argv[1]))", tmp_path / "lock").stdout == "True\n"


def test_ctrl_break_asks_as_sigterm_does():
    assert run(AS_WINDOWS + BREAK).stdout == "143\n"


def test_a_console_of_another_code_page_gets_the_sentence_all_the_same():
    code = "import sys; from ik2d_addon.cli import program; "
    code += "sys.exit(program.run(['list', '腕.blend'], opens_scene=True))"
    done = run(code, PYTHONIOENCODING="cp1252", PYTHONUTF8="0")
    assert done.returncode == 2 and "ik2d: error:" in done.stderr and "Unicode" not in done.stderr


def test_two_outputs_that_differ_in_case_alone_are_one_file_on_a_mac(monkeypatch, tmp_path):
    first, second = str(tmp_path / "Shot.blend"), str(tmp_path / "shot.blend")
    assert outputs._identity(first) != outputs._identity(second)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert outputs._identity(first) == outputs._identity(second)
