# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets and poles that a chain can follow."""

from collections.abc import Sequence

import bpy

from ....core import IK2DError
from ....core.swing import POLE
from ....core.words import noted, refusal, say
from ..dependencies import Node, leaders, parents, walk
from ..foot.foot import ground_of
from ..post import POST
from .bones import pose_bones_of

# What a chain follows.
TARGET_ROLE, POLE_ROLE, GROUND_ROLE = noted("target"), noted("pole"), noted("ground")


def check_target(
    armature: bpy.types.Object,
    settings: bpy.types.PropertyGroup,
    bones: list[bpy.types.PoseBone],
    lost_target: bool = False,
) -> None:
    """Raise IK2DError unless the target exists and does not hang on the chain itself."""
    target, subtarget = settings.target, settings.subtarget
    if target is None:
        raise refusal(
            "Chain '{chain}' has no target; choose the object that its tip follows", chain=settings.name
        )
    lost = target.library if target.is_missing else None
    if lost is not None and not lost_target:
        raise refusal(
            "Chain '{chain}': its target '{target}' is in the library '{path}', which is "
            "missing; put the file back, or relocate the library (File > External Data)",
            chain=settings.name,
            target=target.name,
            path=lost.filepath,
        )
    _refuse_lost_bone(settings.name, TARGET_ROLE, target, subtarget)
    names = _turned(settings, bones)
    post = settings.post if settings.plane == POST else ""
    refuse_own_target(settings.name, armature, names, _above_target(settings), post=post)
    if settings.plane == POLE:
        check_pole(armature, settings, names)
    ground = ground_of(settings)
    if ground is not None:
        refuse_own_target(settings.name, armature, names, walk([ground], parents), GROUND_ROLE)


def check_pole(armature: bpy.types.Object, settings: bpy.types.PropertyGroup, bones: Sequence[str]) -> None:
    """Raise IK2DError unless the pole exists and does not hang on the chain itself."""
    pole, bone = settings.pole, settings.pole_subtarget
    if pole is None:
        raise refusal(
            "Chain '{chain}' has no pole; choose the object that its knee or elbow points at, or "
            "set Bends In to another plane",
            chain=settings.name,
        )
    _refuse_lost_bone(settings.name, noted("its pole"), pole, bone)
    refuse_own_target(settings.name, armature, bones, walk([(pole, bone)], leaders), POLE_ROLE)


def _refuse_lost_bone(chain_name: str, role: str, followed: bpy.types.Object, bone: str) -> None:
    """Raise IK2DError where a chain follows a bone that its target or pole does not have."""
    if bone and (followed.type != 'ARMATURE' or bone not in pose_bones_of(followed)):
        raise refusal(
            "Chain '{chain}': {role} '{followed}' has no bone '{bone}'; choose another bone or none",
            chain=chain_name,
            role=role,
            followed=followed.name,
            bone=bone,
        )


def pole_problem(armature: bpy.types.Object, settings: bpy.types.PropertyGroup, bones: Sequence[str]) -> str:
    """Return the error that a chain's pole raises; "" for a good one."""
    try:
        check_pole(armature, settings, bones)
    except IK2DError as error:
        return str(error)
    return ""


def _turned(settings: bpy.types.PropertyGroup, bones: Sequence[bpy.types.PoseBone]) -> list[str]:
    """Return the names of all bones that a chain turns, its post too."""
    names = [bone.name for bone in bones]
    return [settings.post, *names] if settings.plane == POST and settings.post not in names else names


def _above_target(settings: bpy.types.PropertyGroup) -> list[Node]:
    """Return a chain's target, what it is a blend of, and their parents."""
    return walk([(settings.target, settings.subtarget)], leaders)


def follows_itself(
    armature: bpy.types.Object, settings: bpy.types.PropertyGroup, bones: Sequence[str]
) -> bool:
    """Return whether a chain's target is one of its bones, or hangs on them by its parents."""
    return settings.target is not None and bool(_own(armature, bones, _above_target(settings)))


def _own(armature: bpy.types.Object, bones: Sequence[str], moved_by: Sequence[Node]) -> list[str]:
    return [bone for ob, bone in moved_by if ob == armature and bone in bones]


def refuse_own_target(
    chain_name: str,
    armature: bpy.types.Object,
    bones: Sequence[str],
    moved_by: Sequence[Node],
    role: str = TARGET_ROLE,
    post: str = "",
) -> None:
    """Raise IK2DError where a bone of the chain is among the movers of its target, itself the first.

    role: the word for it, where it is another. post: a bone that turns the chain's plane, if it has one.
    """
    moving = _own(armature, bones, moved_by)
    if not moving:
        return
    target, subtarget = moved_by[0]
    what = say("bone '{bone}'", bone=subtarget) if subtarget else f"'{target.name}'"
    if post in moving:
        raise refusal(
            "Chain '{chain}': its {role} {what} is carried by its post '{post}', so both would turn in a "
            "circle; give it another parent",
            chain=chain_name,
            role=role,
            what=what,
            post=post,
        )
    raise refusal(
        "Chain '{chain}': its {role} {what} is moved by the chain itself: it depends on bone "
        "'{own}'; choose a {role} that does not",
        chain=chain_name,
        role=role,
        what=what,
        own=moving[0],
    )
