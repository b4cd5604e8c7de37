# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether live chains keep still for a while, as they do while a bake looks at the scene."""

from collections.abc import Iterator
from contextlib import contextmanager

# How many want live chains to keep still. Read as it is: handlers look at it on every frame.
pauses = 0


@contextmanager
def live_paused() -> Iterator[None]:
    """Have live chains keep still: what steps through frames wants the scene without them."""
    global pauses
    pauses += 1
    try:
        yield
    finally:
        pauses -= 1
