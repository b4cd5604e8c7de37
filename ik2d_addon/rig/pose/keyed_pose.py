# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyed poses of a chain: before and after the frames of a bake, and without the chain."""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...core.affine import Frames
from ...core.inputs import LARGEST_ANGLE, Floats
from ...core.words import refusal, say
from ..animation import keys, versions
from ..animation.bone_channels import matrices, rotation_property
from ..animation.fcurves import Curves, playing_curves, row_from, values_by
from ..animation.kept.giving_back import by_hand_alone
from ..animation.times import animation_times, pace_of, strip_times
from ..chain.chain import RigChain
from ..chain.checks.bones import rest_joints
from ..chain.joints import CLOSE, own_axis
from ..chain.order import by_armature
from ..rest import rest_axes
from ..scene.lengths.slide_locations import noted_locations


@dataclass(frozen=True, eq=False)
class KeyedPose:
    """The pose of a chain's joints at one frame, by keys or as it is now."""

    frame: float
    turns: Floats  # (n,) radians about each bone's local axis
    channels: dict[str, Floats]  # the values of each bone's rotation channels
    slides: Floats | None = None  # (n,) as locations have them; None where all bones are rigid


@dataclass(frozen=True, eq=False)
class OwnPose(Frames):
    """The pose of a chain's joints without the chain."""

    turns: Floats  # (frames, n) radians about each bone's local axis
    rotations: Floats  # (frames, n, 3, 3) the bones' own, with what turns them about other axes
    channels: Floats | None = None  # (frames, c) the values of the first bone's rotation channels


@dataclass(frozen=True, eq=False)
class NeighborPoses:
    """The nearest keyed poses before and after the frames of a bake, which a chain has to join."""

    before: KeyedPose | None = None
    after: KeyedPose | None = None
    lost: tuple[float, ...] = ()  # frames of such keys that hold no usable numbers: they are not joined


def neighbor_poses(
    scene: bpy.types.Scene, rigs: Sequence[RigChain], first: float, last: float
) -> list[NeighborPoses]:
    """Return the keyed poses nearest to the frames `first` to `last` of each chain."""
    found: dict[RigChain, NeighborPoses] = {}
    for armature, its in by_armature(rigs).items():
        start, end = keys.bounds(scene, armature, first, last)
        curves = playing_curves(armature, versions.existing_fcurves(armature))
        found |= {rig: _neighbors(scene, rig, _curves(rig, curves), start, end) for rig in its}
    return [found[rig] for rig in rigs]


def _neighbors(
    scene: bpy.types.Scene, rig: RigChain, curves: Curves, start: float, end: float
) -> NeighborPoses:
    """Return a chain's keyed poses nearest to the times `start` to `end` of the action."""
    if not curves:
        return NeighborPoses()
    earlier, later = [], []
    for curve in curves.values():
        points, first, last = curve.keyframe_points, row_from(curve, start), row_from(curve, end)
        earlier += [points[first - 1].co.x] if first else []
        later += [points[last].co.x] if last < len(points) else []
    nearest = (*([max(earlier)] if earlier else ()), *([min(later)] if later else ()))
    shown = shown_at(scene, rig.armature, nearest)
    keyed = [_keyed_pose(rig, curves, frame, time) for frame, time in zip(shown, nearest, strict=True)]
    beside = [keyed_pose for keyed_pose in keyed if keyed_pose is not None]
    (middle,) = shown_at(scene, rig.armature, [(start + end) / 2.0])
    return NeighborPoses(
        next((keyed_pose for keyed_pose in beside if keyed_pose.frame < middle), None),
        next((keyed_pose for keyed_pose in beside if keyed_pose.frame > middle), None),
        tuple(frame for frame, keyed_pose in zip(shown, keyed, strict=True) if keyed_pose is None),
    )


def keyed_pose_now(scene: bpy.types.Scene, rig: RigChain) -> KeyedPose:
    """Return the current pose of the chain's joints, keyed or not."""
    keyed_pose = _keyed_pose(rig, {}, scene.frame_float, 0.0)
    assert keyed_pose is not None  # without curves
    return keyed_pose


