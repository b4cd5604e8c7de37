# SPDX-License-Identifier: GPL-3.0-or-later
"""Save arms that bend to either side of a fixed plane, as an earlier version meant it: FILE.blend.

    IK2D_SOURCE=FOLDER python tools/save_sides.py FILE.blend

FOLDER has the code of that version; run it with bpy 4.2. FILE.json gets where each elbow is on each frame, by
Blender's evaluated pose after a bake by that version.
"""

import json
import os
import sys
from pathlib import Path

import bpy

FRAMES = (1, 5, 10)
# Solver, plane and how Bend is: 'POSITIVE', 'NEGATIVE', or with keys or a driver, or read by one.
ARMS = {
    "two_bone": ('TWO_BONE', 'Y', "POSITIVE"),
    "circle": ('ARC', 'Y', "NEGATIVE"),
    "smooth": ('EVEN', 'Y', "POSITIVE"),
    "own_plane": ('AUTO', 'CUSTOM', "POSITIVE"),
    "keyed": ('TWO_BONE', 'Y', "keys"),
    "driven": ('TWO_BONE', 'Y', "driver"),
    "read": ('TWO_BONE', 'Y', "read"),
    "baked": ('TWO_BONE', 'Y', "POSITIVE"),
    "automatic": ('AUTO', 'AUTO', "NEGATIVE"),
}


def main(file: str) -> int:
    """Build the scene, bake each arm, note its elbows, clear it, and save; return the exit code."""
    sys.path.insert(0, os.environ["IK2D_SOURCE"])
    import ik2d_addon
    from ik2d_addon.bake import bake, clear

    ik2d_addon.register()
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.context.scene
    scene.frame_end = FRAMES[-1]
    elbows = {}
    for place, (name, (solver, plane, bend)) in enumerate(ARMS.items()):
        for side, sign in (("L", 1.0), ("R", -1.0)):
            arm = add_arm(f"{name}.{side}", sign, 4.0 * place)
            chain = arm.ik2d.chains.add()
            chain.name, chain.tip, chain.bone_count = "arm", "fore", 2
            chain.target = bpy.data.objects[f"{arm.name} target"]
            chain.solver, chain.plane = solver, plane
            if plane == 'CUSTOM':
                chain.plane_normal = (0.0, -1.0, 0.0)
            set_bend(arm, chain, bend)
            bpy.context.view_layer.update()
            bake(arm, None, *FRAMES[::2])
            elbows[arm.name] = {frame: elbow(arm, frame) for frame in FRAMES}
            if name == "baked":
                bpy.context.view_layer.objects.active = arm
                bpy.ops.ik2d.bake()
            else:
                clear(arm)
    scene.frame_set(1)
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(Path(file).resolve()), compress=True)
    Path(file).with_suffix(".json").write_text(json.dumps(elbows, indent=1) + "\n")
    return 0


def add_arm(name: str, sign: float, place: float) -> bpy.types.Object:
    """Add an arm in the XZ plane, bent at rest, to the left or mirrored, and an empty that moves."""
    arm = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    target = bpy.data.objects.new(f"{name} target", None)
    for ob in (arm, target):
        bpy.context.scene.collection.objects.link(ob)
        ob.location.y = place
    bpy.context.view_layer.objects.active = arm
    bpy.ops.object.mode_set(mode='EDIT')
    upper, fore = (arm.data.edit_bones.new(bone) for bone in ("upper", "fore"))
    upper.head, upper.tail = (0.2 * sign, 0.0, 2.0), (1.2 * sign, 0.0, 1.8)
    fore.head, fore.tail = upper.tail, (2.1 * sign, 0.0, 2.1)
    fore.parent, fore.use_connect = upper, True
    bpy.ops.object.mode_set(mode='POSE')
    for frame, (x, z) in zip(FRAMES, ((1.7, 2.4), (1.2, 1.6), (1.5, 2.9)), strict=True):
        target.location.x, target.location.z = sign * x, z
        target.keyframe_insert("location", frame=frame)
    return arm


def set_bend(arm: bpy.types.Object, chain: bpy.types.PropertyGroup, bend: str) -> None:
    """Set a chain's side, or give it keys or a driver; "read": a driver on a bone reads it."""
    path = chain.path_from_id("bend")
    if bend == "keys":
        for frame, side in ((1, 'NEGATIVE'), (6, 'POSITIVE')):
            chain.bend = side
            arm.keyframe_insert(path, frame=frame)
    elif bend == "driver":
        arm["over"] = 1.0
        driver = arm.driver_add(path).driver
        variable = driver.variables.new()
        variable.name, driver.expression = "over", "over > 0.5"
        variable.targets[0].id, variable.targets[0].data_path = arm, '["over"]'
    elif bend == "read":
        driver = arm.driver_add("hide_render").driver
        variable = driver.variables.new()
        variable.targets[0].id, variable.targets[0].data_path = arm, path
        driver.expression = variable.name
    else:
        chain.bend = bend


def elbow(arm: bpy.types.Object, frame: int) -> list[float]:
    """Return the place of an arm's elbow on a frame, as Blender shows it."""
    bpy.context.scene.frame_set(frame)
    shown = arm.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return [round(value, 6) for value in shown.matrix_world @ shown.pose.bones["fore"].head]


if __name__ == "__main__":
    code = main(sys.argv[-1])
    sys.stdout.flush()
    os._exit(code)  # bpy may crash at its end
