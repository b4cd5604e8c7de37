# SPDX-License-Identifier: GPL-3.0-or-later
"""In the window: the pictures of "All actions" in docs/riggers.md: three clips of a walker are baked."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from window import call, calm, in_front, look_at, named, picture, set_open, ui

# Of each clip its last frame, how far a foot swings and how high it is lifted, and how far the body sinks.
CLIPS = {"Idle": (60, 0.0, 0.0, 0.1), "Walk": (32, 0.4, 0.3, 0.1), "Run": (20, 0.5, 0.45, 0.15)}
TARGETS = ("Ankle Target L", "Ankle Target R")
SHOWN = 9  # the frame that is shown


def act(ob, action):
    """Have an object play an action, by a slot of its own name."""
    animation = ob.animation_data or ob.animation_data_create()
    animation.action = action
    slot = action.slots.get(f"OB{ob.name}") or action.slots.new(id_type='OBJECT', name=ob.name)
    animation.action_slot = slot


def key(ob, places):
    """Key an object's places."""
    for frame, place in places.items():
        ob.location = place
        ob.keyframe_insert("location", frame=frame)


def make_clips(walker):
    """Give the walker an action for each clip, and its targets one for both of them."""
    places = {ob: ob.location.copy() for ob in (walker, *map(bpy.data.objects.__getitem__, TARGETS))}
    for ob in places:
        ob.animation_data_clear()
    for action in list(bpy.data.actions):
        bpy.data.actions.remove(action)
    for clip, (last, swing, lift, sink) in CLIPS.items():
        own, others = bpy.data.actions.new(clip), bpy.data.actions.new(f"{clip} targets")
        own.use_fake_user = others.use_fake_user = True
        middle = (1 + last) // 2
        up = places[walker]
        act(walker, own)
        key(walker, {1: up, middle: (up.x, up.y, up.z - sink), last: up})
        for side, name in zip((1.0, -1.0), TARGETS, strict=True):
            ob = bpy.data.objects[name]
            act(ob, others)
            x, y, z = up.x, places[ob].y, min(place.z for place in places.values())
            ahead, behind = (x + side * swing, y, z), (x - side * swing, y, z)
            key(ob, {1: ahead, middle: behind, (middle + last) // 2: (x, y, z + lift), last: ahead})
    for ob, name in ((walker, "Walk"), *((bpy.data.objects[name], "Walk targets") for name in TARGETS)):
        act(ob, bpy.data.actions[name])
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, CLIPS["Walk"][0]
    scene.frame_set(SHOWN)


def test():
    """Choose all actions and new ones, bake, and open the result."""
    walker = bpy.data.objects["Walker"]
    bpy.context.view_layer.objects.active = walker
    walker.select_set(True)
    make_clips(walker)
    _, sidebar = yield from in_front("IK 2D")
    calm()
    look_at(walker.location.x + 0.4, 1.4, 9.0)
    settings = walker.ik2d
    settings.actions_to_bake, settings.bake_into = 'ALL', 'NEW'
    yield 0.5
    yield from set_open(sidebar, "IK2D_PT_bake_options")
    yield from picture("riggers_5_actions")
    yield from call("bake")
    assert named("objects", "Walker").animation_data.action.name == "Walk baked"
    yield from set_open(sidebar, "ik2d_last_bake")
    yield from picture("riggers_6_actions_baked")


ui.run(test)
