# SPDX-License-Identifier: GPL-3.0-or-later
"""The solve of one frame: as a bake of the range would pose the chains there; keys nothing."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

import bpy
import numpy as np

from ..core import IK2DError
from ..core.solution import drained
from ..core.words import noted
from ..rig.animation.bone_channels import posed
from ..rig.chain.chain import RigChain
from ..rig.chain.hands import hands_remembered
from ..rig.chain.order import TurningBones, in_order
from ..rig.mechanism.now import MechanismNow
from ..rig.mechanism.read import RigMechanism
from ..rig.pose.hand_rotations import own_turns
from ..rig.pose.keyed_pose import NeighborPoses, OwnPose, keyed_pose_now, neighbor_poses, pose_without_chain
from ..rig.pose.rotations import bone_rotations
from ..rig.pose.target_plane import facing_target
from ..rig.scene.lengths.slide_locations import slide_channels, slides_remembered, without_slides
from ..rig.scene.lengths.stretch_scales import scale_channels, scales_back, scales_remembered
from ..rig.scene.live_pause import live_paused
from ..rig.scene.missing_inputs import with_drivers_checked
from ..rig.scene.sampler import sample_alone, sample_now
from ..rig.scene.samples import ChainSamples
from .asked import Names, read_all
from .cures.off_plane import advice_on
from .keys.keying import KeyedChain, KeyPlan, as_given, plan_keys, rotations_of
from .keys.posts import posts_now, with_posts
from .mechanisms.now import mechanism_now, reports_now
from .playback import VERIFY_ALL, Played, played
from .reporting.report import BakeReport
from .reporting.verdict import report_of
from .request import BakeOptions, chosen_options, chosen_range, frame_range, scene_of
from .solving.angles import relative_turns
from .solving.frames import SolvedChain, solve_chain
from .solving.hands import KeyedHands, hands_of


@live_paused()
def solve(
    armature_object: bpy.types.Object,
    chains: Sequence[str] | None = None,
    *,
    fully: bool = False,
    mechanisms: Sequence[str] | None = None,
) -> BakeReport:
    """Pose each chain so that its tip is on its target at the current frame, and mechanisms; key nothing.

    It is the pose that a bake of the sidebar's range would key there, with the target where it is now:
    a chain with memory is followed from the range's first frame on. Outside the range, on a chain that
    hangs on others or on a post, and where the whole scene would have to be stepped through, it starts
    from the current pose instead. fully: at full influence. Arguments, result and errors as in `bake`.
    """
    scene = scene_of(armature_object)
    now, wanted = scene.frame_float, Names.of(chains, mechanisms)
    read = read_all([armature_object], wanted, [scene.frame_current], BakeOptions())[armature_object]
    rigs, items = read.rigs, list[TurningBones]([*read.rigs, *read.machines])
    plan = KeyPlan.every([int(now) if now.is_integer() else now])
    solved: list[KeyedChain] = []
    moved: list[MechanismNow] = []
    with ExitStack() as poses:
        for number, its in enumerate(in_order(items)):
            for machine in its:
                if isinstance(machine, RigMechanism):
                    moved.append(mechanism_now(scene, machine))
                    poses.enter_context(posed(armature_object, moved[-1].rotations()))
            ready = [rig for rig in its if isinstance(rig, RigChain)]
            if not ready:
                continue
            posts = posts_now(scene, ready, fully=fully)
            if posts:
                poses.enter_context(posed(armature_object, [post.full for post in posts]))
            sampling = sample_now(scene, ready)
            ready = with_drivers_checked(ready)
            found = [
                _solved_now(scene, facing_target(rig, samples), samples, alone=number == 0, fully=fully)
                for rig, samples in zip(ready, sampling.chains, strict=True)
            ]
            turned = [
                posed_chain(scene, chain, samples.with_settings(influence=1.0) if fully else samples, [now])
                for chain, samples in zip(found, sampling.chains, strict=True)
            ]
            new = with_posts(turned, posts)
            poses.enter_context(slides_remembered([chain.rig for chain in found]))
            poses.enter_context(hands_remembered([chain.rig for chain in found]))
            poses.enter_context(posed(armature_object, rotations_of(new)))  # what hangs on them sees it
            scales = [scale for chain in new for scale in chain.scales]
            poses.enter_context(scales_remembered(ready, scales))
            solved += new
        solved = as_given(solved, rigs)
        shown = _look_now(scene, solved) if solved else []
        machines = reports_now(scene, moved)
    return report_of(
        armature_object,
        scene,
        solved,
        plan,
        shown,
        verb=noted("Posed"),
        verified=VERIFY_ALL,
        left_out=read.faults,
        advice=advice_on(scene, [chain.solved for chain in solved], plan.frames),
        mechanisms=machines,
    )


def posed_chain(
    scene: bpy.types.Scene, chain: SolvedChain, samples: ChainSamples, at: Sequence[float]
) -> KeyedChain:
    """Return the keyed chain that poses a solved one at its times: rotations, slides, scales and hands."""
    turned = bone_rotations(chain.rig, chain.turns, swings=chain.swings, aside=chain.aside)
    rotations = [*turned, *slide_channels(chain.rig, chain.locations)]
    scales = (*scale_channels(chain.rig, chain.factors), *scales_back(chain.rig))
    hands = None
    if chain.rig.hands is not None:
        times = np.array(at, np.float64)
        turned_hands = hands_of(chain, samples, own_turns(scene, chain.rig, times.tolist()))
        hands = KeyedHands(turned_hands.rotations, turned_hands, times, np.ones(len(times), bool))
    return KeyedChain(chain, rotations, scales, hands, relative_turns(chain))


def _solved_now(
    scene: bpy.types.Scene, rig: RigChain, now: ChainSamples, *, alone: bool, fully: bool
) -> SolvedChain:
    """Return the chain solved for the current frame, as a bake of the range would solve it.

    alone: whether it hangs on no other chain. fully: at full influence.
    """
    frame = scene.frame_float
    is_alone = alone and rig.post_above is None
    way = _way_to(scene, rig, now) if rig.has_memory and is_alone else None
    samples, times, neighbors, beyond = way or (now, [frame], poses_around(scene, rig, [frame]), None)
    solved = solve_samples(scene, rig, samples, times, neighbors, beyond, fully=fully)
    # Without notes on how the range joins the keys around it: nothing is keyed.
    return replace(solved.at([times.index(frame)]), rig=rig)


def solve_samples(
    scene: bpy.types.Scene,
    rig: RigChain,
    samples: ChainSamples,
    times: Sequence[float],
    neighbors: NeighborPoses,
    beyond: ChainSamples | None = None,
    *,
    fully: bool,
) -> SolvedChain:
    """Return the chain solved at sampled times, without its own slides in the samples.

    neighbors, beyond: as in `solve_chain`. fully: at full influence.
    """
    samples = without_slides(scene, rig, samples, times)
    if fully:
        samples = samples.with_settings(influence=1.0)
    other_pose = blended_pose(scene, rig, samples, times)
    return drained(solve_chain(rig, samples, times, neighbors, beyond, other_pose))


def poses_around(scene: bpy.types.Scene, rig: RigChain, times: Sequence[float]) -> NeighborPoses:
    """Return the neighbor poses of a chain with memory: the keys around the times; of one time, the pose."""
    if not rig.has_memory:
        return NeighborPoses()
    if len(times) == 1:
        return NeighborPoses(keyed_pose_now(scene, rig))
    return neighbor_poses(scene, [rig], times[0], times[-1])[0]


def blended_pose(
    scene: bpy.types.Scene, rig: RigChain, samples: ChainSamples, times: Sequence[float]
) -> OwnPose | None:
    """Return the pose that an influence below 1 blends with; None where it is 1."""
    return pose_without_chain(scene, rig, times) if (samples.influence < 1.0).any() else None


def _way_to(
    scene: bpy.types.Scene, rig: RigChain, now: ChainSamples
) -> tuple[ChainSamples, list[float], NeighborPoses, ChainSamples | None] | None:
    """Return the samples, times and neighbor poses by which a bake of the range reaches the current frame.

    None where the frame is outside the range, or the whole scene would have to be stepped through.
    """
    frame, options = scene.frame_float, chosen_options(rig.armature.ik2d)
    first, last, step = chosen_range(rig.armature, scene)
    if not first <= frame <= last:
        return None
    frames = frame_range(scene, first, last, step)
    try:
        plan = plan_keys(scene, [rig], frames, options.reduce, options.on_target_keys)
    except IK2DError:  # a target without keys is no hindrance here
        plan = KeyPlan.every(frames)
    (neighbors,) = neighbor_poses(scene, [rig], frames[0], frames[-1])
    others = [time for time in plan.times if (time < frame or neighbors.after) and time != frame]
    extra = [neighbors.after.frame] if neighbors.after else []
    if not others:
        return now, [frame], neighbors, None
    sampling = sample_alone(scene, [rig], others, extra)
    if sampling is None:
        return None
    (samples,) = sampling.chains
    row = int(np.searchsorted(others, frame))
    parts = [samples.at(slice(row)), now, samples.at(slice(row, len(others)))]
    beyond = without_slides(scene, rig, samples.at([len(others)]), extra) if extra else None
    return ChainSamples.joined(parts), [*others[:row], frame, *others[row:]], neighbors, beyond


def _look_now(scene: bpy.types.Scene, chains: Sequence[KeyedChain]) -> list[Played]:
    """Measure how far each tip is from its target in the current pose."""
    rigs = [chain.solved.rig for chain in chains]
    now = np.array([scene.frame_float])
    sampling = sample_now(scene, rigs)
    return [played(chain, samples, now, now) for chain, samples in zip(chains, sampling.chains, strict=True)]
