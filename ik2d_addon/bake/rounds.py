# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains solved at all times of a key plan, in rounds: those that hang on others after these."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from math import ceil
from typing import NamedTuple, TypeVar

import bpy
import numpy as np

from ..core.affine import changed
from ..core.solution import CountedSteps, Steps, drained, mapped
from ..rig.animation import keys
from ..rig.animation.times import animation_times
from ..rig.chain.chain import RigChain
from ..rig.chain.order import TurningBones, by_armature, in_order
from ..rig.mechanism.read import RigMechanism
from ..rig.pose.keyed_pose import NeighborPoses, neighbor_poses
from ..rig.pose.swings import eased_spins
from ..rig.pose.target_plane import facing_target
from ..rig.scene.between import sampled_between
from ..rig.scene.lengths.slide_locations import without_slides
from ..rig.scene.missing_inputs import with_drivers_checked
from ..rig.scene.sampler import CURVES, STEP, Sampler, sample_steps
from ..rig.scene.samples import ChainSamples, solvable
from .arithmetic import turned_by_keys
from .keys.hand_keys import with_hands
from .keys.handles import THIRDS, Draft
from .keys.keying import KeyedChain, KeyPlan, as_given, key_chains, rotations_of, with_gaps
from .keys.posts import keyed_posts, on_posts, with_posts
from .mechanisms.keying import KeyedMechanism, key_mechanism
from .now import blended_pose
from .playback import VERIFY_SAMPLE
from .request import BakeOptions
from .solving.angles import solved_angles
from .solving.frames import Asked, SolvedChain, solve_chains

_Result = TypeVar("_Result")


class SolvedRounds(NamedTuple):
    """Chains that were solved, and mechanisms, with their keys."""

    chains: list[KeyedChain]  # in the order in which they were given
    full_scene: str  # why the full scene had to be sampled; "" where it had not
    stepped: Mapping[bpy.types.Object, str]  # why each armature was stepped through; "" where it was not
    machines: list[KeyedMechanism]


def solve_frames(
    rigs: Sequence[RigChain],
    scene: bpy.types.Scene,
    plan: KeyPlan,
    options: BakeOptions,
    fully: bool = False,
    sampler: Sampler | None = None,
    machines: Sequence[RigMechanism] = (),
    frames: Sequence[int] = (),
) -> CountedSteps[SolvedRounds]:
    """Solve all chains at all times of the plan, those that hang on others after these. Keys nothing.

    Each frame counts half when it is sampled, and half when it is solved. fully: at full influence.
    sampler: one to use for all rounds; None: one for each. machines: mechanisms to solve in the same rounds;
    frames: those that they are keyed on.
    """
    items: list[TurningBones] = [*rigs, *machines]
    rounds = in_order(items)
    times = plan.times
    by_keys = options.verify == VERIFY_SAMPLE and bool(plan.half_way) and turned_by_keys(rigs)
    stages = len(rounds) + sum(any(rig.post_above for rig in its) for its in rounds)
    total, stage = 2 * len(times) * stages, 0
    solved: list[KeyedChain] = []
    keyed: list[KeyedMechanism] = []
    full_scene, stepped = "", dict.fromkeys((rig.armature for rig in rigs), "")
    with ExitStack() as previews:
        for number, its in enumerate(rounds):
            for machine in its:
                if isinstance(machine, RigMechanism):
                    keyed.append(key_mechanism(scene, machine, frames, options))
                    if number < len(rounds) - 1:
                        paced, posed = animation_times(scene, frames), keyed[-1].rotations
                        previews.enter_context(keys.previewed(machine.armature, paced, posed))
            ready = [rig for rig in its if isinstance(rig, RigChain)]
            if not ready:
                stage += 1
                yield stage * len(times), len(times) * stages
                continue
            way = {"fully": fully, "single_axis": options.single_axis}
            posting = keyed_posts(scene, ready, plan, sampler, **way)
            posts = yield from counted(posting, 2 * stage * len(times), total, 2.0)
            previews.enter_context(on_posts(scene, plan, posts))
            stage += bool(posts)
            before = 2 * stage * len(times)
            sampled = [*times, *plan.half_way]
            reading = sampled_between if by_keys and sampler else sample_steps
            steps = reading(sampler or scene, ready, times, plan.half_way)
            sampling = yield from counted(steps, before, total, len(times) / len(sampled))
            ready = with_drivers_checked(ready, options.force)
            full_scene = full_scene or sampling.full_scene
            stepped |= {armature: stepped[armature] or why for armature, why in sampling.stepped.items()}
            rigs_there = list(map(facing_target, ready, sampling.chains))
            neighbors = neighbor_poses(scene, rigs_there, times[0], times[-1])
            owns = [
                without_slides(scene, *one, sampled) for one in zip(rigs_there, sampling.chains, strict=True)
            ]
            if fully:
                owns = [pose.with_settings(influence=1.0) for pose in owns]
            beyond = _beyond(scene, sampler or scene, rigs_there, neighbors)
            asked = []
            for rig, pose, join in zip(rigs_there, owns, neighbors, strict=True):
                samples, there = pose.at(slice(len(times))), beyond.get(rig)
                other_pose = blended_pose(scene, rig, samples, times)
                spins = eased_spins(rig, samples, times) if options.ease_flips else None
                asked.append(Asked(rig, samples, times, join, there, other_pose, spins=spins))
            done = before + len(times)
            chains = yield from counted(solve_chains(asked), done, total, 1.0 / len(ready))
            keying = _keyed(scene, plan, options, asked, owns, chains, by_keys, sampler)
            new = with_posts((yield from counted(keying, done, total)), posts)
            stage += 1
            yield stage * len(times), len(times) * stages
            solved += new
            if number < len(rounds) - 1:  # for the chains that hang on these
                paced = animation_times(scene, times)
                for armature in by_armature(ready):
                    channels = rotations_of([one for one in new if one.solved.rig.armature == armature])
                    previews.enter_context(keys.previewed(armature, paced, channels))
    return SolvedRounds(as_given(solved, rigs), full_scene, stepped, keyed)


