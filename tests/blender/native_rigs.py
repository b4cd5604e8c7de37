# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs at random for the tests of native chains, targets within their reach, and what Blender shows."""

from collections.abc import Sequence
from math import cos, sin

import bpy
import numpy as np
from mathutils import Vector
from rigs import add_armature, add_chain, add_target

from ik2d_addon.features.native.expressions import checked, names_in
from ik2d_addon.features.native.plan import shape_of
from ik2d_addon.rig.chain.chain import read_chain

_FUNCTIONS = {
    "tan": np.tan,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "cos": np.cos,
    "sin": np.sin,
    "asin": np.arcsin,
    "acos": np.arccos,
    "clamp": lambda value, low, high: min(max(value, low), high),
}


def worked_out(found, **known):
    """Return all that a plan's expressions come to, those that others need first."""
    values = {"bend": 1.0, "turn_over": 0.0, "softness": 0.0, "stretch": 1.0, "compress": 1.0, **known}
    waiting = [*found.steps, *((f"turn{i}", turn) for i, turn in enumerate(found.turns))]
    while waiting:
        ready = [(name, text) for name, text in waiting if set(names_in(text)) <= values.keys()]
        assert ready, "a circle, or an unknown name"
        values |= {name: float(eval(checked(text), _FUNCTIONS, values)) for name, text in ready}
        waiting = [step for step in waiting if step not in ready]
    return values


def random_limb(rng: np.random.Generator, frames: int = 8, reach=(0.02, 0.98), off: float = 0.0, count=2):
    """Add a posed body with a limb somewhere in space, whose target jumps from frame to frame.

    reach: where between the inner and the outer reach the target is. off: how far off the plane, in
    reaches. Returns armature and chain; the limb's bones are "bone0", "bone1" ...
    """
    normal, along = rng.normal(size=3), rng.normal(size=3)
    normal /= np.linalg.norm(normal)
    x = np.cross(normal, along)
    x /= np.linalg.norm(x)
    y = np.cross(normal, x)
    place, heading = rng.normal(size=3), rng.uniform(-3.0, 3.0)
    bones = {"body": (place - rng.normal(size=3), place, "", 0.0)}
    parent = "body"
    for i in range(count):
        heading += rng.uniform(0.05, 2.5) if i else 0.0
        end = place + np.exp(rng.uniform(-0.7, 0.7)) * (x * cos(heading) + y * sin(heading))
        bones[f"bone{i}"] = (place, end, parent, rng.uniform(-3.0, 3.0))
        place, parent = end, f"bone{i}"
    armature = add_armature(bones)
    armature.location, armature.rotation_euler = rng.normal(size=3), rng.uniform(-3.0, 3.0, 3)
    body = armature.pose.bones["body"]
    body.rotation_mode, body.rotation_euler = 'XYZ', rng.uniform(-1.0, 1.0, 3)
    chain = add_chain(armature, parent, add_target({}), count)
    bpy.context.view_layer.update()
    at_random(rng, chain, frames, reach, off)
    return armature, chain


def two_legs() -> bpy.types.Object:
    """Add a body with two legs, each with a chain, "left" and "right", to a target of its own."""
    bones = {"body": ((0, 0, 2.0), (0, 0, 2.6), "", 0.0)}
    for side, x in (("left", 0.2), ("right", -0.2)):
        bones[f"{side} thigh"] = ((x, 0, 2.0), (x, -0.1, 1.0), "body", 0.0)
        bones[f"{side} shin"] = ((x, -0.1, 1.0), (x, 0, 0.1), f"{side} thigh", 0.0)
    armature = add_armature(bones)
    for side, x in (("left", 0.2), ("right", -0.2)):
        add_chain(armature, f"{side} shin", add_target({1: (x, 0.2, 0.4), 20: (x, -0.5, 0.5)}), name=side)
    return armature


def at_random(rng, chain, frames: int, reach=(0.02, 0.98), off: float = 0.0) -> None:
    """Key a chain's target to places at random in the chain's plane, as its limb is held now."""
    shape, plane = shape_of(read_chain(chain.id_data, chain)), read_chain(chain.id_data, chain).plane
    inner = max(0.0, 2.0 * shape.lengths.max() - shape.reach)
    for frame in range(1, frames + 1):
        distance = inner + (shape.reach - inner) * rng.uniform(*reach)
        angle, height = rng.uniform(-3.14, 3.14), off * shape.reach * rng.uniform(-1.0, 1.0)
        place = (
            plane.origin + distance * (cos(angle) * plane.x + sin(angle) * plane.y) + height * plane.normal
        )
        move(chain, place, frame)


def move(chain, place: Sequence[float], frame: int) -> None:
    """Key a chain's target to a place in the armature's rest space, as the limb is held now."""
    armature = chain.id_data
    body = armature.pose.bones["body"]
    held = armature.matrix_world @ body.matrix @ body.bone.matrix_local.inverted()
    chain.target.location = held @ Vector(place)
    chain.target.keyframe_insert("location", frame=frame)


def swing(chain, frames: int = 8) -> None:
    """Key a chain's target to a path along which no joint turns far from its rest."""
    rig = read_chain(chain.id_data, chain)
    shape, plane = shape_of(rig), rig.plane
    rest = shape.angles.cumsum()
    tip = (shape.lengths * (np.cos(rest), np.sin(rest))).sum(axis=1)
    inner = max(0.0, 2.0 * shape.lengths.max() - shape.reach)
    for frame in range(1, frames + 1):
        angle = np.arctan2(tip[1], tip[0]) + 0.8 * sin(frame / 2.0)
        distance = inner + (shape.reach - inner) * (0.5 + 0.3 * sin(frame))
        move(chain, plane.origin + distance * (cos(angle) * plane.x + sin(angle) * plane.y), frame)


def poses(armature: bpy.types.Object, frames: Sequence[int], bones: Sequence[str] = ()) -> np.ndarray:
    """Return Blender's pose matrices (frames, n, 4, 4) of bones, by default the limb's."""
    found = []
    names = bones or [bone.name for bone in armature.pose.bones if bone.name.startswith("bone")]
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(shown.pose.bones[name].matrix) for name in names])
    return np.array(found)


def reach_of(chain) -> float:
    """Return how far a chain reaches in rest."""
    return shape_of(read_chain(chain.id_data, chain)).reach


def contents(armature: bpy.types.Object) -> dict:
    """Return what an armature's bones and settings hold beside its animation, to compare before and after."""
    from rigs import settings_of, stored_settings

    for chain in armature.ik2d.chains:  # reading groups of settings that are not there makes them
        for group in (chain, chain.foot):
            for own in group.bl_rna.properties:
                getattr(group, own.identifier)
    return {
        "object": settings_of(armature),
        "data": settings_of(armature.data),
        "bones": [
            (bone.name, settings_of(bone), [settings_of(one) for one in bone.constraints])
            for bone in armature.pose.bones
        ],
        "custom": {bone.name: sorted(bone.keys()) for bone in armature.pose.bones},
        "settings": _plain(stored_settings(armature)),
        "keys": sorted(armature.keys()),
    }


def _plain(value):
    """Return stored settings as plain data."""
    if isinstance(value, bpy.types.ID):
        return value.name_full
    if hasattr(value, "keys"):
        return {key: _plain(value[key]) for key in value.keys()}
    if isinstance(value, list | tuple) or type(value).__name__ == "IDPropertyArray":
        return [_plain(part) for part in value]
    return value
