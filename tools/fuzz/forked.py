# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks in processes forked from this one, in which bpy is loaded: a tenth of the time of a new process.

They tell of the program what a process of its own would, but for its start and its end.
"""

import json
import os
import resource
import runpy
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import bpy  # noqa: F401  # what the forks shall have

from . import inside
from .program import LIMIT, ROOT, Ended, ended, kill_group, surroundings

MEMORY = 8 << 30  # damaged files may ask for any amount
# glibc's; where it is missing, nothing is checked.
CHECKING = {"LD_PRELOAD": "libc_malloc_debug.so.0", "MALLOC_CHECK_": "3", "MALLOC_PERTURB_": "165"}
OPEN = """
import os, sys, bpy
for _ in range(2):
    try:
        bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
    except RuntimeError:
        pass
os._exit(0)
"""
NOT_CALLED = 70  # the exit code where the task itself broke


class Forks:
    """Runs the program, and looks into .blend files, in forks of this process."""

    def __init__(self, spool: Path) -> None:
        self._spool = spool
        spool.mkdir(parents=True, exist_ok=True)

    def run(self, words: list[str | bytes | Path], cwd: Path, limit: float = LIMIT) -> Ended:
        """Run `python -m ik2d_addon WORDS`."""
        return self._forked(lambda: _program([os.fsdecode(word) for word in words]), cwd, limit)

    def look(self, path: Path) -> dict | None:
        """Return {"baked": number of keys that bakes made} of a .blend; None if it does not open."""
        return self.call(inside.look, path)[1]

    def checked(self, path: Path, limit: float = LIMIT) -> Ended:
        """Open a file in a bpy of its own, whose allocator ends it where memory is corrupted."""
        process = subprocess.Popen(
            [sys.executable, "-c", OPEN, path],
            env=surroundings(CHECKING),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        return ended(process, limit)

    def call(self, task: Callable, *arguments: object, limit: float = LIMIT) -> tuple[Ended, object]:
        """Return how a function ended, and what it returned (as JSON has it; None where it did not end)."""
        answer = self._spool / "answer.json"
        answer.unlink(missing_ok=True)

        def answered() -> int:
            answer.write_text(json.dumps(task(*arguments)))
            return 0

        run = self._forked(answered, self._spool, limit)
        return run, json.loads(answer.read_text()) if run.code == 0 and answer.exists() else None

    def _forked(self, task: Callable[[], int], cwd: Path, limit: float) -> Ended:
        out, err = self._spool / "out.txt", self._spool / "err.txt"
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            _be_child(task, cwd, out, err)
        code = _waited(pid, limit)
        out_text, err_text = (path.read_text("utf-8", "replace") for path in (out, err))
        return Ended(-signal.SIGKILL if code is None else code, out_text, err_text, code is None)


def _be_child(task: Callable[[], int], cwd: Path, out: Path, err: Path) -> None:
    code = NOT_CALLED
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for number, path in ((1, out), (2, err)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.chdir(cwd)
        code = task()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _program(words: list[str]) -> int:
    sys.path.insert(0, str(ROOT))
    sys.argv = ["ik2d_addon", *words]
    try:
        runpy.run_module("ik2d_addon", run_name="__main__", alter_sys=True)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    return 0


def _waited(pid: int, limit: float) -> int | None:
    """Return the exit code, negative for a signal; None for one that had to be ended."""
    end = time.monotonic() + limit
    try:
        while time.monotonic() < end:
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                kill_group(pid)  # what it started
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.01)
        return None
    finally:
        kill_group(pid)
        try:
            os.waitpid(pid, 0)
        except ChildProcessError:
            pass
