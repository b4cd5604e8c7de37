# SPDX-License-Identifier: GPL-3.0-or-later
"""The clips of a bake: for each, the actions of the armatures and of all that moves what they follow."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import bpy

from ...core.words import refusal
from ...rig.animation import versions
from ...rig.animation.value_keys import refuse_tweak_mode
from ...rig.chain.dependencies import Movers, Node, walk
from ...rig.chain.order import TurningBones
from .arguments import (
    ALL,
    INTO_THIS,
    Pairs,
    Wanted,
    action_named,
    checked_names,
    checked_pairs,
    refuse_pairs_alone,
    refuse_unknown_pairs,
)
from .clips import Clip, Play
from .copies import baked_anew
from .finding import actions_of, check_play, named_play, not_of
from .names import clip_name, cores
from .owned import Claims
from .pairing import Pairing, is_of_target
from .ranges import clip_frames


@dataclass(frozen=True)
class ActionsAsked:
    """What a bake was asked for: actions, pairs, frames, and where the keys go."""

    actions: Wanted | None  # None: what is assigned
    pairs: Pairs
    frames: tuple[int | None, int | None]
    step: int
    into: str

    @property
    def names(self) -> list[str] | None:
        """The names of the actions; None for all."""
        return None if self.actions is None else checked_names(self.actions)

    def limits(self, scene: bpy.types.Scene) -> tuple[int, int]:
        """Return the frames that were given: of actions, one alone is both."""
        start, end = self.frames
        if self.actions is None or (start is None and end is None):
            return scene.frame_start if start is None else start, scene.frame_end if end is None else end
        one = end if start is None else start
        assert one is not None
        return one if start is None else start, one if end is None else end

    @classmethod
    def of(
        cls,
        actions: Wanted | None,
        pairs: object,
        frames: tuple[int | None, int | None],
        step: int,
        into: str,
    ) -> "ActionsAsked | None":
        """Return it checked; None for a bake of what is assigned. Raises IK2DError for bad parts."""
        if actions is None:
            refuse_pairs_alone(pairs)
            return None if into == INTO_THIS else cls(None, {}, frames, step, into)
        names = checked_names(actions)  # once: it may be an iterator
        return cls(ALL if names is None else names, checked_pairs(pairs), frames, step, into)


def clips_of(
    scene: bpy.types.Scene,
    rigs: Mapping[bpy.types.Object, Sequence[TurningBones]],
    asked: ActionsAsked,
    alone: bool = True,
) -> list[Clip]:
    """Return the clips to bake; raise IK2DError, before anything changes, for one that cannot be.

    rigs: the chains and mechanisms of each armature. alone: whether there are no other clips than asked for.
    """
    for armature in rigs:
        refuse_tweak_mode(armature)
    if asked.actions is None:
        return [_assigned(scene, list(rigs), asked)]
    claims = Claims()
    moving = {armature: _followed(chains) for armature, chains in rigs.items()}
    followed = list(dict.fromkeys(node for nodes in moving.values() for node in nodes))
    objects = {
        ob: [other for other in dict.fromkeys(o for o, _ in nodes) if other != ob]
        for ob, nodes in moving.items()
    }
    targets = {ob for its in rigs.values() for rig in its for ob, _ in rig.followed if ob != rig.armature}
    pairing = Pairing(claims, objects, targets, asked.pairs)
    groups = _groups(claims, list(rigs), pairing, asked)
    for play in (play for plays in groups for play in plays):
        check_play(claims, play, asked.into)
    names = {play.action.name for plays in groups for play in plays if play.action is not None}
    refuse_unknown_pairs(asked.pairs, names)
    paired = [(plays, pairing.of(plays, is_single=alone and len(groups) == 1)) for plays in groups]
    animated = {play.owner for _, partners in paired for play in partners}
    for plays, partners in paired:
        pairing.refuse_lone(plays, partners, animated)
    used = {play.action for clip in paired for plays in clip for play in plays}
    paired += _lone_targets(pairing, rigs, used, asked.names)
    clips = [_clip(scene, plays, partners, followed, asked) for plays, partners in paired]
    _refuse_without_clip(rigs, clips)
    for ob in dict.fromkeys(play.owner for clip in clips for play in clip.others):
        refuse_tweak_mode(ob)
    return clips


def _assigned(scene: bpy.types.Scene, armatures: Sequence[bpy.types.Object], asked: ActionsAsked) -> Clip:
    """Return the clip of what is assigned now, or of the original of a copy that nobody has edited."""
    plays = [
        Play(
            armature,
            baked_anew(versions.played_action(armature)),
            versions.slot_played(armature.animation_data),
        )
        for armature in armatures
    ]
    frames = asked.limits(scene)
    return Clip(
        ", ".join(play.action.name for play in plays if play.action is not None), tuple(plays), (), frames
    )


def _refuse_without_clip(armatures: Iterable[bpy.types.Object], clips: Sequence[Clip]) -> None:
    """Raise IK2DError for an armature that nothing to bake animates."""
    for armature in armatures:
        if not any(armature in clip.baked for clip in clips):
            raise refusal(
                "No action animates '{armature}' or what its chains follow; key its targets first",
                armature=armature.name,
            )


def _followed(chains: Iterable[TurningBones]) -> list[Node]:
    """Return all objects and bones that move what chains and mechanisms read, but for what they turn."""
    movers, chains = Movers(), list(chains)
    turned = {(chain.armature, bone) for chain in chains for bone in chain.turned_bones}
    roots = [node for chain in chains for node in ((chain.armature, chain.bones[0]), *chain.followed)]
    return [
        node for node in walk(roots, movers) if node not in turned and isinstance(node[0], bpy.types.Object)
    ]


def _groups(
    claims: Claims, armatures: Sequence[bpy.types.Object], pairing: Pairing, asked: ActionsAsked
) -> list[list[Play]]:
    """Return the actions of armatures, those of one clip together."""
    names = asked.names
    if names is None:
        partners = pairing.names()
        plays = [play for armature in armatures for play in actions_of(claims, armature, partners)]
    else:
        plays = [play for name in names for play in _named(claims, armatures, name, pairing)]
    groups: list[list[Play]] = []
    for play in plays:
        for group in groups:
            if play.owner not in {there.owner for there in group} and any(
                _together(play, there) for there in group
            ):
                group.append(play)
                break
        else:
            groups.append([play])
    return groups


def _together(play: Play, other: Play) -> bool:
    """Return whether the actions of two armatures are of one clip: slots of one action, or of one name."""
    if play.action == other.action:
        return True
    assert play.action is not None and other.action is not None
    return not cores(play.action.name, play.owner.name).isdisjoint(cores(other.action.name, other.owner.name))


def _named(claims: Claims, armatures: Sequence[bpy.types.Object], name: str, pairing: Pairing) -> list[Play]:
    """Return an action that was named as each armature plays it that it belongs to; [] for a target's.

    Of several armatures each takes the action of its own that has the name with that of the armature.
    """
    if len(armatures) > 1 and not any(action.name == name for action in claims.actions):
        plays = [
            Play(armature, action, play.slot)
            for armature in armatures
            for action in claims.actions
            if name.casefold() in cores(action.name, armature.name)
            if (play := named_play(claims, armature, action)) is not None
        ]
        if plays:
            return plays
    action = action_named(name)
    found = [play for armature in armatures if (play := named_play(claims, armature, action)) is not None]
    empty = not any(len(holder.fcurves) for holder, *_ in claims.holders(action))
    if len(found) > 1 and empty and not versions.HAS_SLOTS:
        found = [play for play in found if cores(name, play.owner.name) != {name.casefold()}] or found[:1]
    if not found and not any(is_of_target(claims, ob, action) for ob in pairing.objects):
        raise not_of(claims, action, armatures)
    return found


def _clip(
    scene: bpy.types.Scene,
    plays: Sequence[Play],
    partners: Sequence[Play],
    followed: Sequence[Node],
    asked: ActionsAsked,
) -> Clip:
    """Return a clip of the actions of armatures and of what they follow."""
    names = list(dict.fromkeys(play.action.name for play in plays if play.action is not None))
    first = next((play for play in partners if play.action is not None), None)
    name = ", ".join(names) or (
        clip_name(first.action.name, first.owner.name) if first and first.action else ""
    )
    frames = clip_frames(scene, name, [*plays, *partners], followed, asked.frames)
    actions = [play.action for play in (*plays, *partners) if play.action is not None]
    cyclic = any(action.use_frame_range and action.use_cyclic for action in actions)  # as Blender has it
    return Clip(name, tuple(plays), tuple(partners), frames, cyclic)


def _lone_targets(
    pairing: Pairing,
    rigs: Mapping[bpy.types.Object, Sequence[TurningBones]],
    used: set[bpy.types.Action | None],
    names: Sequence[str] | None,
) -> list[tuple[list[Play], list[Play]]]:
    """Return clips of which targets alone have actions: the armatures that follow them get new ones."""
    clips: dict[str, list[Play]] = {}
    for ob in pairing.objects:
        for play in pairing.known(ob) if ob not in rigs else ():
            if (
                play.action is None
                or play.action in used
                or (names is not None and play.action.name not in names)
            ):
                continue
            clips.setdefault(clip_name(play.action.name, ob.name).casefold(), []).append(play)
    return [([_own_play(armature, plays) for armature in rigs], plays) for plays in clips.values()]


def _own_play(armature: bpy.types.Object, plays: Sequence[Play]) -> Play:
    """Return an armature's action where targets alone have some: theirs with a new slot, or a new one."""
    for play in plays:
        action = play.action
        if versions.HAS_SLOTS and action is not None and action.is_editable:
            if clip_name(action.name, play.owner.name) == action.name:
                return Play(armature, action)
    return Play(armature, None)
