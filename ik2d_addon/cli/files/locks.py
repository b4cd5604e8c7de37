# SPDX-License-Identifier: GPL-3.0-or-later
"""Advisory locks on files, released when the process that holds them ends. Needs no Blender."""

import errno
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


_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def hold(path: str) -> int | None:
    """Lock a file, made if it is not there; return its descriptor, None where another process has it.

    Closing the descriptor releases it. Raises OSError if the file cannot be made, or is a link: what that
    leads to is neither made nor opened.
    """
    while True:
        try:
            number = _open(path, os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            try:
                number = _open(path)
            except FileNotFoundError:  # who had it has removed it since
                continue
        try:
            _lock(number)
        except OSError:
            os.close(number)
            return None
        if _is_still(path, number):
            return number
        os.close(number)  # who had it has removed it since


def let_go(path: str, number: int) -> bool:
    """Remove a file that is held, and release it; return whether it is gone."""
    if os.name != "nt":  # while it is held, so that nobody locks what is about to go
        with suppress(OSError):
            os.remove(path)
    os.close(number)
    if os.name == "nt":  # where an open file cannot be removed
        with suppress(OSError):
            os.remove(path)
    return not os.path.lexists(path)


def free(path: str) -> bool:
    """Return whether no process holds the file. Raises OSError if it is not there, or cannot be opened."""
    number = _open(path)
    try:
        _lock(number)
    except OSError:
        return False
    finally:
        os.close(number)
    return True


def _open(path: str, more: int = 0) -> int:
    if os.path.islink(path):  # for Windows, which has no O_NOFOLLOW
        raise OSError(errno.ELOOP, "it is a link")
    return os.open(path, os.O_RDWR | more | _FLAGS, 0o666)


def _is_still(path: str, number: int) -> bool:
    try:
        there = os.lstat(path)
    except FileNotFoundError:
        return False
    ours = os.fstat(number)
    return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)
