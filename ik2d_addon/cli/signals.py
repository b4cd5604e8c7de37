# SPDX-License-Identifier: GPL-3.0-or-later
"""Ctrl-C and signals to end: noted at once, obeyed where a bake can stop. Needs no Blender.

Nothing is raised inside a handler: Blender swallows errors that are raised while it calls Python.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from .parent import is_orphan

_HANGUP = getattr(signal, "SIGHUP", None)  # not on Windows
_MEANT = {signal.SIGINT: signal.SIGINT, signal.SIGTERM: signal.SIGTERM}
# A terminal that is closed asks as SIGTERM does, and so does Ctrl-Break, which Windows has in its place.
for _also in (_HANGUP, getattr(signal, "SIGBREAK", None)):
    if _also is not None:
        _MEANT[_also] = signal.SIGTERM

_noted: list[int] = []


class Interrupted(BaseException):
    """The user, or who runs this process, has asked it to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number  # as a shell says it: 130 after Ctrl-C


@contextmanager
def heeded() -> Iterator[None]:
    """Note signals to end inside, rather than end at once; a second one ends the process."""
    before = _set_handlers()
    try:
        yield
    finally:
        _noted.clear()
        for number, handler in before.items():
            if handler is not None:  # as Blender's own is, which Python cannot set again
                signal.signal(number, handler)


def heed_from_now() -> None:
    """Note signals to end from now on: Blender takes Ctrl-C to stop rendering only."""
    _set_handlers()


def asked_to_end() -> Interrupted | None:
    """Return the exception to raise if the process was asked to end, else None."""
    if not _noted and is_orphan():
        return Interrupted(signal.SIGTERM)
    return Interrupted(_noted[0]) if _noted else None


def stop_if_asked() -> None:
    """Raise Interrupted if the process was asked to end."""
    if interrupted := asked_to_end():
        raise interrupted


def _set_handlers() -> dict[int, Any]:
    """Set handlers that note the signals; return those before."""
    before: dict[int, Any] = {}
    with suppress(ValueError):  # not in the main thread: then whoever has it takes care of signals
        for number in _MEANT:
            before[number] = signal.signal(number, _note)
            if number == _HANGUP and before[number] == signal.SIG_IGN:  # as nohup has it
                signal.signal(number, signal.SIG_IGN)
    return before


def _note(number: int, _: FrameType | None) -> None:
    meant = _MEANT[signal.Signals(number)]
    if not _noted:
        _noted.append(meant)
    elif number != _HANGUP:  # which a terminal and its shell both send
        os._exit(128 + meant)  # half-written files are temporary, and the next run removes them
