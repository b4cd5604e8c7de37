# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions with keys of every kind that nothing of the product has made, and readings of them to compare."""

from collections.abc import Iterator
from random import Random

import bpy
import numpy as np
from rigs import KEY_COLUMNS, add_armature, add_chain, add_target

HAS_SLOTS = hasattr(bpy.types, "ActionSlot")
HANDLES = ("handle_left", "handle_right")
COLUMNS = {
    name: (width, "f4" if width else "i4") for name, width in KEY_COLUMNS.items() if "select" not in name
}
# All of a key but its handles, which depend on the keys next to it.
ROW = [name for name in COLUMNS if name not in HANDLES]
MODES = ('XYZ', 'ZYX', 'QUATERNION', 'AXIS_ANGLE')
# The place of an F-Curve in an action: the handle of its slot, its path and its index.
Place = tuple[int, str, int]


def two_legs(random: Random) -> bpy.types.Object:
    """Add an armature with two legs of random rotation modes and poses, whose targets are keyed by hand."""
    bones = {}
    for side, x in (("L", 0.2), ("R", -0.2)):
        bones[f"thigh.{side}"] = ((x, 0, 1), (x, -0.04, 0.5), "", 0.0)
        bones[f"shin.{side}"] = ((x, -0.04, 0.5), (x, 0, 0.05), f"thigh.{side}", 0.0)
    armature = add_armature(bones)
    for side, x in (("L", 0.2), ("R", -0.2)):
        keys = {}
        for frame in (1, 12, 20, 40):
            keys[frame] = (x, random.uniform(-0.3, 0.3), random.uniform(0.1, 0.4))
        target = add_target(keys, f"Target.{side}")
        chain = add_chain(armature, f"shin.{side}", target)
        chain.name, chain.live = side, False
    for bone in armature.pose.bones:
        bone.rotation_mode = random.choice(MODES)
        for name in ("rotation_quaternion", "rotation_euler", "rotation_axis_angle"):
            for index in range(len(getattr(bone, name))):
                getattr(bone, name)[index] += random.uniform(-0.05, 0.05)
    bpy.context.view_layer.objects.active = armature
    bpy.context.view_layer.update()
    return armature


def channels_for(ob: bpy.types.Object, action: bpy.types.Action, slot: str):
    """Return the holder of an object's F-Curves in an action, made there; the object plays it from now on."""
    animation = ob.animation_data or ob.animation_data_create()
    animation.action = action
    if not HAS_SLOTS:
        return action
    own = action.slots.get(f"OB{slot}") or action.slots.new(id_type='OBJECT', name=slot)
    animation.action_slot = own
    layer = action.layers[0] if len(action.layers) else action.layers.new("Layer")
    strip = layer.strips[0] if len(layer.strips) else layer.strips.new(type='KEYFRAME')
    return strip.channelbag(own, ensure=True)


def key_of_every_kind(armature: bpy.types.Object, holder, random: Random) -> set[tuple[str, int]]:
    """Key some rotations with all kinds of keys; return the F-Curves whose handles are stale or mixed."""
    loose = set()
    for bone in random.sample(list(armature.pose.bones), 4):
        if random.random() < 0.2:
            continue
        kinds = {'QUATERNION': "rotation_quaternion", 'AXIS_ANGLE': "rotation_axis_angle"}
        name = kinds.get(bone.rotation_mode, "rotation_euler")
        for index in range(len(getattr(bone, name))):
            if random.random() < 0.15:
                continue
            path = bone.path_from_id(name)
            curve = holder.fcurves.new(path, index=index)
            if random.random() < 0.8:
                curve.group = holder.groups.get(bone.name) or holder.groups.new(bone.name)
            if _key(curve, random, 1.0 if "quat" in path and index == 0 else 0.0):
                loose.add((path, index))
    return loose


