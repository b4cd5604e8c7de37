# SPDX-License-Identifier: GPL-3.0-or-later
"""All that a file holds and a session shows, to compare before and after."""

import bpy
from rigs import contents_of, every_bit_of_animation, is_selected


def state_of_the_session() -> dict:
    """Return what the user sees and has chosen, apart from the animation."""
    scene, layer, ob = bpy.context.scene, bpy.context.view_layer, bpy.context.object
    armatures = [ob for ob in bpy.data.objects if ob.type == 'ARMATURE']
    return {
        "scene": bpy.context.window.scene.name,
        "frame": (scene.frame_current, scene.frame_subframe),
        "range": (scene.frame_start, scene.frame_end),
        "active": layer.objects.active and layer.objects.active.name,
        "selected": sorted(each.name for each in layer.objects.selected),
        "mode": (bpy.context.mode, ob and ob.mode),
        "auto key": scene.tool_settings.use_keyframe_insert_auto,
        "bones": [
            (each.name, bone.name, is_selected(bone), each.data.bones.active == bone.bone)
            for each in armatures
            for bone in each.pose.bones
        ],
        "rotation modes": [bone.rotation_mode for each in armatures for bone in each.pose.bones],
        "constraints": [
            (each.name, len(each.constraints), sum(len(bone.constraints) for bone in each.pose.bones))
            for each in armatures
        ],
        "collections": [(each.name, [c.name for c in each.users_collection]) for each in bpy.data.objects],
        "handlers": [
            len(each)
            for each in map(bpy.app.handlers.__getattribute__, dir(bpy.app.handlers))
            if isinstance(each, list)
        ],
    }


def data_blocks() -> dict[str, list[str]]:
    """Return the names of all data blocks, by kind."""
    return {
        prop.identifier: sorted(block.name for block in getattr(bpy.data, prop.identifier))
        for prop in bpy.data.bl_rna.properties
        if prop.type == 'COLLECTION' and prop.identifier != "all_ids"
    }


def everything() -> dict:
    """Return the session, all data blocks and every bit of all animation."""
    return {
        "session": state_of_the_session(),
        "blocks": data_blocks(),
        "actions": {action.name: (action.users, contents_of(action)) for action in bpy.data.actions},
        "animation": {
            (kind, block.name): every_bit_of_animation(block)
            for kind, blocks in (("objects", bpy.data.objects), ("scenes", bpy.data.scenes))
            for block in blocks
            if block.animation_data
        },
        "without": sorted(ob.name for ob in bpy.data.objects if not ob.animation_data),
    }


def poses() -> dict:
    """Return where each bone of each armature is put, by its own channels, to the last bit."""
    names = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")
    return {
        (ob.name, bone.name): [bone.rotation_mode] + [[x.hex() for x in getattr(bone, n)] for n in names]
        for ob in bpy.data.objects
        if ob.pose
        for bone in ob.pose.bones
    }


def differences(before: object, after: object, at: str = "") -> list[str]:
    """Return a line for each thing that differs, with the way to it."""
    if isinstance(before, dict) and isinstance(after, dict):
        return [
            line
            for key in {**before, **after}
            for line in differences(before.get(key), after.get(key), f"{at}/{key}")
        ]
    if type(before) is type(after) and isinstance(before, list | tuple) and len(before) == len(after):
        pairs = zip(before, after, strict=True)
        return [line for i, pair in enumerate(pairs) for line in differences(*pair, f"{at}/{i}")]
    return [] if before == after else [f"{at}: {before} -> {after}"]
