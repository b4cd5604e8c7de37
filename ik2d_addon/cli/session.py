# SPDX-License-Identifier: GPL-3.0-or-later
"""A temporary folder for one run with the bpy module, which never removes its own. Needs no Blender."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from .locks import free, hold

_PREFIX, _LOCK = "ik2d-run-", "in-use"
_JUST_MADE = 60.0  # seconds: a younger folder may be about to get its lock


@contextmanager
def temporary_folder() -> Iterator[None]:
    """Let Blender, which is not imported yet, have its temporary folder in one that goes with this run.

    Those that killed runs have left behind go too.
    """
    try:
        parent = tempfile.gettempdir()
        folder = tempfile.mkdtemp(prefix=_PREFIX)
        lock = hold(os.path.join(folder, _LOCK))
    except OSError:  # there is none to write to: Blender copes, and has its own way
        yield
        return
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = folder
    try:
        _remove_left_behind(parent)
        yield
    finally:
        if before is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = before
        if lock is not None:
            os.close(lock)
        shutil.rmtree(folder, ignore_errors=True)


def _remove_left_behind(parent: str) -> None:
    """Remove the folders of runs that are no more."""
    with suppress(OSError):
        for entry in os.scandir(parent):
            if not entry.name.startswith(_PREFIX) or not _is_ours(entry):
                continue
            lock = os.path.join(entry.path, _LOCK)
            old = time.time() - entry.stat().st_mtime > _JUST_MADE
            if free(lock) if os.path.exists(lock) else old:
                shutil.rmtree(entry.path, ignore_errors=True)


def _is_ours(entry: os.DirEntry[str]) -> bool:
    """Return whether it is a folder of this user's."""
    return entry.is_dir(follow_symlinks=False) and (
        not hasattr(os, "getuid") or entry.stat(follow_symlinks=False).st_uid == os.getuid()
    )
