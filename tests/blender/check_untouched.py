# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake users' scenes in place by the installed extension's command line; say what else it has changed.

    blender --background --python-exit-code 3 --python tests/blender/check_untouched.py

Both doors of it: the file that Blender has opened, and the one that the command names.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import bpy  # noqa: E402
from file_contents import contents_of_file  # noqa: E402
from rigs import leg_with_target  # noqa: E402
from users_scenes import SCENES, changed, copy_of, save, start_anew  # noqa: E402

# Opens the files that are named after "--", each in a session with nothing open, and saves them.
SAVE_AGAIN = """
import bpy, sys
for path in sys.argv[sys.argv.index("--") + 1 :]:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.wm.open_mainfile(filepath=path, load_ui=True)
    compress = open(path, "rb").read(7) != b"BLENDER"
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True, compress=compress, relative_remap=False)
"""


def save_again(paths: list[Path]) -> None:
    _run("--python-expr", SAVE_AGAIN, "--", *paths)


def opened_by_blender(path: Path) -> None:
    _run(path, "--command", "ik2d", "bake", "--frames", "1:40")


def named_by_the_command(path: Path) -> None:
    _run("--command", "ik2d", "bake", path, "--frames", "1:40")


DOORS = opened_by_blender, named_by_the_command


def _run(*arguments: object) -> None:
    command = [bpy.app.binary_path, "--background", "--python-exit-code", "3", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        raise SystemExit(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")


def scene_with(add: Callable[[Path], None], folder: Path) -> Path:
    """Save a leg to bake and something of the user's in a folder of its own; return the file's path."""
    folder.mkdir()
    start_anew()
    leg_with_target()
    add(folder)
    return save(folder / "scene.blend")


def check(path: Path) -> bool:
    """Print what else than the bake is changed in a scene by each door; return whether nothing is."""
    before, again = (contents_of_file(one) for one in (path, path.with_name(f"again_{path.name}")))
    untouched = True
    for door in DOORS:
        baked = contents_of_file(path.with_name(f"{door.__name__}_{path.name}"))
        found = changed(before, again, baked)
        name = f"{path.parent.name}, {door.__name__}"
        print(f"{name}: {len(found)} settings besides the keys are not as they were")
        for way, (old, new) in found.items():
            print(f"  FAILED {way}: {old!r:.200} -> {new!r:.200}")
        untouched = untouched and not found
    return untouched


def main() -> None:
    """Check each scene by both doors; raise SystemExit(1) where something else has changed."""
    print(f"Blender {bpy.app.version_string}")
    with tempfile.TemporaryDirectory() as folder:
        scenes = [scene_with(add, Path(folder, add.__name__)) for add in SCENES]
        save_again([copy_of(path, "again") for path in scenes])
        with ThreadPoolExecutor(2) as workers:  # Blender uses one processor, mostly
            bakes = [workers.submit(door, copy_of(path, door.__name__)) for path in scenes for door in DOORS]
            for bake in bakes:
                bake.result()
        untouched = [check(path) for path in scenes]
    sys.stdout.flush()
    if not all(untouched):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
