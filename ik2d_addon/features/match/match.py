# SPDX-License-Identifier: GPL-3.0-or-later
"""Match FK and IK: move targets to tips, key bones in the solved pose, and switch between both."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace

import bpy
import numpy as np

from ...bake.lengths import Units
from ...bake.now import poses_around, solve, solve_samples
from ...bake.pipeline import key_as_by_hand
from ...bake.reporting.report import BakeReport
from ...bake.request import frame_range, read_rigs, scene_of
from ...bake.solving.frames import SolvedChain
from ...core import IK2DError
from ...core.inputs import Floats
from ...core.words import noted, refusal, say
from ...rig.animation import keys, versions
from ...rig.animation.bone_channels import ROTATIONS, matrices
from ...rig.animation.kept.held import HeldCurve, held, hold
from ...rig.animation.kept.marks import SNAP
from ...rig.animation.remembered import put_back, remembered
from ...rig.animation.value_keys import ValueKeys, check_values, refuse_tweak_mode, values_keyed
from ...rig.chain.chain import RigChain
from ...rig.chain.dependencies import copied_by, walk
from ...rig.chain.native_state import natives_muted
from ...rig.pose.bone_matrices import first_rotations
from ...rig.pose.hand_rotations import own_turns
from ...rig.pose.target_plane import facing_target
from ...rig.scene.live_pause import live_paused
from ...rig.scene.samples import ChainSamples
from ...ui.auto_keying import Moved
from .animated_settings import ChainValue, influence_keys, set_number, setting_keys, wanted_values
from .hands import (
    HandMatch,
    as_set,
    changing,
    fk_keys,
    hand_errors,
    later_keys,
    matched_hands,
    own_keys,
    rotation_channels,
    set_hands,
)
from .poles import as_target, own_rotations, pole_locations, stays
from .report import ChainMatch, MatchReport
from .targets import (
    MatchView,
    current_pose,
    holder_of,
    in_rounds,
    location_keys,
    locations_on_tips,
    on_frames,
)

# A chain changes its bend side only if the joints come nearer on the other side by so much, in radians.
# With two bones only one side is right; with more, both may be off, and each change of sides is a jump.
_NEARER, _MUCH_NEARER = 1e-4, np.radians(5.0)
_SIDES = (1.0, -1.0)


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
    """
    scene = scene_of(armature)
    frames = _frames(scene, frame_start, frame_end, switch)
    rigs, left_out = read_rigs(armature, chains, frames or [scene.frame_float])
    rounds = in_rounds(rigs)
    if frames:
        for owner in dict.fromkeys(
            (armature, *(ob for rig in rigs for ob, _ in walk(rig.followed, copied_by)))
        ):
            refuse_tweak_mode(owner)
    view, now = _view(scene, rigs, frames), current_pose(scene)
    names = [rig.name for rig in rigs]
    by_chain: dict[str, tuple[RigChain, ChainSamples]] = {}
    warnings, moved = list(left_out), []
    hands: dict[str, HandMatch] = {}
    before: list[HeldCurve] = []
    with natives_muted(armature, names), ExitStack() as undo, ExitStack() as keyed:

        def key(channels: Sequence[ValueKeys]) -> None:
            warnings.extend(check_values(channels))
            before.extend(held(scene, [change.channel for change in channels], frames))
            keyed.enter_context(values_keyed(scene, channels, purpose))

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
                by_chain[rig.name] = rig, posed
                wanted = wanted_values(rig, _nearest_sides(scene, rig, posed, view.times))
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
                    solved = _solved(scene, rig, shown, view.times)
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
        seen = (view if frames else now).sample([by_chain[rig.name][0] for rig in rigs])
        matched = [
            _match(scene, *by_chain[rig.name], after, view.times, keyed=bool(frames), switch=switch)
            for rig, after in zip(rigs, seen, strict=True)
        ]
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
    """
    scene = scene_of(armature)
    frames = _frames(scene, frame_start, frame_end, switch)
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


# --- Bend sides and errors ---------------------------------------------------


def _solved(
    scene: bpy.types.Scene, rig: RigChain, samples: ChainSamples, times: Sequence[float]
) -> SolvedChain:
    """Return the chain solved as in a bake of these frames, at full influence."""
    return solve_samples(scene, rig, samples, times, poses_around(scene, rig, times), fully=True)


def _joint_errors(solved: SolvedChain, posed: ChainSamples) -> Floats:
    """Return the angles (frames, n) between each bone's own rotation and the solved one, in radians."""
    rig = solved.rig
    errors = np.zeros_like(solved.turns)
    for i in range(len(rig.bones)):
        if rig.joints.fixed[i]:
            continue
        unled = own_rotations(rig, posed, i)
        if i == 0 and solved.swings is not None:
            turned = first_rotations(rig, solved.turns[:, 0], solved.swings)
        else:
            axes = np.tile(rig.joints.axes[i], (len(unled), 1))
            turned = matrices('AXIS_ANGLE', np.column_stack((solved.turns[:, i], axes)))
        half = np.linalg.norm(unled - turned, axis=(1, 2)) / np.sqrt(8.0)  # the sine of half the angle
        errors[:, i] = 2.0 * np.arcsin(np.clip(half, 0.0, 1.0))
    return errors


def _nearest_sides(
    scene: bpy.types.Scene, rig: RigChain, posed: ChainSamples, times: Sequence[float]
) -> Floats:
    """Return the bend sides (frames,), +1 or -1, whose solved joints are nearest to the posed ones.

    A chain with a pole keeps its side: the pole goes to where the joints are.
    """
    if rig.pole is not None:
        return np.full(len(times), np.sign(rig.settings.bend) or 1.0)
    errors = {}
    for side in _SIDES:
        samples = posed.with_settings(softness=0.0, bend=side)
        errors[side] = _joint_errors(_solved(scene, rig, samples, times), posed).max(axis=1)
    nearer = _NEARER if len(rig.bones) == 2 else _MUCH_NEARER
    better = errors[-1.0] - errors[1.0]  # over 0 where the positive side is nearer
    clear = np.abs(better) > nearer
    if not clear.any():
        return np.full(len(times), np.sign(rig.settings.bend) or 1.0)
    last = np.maximum.accumulate(np.where(clear, np.arange(len(times)), np.argmax(clear)))
    sides: Floats = np.sign(better[last])
    return sides


def _match(
    scene: bpy.types.Scene,
    rig: RigChain,
    posed: ChainSamples,
    after: ChainSamples,
    times: Sequence[float],
    keyed: bool,
    switch: bool,
) -> ChainMatch:
    """Return the errors of the chain, solved with its new target and settings, against the FK pose."""
    if not keyed:
        bend = ChainValue.of(rig, "bend")
        after = after.with_settings(0.0, 1.0 if bend.number == bend.sides(np.ones(1))[0] else -1.0)
    solved = _solved(scene, facing_target(rig, after), after, times)
    bones = rig.hands.bones if rig.hands is not None else ()
    off = np.zeros((len(times), len(bones)))
    if bones:
        off = hand_errors(scene, solved, after, posed, times)
        off[: int(switch)] = 0.0  # on the frame before a switch they have their own rotations
    name = f"{rig.target.name}/{rig.subtarget}" if rig.subtarget else rig.target.name
    drift = np.linalg.norm(after.targets - posed.tips, axis=1)
    return ChainMatch(
        rig.name,
        name,
        np.array(times, np.float64),
        solved.miss.distance + drift,
        _joint_errors(solved, posed),
        rig.bones,
        solved.reach,
        off,
        bones,
        rig.warnings,
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
