# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands and feet that come where they were: by the control's rotation, by Toes Up, and by own keys.

The control carries the turn of the foot or hand, on which it rolls, and Toes Up that of the toes. What
neither can carry, such as a hand that is kept in the world or toes that are turned aside, goes into keys of
the bones themselves.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...bake.solving.frames import SolvedChain
from ...bake.solving.hands import hands_of
from ...core.affine import orientations
from ...core.inputs import Floats
from ...core.words import quoted, refusal, say
from ...rig.animation.bone_channels import locked_channels, matrices, rotation_property
from ...rig.animation.remembered import Channel, set_values, value_of, values_now
from ...rig.animation.times import animation_times, strip_times
from ...rig.animation.value_keys import ValueKeys, acting_driver, curve_of, curves_of, values_on
from ...rig.chain.chain import RigChain
from ...rig.chain.foot.bones import FOOT, TOES
from ...rig.chain.foot.foot import foot_values
from ...rig.chain.hands import REST, Hands
from ...rig.chain.native_state import with_foot_controls
from ...rig.pose.channels import channels_of, is_locked
from ...rig.pose.hand_rotations import OwnTurns, angles_between, own_turns, store_kept_turn, turning_keys
from ...rig.rest import rest_axes
from ...rig.scene.samples import ChainSamples
from ...ui.auto_keying import Moved
from .targets import MatchView, holder_of, moved_node

# Rotations nearer than this are the same, in radians; a target that stays farther off than HELD is named.
SAME_TURN, HELD = 1e-5, 1e-4
# Rounds in which the rotation of a target is corrected for what scaled parents make of it.
_ROUNDS = 4
# Values of a setting that differ by less are the same.
_SAME_VALUE = 1e-9
_STEEPEST = np.pi / 2.0  # of Toes Up


@dataclass(frozen=True, eq=False)
class HandMatch:
    """How the hands of a chain come where the FK pose has them."""

    control: list[ValueKeys]  # of the target's rotation and Toes Up; in the current pose their values
    own: Floats  # (frames, k, 3, 3) local rotations that are left to the bones' own keys
    kept: Floats | None  # (3, 3) the turn at which the chain is to keep them in the world, without keys
    warnings: tuple[str, ...] = ()


def matched_hands(
    view: MatchView, rig: RigChain, posed: ChainSamples, *, switch: bool, keyed: bool
) -> HandMatch:
    """Return how a chain's hands come where they are posed. posed: the FK pose.

    switch: have the control carry all of their turn, rather than what their own keys leave. keyed: whether
    keys may be written. Raises IK2DError for a driver on Toes Up.
    """
    hands = rig.hands
    assert hands is not None and posed.hands is not None
    shown, rest = orientations(posed.hands), _rests(rig, hands)
    unled = np.broadcast_to(np.eye(3), shown.shape)
    if not switch and rig.settings.native is None:
        unled = _own_rotations(rig, own_turns(view.scene, rig, view.times))
    turned = shown @ np.swapaxes(unled, 2, 3) @ np.swapaxes(rest, 1, 2)
    first = turned[:, hands.parts.index(FOOT) if FOOT in hands.parts else 0]
    if rig.foot is not None and posed.foot is not None:
        first = first @ rig.foot.turns(-posed.foot[:, 0])  # on which it rolls
    kept: Floats | None = None
    warnings: tuple[str, ...] = ()
    keys: list[ValueKeys] = []
    if hands.follow:
        armature = orientations(posed.world[:, :3, :3])
        wanted = armature @ first @ hands.offset.T
        keys, aims = rotation_keys(view, rig, wanted)
        control = np.swapaxes(armature, 1, 2) @ aims @ hands.offset
        if angles_between(aims, wanted).max() > HELD:
            warnings = (_held(rig),)
    elif keyed or rig.settings.native is not None:
        control = np.broadcast_to(hands.offset, first.shape)
    else:
        kept, control = first[0], first
    parts = [control, control]
    if rig.foot is not None and posed.foot is not None:
        flat = posed.foot[:, 1] + posed.toes_up  # the angle of toes that are not bent
        bends = np.zeros(len(control))
        if TOES in hands.parts:
            toes = turned[:, hands.parts.index(TOES)]
            bends = flat - rig.foot.angles(np.swapaxes(control, 1, 2) @ toes)
            bends = np.clip((bends + np.pi) % (2.0 * np.pi) - np.pi, -_STEEPEST, _STEEPEST)
            bends = np.where(np.abs(bends) < SAME_TURN, 0.0, bends)
            keys = [*keys, *_toe_keys(view, rig, bends)]
        parts = [control @ rig.foot.turns(posed.foot[:, 0]), control @ rig.foot.turns(flat - bends)]
    carried = np.stack([parts[kind] for kind in hands.parts], axis=1) @ rest
    return HandMatch(keys, np.swapaxes(carried, 2, 3) @ shown, kept, warnings)


