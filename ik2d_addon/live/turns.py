# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns at the live chains: one thread at a time, and not again from inside. Needs no Blender."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_LONGEST = 5.0  # seconds to wait for a turn: a thread that waits for this one would wait for ever
_LOOK_EVERY = 0.001

_turns = [None]  # one turn; taking it is one step of Python, whichever threads want it
_has_turn: ContextVar[bool] = ContextVar("has_turn", default=False)  # each thread has its own value


@contextmanager
def turn() -> Iterator[bool]:
    """Wait until no other thread has the turn; yield whether it is this one's now.

    It is not where this thread has it already, as when Blender calls the handlers again while they evaluate,
    nor where another thread keeps it for longer than some seconds.
    """
    if _has_turn.get() or not _taken():
        yield False
        return
    _has_turn.set(True)
    try:
        yield True
    finally:
        _has_turn.set(False)
        _turns.append(None)


def _taken() -> bool:
    end = time.monotonic() + _LONGEST
    while True:
        try:
            _turns.pop()
            return True
        except IndexError:
            if time.monotonic() > end:
                return False
            time.sleep(_LOOK_EVERY)  # which lets other threads go on
