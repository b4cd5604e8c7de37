# SPDX-License-Identifier: GPL-3.0-or-later
"""The program: what is asked for, done; each way it may end, an exit code and one sentence."""

import traceback
from collections.abc import Sequence

import bpy

from ..core import IK2DError
from . import scene
from .baking import bake_file
from .console import complain, streams_open
from .parser import parsed
from .signals import Interrupted, heeded

EXIT_BAD_INPUT, EXIT_UNEXPECTED = 2, 3

_command = None  # what Blender gave for the registered command


def register() -> None:
    """Add `--command ik2d` to Blender's command line."""
    global _command
    scene.register()
    _command = bpy.utils.register_cli_command("ik2d", run)


def unregister() -> None:
    """Take `--command ik2d` away again."""
    bpy.utils.unregister_cli_command(_command)
    scene.unregister()


def run(arguments: Sequence[str], *, opens_scene: bool = False) -> int:
    """Do what the arguments say and return the exit code; errors are one line on stderr.

    opens_scene: whether the arguments must name the .blend; if not, Blender may have opened it.
    """
    with heeded(), streams_open():
        try:
            return bake_file(parsed(arguments, opens_scene))
        except IK2DError as error:
            complain(f"ik2d: error: {error}")
            return EXIT_BAD_INPUT
        except Interrupted as interrupted:
            complain("ik2d: interrupted; nothing is changed")
            return interrupted.exit_code
        except Exception as error:
            complain(
                f"ik2d: error: unexpected: {type(error).__name__}: {error};"
                " please report it, with the file if you can (--debug shows where it happened)"
            )
            if "--debug" in arguments:
                for line in traceback.format_exc().splitlines():
                    complain(line)
            return EXIT_UNEXPECTED
