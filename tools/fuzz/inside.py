# SPDX-License-Identifier: GPL-3.0-or-later
"""What forks do in bpy, without the add-on: open, look, play, save, damage settings."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import bpy

from .values import SETTING_VALUES

FRAMES = (1, 2, 40)


def look(path: Path) -> dict | None:
    """Return {"baked": number of keys that bakes made} of a .blend; None if it does not open."""
    if not _opened(path):
        return None
    keys = (key for curve in _curves() for key in curve.keyframe_points)
    return {"baked": sum(key.type == 'GENERATED' for key in keys)}


def play(path: Path, copy: Path) -> bool:
    """Open a file in both ways, play some frames, save a copy and open that, as a bake does with it."""
    opened = [_opened(path, load_ui=load_ui) for load_ui in (True, False)]
    if not all(opened):
        return False
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame, subframe=0.5)
        bpy.context.scene.frame_set(frame)
    with suppress(RuntimeError):
        bpy.ops.wm.save_as_mainfile(filepath=os.fspath(copy))
    return _opened(copy)


def read_alike(path: Path) -> int:
    """Read chains and joints by properties of the add-on's shape, without its code; return how many."""
    joint = type("FUZZ_PG_joint", (bpy.types.PropertyGroup,), {})
    bpy.utils.register_class(joint)
    joints = bpy.props.CollectionProperty(type=joint)
    numbers = {"bone_count": bpy.props.IntProperty(), "tip": bpy.props.StringProperty()}
    chain = _group_class("FUZZ_PG_chain", joints=joints, dormant=joints, **numbers)
    settings = _group_class("FUZZ_PG_settings", chains=bpy.props.CollectionProperty(type=chain))
    bpy.types.Object.ik2d = bpy.props.PointerProperty(type=settings)
    _opened(path)
    chains = [chain for ob in bpy.data.objects for chain in ob.ik2d.chains]
    items = [*chains, *(joint for chain in chains for joint in [*chain.joints, *chain.dormant])]
    return len([item.name for item in items]) + len([(chain.tip, chain.bone_count) for chain in chains])


def _group_class(name: str, **properties: object) -> type:
    made = type(name, (bpy.types.PropertyGroup,), {"__annotations__": properties})
    bpy.utils.register_class(made)
    return made


def save_copies(source: Path, packed: Path, plain: Path) -> bool:
    """Save a file as this Blender does, compressed and not."""
    bpy.ops.wm.open_mainfile(filepath=os.fspath(source))
    bpy.context.preferences.filepaths.save_version = 0
    for path, compress in ((packed, True), (plain, False)):
        bpy.ops.wm.save_as_mainfile(filepath=os.fspath(path), compress=compress)
    return True


def save_endless(source: Path, path: Path) -> bool:
    """Save a file with a driver on its armature that never ends, where it may run."""
    bpy.ops.wm.open_mainfile(filepath=os.fspath(source), use_scripts=False)
    bpy.context.preferences.filepaths.save_version = 0
    armature = next(ob for ob in bpy.data.objects if ob.type == 'ARMATURE')
    armature.driver_add("location", 0).driver.expression = "sum(iter(int, 1))"
    bpy.ops.wm.save_as_mainfile(filepath=os.fspath(path))
    return True


def save_renamed(source: Path, path: Path, name: str) -> bool:
    """Save a file with another name for its armatures, their chains' bones left alone."""
    bpy.ops.wm.open_mainfile(filepath=os.fspath(source))
    bpy.context.preferences.filepaths.save_version = 0
    for ob in bpy.data.objects:
        if ob.type == 'ARMATURE':
            ob.name = name
    bpy.ops.wm.save_as_mainfile(filepath=os.fspath(path), compress=True)
    return True


def save_damaged_settings(source: Path, path: Path, draw: str) -> list[str]:
    """Save a file whose armatures' settings of the add-on were overwritten; return what was set."""
    bpy.ops.wm.open_mainfile(filepath=os.fspath(source))
    bpy.context.preferences.filepaths.save_version = 0
    random, done = Random(draw), []
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        groups = [places for ob in bpy.data.objects for places in _settings(ob)]
        if not groups:
            break
        group, key = random.choice(random.choice(groups))
        value = random.choice(SETTING_VALUES)
        with suppress(TypeError, ValueError, KeyError, OverflowError):
            if value is None:
                del group[key]
            else:
                group[key] = value
            done.append(f"{key} = {value!r:.60}")
    bpy.ops.wm.save_as_mainfile(filepath=os.fspath(path), compress=True)
    return done


def _settings(ob: bpy.types.Object) -> Iterator[list[tuple[object, str]]]:
    """Yield the groups of an object's settings: each with its names, and others that it may have.

    A chain comes three times, since most that a bake reads is in it.
    """
    root = ob.bl_system_properties_get() if hasattr(ob, "bl_system_properties_get") else ob
    settings = root["ik2d"] if root is not None and "ik2d" in root else None
    if not hasattr(settings, "keys"):
        return
    yield [(root, "ik2d"), *((settings, key) for key in sorted({*settings.keys(), *OWN}))]
    for chain in _groups(settings, "chains"):
        yield from [[(chain, key) for key in sorted({*chain.keys(), *OF_CHAIN})]] * 3
        for joint in _groups(chain, "joints"):
            yield [(joint, key) for key in sorted({*joint.keys(), *OF_JOINT})]


def _groups(owner: object, key: str) -> list:
    items = owner.get(key, ())
    return [item for item in items if hasattr(item, "keys")] if isinstance(items, list) else []


OWN = ("use_custom_range", "frame_start", "frame_end", "frame_step", "last_bake", "verify", "reduce_error")
OF_CHAIN = (
    *("solver", "plane", "plane_normal", "bend", "bone_count", "softness", "influence", "iterations"),
    *("tolerance", "missed_frames", "worst_frame", "bake_mark", "plane_taken", "target", "tip", "name"),
    *("stretch", "compress", "stretch_bones", "slide_weight", "adopted", "native_stand", "native_probe"),
    *("native_constraint", "native_before", "native_print"),
)
OF_JOINT = (
    *("use_limit", "limit_min", "limit_max", "weight", "name", "place", "is_scaled", "scale_base"),
    *("use_slide", "slide_min", "slide_max", "slid", "slide_base"),
)


def _opened(path: Path, **options: bool) -> bool:
    """Open a file; return whether Blender has it open then, mended or not."""
    loaded = []

    @bpy.app.handlers.persistent
    def note(*_: object) -> None:
        loaded.append(bpy.data.filepath)

    bpy.app.handlers.load_post.append(note)
    try:
        bpy.ops.wm.open_mainfile(filepath=os.fspath(path), **options)
    except RuntimeError:
        pass  # what it mended is an error to it too
    finally:
        with suppress(ValueError):
            bpy.app.handlers.load_post.remove(note)
    return bool(loaded)


def _curves() -> Iterator[bpy.types.FCurve]:
    for action in bpy.data.actions:
        if hasattr(action, "fcurves"):
            yield from action.fcurves
            continue
        for layer in action.layers:
            for strip in layer.strips:
                for bag in strip.channelbags:
                    yield from bag.fcurves
