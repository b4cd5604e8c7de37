# SPDX-License-Identifier: GPL-3.0-or-later
"""The names of the bones that bakes of a chain or a mechanism have keyed: they follow renames."""

from collections.abc import Iterable, Mapping

from bpy.types import PropertyGroup


def baked_bones(settings: PropertyGroup) -> list[str]:
    """Return the bones that bakes of a chain or mechanism have keyed, by the names that are known of them."""
    return settings.bones_baked.split("\n") if settings.bones_baked else []


def set_baked_bones(settings: PropertyGroup, bones: Iterable[str]) -> None:
    """Store the bones that bakes of a chain or mechanism have keyed, each once."""
    settings.bones_baked = "\n".join(dict.fromkeys(bones))


def follow_baked(settings: PropertyGroup, names: Mapping[str, str]) -> None:
    """Rename the bones that bakes have keyed. names: new ones by the old."""
    baked = baked_bones(settings)
    if any(names.get(bone, bone) != bone for bone in baked):
        set_baked_bones(settings, (names.get(bone, bone) for bone in baked))
