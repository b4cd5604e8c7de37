# SPDX-License-Identifier: GPL-3.0-or-later
"""What is told on stdout and stderr. Needs no Blender.

A stream that is closed, full or in a narrow encoding never stops a bake: what cannot be told is left out.
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
    """Return the text with all that would act on a terminal, or end the line, as Python escapes it."""
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


@contextmanager
def streams_open() -> Iterator[None]:
    """Give a place to those of the standard streams that were closed, so that no file of ours gets theirs."""
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
    """Send what is told, by Blender too, to stderr meanwhile; yield stdout, for data alone."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
    kept = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)
    try:
        with open(kept, "w", encoding="utf-8", errors="surrogateescape", newline="", closefd=False) as stream:
            try:
                yield stream
            finally:
                with suppress(OSError, ValueError):
                    stream.flush()
    except OSError:  # in closing: what could not be written is lost with its reader
        pass
    finally:
        with suppress(OSError, ValueError, AttributeError):
            sys.stdout.flush()
        os.dup2(kept, _STDOUT)
        os.close(kept)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode()


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
    """Send what else is written to a stream that failed to nowhere, what it still holds too."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, stream.fileno())
        finally:
            os.close(nowhere)
