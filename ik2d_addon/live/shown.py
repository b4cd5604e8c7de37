# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a depsgraph shows what a chain follows."""

import bpy
from mathutils import Matrix, Vector

# Places within this part of the reach, and of their distance from the origin, are the same in 32 bits.
SAME = 1e-6


def shown_place(target: bpy.types.Object, subtarget: str, depsgraph: bpy.types.Depsgraph) -> Vector:
    """Return the place of a target, an object or the head of its bone, as a depsgraph shows it."""
    shown = target.evaluated_get(depsgraph)
    if subtarget:
        return shown.matrix_world @ shown.pose.bones[subtarget].head
    return shown.matrix_world.to_translation()  # a copy: Blender frees an evaluated object's own


def shown_axes(target: bpy.types.Object, subtarget: str, depsgraph: bpy.types.Depsgraph) -> Matrix:
    """Return the axes (3x3) of a target, an object or its bone, as a depsgraph shows it."""
    shown = target.evaluated_get(depsgraph)
    return (shown.matrix_world @ (shown.pose.bones[subtarget].matrix if subtarget else Matrix())).to_3x3()


def largest_scale(world: Matrix) -> float:
    """Return the largest scale of a matrix, mirrored or not."""
    return max(map(abs, world.to_scale()))


def is_shown_in_window(scene: int) -> bool:
    """Return whether a window shows a scene, of that session UID."""
    return any(window.scene.session_uid == scene for window in bpy.context.window_manager.windows)
