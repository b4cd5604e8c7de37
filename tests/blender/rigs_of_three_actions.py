# SPDX-License-Identifier: GPL-3.0-or-later
"""A leg with three actions, as its target has, and the joints that a bake of each gives."""

from pathlib import Path

import bpy
import numpy as np
from rigs import add_armature, add_chain, add_target

from ik2d_addon.bake import bake
from ik2d_addon.rig.animation.versions import HAS_SLOTS

BONES = ("thigh", "shin", "foot")
REACH = 0.95
LENGTHS = {"Idle": 20, "Walk": 30, "Run": 24}
_LIFTS = {"Idle": 0.02, "Walk": 0.2, "Run": 0.3}


def add_runner(name: str = "Runner", x: float = 0.0, has_body: bool = False) -> bpy.types.Object:
    """Add a leg that bobs, with an action for each of three clips, as its target has, and a skin.

    has_body: it hangs on a bone that points up and back, so that the thigh swings through half a turn.
    """
    body = {"body": ((x, 0, 1.0), (x, 0.17, 1.27), "", 0.3)} if has_body else {}
    leg = {
        "thigh": ((x, 0, 1.0), (x, -0.04, 0.5), "body" if has_body else "", 0.3 if has_body else 0.0),
        "shin": ((x, -0.04, 0.5), (x, 0, 0.05), "thigh", 0.0),
        "foot": ((x, 0, 0.05), (x, -0.15, 0.01), "shin", 0.0),
    }
    armature = add_armature({**body, **leg}, name)
    target = add_target({}, f"{name} Target")
    foot = armature.pose.bones["foot"]
    foot.rotation_mode = 'XYZ'
    for clip, length in LENGTHS.items():
        for owner in (armature, target):
            if owner.animation_data is not None:
                owner.animation_data.action = None
        for frame, y, up in ((1, -0.2, 0.0), (length // 2, 0.2, _LIFTS[clip]), (length, -0.2, 0.0)):
            target.location = x, y, 0.15 + up
            target.keyframe_insert("location", frame=frame)
            armature.location.z = 0.2 * up
            armature.keyframe_insert("location", frame=frame)
            foot.rotation_euler.x = 3.0 * up
            foot.keyframe_insert("rotation_euler", frame=frame)
        title = clip if name == "Runner" else f"{clip} {name}"
        armature.animation_data.action.name = title
        target.animation_data.action.name = f"{title} targets"
        for owner in (armature, target):
            owner.animation_data.action.use_fake_user = True
    add_chain(armature, "shin", target)
    _add_skin(armature, x)
    bpy.context.view_layer.objects.active = armature
    return armature


def _add_skin(armature: bpy.types.Object, x: float) -> None:
    mesh = bpy.data.meshes.new("Skin")
    mesh.from_pydata([(x, 0, 1), (x, -0.04, 0.5), (x, 0, 0.05)], [], [(0, 1, 2)])
    skin = bpy.data.objects.new(f"{armature.name} Skin", mesh)
    bpy.context.scene.collection.objects.link(skin)
    skin.parent = armature
    skin.modifiers.new("Armature", 'ARMATURE').object = armature
    for number, bone in enumerate(BONES):
        skin.vertex_groups.new(name=bone).add([number], 1.0, 'REPLACE')


def saved(path: Path, *armatures: bpy.types.Object) -> dict[str, np.ndarray]:
    """Save the file, then bake all actions; return the joints of each clip on frames and half-way."""
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bake(armatures, actions='ALL')
    found = {}
    for armature in armatures:
        for clip, length in LENGTHS.items():
            title = clip if armature.name == "Runner" else f"{clip} {armature.name}"
            play(armature, bpy.data.actions[title])
            found[title] = joints(armature, 1, length)
    return found


def play(armature: bpy.types.Object, action: bpy.types.Action) -> None:
    """Have an armature play an action alone."""
    animation = armature.animation_data
    for track in list(animation.nla_tracks):
        animation.nla_tracks.remove(track)
    animation.action = action
    if HAS_SLOTS and animation.action_slot is None:
        animation.action_slot = action.slots[0]


def joints(armature: bpy.types.Object, first: int, length: int) -> np.ndarray:
    """Return where Blender has the head of each bone, (2 frames - 1, bones, 3), half-way too."""
    found = []
    for half in range(2 * length - 1):
        bpy.context.scene.frame_set(first + half // 2, subframe=half % 2 / 2)
        shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([[*(shown.matrix_world @ shown.pose.bones[name].head)] for name in BONES])
    return np.array(found)


def worst(found: np.ndarray, wanted: np.ndarray) -> float:
    """Return the largest distance of joints, as a part of the reach."""
    return float(np.linalg.norm(found - wanted, axis=-1).max()) / REACH
