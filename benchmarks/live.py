# SPDX-License-Identifier: GPL-3.0-or-later
"""A frame with a live chain and one with Blender's own IK constraint: processor times of scene.frame_set."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from statistics import mean, median

import bpy
import numpy as np
from mathutils import Quaternion

from ik2d_addon.live import handlers
from ik2d_addon.live.registry import RIGS
from ik2d_addon.ui.settings.joint_list import sync_joints

from .ik_constraint import IKRig
from .problems import LIMIT, SLIGHT_BEND, Problems, paths
from .table import Table, ratio
from .timing import processor_time_of, say

POST, PRE = bpy.app.handlers.frame_change_post, bpy.app.handlers.frame_change_pre
BARE, IK, WRITING, LIVE = "nothing", "IK constraint", "writing alone", "live"
FIRST = "live, nothing kept"


@contextmanager
def called(post: Callable[..., None] | None, pre: Callable[..., None] | None = None) -> Iterator[None]:
    """Have Blender call functions after and before the evaluation of a frame, for a while."""
    added = [(where, one) for where, one in ((POST, post), (PRE, pre)) if one is not None]
    for where, one in added:
        where.append(one)
    try:
        yield
    finally:
        for where, one in added:
            where.remove(one)


def live_handlers() -> AbstractContextManager[None]:
    """Have Blender call those of live chains, for a while."""
    return called(handlers._frame_changed, handlers._frame_changes)


@contextmanager
def updates_followed() -> Iterator[None]:
    """Have Blender call those of live chains after each update, for a while."""
    bpy.app.handlers.depsgraph_update_post.append(handlers._updated)
    try:
        yield
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(handlers._updated)


@dataclass(frozen=True)
class Contestant:
    """A scene whose target walks round, and what Blender calls when its frame changes."""

    scene: bpy.types.Scene
    handlers: Callable[[], AbstractContextManager[None]]

    def frame(self, number: int) -> float:
        """Return the processor time that it takes to go to a frame, in seconds."""
        with self.handlers():
            return processor_time_of(lambda: self.scene.frame_set(number))


def measure(bones: tuple[int, ...], frames: int, rounds: int) -> Table:
    """Time frames with chains of so many bones, free and within limits, on a moving armature too."""
    rows = []
    for n in (1, *bones):
        say(f"live, {n} bones")
        rows.append(_row("1 bone" if n == 1 else f"{n} bones", n, frames, rounds))
    middle = bones[len(bones) // 2]
    for n in (bones[0], middle):
        say(f"live, {n} bones within limits")
        rows.append(_row(f"{n} bones, within limits", n, frames, rounds, limited=True))
    rows.append(_row(f"{middle} bones, the armature moving", middle, frames, rounds, moving=True))
    note = (
        f"Processor time of scene.frame_set in a scene that holds the chain and its target alone, which walks"
        f" a circle of {frames} frames in 0.2 to 0.9 of the reach; medians of {rounds} rounds, in turns."
        " *nothing*: the same scene without solving; *writing alone*: a handler that writes a quaternion to"
        " each bone after the evaluation, and solves nothing, so that Blender evaluates the bones twice."
        " *live*: frames that are kept, as they are from the second time on, or when they were solved in idle"
        " time: written before the evaluation, and looked at after it. *live, nothing kept*: the same frames"
        " before, all of their time by their number: solved in blocks where F-Curves alone lead the"
        " chain, else one by one. The limits are of 60 degrees, and bind on many of these frames: the whole"
        " range is solved from its start. Moving, the chain, which is straight, leaves its target's plane on"
        " each frame, and is read anew in the next one, unless it is kept."
    )
    header = ["chain", BARE, f"{IK} = 1", WRITING, LIVE, FIRST]
    return Table("Live: a frame", note, header, rows)


def _row(
    name: str, n: int, frames: int, rounds: int, limited: bool = False, moving: bool = False
) -> list[str]:
    rivals = contestants(n, frames, limited, moving)
    times: dict[str, list[float]] = {kind: [] for kind in rivals}
    times[FIRST] = []
    for _ in range(rounds):
        for kind, contestant in rivals.items():
            times[kind] += [contestant.frame(frame) for frame in range(frames)]
        RIGS.kept, RIGS.frames = None, 0
        times[FIRST].append(mean(rivals[LIVE].frame(frame) for frame in range(frames)))
    medians = {kind: median(seconds) for kind, seconds in times.items()}
    if RIGS.problems or RIGS.failures:
        raise RuntimeError(f"live did not solve: {RIGS.problems or RIGS.failures}")
    return [
        name,
        ratio(medians[BARE] / medians[IK]),
        f"1 ({1e6 * medians[IK]:.0f} µs)",
        *(ratio(medians[kind] / medians[IK]) for kind in (WRITING, LIVE, FIRST)),
    ]


def contestants(n: int, frames: int, limited: bool = False, moving: bool = False) -> dict[str, Contestant]:
    """Return a scene for each contestant, of a chain of so many bones and a target with so many frames."""
    problems = paths(n, frames)[1]
    rig = IKRig(problems.lengths, LIMIT if limited else None, locked=False)
    scenes = {kind: _scene(rig, problems, moving) for kind in (BARE, IK, WRITING, LIVE)}
    rig.armature.pose.bones[-1].constraints[0].mute = True
    for kind, scene in scenes.items():
        armature = next(ob for ob in scene.objects if ob.type == 'ARMATURE')
        armature.pose.bones[-1].constraints[0].mute = kind != IK
        if kind == LIVE:
            _make_live(armature, n, limited)
    writing = next(ob for ob in scenes[WRITING].objects if ob.type == 'ARMATURE')
    return {
        BARE: Contestant(scenes[BARE], nullcontext),
        IK: Contestant(scenes[IK], nullcontext),
        WRITING: Contestant(
            scenes[WRITING], lambda: called(lambda scene, _graph: _write(writing, scene.frame_current))
        ),
        LIVE: Contestant(scenes[LIVE], live_handlers),
    }


def _scene(rig: IKRig, problems: Problems, moving: bool) -> bpy.types.Scene:
    """Return a scene of its own with a copy of the rig, whose target has a key on each frame."""
    scene = bpy.data.scenes.new("Contestant")
    armature, target = rig.armature.copy(), bpy.data.objects.new("Target", None)
    for ob in (armature, target):
        scene.collection.objects.link(ob)
    scene.view_layers[0].update()
    scene.frame_start, scene.frame_end = 0, len(problems.targets) - 1
    armature.pose.bones[-1].constraints[0].target = target
    for bone in armature.pose.bones:
        bone.rotation_mode = 'QUATERNION'
        bone.rotation_quaternion = Quaternion((0.0, 0.0, 1.0), SLIGHT_BEND)
    for frame, (x, y) in enumerate(problems.targets.tolist()):
        rig.aim_at(x, y)
        target.location = rig.target.location
        target.keyframe_insert("location", frame=frame)
        if moving:
            armature.location.x = 0.01 * np.sin(0.1 * frame)
            armature.keyframe_insert("location", frame=frame)
    return scene


def _make_live(armature: bpy.types.Object, n: int, limited: bool) -> None:
    chain = armature.ik2d.chains.add()
    chain.name, chain.tip, chain.bone_count = "Live", armature.pose.bones[-1].name, n
    chain.target = next(ob for ob in armature.users_scene[0].objects if ob.type == 'EMPTY')
    sync_joints(chain)
    for joint in chain.joints if limited else ():
        joint.use_limit, joint.limit_min, joint.limit_max = True, -LIMIT, LIMIT
    chain.live = True


def _write(armature: bpy.types.Object, frame: int) -> None:
    rotation = Quaternion((0.0, 0.0, 1.0), 0.001 * frame)
    for bone in armature.pose.bones:
        bone.rotation_quaternion = rotation
