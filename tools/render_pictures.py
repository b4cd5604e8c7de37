# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake the sample scenes and renew their pictures: python tools/render_pictures.py [NAME ...]"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCENES = ROOT / "sample_scenes"
WIDTH = 1020  # pixels; keeps each picture under 400 KB
# Those that are shown in motion too, in docs/: the picture's name, and how render_moving.py makes it.
MOVING = {
    "06_crane": ("crane", "--step", 3),
    "07_native": ("insect", "--step", 3),
    "08_cutout": ("cutout", "--step", 2, "--width", 720, "--samples", 12),
    "09_thrower": ("thrower", "--step", 2),
    "10_robot_arm": ("robot_arm", "--step", 2),
    "11_walker": ("walker", "--step", 3),
}
NO_PATHS = ("08_cutout",)  # a drawing whose lines count
NATIVE = ("07_native",)  # these move without a bake


def main(names: list[str]) -> None:
    """Renew the pictures of the named scenes, or of all."""
    for scene in [SCENES / f"{name}.blend" for name in names] or sorted(SCENES.glob("*.blend")):
        with tempfile.TemporaryDirectory() as folder:
            moving = scene
            if scene.stem not in NATIVE:
                moving = Path(folder) / scene.name
                run("-m", "ik2d_addon", "bake", scene, "--output", moving)
            strip = (moving, scene.with_suffix(".png"), "--width", WIDTH)
            paths = ("--no-paths",) if scene.stem in NO_PATHS else ()
            run(ROOT / "tools" / "render_strip.py", *strip, *paths)
            if scene.stem in MOVING:
                name, *how = MOVING[scene.stem]
                picture = ROOT / "docs" / f"{name}.webp"
                run(ROOT / "tools" / "render_moving.py", moving, picture, *how)


def run(*arguments: object) -> None:
    """Run this Python with the arguments; end here if it fails."""
    done = subprocess.run([sys.executable, *map(str, arguments)], cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main(sys.argv[1:])
