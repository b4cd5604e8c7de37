# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene to sample in: one of our own where that is sure to be right, else the user's."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import bpy

from ..animation.value_keys import existing_drivers
from ..chain.dependencies import influences, walk
from .live_pause import is_ours

_SIMULATIONS = {'CLOTH', 'SOFT_BODY', 'FLUID', 'DYNAMIC_PAINT', 'PARTICLE_SYSTEM', 'NODES'}


def doubt(armature: bpy.types.Object, others: Sequence[bpy.types.ID]) -> str:
    """Return why a scene of our own might evaluate otherwise than the user's; "" for no reason."""
    if any(handlers()):
        return "the file or an add-on runs code on frame changes"
    for block, _ in walk([(ob, "") for ob in (armature, *others)], influences):
        if isinstance(block, bpy.types.Object) and _simulated(block):
            return f"'{block.name}' is simulated"
        for curve in existing_drivers(block):
            if _reads_scene(curve.driver):
                return f"a driver of '{block.name}' may read the scene"
    return ""


def handlers() -> Iterator[Callable[..., None]]:
    """Yield the functions on frame changes that are neither ours nor Blender's."""
    for handler in (*bpy.app.handlers.frame_change_pre, *bpy.app.handlers.frame_change_post):
        if not (is_ours(handler) or (handler.__module__ or "").startswith(("rigify", "cycles"))):
            yield handler


def _simulated(ob: bpy.types.Object) -> bool:
    return ob.rigid_body is not None or any(modifier.type in _SIMULATIONS for modifier in ob.modifiers)


def _reads_scene(driver: bpy.types.Driver) -> bool:
    if driver.type == 'SCRIPTED' and not driver.is_simple_expression:
        return True
    return any(
        variable.type == 'CONTEXT_PROP'
        or any(isinstance(target.id, bpy.types.Scene) for target in variable.targets)
        for variable in driver.variables
    )


def scene_showing(ob: bpy.types.Object) -> bpy.types.Scene | None:
    """Return the current scene if an object is in it, else the first that it is in; None for none."""
    scene = bpy.context.scene
    if scene.objects.get(ob.name) == ob:
        return scene
    return next(iter(ob.users_scene), None)


@contextmanager
def copied(scene: bpy.types.Scene, kept: Sequence[bpy.types.Object]) -> Iterator[bpy.types.Scene]:
    """Yield a copy of a scene that shows the same frame, evaluated without touching the original.

    It holds the kept objects alone: Blender then evaluates these and their dependencies only.
    """
    copy = scene.copy()
    try:
        _hold(copy.collection, set(kept))
        copy.frame_set(scene.frame_current, subframe=scene.frame_subframe)
        yield copy
    finally:
        bpy.data.scenes.remove(copy)


def _hold(collection: bpy.types.Collection, kept: set[bpy.types.Object]) -> None:
    """Set the objects of a collection."""
    for child in list(collection.children):
        collection.children.unlink(child)
    there = set(collection.objects)
    for ob in there - kept:
        collection.objects.unlink(ob)
    for ob in kept - there:
        collection.objects.link(ob)


@contextmanager
def isolated(scene: bpy.types.Scene, *armatures: bpy.types.Object) -> Iterator[bpy.types.Scene]:
    """Yield a scene that holds the armatures alone and keeps the time as `scene` does.

    Blender then evaluates just these and their dependencies, whatever else the file holds.
    """
    copy = bpy.data.scenes.new("ik2d sampling")
    try:
        for name in ("fps", "fps_base", "frame_map_old", "frame_map_new"):
            setattr(copy.render, name, getattr(scene.render, name))
        copy.frame_start, copy.frame_end = scene.frame_start, scene.frame_end
        for armature in armatures:
            copy.collection.objects.link(armature)
        yield copy
    finally:
        bpy.data.scenes.remove(copy)
