# SPDX-License-Identifier: GPL-3.0-or-later
"""Clear bakes: take away the keys that they made, and give back those that they replaced."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

import bpy
from bpy.types import Object, PropertyGroup

from ...rig.animation import versions
from ...rig.animation.actions import remove_emptied
from ...rig.animation.bone_channels import ROTATIONS, rotation_property
from ...rig.animation.kept.giving_back import GivenBack, Wanted, give_back, holds_keys
from ...rig.animation.kept.keeping import Replaced, made_by_hand_between
from ...rig.animation.keys import bounds
from ...rig.animation.replacing import SAME_FRAME
from ...rig.animation.times import action_ends, animation_times
from ...rig.chain.chain import RigChain
from ...rig.chain.dependencies import copied_by, walk
from ...rig.chain.hands import forget_posed, hands_with_keys, posed_hands, put_hands_back
from ...rig.chain.post import turned_bones_of
from ...rig.chain.renames import needed_chain, needed_mechanism, straighten
from ...rig.scene.lengths.slide_locations import put_slides_back
from ...rig.scene.lengths.stretch_scales import put_scales_back
from ...rig.scene.live_pause import live_paused
from ..actions.arguments import ALL
from ..actions.clips import Clip
from ..actions.copies import give_original_back
from ..actions.finding import clips_to_clear
from ..actions.stage import Stage
from .baked import BAKED, baked_keys, baked_paths, on_bones, slid_channels
from .left import bones_left


def clear_keys(
    armature: bpy.types.Object,
    bones: Sequence[str],
    frame_start: float | None = None,
    frame_end: float | None = None,
) -> GivenBack:
    """Remove the baked keys on the bones' rotations, slides and scales; give back what they replaced.

    The frames are the action's; None has no end. Bones without scale keys left get back their own scale.
    Keys that were moved or made by hand stay, and those on locked channels. Raises IK2DError for a linked
    action.
    """
    given = give_back(armature, on_bones(armature, bones), BAKED, frame_start, frame_end)
    if given.any:
        put_scales_back(armature, bones)
    return given


@contextmanager
def released(rigs: Sequence[RigChain]) -> Iterator[None]:
    """Clear the baked keys of bones that chains slide or turn no more, unless the code inside fails.

    Restores these bones' locations and rotations. Their channels are looked up before: of several actions the
    first one to be cleared forgets them.
    """
    left = [_left_of(rig) for rig in rigs]
    yield
    for rig, (slid, hands, channels) in zip(rigs, left, strict=True):
        if slid or hands:
            give_back(rig.armature, _among(channels), BAKED)
            put_slides_back(rig.armature, slid)
        settings = rig.armature.ik2d.chains.get(rig.name)
        if hands and settings is not None:  # not removed while it was baked
            put_hands_back(settings, hands)
            forget_posed(settings, hands)


def left_bones(rigs: Sequence[RigChain]) -> list[str]:
    """Return the bones that `released` restores."""
    return [bone for rig in rigs for bones in _left_of(rig)[:2] for bone in bones]


def _left_of(rig: RigChain) -> tuple[list[str], set[str], set[tuple[str, int]]]:
    """Return the bones that a chain slides no more, the hands that it turns no more, and their channels."""
    slides, settings = rig.slides, rig.armature.ik2d.chains.get(rig.name)
    slid = [] if slides is None else [rig.bones[i] for i in slides.channels if not slides.carries(i)]
    turned = set(rig.hands.bones) if rig.hands is not None else set[str]()
    hands = set(posed_hands(settings)) - turned if settings is not None else set[str]()
    paths = baked_paths(rig.armature, sorted(hands))
    turned_channels = {(path, index) for path in paths for index in range(4)}
    return slid, hands, slid_channels(rig.armature, slid) | turned_channels


def _among(channels: set[tuple[str, int]]) -> Wanted:
    return lambda path, index: (path, index) in channels


def _with_paths(paths: set[str]) -> Wanted:
    return lambda path, _: path in paths


def channels_of(chain: PropertyGroup) -> dict[Object, Wanted]:
    """Return the objects whose keys pose a chain, each with the channels.

    Its armature, target and pole, and what these are blends of.
    """
    armature = chain.id_data
    settings, on_chain = f"{chain.path_from_id()}.", on_bones(armature, bones_of_chain(chain))
    moved: dict[Object, set[str]] = {armature: set()}
    followed = (chain.target, chain.subtarget), (chain.pole, chain.pole_subtarget)
    for ob, bone in walk(followed, copied_by):
        holder = ob if not bone else ob.pose and ob.pose.bones.get(bone)
        if holder is not None:
            moved.setdefault(ob, set()).update(map(holder.path_from_id, ("location", *ROTATIONS)))

    def own(path: str, index: int) -> bool:
        return path.startswith(settings) or path in moved[armature] or on_chain(path, index)

    return {ob: own if ob == armature else _with_paths(paths) for ob, paths in moved.items()}


def baked_keys_anywhere(armature: bpy.types.Object, bones: Sequence[str]) -> bool:
    """Return whether bakes have left keys on the bones in any action of an armature."""
    wanted = on_bones(armature, bones)
    return any(
        slot == play.slot and holds_keys(holder, wanted, BAKED)
        for clip in clips_to_clear(armature, ALL)
        for play in clip.armatures
        if play.action is not None
        for holder, slot in versions.holders_of(play.action)
    )


def hand_made_keys(
    armature: Object,
    scene: bpy.types.Scene,
    chains: Iterable[PropertyGroup],
    first: float,
    last: float,
    single_axis: bool = False,
) -> Replaced:
    """Return the keys made by hand that a bake of some chains from a frame to another replaces."""
    paths = _keyed_paths(armature, chains, single_axis)
    curves = [curve for curve in versions.existing_fcurves(armature) if curve.data_path in paths]
    return made_by_hand_between(curves, *bounds(scene, armature, first, last)) if curves else Replaced()


def hand_made_keys_of(
    armature: Object,
    scene: bpy.types.Scene,
    chains: Iterable[PropertyGroup],
    clips: Iterable[Clip],
    single_axis: bool = False,
) -> Replaced:
    """Return the keys made by hand that a bake of some chains in some clips replaces."""
    paths, found = _keyed_paths(armature, chains, single_axis), [Replaced()]
    for clip in clips:
        times = animation_times(scene, clip.frames)
        for play in clip.armatures:
            holders = versions.holders_of(play.action) if play.action and play.owner == armature else ()
            for holder, slot in holders:
                curves = [curve for curve in holder.fcurves if slot == play.slot and curve.data_path in paths]
                found.append(made_by_hand_between(curves, times[0] - SAME_FRAME, times[-1] + SAME_FRAME))
    return Replaced.joined(found)


def _keyed_paths(armature: Object, chains: Iterable[PropertyGroup], single_axis: bool) -> set[str]:
    """Return the paths of the rotations that a bake of some chains keys."""
    paths = set()
    for name in all_bones(chains):
        bone = armature.pose.bones[name]
        mode = 'XYZ' if single_axis else bone.rotation_mode
        paths.add(bone.path_from_id(rotation_property(mode)))
    return paths


def forget_bakes(
    armature: Object, chains: Iterable[PropertyGroup], mechanisms: Iterable[PropertyGroup] = ()
) -> None:
    """Reset the results of some chains' and mechanisms' last bakes; the rig's too where none has one left."""
    settings = armature.ik2d
    for mechanism in mechanisms:
        for name in ("last_bake", "bake_mark"):
            mechanism.property_unset(name)
    for chain in chains:
        for name in ("last_bake", "bake_reached", "missed_frames", "worst_frame", "bake_mark"):
            chain.property_unset(name)
    if not any(other.last_bake for other in (*settings.chains, *settings.mechanisms)):
        for name in ("last_bake", "last_bake_lines", "last_bake_clips", "last_bake_alert", "bake_mark"):
            settings.property_unset(name)


