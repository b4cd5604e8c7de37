# SPDX-License-Identifier: GPL-3.0-or-later
"""Pause live chains, as while a bake samples the scene."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

# The number of pauses that are on. Handlers read it directly on every frame.
pauses = 0
# Whether a handler had to leave the chains as they were meanwhile, and what is then called at the end.
skipped = False
ended: list[Callable[[], None]] = []


@contextmanager
def live_paused() -> Iterator[None]:
    """Pause live chains, so that frames can be stepped through without them."""
    global pauses, skipped
    pauses += 1
    try:
        yield
    finally:
        pauses -= 1
        if not pauses and skipped:
            skipped = False
            for function in ended:
                function()
