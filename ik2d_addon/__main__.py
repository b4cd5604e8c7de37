# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m ik2d_addon bake SCENE.blend`: the command line, with the bpy module as Blender."""

import os
import sys


def main() -> int:
    """Run the command line in the bpy module and return its exit code."""
    try:
        import bpy  # noqa: F401
    except ModuleNotFoundError:
        print(
            "ik2d: error: there is no bpy module here; `pip install bpy`, or use Blender itself",
            file=sys.stderr,
        )
        return 2
    from . import register, unregister
    from .cli import run

    register()
    try:
        return run(sys.argv[1:], opens_scene=True)
    except SystemExit as leaving:  # argparse: --help, or wrong options
        return leaving.code if isinstance(leaving.code, int) else 2
    finally:
        unregister()


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # Blender's own teardown in the bpy module can crash or hang Python's exit.
    os._exit(code)
