# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands and feet: the local rotations that give them their orientation, in their channels."""

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import bpy
import numpy as np

from ...core import IK2DError
from ...core.affine import orientations
from ...core.inputs import Floats
from ...core.words import refusal, say
from ..animation import keys, versions
from ..animation.bone_channels import BoneRotation, locked_channels, matrices, rotation_property
from ..animation.fcurves import Curves, column, playing_curves, values_by
from ..animation.kept.giving_back import by_hand_alone
from ..animation.replacing import SAME_FRAME
from ..animation.times import animation_times, strip_times
from ..chain.chain import RigChain, read_chain
from ..chain.hands import KEPT, REST, Hands, posed_hands
from ..rest import rest_axes
from ..scene.feet.goals import control_turns
from ..scene.live_pause import live_paused
from ..scene.samples import ChainSamples
from .bone_matrices import bone_poses, posed, transforms
from .channels import blended, channels_of, is_locked

# Under an uneven scale a turn shows as another angle: so many rounds, at most, add the remaining error, until
# it is less than 32 bits hold.
_ROUNDS, _FINE = 24, 1e-8
# Keys nearer to the value of rest than this turn nothing.
_AT_REST = 1e-6
# Hands nearer to their rest pose than this are at rest, in radians.
_SAME = 1e-5


@dataclass(frozen=True, eq=False)
class OwnTurns:
    """Rotations of hands without their chain: by keys made by hand, else at rest."""

    values: list[Floats]  # of each its rotation channels (frames, c), in its own mode
    before: dict[str, Floats]  # the channels (c,) of keys before the frames, to go on from


@dataclass(frozen=True, eq=False)
class TurnedHands:
    """The rotations and orientations of hands over some frames."""

    rotations: list[BoneRotation]  # of those that may turn at all
    wanted: Floats  # (frames, k, 3, 3) the orientations asked for, in the armature's pose space
    shown: Floats  # (frames, k, 3, 3) the orientations reached

    @property
    def off(self) -> Floats:
        """(frames, k) radians between the two, where locked channels keep a hand from turning."""
        return angles_between(self.wanted, self.shown)


def own_turns(scene: bpy.types.Scene, rig: RigChain, times: Sequence[float]) -> OwnTurns:
    """Return the hands' own rotations at some frames: by keys made by hand, else at rest."""
    places = set(_places(rig))
    before = _before(
        scene, rig, times[0], playing_curves(rig.armature, versions.existing_fcurves(rig.armature))
    )
    with by_hand_alone(rig.armature, lambda path, index: (path, index) in places) as holder:
        playing = playing_curves(rig.armature, holder.fcurves if holder else ())
        by_hand = {place: playing[place] for place in _places(rig) if place in playing}
        return OwnTurns(_values(scene, rig, times, by_hand), before)


def own_turns_now(scene: bpy.types.Scene, rig: RigChain, times: Sequence[float] | None = None) -> OwnTurns:
    """Return the hands' own rotations at some frames, without a copy. Errors as in `own_curves`.

    times: None for the current frame.
    """
    return OwnTurns(_values(scene, rig, times or [scene.frame_float], own_curves(rig)), {})


def own_curves(rig: RigChain) -> Curves:
    """Return the F-Curves that turn the hands of a chain by keys made by hand, by path and index.

    Raises IK2DError where a curve holds keys of a bake among those made by hand.
    """
    holder = versions.existing_channels(rig.armature)
    there = [holder.fcurves.find(path, index=index) for path, index in _places(rig)] if holder else []
    curves = playing_curves(rig.armature, [curve for curve in there if curve is not None])
    refusal = say(
        "Chain '{chain}': what hangs on its tip has keys made by hand, and those of a bake "
        "are among them; clear the bake",
        chain=rig.name,
    )
    return {place: curve for place, curve in curves.items() if keys.is_hand_made(curve, refusal)}


def turning_keys(curve: bpy.types.FCurve) -> list[float]:
    """Return the times of the keys made by hand on a rotation's F-Curve, but for those at rest."""
    rest = REST[curve.data_path.rsplit(".", 1)[1]][curve.array_index]
    times, values = column(curve, "co").T
    turned_at: list[float] = times[keys.made_by_hand(curve) & (np.abs(values - rest) > _AT_REST)].tolist()
    return turned_at


