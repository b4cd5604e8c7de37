# SPDX-License-Identifier: GPL-3.0-or-later
"""A rig with two live legs, whose chains' settings have keys, drivers and readers."""

import bpy
import numpy as np
from rigs import add_armature, add_target, evaluated_tip

from ik2d_addon.chains import add_chain

REACH = 2.0
# Frames on which poses are compared, between keys too.
FRAMES = (1.0, 4.0, 8.5, 12.0, 17.25, 24.0, 30.0)
HAS_SLOTS = "action_slot" in bpy.types.AnimData.bl_rna.properties


def two_legs(name="Rig", side=0.0, prefix=""):
    """Add a rig with two live chains, L and R; R's influence, turning over and softness have keys."""
    bones = {f"{prefix}body": ((side, 0, 2.0), (side, 0, 2.6), "", 0.0)}
    for leg, x in (("L", 0.2), ("R", -0.2)):
        at = side + x
        bones[f"{prefix}thigh.{leg}"] = ((at, 0, 2.0), (at, -0.1, 1.0), f"{prefix}body", 0.2)
        bones[f"{prefix}shin.{leg}"] = ((at, -0.1, 1.0), (at, 0, 0.0), f"{prefix}thigh.{leg}", -0.1)
    armature = add_armature(bones, name)
    for leg, x in (("L", 0.2), ("R", -0.2)):
        places = {1: (side + x, -0.5, 0.6), 15: (side + x, -0.1, 0.9), 30: (side + x, 0.6, 0.5)}
        chain = add_chain(armature, f"{prefix}shin.{leg}", 2, add_target(places, f"{name} {leg}"))
        chain.name, chain.live = leg, True
    for frame, value in ((1, 0.0), (15, 1.0), (30, 0.25)):
        key(armature, "R", "influence", frame, value)
    for frame, value in ((1, 0.0), (30, 1.0)):
        key(armature, "R", "turn_over", frame, value)
    key(armature, "L", "softness", 1, 0.05)
    armature.animation_data.action.name = f"{name} Walk"
    bpy.context.scene.frame_set(1)
    return armature


def key(armature, chain, setting, frame, value):
    """Key one of a chain's settings, as a person does with I over its field."""
    settings = armature.ik2d.chains[chain]
    setattr(settings, setting, value)
    settings.keyframe_insert(setting, frame=frame)


def tips(armature, legs="LR", prefix=""):
    """Return the evaluated tips (frames, legs, 3)."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
        found.append([evaluated_tip(armature, f"{prefix}shin.{leg}") for leg in legs])
    return np.array(found)


def moved(before, armature, legs="LR", prefix=""):
    """Return by which part of the reach the tips are off what they were."""
    which = ["LR".index(leg) for leg in legs]
    off = np.linalg.norm(tips(armature, legs, prefix) - before[:, which], axis=2)
    return float(off.max()) / REACH


def holders(action):
    """Yield all that holds F-Curves in an action."""
    if not HAS_SLOTS:
        yield action
        return
    for layer in action.layers:
        for strip in layer.strips:
            yield from strip.channelbags


def paths(action):
    """Return the paths of an action's F-Curves, sorted."""
    return sorted(curve.data_path for holder in holders(action) for curve in holder.fcurves)


def new_action(name, slot, curves):
    """Add an action that nothing plays, with F-Curves at (path, index)."""
    action = bpy.data.actions.new(name)
    action.use_fake_user = True
    holder = action
    if HAS_SLOTS:
        made = action.slots.new(id_type='OBJECT', name=slot)
        holder = action.layers.new("Layer").strips.new(type='KEYFRAME').channelbag(made, ensure=True)
    for path, index in curves:
        holder.fcurves.new(path, index=index).keyframe_points.insert(1, 0.5)
    return action


def put_into_strip(armature, action=None):
    """Push the armature's action down into an NLA track."""
    animation = armature.animation_data
    action = action or animation.action
    animation.action = None
    strip = animation.nla_tracks.new().strips.new("Walk", 1, action)
    if HAS_SLOTS:
        strip.action_slot = action.slots[0]
    return strip


def make_active(armature):
    """Make an armature the active object, alone selected."""
    for ob in bpy.context.selected_objects:
        ob.select_set(False)
    bpy.context.view_layer.objects.active = armature
    armature.select_set(True)
