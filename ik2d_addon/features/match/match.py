# SPDX-License-Identifier: GPL-3.0-or-later
"""Match FK and IK: move targets to tips, key bones in the solved pose, and switch between both."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace

import bpy
import numpy as np

from ...bake.lengths import Units
from ...bake.now import solve
from ...bake.pipeline import key_as_by_hand
from ...bake.reporting.report import BakeReport
from ...bake.request import frame_range, read_rigs, scene_of
from ...core import IK2DError
from ...core.inputs import Floats
from ...core.words import noted, refusal, say
from ...rig.animation import keys, versions
from ...rig.animation.bone_channels import ROTATIONS
from ...rig.animation.kept.held import HeldCurve, held, hold
from ...rig.animation.kept.marks import SNAP
from ...rig.animation.remembered import put_back, remembered
from ...rig.animation.value_keys import ValueKeys, check_values, refuse_tweak_mode, values_keyed
from ...rig.chain.chain import RigChain
from ...rig.chain.dependencies import copied_by, walk
from ...rig.chain.native_state import natives_muted
from ...rig.pose.hand_rotations import own_turns
from ...rig.pose.target_plane import facing_target
from ...rig.scene.live_pause import live_paused
from ...rig.scene.samples import ChainSamples
from ...ui.auto_keying import Moved, refuse_uneditable
from .animated_settings import ChainValue, influence_keys, set_number, setting_keys, wanted_values
from .hands import (
    HandMatch,
    as_set,
    changing,
    fk_keys,
    later_keys,
    matched_hands,
    own_keys,
    rotation_channels,
    set_hands,
)
from .own_fk import key_controls
from .own_ik import LimbMatcher, fk_poses
from .own_limbs import OwnLimb, acting, limb_of
from .poles import as_target, nearest_sides, plane_turns, pole_locations, solved_at, stays, turned_on
from .report import MatchReport, match_of
from .targets import (
    MatchView,
    current_pose,
    holder_of,
    in_rounds,
    location_keys,
    locations_on_tips,
    on_frames,
)


@live_paused()
def target_to_tip(
    armature: bpy.types.Object,
    chains: Sequence[str] | None = None,
    frame_start: int | None = None,
    frame_end: int | None = None,
    *,
    switch: bool = False,
    purpose: int = SNAP,
) -> MatchReport:
    """Move each chain's target to the tip's place in the FK pose, so that the chain solves to that pose.

    With a frame it keys the target's location on every frame from the first to the last, both included,
    and the bend side if that changes; None takes the scene's. Without both it sets them for the current
    pose, without keys. Softness and Bend to Other Side go to 0. Feet, toes and hands that a chain turns come
    where they are posed: by the target's rotation, Toes Up, and own keys for the rest. switch: key also IK
    Blend from 0 to 1 at the first frame, and the target on the frame before; without frames at the current
    one. chains, frame_start, frame_end: as in `bake`. purpose: what the keys are for, as in
    rig/animation/kept/marks.py. Raises IK2DError, with nothing changed, if a target cannot be moved there.

    Of a rig with FK controls of its own, which the limb's bones copy, that is the pose of these; the controls
    that move target, pole, foot and hand in IK come there.
    """
    scene = scene_of(armature)
    frames = _frames(scene, frame_start, frame_end, switch)
    every, left_out, limbs = _read(armature, chains, frames or [scene.frame_float])
    if frames:
        for owner in dict.fromkeys(
            (armature, *(ob for rig in every for ob, _ in walk(rig.followed, copied_by)))
        ):
            refuse_tweak_mode(owner)
    if limbs:
        refuse_uneditable([armature])
    rigs = [rig for rig in every if rig.name not in {limb.rig.name for limb in limbs}]
    rounds = in_rounds(rigs)
    view, now = _view(scene, rigs, frames), current_pose(scene)
    names = [rig.name for rig in rigs]
    by_chain: dict[str, tuple[RigChain, ChainSamples]] = {}
    warnings, moved = list(left_out), []
    hands: dict[str, HandMatch] = {}
    before: list[HeldCurve] = []
    with natives_muted(armature, names), ExitStack() as undo, ExitStack() as keyed:

        def key(channels: Sequence[ValueKeys]) -> None:
            warnings.extend(check_values(channels))
            known = {curve.place for curve in before}  # keyed once more
            places = [change.channel for change in channels if change.channel not in known]
            before.extend(held(scene, places, frames))
            keyed.enter_context(values_keyed(scene, channels, purpose))

        matcher = LimbMatcher(scene, frames, undo, key, switch=switch)
        limbs_matched = [matcher.matched(pose) for pose in fk_poses(matcher.view, limbs)]
        warnings += matcher.warnings
        moved += matcher.moved
        for ready in rounds:
            with_hands = [rig for rig in ready if rig.hands is not None]
            sampled = view.sample(with_hands) if with_hands else []
            in_fk = {rig.name: its for rig, its in zip(with_hands, sampled, strict=True)}
            for rig in with_hands:
                turned = matched_hands(view, rig, in_fk[rig.name], switch=switch, keyed=bool(frames))
                hands[rig.name] = turned
                warnings += turned.warnings
                if frames:
                    key(changing(scene, turned.control, undo, switch=switch))
                else:
                    moved += set_hands(rig, turned, undo)
            bpy.context.view_layer.update()
            ready = [as_set(rig, hands.get(rig.name)) for rig in ready]
            locations, looked = locations_on_tips(view, ready)
            channels: list[ValueKeys] = []
            for rig, its, posed in zip(ready, locations, looked, strict=True):
                if rig.name in in_fk:
                    posed = replace(posed, hands=in_fk[rig.name].hands)
                rig = facing_target(rig, posed)
                sides = nearest_sides(scene, rig, posed, view.times)
                hard = posed.with_settings(softness=0.0, bend=sides)
                turns = plane_turns(scene, rig, hard, view.times)
                by_chain[rig.name] = turned_on(rig, turns), posed
                wanted = wanted_values(rig, sides, turns)
                if frames:
                    channels += location_keys(rig, frames, its)
                    channels += setting_keys(scene, frames, wanted, switch, undo)
                    channels += influence_keys(rig, frames, 1.0) if switch else []
                else:
                    moved += _set(rig, its, wanted, undo)
            if frames:
                key(channels)
            bpy.context.view_layer.update()
            for rig in [rig for rig in ready if rig.pole is not None]:
                poled, posed = as_target(rig), by_chain[rig.name][1]
                shown = posed.with_settings(softness=0.0, bend=np.sign(rig.settings.bend) or 1.0)
                try:
                    solved = solved_at(scene, rig, shown, view.times)
                    its = pole_locations(view, rig, posed, solved, rigs)
                except IK2DError as error:
                    warnings.append(stays(rig, error))
                    continue
                if frames:
                    key(location_keys(poled, frames, its))
                else:
                    moved += _set(poled, its, {}, undo)
                bpy.context.view_layer.update()
        for name, turned in hands.items() if frames else ():
            rig = by_chain[name][0]
            key(own_keys(scene, rig, frames, turned.own, switch=switch))
            warnings += later_keys(scene, rig, frames[-1]) if switch else []
        for curve in before:
            hold(curve, purpose)
        seen = (view if frames else now).sample([by_chain[rig.name][0] for rig in rigs]) if rigs else []
        by_bones = [
            match_of(scene, *by_chain[rig.name], after, view.times, keyed=bool(frames), switch=switch)
            for rig, after in zip(rigs, seen, strict=True)
        ]
        order = [rig.name for rig in every]
        by_controls = [limb.match(matcher.view) for limb in limbs_matched]
        matched = sorted([*by_controls, *by_bones], key=lambda match: order.index(match.name))
        undo.pop_all()
    units = Units.of(scene)
    return MatchReport(tuple(matched), tuple(moved), units, tuple(dict.fromkeys(warnings)))


def snap_fk(
    armature: bpy.types.Object,
    chains: Sequence[str] | None = None,
    frame_start: int | None = None,
    frame_end: int | None = None,
    *,
    switch: bool = False,
) -> BakeReport:
    """Give the bones of each chain the solved pose as their own FK pose.

    With a frame it keys them on every frame from the first to the last, with keys that count as made by
    hand: the influence blends with them, and Clear Bake keeps them. Without both it poses them for the
    current frame, without keys. switch: key also the influence from 1 to 0 at the first frame, and the
    bones on the frame before, so that all frames up to there stay as they are; without frames at the current
    one. Targets do not move, and live chains stay live. chains, frame_start, frame_end and errors as in
    `bake`.

    Of a rig with FK controls of its own, which the limb's bones copy, these controls get it instead, those of
    foot and hand too; IK Blend stays, and the rig's own switch is left to you.
    """
    scene = scene_of(armature)
    frames = _frames(scene, frame_start, frame_end, switch)
    rigs, left_out, limbs = _read(armature, chains, frames or [scene.frame_float])
    if not limbs:
        return _snap_bones(armature, chains, frames, switch=switch)
    others = [rig.name for rig in rigs if rig.name not in {limb.rig.name for limb in limbs}]
    with live_paused(), ExitStack() as keyed, ExitStack() as undo:
        report = key_controls(scene, limbs, frames, keyed, undo, switch=switch)
        report = replace(report, left_out=tuple(left_out))
        if others:
            report = report.with_others(_snap_bones(armature, others, frames, switch=switch))
        undo.pop_all()
    bpy.context.view_layer.update()
    return report


def _snap_bones(
    armature: bpy.types.Object, chains: Sequence[str] | None, frames: Sequence[int], *, switch: bool
) -> BakeReport:
    """Give the chains' own bones the solved pose. frames: to key; none for the current pose without keys."""
    scene = scene_of(armature)
    if not frames:
        return replace(solve(armature, chains, fully=True), verb=noted("Snapped"))
    if not switch:
        return key_as_by_hand(armature, chains, frames[0], frames[-1])
    rigs, _ = read_rigs(armature, chains, frames)
    refuse_tweak_mode(armature)
    for rig in rigs:
        _refuse_lengths(rig)
    channels = [keyed for rig in rigs for keyed in influence_keys(rig, frames, 0.0, scene)]
    warnings = check_values(channels)
    turning = [place for rig in rigs for place in rotation_channels(armature, rig.bones)]
    of_hands = [place for rig in rigs if rig.hands for place in rotation_channels(armature, rig.hands.bones)]
    of_bones = held(scene, turning, frames)
    others = held(scene, [*of_hands, *(keyed.channel for keyed in channels)], frames)
    with values_keyed(scene, channels, SNAP):
        hand_turns = [own_turns(scene, rig, frames[:1]) for rig in rigs if rig.hands is not None]
        report = key_as_by_hand(armature, chains, frames[0], frames[-1])
        with_hands = [rig for rig in rigs if rig.hands is not None]
        for rig, before in zip(with_hands, hand_turns, strict=True):
            with values_keyed(scene, list(fk_keys(scene, rig, frames, before)), SNAP):
                pass
    for curve in of_bones:  # the chain still acts on the frame before, so that they need not change there
        hold(curve, SNAP, pinned=True)
    for curve in others:
        hold(curve, SNAP)
    bpy.context.view_layer.update()
    return replace(report, rig_warnings=(*report.rig_warnings, *warnings, *_mixed(report, armature)))


