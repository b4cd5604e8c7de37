# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's `--command ik2d`. The program itself is loaded when it is run."""

from collections.abc import Sequence

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

    return run(arguments)
