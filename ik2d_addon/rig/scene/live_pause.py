# SPDX-License-Identifier: GPL-3.0-or-later
"""Pause live chains, as while a bake samples the scene."""

from collections.abc import Iterator
from contextlib import contextmanager

# The number of pauses that are on. Handlers read it directly on every frame.
pauses = 0


@contextmanager
def live_paused() -> Iterator[None]:
    """Pause live chains, so that frames can be stepped through without them."""
    global pauses
    pauses += 1
    try:
        yield
    finally:
        pauses -= 1