def pose_without_chain(scene: bpy.types.Scene, rig: RigChain, times: Sequence[float]) -> OwnPose:
    """Return the pose at some frames by keys made by hand, those that bakes replaced too, else at rest."""
    places = set(_places(rig))
    with by_hand_alone(rig.armature, lambda path, index: (path, index) in places) as holder:
        playing = playing_curves(rig.armature, holder.fcurves if holder else ())
        return _pose_of(scene, rig, times, _curves(rig, playing))


def pose_of_hand_made(scene: bpy.types.Scene, rig: RigChain, times: Sequence[float]) -> OwnPose:
    """Return the pose of `pose_without_chain` without a copy of the action.

    Raises IK2DError where a curve holds keys of a bake among those made by hand.
    """
    curves = _curves(rig, playing_curves(rig.armature, versions.existing_fcurves(rig.armature)))
    refusal = say(
        "Chain '{chain}': its influence blends with keys made by hand, and those of a bake "
        "are among them; clear the bake, or set the influence to 1",
        chain=rig.name,
    )
    by_hand = {place: curve for place, curve in curves.items() if keys.is_hand_made(curve, refusal)}
    return _pose_of(scene, rig, times, by_hand)


def _pose_of(scene: bpy.types.Scene, rig: RigChain, times: Sequence[float], curves: Curves) -> OwnPose:
    """Return the pose at some frames by curves; bones without one are at rest."""
    turns = np.zeros((len(times), len(rig.bones)))
    rotations = np.zeros((*turns.shape, 3, 3)) + np.eye(3)
    channels = np.tile(resting_channels(rig.pose_bones[0]), (len(times), 1))
    if curves:
        shown = strip_times(rig.armature, animation_times(scene, times))
        for i, bone in enumerate(rig.pose_bones):
            values = values_by(curves, _path(bone), shown, resting_channels(bone))
            turns[:, i] = channel_turns(bone, rig.joints.axes[i], values)
            rotations[:, i] = matrices(bone.rotation_mode, values)
            if i == 0:
                channels = values
    turns[:, rig.joints.fixed] = 0.0
    good = np.isfinite(turns).all(axis=1)
    if not good.all():
        raise refusal(
            "Chain '{chain}': its influence blends with keys made by hand, which have no finite "
            "values at frame {time:g}; delete these keys, or set the influence to 1",
            chain=rig.name,
            time=times[int(np.argmin(good))],
        )
    return OwnPose(turns, rotations, channels)


def _curves(rig: RigChain, curves: Curves) -> Curves:
    """Return the F-Curves that turn and slide the chain's bones."""
    return {place: curves[place] for place in _places(rig) if place in curves} if curves else {}


def _places(rig: RigChain) -> list[tuple[str, int]]:
    """Return the paths and indices of the channels that turn and slide the chain's bones."""
    places = [(_path(bone), index) for bone in rig.pose_bones for index in range(4)]
    if rig.slides is not None:
        for i, channels in rig.slides.channels.items():
            path = rig.pose_bones[i].path_from_id("location")
            places += [(path, channel) for channel in channels]
    return places


def shown_at(scene: bpy.types.Scene, armature: bpy.types.Object, times: Sequence[float]) -> list[float]:
    """Return the scene's frames of times of the action."""
    animation, pace = armature.animation_data, pace_of(scene)
    if animation.use_tweak_mode:
        times = [animation.nla_tweak_strip_time_to_scene(time) for time in times]
    return [float(time) / pace for time in times]


