# SPDX-License-Identifier: GPL-3.0-or-later
"""Names and notes that are no text: a damaged file may hold bytes that are not UTF-8.

Blender reads and saves them, but Python can get no such name.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

import bpy

from ...core import IK2DError
from ...core.words import say


def refuse_no_text(armature: bpy.types.Object) -> None:
    """Raise IK2DError for a name on an armature that is no text."""
    words = unreadable(armature)
    if words:
        raise IK2DError(words)


def unreadable(armature: bpy.types.Object) -> str:
    """Return a sentence about a name on an armature that is no text; "" if all can be read."""
    try:
        for _ in _names(armature):
            pass
    except UnicodeDecodeError as error:
        return in_words(error)
    return ""


def in_words(error: UnicodeDecodeError) -> str:
    """Return a sentence about a name that could not be read."""
    return say(
        "The name '{escaped}' is not readable text (its bytes are not UTF-8); rename its owner",
        escaped=_escaped(error),
    )


def mend_texts(group: Any) -> None:
    """Give what is stored in a group of the add-on's settings as no text the escaped text of its bytes."""
    of_class: Any = type(group)
    for name, kind in _kinds(of_class):
        if not group.is_property_set(name):  # reading a group that is not there makes one
            continue
        try:
            value = getattr(group, name)
        except UnicodeDecodeError as error:
            setattr(group, name, _escaped(error))
            continue
        if kind == 'POINTER' and isinstance(value, bpy.types.PropertyGroup):
            mend_texts(value)
        for item in value if kind == 'COLLECTION' else ():
            mend_texts(item)


@cache
def _kinds(group: Any) -> list[tuple[str, str]]:
    """Return the texts and groups in a class of settings, each with its kind: to ask Blender is slow."""
    properties = [(found.identifier, found.type, found.is_readonly) for found in group.bl_rna.properties]
    found = [
        (name, kind)
        for name, kind, fixed in properties
        if name != "rna_type" and (kind in ('POINTER', 'COLLECTION') or (kind == 'STRING' and not fixed))
    ]
    return sorted(found, key=lambda each: each[1] == 'STRING')  # whose updates read the groups


def _escaped(error: UnicodeDecodeError) -> str:
    return error.object.decode("utf-8", "backslashreplace")


def _names(armature: bpy.types.Object) -> Iterator[str]:
    """Yield the names of an armature, its bones, constraints and action, and of what its chains follow."""
    yield armature.name
    yield armature.data.name
    for bone in armature.pose.bones if armature.pose is not None else armature.data.bones:
        yield bone.name
        for constraint in bone.constraints if armature.pose is not None else ():
            yield constraint.name
    for chain in armature.ik2d.chains:
        for followed in (chain.target, chain.pole, chain.foot.ground):
            if followed is not None:
                yield followed.name
                if followed.type == 'ARMATURE' and followed != armature:
                    yield from (bone.name for bone in followed.data.bones)
    if armature.animation_data is not None and armature.animation_data.action is not None:
        yield armature.animation_data.action.name
