# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns at the live chains: one thread at a time, and not again from inside. Needs no Blender."""

import time
from contextvars import ContextVar

_LONGEST = 5.0  # seconds to wait for a turn: a thread that waits for this one would wait for ever
_LOOK_EVERY = 0.001

_turns = [None]  # one turn; taking it is one step of Python, whichever threads want it
_has_turn: ContextVar[bool] = ContextVar("has_turn", default=False)  # each thread has its own value


class LiveTurn:
    """Wait on entering until no other thread has the turn: whether it is this one's now.

    It is not where this thread has it already, as when Blender calls the handlers again while they evaluate,
    nor where another thread keeps it for longer than some seconds.
    """

    def __enter__(self) -> bool:
        self._is_ours = not _has_turn.get() and _taken()
        if self._is_ours:
            _has_turn.set(True)
        return self._is_ours

    def __exit__(self, *_error: object) -> None:
        if self._is_ours:
            _has_turn.set(False)
            _turns.append(None)


def _taken() -> bool:
    end = 0.0
    while True:
        try:
            _turns.pop()
            return True
        except IndexError:
            end = end or time.monotonic() + _LONGEST
            if time.monotonic() > end:
                return False
            time.sleep(_LOOK_EVERY)  # which lets other threads go on
