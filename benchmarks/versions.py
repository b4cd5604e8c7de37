# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables whose rows are of several versions of Blender, each measured in its own process."""

from collections.abc import Sequence
from pathlib import Path

import bpy

from .table import Table


def write(tables: Sequence[Table], path: Path) -> None:
    """Put tables into a document, in place of those of their titles, with the rows of other Blenders."""
    text = path.read_text() if path.exists() else ""
    for table in tables:
        before, old, after = _around(text, table.title)
        text = before + with_rows_of_others(table, old).markdown() + after
    path.write_text(text)


def with_rows_of_others(table: Table, text: str) -> Table:
    """Return a table with the rows of other Blenders, which is its first column, that a document has."""
    lines = [line for line in _around(text, table.title)[1].splitlines() if line.startswith("| ")]
    old = [line.strip("| ").split(" | ") for line in lines[2:]]
    kept = [cells for cells in old if cells[0] != _version()]
    rows = sorted([*kept, *table.rows], key=lambda cells: _number(cells[0]))
    return Table(table.title, table.note, table.header, rows)


def _version() -> str:
    version: str = bpy.app.version_string
    return version


def _number(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]


def _around(text: str, title: str) -> tuple[str, str, str]:
    """Return what stands before a section, the section, and what stands after it."""
    head = f"## {title}\n"
    before, found, rest = text.partition(head)
    if not found:
        return f"{text.rstrip()}\n\n" if text else "", "", ""
    section, more, after = rest.partition("\n## ")
    return before, head + section, more + after