def clear(
    armature: Object,
    chain: str | Sequence[str] = "",
    frame_start: int | None = None,
    frame_end: int | None = None,
    *,
    actions: str | Sequence[str] | None = None,
    mechanism: str | Sequence[str] = "",
) -> int:
    """Remove the baked keys between two frames, and give back what they replaced; return how many.

    chain, mechanism: a name, or several; "" for all, or for none where those of the other kind are named.
    frame_start, frame_end: both included; None has no end. actions: names, or 'ALL' for each that a bake has
    keyed, copies too; None for the assigned one. Keys that were made or moved by hand since stay. Chains that
    were live before the bake are live again. A new action of a bake, cleared whole, gives its place back to
    the one that it is a copy of. Raises IK2DError for an unknown name and for a linked action.
    """
    return clear_bakes(armature, chain, frame_start, frame_end, actions=actions, mechanism=mechanism).removed


def clear_bakes(
    armature: Object,
    chain: str | Sequence[str] = "",
    frame_start: int | None = None,
    frame_end: int | None = None,
    *,
    actions: str | Sequence[str] | None = None,
    mechanism: str | Sequence[str] = "",
) -> GivenBack:
    """Clear baked keys; return what was removed and given back. Arguments and errors as in `clear`."""
    chains = chains_to_clear(armature, chain) if chain or not mechanism else []
    bones = bones_to_clear(armature, chain, mechanism)
    frames = frame_start, frame_end
    left = set[str]()
    if actions is None:
        start, end = action_ends(armature, bpy.context.scene, *frames)
        given = clear_keys(armature, bones, start, end)
    else:
        given, left = _clear_in(armature, bones, frames, clips_to_clear(armature, actions))
    everywhere = frame_start is None and frame_end is None
    for settings in armature.ik2d.chains if given.any else ():
        if everywhere and settings in chains or settings.last_bake or settings.was_live:
            its = bones_of_chain(settings)
            if settings.name in left or baked_keys(armature, its):
                continue
            put_slides_back(armature, its)
            forget_bakes(armature, [settings])
            live_again(settings)
    for machine in armature.ik2d.mechanisms if given.any else ():
        if not baked_keys(armature, bones_of_all(armature, (), [machine])):
            forget_bakes(armature, (), [machine])
            live_again(machine)
    if given.any:
        forget_bakes(armature, ())
        give_original_back(armature)
    return given


