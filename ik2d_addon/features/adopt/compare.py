# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare the pose of chains with an earlier pose, frame by frame, without keys."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...bake.keys.keying import KeyPlan, rotations_of
from ...bake.request import BakeOptions, read_rigs, scene_of
from ...bake.rounds import solve_frames
from ...core import IK2DError
from ...core.affine import norms, orientations, turned
from ...core.inputs import Floats
from ...core.solution import drained
from ...core.words import refusal
from ...rig.animation import keys
from ...rig.animation.times import animation_times
from ...rig.chain.bone_limits import ik_ranges
from ...rig.rest import rest_matrix
from ...rig.scene.live_pause import live_paused
from ...rig.scene.sampler import Sampler
from .poses import Watched, watched


@dataclass(frozen=True, eq=False)
class Apart:
    """Largest differences between a chain's pose and the earlier one."""

    angle: float  # radians, of a bone's orientation
    bone: str
    angle_frame: int
    tip: float  # a length in the world
    tip_frame: int
    joint: float  # a length in the world, of the joint that is furthest away
    parts: Floats  # (frames,) that on each frame, as a part of the limb's length there

    @property
    def part(self) -> float:
        """The largest of these parts."""
        return float(self.parts.max())


@dataclass(frozen=True)
class Past:
    """The furthest that a bone turns past its IK limits and locks."""

    angle: float  # radians; below 0 where it never does
    frame: int


def compare_each(
    armature: bpy.types.Object,
    chains: dict[str, Sequence[str]],
    before: Watched,
    progress: Callable[[float], None] | None = None,
    posed: Mapping[str, Watched | IK2DError] | None = None,
) -> dict[str, Apart | IK2DError]:
    """Return each chain's distance from an earlier pose, or the error that prevents the comparison.

    chains: {name: bones from root to tip}. On the frames of the earlier pose, in Blender's own evaluation
    of temporary keys. posed: the pose by the chains on them, where that is known. progress: as in
    `watched`.
    """
    after = posed or posed_each(armature, chains, before, progress)
    return {name: _apart_or_why(armature, bones, before, after[name]) for name, bones in chains.items()}


def posed_each(
    armature: bpy.types.Object,
    chains: dict[str, Sequence[str]],
    before: Watched,
    progress: Callable[[float], None] | None = None,
    fully: bool = False,
) -> dict[str, Watched | IK2DError]:
    """Return the pose by each chain on an earlier pose's frames, or the error that prevents it.

    All chains are posed at once, but for faulty ones: those are found by halves. Arguments as in `posed_by`.
    """
    try:
        return dict.fromkeys(chains, posed_by(armature, chains, before, progress, fully))
    except IK2DError as error:
        if len(chains) == 1:
            return dict.fromkeys(chains, error)
    items, half = list(chains.items()), len(chains) // 2
    parts = (dict(items[:half]), dict(items[half:]))
    return {
        name: result
        for part in parts
        for name, result in posed_each(armature, part, before, progress, fully).items()
    }


def posed_by(
    armature: bpy.types.Object,
    chains: dict[str, Sequence[str]],
    before: Watched,
    progress: Callable[[float], None] | None = None,
    fully: bool = False,
) -> Watched:
    """Return the pose by chains, {name: bones from root to tip}, on an earlier pose's frames.

    progress: as in `watched`. fully: at full influence. Raises IK2DError if a chain cannot be solved.
    """
    scene, frames = scene_of(armature), list(before.frames)
    with live_paused():
        rigs, _ = read_rigs(armature, list(chains), frames)
        every = {rig.name: [float(frame) for frame in frames] for rig in rigs}
        plan = KeyPlan(frames, frames, own=every)
        with Sampler(scene, rigs) as sampler:
            solved, *_ = drained(solve_frames(rigs, scene, plan, BakeOptions(), fully, sampler))
            with keys.previewed(armature, animation_times(scene, frames), rotations_of(solved)):
                return watched(sampler, armature, list(chains.values()), [], frames, progress)


def last_bones_turn(bone: str, axis: Floats, before: Watched, after: Watched) -> float:
    """Return the mean angle, radians, by which a bone pointed on from where it does now.

    About an axis (3,) in its own space.
    """
    axes = turned(after.poses[bone][:, :3, :3], np.broadcast_to(axis, (len(after.frames), 3)))
    axes /= norms(axes)[:, None]
    now, then = (each.poses[bone][:, :3, 1] for each in (after, before))
    across = (axes * np.cross(now, then)).sum(axis=1)
    along = (now * then).sum(axis=1) - (now * axes).sum(axis=1) * (then * axes).sum(axis=1)
    return float(np.angle((along + 1j * across).sum()))


