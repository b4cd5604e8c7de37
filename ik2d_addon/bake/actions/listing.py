# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists of what a bake of all actions would bake, and of what stands in its way."""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy

from ...core import IK2DError
from ...rig.chain.chain import RigChain
from .arguments import ALL, INTO_NEW
from .clips import Clip
from .finding import is_awaited
from .names import common_cores
from .owned import Claims
from .planning import ActionsAsked, clips_of


@dataclass(frozen=True)
class ListedClips:
    """The clips of an armature, as far as they can be baked, and a sentence for each fault of others."""

    clips: tuple[Clip, ...]
    problems: tuple[str, ...] = ()


def listed_clips(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    rigs: Sequence[RigChain],
    frames: tuple[int | None, int | None] = (None, None),
    into: str = INTO_NEW,
) -> ListedClips:
    """Return the clips that a bake of all actions of an armature takes.

    rigs: its chains. frames: the first and the last one, which cut those of the actions; None for their own.
    Where one of them cannot be baked, all others are looked at one by one.
    """
    try:
        return ListedClips(tuple(clips_of(scene, {armature: rigs}, ActionsAsked(ALL, {}, frames, 1, into))))
    except IK2DError as error:
        problems = {str(error): None}
    claims, clips = Claims(), list[Clip]()
    partners = {core for action in claims.actions for core in common_cores(action.name)}
    names = [
        action.name
        for action in claims.actions
        if claims.slots(armature, action) or is_awaited(claims, armature, action, partners)
    ]
    for name in names:
        try:
            clips += clips_of(scene, {armature: rigs}, ActionsAsked([name], {}, frames, 1, into), alone=False)
        except IK2DError as error:
            problems[str(error)] = None
    return ListedClips(tuple(clips), tuple(problems))
