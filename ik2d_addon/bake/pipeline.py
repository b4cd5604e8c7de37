# SPDX-License-Identifier: GPL-3.0-or-later
"""The pipeline, top to bottom: read chains, sample targets, solve, lift, key, play back, report."""

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from math import ceil
from typing import TypeVar

import bpy
import numpy as np

from ..rig import keys
from ..rig.armature import RigChain
from ..rig.missing import refuse_failed_drivers
from ..rig.order import in_order
from ..rig.pose import BoneRotation, bone_rotations, posed, single_axis_notes
from ..rig.sampling import sample_now, sample_steps
from ..rig.target_plane import facing_target
from .keying import KeyedChain, KeyPlan, key_chain, plan_keys
from .playback import VERIFY_ALL, look_now, play_back
from .report import BakeReport
from .request import BakeOptions, frame_range, read_rigs, scene_of
from .solving import solve_chain
from .verdict import report_of

_Result = TypeVar("_Result")
# Yields (frames done, frames in all) and returns a result.
Steps = Generator[tuple[int, int], None, _Result]


def bake(
    armature_object: bpy.types.Object,
    chains: Sequence[str] | None = None,
    frame_start: int | None = None,
    frame_end: int | None = None,
    step: int = 1,
    *,
    options: BakeOptions | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> BakeReport:
    """Key the rotations that bring each chain's tip to its target, frame by frame.

    armature_object: an armature with chains in `Object.ik2d`. chains: names; None takes all that
    are enabled. frame_start, frame_end: inclusive; None takes the scene's. step: frames from one
    key to the next. progress(done, total) is called now and then.
    All keys of the chains' rotation channels from the first frame to the last are replaced; all
    else stays. Returns a BakeReport. Raises IK2DError for bad input; nothing has changed then.
    """
    steps = bake_steps(armature_object, chains, frame_start, frame_end, step, options=options)
    while True:
        try:
            done, total = next(steps)
        except StopIteration as finished:
            report: BakeReport = finished.value
            return report
        if progress:
            progress(done, total)


def bake_steps(
    armature_object: bpy.types.Object,
    chains: Sequence[str] | None = None,
    frame_start: int | None = None,
    frame_end: int | None = None,
    step: int = 1,
    *,
    options: BakeOptions | None = None,
) -> Steps[BakeReport]:
    """Do what `bake` does, bit by bit: yield (frames done, frames in all); return the BakeReport.

    Keys are written when all is solved, then played back. Closed before its end, it leaves
    everything as it was; but where the full scene has to be evaluated (BakeReport.full_scene),
    stepping through its frames undoes changes by hand to animated properties that were not keyed,
    as any change of the frame does.
    """
    options = options or BakeOptions()
    scene = scene_of(armature_object)
    frames = frame_range(scene, frame_start, frame_end, step)
    rigs = read_rigs(armature_object, chains, frames)
    plan = plan_keys(scene, rigs, frames, options.reduce, options.on_target_keys)
    solved, full_scene = yield from _solve_frames(rigs, scene, plan, options.single_axis)
    rotations = _rotations(solved)
    times = keys.animation_times(scene, plan.frames)
    warnings = keys.check_writable(armature_object, rotations, times)
    if options.single_axis:
        warnings += [note for chain in solved for note in single_axis_notes(chain.solved.rig)]
    with keys.written(armature_object, times, rotations):
        bpy.context.view_layer.update()
        checking = play_back(scene, solved, plan, options.verify)
        played = yield from _counted(checking, 0, len(plan.times))
        return report_of(
            armature_object,
            scene,
            solved,
            plan,
            played,
            verb="Baked",
            verified=options.verify,
            full_scene=full_scene,
            warnings=warnings,
        )


def solve(armature_object: bpy.types.Object, chains: Sequence[str] | None = None) -> BakeReport:
    """Pose each chain so that its tip is on its target at the current frame; key nothing.

    Arguments, result and errors as in `bake`.
    """
    scene = scene_of(armature_object)
    rigs = read_rigs(armature_object, chains, [scene.frame_float])
    plan = KeyPlan.every([scene.frame_current])
    solved: list[KeyedChain] = []
    with ExitStack() as poses:
        for ready in in_order(rigs):
            sampling = sample_now(scene, ready)
            refuse_failed_drivers(ready)
            new = [
                KeyedChain(chain, bone_rotations(chain.rig, chain.turns), np.empty(0, np.intp))
                for chain in map(solve_chain, map(facing_target, ready, sampling.chains), sampling.chains)
            ]
            poses.enter_context(posed(armature_object, _rotations(new)))  # what hangs on them sees it
            solved += new
        solved = _as_given(solved, rigs)
        played = look_now(scene, [chain.solved for chain in solved])
    return report_of(armature_object, scene, solved, plan, played, verb="Solved", verified=VERIFY_ALL)


def _solve_frames(
    rigs: Sequence[RigChain], scene: bpy.types.Scene, plan: KeyPlan, single_axis: bool
) -> Steps[tuple[list[KeyedChain], str]]:
    """Solve all chains at all times of the plan, those that hang on others after these. Keys nothing.

    Returns them in the order of `rigs`, and why the full scene had to be sampled, if it had.
    """
    rounds = in_order(rigs)
    total = len(plan.times) * len(rounds)
    solved: list[KeyedChain] = []
    full_scene = ""
    with ExitStack() as previews:
        for number, ready in enumerate(rounds):
            before = number * len(plan.times)
            sampling = yield from _counted(
                sample_steps(scene, ready, plan.times, plan.half_way),
                before,
                total,
                len(plan.times) / (len(plan.times) + len(plan.half_way)),
            )
            refuse_failed_drivers(ready)
            full_scene = full_scene or sampling.full_scene
            new = []
            for rig, samples, half_way in zip(ready, sampling.chains, sampling.between, strict=True):
                chain = solve_chain(facing_target(rig, samples), samples)
                keying = key_chain(plan, chain, samples, half_way, single_axis)
                new.append((yield from _counted(keying, before, total)))
                yield before + len(plan.times), total
            solved += new
            if number < len(rounds) - 1:  # for the chains that hang on these
                times = keys.animation_times(scene, plan.times)
                previews.enter_context(keys.previewed(rigs[0].armature, times, _rotations(new)))
    return _as_given(solved, rigs), full_scene


def _counted(
    steps: Generator[int, None, _Result], before: int, total: int, part: float = 1.0
) -> Steps[_Result]:
    """Pass the steps on as (done, total). part: how many frames a step counts for."""
    while True:
        try:
            done = next(steps)
        except StopIteration as finished:
            result: _Result = finished.value
            return result
        yield min(before + ceil(part * done), total), total


def _rotations(solved: Sequence[KeyedChain]) -> list[BoneRotation]:
    return [rotation for chain in solved for rotation in chain.rotations]


def _as_given(solved: list[KeyedChain], rigs: Sequence[RigChain]) -> list[KeyedChain]:
    """Return the chains in the order of `rigs`."""
    order = [rig.name for rig in rigs]
    return sorted(solved, key=lambda chain: order.index(chain.solved.rig.name))
