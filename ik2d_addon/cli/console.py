# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines on stdout and stderr. Needs no Blender.

A stream that is closed, full or in a narrow encoding never stops a bake: what cannot be written is left out.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

_STDOUT, _STDERR = 1, 2


def say(text: str) -> None:
    """Write one line to stdout, unless it is gone."""
    _write(sys.stdout, f"{printable(text)}\n")


def complain(text: str) -> None:
    """Write one line to stderr, unless it is gone."""
    _write(sys.stderr, f"{printable(text)}\n")


def printable(text: str) -> str:
    """Return the text with characters that act on a terminal, or end the line, escaped as Python does."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text
    )


@contextmanager
def streams_open() -> Iterator[None]:
    """Open the standard streams that were closed on nothing, so that no file of ours gets their numbers."""
    opened = []
    try:
        while True:  # a new file gets the lowest number that is free
            number = os.open(os.devnull, os.O_RDWR)
            if number > _STDERR:
                os.close(number)
                break
            opened.append(number)
        yield
    finally:
        for number in opened:
            os.close(number)


@contextmanager
def stdout_to_stderr() -> Iterator[TextIO]:
    """Send all output, also Blender's, to stderr inside; yield stdout, for data alone."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
    kept = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)
    stream = open(kept, "w", encoding="utf-8", errors="surrogateescape", newline="", closefd=False)
    try:
        yield stream
    finally:
        for end in (stream.flush, stream.close):  # what cannot be written is lost with its reader
            with suppress(OSError, ValueError):
                end()
        with suppress(OSError, ValueError, AttributeError):
            sys.stdout.flush()
        os.dup2(kept, _STDOUT)
        os.close(kept)


@contextmanager
def stdout_unheard() -> Iterator[None]:
    """Send all output, also Blender's, to nowhere inside."""
    with stdout_to_stderr():
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, _STDOUT)
            yield
        finally:
            os.close(nowhere)


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:
        return
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except (OSError, ValueError):
        _let_go(stream)


def _let_go(stream: TextIO) -> None:
    """Send what a failed stream still holds, and all that follows, to nowhere."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, stream.fileno())
        finally:
            os.close(nowhere)
