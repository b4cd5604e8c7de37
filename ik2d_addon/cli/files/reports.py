# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a bake, as JSON or as a table, in a file or on a stream."""

import csv
import io
import json
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any, TextIO

import bpy

from ...bake import BakeReport
from ...core import IK2DError
from ..console import complain, printable, stdout_to_stderr
from . import files

_BLEND = re.compile(r"\.blend(\d*|@)$", re.IGNORECASE)  # a scene, or one of Blender's backups of it
_STDOUT = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}
_FORMULA = ("=", "+", "-", "@")  # a spreadsheet would calculate these


def goes_to_stdout(path: str | None) -> bool:
    """Return whether the report is asked for on stdout."""
    return path in _STDOUT


def stdout_of(path: str | None) -> AbstractContextManager[TextIO | None]:
    """Return a context with stdout for the report alone, where it is asked for there; else with None."""
    return stdout_to_stderr() if goes_to_stdout(path) else nullcontext()


def file_of(path: str, output: str) -> str | None:
    """Return the file that the report is written to, links followed; None where it goes to a stream.

    Raises IK2DError where it cannot be written, or would take the place of a .blend.
    """
    if goes_to_stdout(path) or _is_stream(path):
        return None
    report = files.target_of(path)
    if any(os.path.realpath(blend) == report for blend in (bpy.data.filepath, output)):
        raise IK2DError(f"--report '{path}' would overwrite the .blend; choose another name for it")
    if _BLEND.search(report):
        raise IK2DError(f"--report '{path}' has the name of a .blend; choose one that ends in .json or .csv")
    files.check_can_write(report)
    return report


@contextmanager
def report_written(
    path: str, report: str | None, text: str, output: str, stdout: TextIO | None
) -> Iterator[None]:
    """Write the report to a temporary file before the scene is saved, and put it in place afterwards.

    So a full disk is found before the scene is touched, and no half report is left behind. report: as
    file_of returned it; a stream is written to afterwards. stdout: the stream, where it is asked for there.
    """
    if report is None:
        yield
        _write_to_stream(path, text, stdout)
        return
    with ExitStack() as kept:
        try:
            written = kept.enter_context(files.temporary(report, ".tmp"))
            with open(written, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
                file.write(text)
        except OSError as error:
            raise IK2DError(
                f"the report '{path}' could not be written ({error.strerror}), so nothing is saved;"
                " choose another place"
            ) from None
        yield
        try:
            files.put_in_place(written, report)
        except OSError as error:
            raise IK2DError(
                f"'{output}' is saved, but the report '{path}' could not be written ({error.strerror});"
                " choose another place"
            ) from None


def report_text(path: str, output: str, reports: Sequence[BakeReport]) -> str:
    """Return the report as it is written: a table if the path ends in .csv, else JSON."""
    if path.lower().endswith(".csv"):
        return table([row for report in reports for row in _rows(report)])
    content = {
        "file": os.path.basename(output),
        "armatures": [report.to_dict() for report in reports],
    }
    return _json(content) + "\n"


def _rows(report: BakeReport) -> Iterator[dict[str, Any]]:
    """Yield the rows of a report's frames, of several actions each after its action's name."""
    for clip in report.by_action:
        named = {"action": clip.action} if report.actions else {}
        yield from (named | row for one in (*clip.chains, *clip.mechanisms) for row in one.rows())


def _json(value: Any, line: str = "\n") -> str:
    """Return JSON with a line for each entry of a dict, and a list of numbers or names in one line."""
    entries: list[str] | None = None
    if isinstance(value, dict):
        entries = [f"{json.dumps(name)}: {_json(each, line + ' ')}" for name, each in value.items()]
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        entries = [_json(each, line + " ") for each in value]
    if entries is None:
        return json.dumps(value, allow_nan=False)
    start, end = "{}" if isinstance(value, dict) else "[]"
    return f"{start}{line} {f',{line} '.join(entries)}{line}{end}"


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return rows as CSV under the columns' names; names that a spreadsheet would work out get a ' before.

    What a row has no column of, as of chains that do not stretch, stays empty.
    """
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, dict.fromkeys(column for row in rows for column in row), restval="")
    writer.writeheader()
    writer.writerows({column: _cell(value) for column, value in row.items()} for row in rows)
    return file.getvalue()


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def _is_stream(path: str) -> bool:
    """Return whether the path leads to a pipe or a device, which is written to and never replaced.

    Raises IK2DError where that cannot be written.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return False
    if not (stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)) or not os.access(path, os.W_OK):
        raise IK2DError(f"--report '{path}' is nothing that can be written; name a file, a pipe or -")
    return True


def _write_to_stream(path: str, text: str, stdout: TextIO | None) -> None:
    """Write the report to a stream; one that nobody reads is no error of the bake."""
    try:
        if stdout is not None:
            stdout.write(text)
            stdout.flush()
        else:
            number = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)  # waits for no reader of a pipe
            os.set_blocking(number, True)
            with open(number, "w", encoding="utf-8") as file:
                file.write(text)
    except (OSError, ValueError) as error:
        complain(f"ik2d: warning: the report could not be written to '{path}' ({error})")
