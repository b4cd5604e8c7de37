# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tests run which line, and how long each takes: found by one traced run of all, then kept."""

import ast
import hashlib
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from .child import Child, run_tests
from .mutant import ROOT, Mutant
from .plugins import Chosen, Tracer
from .results import BUILD

PACKAGE = ROOT / "ik2d_addon"
# One after the other: the first without bpy, and mutants that it kills do not pay for the second.
STAGES = ("tests/core", "tests/blender")
# All tests are run in so many processes, none of which takes too long or grows too large.
SHARES = 8


@dataclass(frozen=True)
class Covering:
    """The tests, and what they run."""

    seconds: dict[str, float]  # of each test, quickest first; tests that share a fixture stay together
    contexts: dict[str, dict[int, list[str]]]  # path -> line -> tests; a file for all in it, "" at import

    def tests_for(self, mutant: Mutant) -> list[str]:
        """Return the tests that run a mutant's lines, quickest first.

        What runs at import shows in functions elsewhere: that takes all tests of the module and of those
        that import from it.
        """
        own = self.contexts.get(mutant.path, {})
        found = {name for n in range(mutant.first, mutant.last + 1) for name in own.get(n, ())}
        if mutant.at_import or "" in found:
            paths = {mutant.path, *importers(mutant.path)}
            touched = [self.contexts.get(path, {}).values() for path in paths]
            found |= {name for lines in touched for names in lines for name in names}
        return [name for name in self.seconds if name in found or name.partition("::")[0] in found]

    def seconds_of(self, tests: Iterable[str]) -> float:
        """Return how long tests take together."""
        return sum(self.seconds[name] for name in tests)


def in_stages(tests: Iterable[str]) -> list[list[str]]:
    """Return the tests of each stage, without stages that have none."""
    by_stage = [[name for name in tests if name.startswith(stage)] for stage in STAGES]
    return [stage for stage in by_stage if stage]


def load(jobs: int) -> Covering:
    """Return the tests and the lines that they run: as last found, or anew after code or tests have changed.

    jobs: processes at a time.
    """
    file, traced, key = BUILD / "seconds.json", BUILD / "coverage", fingerprint("covering.py", "plugins.py")
    kept = json.loads(file.read_text()) if file.exists() else {}
    if kept.get("key") != key or not traced.exists():
        began = time.monotonic()
        print("Which test runs which line: two runs of all tests, some minutes ...", flush=True)
        file.unlink(missing_ok=True)
        kept = {"key": key, "seconds": _checked(*_traced(traced, jobs), jobs)}
        file.write_text(json.dumps(kept, indent=1))
        print(f"{len(kept['seconds'])} tests, found in {time.monotonic() - began:.0f} s", flush=True)
    return Covering(kept["seconds"], _contexts(traced))


def fingerprint(*tools: str) -> str:
    """Return a hash of the code, the tests, and some files of this folder."""
    folders = (PACKAGE, ROOT / "tests", ROOT / "benchmarks", ROOT / "sample_scenes")
    paths = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    own = [Path(__file__).with_name(name) for name in tools]
    digest = hashlib.sha256((sys.version + version("bpy")).encode())
    for path in [*paths, *own, ROOT / "pyproject.toml"]:
        digest.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def _traced(file: Path, jobs: int) -> tuple[dict[str, float], set[str]]:
    """Run all tests under coverage, which goes into a file; return their times, and the files that share."""
    import coverage

    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="ik2d-coverage-"))
    tests = [
        path.relative_to(ROOT).as_posix() for stage in STAGES for path in (ROOT / stage).rglob("test_*.py")
    ]
    shares = {folder / str(i): sorted(tests)[i::SHARES] for i in range(SHARES)}

    def share(data: Path, paths: Sequence[str]) -> Child:
        return Child(
            lambda child: run_tests(child, paths, [Tracer(PACKAGE, data), Chosen((), (), child.report_path)])
        )

    try:
        reports = _passed([share(*one) for one in shares.items()], jobs)
        traced = coverage.CoverageData(str(file))
        for data in shares:
            part = coverage.CoverageData(str(data))
            part.read()
            traced.update(part)
        traced.write()
    finally:
        shutil.rmtree(folder)
    return _seconds(reports), {path for report in reports for path in report["shared"]}


def _contexts(file: Path) -> dict[str, dict[int, list[str]]]:
    """Return what the tracer has recorded."""
    import coverage

    data = coverage.CoverageData(str(file))
    data.read()
    paths = {path: Path(path).relative_to(ROOT).as_posix() for path in data.measured_files()}
    return {name: data.contexts_by_lineno(path) for path, name in paths.items()}


def _checked(seconds: dict[str, float], shared: Collection[str], jobs: int) -> dict[str, float]:
    """Run all tests in the order of a mutant's and apart as those, without one; return their times."""

    def share(tests: Sequence[str]) -> Child:
        return Child(lambda child: run_tests(child, files_of(tests), [Chosen(tests, (), child.report_path)]))

    shares = []
    for stage in in_stages(_ordered(seconds, shared)):
        files = files_of(stage)
        for i in range(SHARES):
            own = set(files[i::SHARES])
            shares.append([name for name in stage if name.partition("::")[0] in own])
    return _ordered(_seconds(_passed([share(tests) for tests in shares if tests], jobs)), shared)


def _passed(children: Sequence[Child], jobs: int) -> list[dict]:
    """Wait until children have run their tests, all of which must pass; return their reports."""
    waiting, running, reports = list(children), [], []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(waiting.pop(0))
                running[-1].start()
            for child in list(running):
                if (code := child.poll()) is not None:
                    running.remove(child)
                    reports.append(_report(child, code))
            time.sleep(0.1)
    finally:
        for child in running:
            child.kill()
        for child in children:
            child.clean()
    return reports


def _report(child: Child, code: int) -> dict:
    """Return the report of a child that has ended with an exit code."""
    if code:
        sys.exit(f"{child.output()}\nThe tests must pass before a mutant can fail them: see above")
    return child.report()


def _seconds(reports: Sequence[dict]) -> dict[str, float]:
    """Return how long each test took."""
    return {name: seconds for report in reports for name, seconds in report["seconds"].items()}


def _ordered(seconds: dict[str, float], shared: Collection[str]) -> dict[str, float]:
    """Return the tests quickest first, but those of a file with a fixture that they share together."""

    def rank(test: str) -> tuple[float, str]:
        file = test.partition("::")[0]
        together = (time for name, time in seconds.items() if name.startswith(file))
        return sum(together) if file in shared else seconds[test], file

    return {test: seconds[test] for test in sorted(seconds, key=rank)}


def files_of(tests: Sequence[str]) -> list[str]:
    """Return the files that tests are in."""
    return sorted({name.partition("::")[0] for name in tests})


@lru_cache
def importers(path: str) -> set[str]:
    """Return the files of the package that import from a file of it, also by way of its folder."""
    target = _module(ROOT / path)
    files = (file for file in PACKAGE.rglob("*.py") if target in set(_imported(file)))
    found = {file.relative_to(ROOT).as_posix() for file in files} - {path}
    for folder in [name for name in found if name.endswith("__init__.py")]:
        found |= importers(folder)
    return found


def _module(file: Path) -> tuple[str, ...]:
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def _imported(file: Path) -> Iterator[tuple[str, ...]]:
    """Yield the modules that a file imports from, and the names, which may be modules too."""
    folder = file.parent.relative_to(PACKAGE).parts
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = folder[: len(folder) - node.level + 1] + tuple((node.module or "").split("."))
            base = tuple(part for part in base if part)
            yield base
            yield from ((*base, alias.name) for alias in node.names)
