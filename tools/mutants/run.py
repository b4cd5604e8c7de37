# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the tests on mutants, several at a time."""

import time
from collections.abc import Iterator, Sequence

# What the tests import too: the processes are forked from one that has it.
import hypothesis  # noqa: F401
import mpmath  # noqa: F401
import numpy  # noqa: F401
import pytest

from .child import BROKEN, Child, run_tests
from .covering import Covering, files_of, in_stages
from .mutant import Mutant
from .plugins import Chosen
from .results import Outcome, Result

# Tests that take so many times as long as without a mutant, and as many seconds more, count as hung.
TIMES, SPARE = 3.0, 20.0
PASSED = {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}


class Trial:
    """One mutant on its way through the stages of tests."""

    def __init__(self, mutant: Mutant, covering: Covering, show: bool) -> None:
        self.mutant, self.covering, self.show = mutant, covering, show
        self.stages = in_stages(covering.tests_for(mutant))
        self.result = None if self.stages else Result(mutant, Outcome.UNCOVERED)
        self.began = time.monotonic()
        self.child: Child | None = None
        if self.stages:
            self._start()

    def poll(self) -> Result | None:
        """Return what came of it, None while tests run."""
        if self.result is None and (code := self.child.poll()) is not None:
            self._stage_ended(code)
        return self.result

    def end(self) -> None:
        """Stop where it is."""
        if self.child:
            self.child.kill()
            self.child.clean()

    def _start(self) -> None:
        tests = self.stages.pop(0)

        def task(child: Child) -> int:
            chosen = Chosen(tests, self.covering.seconds, child.report_path)
            return run_tests(child, files_of(tests), [chosen], self.mutant, "-x")

        limit = TIMES * self.covering.seconds_of(tests) + SPARE
        self.child = Child(task, limit, self.show)
        self.child.start()

    def _stage_ended(self, code: int) -> None:
        child, self.child = self.child, None
        failed, output = child.report()["failed"], child.output()
        child.clean()
        if code == BROKEN:
            raise RuntimeError(f"{self.mutant.name} could not be run:\n{output}")
        if code in PASSED and self.stages:
            self._start()
            return
        outcome, by = Outcome.KILLED, failed[0] if failed else f"exit code {code}"
        if child.timed_out:
            outcome, by = Outcome.TIMEOUT, ""
        elif code in PASSED:
            outcome, by = Outcome.SURVIVED, ""
        self.result = Result(self.mutant, outcome, by, time.monotonic() - self.began)


def outcomes(mutants: Sequence[Mutant], covering: Covering, jobs: int, show: bool) -> Iterator[Result]:
    """Yield what comes of each mutant, as soon as it is known."""
    waiting, running = list(mutants), []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(Trial(waiting.pop(0), covering, show))
            for trial in list(running):
                if result := trial.poll():
                    running.remove(trial)
                    yield result
            time.sleep(0.02)
    finally:
        for trial in running:
            trial.end()
