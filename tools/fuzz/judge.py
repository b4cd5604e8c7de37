# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run must not do: each function returns its complaints as sentences, none where all is well."""

import hashlib
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from .program import Ended

ERROR = "ik2d: error: "
# Names of unfinished files: ours, Python's and Blender's own.
LITTER = re.compile(rb"\.ik2d|\.part$|@$|^blender_|^tmp")
TRACEBACK = "Traceback (most recent call last)"


def manners(ended: Ended, codes: Iterable[int] = (0, 1, 2), several: bool = False) -> list[str]:
    """Judge the exit code and what was printed. several: files may have a sentence each."""
    complaints = []
    if ended.hung or ended.code not in codes:
        complaints.append(f"ended with {ended.words()}")
    if TRACEBACK in ended.text:
        complaints.append(f"printed a traceback: {_last_line(ended.text)}")
    errors = [line for line in ended.err.splitlines() if line.startswith(ERROR)]
    if ended.code == 2 and len(errors) != 1 and not (several and "error: " in ended.err):
        complaints.append(f"exit code 2 with {len(errors)} sentences on stderr")
    if ended.code in (0, 1) and errors:
        complaints.append(f"{ended.words()}, yet: {errors[0]}")
    if any("Success" in error for error in errors):
        complaints.append(f"calls an error a success: {errors[0]}")
    return complaints


def files(folder: Path) -> dict[bytes, str]:
    """Return what lies below a folder: path -> the digest of its bytes, or what it is other than a file."""
    found = {}
    for parent, folders, names in os.walk(os.fsencode(folder)):
        for name in folders + names:
            path = os.path.join(parent, name)
            found[os.path.relpath(path, os.fsencode(folder))] = content(path)
    return found


def unchanged(before: dict[bytes, str], folder: Path) -> list[str]:
    """Judge a folder in which nothing should have happened."""
    return [f"{what} though nothing should be" for what in changes(before, files(folder))]


def changes(before: dict[bytes, str], after: dict[bytes, str]) -> list[str]:
    """Name what came, went or changed."""
    named = [(name, "written") for name in after.keys() - before.keys()]
    named += [(name, "gone") for name in before.keys() - after.keys()]
    named += [(name, "changed") for name in before.keys() & after.keys() if before[name] != after[name]]
    return [f"{_shown(name)} is {what}" for name, what in sorted(named)]


def litter(folder: Path, known: Iterable[bytes] = ()) -> list[str]:
    """Judge what is left in a folder of unfinished files."""
    left = files(folder).keys() - set(known)
    return [f"leaves {_shown(name)}" for name in sorted(left) if LITTER.search(os.path.basename(name))]


def empty(folder: Path, what: str = "the temporary directory") -> list[str]:
    """Judge a folder that should be empty."""
    names = sorted(os.listdir(folder)) if folder.is_dir() else []
    return [f"leaves in {what}: {', '.join(names[:5])}"] if names else []


def whole(paths: Iterable[Path], look: Callable[[Path], dict | None]) -> list[str]:
    """Judge .blend files, each of which should open."""
    return [f"{path.name} does not open" for path in paths if path.is_file() and look(path) is None]


def content(path: bytes) -> str:
    """Return the digest of a file's bytes, or what is there other than a file."""
    if os.path.islink(path):
        return f"link to {_shown(os.readlink(path))}"
    try:
        if not os.path.isfile(path):
            return f"mode {os.lstat(path).st_mode:o}"
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:  # while the program runs
        return "gone"


def _last_line(text: str) -> str:
    lines = text[text.index(TRACEBACK) :].splitlines()[1:]
    return next((line for line in lines if line and not line.startswith(" ")), "?")[:300]


def _shown(name: bytes) -> str:
    shown = repr(name)[2:-1]
    return shown if len(shown) < 80 else f"{shown[:60]}..."
