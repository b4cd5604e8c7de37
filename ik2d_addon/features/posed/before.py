# SPDX-License-Identifier: GPL-3.0-or-later
"""What Add Chain finds, stored on the chain: Remove Chain gives it back while nothing else has changed it.

The pose is that of the rotation channels: as they were, and as Live left them. A limb that was posed since,
by its target or by hand, keeps that pose.
"""

import json
from dataclasses import dataclass
from typing import Any, TypeAlias

import bpy

from ...rig.animation.bone_channels import rotation_property
from ...rig.animation.remembered import plain
from ...rig.chain.post import turned_bones_of

# Channels within this of each other, radians or parts of a quaternion, show the same pose.
_SAME = 1e-5
# Of each bone, root to tip: its rotation mode and the values of its channels.
Pose: TypeAlias = list[tuple[str, tuple[float, ...]]]


@dataclass(frozen=True)
class Before:
    """What Add Chain found."""

    chain: str  # the name of the chain that was active; "" for none
    selected: list[str]  # the names of the selected objects
    pose: Pose
    pose_added: Pose  # once the chain was live


def pose_of(armature: bpy.types.Object, bones: list[str]) -> Pose:
    """Return the rotation channels of bones."""
    posed = [armature.pose.bones[name] for name in bones]
    return [
        (bone.rotation_mode, plain(getattr(bone, rotation_property(bone.rotation_mode)))) for bone in posed
    ]


def put_pose(armature: bpy.types.Object, bones: list[str], pose: Pose) -> None:
    """Give bones the rotation channels of a pose, exactly."""
    for name, (mode, values) in zip(bones, pose, strict=True):
        setattr(armature.pose.bones[name], rotation_property(mode), values)
    armature.update_tag()


def note_before(chain: bpy.types.PropertyGroup, before: Before) -> None:
    """Store on a chain what Add Chain found."""
    chain.before_added = json.dumps([before.chain, before.selected, before.pose, before.pose_added])


def read_before(chain: bpy.types.PropertyGroup) -> Before | None:
    """Return the state before Add Chain; None where it is not stored, or the limb has another pose by now."""
    bones = turned_bones_of(chain)
    if chain.id_data.pose is None or not all(name in chain.id_data.pose.bones for name in bones):
        return None
    try:
        active, selected, *poses = json.loads(chain.before_added)
        pose, added = ([(str(mode), tuple(map(float, values))) for mode, values in each] for each in poses)
        before = Before(str(active), [str(name) for name in selected], pose, added)
    except (ValueError, TypeError):  # not stored, or damaged
        return None
    shown = pose_of(chain.id_data, bones)
    same = _is_same(before.pose_added, shown) and _is_same(before.pose, shown, turned=True)
    return before if same else None


def _is_same(one: Pose, other: Pose, turned: bool = False) -> bool:
    """Return whether two poses have the same channels, with the same values. turned: these may differ."""
    if [mode for mode, _ in one] != [mode for mode, _ in other]:
        return False
    pairs = [(a, b) for (_, a), (_, b) in zip(one, other, strict=True)]
    if any(len(a) != len(b) for a, b in pairs):
        return False
    return turned or all(abs(x - y) <= _SAME for a, b in pairs for x, y in zip(a, b, strict=True))


def give_back(armature: bpy.types.Object, bones: list[str], before: Before) -> None:
    """Give a limb the pose that it had before its chain was added, and the list its active chain.

    If nothing is selected any more, as the target was, what was selected then is it again.
    """
    put_pose(armature, bones, before.pose)
    index = armature.ik2d.chains.find(before.chain)
    if index >= 0:
        armature.ik2d.active_index = index
    layer: Any = bpy.context.view_layer
    layer.update()  # which the removed target leaves
    if armature.mode == 'OBJECT' and not len(layer.objects.selected):
        for ob in map(layer.objects.get, before.selected):
            if ob is not None and ob.visible_get():
                ob.select_set(True)
