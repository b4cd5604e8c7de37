# SPDX-License-Identifier: GPL-3.0-or-later
"""Ctrl-C and the request to end: noted at once, heeded where a bake can stop. Needs no Blender.

Nothing is raised from within a handler: Blender swallows what is raised while it calls Python, and goes on.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_ASKED = (signal.SIGINT, signal.SIGTERM)

_noted: list[int] = []


class Interrupted(BaseException):
    """The user, or who runs this process, has asked it to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number  # as a shell says it: 130 after Ctrl-C


@contextmanager
def heeded() -> Iterator[None]:
    """Note meanwhile that the process shall end, rather than end it at once; a second time ends it."""
    before = {}
    with suppress(ValueError):  # not in the main thread: then whoever has it takes care of signals
        for number in _ASKED:
            before[number] = signal.signal(number, _note)
    try:
        yield
    finally:
        _noted.clear()
        for number, handler in before.items():
            # None is a handler of Blender's own, which Python cannot set.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def asked_to_end() -> Interrupted | None:
    """Return what is to be raised where the process was asked to end, else None."""
    return Interrupted(_noted[0]) if _noted else None


def stop_if_asked() -> None:
    """Raise Interrupted if the process was asked to end."""
    if interrupted := asked_to_end():
        raise interrupted


def _note(number: int, _: FrameType | None) -> None:
    if _noted:  # asked twice: what is half written is beside the files, and the next run clears it away
        os._exit(128 + number)
    _noted.append(number)
