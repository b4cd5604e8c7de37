# SPDX-License-Identifier: GPL-3.0-or-later
"""Render a baked scene as a moving picture: python tools/render_moving.py BAKED.blend OUT.webp"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import bpy
import numpy as np
from PIL import Image
from render_strip import open_scene, render, set_quality
from take_pictures import save_moving

import ik2d_addon


def main(arguments: Sequence[str]) -> int:
    """Parse the arguments, render, and return the exit code."""
    parser = argparse.ArgumentParser(description="Render a baked scene as an endless moving WebP.")
    add = parser.add_argument
    add("scene", help="the baked .blend")
    add("picture", help="the WebP to write")
    add("--step", type=int, default=3, help="show every so manyth frame (default: 3)")
    add("--width", type=int, default=480, help="width in pixels (default: 480)")
    add("--samples", type=int, default=4, help="Cycles samples for each pixel (default: 4)")
    options = parser.parse_args(arguments)
    if not open_scene(options.scene):
        return 2
    scene = bpy.context.scene
    set_quality(scene, options.width, options.samples)
    frames = []
    for frame in range(scene.frame_start, scene.frame_end + 1, options.step):
        scene.frame_set(frame)
        frames.append(Image.fromarray(np.round(render(scene)[::-1] * 255.0).astype(np.uint8)))
    milliseconds = round(1000 * options.step / scene.render.fps)
    save_moving(Path(options.picture).resolve(), frames, milliseconds)
    ik2d_addon.unregister()
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # Python's own exit crashes or hangs in some bpy modules once properties were registered.
