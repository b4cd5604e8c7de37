# SPDX-License-Identifier: GPL-3.0-or-later
"""A table of results, and the numbers in it as text."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """A section of the results: a heading, what was measured, and rows of text."""

    title: str
    note: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """Return the section in Markdown."""
        lines = [self.header, ["---"] * len(self.header), *self.rows]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return f"## {self.title}\n\n{self.note}\n\n{table}\n"


def print_tables(tables: Mapping[str, Callable[[], Table]]) -> None:
    """Print the tables that the command line names, or all."""
    for name in sys.argv[1:] or tables:
        print(tables[name]().markdown(), flush=True)


def percent(share: float) -> str:
    """Return a share as "99.7 %"; only all is 100 %, and only none is 0."""
    if share in (0.0, 1.0):
        return f"{100.0 * share:.0f} %"
    return f"{min(max(100.0 * share, 0.1), 99.9):.1f} %"


def small(number: float) -> str:
    """Return a small number as "3.2e-5", and zero as "0"."""
    if number == 0.0:
        return "0"
    mantissa, exponent = f"{number:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def ratio(number: float) -> str:
    """Return a ratio with the digits that a noisy machine lets one believe."""
    if number >= 100.0:
        return f"{float(f'{number:.2g}'):,.0f}"
    return f"{number:.2g}" if number < 10.0 else f"{number:.0f}"