def _keyed(
    scene: bpy.types.Scene,
    plan: KeyPlan,
    options: BakeOptions,
    asked: Sequence[Asked],
    owns: Sequence[ChainSamples],
    chains: Sequence[SolvedChain],
    by_keys: bool,
    sampler: Sampler | None,
) -> Steps[list[KeyedChain]]:
    """Turn solved chains into keys; yield the number of times done now and then.

    owns: samples at the plan's times, and half-way between. by_keys: whether keys alone turn bones.
    sampler: that of the chains.
    """
    frames, drafts = len(plan.times), []
    known = slice(frames + len(plan.half_way))
    for one, own, chain in zip(asked, owns, chains, strict=True):
        half_way = own.at(slice(frames, known.stop)) if plan.half_way else None
        last = one.neighbors.before.channels if one.neighbors.before else None
        drafts.append(Draft.of(chain, one.samples, half_way, options.single_axis, last))
        yield frames
    drafts = yield from mapped(with_gaps(drafts), lambda _: frames)
    thirds = _at_thirds(scene, plan, drafts, sampler) if sampler is not None else [None] * len(drafts)
    keyed, whole_chains = (yield from key_chains(plan, drafts, options.single_axis, thirds)), []
    for draft, own, alone in zip(drafts, owns, keyed, strict=True):
        whole = with_hands(scene, plan, alone, draft.samples, draft.half_way)
        angles = solved_angles(draft.chain, draft.samples)
        own = own.at(known)
        samples = changed(own, poses=None, tips=own.targets) if by_keys else None  # spare the memory
        whole_chains.append(changed(whole, angles=angles, samples=samples))
    return whole_chains


def _at_thirds(
    scene: bpy.types.Scene, plan: KeyPlan, drafts: Sequence[Draft], sampler: Sampler
) -> list[ChainSamples | None]:
    """Return samples of each chain at the thirds of the gaps between frames where it needs handles.

    None of a chain that stretches, or that has no numbers there.
    """
    wanting = [draft for draft in drafts if len(draft.gaps) and draft.chain.factors is None]
    if not wanting:
        return [None] * len(drafts)
    gaps = np.unique(np.concatenate([draft.gaps for draft in wanting]))
    starts, parts = plan.frame_array[gaps], np.array(THIRDS)
    times = (starts[:, None] + np.diff(plan.frame_array)[gaps, None] * parts).ravel().tolist()
    rigs = [draft.chain.rig for draft in wanting]
    thirds: dict[Draft, ChainSamples] = {}
    steps = sample_steps(sampler, rigs, times, checked=False, way=_few(sampler))
    for draft, samples in zip(wanting, drained(steps).chains, strict=True):
        rows = np.searchsorted(gaps, draft.gaps)
        own = without_slides(scene, draft.chain.rig, samples, times)
        own = own.at(np.stack((2 * rows, 2 * rows + 1), axis=1).ravel().tolist())
        if solvable(draft.chain.rig, own).all():
            thirds[draft] = own
    return [thirds.get(draft) for draft in drafts]


def _beyond(
    scene: bpy.types.Scene,
    sampler: bpy.types.Scene | Sampler,
    rigs: Sequence[RigChain],
    neighbors: Sequence[NeighborPoses],
) -> dict[RigChain, ChainSamples]:
    """Return samples at the frame of the keys after the times, of each chain with memory that joins them."""
    joining: dict[float, list[RigChain]] = {}
    for rig, join in zip(rigs, neighbors, strict=True):
        if rig.goes_on and join.after is not None:
            joining.setdefault(join.after.frame, []).append(rig)
    found: dict[RigChain, ChainSamples] = {}
    for time, its in joining.items():
        sampling = drained(sample_steps(sampler, its, [time], checked=False, way=_few(sampler)))
        found |= {
            rig: without_slides(scene, rig, own, [time])
            for rig, own in zip(its, sampling.chains, strict=True)
        }
    return found


def _few(sampler: bpy.types.Scene | Sampler) -> str:
    """Return the way to sample a few times."""
    return CURVES if isinstance(sampler, Sampler) and sampler.by_curves else STEP


def counted(steps: Steps[_Result], before: int, total: int, share: float = 1.0) -> CountedSteps[_Result]:
    """Return steps that yield (frames done, frames in all). before, total and share: in half frames."""
    most = 0

    def so_far(done: int) -> tuple[int, int]:
        nonlocal most
        most = max(most, done)
        return (min(before + ceil(share * most), total) + 1) // 2, total // 2

    return mapped(steps, so_far)


def part_of(steps: CountedSteps[_Result], before: int, count: int, total: int) -> CountedSteps[_Result]:
    """Return the steps of one of several bakes of some frames each, which yield the frames of all of them."""
    most = before

    def so_far(told: tuple[int, int]) -> tuple[int, int]:
        nonlocal most
        most = max(most, before + count * told[0] // max(1, told[1]))
        return most, total

    return mapped(steps, so_far)


def one_of(steps: CountedSteps[_Result], before: int, count: int) -> CountedSteps[_Result]:
    """Return the steps of one of several bakes of equal length, which yield the frames of all of them."""
    return mapped(steps, lambda told: (before * told[1] + told[0], count * told[1]))
