# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether live chains keep still for a while, as they do while a bake looks at the scene."""

from collections.abc import Iterator
from contextlib import contextmanager

_pauses = 0


@contextmanager
def live_paused() -> Iterator[None]:
    """Have live chains keep still: what steps through frames wants the scene without them."""
    global _pauses
    _pauses += 1
    try:
        yield
    finally:
        _pauses -= 1


def live_is_paused() -> bool:
    """Return whether somebody has live chains keep still."""
    return _pauses > 0
