# SPDX-License-Identifier: GPL-3.0-or-later
"""What pytest is given besides the tests: which to run in which order, and who records what they run."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest


class Chosen:
    """Runs the chosen tests in the order given, and leaves a report as JSON.

    A test that is not `known` at all runs too: the mutant has renamed it.
    """

    def __init__(self, chosen: Sequence[str], known: Sequence[str], report: Path) -> None:
        self.rank = {name: i for i, name in enumerate(chosen)}
        self.unwanted = set(known) - set(chosen)
        self.report = report
        self.seconds: Counter[str] = Counter()
        self.failed: list[str] = []
        self.shared: set[str] = set()

    def pytest_configure(self) -> None:
        """Look for no smaller example once hypothesis has found one that fails."""
        import hypothesis

        used = hypothesis.settings.get_profile("repeatable")  # tests/conftest.py made it
        phases = [phase for phase in used.phases if phase.name not in ("shrink", "explain")]
        hypothesis.settings.register_profile("mutants", parent=used, phases=phases)
        hypothesis.settings.load_profile("mutants")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out what is not chosen, and put the rest in order."""
        items[:] = [item for item in items if item.nodeid not in self.unwanted]
        if self.rank:
            items.sort(key=lambda item: self.rank.get(item.nodeid, len(self.rank)))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that cannot even be imported."""
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how long it took, and whether it failed."""
        self.seconds[report.nodeid] += report.duration
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef, request: pytest.FixtureRequest) -> None:
        """Note the files whose tests share a fixture."""
        if fixturedef.scope == "module":
            self.shared.add(request.node.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write the report; the Blender tests leave without Python's own exit later."""
        report = {"seconds": self.seconds, "failed": self.failed, "shared": sorted(self.shared)}
        self.report.write_text(json.dumps(report))


class Tracer:
    """Records which test runs which line, and a shared fixture's lines for all tests that share it."""

    def __init__(self, package: Path, data: Path) -> None:
        import coverage

        self.coverage = coverage.Coverage(data_file=str(data), source=[str(package)], config_file=False)
        self.test = ""

    def pytest_sessionstart(self) -> None:
        """Start before the first import of what is tested."""
        self.coverage.start()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Record under the test's name."""
        self.test = item.nodeid
        self.coverage.switch_context(self.test)
        result = yield
        self.coverage.switch_context("")
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef, request: pytest.FixtureRequest
    ) -> Iterator[object]:
        """Record a module's fixture under the file's name, and a session's under none."""
        if fixturedef.scope == "function":
            return (yield)
        self.coverage.switch_context(request.node.nodeid if fixturedef.scope == "module" else "")
        try:
            return (yield)
        finally:
            self.coverage.switch_context(self.test)

    def pytest_sessionfinish(self) -> None:
        """Save, for the same reason as above."""
        self.coverage.stop()
        self.coverage.save()