def _read(
    armature: bpy.types.Object, chains: Sequence[str] | None, frames: Sequence[float]
) -> tuple[list[RigChain], list[str], list[OwnLimb]]:
    """Return the chains, why others were left out, and the limbs of those with FK controls of their own.

    A limb's chain is read as its IK acts, whatever the rig's switch says.
    """
    rigs, left_out = read_rigs(armature, chains, frames)
    limbs = {limb.rig.name: limb for limb in map(limb_of, rigs) if limb is not None}
    if limbs:
        with acting(list(limbs.values()), fk=False):
            in_ik = {rig.name: rig for rig in read_rigs(armature, list(limbs), frames)[0]}
        rigs = [in_ik.get(rig.name, rig) for rig in rigs]
        limbs = {name: replace(limb, rig=in_ik.get(name, limb.rig)) for name, limb in limbs.items()}
    return rigs, list(left_out), list(limbs.values())


def _frames(scene: bpy.types.Scene, start: int | None, end: int | None, switch: bool) -> list[int]:
    """Return the frames to key; none to take the current pose."""
    if start is None and end is None:
        if not switch:
            return []
        start = end = scene.frame_current
    frames = frame_range(scene, start, end, 1)
    return [frames[0] - 1, *frames] if switch else frames


def _view(scene: bpy.types.Scene, rigs: Sequence[RigChain], frames: Sequence[int]) -> MatchView:
    """Return the view of the FK pose; of live chains that is not the current pose."""
    if frames:
        return on_frames(scene, frames)
    live = any(rig.armature.path_resolve(rig.settings.path).live for rig in rigs)
    return on_frames(scene, [scene.frame_float]) if live else current_pose(scene)


