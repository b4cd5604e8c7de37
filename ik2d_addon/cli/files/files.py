# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are written whole or not at all, by one process at a time.

What is written is first a temporary file in the same folder, then put in place in one step: whenever a run
is killed, the old file or the new one is there. What killed runs leave behind, the next one clears away.
Needs no Blender.
"""

import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256

from ...core import IK2DError
from ..console import complain
from .locks import free, hold, let_go

_LONGEST_PATH = 1023  # bytes that Blender takes; its own copies and ours append some to it
_APPENDED = len("1")
_LONGEST_OWN = 64  # at least as long as a temporary name
_IN_USE = "'{}' is being written by another ik2d process; wait until it has ended"


def target_of(path: str) -> str:
    """Return the absolute path of the file that is written for `path`, with links followed.

    Raises IK2DError if the path is relative to a folder that is gone.
    """
    return os.path.realpath(absolute(path))


def absolute(path: str) -> str:
    """Return the absolute path; raise IK2DError if the working folder is gone, or the name is invalid."""
    if "\0" in path:
        raise IK2DError(f"'{path}' cannot be the name of a file; name another one")
    try:
        return os.path.abspath(path)
    except FileNotFoundError:
        raise IK2DError(
            f"the working folder is gone, so '{path}' leads nowhere; give the whole path"
        ) from None


def check_can_write(path: str) -> None:
    """Raise IK2DError before any work is done, rather than after. path: absolute, with links followed."""
    folder, name = os.path.split(path)
    if os.path.isdir(path):
        raise IK2DError(f"'{path}' is a folder; name a file to write")
    if not os.path.isdir(folder):
        raise IK2DError(f"there is no folder '{folder}' to write '{name}' to; make it first")
    if os.path.exists(path) and not os.path.isfile(path):
        raise IK2DError(f"'{path}' is no regular file, and only such are replaced; name another one")
    may_write = all(os.access(there, os.W_OK) for there in (folder, path) if os.path.exists(there))
    if not may_write or not _may_replace(path, folder):
        raise IK2DError(f"'{path}' cannot be written; choose another place, or mend its permissions")
    longest = _LONGEST_PATH - max(_APPENDED, _LONGEST_OWN - len(os.fsencode(name)))
    if len(os.fsencode(path)) > longest or len(os.fsencode(name)) + _APPENDED > _longest_name(folder):
        short = f"{path[:40]}...{path[-20:]}"
        raise IK2DError(f"the path '{short}' is longer than can be written; choose a shorter one")


def _may_replace(path: str, folder: str) -> bool:
    """Return whether the folder lets this user replace what is there: a sticky one asks whose it is."""
    if os.name != "posix" or not os.path.exists(path) or os.geteuid() == 0:
        return True
    there, around = os.stat(path), os.stat(folder)
    return not around.st_mode & stat.S_ISVTX or os.geteuid() in (there.st_uid, around.st_uid)


def _longest_name(folder: str) -> int:
    try:
        return os.pathconf(folder, "PC_NAME_MAX")
    except (AttributeError, OSError, ValueError):
        return 255


def check_free(path: str) -> None:
    """Raise IK2DError if another process of ours is writing the file. path: as for `locked`."""
    lock = _beside(path, ".lock")
    try:
        if not free(lock):
            raise IK2DError(_IN_USE.format(path))
    except FileNotFoundError:
        pass
    except OSError as error:
        raise _no_lock(path, lock, error) from None


@contextmanager
def locked(path: str) -> Iterator[None]:
    """Lock a file against other processes of ours; remove temporary files of killed ones next to it.

    path: absolute, with links followed. Raises IK2DError if another process holds it.
    """
    lock = _beside(path, ".lock")
    try:
        number = hold(lock)
    except OSError as error:
        raise _no_lock(path, lock, error) from None
    if number is None:
        raise IK2DError(_IN_USE.format(path))
    try:
        _clear_left_behind(path)
        yield
    finally:
        if not let_go(lock, number):
            _name_left_behind(lock)


def _no_lock(path: str, lock: str, error: OSError) -> IK2DError:
    words = f"'{path}' cannot be written ({error.strerror}: '{lock}')"
    if os.path.islink(lock):
        return IK2DError(f"{words}; remove that link")
    return IK2DError(f"{words}; remove that file, choose another place, or mend the permissions")


@contextmanager
def temporary(path: str, ending: str) -> Iterator[str]:
    """Yield the path of a new, empty file in the same folder; what is there afterwards is removed."""
    name = _beside(path, f"-{secrets.token_hex(8)}{ending}")
    os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    try:
        yield name
    finally:
        for left in (name, f"{name}@"):  # the second is Blender's own, while it writes
            with suppress(OSError):
                os.remove(left)


@contextmanager
def temporary_folder(path: str) -> Iterator[str]:
    """Yield the path of a new, empty folder next to a file; it is removed afterwards."""
    name = _beside(path, f"-{secrets.token_hex(8)}.tmp")
    os.mkdir(name)
    try:
        yield name
    finally:
        shutil.rmtree(name, ignore_errors=True)


def put_in_place(written: str, path: str, versions: int = 0) -> None:
    """Replace the file at `path` by a temporary one in one step, with its permissions.

    versions: how many earlier files are kept, as Blender does: scene.blend1, scene.blend2.
    """
    if os.path.exists(path):
        _take_permissions(written, path)
        _keep_versions(path, versions)
    _sync(written)
    os.replace(written, path)
    _sync(os.path.dirname(path))


def why_not_written(path: str, size: int) -> str:
    """Return the system's error for writing `size` bytes next to the path; "" if they can be written."""
    try:
        with temporary(path, ".tmp") as name, open(name, "wb") as file:
            block = bytes(1 << 20)
            for _ in range(size // len(block) + 1):
                file.write(block)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _keep_versions(path: str, versions: int) -> None:
    for number in range(versions, 1, -1):
        if os.path.exists(f"{path}{number - 1}"):
            os.replace(f"{path}{number - 1}", f"{path}{number}")
    if versions:
        with temporary(path, ".tmp") as name:
            os.remove(name)
            try:  # another name for the file: at no time is there none at `path`
                os.link(path, name)
            except OSError:  # where the file system has no such names
                shutil.copy2(path, name)
            os.replace(name, f"{path}1")


def _take_permissions(written: str, path: str) -> None:
    there = os.stat(path)
    with suppress(OSError, AttributeError):  # only root may give files away
        if (there.st_uid, there.st_gid) != (os.getuid(), os.getgid()):
            os.chown(written, there.st_uid, there.st_gid)
    with suppress(OSError):
        shutil.copymode(path, written)


def _sync(path: str) -> None:
    """Write a file or a folder out to the disk, if the system can."""
    with suppress(OSError):
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _beside(path: str, ending: str) -> str:
    """Return a short hidden path of ours for a file, in its folder."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".ik2d-{sha256(os.fsencode(name)).hexdigest()[:12]}{ending}")


def _clear_left_behind(path: str) -> None:
    """Remove what killed runs left next to a file, and name what cannot be removed."""
    stem = os.path.basename(_beside(path, ""))
    ours = re.compile(re.escape(stem) + r"-[0-9a-f]{16}\.(blend@?|tmp)")
    with suppress(OSError):
        for entry in [entry for entry in os.scandir(os.path.dirname(path)) if ours.fullmatch(entry.name)]:
            try:
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path)
                else:
                    os.remove(entry.path)
            except FileNotFoundError:
                pass
            except OSError:
                _name_left_behind(entry.path)


def _name_left_behind(path: str) -> None:
    complain(f"ik2d: warning: '{path}', which another run left, cannot be removed; its owner can")


def identity(path: str) -> tuple[int, int, int] | None:
    """Return the identity of a file, which changes when it is written; None for a missing file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
