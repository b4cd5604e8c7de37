# SPDX-License-Identifier: GPL-3.0-or-later
"""Advisory locks on files, released when the process that holds them ends. Needs no Blender."""

import os
from contextlib import suppress

try:
    import fcntl
except ImportError:  # on Windows
    import msvcrt

    def _lock(number: int) -> None:
        msvcrt.locking(number, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]

else:

    def _lock(number: int) -> None:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)


def hold(path: str) -> int | None:
    """Lock a file, made if it is not there; return its descriptor, None where another process has it.

    Closing the descriptor releases it. Raises OSError if the file cannot be made.
    """
    while True:
        number = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
        try:
            _lock(number)
        except OSError:
            os.close(number)
            return None
        if _is_still(path, number):
            return number
        os.close(number)  # who had it has removed it since


def let_go(path: str, number: int) -> None:
    """Remove a file that is held, and release it."""
    if os.name != "nt":  # while it is held, so that nobody locks what is about to go
        with suppress(OSError):
            os.remove(path)
    os.close(number)
    if os.name == "nt":  # where an open file cannot be removed
        with suppress(OSError):
            os.remove(path)


def free(path: str) -> bool:
    """Return whether no process holds the file."""
    try:
        number = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        _lock(number)
    except OSError:
        return False
    finally:
        os.close(number)
    return True


def _is_still(path: str, number: int) -> bool:
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return False
    ours = os.fstat(number)
    return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)
