# SPDX-License-Identifier: GPL-3.0-or-later
"""What came of the cases: on the terminal, in files, and as the table of docs/reliability.md."""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from .case import Outcome, Result
from .program import ROOT

BUILD = ROOT / "build" / "fuzz"
DOCUMENT = ROOT / "docs" / "reliability.md"
TABLE = re.compile(r"(?<=<!-- fuzz -->\n).*?(?=<!-- /fuzz -->)", re.DOTALL)


def save(results: Sequence[Result]) -> None:
    """Write a file for each part that was run, and its failures to read."""
    for part in dict.fromkeys(result.part for result in results):
        rows = [asdict(result) for result in results if result.part == part]
        (BUILD / f"{part}.json").write_text(json.dumps(rows, indent=1) + "\n")
        failed = [failure(result) for result in failures(results) if result.part == part]
        (BUILD / f"{part}-failures.txt").write_text("\n".join(failed))


def read(parts: Iterable[str]) -> list[Result]:
    """Return what came of the last run of each part."""
    files = [BUILD / f"{part}.json" for part in parts]
    return [_result(row) for file in files if file.exists() for row in json.loads(file.read_text())]


def failures(results: Iterable[Result]) -> list[Result]:
    """Return the results that are failures."""
    return [result for result in results if result.outcome == Outcome.FAILED]


def failure(result: Result) -> str:
    """Say how a case failed and how to have it again."""
    again = f"python -m tools.fuzz --seed {result.seed} --case {result.name}"
    printed = "".join(f"    | {line}\n" for line in result.printed.splitlines()[-15:])
    complaints = "".join(f"    {complaint}\n" for complaint in result.complaints)
    return f"{again}\n    {result.what}\n{complaints}{printed}"


def rows(results: Sequence[Result]) -> list[list[str]]:
    """Return a row for each part and one for all, below a row of headings."""
    found = [["part", "seed", "cases", *Outcome]]
    for part in [*dict.fromkeys(result.part for result in results), "all"]:
        some = [result for result in results if part in (result.part, "all")]
        counts = Counter(result.outcome for result in some)
        seeds = ", ".join(str(seed) for seed in sorted({result.seed for result in some}))
        found.append(
            [part.replace("_", " "), seeds, str(len(some)), *(str(counts[o] or "") for o in Outcome)]
        )
    return found


def summary(results: Sequence[Result]) -> str:
    """Return the table as aligned text."""
    table = rows(results)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = (
        "  ".join(
            cell.rjust(w) if i else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in table
    )
    return "\n".join(line.rstrip() for line in lines)


def markdown(results: Sequence[Result]) -> str:
    """Return the table as Markdown."""
    heading, *below = rows(results)
    return "\n".join(f"| {' | '.join(row)} |" for row in [heading, ["---"] * len(heading), *below])


def write(results: Sequence[Result], document: Path = DOCUMENT) -> None:
    """Put the table into the document, between its two marks."""
    text = document.read_text("utf-8")
    if not TABLE.search(text):
        sys.exit(f"{document} has no marks <!-- fuzz --> and <!-- /fuzz --> to write between")
    document.write_text(TABLE.sub(lambda _: f"\n{markdown(results)}\n\n", text), "utf-8")


def _result(row: dict) -> Result:
    return Result(**(row | {"outcome": Outcome(row["outcome"])}))