def _key(curve: bpy.types.FCurve, random: Random, middle: float) -> bool:
    """Give an F-Curve keys of every kind; return whether its handles are stale or of mixed kinds."""
    rng = np.random.default_rng(random.getrandbits(32))
    count = random.choice((1, 2, 3, 5, 12, 40))
    points = curve.keyframe_points
    points.add(count)
    times = np.sort(rng.choice(np.arange(-10, 60), count, replace=False)).astype("f4")
    if random.random() < 0.3:
        times += rng.random(count).astype("f4") * 0.6
    places = np.stack((times, rng.standard_normal(count) * 0.3 + middle), axis=1).astype("f4")
    kinds = rng.integers(0, 5, count) if random.random() < 0.5 else np.full(count, random.choice((1, 4)))
    others = np.where(np.isin(kinds, (0, 2)) & (rng.random(count) < 0.3), 2 - kinds, kinds)
    columns = {
        "co": places,
        "handle_left": places + np.array([-0.3, 0.1], "f4"),
        "handle_right": places + np.array([0.3, -0.1], "f4"),
        "handle_left_type": kinds,
        "handle_right_type": others,
        "interpolation": rng.choice([0, 1, 2, 2, 2, 3, 4, 7], count),
        "easing": rng.integers(0, 4, count),
        "type": rng.choice([0, 0, 1, 2, 3, 4, 5], count),
        "amplitude": np.full(count, 0.8),
        "period": np.full(count, 4.1),
        "back": np.full(count, 1.70158),
    }
    for name, values in columns.items():
        points.foreach_set(name, values.astype(COLUMNS[name][1]).ravel())
    curve.auto_smoothing = random.choice(('NONE', 'CONT_ACCEL'))
    curve.extrapolation = random.choice(('CONSTANT', 'LINEAR'))
    curve.color_mode, curve.color = 'CUSTOM', (random.random(), 0.0, 1.0)
    curve.update()
    stale = random.random() < 0.2
    if stale:  # as importers leave them
        points.foreach_set("handle_left", (places + np.array([-0.4, 0.2], "f4")).ravel())
    if random.random() < 0.2:
        modifier = curve.modifiers.new('NOISE')
        modifier.mute, modifier.strength = True, 0.5
    return stale or bool((kinds != others).any()) or curve.auto_smoothing != 'NONE'


# --- Reading -----------------------------------------------------------------


def holders(action: bpy.types.Action) -> Iterator[tuple[int, object]]:
    """Yield the holders of an action's F-Curves, each with the handle of its slot."""
    if not HAS_SLOTS:
        yield 0, action
        return
    for layer in action.layers:
        for strip in layer.strips:
            for bag in strip.channelbags:
                yield bag.slot_handle, bag


def curves_of(action: bpy.types.Action) -> dict[Place, bpy.types.FCurve]:
    """Return the F-Curves of an action, in order."""
    return {
        (handle, curve.data_path, curve.array_index): curve
        for handle, holder in holders(action)
        for curve in holder.fcurves
    }


def columns(curve: bpy.types.FCurve) -> dict[str, np.ndarray]:
    """Return all fields of an F-Curve's keys but what is selected, each column (keys, width)."""
    found = {}
    for name, (width, kind) in COLUMNS.items():
        values = np.empty((len(curve.keyframe_points), max(width, 1)), kind)
        curve.keyframe_points.foreach_get(name, values.ravel())
        found[name] = values
    return found


def rows(curve: bpy.types.FCurve) -> dict[tuple[bytes, ...], float]:
    """Return each key, without its handles, as bytes, with its frame."""
    found = columns(curve)
    return {
        tuple(found[name][row].tobytes() for name in ROW): float(found["co"][row, 0])
        for row in range(len(curve.keyframe_points))
    }


def looks(action: bpy.types.Action) -> dict[Place, dict]:
    """Return all of an action's F-Curves exactly: keys, settings, groups and modifiers."""
    return {place: _look(curve) for place, curve in curves_of(action).items()}


def _look(curve: bpy.types.FCurve) -> dict:
    found = {name: values.tobytes() for name, values in columns(curve).items()}
    for name in ("extrapolation", "auto_smoothing", "color_mode", "mute", "lock"):
        found[name] = getattr(curve, name)
    found["color"], found["group"] = tuple(curve.color), curve.group.name if curve.group else ""
    found["modifiers"] = [(one.type, one.mute, one.strength) for one in curve.modifiers]
    return found


def rename_in(action: bpy.types.Action, old: str, new: str) -> None:
    """Rename a bone in the paths and groups of an action, as Blender does in those that play."""
    for curve in curves_of(action).values():
        if f'["{old}"]' in curve.data_path:
            curve.data_path = curve.data_path.replace(f'["{old}"]', f'["{new}"]')
    for _, holder in holders(action):
        for group in holder.groups:
            if group.name == old:
                group.name = new
