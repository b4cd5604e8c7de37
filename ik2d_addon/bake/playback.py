# SPDX-License-Identifier: GPL-3.0-or-later
"""Play a bake back in Blender and measure where the tips really are."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core import IK2DError
from ..core.affine import are_finite, crossed, norms, product, unrepeated
from ..core.inputs import Floats
from ..core.words import say
from ..rig.chain.chain import RigChain
from ..rig.pose.joint_angles import angles_from_rest
from ..rig.pose.kinematics import rest_to_pose
from ..rig.pose.swings import aimed_as_far, swung
from ..rig.scene.samples import ChainSamples
from .keys.keying import KeyedChain, KeyPlan

VERIFY_SAMPLE, VERIFY_ALL, VERIFY_NOTHING = 'SAMPLE', 'ALL', 'NONE'
# How many frames a sample of a bake plays where all have keys: on frames, and half-way between two.
ON_FRAMES, BETWEEN_FRAMES = 26, 26
# So many times are measured at once, for the memory.
_BLOCK = 1 << 16
# Frames where a joint turns this many times as fast as on any of these are played too.
_PEAK = 2.0


@dataclass(frozen=True, eq=False)
class Played:
    """A chain's misses when its bake was played back. Lengths are the world's."""

    times: Floats  # (m,) the frames, and the times between them, that were played, in order
    distance: Floats  # (m,) tip to target
    in_plane: Floats  # (m,) the part of it in the chain's plane
    off_plane: Floats  # (m,) the part of it along the plane's normal
    # Error of the hands' orientation in radians (m,): against the wanted one, and against the keyed one.
    # NaN if unknown, None without hands.
    hands_off: Floats | None = None
    hands_moved: Floats | None = None
    angles: Floats | None = None  # (m, n) the bones' turns in the plane, as in `angles_from_rest`


NOT_PLAYED = Played(np.empty(0), np.empty(0), np.empty(0), np.empty(0))


def played(chain: KeyedChain, samples: ChainSamples, times: Floats, solved: Floats) -> Played:
    """Return the played-back misses of a chain at the times of its samples.

    solved: the times that it was solved at. Raises IK2DError where a tip has no finite place, and there a
    target or the armature.
    """
    rig = chain.solved.rig
    # Between two frames a target, or the armature, may have no finite place.
    known = are_finite(samples.targets) & are_finite(samples.world)
    lost = known & ~are_finite(samples.tips)
    if lost.any():
        at = times[int(np.argmax(lost))]
        raise IK2DError(
            say(
                "Chain '{chain}': played back, its tip has no finite place at frame {time:g}; mend or mute "
                "the constraints and drivers on its bones",
                chain=rig.name,
                time=at,
            )
        )
    if not known.all() and (lost := ~known & np.isin(times, solved)).any():
        at = times[int(np.argmax(lost))]
        raise IK2DError(
            say(
                "Chain '{chain}': played back, its target or its armature has no finite place at frame "
                "{time:g}; mend or mute the constraints and drivers on these",
                chain=rig.name,
                time=at,
            )
        )
    if not known.all():
        samples, times = samples.at(np.flatnonzero(known)), times[known]
    samples = aimed_as_far(rig, swung(rig, samples))
    if len(times) <= _BLOCK:
        distance, in_plane, off_plane = _missed(rig, samples)
    else:
        blocks = (samples.at(slice(first, first + _BLOCK)) for first in range(0, len(times), _BLOCK))
        parts = zip(*(_missed(rig, block) for block in blocks), strict=True)
        distance, in_plane, off_plane = map(np.concatenate, parts)
    off, moved = None, None
    if chain.hands is not None and samples.hands is not None:
        off, moved = chain.hands.off(times, samples.hands)
    poses = samples.poses
    angles = None if poses is None else angles_from_rest(rig, samples, np.moveaxis(poses, 1, 0))
    return Played(times, distance, in_plane, off_plane, off, moved, angles)


def _missed(rig: RigChain, samples: ChainSamples) -> tuple[Floats, Floats, Floats]:
    """Return the distances (m,) of tips from targets: in all, in the chain's plane, and off it."""
    missed = samples.targets - samples.tips
    to_world = unrepeated(product(samples.world, rest_to_pose(rig, samples)))[:, :3, :3]
    normals = crossed(to_world @ rig.plane.x, to_world @ rig.plane.y)
    # A rig may also be scaled to nothing there, and have no plane.
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.finfo(float).tiny)
    heights = (missed * normals).sum(axis=1)
    return norms(missed), norms(missed - heights[:, None] * normals), np.abs(heights)


def times_to_play(chains: Sequence[KeyedChain], plan: KeyPlan, verify: str) -> Floats:
    """Return the times to play, ascending, as simulations need them."""
    frames = plan.frame_array
    half_way = (frames[:-1] + frames[1:]) / 2.0
    if verify == VERIFY_ALL or plan.own:  # between keys, nothing was solved
        return np.sort(np.concatenate((frames, half_way)))
    spread = _spread(len(frames), ON_FRAMES)
    on_frames = set(spread.tolist())
    between = set(_spread(len(half_way), BETWEEN_FRAMES).tolist())
    for chain in chains:
        solved = plan.reported(chain.solved)
        speed = solved.joint_speed
        if speed.max() > _PEAK * speed[spread].max():  # a smooth one is fast on frames of the spread, too
            on_frames.add(int(np.argmax(speed)))
        if solved.distance.max() > solved.tolerance:  # else rounding decides which frame is worst
            on_frames.add(int(np.argmax(solved.distance)))
        between |= set(chain.doubtful.tolist())
    return np.sort(np.concatenate((frames[sorted(on_frames)], half_way[sorted(between)])))


def _spread(count: int, wanted: int) -> NDArray[np.intp]:
    """Return at most `wanted` indices below `count`, evenly spread, with the first and the last."""
    if count == 0:
        return np.empty(0, np.intp)
    return np.unique(np.linspace(0, count - 1, min(wanted, count)).round().astype(np.intp))
