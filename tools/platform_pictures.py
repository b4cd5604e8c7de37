# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the pictures for the extensions platform: python tools/platform_pictures.py FOLDER [NAME ...]

An icon of 256 x 256 pixels, a featured picture and a gallery of 1920 x 1080, rendered from the sample scenes.
NAME is one of these; without one all are made.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import bpy
import numpy as np
from PIL import Image, ImageDraw
from render_strip import open_scene, render, set_quality

import ik2d_addon

ROOT = Path(__file__).resolve().parent.parent
SIZE = 1920, 1080
SAMPLES = 24
# Picture -> the sample scene and its frame; those on drivers need no bake.
SCENES = {
    "featured": ("08_cutout", 24),
    "gallery_excavator": ("02_excavator", 44),
    "gallery_beetle": ("07_native", 20),
    "gallery_crane": ("06_crane", 70),
    "gallery_thrower": ("09_thrower", 40),
}
NATIVE = ("07_native",)
ICON, TIMES = 256, 8  # its size, and how many times larger it is drawn
GROUND, BONE, JOINT, RING = (38, 50, 56, 255), (129, 212, 250, 255), (255, 255, 255, 255), (236, 64, 122, 255)
# The icon's leg, hip to ankle, in parts of its size.
LEG = ((0.34, 0.22), (0.68, 0.46), (0.40, 0.78))


def main(folder: str, *names: str) -> int:
    """Make the pictures; return the exit code."""
    output = Path(folder)
    output.mkdir(parents=True, exist_ok=True)
    icon().save(output / "icon.png", optimize=True)
    for name in names or SCENES:
        sample, frame = SCENES[name]
        picture = rendered(sample, frame)
        picture.save(output / f"{name}.jpg", quality=88, optimize=True)
        print(f"{name}.jpg: {sample}, frame {frame}", flush=True)
    return 0


def rendered(sample: str, frame: int) -> Image.Image:
    """Return a frame of a sample scene, baked."""
    scene_file = ROOT / "sample_scenes" / f"{sample}.blend"
    with tempfile.TemporaryDirectory() as folder:
        if sample not in NATIVE:
            baked = Path(folder) / scene_file.name
            bake = [sys.executable, "-m", "ik2d_addon", "bake", scene_file, "--output", baked]
            subprocess.run([str(word) for word in bake], cwd=ROOT, check=True)
            scene_file = baked
        if not open_scene(str(scene_file)):
            raise SystemExit(2)
        scene = bpy.context.scene
        widen(scene)
        set_quality(scene, SIZE[0], SAMPLES)
        scene.render.resolution_x, scene.render.resolution_y = SIZE
        scene.frame_set(frame)
        picture = Image.fromarray(np.round(render(scene)[::-1] * 255.0).astype(np.uint8))
        ik2d_addon.unregister()  # `open_scene` has registered the settings
        return picture


def widen(scene: bpy.types.Scene) -> None:
    """Show at both sides what the gallery's pictures are wider by, and as much in height as before."""
    lens, before = scene.camera.data, scene.render.resolution_x / scene.render.resolution_y
    wider = SIZE[0] / SIZE[1] / before
    lens.lens, lens.ortho_scale = lens.lens / wider, lens.ortho_scale * wider


def icon() -> Image.Image:
    """Return the icon: two bones that reach the ring of their target."""
    large = ICON * TIMES
    picture = Image.new("RGBA", (large, large), (0, 0, 0, 0))
    draw = ImageDraw.Draw(picture)
    draw.rounded_rectangle((0, 0, large - 1, large - 1), radius=0.2 * large, fill=GROUND)
    hip, knee, ankle = [(x * large, y * large) for x, y in LEG]

    def disc(middle: tuple[float, float], radius: float, color: tuple[int, ...], width: float = 0.0) -> None:
        x, y, r = *middle, radius * large
        filled = {"outline": color, "width": round(width * large)} if width else {"fill": color}
        draw.ellipse((x - r, y - r, x + r, y + r), **filled)

    for start, end in ((hip, knee), (knee, ankle)):
        draw.line((*start, *end), fill=BONE, width=round(0.09 * large))
        for joint in (start, end):
            disc(joint, 0.045, BONE)
    for joint in (hip, knee):
        disc(joint, 0.07, JOINT)
        disc(joint, 0.035, GROUND)
    disc(ankle, 0.14, RING, 0.04)
    disc(ankle, 0.045, JOINT)
    return picture.resize((ICON, ICON), Image.Resampling.LANCZOS)


if __name__ == "__main__":
    code = main(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # Python's own exit crashes or hangs in some bpy modules once properties were registered