# --- Limits -------------------------------------------------------------------


def past_limits(armature: bpy.types.Object, bones: Sequence[str], seen: Watched) -> dict[str, Past]:
    """Return by how much each bone with IK limits or IK locks turns past them, in a pose on some frames."""
    by_plan = {}
    for name in bones:
        bone = armature.pose.bones[name]
        ranges = ik_ranges(bone)
        if ranges and bone.bone.use_inherit_rotation:
            turns = _turns(bone, seen)
            past = np.max([np.maximum(low - turns[:, i], turns[:, i] - high) for i, (low, high) in ranges], 0)
            worst = int(np.argmax(past))
            by_plan[name] = Past(float(past[worst]), seen.frames[worst])
    return by_plan


def _turns(bone: bpy.types.PoseBone, seen: Watched) -> Floats:
    """Return the turns (frames, 3) of a bone about its own axes, radians, as Blender's IK limits them.

    X and Z are those of the bone's direction, Y that about it.
    """
    axes = orientations(seen.poses[bone.name][:, :3, :3])
    rest = rest_matrix(bone.bone)[:3, :3]
    if bone.parent is not None:
        above = rest_matrix(bone.parent.bone)[:3, :3]
        rest = orientations(seen.poses[bone.parent.name][:, :3, :3]) @ (above.T @ rest)
    turn = np.swapaxes(rest, -1, -2) @ axes
    half = np.sqrt(np.maximum(2.0 * (1.0 + turn[:, 1, 1]), np.finfo(float).tiny))
    sines = np.stack((turn[:, 2, 1], -turn[:, 0, 1]), axis=1) / half[:, None]
    x, z = 2.0 * np.arcsin(sines.clip(-1.0, 1.0)).T
    y = 2.0 * np.arctan2(turn[:, 0, 2] - turn[:, 2, 0], 1.0 + np.trace(turn, axis1=1, axis2=2))
    return np.stack((x, y, z), axis=1)


# --- The pose -----------------------------------------------------------------


def _apart_or_why(
    armature: bpy.types.Object, bones: Sequence[str], before: Watched, after: Watched | IK2DError
) -> Apart | IK2DError:
    if isinstance(after, IK2DError):
        return after
    try:
        return _apart(armature, bones, before, after)
    except IK2DError as error:
        return error


def _apart(armature: bpy.types.Object, bones: Sequence[str], before: Watched, after: Watched) -> Apart:
    _refuse_collapsed(bones, before)
    angles = np.array([_angles(before.poses[bone], after.poses[bone]) for bone in bones])
    bone, row = np.unravel_index(int(np.argmax(angles)), angles.shape)
    joints = [
        (watch.world[:, None, :3, :3] @ watch.joints(armature, bones)[..., None])[..., 0]
        + watch.world[:, None, :3, 3]
        for watch in (before, after)
    ]
    distances = np.linalg.norm(joints[1] - joints[0], axis=2)  # (frames, n + 1)
    lengths = np.linalg.norm(np.diff(joints[0], axis=1), axis=2).sum(axis=1)
    tips, furthest = distances[:, -1], int(np.argmax(distances[:, -1]))
    return Apart(
        float(angles[bone, row]),
        bones[int(bone)],
        before.frames[int(row)],
        float(tips[furthest]),
        before.frames[furthest],
        float(distances.max()),
        distances.max(axis=1) / np.maximum(lengths, np.finfo(float).tiny),
    )


def _refuse_collapsed(bones: Sequence[str], watch: Watched) -> None:
    """Raise IK2DError for a bone that Blender's IK scales to nothing, as when its pole is its target."""
    for bone in bones:
        sizes = np.linalg.norm(watch.poses[bone][:, :3, :3], axis=1).min(axis=1)
        lost = np.flatnonzero(~(sizes > 0.0))
        if len(lost):
            raise refusal(
                "it leaves bone '{bone}' no orientation at frame {frame}",
                bone=bone,
                frame=watch.frames[lost[0]],
            )


def _angles(before: Floats, after: Floats) -> Floats:
    """Return the angles (frames,) between the orientations of matrices (frames, 4, 4), scaled or not."""
    one, other = (
        each[:, :3, :3] / np.linalg.norm(each[:, :3, :3], axis=1)[:, None] for each in (before, after)
    )
    turn = np.swapaxes(one, 1, 2) @ other
    across = np.stack(
        (turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0], turn[:, 1, 0] - turn[:, 0, 1]), axis=1
    )
    angles: Floats = np.arctan2(np.linalg.norm(across, axis=1), np.trace(turn, axis1=1, axis2=2) - 1.0)
    return angles
