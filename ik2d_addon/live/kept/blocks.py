# SPDX-License-Identifier: GPL-3.0-or-later
"""Many frames of live chains at once, by the bake's own stages, where F-Curves alone lead the chains."""

from collections.abc import Sequence

import bpy
import numpy as np

from ...bake.solving.frames import Asked, SolvedChain, solve_chains
from ...bake.solving.hands import hands_of
from ...bake.solving.stretching import as_solved
from ...core.affine import turned
from ...core.inputs import Floats
from ...core.solution import Steps
from ...rig.animation.bone_channels import BoneRotation
from ...rig.chain.chain import RigChain
from ...rig.pose.bone_matrices import bone_poses, rotations_of
from ...rig.pose.hand_rotations import own_turns_now
from ...rig.pose.keyed_pose import pose_of_hand_made
from ...rig.pose.rotations import bone_rotations
from ...rig.scene.lengths.slide_locations import slide_channels, without_slides
from ...rig.scene.lengths.stretch_scales import scale_channels, scales_back
from ...rig.scene.record import record_by_curves
from ...rig.scene.sampler import sampled
from ...rig.scene.samples import ChainSamples
from ..chain import LiveChain
from ..mechanism import LiveMechanism
from .machines import machine_rows
from .poses import Channel, KeptPoses


def solved_rows(scene: bpy.types.Scene, poses: KeptPoses, times: Sequence[float]) -> Steps[Floats | None]:
    """Return rows (frames, channels and looks) of an armature's chains at times, in steps; hands are NaN.

    None where more than F-Curves leads them. What goes on from frame to frame begins at the first of the
    times. Raises IK2DError where a chain cannot be solved.
    """
    machines = [chain.rig for chain in poses.chains if isinstance(chain, LiveMechanism)]
    rigs = [chain.solved_ahead for chain in poses.chains if isinstance(chain, LiveChain)]
    if machines:  # with chains, these are remembered as they were shown
        return None if rigs else (yield from machine_rows(scene, poses, machines, times))
    looks = poses.looks
    record = yield from record_by_curves(scene, rigs, looks.nodes, times)
    if record is None:
        return None
    samples = sampled(rigs, record, looks.nodes, times)
    asked = [_asked(scene, *each, times) for each in zip(rigs, samples, strict=True)]
    solved = yield from solve_chains(asked)
    values: dict[Channel, Floats] = {}
    tails: list[Floats] = []
    for one, chain in zip(asked, solved, strict=True):
        for channels in _channels_of(scene, chain, one.samples, times):
            for index in channels.unlocked(poses.armature):
                values[channels.bone, channels.property, index] = channels.values[:, index]
        tails += _tails(chain, one.samples)
    if not values.keys() >= set(poses.channels):
        return None
    numbers = {node: number for number, node in enumerate(looks.nodes)}
    rows = np.empty((len(times), len(poses.channels) + looks.width))
    parts = [values[channel][:, None] for channel in poses.channels]
    parts += [record.places[:, number] for number in range(len(looks.nodes))]
    for node in looks.turning:
        axes = record.aims[:, numbers[node]]
        parts += [axes[:, :, 0], axes[:, :, 1]]
    parts += [*tails, np.full((len(times), 6 * len(looks.hands)), np.nan)]
    parts += [np.broadcast_to(one.settings, (len(times), one.settings.shape[1])) for one in samples]
    first = 0
    for part in parts:
        rows[:, first : first + part.shape[1]] = part
        first += part.shape[1]
    return rows


def _asked(scene: bpy.types.Scene, rig: RigChain, samples: ChainSamples, times: Sequence[float]) -> Asked:
    samples = without_slides(scene, rig, samples, times, copies=False)
    other = pose_of_hand_made(scene, rig, times) if (samples.influence < 1.0).any() else None
    return Asked(rig, samples, times, other_pose=other)


def _channels_of(
    scene: bpy.types.Scene, chain: SolvedChain, samples: ChainSamples, times: Sequence[float]
) -> list[BoneRotation]:
    """Return all channels of a solved chain, as a bake would key them on each frame."""
    rig = chain.rig
    found: list[BoneRotation] = [
        *bone_rotations(rig, chain.turns, swings=chain.swings, aside=chain.aside),
        *slide_channels(rig, chain.locations),
        *scale_channels(rig, chain.factors),
        *scales_back(rig, keyed=False),
    ]
    if rig.hands is not None:
        found += hands_of(chain, samples, own_turns_now(scene, rig, times)).rotations
    return found


def _tails(chain: SolvedChain, samples: ChainSamples) -> list[Floats]:
    """Return the tails (frames, 3) in the world of a solved chain's bones, root to tip."""
    rig = chain.rig
    posed = as_solved(rig, samples, chain.factors, chain.locations)
    turns = rotations_of(rig, chain.turns, chain.swings, chain.aside)
    tails = []
    for bone, pose in zip(rig.pose_bones, bone_poses(rig, posed, turns), strict=True):
        tail = bone.bone.length * pose[:, :3, 1] + pose[:, :3, 3]
        tails.append(turned(samples.world[:, :3, :3], tail) + samples.world[:, :3, 3])
    return tails