def rotation_keys(view: MatchView, rig: RigChain, wanted: Floats) -> tuple[list[ValueKeys], Floats]:
    """Return the keys that turn a chain's target to axes (frames, 3, 3) in the world, and the axes reached.

    The effect of a rotation is measured, so that parents and deltas count. Locked channels have no keys.
    """
    holder = holder_of(rig)
    name = rotation_property(holder.rotation_mode)
    path, count = holder.path_from_id(name), len(getattr(holder, name))
    locks = [is_locked(holder)] * count if is_locked(holder) else locked_channels(holder)
    target, subtarget = moved_node(rig)
    group = subtarget or "Object Transforms"
    now = np.array(getattr(holder, name)[:], np.float64)
    channels = np.tile(now, (len(view.times), 1))
    bare = replace(rig, foot=None)  # whose target is the foot's control

    def keys(values: Floats) -> list[ValueKeys]:
        return [
            ValueKeys(target, path, i, view.times, values[:, i], group) for i in range(count) if not locks[i]
        ]

    def reached(values: Floats) -> Floats:
        with view.shown(keys(values)):
            (samples,) = view.sample([bare])
        assert samples.aims is not None
        return orientations(samples.aims)

    values = np.where(locks, channels, np.array(REST[name][:count], np.float64))
    turns = matrices(holder.rotation_mode, values)
    for _ in range(_ROUNDS):
        aims = reached(values)
        missing = np.swapaxes(aims, 1, 2) @ wanted
        if angles_between(missing, np.eye(3)).max() < SAME_TURN / 100.0 or all(locks):
            break
        turns = turns @ missing
        values = channels_of(holder, turns, channels, now)
        if any(locks):
            turns = matrices(holder.rotation_mode, values)
    else:
        aims = reached(values)
    return keys(values), aims


def own_keys(
    scene: bpy.types.Scene, rig: RigChain, frames: Sequence[float], wanted: Floats, *, switch: bool = False
) -> list[ValueKeys]:
    """Return the keys that give hands their own rotations (frames, k, 3, 3), where they have others.

    switch: on the first frame, on which the chain does not act yet, they keep their channels.
    """
    assert rig.hands is not None
    if rig.settings.native is not None:  # whose hands have no rotation of their own
        return []
    hand_turns, keyed = own_turns(scene, rig, frames), []
    for name, turns, values in zip(
        rig.hands.bones, np.moveaxis(wanted, 1, 0), hand_turns.values, strict=True
    ):
        bone = rig.armature.pose.bones[name]
        turns = np.where((angles_between(turns, np.eye(3)) < SAME_TURN)[:, None, None], np.eye(3), turns)
        before, last = hand_turns.before.get(name), _channels(scene, bone, frames[:1])[0]
        if switch:
            turns, before = np.concatenate((matrices(bone.rotation_mode, last[None]), turns[1:])), last
        if is_locked(bone) or (angles_between(turns, matrices(bone.rotation_mode, values)) < SAME_TURN).all():
            continue
        channels = channels_of(bone, turns, values, before)
        if switch:
            channels[0] = last
        path, locks = bone.path_from_id(rotation_property(bone.rotation_mode)), locked_channels(bone)
        for index in np.flatnonzero(~np.array(locks)).tolist():
            whole = ValueKeys(rig.armature, path, index, frames, channels[:, index], name)
            if not switch:
                keyed.append(whole)
                continue
            keyed.append(replace(whole, frames=frames[:1], values=whole.values[:1], stepped=True))
            keyed.append(replace(whole, frames=frames[1:], values=whole.values[1:]))
    return keyed


