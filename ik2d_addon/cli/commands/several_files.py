# SPDX-License-Identifier: GPL-3.0-or-later
"""`ik2d bake` or `native` of several files: a process and a line for each, started in the same way."""

import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread

import bpy

from ...core import IK2DError
from ..console import complain, say
from ..files.outputs import Job
from ..parser import TELL_OUTCOME
from ..signals import Interrupted, asked_to_end
from .outcomes import Outcome, parted, summary

# From good to bad. 3 is also what a process counts as that died.
_BADNESS = (0, 1, 2, 143, 130, 3)
_DIED = 3
_LOOK_EVERY = 0.2  # seconds, for a request to end
_SAVED, _WARNING, _CHAIN = "ik2d: saved ", "ik2d: warning:", "ik2d:   "


def bake_each(jobs: Sequence[Job], arguments: Sequence[str], at_once: int, opens_scene: bool) -> int:
    """Have each scene baked, or made native, in a process of its own; return the worst exit code.

    arguments: the command, and the options that all take. at_once: how many processes run side by side.
    opens_scene: as in `program.run`. The lines of a process are printed when it ends, each after the scene's
    name, and then a line with its outcome. Asked to end, it starts no more processes, passes the signal on
    once, and waits for those that run.
    """
    command = _door(opens_scene)
    environment = _environment() if opens_scene else None
    waiting, running = deque(jobs), set[_Bake]()
    ended: SimpleQueue[_Bake] = SimpleQueue()
    done: list[tuple[str, int, Outcome | None]] = []
    interrupted: Interrupted | None = None
    while running or (waiting and not interrupted):
        while waiting and len(running) < at_once and not asked_to_end():
            bake = _Bake(waiting.popleft(), [*command, *arguments, TELL_OUTCOME], environment, ended)
            running.add(bake)
        if not interrupted and (interrupted := asked_to_end()):
            for bake in running:
                bake.pass_on(interrupted.exit_code)
        try:
            bake = ended.get(timeout=_LOOK_EVERY)
        except Empty:
            continue
        running.remove(bake)
        done.append((bake.scene, bake.tell(), bake.outcome))
    if interrupted or (interrupted := asked_to_end()):
        left = ", ".join(f"'{job.scene}'" for job in waiting)
        complain(f"ik2d: interrupted; {f'not begun: {left}' if left else 'all files were begun already'}")
        return interrupted.exit_code
    say(f"ik2d: {summary(done)}")
    return max((code for _, code, _ in done), key=_BADNESS.index)


def _door(opens_scene: bool) -> list[str]:
    """Return the command line that started this process, up to our own command."""
    if opens_scene:
        return [sys.executable, "-m", __package__.rpartition(".cli.")[0]]
    if bpy.data.filepath:
        raise IK2DError(
            f"Blender has opened '{bpy.data.filepath}'; to bake several files, name all of them after bake"
            " or native, and none before --command"
        )
    own = sys.argv[1:]
    before = next((i for i, word in enumerate(own) if word in ("--command", "-c")), 0)
    return [bpy.app.binary_path, *own[:before], "--command", "ik2d"]


class _Bake:
    """The process that works on one scene."""

    def __init__(
        self,
        job: Job,
        command: Sequence[str],
        environment: dict[str, str] | None,
        ended: "SimpleQueue[_Bake]",
    ) -> None:
        self.scene = job.scene
        self.outcome: Outcome | None = None  # known once it is told
        self._code = _DIED
        self._told, self._complained = "", ""
        self._passed_on = False
        self._process: subprocess.Popen[str] | None = None
        places = [
            f"{option}={place}"
            for option, place in (("--output", job.output), ("--report", job.report))
            if place is not None
        ]
        try:
            self._process = subprocess.Popen(
                [*command, *places, "--", job.scene],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                encoding="utf-8",
                errors="backslashreplace",
                # Ctrl-C in a terminal goes to a whole group: so each gets it from here, and once.
                process_group=0 if os.name == "posix" else None,
            )
        except OSError as error:
            self._complained = f"ik2d: error: no process could be started ({error.strerror or error})"
        Thread(target=self._wait, args=(ended,), daemon=True).start()

    def pass_on(self, exit_code: int) -> None:
        """Ask the process to end, as this one was asked."""
        self._passed_on = True
        if self._process and os.name == "posix":  # elsewhere it is in this one's group
            self._process.send_signal(exit_code - 128)

    def tell(self) -> int:
        """Print the lines of the process, and one with its outcome; return its exit code, or 3 if it died."""
        self._told, self.outcome = parted(self._told)
        code, words = self._outcome()
        for text, tell in ((self._told, say), (self._complained, complain)):
            for line in text.splitlines():
                tell(f"{self.scene}: {line}")
        say(f"ik2d: {self.scene}: {words} (exit code {code})")
        return code

    def _wait(self, ended: "SimpleQueue[_Bake]") -> None:
        if self._process:
            self._told, self._complained = self._process.communicate()
            self._code = self._process.returncode
        ended.put(self)

    def _outcome(self) -> tuple[int, str]:
        lines = self._told.splitlines()
        saved = [number for number, line in enumerate(lines) if line.startswith(_SAVED)]
        if self._code < 0 and self._passed_on and -self._code in (signal.SIGINT, signal.SIGTERM):
            return 128 - self._code, "interrupted; nothing is changed"  # before it could heed it
        if self._code < 0 or self._code not in _BADNESS or (self._code in (0, 1) and not saved):
            when = "after the file was saved" if saved else "before the file was saved"
            return _DIED, f"error: its process {_end(self._code)} {when}"
        if self._code == 0:
            after = [line for line in lines[saved[-1] + 1 :] if line.startswith("ik2d: ")]
            return 0, "; ".join(line[len("ik2d: ") :] for line in after if not line.startswith(_CHAIN))
        complaints = [
            line.removeprefix("ik2d: ")
            for line in self._complained.splitlines()
            if line.startswith("ik2d: ") and not line.startswith(_WARNING)
        ]
        return self._code, complaints[-1] if complaints else "error: it ended without a word"


def _end(code: int) -> str:
    """Return the end of a process in words."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"died of {signal.Signals(-code).name}"
    except ValueError:
        return f"died of signal {-code}"


def _environment() -> dict[str, str]:
    """Return an environment in which another process finds this package, and prints in UTF-8."""
    checkout = str(Path(__file__).parents[3])
    paths = [checkout, os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "PYTHONIOENCODING": "utf-8:backslashreplace",
    }
