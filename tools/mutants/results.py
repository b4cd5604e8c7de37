# SPDX-License-Identifier: GPL-3.0-or-later
"""What came of the mutants: on the terminal, as files, and as Markdown for docs/testing.md."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from .mutant import ROOT, Mutant
from .sample import AREAS

# Where a run leaves its files.
BUILD = ROOT / "build" / "mutants"


class Outcome(StrEnum):
    """Whether a test noticed."""

    KILLED = "killed"
    TIMEOUT = "timeout"  # killed too: the tests took several times as long as they do
    SURVIVED = "survived"
    UNCOVERED = "uncovered"  # survived too: no test runs the line


LOST = {Outcome.SURVIVED, Outcome.UNCOVERED}


@dataclass(frozen=True)
class Result:
    """What came of one mutant."""

    mutant: Mutant
    outcome: Outcome
    by: str = ""  # the test that failed
    seconds: float = 0.0

    def __str__(self) -> str:
        by = f"  ({self.by})" if self.by else ""
        return f"{self.outcome:9} {self.seconds:6.1f} s  {self.mutant}{by}"


def save(results: Sequence[Result]) -> None:
    """Write all results, and the survivors again: for --again, and to read."""
    survivors = [result for result in results if result.outcome in LOST]
    for name, some in (("results", results), ("survivors", survivors)):
        rows = [asdict(result) | {"name": result.mutant.name} for result in some]
        (BUILD / f"{name}.json").write_text(json.dumps(rows, indent=1) + "\n")
    (BUILD / "survivors.txt").write_text(survivors_text(survivors))


def read(file: Path) -> list[Result]:
    """Return the results in a file that `save` wrote."""
    return [_result(row) for row in json.loads(file.read_text())]


def keep(result: Result, key: str) -> None:
    """Note a result at once, so that a run which is broken off can go on."""
    with (BUILD / f"{key}.jsonl").open("a") as file:
        file.write(json.dumps(asdict(result)) + "\n")


def kept(key: str) -> dict[str, Result]:
    """Return by name what was kept for a state of the code and the tests."""
    file = BUILD / f"{key}.jsonl"
    found = [_result(json.loads(line)) for line in file.read_text().splitlines()] if file.exists() else []
    return {result.mutant.name: result for result in found}


def _result(row: dict) -> Result:
    return Result(Mutant(**row["mutant"]), Outcome(row["outcome"]), row["by"], row["seconds"])


def score(results: Sequence[Result]) -> float:
    """Return the percentage that was killed."""
    return 100.0 * sum(result.outcome not in LOST for result in results) / max(len(results), 1)


def table(results: Sequence[Result]) -> list[list[str]]:
    """Return a row for each area and one for all, below a row of headings."""
    rows = [["area", "mutants", "killed", "by timeout", "survived", "no test covers it", "killed, %"]]
    for name, folders in [*AREAS.items(), ("all", ("",))]:
        some = [result for result in results if result.mutant.path.startswith(folders)]
        if some:
            counts = [sum(result.outcome is outcome for result in some) for outcome in Outcome]
            killed, timeout, survived, uncovered = counts
            title = ", ".join(folder.strip("/") for folder in folders) or name
            numbers = [len(some), killed + timeout, timeout, survived, uncovered]
            rows.append([title, *map(str, numbers), f"{score(some):.1f}"])
    return rows


def summary(results: Sequence[Result]) -> str:
    """Return the table as aligned text."""
    rows = table(results)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return "\n".join(lines)


def survivors_text(results: Sequence[Result]) -> str:
    """Return the survivors, each with its line of source, to read."""
    lines = []
    for result in in_order(results):
        mutant = result.mutant
        source = (ROOT / mutant.path).read_text(encoding="utf-8").splitlines()[mutant.line - 1].strip()
        lines += [f"{mutant.path}:{mutant.line}  {result.outcome}  {mutant.name}", f"    {source}"]
        lines += [f"    {mutant.before}  ->  {mutant.after}", ""]
    return "\n".join(lines)


def markdown(results: Sequence[Result]) -> str:
    """Return the table and the survivors as Markdown."""
    heading, *rows = table(results)
    lines = [_row(heading), _row("---" for _ in heading), *map(_row, rows)]
    for outcome, title in ((Outcome.SURVIVED, "Survived"), (Outcome.UNCOVERED, "No test covers")):
        some = in_order([result for result in results if result.outcome is outcome])
        if some:
            lines += ["", f"{title}:", ""]
            lines += [_item(result.mutant) for result in some]
    return "\n".join(lines)


def in_order(results: Sequence[Result]) -> list[Result]:
    """Return results in the order of the source."""

    def place(result: Result) -> tuple[str, int, int, str]:
        mutant = result.mutant
        return mutant.path, mutant.line, mutant.column, mutant.name

    return sorted(results, key=place)


def _item(mutant: Mutant) -> str:
    place = f"{mutant.path.removeprefix('ik2d_addon/')}:{mutant.line}"
    return f"- {place}: {_code(mutant.before)} → {_code(mutant.after)}"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _code(text: str) -> str:
    ticks = "``" if "`" in text else "`"
    return f"{ticks}{text}{ticks}"
