# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake users' scenes in place by the installed extension's command line; say what else it has changed.

    blender --background --python-exit-code 3 --python tests/blender/check_untouched.py

Both doors of it: the file that Blender has opened, and the one that the command names.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import bpy  # noqa: E402
from rigs import leg_with_target  # noqa: E402
from users_scenes import SCENES, changed_by_baking, save, start_anew  # noqa: E402

SAVE_AGAIN = (
    "import bpy; path = bpy.data.filepath; compress = open(path, 'rb').read(7) != b'BLENDER';"
    " bpy.ops.wm.save_as_mainfile(filepath=path, copy=True, compress=compress, relative_remap=False)"
)


def save_again(path: Path) -> None:
    _run(path, "--python-expr", SAVE_AGAIN)


def opened_by_blender(path: Path) -> None:
    _run(path, "--command", "ik2d", "bake", "--frames", "1:40")


def named_by_the_command(path: Path) -> None:
    _run("--command", "ik2d", "bake", path, "--frames", "1:40")


def _run(*arguments: object) -> None:
    command = [bpy.app.binary_path, "--background", "--python-exit-code", "3", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        raise SystemExit(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")


def check(add: Callable[[Path], None], bake: Callable[[Path], None]) -> bool:
    """Bake one scene and print what else changed; return whether nothing did."""
    start_anew()
    leg_with_target()
    with tempfile.TemporaryDirectory() as folder:
        add(Path(folder))
        found = changed_by_baking(save(Path(folder, "scene.blend")), bake, save_again)
    print(f"{add.__name__}, {bake.__name__}: {len(found)} settings besides the keys are not as they were")
    for way, (before, after) in found.items():
        print(f"  FAILED {way}: {before!r:.200} -> {after!r:.200}")
    return not found


def main() -> None:
    """Check each scene by both doors; raise SystemExit(1) where something else has changed."""
    print(f"Blender {bpy.app.version_string}")
    untouched = [check(add, bake) for add in SCENES for bake in (opened_by_blender, named_by_the_command)]
    sys.stdout.flush()
    if not all(untouched):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
