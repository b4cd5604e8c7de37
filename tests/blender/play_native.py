# SPDX-License-Identifier: GPL-3.0-or-later
"""Play a scene with native chains in a Blender that has neither the add-on nor permission to run scripts.

    blender --background --factory-startup --disable-autoexec --python tests/blender/play_native.py -- WORDS
    python tests/blender/play_native.py -- WORDS

The second with the module bpy. WORDS: SCENE.blend OUT.json PICTURE.png FRAME; OUT.json holds a list of
[armature, tip bone, target, reach] at first, and what was seen at the end.
"""

import json
import os
import sys
from pathlib import Path

import bpy


def main(scene: str, out: str, picture: str, frame: str) -> None:
    """Play the scene, render a frame, and write what was seen."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=scene, use_scripts=False)
    tips = json.loads(Path(out).read_text())
    seen = {
        "add-on": hasattr(bpy.types.Object, "ik2d") or any("ik2d" in name for name in sys.modules),
        "worst": worst(tips),
        "expressions": {driver.expression: driver.is_simple_expression for driver in drivers()},
        "invalid": sum(not driver.is_valid for driver in drivers()),
        "blocked": bpy.app.autoexec_fail,
    }
    render(picture, int(frame))
    seen["blocked in a control"] = blocked_in_a_control()
    Path(out).write_text(json.dumps(seen))


def worst(tips: list) -> dict[str, float]:
    """Return the largest distance from tip to target over all frames, in reaches, for each tip."""
    scene = bpy.context.scene
    found = {}
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        for armature, bone, target, reach in tips:
            rig = bpy.data.objects[armature].evaluated_get(graph)
            goal = bpy.data.objects[target].evaluated_get(graph).matrix_world.translation
            off = (rig.matrix_world @ rig.pose.bones[bone].tail - goal).length / reach
            found[bone] = max(found.get(bone, 0.0), off)
    return found


def drivers() -> list[bpy.types.Driver]:
    """Return all drivers of objects that hold an expression."""
    owners = [ob.animation_data for ob in bpy.data.objects if ob.animation_data]
    return [curve.driver for data in owners for curve in data.drivers if curve.driver.type == 'SCRIPTED']


def render(picture: str, frame: int) -> None:
    """Render a small picture of a frame."""
    scene = bpy.context.scene
    scene.frame_set(frame)
    scene.render.engine = 'CYCLES'
    scene.cycles.device, scene.cycles.samples, scene.cycles.use_denoising = 'CPU', 4, False
    scene.render.resolution_x, scene.render.resolution_y = 120, 84
    scene.render.image_settings.file_format = 'PNG'
    scene.render.filepath = picture
    bpy.ops.render.render(write_still=True)


def blocked_in_a_control() -> bool:
    """Return whether a driver that needs Python is blocked here."""
    control = bpy.data.objects.new("Control", None)
    bpy.context.scene.collection.objects.link(control)
    control.driver_add("location", 0).driver.expression = "__import__('math').cos(0)"
    bpy.context.scene.frame_set(bpy.context.scene.frame_current + 1)
    return bool(bpy.app.autoexec_fail) and control.location.x == 0.0


if __name__ == "__main__":
    main(*sys.argv[sys.argv.index("--") + 1 :])
    sys.stdout.flush()
    os._exit(0)