def _keyed_pose(rig: RigChain, curves: Curves, frame: float, time: float) -> KeyedPose | None:
    """Return the keyed pose at a time, with the current values of channels without a curve.

    None where a curve has no usable value then. Channels without a usable current value are at rest.
    """
    turns, channels = np.zeros(len(rig.bones)), {}
    for i, bone in enumerate(rig.pose_bones):
        now = np.array(getattr(bone, rotation_property(bone.rotation_mode)))
        usable = np.abs(now) <= LARGEST_ANGLE  # not NaN either
        values = values_by(curves, _path(bone), [time], np.where(usable, now, resting_channels(bone)))
        if not (np.abs(values) <= LARGEST_ANGLE).all():
            return None
        channels[bone.name] = values[0]
        if not rig.joints.fixed[i]:
            turns[i] = channel_turns(bone, rig.joints.axes[i], values)[0]
    if rig.swing is not None:
        turns[0] = _turn_without_swing(rig, channels[rig.bones[0]], turns)
    return KeyedPose(frame, turns, channels, _slides(rig, curves, turns, time))


def _turn_without_swing(rig: RigChain, values: Floats, turns: Floats) -> float:
    """Return the first bone's turn in a plane that follows its target, by its channels (c,).

    turns: (n,) of all bones; those after the first say where in the plane the tip is.
    """
    bone, plane = rig.pose_bones[0], rig.plane
    turned = matrices(bone.rotation_mode, values[None])[0]
    rest = rest_axes(bone.bone)
    x, y = np.diff(plane.project(rest_joints(rig.pose_bones)), axis=0).T
    headings = np.cumsum(turns) - turns[0]
    cosines, sines = np.cos(headings), np.sin(headings)
    tip = plane.x * (cosines @ x - sines @ y) + plane.y * (sines @ x + cosines @ y)
    assert rig.swing is not None
    return rig.swing.turn_in(rest @ turned @ rest.T, tip)


def _slides(rig: RigChain, curves: Curves, turns: Floats, time: float) -> Floats | None:
    """Return the slides (n,) in the bones' locations at a time, for local turns (n,)."""
    if rig.slides is None:
        return None
    offsets = {}
    for i, bases in noted_locations(rig, [time]).items():
        bone = rig.pose_bones[i]
        (values,) = values_by(curves, bone.path_from_id("location"), [time], np.array(bone.location))
        offsets[i] = np.nan_to_num(values - bases[0])
    least, most = rig.slides.ranges.T
    slides: Floats = np.clip(rig.slides.slides_of(turns, offsets), least, most)
    return slides


def _path(bone: bpy.types.PoseBone) -> str:
    return str(bone.path_from_id(rotation_property(bone.rotation_mode)))


def resting_channels(bone: bpy.types.PoseBone) -> Floats:
    """Return the rest values of the bone's rotation channels."""
    if bone.rotation_mode == 'QUATERNION':
        return np.array((1.0, 0.0, 0.0, 0.0))
    if bone.rotation_mode == 'AXIS_ANGLE':
        return np.array((0.0, *bone.rotation_axis_angle[1:]))
    return np.zeros(3)


def channel_turns(bone: bpy.types.PoseBone, axis: Floats, values: Floats) -> Floats:
    """Return the turns (m,) of rotation channels (m, c) about a local axis (3,), without other axes.

    With the whole turns of the channels' own angle where there is one, and the signs of quaternions.
    """
    mode = bone.rotation_mode
    if mode == 'QUATERNION':
        turns: Floats = 2.0 * np.arctan2(values[:, 1:] @ axis, values[:, 0])
        return turns
    guess = np.zeros(len(values))
    if mode == 'AXIS_ANGLE':
        about = values[:, 1:] @ axis
        values = np.where((values[:, 1:] != 0.0).any(axis=1, keepdims=True), values, (0.0, 0.0, 1.0, 0.0))
        guess = values[:, 0] * np.sign(about)
    elif (nearest := own_axis(axis, CLOSE)) is not None:
        guess = values[:, nearest] * np.sign(axis[nearest])
    rotation = matrices(mode, values)
    along = np.trace(rotation, axis1=1, axis2=2) - rotation @ axis @ axis
    across = np.stack([rotation[:, i, j] - rotation[:, j, i] for i, j in ((2, 1), (0, 2), (1, 0))], axis=1)
    angle = np.arctan2(across @ axis, along)
    nearest_turns: Floats = angle + 2.0 * np.pi * np.round((guess - angle) / (2.0 * np.pi))
    return nearest_turns
