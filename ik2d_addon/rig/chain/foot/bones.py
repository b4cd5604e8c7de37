# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of a foot: those that hang on a chain's tip, and the toes on them."""

from collections.abc import Callable, Iterator

import bpy

# The parts of a foot that its bones belong to.
FOOT, TOES = 0, 1


def foot_bones(
    hanging: list[bpy.types.PoseBone], is_toe: Callable[[bpy.types.PoseBone], bool]
) -> list[tuple[bpy.types.PoseBone, int]]:
    """Return the bones of a foot, parents first, each with its part: those on the tip, then the toes.

    hanging: the bones on the end of the chain's tip. is_toe: tells a toe among what hangs on them. Bones
    between foot and toes are of the foot; what hangs on a toe turns with it.
    """
    bones_found = []
    for bone in hanging:
        bones_found.append((bone, FOOT))
        bones_found += _toes_on(bone, is_toe)
    return bones_found


def _toes_on(
    bone: bpy.types.PoseBone, is_toe: Callable[[bpy.types.PoseBone], bool]
) -> list[tuple[bpy.types.PoseBone, int]]:
    toes_found: list[tuple[bpy.types.PoseBone, int]] = []
    for child in children_of(bone):
        if is_toe(child):
            toes_found.append((child, TOES))
        elif toes := _toes_on(child, is_toe):
            toes_found += [(child, FOOT), *toes]
    return toes_found


def children_of(bone: bpy.types.PoseBone) -> Iterator[bpy.types.PoseBone]:
    """Yield the pose bones that turn with a bone."""
    pose = bone.id_data.pose.bones
    for child in bone.bone.children:  # a pose bone would look for its own among all bones
        if child.use_inherit_rotation:
            yield pose[child.name]