def _refuse_lengths(rig: RigChain) -> None:
    """Raise IK2DError for a chain that slides or stretches, which the influence would undo at once."""
    if rig.slides is not None and rig.slides.any or rig.stretching and not rig.stretching.limits.is_off:
        slides = rig.slides is not None and rig.slides.any
        raise refusal(
            "Chain '{chain}': its bones change their length, and without influence they would go back to "
            "their own lengths at once; turn {setting} off to switch",
            chain=rig.name,
            setting=noted("Slide") if slides else noted("Stretch"),
        )


def _mixed(report: BakeReport, armature: bpy.types.Object) -> Iterator[str]:
    """Yield a sentence for each chain that has a bake's keys besides those made by hand."""
    for chain in report.chains:
        posed = [armature.pose.bones[name] for name in chain.bones]
        paths = {f"{bone.path_from_id()}.{name}" for bone in posed for name in ROTATIONS}
        curves = [curve for curve in versions.existing_fcurves(armature) if curve.data_path in paths]
        if any(not keys.made_by_hand(curve).all() for curve in curves):
            yield say(
                "Chain '{chain}': it has keys of a bake, which it would blend with; clear the bake",
                chain=chain.name,
            )


def _set(rig: RigChain, locations: Floats, wanted: dict[ChainValue, Floats], undo: ExitStack) -> list[Moved]:
    """Set a target's location and a chain's settings to those of one frame; return what was moved."""
    holder = holder_of(rig)
    undo.callback(put_back, remembered([(holder, "location")]))
    holder.location = locations[0]
    moved = [Moved(holder, "location", range(3), is_target=True)]
    for value, numbers in wanted.items():
        value.refuse_driver()
        if set_number(value, float(numbers[0]), undo) and value.is_animated:
            moved.append(Moved(value.holder, f'["{value.name}"]' if rig.settings.native else value.name))
    return moved
