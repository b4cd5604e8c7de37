# SPDX-License-Identifier: GPL-3.0-or-later
"""The pipeline, top to bottom: read chains, sample targets, solve, lift, key, play back, report."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from operator import index
from typing import TypeVar

import bpy
import numpy as np

from .core import IK2DError
from .playback import (
    VERIFY_ALL,
    VERIFY_NOTHING,
    VERIFY_SAMPLE,
    Played,
    not_played,
    play_back,
)
from .reduce import KeyedChain, KeyPlan, key_chain, plan_keys
from .report import PLAYED_BACK, BakeReport, ChainReport, length_text
from .rig import keys
from .rig.armature import FAR_OFF_PLANE, RigChain, read_chain
from .rig.dependencies import in_order
from .rig.pose import BoneRotation, bone_rotations, posed, single_axis_notes
from .rig.targets import sample_steps
from .solving import solve_chain

__all__ = ["BakeOptions", "BakeReport", "ChainReport", "bake", "bake_steps", "solve"]

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class BakeOptions:
    """What a bake does beyond keying every frame.

    verify: 'SAMPLE' plays the bake back on some fifty frames, 'ALL' on all of them, 'NONE' on none.
    reduce: over 0, key as few frames as keep the tip this near (a length in the world) to where it
    would be with all keyed, between the keys too. on_target_keys: key only where the target has keys
    itself, and the first and the last frame. single_axis: give each bone that turns about its own X
    or Z one Euler angle curve; sets its rotation mode.
    """

    verify: str = VERIFY_SAMPLE
    reduce: float = 0.0
    on_target_keys: bool = False
    single_axis: bool = False

    def __post_init__(self) -> None:
        if self.verify not in (VERIFY_SAMPLE, VERIFY_ALL, VERIFY_NOTHING):
            raise IK2DError(f"verify must be 'SAMPLE', 'ALL' or 'NONE', not '{self.verify}'")
        if not 0.0 <= self.reduce < np.inf:
            raise IK2DError(f"reduce must be a length of 0 or more, not {self.reduce}")
        if self.reduce and self.on_target_keys:
            raise IK2DError("Keys are either reduced or on the target's own key frames; turn off one of them")


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
            return finished.value
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
) -> Generator[tuple[int, int], None, BakeReport]:
    """Do what `bake` does, bit by bit: yield (frames done, frames in all); return the BakeReport.

    Keys are written when all is solved, then played back. Closed before its end, it leaves
    everything as it was; but where
    the full scene has to be evaluated (BakeReport.full_scene), stepping through its frames undoes
    changes by hand to animated properties that were not keyed, as any change of the frame does.
    """
    options = options or BakeOptions()
    scene = _scene_of(armature_object)
    frames = frame_range(scene, frame_start, frame_end, step)
    rigs = _rigs(armature_object, chains)
    plan = plan_keys(scene, rigs, frames, options.reduce, options.on_target_keys)
    solved, full_scene = yield from _solve_rounds(rigs, scene, plan, options.single_axis)
    rotations = _rotations(solved)
    warnings = keys.check_writable(armature_object, rotations)
    if options.single_axis:
        warnings += [note for rig in rigs for note in single_axis_notes(rig)]
    with keys.written(armature_object, keys.animation_times(scene, plan.frames), rotations):
        bpy.context.view_layer.update()
        reported = [chain.solved.at(plan.rows) for chain in solved]
        checking = play_back(scene, reported, plan.frames, options.verify, plan.keyed_rows)
        played = yield from _counted(checking, 0, len(plan.times))
    return _report(armature_object, scene, solved, plan, "Baked", played, full_scene, warnings)


def solve(armature_object: bpy.types.Object, chains: Sequence[str] | None = None) -> BakeReport:
    """Pose each chain so that its tip is on its target at the current frame; key nothing.

    Arguments, result and errors as in `bake`.
    """
    scene = _scene_of(armature_object)
    steps = _solve_rounds(_rigs(armature_object, chains), scene, None, False)
    try:
        while True:
            next(steps)
    except StopIteration as finished:
        solved, _ = finished.value
    return _report(armature_object, scene, solved, KeyPlan.every([scene.frame_current]), "Solved")


def frame_range(scene: bpy.types.Scene, start: int | None, end: int | None, step: int) -> list[int]:
    """Return the frames from `start` to `end`; None takes the scene's. The last is always `end`.

    Raises IK2DError for frames that are no whole numbers, a range that is reversed, a step below one.
    """
    try:
        start = index(scene.frame_start if start is None else start)
        end = index(scene.frame_end if end is None else end)
        step = index(step)
    except TypeError:
        raise IK2DError(f"Frames are whole numbers, not {start}, {end} and {step}") from None
    if end < start:
        raise IK2DError(f"The frame range {start} to {end} is reversed; give the first frame before the last")
    if step < 1:
        raise IK2DError(f"The step from frame to frame must be 1 or more, not {step}")
    return sorted({*range(start, end + 1, step), end})


def _solve_rounds(
    rigs: Sequence[RigChain], scene: bpy.types.Scene, plan: KeyPlan | None, single_axis: bool
) -> Generator[tuple[int, int], None, tuple[list[KeyedChain], str]]:
    """Solve all chains, those that hang on others after these. plan None: the scene as it stands.

    Returns them, and why the full scene had to be sampled, if it had. Keys nothing; of the scene as
    it stands it shows the poses, since what hangs on them has to see them.
    """
    rounds = in_order(rigs)
    times = plan.times if plan else None
    plan = plan or KeyPlan.every([scene.frame_float])
    total = len(plan.times) * len(rounds)
    solved: list[KeyedChain] = []
    full_scene = ""
    with ExitStack() as previews:
        for number, ready in enumerate(rounds):
            before = number * len(plan.times)
            sampling = yield from _counted(sample_steps(scene, ready, times), before, total)
            full_scene = full_scene or sampling.full_scene
            new = []
            for rig, samples in zip(ready, sampling.chains, strict=True):
                chain = solve_chain(rig, samples)
                choosing = key_chain(plan, chain, samples, bone_rotations(rig, chain.turns, single_axis))
                new.append((yield from _counted(choosing, before, total)))
                yield before + len(plan.times), total
            solved += new
            if times is None:
                previews.enter_context(posed(rigs[0].armature, _rotations(new)))
            elif number < len(rounds) - 1:
                key_times = keys.animation_times(scene, plan.times)
                previews.enter_context(keys.previewed(rigs[0].armature, key_times, _rotations(new)))
    order = [rig.name for rig in rigs]
    return sorted(solved, key=lambda chain: order.index(chain.solved.rig.name)), full_scene


def _counted(
    steps: Generator[int, None, _Result], before: int, total: int
) -> Generator[tuple[int, int], None, _Result]:
    """Pass the steps on as (done, total)."""
    while True:
        try:
            done = next(steps)
        except StopIteration as finished:
            return finished.value
        yield min(before + done, total), total


def _rotations(solved: Sequence[KeyedChain]) -> list[BoneRotation]:
    return [rotation for chain in solved for rotation in chain.rotations]


def _rigs(armature: bpy.types.Object, names: Sequence[str] | None) -> list[RigChain]:
    return [read_chain(armature, settings) for settings in _chosen(armature, names)]


def _scene_of(armature: bpy.types.Object) -> bpy.types.Scene:
    """Return the scene to bake in; raise IK2DError for an object that cannot be baked."""
    if not isinstance(armature, bpy.types.Object) or armature.type != 'ARMATURE':
        name = getattr(armature, "name", armature)
        raise IK2DError(f"'{name}' is not an armature; choose an armature object")
    if not armature.is_editable:
        raise IK2DError(
            f"'{armature.name}' is linked from another file and cannot be keyed;"
            " make a library override of it (Object > Library Override > Make)"
        )
    if armature.data.is_editmode:
        raise IK2DError(f"'{armature.name}' is in Edit Mode, here or as another object; leave it (Tab)")
    if armature.data.pose_position == 'REST':
        raise IK2DError(f"'{armature.name}' shows its rest position; set it to Pose Position first")
    scene = bpy.context.scene
    if scene.objects.get(armature.name) == armature:
        return scene
    if not armature.users_scene:
        raise IK2DError(f"'{armature.name}' is in no scene; link it to one first")
    return armature.users_scene[0]


def _chosen(armature: bpy.types.Object, names: Sequence[str] | None) -> list:
    """Return the settings of the chains named, or of all enabled ones."""
    stored = armature.ik2d.chains
    if isinstance(names, str):
        raise IK2DError(f"chains takes a list of names; write ['{names}']")
    if names is None:
        chosen = [chain for chain in stored if chain.enabled]
        if not chosen:
            raise IK2DError(
                f"'{armature.name}' has no enabled chain; add one in the IK 2D tab of the sidebar"
            )
        return chosen
    chosen = []
    for name in dict.fromkeys(names):
        if name not in stored:
            known = ", ".join(f"'{chain.name}'" for chain in stored) or "none"
            raise IK2DError(f"'{armature.name}' has no chain '{name}'; its chains are: {known}")
        chosen.append(stored[name])
    if not chosen:
        raise IK2DError("No chain is named; name one or more")
    return chosen


def _report(
    armature: bpy.types.Object,
    scene: bpy.types.Scene,
    solved: Sequence[KeyedChain],
    plan: KeyPlan,
    verb: str,
    played: Sequence[Played] | None = None,
    full_scene: str = "",
    warnings: Sequence[str] = (),
) -> BakeReport:
    units = scene.unit_settings.system
    played = played or [not_played(len(plan.frames))] * len(solved)
    chains = [_chain_report(chain, plan, result, units) for chain, result in zip(solved, played, strict=True)]
    return BakeReport(armature.name, tuple(chains), verb, full_scene, tuple(warnings))


def _chain_report(keyed: KeyedChain, plan: KeyPlan, played: Played, units: str) -> ChainReport:
    chain, frames = keyed.solved.at(plan.rows), plan.frames
    rig, solution = chain.rig, chain.solution
    return ChainReport(
        name=rig.name,
        armature=rig.armature.name,
        bones=rig.bones,
        solver=rig.solver,
        target=f"{rig.target.name}/{rig.subtarget}" if rig.subtarget else rig.target.name,
        frames=np.array(frames),
        status=solution.status,
        residual=chain.residual,
        off_plane=chain.off_plane,
        iterations=solution.iterations,
        limited=solution.limited,
        joint_speed=chain.joint_speed / np.diff(frames, prepend=frames[0] - 1),
        played_back=played.errors,
        between_times=played.between_times,
        between=played.between,
        reach=chain.reach,
        unit_system=units,
        warnings=tuple(_chain_warnings(keyed, plan, played, units)),
        keys=keyed.keys,
        plays_back_worse_by=max(0.0, _worst_excess(keyed, plan, played)[0]),
    )


def _chain_warnings(keyed: KeyedChain, plan: KeyPlan, played: Played, units: str) -> Iterator[str]:
    chain, frames = keyed.solved.at(plan.rows), plan.frames
    rig, reach = chain.rig, chain.reach
    yield from rig.warnings
    if chain.joints_off_plane > FAR_OFF_PLANE * reach:
        yield (
            f"Chain '{rig.name}': its joints are up to {length_text(chain.joints_off_plane, units)} off one"
            " plane; it is solved as seen along the plane's normal"
        )
    worst = int(np.argmax(chain.off_plane))
    if chain.off_plane[worst] > FAR_OFF_PLANE * reach:
        yield (
            f"Chain '{rig.name}': its target is up to {length_text(chain.off_plane[worst], units)} off the"
            f" chain's plane (frame {frames[worst]}); the tip follows it within the plane"
        )
    if chain.uneven_scale:
        yield (
            f"Chain '{rig.name}': {chain.uneven_scale} is scaled unevenly, so the bones change their length"
            " as they turn; apply the scale to get exact results"
        )
    excess, time = _worst_excess(keyed, plan, played)
    if excess > PLAYED_BACK * reach:
        promised = "promised" if plan.bound else "solved"
        yield (
            f"Chain '{rig.name}': Blender plays it back up to {length_text(excess, units)} worse than"
            f" {promised} (frame {time:g}); look for constraints, drivers or other animation on its bones"
        )


def _worst_excess(keyed: KeyedChain, plan: KeyPlan, played: Played) -> tuple[float, float]:
    """Return by how much a tip was further off than promised, at most, and when. Lengths are the world's."""
    promised = np.hypot(keyed.solved.residual, keyed.solved.off_plane) + plan.allowed(keyed.solved.rig.name)
    times, errors = np.array(plan.times), np.concatenate((played.errors, played.between))
    looked_at = np.concatenate((plan.frames, played.between_times))
    rows = np.searchsorted(times, looked_at).clip(max=len(times) - 1)
    told = (times[rows] == looked_at) & ~np.isnan(errors)
    excess = np.where(told, errors - promised[rows], -np.inf)
    worst = int(np.argmax(excess))
    return float(excess[worst]), float(looked_at[worst])
