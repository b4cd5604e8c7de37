# SPDX-License-Identifier: GPL-3.0-or-later
"""The place of a target or pole that Blender does not evaluate: it is disabled in viewports or in renders."""

from math import nan

import bpy
from mathutils import Matrix, Vector

from ..core.solution import drained
from ..core.words import noted, refusal
from ..rig.animation.times import evaluated_times
from ..rig.chain.dependencies import Node
from ..rig.scene.by_curves import placed


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
