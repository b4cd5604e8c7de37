# SPDX-License-Identifier: GPL-3.0-or-later
"""Render moments of a baked scene into one picture: python tools/render_strip.py BAKED.blend OUT.png

The moments are the scene's timeline markers, or frames spread evenly over its range. Each shows the path of
the chains' tips (but for --no-paths); below are the frame, the marker's name and, where a tip misses its
target, by how much.
"""

import argparse
import os
import struct
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import bpy
import numpy as np
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import ik2d_addon
from ik2d_addon.rig.chain.checks.bones import chain_bones

CAPTION, GAP = 30, 6  # pixels
INK, PAPER, ALARM = (0.85, 0.87, 0.9), (0.03, 0.035, 0.045), (1.0, 0.25, 0.4)
TRAIL = (1.0, 0.35, 0.5)
# The interface's font tells 1 from I; Blender's other one, used where this is missing, does not.
FONT = Path(bpy.utils.system_resource('DATAFILES')) / "fonts" / "Inter.woff2"
MISSED = 1e-4  # of the chain's length: a tip further than this from its target is said to miss it

Tips = list[tuple[bpy.types.Object, str, bpy.types.ID, float]]  # armature, bone, chain settings, length


def main(arguments: Sequence[str]) -> int:
    """Parse the arguments, render, and return the exit code."""
    parser = argparse.ArgumentParser(description="Render moments of a baked scene side by side into one PNG.")
    add = parser.add_argument
    add("scene", help="the baked .blend")
    add("picture", help="the PNG to write")
    add("--frames", metavar="F,F", type=frame_list, help="frames to show (default: the markers, else six)")
    add("--columns", type=int, default=3, help="pictures in a row (default: 3)")
    add("--width", type=int, default=1200, help="width of the whole in pixels (default: 1200)")
    add("--samples", type=int, default=16, help="Cycles samples for each pixel (default: 16)")
    add("--no-paths", action="store_true", help="leave out the paths of the chains' tips")
    options = parser.parse_args(arguments)
    if not open_scene(options.scene):
        return 2
    render_strip(Path(options.picture), options)
    ik2d_addon.unregister()
    return 0


def open_scene(path: str) -> bool:
    """Open a scene, with its chains' settings; say it and return False where there is no such file."""
    if not os.path.isfile(path):
        print(f"There is no file '{path}'", file=sys.stderr)
        return False
    ik2d_addon.register(ik2d_addon.SETTINGS)
    bpy.ops.wm.open_mainfile(filepath=os.path.abspath(path))
    return True


def frame_list(text: str) -> list[int]:
    """Return the frames in a text such as "1,20,40"."""
    return [int(frame) for frame in text.split(",")]


def render_strip(picture: Path, options: argparse.Namespace) -> None:
    """Render the open scene's moments, join them and save the picture."""
    scene = bpy.context.scene
    frames = options.frames or moments(scene)
    names = {marker.frame: marker.name for marker in scene.timeline_markers}
    tips = find_tips(scene)
    if not options.no_paths:
        add_trails(scene, tips)
    panel_width = (options.width - GAP * (options.columns - 1)) // options.columns
    set_quality(scene, panel_width, options.samples)
    panels, captions = [], []
    for i, frame in enumerate(frames):
        print(f"Rendering frame {frame}, {i + 1} of {len(frames)}", flush=True)
        scene.frame_set(frame)
        panels.append(render(scene))
        captions.append((f"frame {frame}  {names.get(frame, '')}".strip(), distance_text(tips)))
    rows = []  # bottom row first, as Blender's images have it
    for first in range(0, len(panels), options.columns):
        row = slice(first, first + options.columns)
        rows.insert(0, join(panels[row], options.columns))
        rows.insert(0, render_captions(captions[row], panel_width, options.columns))
    save(np.concatenate(rows), picture)


def moments(scene: bpy.types.Scene) -> list[int]:
    """Return the frames of the timeline markers, or six spread evenly over the range."""
    marked = sorted({marker.frame for marker in scene.timeline_markers})
    return marked or [round(frame) for frame in np.linspace(scene.frame_start, scene.frame_end, 6)]


