# SPDX-License-Identifier: GPL-3.0-or-later
"""Names in Rigify's generated rigs: from any bone of a limb to its ORG bone."""

import re
from collections.abc import Iterator

import bpy

from ...rig.chain.checks.bones import is_joined

_ORIGINAL = "ORG-"
_PREFIX = re.compile(r"^(ORG-|MCH-|DEF-|VIS_)")
_SIDE = re.compile(r"\.[LR](?=$|\.)")
_LAST_WORD = re.compile(r"[._][^._]*$")


def originals(armature: bpy.types.Object) -> list[str]:
    """Return the ORG bones of a rig that Rigify generated; none of another rig."""
    return [bone.name for bone in armature.data.bones if bone.name.startswith(_ORIGINAL)]


def stem_of(name: str) -> str:
    """Return a generated bone's name without Rigify's prefix."""
    return _PREFIX.sub("", name)


def original_of(armature: bpy.types.Object, name: str) -> list[str]:
    """Return the ORG bone of a generated bone, by its name, and those joined above it.

    thigh_ik_target.L, MCH-thigh_ik_stretch.L and DEF-thigh.L.001 belong to ORG-thigh.L.
    """
    bones = armature.data.bones
    bone = next((bones[stem] for stem in _stems(stem_of(name)) if stem in bones), None)
    originals = []
    while bone is not None and bone.name.startswith(_ORIGINAL):
        originals.append(bone.name)
        bone = bone.parent if is_joined(bone) else None  # a toe is, fingers are not
    return originals


def _stems(name: str) -> Iterator[str]:
    """Yield possible names of the ORG bone, with ever fewer of the words that Rigify adds."""
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
