# SPDX-License-Identifier: GPL-3.0-or-later
"""The one exception that IK 2D raises."""

from collections.abc import Sequence


class IK2DError(ValueError):
    """Invalid input. The message names the thing and the way out.

    A target out of reach is not an error: it is a `Solution` with a status.

    >>> Chain([1.0, -2.0])
    Traceback (most recent call last):
        ...
    IK2DError: lengths must not be negative; bone 1 is -2.0
    """

    def __init__(self, message: object, cures: Sequence[str] = ()) -> None:
        """Keep the message, and the names of the caller's arguments that cure it."""
        super().__init__(message)
        self.cures = tuple(cures)