def turned_hands(
    rig: RigChain, samples: ChainSamples, rotations: Sequence[Floats], own: OwnTurns, hands: Hands
) -> TurnedHands:
    """Return the hands' rotations for local rotations, (frames, 3, 3) for each bone of the chain.

    samples: with the final scale and locations of the bones. An influence below 1 blends with their own.
    """
    tip = deque(bone_poses(rig, samples, rotations), maxlen=1).pop()
    found, wanted, shown = [], [], []
    poses: dict[str, Floats] = {}  # of toes' parents too
    for name, kind, values in zip(hands.bones, hands.parts, own.values, strict=True):
        bone = rig.armature.pose.bones[name]
        held = poses.get(bone.parent.name, tip)
        free = matrices(bone.rotation_mode, values)
        turned = _local(bone, held, _wanted(rig, bone, kind, samples, hands) @ free)
        turned = blended(free, turned, samples.influence)
        channels = channels_of(bone, turned, values, own.before.get(name))
        wanted.append(_shown(bone, held, turned))
        shown.append(_shown(bone, held, matrices(bone.rotation_mode, channels)))
        poses[name] = posed(bone, held, transforms(matrices(bone.rotation_mode, channels)))
        if not is_locked(bone):
            found.append(BoneRotation(name, rotation_property(bone.rotation_mode), channels))
    return TurnedHands(found, np.stack(wanted, axis=1), np.stack(shown, axis=1))


def turn_shown(rig: RigChain, hands: Hands) -> Floats:
    """Return the rotation (3, 3) from rest of the first hand as shown, in pose space, without own keys."""
    first = rig.armature.pose.bones[hands.bones[0]]
    rotation = matrices(first.rotation_mode, own_turns_now(bpy.context.scene, rig).values[0])[0]
    shown = orientations(np.array(first.matrix, np.float64)[:3, :3])
    turned: Floats = shown @ rotation.T @ rest_axes(first.bone).T
    return turned


def angles_between(one: Floats, other: Floats) -> Floats:
    """Return the angles (..) in radians between orientations (.., 3, 3)."""
    apart = np.linalg.norm(one - other, axis=(-2, -1))
    angles: Floats = 2.0 * np.arcsin((apart / np.sqrt(8.0)).clip(max=1.0))
    return angles


def _wanted(
    rig: RigChain, bone: bpy.types.PoseBone, kind: int, samples: ChainSamples, hands: Hands
) -> Floats:
    """Return the orientations (frames, 3, 3) of a hand in pose space without its own rotation.

    part: of the foot that it is of, if the chain has one.
    """
    rest = rest_axes(bone.bone)
    if not hands.follow or samples.aims is None:
        return np.broadcast_to(hands.offset @ rest, (len(samples.world), 3, 3))
    turns = control_turns(samples, hands)
    if rig.foot is not None and samples.foot is not None:
        turns = turns @ rig.foot.turns(samples.foot[:, kind])
    wanted: Floats = turns @ rest
    return wanted


def _shown(bone: bpy.types.PoseBone, held: Floats, turned: Floats) -> Floats:
    """Return the orientations (frames, 3, 3) of a bone turned so on its parent's matrices (frames, 4, 4)."""
    return orientations(posed(bone, held, transforms(turned))[:, :3, :3])


def _local(bone: bpy.types.PoseBone, held: Floats, wanted: Floats) -> Floats:
    """Return the local rotations (frames, 3, 3) that give a bone its wanted orientations (frames, 3, 3)."""
    turned = np.zeros_like(wanted) + np.eye(3)
    for _ in range(_ROUNDS):
        missing = np.swapaxes(_shown(bone, held, turned), 1, 2) @ wanted
        turned = turned @ missing
        if np.abs(missing - np.eye(3)).max() <= _FINE:
            break
    return turned


# --- Hands that are kept in the world ----------------------------------------