def fk_keys(
    scene: bpy.types.Scene, rig: RigChain, frames: Sequence[int], own: OwnTurns
) -> Iterator[ValueKeys]:
    """Yield the hands' keys on frames; on the first their own turn, which the chain still acts on."""
    assert rig.hands is not None
    for name, values in zip(rig.hands.bones, own.values, strict=True):
        bone = rig.armature.pose.bones[name]
        path = bone.path_from_id(rotation_property(bone.rotation_mode))
        shown = _channels(scene, bone, frames)
        for _, index in curves_of(rig.armature, path):
            yield ValueKeys(rig.armature, path, index, frames[:1], values[:1, index], name, stepped=True)
            yield ValueKeys(rig.armature, path, index, frames[1:], shown[1:, index], name)


def rotation_channels(armature: bpy.types.Object, bones: Sequence[str]) -> list[Channel]:
    """Return the rotation channels of bones, each the armature, a path and an index."""
    channels: list[Channel] = []
    for bone in (armature.pose.bones[name] for name in bones):
        name = rotation_property(bone.rotation_mode)
        path = bone.path_from_id(name)
        channels += [(armature, path, index) for index in range(len(getattr(bone, name)))]
    return channels


def later_keys(scene: bpy.types.Scene, rig: RigChain, last: float) -> list[str]:
    """Return a sentence if keys after a frame turn a chain's hands on top of it."""
    assert rig.hands is not None
    (end,), names = strip_times(rig.armature, animation_times(scene, [last])), []
    for name in rig.hands.bones if rig.settings.native is None else ():
        bone = rig.armature.pose.bones[name]
        prop = rotation_property(bone.rotation_mode)
        curves = curves_of(rig.armature, bone.path_from_id(prop)).values()
        if any(time > end + 0.5 for curve in curves for time in turning_keys(curve)):
            names.append(name)
    if not names:
        return []
    return [
        say(
            "Chain '{chain}': keys of {names} after frame {frame:g} turn them on top of what the chain turns "
            "them to; delete these where the chain is to turn them alone",
            chain=rig.name,
            names=quoted(names),
            frame=last,
        )
    ]


def hand_errors(
    scene: bpy.types.Scene,
    solved: SolvedChain,
    after: ChainSamples,
    posed: ChainSamples,
    times: Sequence[float],
) -> Floats:
    """Return the angles (frames, k) in radians that a solved chain's hands are off the FK pose."""
    rig = solved.rig
    assert rig.hands is not None and posed.hands is not None
    turns = own_turns(scene, rig, times)
    if rig.settings.native is not None:
        bones = [rig.armature.pose.bones[name] for name in rig.hands.bones]
        at_rest = [REST[rotation_property(bone.rotation_mode)] for bone in bones]
        turns = OwnTurns([np.tile(np.array(rest, np.float64), (len(times), 1)) for rest in at_rest], {})
    turned = hands_of(solved, after.with_settings(influence=1.0), turns)
    return angles_between(turned.shown, orientations(posed.hands))


# --- Settings ----------------------------------------------------------------


def changing(
    scene: bpy.types.Scene, channels: Sequence[ValueKeys], undo: ExitStack, *, switch: bool
) -> list[ValueKeys]:
    """Return the keys of channels that are animated or have to be; set the others at once.

    switch: they keep their values up to the first frame, on which the chain does not act yet.
    """
    changed: list[ValueKeys] = []
    for keyed in channels:
        curve = curve_of(*keyed.channel)
        if switch:
            (time,) = strip_times(keyed.owner, animation_times(scene, keyed.frames[:1]))
            shown = float(curve.evaluate(time) if curve else value_of(*keyed.channel))
            if curve is not None or np.abs(keyed.values[1:] - shown).max() > _SAME_VALUE:
                changed.append(
                    replace(keyed, frames=keyed.frames[:1], values=np.array([shown]), stepped=True)
                )
                changed.append(replace(keyed, frames=keyed.frames[1:], values=keyed.values[1:]))
        elif curve is not None or np.ptp(keyed.values) > _SAME_VALUE or not _is_setting(keyed):
            changed.append(keyed)
        else:
            _set_value(keyed, undo)
    return changed


