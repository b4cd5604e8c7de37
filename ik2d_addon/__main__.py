# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m ik2d_addon bake SCENE.blend`: the command line, with the bpy module as Blender."""

import os
import sys
from contextlib import suppress
from importlib.util import find_spec

from .cli.console import complain, streams_open
from .cli.parent import end_with_parent
from .cli.parser import parsed
from .cli.session import temporary_folder
from .cli.signals import heeded


def main() -> int:
    """Run the command line in the bpy module and return its exit code. Help needs no bpy."""
    end_with_parent()
    if not {"-h", "--help"}.isdisjoint(sys.argv):
        with streams_open(), suppress(ValueError):  # IK2DError of other words: told below
            try:
                parsed(sys.argv[1:], opens_scene=True)
            except SystemExit as leaving:
                return leaving.code if isinstance(leaving.code, int) else 2
    if find_spec("bpy") is None:
        complain("ik2d: error: there is no bpy module here; `pip install bpy`, or use Blender itself")
        return 2
    with heeded(), streams_open(), temporary_folder():
        from . import register, unregister  # what Blender opens and writes at once has its place now
        from .cli.program import run

        register()
        try:
            return run(sys.argv[1:], opens_scene=True)
        finally:
            unregister()


if __name__ == "__main__":
    code = main()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):  # closed, or nobody reads it
            pass
    # Blender's own teardown in the bpy module can crash or hang Python's exit.
    os._exit(code)
