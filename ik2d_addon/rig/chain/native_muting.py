# SPDX-License-Identifier: GPL-3.0-or-later
"""Native chains whose keys shall be seen: their constraints are muted."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

import bpy

from .native_state import constraints_of


@contextmanager
def natives_muted(armature: bpy.types.Object, chains: Collection[str]) -> Iterator[None]:
    """Mute the constraints of the native ones among the chains of these names; for good, unless it fails."""
    muted = _acting(armature, chains)
    _set(armature, muted, True)
    try:
        yield
    except BaseException:
        _set(armature, muted, False)
        raise


@contextmanager
def natives_still(armature: bpy.types.Object, chains: Collection[str]) -> Iterator[None]:
    """Mute them for a while, to see the bones' own keys."""
    found = _acting(armature, chains)
    _set(armature, found, True)
    try:
        yield
    finally:
        _set(armature, found, False)


def _acting(armature: bpy.types.Object, chains: Collection[str]) -> list[tuple[str, str]]:
    """Return the constraints that act, each as the names of its bone and its own."""
    return [
        (bone.name, constraint.name)
        for settings in armature.ik2d.chains
        if settings.name in chains
        for bone, constraint in constraints_of(settings)
        if not constraint.mute
    ]


def _set(armature: bpy.types.Object, constraints: list[tuple[str, str]], mute: bool) -> None:
    for bone, name in constraints:
        found = armature.pose.bones[bone].constraints.get(name) if bone in armature.pose.bones else None
        if found is not None:
            found.mute = mute
