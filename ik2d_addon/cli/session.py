# SPDX-License-Identifier: GPL-3.0-or-later
"""A temporary folder for one run with the bpy module, which never removes its own. Needs no Blender."""

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from .files.locks import hold, let_go

_LOCK = re.compile(r"(ik2d-run-[0-9a-f]{16})\.lock")


@contextmanager
def temporary_folder() -> Iterator[None]:
    """Give Blender, which is not imported yet, a temporary folder that is removed after this run.

    Folders that killed runs left behind are removed too.
    """
    try:
        parent = _parent()
        folder = os.path.join(parent, f"ik2d-run-{secrets.token_hex(8)}")
        lock = hold(f"{folder}.lock")  # first: a folder without one would be nobody's
        os.mkdir(folder, 0o700)
    except OSError:  # no folder can be made: Blender finds its own way
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
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            let_go(f"{folder}.lock", lock)


def _parent() -> str:
    if os.name == "nt":
        return tempfile.gettempdir()
    return os.environ.get("TMPDIR") or "/tmp"  # tempfile would write a file there to try it


def _remove_left_behind(parent: str) -> None:
    """Remove the folders of runs that have ended."""
    entries: list[os.DirEntry[str]] = []
    with suppress(OSError):  # a folder that may not be read
        entries += os.scandir(parent)
    for entry in entries:
        lock = _LOCK.fullmatch(entry.name)
        with suppress(OSError):  # gone since, or not to be removed: the others go
            if not lock or not _is_ours(entry):
                continue
            if (number := hold(entry.path)) is not None:
                shutil.rmtree(os.path.join(parent, lock.group(1)), ignore_errors=True)
                let_go(entry.path, number)


def _is_ours(entry: os.DirEntry[str]) -> bool:
    """Return whether this user owns a regular file."""
    if not entry.is_file(follow_symlinks=False):
        return False
    return not hasattr(os, "getuid") or entry.stat(follow_symlinks=False).st_uid == os.getuid()