def find_tips(scene: bpy.types.Scene) -> Tips:
    """Return the tip of every enabled chain in the scene, but for single bones that only aim."""
    tips = []
    for ob in scene.objects:
        if ob.type == 'ARMATURE':
            for chain in ob.ik2d.chains:
                if chain.enabled:
                    bones = chain_bones(ob, chain.tip, chain.bone_count)
                    if len(bones) > 1 or chain.aim_distance:
                        tips.append((ob, chain.tip, chain, sum(bone.length for bone in bones)))
    return tips


def tip_position(ob: bpy.types.Object, bone: str) -> Vector:
    """Return where a bone's tail is in the world, as Blender evaluates it."""
    shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return shown.matrix_world @ shown.pose.bones[bone].tail


def distance_text(tips: Tips) -> str:
    """Say by how much the worst tip misses its target on this frame; "" where none does."""
    graph = bpy.context.evaluated_depsgraph_get()
    worst = 0.0
    for ob, bone, chain, length in tips:
        settings = ob.evaluated_get(graph).ik2d.chains[chain.name]
        if settings.foot.is_added or settings.influence < 1.0:
            continue  # the target is the control of a foot, or other keys turn the bones too
        if chain.target and not chain.subtarget:
            goal = chain.target.evaluated_get(graph).matrix_world.translation
            missed = (goal - tip_position(ob, bone)).length
            worst = max(worst, missed if missed > MISSED * length else 0.0)
    return f"misses by {worst:.2f}" if worst else ""


def add_trails(scene: bpy.types.Scene, tips: Tips) -> None:
    """Draw each tip's path over the scene's range as a thin glowing line."""
    paths = [[] for _ in tips]
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        for points, (ob, bone, _, _) in zip(paths, tips, strict=True):
            points.append(tip_position(ob, bone))
    for points, (_, _, _, length) in zip(paths, tips, strict=True):
        curve = bpy.data.curves.new("Trail", 'CURVE')
        curve.dimensions, curve.bevel_depth = '3D', length * 0.0035
        spline = curve.splines.new('POLY')
        spline.points.add(len(points) - 1)
        spline.points.foreach_set("co", [value for point in points for value in (*point, 1.0)])
        curve.materials.append(glowing("Trail", TRAIL))
        trail = bpy.data.objects.new("Trail", curve)
        trail.visible_shadow = trail.visible_diffuse = trail.visible_glossy = False
        scene.collection.objects.link(trail)


def glowing(name: str, color: Sequence[float]) -> bpy.types.Material:
    """Return a material that shows its colour as it is, in any light."""
    look = bpy.data.materials.new(name)
    use_nodes(look)
    nodes = look.node_tree.nodes
    emission = nodes.new('ShaderNodeEmission')
    emission.inputs["Color"].default_value = (*color, 1.0)
    look.node_tree.links.new(emission.outputs[0], nodes["Material Output"].inputs["Surface"])
    return look


def use_nodes(owner: bpy.types.ID) -> None:
    """Let a material or world use nodes: before Blender 5.0 one has to ask for it."""
    if bpy.app.version < (5, 0):
        owner.use_nodes = True


def set_quality(scene: bpy.types.Scene, width: int, samples: int) -> None:
    """Render small pictures with Cycles on the processor: it needs no display and no graphics card."""
    render = scene.render
    render.resolution_y = round(width * render.resolution_y / render.resolution_x)
    render.resolution_x, render.resolution_percentage = width, 100
    render.engine = 'CYCLES'
    render.image_settings.file_format, render.image_settings.color_mode = 'PNG', 'RGB'
    render.use_persistent_data = True
    scene.cycles.device, scene.cycles.samples, scene.cycles.max_bounces = 'CPU', samples, 4


