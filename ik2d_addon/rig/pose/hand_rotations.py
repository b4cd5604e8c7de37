# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands and feet: the local rotations that give them their orientation, in their channels."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...core import IK2DError
from ...core.inputs import Floats
from ...core.words import say
from ..animation import keys, versions
from ..animation.bone_channels import BoneRotation, locked_channels, matrices, rotation_property
from ..animation.fcurves import Curves, playing_curves
from ..animation.times import animation_times, strip_times
from ..chain.chain import RigChain
from ..chain.hands import REST, Hands, orientations
from ..scene.feet.goals import control_turns
from ..scene.samples import ChainSamples
from .bone_matrices import bone_poses, posed, transforms
from .channels import blended, channels_of, is_locked

# Under an uneven scale a turn shows as another angle: so many rounds, at most, add the remaining error, until
# it is less than 32 bits hold.
_ROUNDS, _FINE = 24, 1e-8


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
    with versions.channels_copied(rig.armature) as holder:
        playing = playing_curves(rig.armature, holder.fcurves if holder else ())
        before = _before(scene, rig, times[0], playing)
        by_hand = {
            (path, index): playing[path, index]
            for path, index in _places(rig)
            if (path, index) in playing and keys.keep_hand_made(playing[path, index])
        }
        return OwnTurns(_values(scene, rig, times, by_hand), before)


def own_turns_now(scene: bpy.types.Scene, rig: RigChain) -> OwnTurns:
    """Return the hands' own rotations on the current frame, without a copy. Errors as in `own_curves`."""
    return OwnTurns(_values(scene, rig, [scene.frame_float], own_curves(rig)), {})


def own_curves(rig: RigChain) -> Curves:
    """Return the F-Curves that turn the hands of a chain by keys made by hand, by path and index.

    Raises IK2DError where a curve holds keys of a bake among those made by hand.
    """
    holder = versions.existing_channels(rig.armature)
    found = [holder.fcurves.find(path, index=index) for path, index in _places(rig)] if holder else []
    curves = playing_curves(rig.armature, [curve for curve in found if curve is not None])
    refusal = say(
        "Chain '{chain}': what hangs on its tip has keys made by hand, and those of a bake "
        "are among them; clear the bake",
        chain=rig.name,
    )
    return {place: curve for place, curve in curves.items() if keys.is_hand_made(curve, refusal)}


def hand_notes(scene: bpy.types.Scene, rig: RigChain, first: float, last: float) -> list[str]:
    """Return a sentence on the keys made by hand that a bake replaces in its range, if any."""
    places, curves = set(_places(rig)), versions.existing_fcurves(rig.armature)
    own = [curve for curve in curves if (curve.data_path, curve.array_index) in places]
    found = keys.hand_made_between(own, *keys.bounds(scene, rig.armature, first, last))
    if not found:
        return []
    return [
        say(
            "Chain '{chain}': keys made by hand on {count} frames turn what hangs on its tip, "
            "and the bake has put its own in their place; undo it before you bake again, or keep "
            "a copy of the action",
            chain=rig.name,
            count=len(found),
        )
    ]


def turned_hands(
    rig: RigChain, samples: ChainSamples, rotations: Sequence[Floats], own: OwnTurns, hands: Hands
) -> TurnedHands:
    """Return the hands' rotations for local rotations, (frames, 3, 3) for each bone of the chain.

    samples: with the final scale and locations of the bones. An influence below 1 blends with their own.
    """
    tip = deque(bone_poses(rig, samples, rotations), maxlen=1).pop()
    found, wanted, shown = [], [], []
    poses: dict[str, Floats] = {}  # of toes' parents too
    for name, part, values in zip(hands.bones, hands.parts, own.values, strict=True):
        bone = rig.armature.pose.bones[name]
        held = poses.get(bone.parent.name, tip)
        free = matrices(bone.rotation_mode, values)
        turned = _local(bone, held, _wanted(rig, bone, part, samples, hands) @ free)
        turned = blended(free, turned, samples.influence)
        channels = channels_of(bone, turned, values, own.before.get(name))
        wanted.append(_shown(bone, held, turned))
        shown.append(_shown(bone, held, matrices(bone.rotation_mode, channels)))
        poses[name] = posed(bone, held, transforms(matrices(bone.rotation_mode, channels)))
        if not is_locked(bone):
            found.append(BoneRotation(name, rotation_property(bone.rotation_mode), channels))
    return TurnedHands(found, np.stack(wanted, axis=1), np.stack(shown, axis=1))


