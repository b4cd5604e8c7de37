# SPDX-License-Identifier: GPL-3.0-or-later
"""The pipeline, top to bottom: read chains, sample targets, solve, lift, key, play back, report."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from math import ceil
from typing import TypeVar

import bpy
import numpy as np

from ..core.affine import changed
from ..core.solution import CountedSteps, Steps, drained, mapped
from ..core.words import noted
from ..rig.animation import key_faults, keys
from ..rig.animation.kept.keeping import Replaced
from ..rig.animation.kept.marks import BAKE, SNAP
from ..rig.animation.times import animation_times, pace_of
from ..rig.chain.chain import RigChain
from ..rig.chain.hands import hands_remembered
from ..rig.chain.native_state import natives_muted
from ..rig.chain.order import by_armature, in_order
from ..rig.pose.keyed_pose import NeighborPoses, neighbor_poses
from ..rig.pose.rotations import single_axis_notes
from ..rig.pose.swings import eased_spins
from ..rig.pose.target_plane import facing_target
from ..rig.scene.between import sampled_between
from ..rig.scene.lengths.slide_locations import slides_remembered, without_slides
from ..rig.scene.lengths.stretch_scales import scales_remembered
from ..rig.scene.live_pause import live_paused
from ..rig.scene.missing_inputs import with_drivers_checked
from ..rig.scene.sampler import CURVES, STEP, Sampler, sample_steps
from ..rig.scene.samples import ChainSamples, solvable
from .arithmetic import turned_by_keys
from .cures.off_plane import advice_on
from .keys.clearing import release_hands, release_slides
from .keys.hand_keys import with_hands
from .keys.handles import THIRDS, Draft
from .keys.keying import KeyedChain, KeyPlan, as_given, key_chains, plan_keys, rotations_of, with_gaps
from .keys.posts import keyed_posts, on_posts, with_posts
from .motionless import stands_still
from .now import blended_pose
from .playback import VERIFY_ALL, VERIFY_NOTHING, VERIFY_SAMPLE, all_quarters, play_back
from .reporting.report import BakeReport
from .reporting.verdict import report_of
from .request import (
    BakeOptions,
    ReadChains,
    armatures_to_bake,
    baking_order,
    checked_options,
    frame_range,
    read_all,
    scene_of_all,
)
from .solving.angles import solved_angles
from .solving.frames import Asked, SolvedChain, solve_chains

_Result = TypeVar("_Result")


def bake(
    armature_object: bpy.types.Object | Iterable[bpy.types.Object],
    chains: Sequence[str] | None = None,
    frame_start: int | None = None,
    frame_end: int | None = None,
    step: int = 1,
    *,
    options: BakeOptions | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> BakeReport:
    """Key the rotations that bring each chain's tip to its target, frame by frame; return a report.

    armature_object: an armature with chains in `Object.ik2d`; or several, which are baked in the order in
    which they follow one another, and reported in the order given. chains: names; None takes all that
    are enabled. Of several armatures each takes the names that it has, and needs one. frame_start,
    frame_end: inclusive; None takes the scene's. step: frames from one key to the next. options: None
    takes those of BakeOptions(). progress(done, total) is called now and then. Replaces all keys of the
    chains' rotation channels from the first frame to the last; all else stays. Raises IK2DError for bad
    input. If it or `progress` raises, nothing has changed on any armature.
    """
    steps = bake_steps(armature_object, chains, frame_start, frame_end, step, options=options)
    with closing(steps):
        return drained(steps, None if progress is None else lambda done: progress(*done))


def bake_steps(
    armature_object: bpy.types.Object | Iterable[bpy.types.Object],
    chains: Sequence[str] | None = None,
    frame_start: int | None = None,
    frame_end: int | None = None,
    step: int = 1,
    *,
    options: BakeOptions | None = None,
    purpose: int = BAKE,
) -> CountedSteps[BakeReport]:
    """Bake in steps: yield (frames done, frames in all); return the BakeReport. Arguments as in `bake`.

    purpose: what the keys are for (rig/animation/kept/marks.py).

    Keys are written when all is solved, then played back. Live chains pause meanwhile, and the baked ones
    are no longer live; the constraints of native ones are muted. Closed before its end, it leaves
    everything as it was; but where the full scene has to be evaluated (BakeReport.full_scene),
    stepping through its frames discards changes to animated properties that were not keyed, as any
    change of the frame does.
    """
    armatures = armatures_to_bake(armature_object)
    with live_paused():
        report = yield from _bake_steps(armatures, chains, frame_start, frame_end, step, options, purpose)
    for armature, part in zip(armatures, report.by_armature, strict=True):
        _turn_live_off(armature, part)
    return report


@live_paused()
def key_as_by_hand(
    armature_object: bpy.types.Object, chains: Sequence[str] | None, frame_start: int, frame_end: int
) -> BakeReport:
    """Key the pose solved at full influence, with rotation keys that count as made by hand.

    The influence blends with them from then on, and Clear Bake leaves them alone. Live chains stay
    live. Arguments, result and errors as in `bake`.
    """
    options = BakeOptions(verify=VERIFY_ALL)
    return drained(_bake_steps([armature_object], chains, frame_start, frame_end, 1, options, SNAP))


def _turn_live_off(armature: bpy.types.Object, report: BakeReport) -> None:
    """Turn live off for the baked chains, known by their tips too: a script may have renamed them."""
    names, tips = zip(*((chain.name, chain.bones[-1]) for chain in report.chains), strict=True)
    for settings in armature.ik2d.chains:
        if settings.live and (settings.name in names or settings.enabled and settings.tip in tips):
            settings.live, settings.was_live = False, True


def _bake_steps(
    armatures: Sequence[bpy.types.Object],
    chains: Sequence[str] | None,
    frame_start: int | None,
    frame_end: int | None,
    step: int,
    options: BakeOptions | None,
    purpose: int,
) -> CountedSteps[BakeReport]:
    """Bake in steps without pausing live chains. purpose: SNAP's keys count as made by hand.

    Each armature is solved, keyed and played back before those that follow it. All keep their old keys
    until the last one is done.
    """
    options = checked_options(options)
    scene = scene_of_all(armatures)
    frames = frame_range(scene, frame_start, frame_end, step)
    asked = read_all(armatures, chains, frames, options)
    reports: dict[bpy.types.Object, BakeReport] = {}
    with ExitStack() as muted:
        for armature, (rigs, _) in asked.items():
            muted.enter_context(natives_muted(armature, [rig.name for rig in rigs], for_good=purpose != SNAP))
        with ExitStack() as undo:
            batches = baking_order(asked, frames, options)
            for number, batch in enumerate(batches):
                its = {armature: asked[armature] for armature in batch}
                with Sampler(scene, [rig for rigs, _ in its.values() for rig in rigs]) as sampler:
                    steps = _bake_rigs(sampler, its, frames, options, purpose, undo)
                    reports |= yield from _one_of(steps, number, len(batches))
        for rigs, _ in asked.values():
            release_slides(rigs)
            release_hands(rigs)
    # So that the keys show: our own scenes are gone, with Blender's copy of them for it.
    bpy.context.view_layer.update()
    return BakeReport.joined([reports[armature] for armature in armatures])


def _one_of(steps: CountedSteps[_Result], before: int, count: int) -> CountedSteps[_Result]:
    """Return the steps of one of several bakes of equal length, which yield the frames of all of them."""
    return mapped(steps, lambda told: (before * told[1] + told[0], count * told[1]))


def _bake_rigs(
    sampler: Sampler,
    asked: Mapping[bpy.types.Object, ReadChains],
    frames: list[int],
    options: BakeOptions,
    purpose: int,
    undo: ExitStack,
) -> CountedSteps[dict[bpy.types.Object, BakeReport]]:
    """Solve, key and play back chains of armatures on some frames; undo: restores them if anything fails."""
    scene, by_hand = sampler.scene, purpose == SNAP
    rigs = [rig for its, _ in asked.values() for rig in its]
    plan = plan_keys(scene, rigs, frames, options.reduce, options.on_target_keys)
    solved, full_scene, stepped = yield from solve_frames(rigs, scene, plan, options, by_hand, sampler)
    its_chains: dict[bpy.types.Object, list[KeyedChain]] = {armature: [] for armature in asked}
    for chain in solved:
        its_chains[chain.solved.rig.armature].append(chain)
    rotations = {armature: rotations_of(chains, by_hand) for armature, chains in its_chains.items()}
    times, warnings = pace_of(scene) * plan.frame_array, {}
    for armature, chains in its_chains.items():
        warnings[armature] = key_faults.check_writable(armature, rotations[armature], times)
        for chain in chains if options.single_axis else ():
            post = None if chain.post is None else chain.post.rotation
            warnings[armature] += single_axis_notes(chain.solved.rig, post)
    together = len(asked) > 1 and options.verify != VERIFY_NOTHING
    quarters = all_quarters(scene, solved, plan) if together else ()  # before they see the keys of others
    undo.enter_context(slides_remembered(rigs))
    undo.enter_context(hands_remembered(rigs))
    keepings, end = {}, (len(plan.times), len(plan.times))
    for armature, channels in rotations.items():
        keepings[armature] = undo.enter_context(keys.written(armature, times, channels, purpose))
        yield end
    undo.enter_context(scales_remembered([chain.solved.rig for chain in solved]))
    placed = {armature: keeping.placed for armature, keeping in keepings.items() if keeping is not None}
    checking = play_back(sampler, solved, plan, options.verify, placed, quarters)
    played = yield from _counted(checking, 0, 2 * len(plan.times))
    shown, reports = dict(zip(solved, played, strict=True)), {}
    for armature, chains in its_chains.items():
        reports[armature] = report_of(
            armature,
            scene,
            chains,
            plan,
            [shown[chain] for chain in chains],
            verb=noted("Snapped") if by_hand else noted("Baked"),
            verified=options.verify,
            full_scene=full_scene,
            stepped=stepped[armature],
            warnings=warnings[armature],
            left_out=asked[armature][1],
            replaced=keeping.replaced if (keeping := keepings[armature]) is not None else Replaced(),
            unmoved=[each.solved.rig.name for each in chains if not by_hand and stands_still(each.solved)],
            advice=advice_on(scene, [each.solved for each in chains], plan.frames),
        )
        yield end
    return reports


def solve_frames(
    rigs: Sequence[RigChain],
    scene: bpy.types.Scene,
    plan: KeyPlan,
    options: BakeOptions,
    fully: bool = False,
    sampler: Sampler | None = None,
) -> CountedSteps[tuple[list[KeyedChain], str, Mapping[bpy.types.Object, str]]]:
    """Solve all chains at all times of the plan, those that hang on others after these. Keys nothing.

    Each frame counts half when it is sampled, and half when it is solved. fully: at full influence.
    sampler: one to use for all rounds; None: one for each. Returns the chains in the order of `rigs`,
    why the full scene had to be sampled, and for each armature why it was stepped through; "" where it was
    not.
    """
    rounds = in_order(rigs)
    times = plan.times
    by_keys = options.verify == VERIFY_SAMPLE and bool(plan.half_way) and turned_by_keys(rigs)
    stages = len(rounds) + sum(any(rig.post_above for rig in ready) for ready in rounds)
    total, stage = 2 * len(times) * stages, 0
    solved: list[KeyedChain] = []
    full_scene, stepped = "", dict.fromkeys((rig.armature for rig in rigs), "")
    with ExitStack() as previews:
        for number, ready in enumerate(rounds):
            way = {"fully": fully, "single_axis": options.single_axis}
            posting = keyed_posts(scene, ready, plan, sampler, **way)
            posts = yield from _counted(posting, 2 * stage * len(times), total, 2.0)
            previews.enter_context(on_posts(scene, plan, posts))
            stage += bool(posts)
            before = 2 * stage * len(times)
            sampled = [*times, *plan.half_way]
            reading = sampled_between if by_keys and sampler else sample_steps
            steps = reading(sampler or scene, ready, times, plan.half_way)
            sampling = yield from _counted(steps, before, total, len(times) / len(sampled))
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
            chains = yield from _counted(solve_chains(asked), done, total, 1.0 / len(ready))
            keying = _keyed(scene, plan, options, asked, owns, chains, by_keys, sampler)
            new = with_posts((yield from _counted(keying, done, total)), posts)
            stage += 1
            yield stage * len(times), len(times) * stages
            solved += new
            if number < len(rounds) - 1:  # for the chains that hang on these
                paced = animation_times(scene, times)
                for armature in by_armature(ready):
                    channels = rotations_of([one for one in new if one.solved.rig.armature == armature])
                    previews.enter_context(keys.previewed(armature, paced, channels))
    return as_given(solved, rigs), full_scene, stepped


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


def _counted(steps: Steps[_Result], before: int, total: int, share: float = 1.0) -> CountedSteps[_Result]:
    """Return steps that yield (frames done, frames in all). before, total and share: in half frames."""
    most = 0

    def counted(done: int) -> tuple[int, int]:
        nonlocal most
        most = max(most, done)
        return (min(before + ceil(share * most), total) + 1) // 2, total // 2

    return mapped(steps, counted)
