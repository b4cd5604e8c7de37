# SPDX-License-Identifier: GPL-3.0-or-later
"""The clips that an export takes: all actions of the rigs, baked, each with those of the targets."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest

import bpy

from ...bake import BakeOptions, BakeReport, bake_steps
from ...bake.actions.arguments import ALL, Pairs
from ...bake.actions.clips import Clip, Play
from ...bake.actions.copies import is_copy_of
from ...bake.actions.names import clip_name
from ...bake.actions.planning import ActionsAsked, clips_of
from ...bake.actions.stage import Stage
from ...bake.asked import Names, read_all
from ...bake.request import checked_options
from ...core.affine import changed
from ...core.solution import CountedSteps
from ...rig.animation.versions import HAS_SLOTS, first_slot
from ...rig.chain.order import TurningBones

# A clip's name in the file, and what plays it.
Named = dict[str, Clip]


def planned(
    scene: bpy.types.Scene,
    armatures: Sequence[bpy.types.Object],
    options: BakeOptions | None,
    pairs: Pairs | None,
) -> list[Clip]:
    """Return the clips of all actions; raise IK2DError where there are none, or one cannot be baked.

    Linked actions become the file's own: nothing can be keyed in them.
    """
    for linked in [action for action in bpy.data.actions if action.library is not None]:
        own, name = linked.copy(), linked.name
        linked.user_remap(own)
        bpy.data.actions.remove(linked)
        own.name = name
    options = checked_options(options)
    chains: dict[bpy.types.Object, Sequence[TurningBones]] = dict.fromkeys(armatures, ())
    if solves(armatures):
        read = read_all(armatures, Names(None, None), [scene.frame_current], options)
        chains = {armature: its.all for armature, its in read.items()}
    asked = ActionsAsked.of(ALL, pairs, (None, None), 1, options.into)
    assert asked is not None
    return clips_of(scene, chains, asked)


def solves(armatures: Sequence[bpy.types.Object]) -> bool:
    """Return whether chains or mechanisms are enabled: without any, clips are the keys as they play."""
    parts = [(*armature.ik2d.chains, *armature.ik2d.mechanisms) for armature in armatures]
    return any(part.enabled for its in parts for part in its)


def baked_steps(
    armatures: Sequence[bpy.types.Object],
    clips: Sequence[Clip],
    options: BakeOptions | None,
    pairs: Pairs | None,
) -> CountedSteps[tuple[Named, BakeReport | None]]:
    """Bake all actions in steps; return the clips with the actions that hold the keys, and the report.

    Of armatures without enabled chains and mechanisms nothing is baked, and there is no report.
    """
    report = None
    if solves(armatures):
        report = yield from bake_steps(armatures, options=options, actions=ALL, pairs=pairs)
    named: Named = {}
    for clip, baked in zip_longest(clips, report.by_action if report else ()):
        holders = {part.armature: part.action for part in baked.by_armature} if baked else {}
        plays = tuple(_filled(play, holders.get(play.owner.name, "")) for play in clip.armatures)
        clip = changed(clip, armatures=plays)
        title = _free(_title(clip), named)
        named[title] = clip if baked else changed(clip, armatures=tuple(map(_as_baked, plays)))
    return named, report


def _filled(play: Play, action: str) -> Play:
    """Return an armature's `Play` with the action or the slot that the bake has made for it."""
    holder = play.action or bpy.data.actions.get(action)
    if holder is None or play.slot:
        return play
    own = f"OB{play.owner.name}"
    has_own = HAS_SLOTS and own in holder.slots
    return Play(play.owner, holder, own if has_own else first_slot(holder))


def _as_baked(play: Play) -> Play:
    """Return an armature's `Play` with the new action that its own was baked into, if there is one."""
    source = play.action
    copies = (action for action in bpy.data.actions if source is not None and is_copy_of(action, source))
    return Play(play.owner, next(copies, source), play.slot)


def _title(clip: Clip) -> str:
    """Return the name of a clip in the file: that of its action, of several what they have in common.

    An action that the bake has made has the clip's name, or Blender's default one where that has none.
    """
    names = {play.action.name for play in clip.armatures if play.action is not None}
    if len(names) == 1:
        return str(names.pop())
    cores = [
        clip_name(play.action.name, play.owner.name) for play in clip.armatures if play.action is not None
    ]
    is_common = len({core.casefold() for core in cores}) == 1
    return (cores[0] if is_common else clip.name) or clip.name or "Animation"


def _free(name: str, taken: Named) -> str:
    free, number = name, 1
    while free in taken:
        free, number = f"{name}.{number:03}", number + 1
    return free


@contextmanager
def stage_of(clips: Named) -> Iterator[Stage]:
    """Yield a stage that shows the clips."""
    with Stage(list(clips.values()), keep_poses=False) as stage:
        yield stage
