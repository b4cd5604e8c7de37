# SPDX-License-Identifier: GPL-3.0-or-later
"""The pipeline, top to bottom: read chains, sample targets, solve, lift, key, play back, report."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager

import bpy

from ..core.solution import CountedSteps, drained
from ..core.words import noted
from ..rig.animation import key_faults, keys, versions
from ..rig.animation.kept.keeping import Replaced
from ..rig.animation.kept.marks import BAKE, SNAP
from ..rig.animation.times import pace_of
from ..rig.chain.hands import hands_remembered
from ..rig.chain.native_state import natives_muted
from ..rig.pose.rotations import single_axis_notes
from ..rig.scene.lengths.slide_locations import slides_remembered
from ..rig.scene.lengths.stretch_scales import scales_remembered
from ..rig.scene.live_pause import live_paused
from ..rig.scene.sampler import Sampler
from .actions.arguments import INTO_THIS
from .actions.copies import Copies
from .actions.loops import with_closed_loops, with_closed_machines
from .actions.planning import ActionsAsked, clips_of
from .actions.results import BakedClip, finish
from .actions.stage import Stage
from .asked import Names, ReadChains, baking_order, read_all, read_of, refuse_other_modes
from .cures.off_plane import advice_on
from .keys.clearing import left_bones, released
from .keys.keying import KeyedChain, plan_keys, rotations_of
from .keys.left import note_baked, told_left
from .mechanisms.playing import reports_of
from .motionless import stands_still
from .playback import VERIFY_ALL, VERIFY_NOTHING, all_quarters, play_back
from .reporting.report import BakeReport
from .reporting.verdict import report_of
from .request import BakeOptions, armatures_to_bake, checked_options, frame_range, scene_of_all
from .rounds import counted, one_of, part_of, solve_frames


def bake(
    armature_object: bpy.types.Object | Iterable[bpy.types.Object],
    chains: Sequence[str] | None = None,
    frame_start: int | None = None,
    frame_end: int | None = None,
    step: int = 1,
    *,
    options: BakeOptions | None = None,
    progress: Callable[[int, int], None] | None = None,
    actions: str | Sequence[str] | None = None,
    pairs: Mapping[str, str | Sequence[str]] | None = None,
    mechanisms: Sequence[str] | None = None,
) -> BakeReport:
    """Key the rotations that bring each chain's tip to its target, frame by frame; return a report.

    armature_object: an armature with chains in `Object.ik2d`; or several, which are baked in the order in
    which they follow one another, and reported in the order given. chains: names; None takes all that
    are enabled. Of several armatures each takes the names that it has, and needs one. frame_start,
    frame_end: inclusive; None takes the scene's. step: frames from one key to the next. options: None
    takes those of BakeOptions(). progress(done, total) is called now and then. Replaces all keys of the
    chains' rotation channels from the first frame to the last; all else stays. Raises IK2DError for bad
    input. If it or `progress` raises, nothing has changed on any armature.

    mechanisms: names; None takes all that are enabled, or none where chains are named. With names, only
    chains that are named are baked too.

    actions: names, or 'ALL' for each action that animates the armatures or what their chains follow; None
    for those that are assigned. Each is assigned for its turn, with the actions of its targets, on its own
    frames, which frame_start and frame_end cut; then all is assigned as before. pairs: an action's name with
    that, or those, of its targets, where no slot, NLA strip or name ("Walk targets") tells.
    """
    steps = bake_steps(
        armature_object,
        chains,
        frame_start,
        frame_end,
        step,
        options=options,
        actions=actions,
        pairs=pairs,
        mechanisms=mechanisms,
    )
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
    actions: str | Sequence[str] | None = None,
    pairs: Mapping[str, str | Sequence[str]] | None = None,
    mechanisms: Sequence[str] | None = None,
) -> CountedSteps[BakeReport]:
    """Bake in steps: yield (frames done, frames in all); return the BakeReport. Arguments as in `bake`.

    purpose: what the keys are for (rig/animation/kept/marks.py).

    Keys are written when all is solved, then played back. Live chains pause meanwhile, and the baked ones
    are no longer live, unless the keys went to new actions that are not assigned; the constraints of native
    ones are muted. Closed before its end, it leaves everything as it was; but where the full scene has to be
    evaluated (BakeReport.full_scene), stepping through its frames discards changes to animated properties
    that were not keyed, as any change of the frame does.
    """
    armatures, options = armatures_to_bake(armature_object), checked_options(options)
    wanted = Names.of(chains, mechanisms)
    asked = ActionsAsked.of(actions, pairs, (frame_start, frame_end), step, options.into)
    with live_paused():
        if asked is None:
            steps = _bake_steps(armatures, wanted, frame_start, frame_end, step, options, purpose)
        else:
            steps = _bake_clips(armatures, wanted, asked, options, purpose)
        report = yield from steps
    for armature, part in zip(armatures, report.by_armature, strict=True):
        if options.into == INTO_THIS or _plays_one_of(armature, part):
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
    names = Names(chains, [])
    return drained(_bake_steps([armature_object], names, frame_start, frame_end, 1, options, SNAP))


def _plays_one_of(armature: bpy.types.Object, report: BakeReport) -> bool:
    """Return whether an armature plays an action that holds keys of a bake of it."""
    action = versions.played_action(armature)
    return action is not None and action.name in {one.action for one in report.by_action}


def _turn_live_off(armature: bpy.types.Object, report: BakeReport) -> None:
    """Turn live off for the baked chains and mechanisms; chains are known by their tips too.

    A script may have renamed them.
    """
    names, tips = {chain.name for chain in report.chains}, {chain.bones[-1] for chain in report.chains}
    for settings in armature.ik2d.chains:
        if settings.live and (settings.name in names or settings.enabled and settings.tip in tips):
            settings.live, settings.was_live = False, True
    machines = {machine.name for machine in report.mechanisms}
    for settings in armature.ik2d.mechanisms:
        if settings.live and settings.name in machines:
            settings.live, settings.was_live = False, True


def _bake_steps(
    armatures: Sequence[bpy.types.Object],
    wanted: Names,
    frame_start: int | None,
    frame_end: int | None,
    step: int,
    options: BakeOptions,
    purpose: int,
) -> CountedSteps[BakeReport]:
    """Bake in steps without pausing live chains. purpose: SNAP's keys count as made by hand.

    Each armature is solved, keyed and played back before those that follow it. All keep their old keys
    until the last one is done.
    """
    scene = scene_of_all(armatures)
    frames = frame_range(scene, frame_start, frame_end, step)
    asked = read_all(armatures, wanted, frames, options)
    with _muted(asked, purpose), ExitStack() as undo:
        reports = yield from _bake_batches(scene, asked, frames, options, purpose, undo)
    # So that the keys show: our own scenes are gone, with Blender's copy of them for it.
    bpy.context.view_layer.update()
    return BakeReport.joined([reports[armature] for armature in armatures])


def _bake_clips(
    armatures: Sequence[bpy.types.Object],
    names: Names,
    wanted: ActionsAsked,
    options: BakeOptions,
    purpose: int,
) -> CountedSteps[BakeReport]:
    """Bake clips one after the other, each with its actions assigned; all are put back if one fails."""
    scene = scene_of_all(armatures, play_others=wanted.actions is not None)
    frame_range(scene, *wanted.limits(scene), wanted.step)  # which refuses frames that cannot be
    read = read_all(armatures, names, [scene.frame_current], options)
    refuse_other_modes(read.values(), options)
    clips = clips_of(scene, {armature: its.all for armature, its in read.items()}, wanted)
    copies, asked = Copies(), []
    baked: list[BakedClip] = []
    with ExitStack() as left:
        staged = left.enter_context(copies.made(clips, options.into))
        stage = Stage([*clips, *staged], wanted.actions is not None, not options.single_axis)
        left.enter_context(stage)
        for clip in staged:
            stage.show(clip)
            frames = frame_range(scene, *clip.frames, wanted.step)
            asked.append((clip, frames, _read_again(read, clip.baked, names, frames, options)))
        done, total = 0, sum(len(frames) for _, frames, _ in asked)
        with ExitStack() as undo:
            for clip, frames, its in asked:
                undo.enter_context(_muted(its, purpose))
                undo.enter_context(stage.showing(clip, _changing_bones(its)))
                steps = _bake_batches(scene, its, frames, options, purpose, undo, clip.is_cyclic)
                reports = yield from part_of(steps, done, len(frames), total)
                baked.append(BakedClip.now(clips[len(baked)], reports))
                done += len(frames)
    return finish(armatures, baked, copies, wanted, options.assign_baked)


def _read_again(
    read: Mapping[bpy.types.Object, ReadChains],
    armatures: Iterable[bpy.types.Object],
    names: Names,
    frames: Sequence[int],
    options: BakeOptions,
) -> dict[bpy.types.Object, ReadChains]:
    """Read chains and mechanisms of armatures that were read before, now that these play other actions."""
    asked = {}
    for armature in armatures:
        its = names.chains and [rig.name for rig in read[armature].rigs]
        asked[armature] = read_of(armature, names._replace(chains=its), frames, options)
    return asked


def _changing_bones(asked: Mapping[bpy.types.Object, ReadChains]) -> dict[bpy.types.Object, list[str]]:
    """Return the bones of armatures whose unkeyed pose a bake may change."""
    return {
        armature: [*left_bones(rigs), *(bone for rig in rigs if rig.stretching for bone in rig.bones)]
        for armature, (rigs, *_) in asked.items()
    }


@contextmanager
def _muted(asked: Mapping[bpy.types.Object, ReadChains], purpose: int) -> Iterator[None]:
    """Mute constraints of what is native, for good unless it fails or their keys count as made by hand."""
    with ExitStack() as muted:
        for armature, (rigs, _, machines) in asked.items():
            names = [rig.name for rig in rigs], [machine.name for machine in machines]
            muted.enter_context(natives_muted(armature, *names, for_good=purpose != SNAP))
        yield


def _bake_batches(
    scene: bpy.types.Scene,
    asked: Mapping[bpy.types.Object, ReadChains],
    frames: list[int],
    options: BakeOptions,
    purpose: int,
    undo: ExitStack,
    is_loop: bool = False,
) -> CountedSteps[dict[bpy.types.Object, BakeReport]]:
    """Bake armatures with what they play now, batch by batch. undo: restores them if anything fails.

    is_loop: whether the last frame is to have the pose of the first one.
    """
    for rigs, *_ in asked.values():
        undo.enter_context(released(rigs))
    batches = baking_order(asked, frames, options)
    reports: dict[bpy.types.Object, BakeReport] = {}
    for number, batch in enumerate(batches):
        its = {armature: asked[armature] for armature in batch}
        with Sampler(scene, [rig for rigs, *_ in its.values() for rig in rigs]) as sampler:
            steps = _bake_rigs(sampler, its, frames, options, purpose, undo, is_loop)
            reports |= yield from one_of(steps, number, len(batches))
    return reports


def _bake_rigs(
    sampler: Sampler,
    asked: Mapping[bpy.types.Object, ReadChains],
    frames: list[int],
    options: BakeOptions,
    purpose: int,
    undo: ExitStack,
    is_loop: bool,
) -> CountedSteps[dict[bpy.types.Object, BakeReport]]:
    """Solve, key and play back chains of armatures on some frames; undo: restores them if anything fails."""
    scene, by_hand = sampler.scene, purpose == SNAP
    rigs = [rig for its in asked.values() for rig in its.rigs]
    machines = [machine for its in asked.values() for machine in its.machines]
    plan = plan_keys(scene, rigs, frames, options.reduce, options.on_target_keys)
    solving = solve_frames(rigs, scene, plan, options, by_hand, sampler, machines, frames)
    solved, full_scene, stepped, moved = yield from solving
    its_chains: dict[bpy.types.Object, list[KeyedChain]] = {armature: [] for armature in asked}
    opened: dict[bpy.types.Object, list[str]] = {}
    if is_loop:
        solved, opened = with_closed_loops(solved)
        moved, torn = with_closed_machines(moved)
        opened = {armature: [*opened.get(armature, ()), *torn.get(armature, ())] for armature in asked}
    for chain in solved:
        its_chains[chain.solved.rig.armature].append(chain)
    its_machines = {armature: [one for one in moved if one.rig.armature == armature] for armature in asked}
    rotations = {armature: rotations_of(chains, by_hand) for armature, chains in its_chains.items()}
    for armature, its in its_machines.items():
        rotations[armature] += [channels for machine in its for channels in machine.rotations]
    times, warnings = pace_of(scene) * plan.frame_array, {}
    for armature, chains in its_chains.items():
        warnings[armature] = key_faults.check_writable(armature, rotations[armature], times)
        warnings[armature] += opened.get(armature, [])
        machine_names = [machine.rig.name for machine in its_machines[armature]]
        warnings[armature] += told_left(armature, [chain.solved.rig.name for chain in chains], machine_names)
        for chain in chains if options.single_axis else ():
            post = None if chain.post is None else chain.post.rotation
            warnings[armature] += single_axis_notes(chain.solved.rig, post)
    together = len(asked) > 1 and options.verify != VERIFY_NOTHING
    quarters = all_quarters(scene, solved, plan) if together else ()  # before they see the keys of others
    undo.enter_context(slides_remembered([chain.solved.rig for chain in solved]))
    undo.enter_context(hands_remembered(rigs))
    keepings, end = {}, (len(plan.times), len(plan.times))
    for armature, channels in rotations.items():
        keepings[armature] = undo.enter_context(keys.written(armature, times, channels, purpose))
        yield end
    undo.enter_context(scales_remembered([chain.solved.rig for chain in solved]))
    placed = {armature: keeping.placed for armature, keeping in keepings.items() if keeping is not None}
    checking = play_back(sampler, solved, plan, options.verify, placed, quarters)
    played = yield from counted(checking, 0, 2 * len(plan.times))
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
            stepped=stepped.get(armature, ""),
            warnings=warnings[armature],
            left_out=asked[armature].faults,
            replaced=keeping.replaced if (keeping := keepings[armature]) is not None else Replaced(),
            unmoved=[each.solved.rig.name for each in chains if not by_hand and stands_still(each.solved)],
            advice=advice_on(scene, [each.solved for each in chains], plan.frames),
            mechanisms=reports_of(
                scene, armature, its_machines[armature], options.verify, placed.get(armature, {})
            ),
        )
        yield end
    for armature in () if by_hand else asked:
        keyed = {chain.solved.rig.name: chain.channels for chain in its_chains[armature]}
        note_baked(armature, keyed, {one.rig.name: one.rotations for one in its_machines[armature]})
    return reports
