# SPDX-License-Identifier: GPL-3.0-or-later
"""A process that bakes one of several files ends with the one that started it. Needs no Blender."""

import os
import signal
import sys
from contextlib import suppress

_PARENT = "IK2D_PARENT"  # the environment variable with the id of the process that started this one
_PR_SET_PDEATHSIG = 1  # of Linux: linux/prctl.h

_parent: int | None = None


def environment_of_children() -> dict[str, str]:
    """Return the environment in which a child ends with this process."""
    return {**os.environ, _PARENT: str(os.getpid())}


def end_with_parent() -> None:
    """Have Linux end this process with the one that started it as one of several; else note that one's id."""
    global _parent
    told = os.environ.pop(_PARENT, "")
    if os.name != "posix" or not told.isdecimal():  # Windows gives a process no other parent
        return
    _parent = int(told)
    if sys.platform == "linux":
        import ctypes  # for these processes alone

        with suppress(OSError, AttributeError):  # a libc without it: then as on macOS
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if is_orphan():  # it ended before this
        os._exit(128 + signal.SIGTERM)


def is_orphan() -> bool:
    """Return whether the process that started this one as one of several has ended."""
    return _parent is not None and os.getppid() != _parent
