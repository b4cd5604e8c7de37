# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tests run which line, and how long each takes: found by one traced run of all, then kept."""

import ast
import hashlib
import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
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


def load() -> Covering:
    """Return what was found earlier, or find it anew where the code or the tests have changed."""
    file, traced, key = BUILD / "seconds.json", BUILD / "coverage", fingerprint("covering.py", "plugins.py")
    kept = json.loads(file.read_text()) if file.exists() else {}
    if kept.get("key") != key or not traced.exists():
        began = time.monotonic()
        print("Which test runs which line: two runs of all tests, some minutes ...", flush=True)
        file.unlink(missing_ok=True)
        kept = {"key": key, "seconds": _checked(*_traced(traced))}
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


def _traced(file: Path) -> tuple[dict[str, float], list[str]]:
    """Run all tests under coverage, which goes into a file; return their times, and the files that share."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)

    def task(child: Child) -> int:
        return run_tests(child, STAGES, [Tracer(PACKAGE, file), Chosen((), (), child.report_path)])

    report = _passed(Child(task))
    return report["seconds"], report["shared"]


def _contexts(file: Path) -> dict[str, dict[int, list[str]]]:
    """Return what the tracer has recorded."""
    import coverage

    data = coverage.CoverageData(str(file))
    data.read()
    paths = {path: Path(path).relative_to(ROOT).as_posix() for path in data.measured_files()}
    return {name: data.contexts_by_lineno(path) for path, name in paths.items()}


def _checked(seconds: dict[str, float], shared: Sequence[str]) -> dict[str, float]:
    """Run all tests in the order and the processes of a mutant's, without one; return their times."""
    found: dict[str, float] = {}
    for stage in in_stages(_ordered(seconds, shared)):

        def task(child: Child, stage: list[str] = stage) -> int:
            return run_tests(child, files_of(stage), [Chosen(stage, (), child.report_path)])

        found |= _passed(Child(task))["seconds"]
    return _ordered(found, shared)


def _passed(child: Child) -> dict:
    """Wait until a child has run its tests, all of which must pass; return its report."""
    child.start()
    try:
        if child.wait():
            sys.exit(f"{child.output()}\nThe tests must pass before a mutant can fail them: see above")
        return child.report()
    finally:
        child.clean()


def _ordered(seconds: dict[str, float], shared: Sequence[str]) -> dict[str, float]:
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
