# SPDX-License-Identifier: GPL-3.0-or-later
"""The .blend: opening it, checking it, and saving it with nothing else changed."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import bpy

from ...core import IK2DError
from ...rig.chain.paths.owners import with_settings
from ...rig.chain.readable import refuse_no_text
from .. import console
from . import files
from .blend_files import is_whole

# Identities of the files that Blender opened, by path, just before it opened them.
_found: dict[str, tuple[int, int, int] | None] = {}


@bpy.app.handlers.persistent
def _note_identity(path: str, *_: object) -> None:
    _found.clear()
    if path:
        _found[path] = files.identity(path)


def register() -> None:
    """Note the identities of files that Blender opens from now on, in background."""
    if bpy.app.background:
        bpy.app.handlers.load_pre.append(_note_identity)


def unregister() -> None:
    """Stop noting them."""
    if _note_identity in bpy.app.handlers.load_pre:
        bpy.app.handlers.load_pre.remove(_note_identity)
    _found.clear()


def open_scene(path: str | None, *, trusted: bool, forced: bool) -> None:
    """Open a .blend with its own windows and workspaces; raise IK2DError where that cannot be done.

    path: None for the file that is open. trusted: whether Python in its drivers is run. forced:
    whether a newer Blender may have saved it.
    """
    if path is None:
        check_opened(forced=forced)
        return
    if not os.path.isfile(path):
        raise IK2DError(f"there is no file '{path}'; name an existing .blend file")
    trust = {"use_scripts": True} if trusted else {}  # else as the preferences have it
    with _noted_loads() as loaded:
        try:
            bpy.ops.wm.open_mainfile(filepath=files.absolute(path), load_ui=True, **trust)
        except RuntimeError as error:
            words = " ".join(str(error).removeprefix("Error: ").split())
            if not loaded:
                raise IK2DError(
                    f"'{path}' cannot be opened as a .blend file ({words}); name another one"
                ) from None
            # Blender has opened and repaired it, and still calls that an error.
            console.complain(f"ik2d: warning: '{path}': {words}")
    check_opened(forced=forced)


def check_opened(*, forced: bool) -> None:
    """Raise IK2DError where no file is open, one with names that are no text, or one that is newer.

    forced: whether a newer Blender may have saved it.
    """
    if not bpy.data.filepath:
        raise IK2DError("no .blend file is open; name an existing one")
    for armature in with_settings(bpy.data.objects):
        refuse_no_text(armature)
    if bpy.data.version[:2] <= bpy.app.version_file[:2]:
        return
    newer, this = (".".join(map(str, version[:2])) for version in (bpy.data.version, bpy.app.version))
    versions = f"{newer}; this is {this}"
    words = f"'{bpy.data.filepath}' was saved by a newer Blender ({versions}), so data may be lost"
    if not forced:
        raise IK2DError(f"{words}; use Blender {newer}, or --force")
    console.complain(f"ik2d: warning: {words}")


def check_windows_read() -> None:
    """Raise IK2DError where Blender was told to open the file without its windows: saving would lose them."""
    if not bpy.context.preferences.filepaths.use_load_ui:
        raise IK2DError(
            f"'{bpy.data.filepath}' was opened without its windows and its active view layer, which would be"
            " lost; name the file after bake, or turn on Load UI in the preferences"
        )


def check_unchanged() -> None:
    """Raise IK2DError where the file that is open was written by somebody since Blender read it."""
    path = bpy.data.filepath
    if path in _found and _found[path] != files.identity(path):
        raise IK2DError(
            f"'{path}' was written since Blender opened it, so nothing is saved; run this once more"
        )


def check_no_library(path: str) -> None:
    """Raise IK2DError for an output that what is open takes its data from."""
    for library in bpy.data.libraries:
        if os.path.realpath(bpy.path.abspath(library.filepath)) == path:
            raise IK2DError(f"--output '{path}' is a library of the scene; name another file")


def leave_edit_mode(armatures: Sequence[bpy.types.Object]) -> None:
    """Leave Edit Mode, as Blender does with its edits written back, where armatures were saved in it."""
    objects = bpy.context.view_layer.objects
    active = objects.active
    for armature in armatures:
        if armature.type != 'ARMATURE' or not armature.data.is_editmode:
            continue
        for ob in [ob for ob in objects if ob.data == armature.data and ob.mode == 'EDIT']:
            objects.active = ob
            bpy.ops.object.mode_set(mode='OBJECT')
            console.say(f"ik2d: '{ob.name}' was in Edit Mode; it is in Object Mode now")
    objects.active = active


@contextmanager
def saved_beside(path: str) -> Iterator[str]:
    """Save what is open to a temporary file that can take the place of `path`; yield its path.

    path: absolute, with links followed. Raises IK2DError where it cannot be saved.
    """
    with files.temporary(path, ".blend") as written:
        if words := _saved(written, path):
            words = files.why_not_written(path, _size(bpy.data.filepath)) or words
            raise IK2DError(
                f"'{path}' could not be saved ({words}), so nothing is changed; make room,"
                " or choose another place"
            )
        yield written


def _saved(written: str, path: str) -> str:
    """Save what is open to a file that is to take the place of `path`; return what went wrong, if any."""
    preferences = bpy.context.preferences.filepaths
    versions = preferences.save_version
    preferences.save_version = 0  # else Blender keeps the empty file as a version of its own
    try:
        bpy.ops.wm.save_as_mainfile(
            filepath=written,
            copy=True,
            compress=_is_compressed(bpy.data.filepath),
            relative_remap=not is_over_itself(path),
        )
        return "" if is_whole(written) else "it was cut off"
    except (RuntimeError, OSError) as error:
        return " ".join(str(error).removeprefix("Error: ").split())
    finally:
        preferences.save_version = versions


def versions_kept() -> int:
    """Return the number of earlier files that Blender keeps (Preferences > Save & Load)."""
    return bpy.context.preferences.filepaths.save_version


def is_over_itself(path: str) -> bool:
    """Return whether the open file is saved over itself: its paths stay as they are then."""
    return os.path.realpath(bpy.data.filepath) == path


@contextmanager
def _noted_loads() -> Iterator[list[str]]:
    """Yield a list that gets the name of each file that is opened meanwhile."""
    loaded: list[str] = []

    @bpy.app.handlers.persistent
    def note(*_: object) -> None:
        loaded.append(bpy.data.filepath)

    bpy.app.handlers.load_post.append(note)
    try:
        yield loaded
    finally:
        bpy.app.handlers.load_post.remove(note)


def _is_compressed(path: str) -> bool:
    """Return whether the .blend that is open is compressed, so that saving keeps it so."""
    try:
        with open(path, "rb") as file:
            return not file.read(7).startswith(b"BLENDER")
    except OSError:  # it is gone since it was opened
        return False


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0