def angles_between(one: Floats, other: Floats) -> Floats:
    """Return the angles (..) in radians between orientations (.., 3, 3)."""
    apart = np.linalg.norm(one - other, axis=(-2, -1))
    angles: Floats = 2.0 * np.arcsin((apart / np.sqrt(8.0)).clip(max=1.0))
    return angles


def _wanted(
    rig: RigChain, bone: bpy.types.PoseBone, part: int, samples: ChainSamples, hands: Hands
) -> Floats:
    """Return the orientations (frames, 3, 3) of a hand in pose space without its own rotation.

    part: of the foot that it is of, if the chain has one.
    """
    rest = orientations(np.array(bone.bone.matrix_local, np.float64)[:3, :3])
    if not hands.follow or samples.aims is None:
        return np.broadcast_to(rest, (len(samples.world), 3, 3))
    turns = control_turns(samples, hands)
    if rig.foot is not None and samples.foot is not None:
        turns = turns @ rig.foot.turns(samples.foot[:, part])
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


# --- Keys made by hand -------------------------------------------------------


def _places(rig: RigChain) -> list[tuple[str, int]]:
    """Return the path and index of each rotation channel of the hands."""
    bones = [rig.armature.pose.bones[name] for name in rig.hands.bones] if rig.hands else []
    found = [(bone.path_from_id(rotation_property(bone.rotation_mode)), bone) for bone in bones]
    return [(path, index) for path, bone in found for index in range(len(_now(bone)))]


def _now(bone: bpy.types.PoseBone) -> Floats:
    return np.array(getattr(bone, rotation_property(bone.rotation_mode)), np.float64)


def _values(scene: bpy.types.Scene, rig: RigChain, times: Sequence[float], curves: Curves) -> list[Floats]:
    """Return the rotation channels (frames, c) of each hand by curves, else at rest; locked ones stay.

    Raises IK2DError where they are not finite, or not a rotation.
    """
    shown, found = strip_times(rig.armature, animation_times(scene, times)), []
    for name in rig.hands.bones if rig.hands else ():
        bone = rig.armature.pose.bones[name]
        prop = rotation_property(bone.rotation_mode)
        values = np.tile(np.where(_locks(bone), _now(bone), REST[prop]), (len(times), 1))
        path = bone.path_from_id(prop)
        for index in range(values.shape[1]):
            if curve := curves.get((path, index)):
                values[:, index] = [curve.evaluate(time) for time in shown]
        good = np.isfinite(values).all(axis=1)
        if len(REST[prop]) == 4:
            part = values if prop == "rotation_quaternion" else values[:, 1:]
            good &= np.linalg.norm(part, axis=1) > 0.0
        if not good.all():
            raise IK2DError(
                say(
                    "Chain '{chain}': bone '{name}' on its tip has no rotation at frame {time:g}; delete "
                    "its keys there, or unlock its channels",
                    chain=rig.name,
                    name=name,
                    time=times[int(np.argmin(good))],
                )
            )
        found.append(values)
    return found


def _locks(bone: bpy.types.PoseBone) -> list[bool]:
    return [True] * 4 if is_locked(bone) and len(_now(bone)) == 4 else locked_channels(bone)


def _before(scene: bpy.types.Scene, rig: RigChain, start: float, curves: Curves) -> dict[str, Floats]:
    """Return the channels of each hand at its last key before a frame, where it has any."""
    first = float(strip_times(rig.armature, animation_times(scene, [start]))[0])
    found = {}
    for name in rig.hands.bones if rig.hands else ():
        bone = rig.armature.pose.bones[name]
        path = bone.path_from_id(rotation_property(bone.rotation_mode))
        own = {index: curves[path, index] for index in range(4) if (path, index) in curves}
        times = [
            point.co[0]
            for curve in own.values()
            for point in curve.keyframe_points
            if point.co[0] < first - keys.SAME_FRAME
        ]
        if times:
            values = _now(bone)
            for index, curve in own.items():
                values[index] = curve.evaluate(max(times))
            if np.isfinite(values).all():
                found[name] = values
    return found
