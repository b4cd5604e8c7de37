# SPDX-License-Identifier: GPL-3.0-or-later
"""The program that is tried, as a black box: how it is started, and how it ended."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# One that takes so many seconds hangs; bakes of the samples take one or two.
LIMIT = 60.0


@dataclass(frozen=True)
class Ended:
    """How a run of the program ended; code is negative for a signal, as in subprocess."""

    code: int
    out: str = ""
    err: str = ""
    hung: bool = False

    @property
    def text(self) -> str:
        """All that it printed."""
        return self.out + self.err

    @property
    def crashed(self) -> bool:
        """Whether a signal ended it, or it had to be ended."""
        return self.hung or self.code < 0

    def words(self) -> str:
        """Say how it ended."""
        if self.hung:
            return "hung"
        return f"signal {signal.Signals(-self.code).name}" if self.code < 0 else f"exit code {self.code}"


@dataclass(frozen=True)
class Program:
    """The command line behind one of its doors.

    command: what is put before its arguments. blender: that is Blender itself, with the extension installed.
    """

    command: tuple[str | Path, ...] = (sys.executable, "-m", "ik2d_addon")
    blender: bool = False

    def arguments(self, *words: str | bytes | Path) -> list[str | bytes | Path]:
        """Return the whole command for COMMAND [SCENE.blend] OPTIONS."""
        if not self.blender:
            return [*self.command, *words]
        opened = [word for word in words[1:2] if not os.fsencode(word).startswith(b"-")]
        rest = [words[0], *words[1 + len(opened) :]]
        return [*self.command, "--background", *opened, "--command", "ik2d", *rest]

    def start(
        self,
        words: Sequence[str | bytes | Path],
        *,
        env: dict[str, str] | None = None,
        before: Callable[[], object] | None = None,
        **streams: object,
    ) -> subprocess.Popen:
        """Start it in a process group of its own; what it prints is read unless `streams` says otherwise."""
        streams = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
        } | streams
        return subprocess.Popen(
            self.arguments(*words),
            env=surroundings(env),
            preexec_fn=before,
            start_new_session=True,
            **streams,
        )

    def run(self, words: Sequence[str | bytes | Path], limit: float = LIMIT, **options: object) -> Ended:
        """Start it and wait for its end."""
        return ended(self.start(words, **options), limit)


def surroundings(changes: dict[str, str | None] | None = None) -> dict[str, str]:
    """Return the environment of runs: this one, with the code on the path, and changes; None removes."""
    env = dict(os.environ) | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"} | (changes or {})
    return {name: value for name, value in env.items() if value is not None}


def ended(process: subprocess.Popen, limit: float = LIMIT) -> Ended:
    """Wait for a started program, and end it and all that it started where it takes too long."""
    try:
        out, err = process.communicate(timeout=limit)
        hung = False
    except subprocess.TimeoutExpired:
        kill_group(process.pid)
        out, err = process.communicate()
        hung = True
    except BaseException:
        kill_group(process.pid)
        process.wait()
        raise
    return Ended(process.returncode, _decoded(out), _decoded(err), hung)


def kill_group(pid: int) -> None:
    """End a process and all that it started."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def pause(seconds: float) -> None:
    """Wait, for no time where the moment is over."""
    time.sleep(max(seconds, 0.0))


def _decoded(printed: bytes | None) -> str:
    return (printed or b"").decode("utf-8", "replace")
