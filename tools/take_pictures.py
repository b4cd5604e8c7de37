# SPDX-License-Identifier: GPL-3.0-or-later
"""Take the documents' pictures anew, in a real Blender window, and put them in docs/.

    python tools/take_pictures.py --gui BLENDER_GUI [--blender BLENDER] [NAME ...]

BLENDER_GUI is the program that runs Blender on a screen of its own and saves pictures of it; blender_ui.py
is beside it (the environment variable BLENDER_GUI does as well). The extension is built and installed for a
new user. NAME is a script in tools/pictures; without one all are run.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
# Script -> the sample scene that it starts from, and the size of the window.
SCRIPTS = {
    "actions": ("01_walking_leg", "1600x1500"),
    "cutout": ("08_cutout", "1600x1800"),
    "languages": ("02_excavator", "1600x1760"),
    "machines": ("11_walker", "1600x1800"),
    "panel": ("02_excavator", "1600x1130"),
    "riggers": ("01_walking_leg", "1600x1800"),
    "troubles": ("01_walking_leg", "1400x1760"),
    "walk": ("01_walking_leg", "1600x1620"),
}
# Moving picture -> the beginning of its frames' names, its width in pixels, milliseconds a frame.
MOVING = {"walk_cycle": ("cycle_", 640, 42)}
SECONDS, LARGEST = 1500, 2 * 2**20
COLORS = 256  # of a still picture; an octree keeps rare colors, which a median cut loses


def main(arguments: list[str]) -> int:
    """Run the scripts and return the exit code."""
    parser = argparse.ArgumentParser(description="Take the documents' pictures in a real Blender window.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(SCRIPTS)}")
    parser.add_argument("--gui", default=os.environ.get("BLENDER_GUI"), help="the program blender-gui")
    parser.add_argument("--blender", default=os.environ.get("BLENDER", "blender"), help="the Blender to run")
    options = parser.parse_args(arguments)
    unknown = set(options.names) - set(SCRIPTS)
    if unknown or not options.gui:
        reason = f"There is no script {', '.join(unknown)}" if unknown else "Name blender-gui with --gui"
        print(reason, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        environment = installed(options, Path(folder))
        for name in options.names or SCRIPTS:
            take(name, options, environment)
            publish(Path(environment["IK2D_SHOTS"]))
    return 0


def installed(options: argparse.Namespace, folder: Path) -> dict[str, str]:
    """Build and install the extension for a new user; return the environment for Blender."""
    environment = {
        **os.environ,
        "BLENDER_USER_RESOURCES": str(folder / "resources"),
        "IK2D_GUI_TOOLS": str(Path(shutil.which(options.gui) or options.gui).resolve().parent),
        "IK2D_GUI_STEPS": str(ROOT / "tests" / "gui"),
        "IK2D_SHOTS": str(folder / "shots"),
    }
    for made in ("resources", "shots"):
        (folder / made).mkdir()
    extension = [options.blender, "--command", "extension"]
    run([*extension, "build", "--source-dir", ROOT, "--output-dir", folder], environment)
    (archive,) = folder.glob("ik2d-*.zip")
    run([*extension, "install-file", "-r", "user_default", "-e", archive], environment)
    return environment


def take(name: str, options: argparse.Namespace, environment: dict[str, str]) -> None:
    """Run one script in the window; its pictures are in the folder of shots then."""
    script = ROOT / "tools" / "pictures" / f"{name}.py"
    sample, size = SCRIPTS[name]
    scene = ROOT / "sample_scenes" / f"{sample}.blend"
    window = [options.gui, "--size", size, "--blender", options.blender, "--timeout", SECONDS, "--"]
    run([*window, scene, "--enable-event-simulate", "--python", script], environment)


def run(command: list[object], environment: dict[str, str]) -> None:
    """Run a program; where it fails, end with what it printed."""
    done = subprocess.run(
        [str(part) for part in command],
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=SECONDS + 60,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{command[0]} failed with exit code {done.returncode}:\n{done.stdout}")


def publish(shots: Path) -> None:
    """Put what is in the folder of shots into docs/, and empty it."""
    for name, (start, width, milliseconds) in MOVING.items():
        frames = [cropped(path, width) for path in sorted(shots.glob(f"{start}[0-9]*.png"))]
        if frames:
            save_moving(DOCS / f"{name}.webp", frames, milliseconds)
    frames_of_moving = tuple(start for start, _, _ in MOVING.values())
    for path in sorted(shots.glob("*.png")):
        if not path.name.startswith(frames_of_moving):
            still = cropped(path).quantize(COLORS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
            still.save(DOCS / path.name, optimize=True)
            print(f"Saved {path.name}, {(DOCS / path.name).stat().st_size // 1024} KB")
    for path in shots.iterdir():
        path.unlink()


def cropped(path: Path, width: int = 0) -> Image.Image:
    """Return a picture of the window, cut to what its script asked for, and so wide in pixels."""
    image = Image.open(path).convert("RGB")
    box = path.with_suffix(".json")
    if box.exists():
        image = image.crop(json.loads(box.read_text()))
    if width:
        image = image.resize((width, round(image.height * width / image.width)), Image.Resampling.LANCZOS)
    return image


def save_moving(path: Path, frames: list[Image.Image], milliseconds: int) -> None:
    """Save an endless moving picture."""
    more = {"duration": milliseconds, "loop": 0, "quality": 70, "method": 4, "minimize_size": True}
    frames[0].save(path, save_all=True, append_images=frames[1:], **more)
    size = path.stat().st_size
    print(f"Saved {path.name}, {len(frames)} frames, {size // 1024} KB")
    if size > LARGEST:
        sys.exit(f"{path} is larger than {LARGEST // 2**20} MiB: fewer frames, or smaller ones")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