def render(scene: bpy.types.Scene) -> np.ndarray:
    """Render the scene and return its pixels (height, width, 3), the bottom row first."""
    with tempfile.TemporaryDirectory() as folder:
        scene.render.filepath = os.path.join(folder, "panel.png")
        with quiet():
            bpy.ops.render.render(write_still=True, scene=scene.name)
        image = bpy.data.images.load(scene.render.filepath)
        pixels = np.empty(len(image.pixels), np.float32)
        image.pixels.foreach_get(pixels)
        pixels = pixels.reshape(image.size[1], image.size[0], image.channels)[:, :, :3]
        bpy.data.images.remove(image)
    return pixels


@contextmanager
def quiet() -> Iterator[None]:
    """Keep Blender's many lines about rendering off the terminal; they come from C, beneath sys.stdout."""
    sys.stdout.flush()
    kept = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def render_captions(captions: Sequence[tuple[str, str]], panel_width: int, columns: int) -> np.ndarray:
    """Render a row of captions: a scene of its own in which one unit is one pixel."""
    scene = bpy.data.scenes.new("Captions")
    width = panel_width * columns + GAP * (columns - 1)
    scene.render.resolution_x, scene.render.resolution_y = width, CAPTION
    set_quality(scene, width, samples=16)
    scene.cycles.use_denoising = False
    scene.view_settings.view_transform = 'Standard'
    scene.world = bpy.data.worlds.new("Paper")
    use_nodes(scene.world)
    scene.world.node_tree.nodes["Background"].inputs["Color"].default_value = (*PAPER, 1.0)
    lens = bpy.data.cameras.new("Captions")
    lens.type, lens.ortho_scale = 'ORTHO', width
    scene.camera = bpy.data.objects.new("Captions", lens)
    scene.camera.location = (width / 2, CAPTION / 2, 10)
    scene.collection.objects.link(scene.camera)
    for i, (left, right) in enumerate(captions):
        start = i * (panel_width + GAP)
        add_text(scene, left, start + 10, 'LEFT', INK)
        add_text(scene, right, start + panel_width - 10, 'RIGHT', ALARM)
    return render(scene)


def add_text(scene: bpy.types.Scene, text: str, x: float, align: str, color: Sequence[float]) -> None:
    """Write a line of text into the captions' scene."""
    curve = bpy.data.curves.new("Caption", 'FONT')
    curve.body, curve.size, curve.align_x = text, CAPTION * 0.56, align
    if FONT.is_file():
        curve.font = bpy.data.fonts.load(str(FONT), check_existing=True)
    curve.materials.append(glowing("Ink", color))
    ob = bpy.data.objects.new("Caption", curve)
    ob.location = (x, CAPTION * 0.3, 0)
    scene.collection.objects.link(ob)


def join(panels: Sequence[np.ndarray], columns: int) -> np.ndarray:
    """Put panels side by side, with gaps, and fill the row up to `columns`."""
    height, width = panels[0].shape[:2]
    row = np.empty((height, width * columns + GAP * (columns - 1), 3), np.float32)
    row[:] = encoded(PAPER)
    for i, panel in enumerate(panels):
        start = i * (width + GAP)
        row[:, start : start + width] = panel
    return row


def encoded(color: Sequence[float]) -> np.ndarray:
    """Return a linear colour as sRGB, as it stands in a PNG."""
    linear = np.asarray(color)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def save(pixels: np.ndarray, path: Path) -> None:
    """Save sRGB pixels (height, width, 3), the bottom row first, as a PNG.

    Written by hand because Blender's own PNG of an image is three times as large: here colours are rounded to
    64 steps a channel, too fine to see, and packed as tightly as zlib can.
    """
    steps = np.round(pixels[::-1] * 63.0).clip(0.0, 63.0)
    colors = np.round(steps * (255.0 / 63.0)).astype(np.uint8)
    height, width = colors.shape[:2]
    lines = np.zeros((height, 1 + width * 3), np.uint8)  # each line begins with its filter: 0, none
    lines[:, 1:] = colors.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # 8 bits a channel, RGB
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(lines.tobytes(), 9))
        + chunk(b"IEND", b"")
    )
    print(f"Saved {path}, {width} x {height} pixels")


def chunk(kind: bytes, content: bytes) -> bytes:
    """Return one chunk of a PNG file."""
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # Python's own exit crashes or hangs in some bpy modules once properties were registered.
