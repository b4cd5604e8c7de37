# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's `--command ik2d`. The program itself is loaded when it is run."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

import bpy

from .files import scene

_command = None  # what Blender gave for the registered command


def register() -> None:
    """Add `--command ik2d` to Blender's command line."""
    global _command
    scene.register()
    _command = bpy.utils.register_cli_command("ik2d", _run)


def unregister() -> None:
    """Remove `--command ik2d`."""
    bpy.utils.unregister_cli_command(_command)
    scene.unregister()


def _run(arguments: Sequence[str]) -> int:
    from .program import run

    with _in_window():
        return run(arguments)


def _in_window() -> AbstractContextManager[None]:
    """Use a window of the open file: Blender runs commands in none, where no mode can change."""
    windows = bpy.context.window_manager.windows
    if bpy.context.window is not None or not windows:
        return nullcontext()
    return bpy.context.temp_override(window=windows[0])
