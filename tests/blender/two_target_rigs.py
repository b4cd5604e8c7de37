# SPDX-License-Identifier: GPL-3.0-or-later
"""An arm with a hand between two carriers that move, and what Blender evaluates of it."""

import bpy
import numpy as np
from mathutils import Matrix, Quaternion
from rigs import add_armature, add_chain

FRAMES = range(1, 41)
EIGHTHS = [1 + i / 8 for i in range(39 * 8 + 1)]
REACH = 0.6


def add_empty(name, place=(0, 0, 0), turn=(0, 0, 0), parent=None, keys=None):
    """Add an empty, keyed at {frame: (place, turn)}."""
    ob = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(ob)
    ob.parent, ob.location, ob.rotation_euler = parent, place, turn
    for frame, (there, turned) in (keys or {}).items():
        ob.location, ob.rotation_euler = there, turned
        ob.keyframe_insert("location", frame=frame)
        ob.keyframe_insert("rotation_euler", frame=frame)
    return ob


def add_carriers(size=1.0):
    """Add the hip and the wheel, which move and turn from frame 1 to 40."""
    paths = {
        "hip": {1: ((0.1, -0.1, 1.0), (0, 0, 0)), 40: ((0.15, 0.1, 1.05), (0, 0, 0.5))},
        "wheel": {1: ((0.4, -0.4, 1.3), (0, 0, 0)), 40: ((0.45, -0.35, 1.3), (2.5, 0, 0))},
    }
    return [
        add_empty(name, keys={f: (tuple(size * x for x in p), r) for f, (p, r) in path.items()})
        for name, path in paths.items()
    ]


def add_arm(size=1.0, **settings):
    """Add an arm whose hand turns as its target does; return its chain, the target, hip and wheel."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    armature = add_armature(
        {
            "chest": ((0, 0, 1.2), (0, 0, 1.6), "", 0),
            "upper": ((0.2, 0, 1.5), (0.5, 0.05, 1.5), "chest", 0.2),
            "fore": ((0.5, 0.05, 1.5), (0.8, 0, 1.5), "upper", -0.3),
            "hand": ((0.8, 0, 1.5), (0.9, 0, 1.5), "fore", 0.1),
        }
    )
    armature.scale = (size,) * 3
    hip, wheel = add_carriers(size)
    target = add_empty("A", tuple(size * x for x in (0.2, 0, 0)), (0.3, 0.2, 0.1), hip)
    target.keyframe_insert("location", frame=1)
    bpy.context.view_layer.update()
    chain = add_chain(armature, "fore", target, plane='SWING', **settings)
    chain.hand_rotation = 'TARGET'
    bpy.context.view_layer.objects.active = armature
    return chain, target, hip, wheel


def shown(chain, times, followed=None):
    """Return the tips, the hand's rotations, and the places and rotations of the target, at some times."""
    armature, scene = chain.id_data, bpy.context.scene
    tips, hands, places, turns = [], [], [], []
    for time in times:
        scene.frame_set(int(time), subframe=time % 1)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        ob = armature.evaluated_get(depsgraph)
        target = (followed or chain.target).evaluated_get(depsgraph)
        world = target.matrix_world
        if chain.subtarget and followed is None:
            world = world @ target.pose.bones[chain.subtarget].matrix
        tips.append(np.array(ob.matrix_world @ ob.pose.bones["fore"].tail))
        hands.append((ob.matrix_world @ ob.pose.bones["hand"].matrix).to_quaternion())
        places.append(np.array(world.translation))
        turns.append(world.to_quaternion())
    return np.array(tips), hands, np.array(places), turns


def apart(one: Quaternion, other: Quaternion) -> float:
    """Return the angle between two rotations; Blender's own rounds small ones to 0."""
    sign = 1.0 if one.dot(other) >= 0.0 else -1.0
    return float(2.0 * np.linalg.norm(sign * np.array(one) - np.array(other)))


def furthest(ones, others) -> float:
    """Return the largest angle between rotations."""
    return max(apart(one, other) for one, other in zip(ones, others, strict=True))


def steps(places) -> float:
    """Return the furthest move from one time to the next."""
    return float(np.linalg.norm(np.diff(places, axis=0), axis=1).max())


def off_a_constant_turn(hands, turns) -> float:
    """Return how far the hand turns against its target, in radians."""
    held = [turn.inverted() @ hand for hand, turn in zip(hands, turns, strict=True)]
    return furthest(held, held[:1] * len(held))


def key_blend(constraint, keys):
    """Key an influence."""
    for frame, value in keys.items():
        constraint.influence = value
        constraint.keyframe_insert("influence", frame=frame)


def place_of(ob) -> Matrix:
    """Return the evaluated matrix of an object."""
    return ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.copy()
