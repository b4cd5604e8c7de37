# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake of all actions takes and replaces, and what stands in its way, as the sidebar shows it."""

from contextlib import suppress
from dataclasses import dataclass

import bpy
from bpy.types import Object, PropertyGroup, Scene

from ...bake.actions.arguments import ALL, INTO_THIS
from ...bake.actions.finding import was_keyed
from ...bake.actions.listing import listed_clips
from ...bake.keys.clearing import baked_keys_anywhere, bones_of_all, hand_made_keys_of
from ...core import IK2DError
from ...core.words import listed, number_of, say
from ...rig.animation.kept.keeping import Replaced
from ...rig.animation.versions import played_action
from ...rig.chain.chain import RigChain, reading
from ...ui.kept import kept


@dataclass(frozen=True)
class ActionsToBake:
    """The actions of an armature as a bake of all would take them."""

    names: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    replaced: Replaced = Replaced()

    def sentence(self) -> str:
        """Return which they are, in words; "" for none."""
        if not self.names:
            return ""
        return say(
            "{actions}: {names}",
            actions=number_of(len(self.names), "action"),
            names=listed(self.names, most=6),
        )


def cutting_range(settings: PropertyGroup) -> tuple[int | None, int | None]:
    """Return the first and last frame that cut the frames of all actions: those of the Custom Range."""
    return (settings.frame_start, settings.frame_end) if settings.use_custom_range else (None, None)


def actions_to_bake(armature: Object, scene: Scene, chain: str = "") -> ActionsToBake:
    """Return the actions that a bake of all takes, with what it replaces; none where one alone is baked.

    chain: the only one that is baked; "" for all enabled ones.
    """
    settings = armature.ik2d
    if settings.actions_to_bake != ALL:
        return ActionsToBake()
    version = (
        [
            (one.name, one.enabled, one.tip, one.bone_count, one.subtarget, one.plane)
            for one in settings.chains
        ],
        [_playing(ob) for ob in (armature, *(one.target for one in settings.chains)) if ob is not None],
        [(action.name, action.use_frame_range and tuple(action.frame_range)) for action in bpy.data.actions],
        (chain, cutting_range(settings), settings.bake_into, settings.single_axis, scene.session_uid),
    )

    def found() -> ActionsToBake:
        chains = [one for one in settings.chains if (one.name == chain if chain else one.enabled)]
        rigs = [rig for rig in (reading(armature, one) for one in chains) if isinstance(rig, RigChain)]
        if not rigs:  # that is said elsewhere
            return ActionsToBake()
        clips = listed_clips(scene, armature, rigs, cutting_range(settings), settings.bake_into)
        replaced = Replaced()
        if settings.bake_into == INTO_THIS:
            replaced = hand_made_keys_of(armature, scene, chains, clips.clips, settings.single_axis)
        return ActionsToBake(tuple(clip.label for clip in clips.clips), clips.problems, replaced)

    answer: ActionsToBake = kept(
        armature, "actions_to_bake", version, found, with_targets=False, of_actions=True
    )
    return answer


def _playing(ob: Object) -> tuple[str, str, list[int]]:
    """Return the names of an object and of its action, and the number of strips on each of its NLA tracks."""
    animation = ob.animation_data
    tracks = animation.nla_tracks if animation is not None else ()
    action = played_action(ob)
    return ob.name, action.name if action else "", [len(track.strips) for track in tracks]


def has_baked_actions(armature: Object) -> bool:
    """Return whether a bake has left keys in any action of an armature."""
    chains = armature.ik2d.chains
    version = (
        [(one.tip, one.bone_count, one.post, one.hands_posed, one.bake_mark) for one in chains],
        [action.name for action in bpy.data.actions if was_keyed(action)],
    )

    def found() -> bool:
        with suppress(IK2DError):  # in tweak mode, which Clear Bake says itself
            return baked_keys_anywhere(armature, bones_of_all(armature, chains, armature.ik2d.mechanisms))
        return True

    return bool(version[1]) and bool(
        kept(armature, "has_baked_actions", version, found, with_targets=False, of_actions=True)
    )
