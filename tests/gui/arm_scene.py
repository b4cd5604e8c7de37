# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the scene that the GUI tests start from, as a person would have made it, and save it.

    blender --background --factory-startup --python arm_scene.py -- OUT.blend

An arm of two bones, 3 units long, stands in the XZ plane; an empty goes once round it, out of reach on
some frames. Nothing is selected.
"""

import math
import sys

import bpy

JOINTS = {"upper": ((0, 0, 0), (-0.5, 0, 1.5)), "fore": ((-0.5, 0, 1.5), (0.6, 0, 2.5))}
FRAMES = 40


def build_arm() -> None:
    """Make the armature "Arm"."""
    arm = bpy.data.objects.new("Arm", bpy.data.armatures.new("Arm"))
    bpy.context.collection.objects.link(arm)
    bpy.context.view_layer.objects.active = arm
    bpy.ops.object.mode_set(mode='EDIT')
    parent = None
    for name, (head, tail) in JOINTS.items():
        bone = arm.data.edit_bones.new(name)
        bone.head, bone.tail, bone.parent = head, tail, parent
        bone.use_connect = parent is not None
        parent = bone
    bpy.ops.object.mode_set(mode='OBJECT')


def build_target() -> None:
    """Make the empty "Target", which goes round the arm's root on an ellipse that partly leaves its reach."""
    target = bpy.data.objects.new("Target", None)
    bpy.context.collection.objects.link(target)
    target.empty_display_type, target.empty_display_size = 'SPHERE', 0.15
    for frame in range(1, FRAMES + 1):
        turn = 2 * math.pi * frame / FRAMES
        target.location = 1.4 * math.cos(turn), 0, 3.4 * math.sin(turn)
        target.keyframe_insert("location", frame=frame)


def main(path: str) -> None:
    """Save the scene as `path`, seen from the front."""
    for thing in list(bpy.data.objects):
        bpy.data.objects.remove(thing)
    build_arm()
    build_target()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    scene.frame_set(1)
    bpy.ops.object.select_all(action='DESELECT')
    bpy.context.view_layer.objects.active = None
    bpy.ops.wm.save_as_mainfile(filepath=path)


main(sys.argv[sys.argv.index("--") + 1])
