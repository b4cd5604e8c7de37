# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw the pictures of docs/engines.md: clips and bones of exported files, and how near their joints are.

    python tools/draw_exports.py

Needs bpy and matplotlib. The rig is that of the tests.
"""

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "blender")]

import bpy  # noqa: E402
import matplotlib  # noqa: E402
import numpy as np  # noqa: E402

import ik2d_addon  # noqa: E402

ik2d_addon.register()
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from gltf_player import Gltf  # noqa: E402
from rigs_of_three_actions import BONES, LENGTHS, REACH, add_runner, joints, play, saved  # noqa: E402

from ik2d_addon.features.export.exporting import export_open_file  # noqa: E402

RATE = 24.0
BLUE, GREY, RED = "#3b6ea5", "#9aa3ab", "#b5533c"


def empty() -> None:
    """Open an empty file."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def exported(folder: Path, ending: str, **options: Any) -> Path:
    """Export the rig that is saved in a folder; return the file."""
    bpy.ops.wm.open_mainfile(filepath=str(folder / "rig.blend"))
    export_open_file([bpy.data.objects["Runner"]], str(folder), f"rig{ending}", **options)
    return folder / f"rig{ending}"


def draw_clips(clips: Mapping[str, np.ndarray], title: str, name: str) -> None:
    """Draw each clip's joints (frames, joints, 3) as stick figures, with their paths."""
    figure, axes = plt.subplots(
        1, len(clips), figsize=(9, 3.6), sharex=True, sharey=True, layout="constrained"
    )
    for axis, (clip, places) in zip(axes, clips.items(), strict=True):
        for row in range(0, len(places), max(1, len(places) // 12)):
            axis.plot(places[row, :, 1], places[row, :, 2], color=GREY, linewidth=1, alpha=0.6)
        for number in range(places.shape[1]):
            axis.plot(places[:, number, 1], places[:, number, 2], color=BLUE, linewidth=1.2)
        axis.plot(places[0, :, 1], places[0, :, 2], color=RED, linewidth=2.5, marker="o", markersize=4)
        axis.set_title(f"{clip}: {LENGTHS[clip]} frames", fontsize=10)
        axis.set_aspect("equal")
    figure.suptitle(title, fontsize=11)
    figure.savefig(DOCS / name, dpi=80)
    plt.close(figure)


def draw_unity(folder: Path) -> None:
    """Draw the clips of an FBX file as Blender's importer reads them."""
    path, found = exported(folder, ".fbx"), {}
    empty()
    bpy.ops.import_scene.fbx(filepath=str(path), anim_offset=0.0)
    armature = bpy.data.objects["Runner"]
    for clip, length in LENGTHS.items():
        play(armature, bpy.data.actions[f"Runner|{clip}"])
        found[clip] = joints(armature, 0, length)[::2]
    draw_clips(found, "rig.fbx as read back: three clips, each from frame 0 on", "engines_unity.png")


def draw_godot(folder: Path) -> None:
    """Draw the clips of a glTF file as its specification plays them."""
    file, found = Gltf(exported(folder, ".glb")), {}
    for clip, length in LENGTHS.items():
        found[clip] = file.heads(clip, np.linspace(0, (length - 1) / RATE, 6 * length), BONES)
    draw_clips(found, "rig.glb as the specification of glTF plays it", "engines_godot.png")


def draw_unreal(folder: Path) -> None:
    """Draw the bones before, and those that Deform Bones Only leaves."""
    bpy.ops.wm.open_mainfile(filepath=str(folder / "rig.blend"))
    armature = bpy.data.objects["Runner"]
    bpy.ops.object.mode_set(mode='EDIT')
    for name, head, tail in (
        ("foot control", (0, 0.1, 0.0), (0, 0.35, 0.0)),
        ("knee pole", (0, -0.6, 0.5), (0, -0.8, 0.5)),
        ("hip control", (0, -0.2, 1.05), (0, 0.25, 1.05)),
    ):
        bone = armature.data.edit_bones.new(name)
        bone.head, bone.tail, bone.use_deform = head, tail, False
    bpy.ops.object.mode_set(mode='OBJECT')
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "controls.blend"))
    before = _lines(armature)
    export_open_file([armature], str(folder), "controls.fbx", deform_only=True)
    empty()
    bpy.ops.import_scene.fbx(filepath=str(folder / "controls.fbx"), anim_offset=0.0)
    after = _lines(bpy.data.objects["Runner"])
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharex=True, sharey=True, layout="constrained")
    drawn = (before, "In Blender"), (after, "In rig.fbx, Deform Bones Only")
    for axis, (lines, title) in zip(axes, drawn, strict=True):
        for name, line in lines.items():
            axis.plot(line[:, 1], line[:, 2], color=BLUE if name in after else RED, linewidth=3, marker="o")
            axis.annotate(name, line.mean(axis=0)[1:], xytext=(6, 4), textcoords="offset points", fontsize=9)
        axis.set_title(title, fontsize=10)
        axis.set_aspect("equal")
    figure.savefig(DOCS / "engines_unreal.png", dpi=80)
    plt.close(figure)


def _lines(armature: bpy.types.Object) -> dict[str, np.ndarray]:
    """Return head and tail of each bone at rest, in the world."""
    world = armature.matrix_world
    bones = armature.data.bones
    return {bone.name: np.array([world @ bone.head_local, world @ bone.tail_local]) for bone in bones}


def draw_three(folder: Path) -> None:
    """Draw how far joints are off at quarters of frames: exported here, and by Blender's exporter alone."""
    length = LENGTHS["Run"]
    times = np.arange(1, 1 + length - 0.75, 0.25)
    armature = bpy.data.objects["Runner"]
    play(armature, bpy.data.actions["Run"])
    wanted = []
    for time in times:
        bpy.context.scene.frame_set(int(time), subframe=time % 1)
        shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        wanted.append([[*(shown.matrix_world @ shown.pose.bones[name].head)] for name in BONES])
    ways = {"sampled, its default": {}, "by keys": {"export_force_sampling": False}}
    files = {}
    for number, (way, settings) in enumerate(ways.items()):
        path = folder / f"own{number}.glb"
        bpy.ops.export_scene.gltf(filepath=str(path), export_format='GLB', **settings)
        files[f"Blender's exporter, {way}"] = Gltf(path), 1.0
    files["Export for Engine"] = Gltf(exported(folder, ".glb")), 0.0
    figure, axis = plt.subplots(figsize=(9, 3.6), layout="constrained")
    for (label, (file, first)), color in zip(files.items(), (GREY, RED, BLUE), strict=True):
        found = file.heads("Run", (times - 1 + first) / RATE, BONES)
        off = np.linalg.norm(found - np.array(wanted), axis=2).max(axis=1) / REACH
        axis.semilogy(times, np.maximum(off, 1e-8), color=color, label=label, linewidth=1.5)
    axis.set_xlabel("frame of Run, in quarters")
    axis.set_ylabel("largest distance of a joint,\npart of the leg's length")
    axis.set_ylim(1e-8, 3)
    axis.legend(fontsize=9)
    figure.savefig(DOCS / "engines_threejs.png", dpi=80)
    plt.close(figure)


def main() -> None:
    """Draw all four."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        empty()
        saved(folder / "rig.blend", add_runner())
        for draw in (draw_unity, draw_godot, draw_unreal):
            draw(folder)
        empty()
        saved(folder / "rig.blend", add_runner(has_body=True))
        draw_three(folder)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
