# SPDX-License-Identifier: GPL-3.0-or-later
"""A process of its own for each run of tests, forked from one that has imported what all need.

The child alone imports bpy, whose threads do not outlive a fork, and the mutated module.
"""

import json
import math
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path

import pytest

from .mutant import ROOT, Mutant, mutated

# Some mutants ask for memory without end.
MEMORY = 8 << 30
# A busy machine takes so many times as long by the clock as by the processor's time.
PATIENCE = 4
# The exit code of a child that did not come as far as pytest.
BROKEN = 70


class MutatedModule(SourceFileLoader):
    """Finds one module, and loads it with a mutant in it."""

    def __init__(self, mutant: Mutant) -> None:
        path = ROOT / mutant.path
        parts = Path(mutant.path).with_suffix("").parts
        super().__init__(".".join(parts[:-1] if parts[-1] == "__init__" else parts), str(path))
        self.compiled = compile(mutated(mutant, path.read_text(encoding="utf-8")), str(path), "exec")

    def find_spec(self, name: str, path: Sequence[str] | None = None, target=None) -> ModuleSpec | None:
        """Find the one module, and leave all others to Python."""
        spec = PathFinder.find_spec(name, path) if name == self.name else None
        if spec:
            spec.loader = self
        return spec

    def get_code(self, fullname: str):
        """Return the mutated code, whatever is in the file or in __pycache__."""
        return self.compiled


@dataclass
class Child:
    """A forked process that runs tests, in a process group and with a folder of its own.

    task: returns its exit code. limit: seconds of the processor's time, PATIENCE times as many by the clock.
    show: print on the terminal what pytest prints.
    """

    task: Callable[["Child"], int]
    limit: float = 3600.0
    show: bool = False
    timed_out: bool = False
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="ik2d-mutant-")))

    def start(self) -> None:
        """Fork."""
        self.started = time.monotonic()
        self.pid = os.fork()
        if self.pid == 0:
            self._run()
        try:
            os.setpgid(self.pid, self.pid)  # both do, as either may come first
        except OSError:
            pass

    def _run(self) -> None:
        code = BROKEN
        try:
            os.setpgid(0, 0)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(self.limit), math.ceil(self.limit) + 5))
            os.environ["TMPDIR"] = tempfile.tempdir = str(self.folder)
            if not self.show:
                output = os.open(self.folder / "output.txt", os.O_WRONLY | os.O_CREAT)
                os.dup2(output, 1)
                os.dup2(output, 2)
            code = self.task(self)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs. Past its time it is killed."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            self._kill_group()
            code = os.waitstatus_to_exitcode(status)
            self.timed_out = code == -signal.SIGXCPU
            return code
        if self.seconds > PATIENCE * self.limit:
            self.timed_out = True
            self.kill()
            return -signal.SIGKILL
        return None

    def kill(self) -> None:
        """End the process and all that it started."""
        self._kill_group()
        os.waitpid(self.pid, 0)

    def _kill_group(self) -> None:
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return time.monotonic() - self.started

    @property
    def report_path(self) -> Path:
        """Where the tests leave their report."""
        return self.folder / "report.json"

    def report(self) -> dict:
        """Return the tests' report, an empty one if they did not come as far as writing it."""
        if self.report_path.exists():
            return json.loads(self.report_path.read_text())
        return {"seconds": {}, "failed": [], "shared": []}

    def output(self) -> str:
        """Return what the tests printed where it was not shown."""
        file = self.folder / "output.txt"
        return file.read_text(errors="replace") if file.exists() else ""

    def clean(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)


def run_tests(
    child: Child, paths: Sequence[str], plugins: Sequence[object], mutant: Mutant | None = None, *more: str
) -> int:
    """Run tests in this process, with a mutant in the code or none; return pytest's exit code."""
    if mutant:
        sys.meta_path.insert(0, MutatedModule(mutant))
    style = "--tb=short" if child.show else "--tb=line"
    temporary = f"--basetemp={child.folder / 'pytest'}"
    options = ["-q", style, "-p", "no:cacheprovider", temporary, *more]
    return int(pytest.main([*options, *paths], plugins=list(plugins)))