@live_paused()
def note_kept_turn(settings: bpy.types.PropertyGroup) -> None:
    """Store how the hands of a chain are turned now, if it is to keep them in the world.

    Hands that have no turn of their own, or one by keys, keep the direction of the rest pose.
    """
    if settings.hand_rotation != KEPT or settings.foot.is_added:
        return
    bpy.context.view_layer.update()
    with suppress(IK2DError):  # a chain that is not complete yet
        rig = read_chain(settings.id_data, settings)
        if rig.hands is None or rig.hands.bones[0] in posed_hands(settings):  # turned by the chain itself
            return
        turned = turn_shown(rig, rig.hands) if _has_own_turn(rig, rig.hands) else np.eye(3)
        store_kept_turn(settings, turned)


def _has_own_turn(rig: RigChain, hands: Hands) -> bool:
    """Return whether the first hand is turned on its parent, by no keys made by hand."""
    first = rig.armature.pose.bones[hands.bones[0]]
    prop = rotation_property(first.rotation_mode)
    channels = np.array(getattr(first, prop), np.float64)
    keyed = any(path == first.path_from_id(prop) for path, _ in own_curves(rig))
    turned = matrices(first.rotation_mode, channels[None])[0]
    return bool(not keyed and angles_between(turned, np.eye(3)) > _SAME)


def store_kept_turn(settings: bpy.types.PropertyGroup, turned: Floats) -> None:
    """Store the turn (3, 3) from rest, in pose space, at which a chain keeps its hands."""
    if angles_between(turned, np.eye(3)) < _SAME:
        turned = np.eye(3)
    settings.hand_turn = turned.ravel().tolist()


# --- Keys made by hand -------------------------------------------------------


def _places(rig: RigChain) -> list[tuple[str, int]]:
    """Return the path and index of each rotation channel of the hands."""
    bones = [rig.armature.pose.bones[name] for name in rig.hands.bones] if rig.hands else []
    paths = [(bone.path_from_id(rotation_property(bone.rotation_mode)), bone) for bone in bones]
    return [(path, index) for path, bone in paths for index in range(len(_now(bone)))]


def _now(bone: bpy.types.PoseBone) -> Floats:
    return np.array(getattr(bone, rotation_property(bone.rotation_mode)), np.float64)


def _values(scene: bpy.types.Scene, rig: RigChain, times: Sequence[float], curves: Curves) -> list[Floats]:
    """Return the rotation channels (frames, c) of each hand by curves, else at rest; locked ones stay.

    Raises IK2DError where they are not finite, or not a rotation.
    """
    shown, channels = strip_times(rig.armature, animation_times(scene, times)), []
    for name in rig.hands.bones if rig.hands else ():
        bone = rig.armature.pose.bones[name]
        prop = rotation_property(bone.rotation_mode)
        others = np.where(_locks(bone), _now(bone), REST[prop])
        values = values_by(curves, bone.path_from_id(prop), shown, others)
        good = np.isfinite(values).all(axis=1)
        if len(REST[prop]) == 4:
            axes = values if prop == "rotation_quaternion" else values[:, 1:]
            good &= np.linalg.norm(axes, axis=1) > 0.0
        if not good.all():
            raise refusal(
                "Chain '{chain}': bone '{name}' on its tip has no rotation at frame {time:g}; delete "
                "its keys there, or unlock its channels",
                chain=rig.name,
                name=name,
                time=times[int(np.argmin(good))],
            )
        channels.append(values)
    return channels


def _locks(bone: bpy.types.PoseBone) -> list[bool]:
    return [True] * 4 if is_locked(bone) and len(_now(bone)) == 4 else locked_channels(bone)


def _before(scene: bpy.types.Scene, rig: RigChain, start: float, curves: Curves) -> dict[str, Floats]:
    """Return the channels of each hand at its last key before a frame, where it has any."""
    first = float(strip_times(rig.armature, animation_times(scene, [start]))[0])
    before = {}
    for name in rig.hands.bones if rig.hands else ():
        bone = rig.armature.pose.bones[name]
        path = bone.path_from_id(rotation_property(bone.rotation_mode))
        its = [curves[path, index] for index in range(4) if (path, index) in curves]
        times = [
            point.co[0]
            for curve in its
            for point in curve.keyframe_points
            if point.co[0] < first - SAME_FRAME
        ]
        if times:
            (values,) = values_by(curves, path, [max(times)], _now(bone))
            if np.isfinite(values).all():
                before[name] = values
    return before
