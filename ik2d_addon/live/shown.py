# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a depsgraph shows what a chain or a mechanism follows; by its curves what is disabled there."""

from math import nan

import bpy
from mathutils import Matrix, Vector

from ..core.solution import drained
from ..core.words import noted, refusal
from ..rig.animation.times import evaluated_times
from ..rig.chain.dependencies import Node
from ..rig.scene.by_curves import placed

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


def is_unseen(target: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bool:
    """Return whether a depsgraph may not move a target, as it may be disabled there.

    Armatures count as seen: what they deform mostly is, so Blender evaluates them.
    """
    if target.type == 'ARMATURE':
        return False
    if depsgraph.mode == 'RENDER':
        return target.hide_render or not _is_in(depsgraph.view_layer, target, "hide_render")
    return target.hide_viewport or not _is_in(depsgraph.view_layer, target, "hide_viewport")


def _is_in(layer: bpy.types.ViewLayer, target: bpy.types.Object, disabled: str) -> bool:
    """Return whether a view layer has a target in a collection that is enabled."""
    if layer.objects.get(target.name) is None:  # in none at all: a quick look that says most
        return False
    waiting = [layer.layer_collection]
    homes = target.users_collection
    while waiting:
        collection = waiting.pop()
        if not (collection.exclude or getattr(collection.collection, disabled)):
            if collection.collection in homes:
                return True
            waiting += collection.children
    return False


def place_by_curves(node: Node, name: str, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> Vector:
    """Return an object's place by its location and its F-Curves; raise IK2DError if more moves it.

    name: in words, as "Chain 'Leg': its target".
    """
    target, subtarget = node
    animation = target.animation_data
    if (
        subtarget
        or target.parent
        or len(target.constraints)
        or animation
        and (len(animation.drivers) or len(animation.nla_tracks))
    ):
        raise refusal(
            "{name} '{target}' is disabled in {where}, where Blender does not move it; enable it "
            "there, or bake the chain",
            name=name,
            target=target.name,
            where=noted("renders") if depsgraph.mode == 'RENDER' else noted("viewports"),
        )
    return _matrix_by_curves(target, scene).translation


def turn_by_curves(target: bpy.types.Object, scene: bpy.types.Scene) -> Matrix:
    """Return the axes (3 x 3) of a target by its rotation, its scale and its F-Curves."""
    return _matrix_by_curves(target, scene).to_3x3()


def _matrix_by_curves(target: bpy.types.Object, scene: bpy.types.Scene) -> Matrix:
    placements = drained(placed(target, [], [(target, "")], evaluated_times(scene, [scene.frame_float])))
    if placements is None:  # numbers too great for Blender's
        return Matrix([[nan] * 4] * 4)
    return Matrix(placements.targets[0].matrices.reshape(-1, 4, 4)[0].tolist())