def _is_setting(one: ValueKeys) -> bool:
    """Return whether a channel is a foot's Toes Up, rather than a part of a rotation."""
    return one.path.endswith((".toe", '"toe"]'))


def set_hands(rig: RigChain, hands: HandMatch, undo: ExitStack) -> list[Moved]:
    """Set the control of hands, or the turn at which they are kept; return what was moved."""
    if hands.kept is not None:
        settings = rig.armature.path_resolve(rig.settings.path)
        undo.callback(setattr, settings, "hand_turn", tuple(settings.hand_turn))
        store_kept_turn(settings, hands.kept)
    moved: dict[str, Moved] = {}
    for keyed in hands.control:
        if not _set_value(keyed, undo):
            continue
        if keyed.path.startswith("["):
            moved[keyed.path] = Moved(keyed.owner, keyed.path)
            continue
        above, _, name = keyed.path.rpartition(".")
        holder = keyed.owner.path_resolve(above) if above else keyed.owner
        whole = hasattr(getattr(holder, name), "__len__")
        before = moved[keyed.path].indices if keyed.path in moved else ()
        moved[keyed.path] = Moved(holder, name, [*(before or ()), keyed.index] if whole else None)
    return list(moved.values())


def _set_value(one: ValueKeys, undo: ExitStack) -> bool:
    """Set a channel to its first value; return whether that changed it."""
    before = values_now([one.channel])
    if before[0][-1] == float(np.float32(one.values[0])):
        return False
    undo.callback(set_values, before)
    set_values([(*one.channel, float(one.values[0]))])
    one.owner.update_tag()
    return True


def as_set(rig: RigChain, found: HandMatch | None) -> RigChain:
    """Return a chain with Toes Up and the turn of its hands as they are set now."""
    if found is None or rig.hands is None:
        return rig
    if found.kept is not None:
        rig = replace(rig, hands=replace(rig.hands, offset=found.kept))
    if rig.foot is None:
        return rig
    values: tuple[float, ...] = foot_values(rig.armature.path_resolve(rig.settings.path).foot)
    if rig.settings.native is not None:
        values = with_foot_controls(rig.settings.native, values)
    return replace(rig, foot=replace(rig.foot, values=values))


# --- Parts -------------------------------------------------------------------


def _toe_keys(view: MatchView, rig: RigChain, bends: Floats) -> list[ValueKeys]:
    """Return the keys of a foot's Toes Up (frames,)."""
    owner, path = rig.armature, f"{rig.settings.path}.foot.toe"
    if rig.settings.native is not None:
        owner, path = rig.settings.native, '["toe"]'
    if acting_driver(owner, path) is not None:
        raise refusal(
            "Chain '{chain}': its {label} has a driver; remove it first", chain=rig.name, label="Toes Up"
        )
    return [ValueKeys(owner, path, 0, view.times, bends, "IK 2D")]


def _rests(rig: RigChain, hands: Hands) -> Floats:
    rests: Floats = np.array([rest_axes(rig.armature.data.bones[name]) for name in hands.bones])
    return rests


def _own_rotations(rig: RigChain, own: OwnTurns) -> Floats:
    """Return the local rotations (frames, k, 3, 3) of hands by their own keys."""
    assert rig.hands is not None
    modes = [rig.armature.pose.bones[name].rotation_mode for name in rig.hands.bones]
    rotations: Floats = np.stack([matrices(*each) for each in zip(modes, own.values, strict=True)], axis=1)
    return rotations


def _channels(scene: bpy.types.Scene, bone: bpy.types.PoseBone, frames: Sequence[float]) -> Floats:
    """Return the rotation channels (frames, c) that a bone's F-Curves give it, else its own."""
    name = rotation_property(bone.rotation_mode)
    return values_on(scene, bone.id_data, bone.path_from_id(name), frames, np.array(getattr(bone, name)))


def _held(rig: RigChain) -> str:
    """Return the sentence that a target does not turn as its foot or hand is turned."""
    assert rig.hands is not None
    return say(
        "Chain '{chain}': its target '{holder}' does not turn as '{bone}' is turned; unlock its rotation, or "
        "mute its constraints",
        chain=rig.name,
        holder=holder_of(rig).name,
        bone=rig.hands.bones[0],
    )
