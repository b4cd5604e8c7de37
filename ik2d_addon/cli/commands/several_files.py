# SPDX-License-Identifier: GPL-3.0-or-later
"""A command on several files: a process and a line for each, started alike."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

import bpy

from ...core import IK2DError
from ..console import complain, say
from ..exit_codes import BAD_INPUT, DONE, NOT_HELD, UNEXPECTED
from ..files import files
from ..files.outputs import Job
from ..parent import environment_of_children
from ..parser import TELL_OUTCOME
from ..signals import Interrupted, asked_to_end
from .outcomes import FileOutcome, parted, summary

# From good to bad.
_BADNESS = (DONE, NOT_HELD, BAD_INPUT, 143, 130, UNEXPECTED)
_LOOK_EVERY = 0.05  # seconds, for an end and for a request to end
# So long a process that was asked to end may take, and so long one that was killed is waited for.
_TO_END, _TO_DIE = 0.75, 0.5  # seconds


def bake_each(
    jobs: Sequence[Job],
    arguments: Sequence[str],
    at_once: int,
    opens_scene: bool,
    timeout: float | None = None,
) -> int:
    """Have each scene baked, made native, or planted, in a process of its own; return the worst exit code.

    arguments: the command, and the options that all take. at_once: how many processes run side by side.
    opens_scene: as in `program.run`. timeout: seconds after which a process is killed, and its file counts as
    failed. The lines of a process are printed when it ends, each after the scene's name, and then a line with
    its outcome. Asked to end, it starts no more processes, passes the signal on once, and kills those that do
    not end within a second.
    """
    command = [*_door(opens_scene), *arguments, TELL_OUTCOME]
    environment = _environment(opens_scene)
    waiting, running = deque(jobs), list[_Bake]()
    done: list[tuple[str, int, FileOutcome | None]] = []
    interrupted: Interrupted | None = None
    while running or (waiting and not interrupted):
        while waiting and len(running) < at_once and not asked_to_end():
            running.append(_Bake(waiting.popleft(), command, environment, timeout))
        if not interrupted and (interrupted := asked_to_end()):
            for bake in running:
                bake.pass_on(interrupted.exit_code)
        ended = [bake for bake in running if bake.has_ended()]
        for bake in ended:
            running.remove(bake)
            done.append((bake.scene, bake.tell(), bake.outcome))
        if not ended:
            time.sleep(_LOOK_EVERY)
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
    arguments = sys.argv[1:]
    before = next((i for i, word in enumerate(arguments) if word in ("--command", "-c")), 0)
    return [bpy.app.binary_path, *arguments[:before], "--command", "ik2d"]


class _Bake:
    """The process that works on one scene."""

    def __init__(
        self, job: Job, command: Sequence[str], environment: dict[str, str], timeout: float | None
    ) -> None:
        self.scene = job.scene
        self.outcome: FileOutcome | None = None  # known once it is told
        self._words = ""
        self._written = list(job.written())
        self._before = files.identity(self._written[0])
        self._timeout = timeout
        self._end = time.monotonic() + (float("inf") if timeout is None else timeout)
        self._code = UNEXPECTED
        self._told, self._complained = "", ""
        self._asked = 0  # the exit code of one that was asked to end
        self._is_killed = False
        self._process: subprocess.Popen[bytes] | None = None
        places = [
            f"{option}={place}"
            for option, place in (("--output", job.output), ("--report", job.report))
            if place is not None
        ]
        try:
            # Files without a name: what is printed never has to be taken off a pipe.
            self._streams = [tempfile.TemporaryFile(dir=bpy.app.tempdir) for _ in range(2)]
            self._process = subprocess.Popen(
                [*command, *places, "--", job.scene],
                stdin=subprocess.DEVNULL,
                stdout=self._streams[0],
                stderr=self._streams[1],
                env=environment,
                # Ctrl-C in a terminal goes to a whole group: so each gets it from here, and once.
                process_group=0 if os.name == "posix" else None,
            )
        except OSError as error:
            self._words = f"error: no process could be started ({error.strerror or error})"
            self._complained = f"ik2d: {self._words}"

    def pass_on(self, exit_code: int) -> None:
        """Ask the process to end, as this one was asked."""
        self._asked = exit_code
        self._end = min(self._end, time.monotonic() + _TO_END)
        if self._process and os.name == "posix":  # elsewhere it is in this one's group
            self._process.send_signal(exit_code - 128)

    def has_ended(self) -> bool:
        """Return whether the process has ended; kill one whose time is over."""
        if self._process is None:
            return True
        if self._process.poll() is None and time.monotonic() > self._end:
            self._kill(self._process)
        elif self._process.poll() is None:
            return False
        told, self._complained = map(_read, self._streams)
        self._told, self._words, self.outcome = parted(told)
        self._code = UNEXPECTED if self._process.returncode is None else self._process.returncode
        if self._code < 0:
            self._clear()
        return True

    def tell(self) -> int:
        """Print the lines of the process, and one with its outcome; return its exit code, or 3 if it died."""
        code, words = self._outcome()
        for text, tell in ((self._told, say), (self._complained, complain)):
            for line in text.splitlines():
                tell(f"{self.scene}: {line}")
        say(f"ik2d: {self.scene}: {words} (exit code {code})")
        return code

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        """Kill the process and what it started, also where it is stopped or heeds no signal."""
        with suppress(OSError):  # it has just ended
            if os.name == "posix":
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        with suppress(subprocess.TimeoutExpired):  # one that waits for a dead disk cannot even die
            process.wait(_TO_DIE)
        self._is_killed = process.returncode not in _BADNESS

    def _clear(self) -> None:
        """Clear away what a process that was killed left next to the files that it was to write."""
        for path in self._written:
            with suppress(IK2DError), files.locked(path):
                pass

    def _outcome(self) -> tuple[int, str]:
        is_saved = files.identity(self._written[0]) != self._before
        when = "after the file was saved" if is_saved else "before the file was saved"
        if self._asked and (self._is_killed or -self._code in (signal.SIGINT, signal.SIGTERM)):
            words = "interrupted when it was saved already" if is_saved else "interrupted; nothing is changed"
            return self._asked, words  # before it could heed it, or when it did not
        if self._is_killed:
            return UNEXPECTED, (
                f"error: it was ended {when}, since it took longer than --timeout {self._timeout:g} s;"
                " allow it more, or bake it alone to see where it hangs"
            )
        if not self._words or self._code not in _BADNESS:
            return UNEXPECTED, f"error: its process {_end(self._code)} {when}"
        return self._code, self._words


def _end(code: int) -> str:
    """Return the end of a process in words."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"died of {signal.Signals(-code).name}"
    except ValueError:
        return f"died of signal {-code}"


def _read(stream: IO[bytes]) -> str:
    """Return the text that a process has printed to a file, and close it."""
    with stream:
        stream.seek(0)
        return stream.read().decode("utf-8", "backslashreplace")


def _environment(opens_scene: bool) -> dict[str, str]:
    """Return the environment of a process: what it leaves in its temporary folder goes with this one's.

    Where it opens the scene by itself it finds this package, and prints in UTF-8.
    """
    environment = {**environment_of_children(), "TMPDIR": bpy.app.tempdir}
    if opens_scene:
        paths = [str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
        environment["PYTHONIOENCODING"] = "utf-8:backslashreplace"
    return environment
