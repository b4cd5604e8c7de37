# SPDX-License-Identifier: GPL-3.0-or-later
"""Every difference between the Blender versions that IK 2D runs on, 4.2 to 5.2."""

import bpy


def channels(armature_object: bpy.types.Object):
    """Return what holds the object's F-Curves and groups; made, and assigned, where missing.

    An action that a library owns is copied first: keys written to it would be lost.
    """
    animation = armature_object.animation_data or armature_object.animation_data_create()
    action = animation.action
    if action is not None and not action.is_editable:
        action = action.copy()
        animation.action = action
    if action is None:
        action = bpy.data.actions.new(f"{armature_object.name}Action")
        animation.action = action
    if not hasattr(animation, "action_slot"):  # 4.2 and 4.3; goes when 4.4 is the oldest
        return action
    if animation.action_slot is None:
        animation.action_slot = action.slots.new(id_type=armature_object.id_type, name=armature_object.name)
    layer = action.layers[0] if len(action.layers) else action.layers.new("Layer")
    strip = layer.strips[0] if len(layer.strips) else layer.strips.new(type='KEYFRAME')
    return strip.channelbag(animation.action_slot, ensure=True)


def fcurve(holder, path: str, index: int, group: str) -> bpy.types.FCurve:
    """Return the F-Curve of one channel, made in the channel group `group` where missing.

    Grouped afterwards, since the argument for it has another name in each version.
    """
    curve = holder.fcurves.find(path, index=index) or holder.fcurves.new(path, index=index)
    if curve.group is None:
        curve.group = holder.groups.get(group) or holder.groups.new(group)
    return curve


def existing_fcurves(armature_object: bpy.types.Object):
    """Return the F-Curves that the object is animated by now; none where it has no action."""
    animation = armature_object.animation_data
    action = animation.action if animation else None
    if action is None:
        return ()
    if not hasattr(animation, "action_slot"):  # 4.2 and 4.3; goes when 4.4 is the oldest
        return action.fcurves
    if animation.action_slot is None or not len(action.layers) or not len(action.layers[0].strips):
        return ()
    bag = action.layers[0].strips[0].channelbag(animation.action_slot)
    return bag.fcurves if bag else ()


def is_selected(pose_bone: bpy.types.PoseBone) -> bool:
    """Return whether a pose bone is selected."""
    if hasattr(pose_bone, "select"):  # 5.0 moved it here; the other branch goes with 4.5
        return pose_bone.select
    return pose_bone.bone.select