def _clear_in(
    armature: Object,
    bones: Sequence[str],
    frames: tuple[int | None, int | None],
    clips: Sequence[Clip],
) -> tuple[GivenBack, set[str]]:
    """Clear baked keys in actions; return what was given back, and the chains that have baked keys left."""
    given, left = GivenBack(), set[str]()
    wanted = on_bones(armature, bones)  # before the first action forgets slides and scales
    own = [clip for clip in clips if clip.plays_now]
    with live_paused(), Stage(clips) as stage:
        for clip in clips:
            if clip not in own:
                stage.show(clip)
                now = _give_back(armature, wanted, frames)
                if now.any:  # with the pose that bones had without keys
                    stage.note({armature: bones})
                given.add(now)
                left |= {
                    each.name for each in armature.ik2d.chains if baked_keys(armature, bones_of_chain(each))
                }
    for _ in own:  # which shows the pose that comes back
        given.add(_give_back(armature, wanted, frames))
    for clip in clips:
        with suppress(ReferenceError):  # gone with its last key
            remove_emptied(armature, clip.source(armature))
    if given.any:
        put_scales_back(armature, bones)
    return given, left


def _give_back(armature: Object, wanted: Wanted, frames: tuple[int | None, int | None]) -> GivenBack:
    start, end = action_ends(armature, bpy.context.scene, *frames)
    return give_back(armature, wanted, BAKED, start, end)


def live_again(settings: PropertyGroup) -> None:
    """Turn Live on for a chain where a bake has turned it off."""
    if settings.was_live:
        settings.live = True
    settings.property_unset("was_live")


def chains_to_clear(armature: Object, names: str | Sequence[str]) -> list[PropertyGroup]:
    """Return the chains of one name or of several, or for "" all; raise IK2DError for an unknown one."""
    straighten(armature)
    if not names:
        return list(armature.ik2d.chains)
    return [needed_chain(armature, name) for name in ([names] if isinstance(names, str) else names)]


def bones_to_clear(
    armature: Object, chains: str | Sequence[str] = "", mechanisms: str | Sequence[str] = ""
) -> list[str]:
    """Return the bones of chains and mechanisms by their names, as `clear` takes these."""
    its_chains = chains_to_clear(armature, chains) if chains or not mechanisms else []
    if mechanisms:
        names = [mechanisms] if isinstance(mechanisms, str) else mechanisms
        found = [needed_mechanism(armature, name) for name in names]
    else:
        found = [] if chains else list(armature.ik2d.mechanisms)
    return bones_of_all(armature, its_chains, found)


def bones_of_all(
    armature: Object, chains: Iterable[PropertyGroup], mechanisms: Iterable[PropertyGroup]
) -> list[str]:
    """Return the bones of some chains and mechanisms of an armature, those of chains first; read only.

    With the bones that they have baked and that nothing turns any more.
    """
    chains, mechanisms = list(chains), list(mechanisms)
    chained = {bone for chain in armature.ik2d.chains for bone in turned_bones_of(chain)}
    own = (bone.name for one in mechanisms for bone in one.bones if bone.name not in chained)
    left = (bone for one in (*chains, *mechanisms) for bone in bones_left(one))
    return list(dict.fromkeys([*all_bones(chains), *own, *left]))


def bones_of_chain(chain: PropertyGroup) -> list[str]:
    """Return the bones of one chain, as `bones_of_all` does of several."""
    return bones_of_all(chain.id_data, [chain], ())


def all_bones(chains: Iterable[PropertyGroup]) -> list[str]:
    """Return the bones of some chains, with the posts and the hands that these turn, each once."""
    names = ([*turned_bones_of(chain), *hands_with_keys(chain)] for chain in chains)
    return list(dict.fromkeys(name for bones in names for name in bones))
