# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a depsgraph shows what a chain follows, and where that was foreseen."""

from dataclasses import dataclass

import bpy
from mathutils import Matrix, Vector

from ..rig.chain.foot.foot import FootValues

# Places within this part of the reach, and of their distance from the origin, are the same in 32 bits.
SAME = 1e-6


@dataclass(slots=True)
class Foreseen:
    """What a light chain is posed by on a frame to come."""

    world: Matrix  # the armature's
    base: Matrix | None  # the pose matrix of the bone above the chain
    places: list[Vector]  # in the world, of all that the chain follows
    aim: Matrix | None  # the target's axes (3x3), where its rotation counts
    foot_values: FootValues | None = None
    has_animated_foot: bool = False  # whether F-Curves set these
    goal: Vector | None = None  # of the tip, once it is posed


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


def are_same(one: Matrix, other: Matrix) -> bool:
    """Return whether axes (3x3) are the same, but for what 32 bits leave."""
    return all((a - b).length <= SAME * b.length for a, b in zip(one.col, other.col, strict=True))


def is_shown_in_window(scene: int) -> bool:
    """Return whether a window shows a scene, of that session UID."""
    return any(window.scene.session_uid == scene for window in bpy.context.window_manager.windows)
