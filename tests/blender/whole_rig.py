# SPDX-License-Identifier: GPL-3.0-or-later
"""All properties of an armature object and of its data, to compare before and after."""

import bpy
from rigs import every_bit_of_animation

# What Blender works out anew whenever it evaluates: of bones their pose, of the rest nothing that is set.
_EVALUATED = {"matrix", "matrix_channel", "head", "tail", "length", "is_in_ik_chain", "error_location"}


def whole_rig(armature: bpy.types.Object) -> dict:
    """Return all settings of an armature object, its bones, their constraints, its data and its animation."""
    return {
        "object": plain(armature),
        "data": plain(armature.data),
        "bones": {bone.name: plain(bone) for bone in armature.data.bones},
        "pose": {bone.name: _but_evaluated(plain(bone)) for bone in armature.pose.bones},
        "constraints": {
            (bone.name, i): (_but_evaluated(plain(each)), _targets(each))
            for bone in armature.pose.bones
            for i, each in enumerate(bone.constraints)
        },
        "own": {
            (bone.name, key): repr(bone[key]) for bone in armature.pose.bones for key in sorted(bone.keys())
        },
        "ik2d": _ours(armature.ik2d),
        "animation": every_bit_of_animation(armature),
        "of data": every_bit_of_animation(armature.data),
        "actions": sorted(action.name for action in bpy.data.actions),
        "objects": sorted(ob.name for ob in bpy.data.objects),
        "variables": [
            [(v.name, v.type, [plain(t) for t in v.targets]) for v in curve.driver.variables]
            for curve in (armature.animation_data.drivers if armature.animation_data else ())
        ],
    }


def plain(struct: bpy.types.bpy_struct) -> dict:
    """Return all plain settings of something in Blender, floats to the last bit; other data by name."""
    found = {}
    for prop in struct.bl_rna.properties:
        name = prop.identifier
        if prop.type == 'COLLECTION' or name in _OF_MEMORY:
            continue
        value = getattr(struct, name)
        if prop.type == 'POINTER':
            value = getattr(value, "name_full", None) or getattr(value, "name", None)
        found[name] = _bits(value)
    return found


# Who uses it counts apart; where it is in memory says nothing.
_OF_MEMORY = {"rna_type", "users", "session_uid", "tag", "is_evaluated", "original", "preview", "bl_rna"}


def _bits(value: object) -> object:
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, str | int | None):
        return value
    if isinstance(value, set):
        return sorted(value)
    return [_bits(each) for each in value]


def _but_evaluated(settings: dict) -> dict:
    return {key: value for key, value in settings.items() if key not in _EVALUATED}


def _targets(constraint: bpy.types.Constraint) -> list[dict]:
    return [plain(target) for target in getattr(constraint, "targets", ())]


def _ours(settings: bpy.types.PropertyGroup) -> dict:
    """Return all of a property group, with what it holds."""
    found = plain(settings)
    for prop in settings.bl_rna.properties:
        if prop.identifier in _OF_MEMORY:
            continue
        if prop.type == 'COLLECTION':
            found[prop.identifier] = [_ours(item) for item in getattr(settings, prop.identifier)]
        elif prop.type == 'POINTER' and isinstance(
            getattr(settings, prop.identifier), bpy.types.PropertyGroup
        ):
            found[prop.identifier] = _ours(getattr(settings, prop.identifier))
    return found
