# SPDX-License-Identifier: GPL-3.0-or-later
"""The names of Rigify's generated rigs: from any bone of a limb to the one that it was generated from."""

import re
from collections.abc import Iterator

import bpy

_ORIGINAL = "ORG-"
_PREFIX = re.compile(r"^(ORG-|MCH-|DEF-|VIS_)")
_SIDE = re.compile(r"\.[LR](?=$|\.)")
# A bone whose head is this near to its parent's tail, as a part of its length, goes on from there.
_JOINED = 1e-3
_LAST_WORD = re.compile(r"[._][^._]*$")


def originals(armature: bpy.types.Object) -> list[str]:
    """Return the bones that carry the limbs of a rig that Rigify generated; none of another one."""
    return [bone.name for bone in armature.data.bones if bone.name.startswith(_ORIGINAL)]


def stem_of(name: str) -> str:
    """Return the name of a bone that Rigify generated without the prefix of its kind."""
    return _PREFIX.sub("", name)


def original_of(armature: bpy.types.Object, name: str) -> list[str]:
    """Return the bone that carries the limb of a generated bone, by the names, and those joined above it.

    thigh_ik_target.L and MCH-thigh_ik_stretch.L are of ORG-thigh.L, as DEF-thigh.L.001 is.
    """
    bones = armature.data.bones
    bone = next((bones[stem] for stem in _stems(stem_of(name)) if stem in bones), None)
    found = []
    while bone is not None and bone.name.startswith(_ORIGINAL):
        found.append(bone.name)
        bone = bone.parent if _joins_parent(bone) else None
    return found


def _joins_parent(bone: bpy.types.Bone) -> bool:
    """Return whether a bone goes on from its parent's tail: a toe does, fingers do not."""
    if bone.parent is None:
        return False
    return bool((bone.head_local - bone.parent.tail_local).length <= _JOINED * bone.length)


def _stems(name: str) -> Iterator[str]:
    """Yield what the bone may be called, with ever fewer of the words that Rigify has added."""
    side = _SIDE.search(name)
    yield _ORIGINAL + name
    if side:
        name = name[: side.start()]
    while name:
        yield f"{_ORIGINAL}{name}{side.group() if side else ''}"
        shorter = _LAST_WORD.sub("", name)
        if shorter == name:
            return
        name = shorter
