# SPDX-License-Identifier: GPL-3.0-or-later
"""Legs with several actions each, whose targets move in actions of their own or in slots of the same ones."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

import bpy
from rigs import add_chain, add_leg, contents_of, evaluated_place, evaluated_tip

from ik2d_addon.rig.animation.versions import HAS_SLOTS, assign_action

# Of each clip its last frame, how high the target is lifted, and whether it is a loop.
CLIPS = {"Idle": (10, 0.05, False), "Walk": (16, 0.4, True), "Run": (12, 0.6, True)}


def action_of(name: str, manual: tuple[int, int] | None = None, cyclic: bool = False) -> bpy.types.Action:
    """Add an action that nothing plays."""
    action = bpy.data.actions.new(name)
    action.use_fake_user = True
    if not HAS_SLOTS:
        action.id_root = 'OBJECT'  # as it is once an object has played it
    if manual:
        action.use_frame_range = True
        action.frame_start, action.frame_end = manual
        action.use_cyclic = cyclic
    return action


def channels_for(action: bpy.types.Action, ob: bpy.types.Object):
    """Return what holds an object's F-Curves in an action: the action, or the channels of its slot."""
    if not HAS_SLOTS:
        return action
    slot = action.slots.get(f"OB{ob.name}") or action.slots.new(id_type='OBJECT', name=ob.name)
    layer = action.layers[0] if len(action.layers) else action.layers.new("Layer")
    strip = layer.strips[0] if len(layer.strips) else layer.strips.new(type='KEYFRAME')
    return strip.channelbag(slot, ensure=True)


def key_path(
    action: bpy.types.Action,
    ob: bpy.types.Object,
    keys: Mapping[int, Iterable[float]],
    path: str = "location",
) -> None:
    """Key a vector of an object in an action that it does not play."""
    holder = channels_for(action, ob)
    for index, values in enumerate(zip(*keys.values(), strict=True)):
        curve = holder.fcurves.new(path, index=index)
        for frame, value in zip(keys, values, strict=True):
            curve.keyframe_points.insert(frame, value)
        curve.update()


def swing(x: float, last: int, up: float) -> dict[int, tuple[float, float, float]]:
    """Return places that a foot swings through, from frame 1 to the last; it ends where it began."""
    return {1: (x, 0.3, 0.4), (1 + last) // 2: (x, -0.6, 0.4 + up), last: (x, 0.3, 0.4)}


def add_clips(name: str = "Rig", x: float = 0.0, slotted: bool = False, **settings):
    """Add a leg whose target moves in three clips, none of which is assigned; return armature and target.

    "Walk Rig" is the armature's action, and "Walk Rig targets" the target's, unless slotted: one action then.
    """
    armature = add_leg(name)
    armature.location.x = x
    target = bpy.data.objects.new(f"{name}'s foot", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = (x, 0.3, 0.4)
    add_chain(armature, "shin", target, **settings)
    for clip, (last, up, cyclic) in CLIPS.items():
        action = action_of(f"{clip} {name}", (1, last), cyclic)
        channels_for(action, armature)
        key_path(action if slotted else action_of(f"{clip} {name} targets"), target, swing(x, last, up))
    bpy.context.view_layer.update()
    return armature, target


def part(name: str, armature: bpy.types.Object) -> None:
    """Give the targets' action of a clip a name of which nothing tells that it goes with the armature's."""
    bone = armature.pose.bones["body"]
    holder = channels_for(bpy.data.actions[name], armature)  # which is the armature's by its curves, too
    holder.fcurves.new(bone.path_from_id("rotation_quaternion"), index=0).keyframe_points.insert(1, 1.0)
    bpy.data.actions[f"{name} targets"].name = "Sprint"


@contextmanager
def playing(plays: Mapping[bpy.types.Object, bpy.types.Action]) -> Iterator[None]:
    """Have objects play actions by slots of their names, as a person assigns them; then nothing."""
    for ob, action in plays.items():
        assign_action(ob.animation_data or ob.animation_data_create(), action, f"OB{ob.name}")
    bpy.context.view_layer.update()
    yield
    for ob in plays:
        ob.animation_data.action = None


def misses(
    armature: bpy.types.Object,
    plays: Mapping[bpy.types.Object, bpy.types.Action],
    last: int,
    tip: str = "shin",
) -> float:
    """Return how far the evaluated tip is from its target at most, while objects play actions."""
    chain = next(chain for chain in armature.ik2d.chains if chain.tip == tip)
    found = []
    with playing(plays):
        for frame in range(1, last + 1):
            bpy.context.scene.frame_set(frame)
            place = evaluated_place(chain.target, chain.subtarget)
            found.append((evaluated_tip(armature, tip) - place).length)
    return max(found)


def pose_at(armature: bpy.types.Object, frame: int) -> list[tuple[float, ...]]:
    """Return the evaluated matrices of all bones of an armature at a frame, to the last bit."""
    bpy.context.scene.frame_set(frame)
    evaluated = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return [tuple(x for row in bone.matrix for x in row) for bone in evaluated.pose.bones]


def everything() -> dict:
    """Return all actions of the file, with who uses them, and what every object plays and where it is."""
    actions = {
        action.name: (contents_of(action), action.users, action.use_fake_user) for action in bpy.data.actions
    }
    played = {}
    for ob in bpy.data.objects:
        animation = ob.animation_data
        slot = getattr(animation, "action_slot", None)
        played[ob.name] = animation and (
            animation.action and animation.action.name,
            slot and slot.identifier,
            getattr(animation, "last_slot_identifier", ""),
            animation.use_nla,
        )
    poses = {
        ob.name: [tuple(bone.rotation_quaternion) + tuple(bone.location) for bone in ob.pose.bones]
        for ob in bpy.data.objects
        if ob.pose is not None
    }
    places = {ob.name: tuple(ob.location) for ob in bpy.data.objects}
    return {
        "actions": actions,
        "played": played,
        "poses": poses,
        "places": places,
        "frame": bpy.context.scene.frame_current,
    }
