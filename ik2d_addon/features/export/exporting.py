# SPDX-License-Identifier: GPL-3.0-or-later
"""An export, step by step: bake, record, strip, write, read back, compare.

It works on the file that is open and leaves another one open: only for a copy, in a process of its own.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import TypeVar

import bpy

from ...bake import BakeOptions
from ...bake.actions.arguments import Pairs
from ...bake.request import scene_of_all
from ...core.solution import CountedSteps, Steps, drained, mapped
from ...core.words import listed, say
from ...rig.animation.versions import assign_action, first_slot
from ...rig.scene.live_pause import left_alone, live_paused
from .bare import carried, hidden_skins, keyed_clips, make_local, others_hidden, show, strip
from .clips import Named, baked_steps, planned, stage_of
from .comparing import JointsExpected, ReadBack, SceneTime, empty_file
from .formats import Format, format_of
from .gltf import ClipFile
from .motion import RigMotion, Skeleton, recorded_steps
from .report import ClipReport, ExportReport, missed, replaced

_BEFORE = -10  # a frame before all clips
# What each clip's motion is: by clip, then by armature.
_Motions = dict[str, dict[str, RigMotion]]
_Result = TypeVar("_Result")
_NOT_IN_NAMES = re.compile(r'[\\/:*?"<>|\0-\x1f]')


def export_open_file(
    armatures: Sequence[bpy.types.Object],
    folder: str,
    name: str,
    *,
    deform_only: bool = False,
    options: BakeOptions | None = None,
    pairs: Pairs | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ExportReport:
    """Write armatures, what they carry and all their clips into a folder; return the report.

    name: of the file, whose ending says the format. pairs: actions of armatures with those of targets, as
    `bake` has them. The open file is used up. progress(done, total) is called now and then. Raises IK2DError
    for what cannot be exported, and where the file does not come back.
    """
    steps = _steps(armatures, folder, name, deform_only, options, pairs)
    with closing(steps):
        return drained(steps, None if progress is None else lambda done: progress(*done))


def _steps(
    armatures: Sequence[bpy.types.Object],
    folder: str,
    name: str,
    deform_only: bool,
    options: BakeOptions | None,
    pairs: Pairs | None,
) -> CountedSteps[ExportReport]:
    """Export in steps, which yield frames done and in all: each is baked, recorded and read back."""
    form, scene = format_of(name), scene_of_all(armatures)
    if bpy.context.scene != scene:
        bpy.context.window.scene = scene
    show(scene, armatures)
    plan = planned(scene, armatures, options, pairs)
    total = sum(clip.frames[1] - clip.frames[0] + 1 for clip in plan)
    baking = baked_steps(armatures, plan, options, pairs)
    clips, bake = yield from mapped(baking, lambda told: (told[0] * total // max(told[1], 1), 3 * total))
    motions = yield from _recorded(scene, armatures, clips, total)
    kept, hidden = carried(armatures), hidden_skins(scene, armatures)
    make_local(kept)
    names = [ob.name for ob in armatures]
    strip([bpy.data.objects[each] for each in names], kept, deform_only)
    expected, actions = _keyed(names, motions, form)
    time = SceneTime.of(scene)
    files = _written(form, folder, name, motions, actions)
    told: list[ClipReport] = []
    notes = [say("Left out, since hidden: {names}", names=listed(hidden, most=2))] if hidden else []
    notes += [*form.warnings(time.units), *(replaced(bake.by_action) if bake else ())]
    for file, its in files.items():
        yield from _compared(os.path.join(folder, file), form, time, expected, its, told, notes, total)
    return ExportReport(
        form.name,
        (*files, *sorted(set(_below(folder)) - set(files))),
        tuple(told),
        time.units,
        (*(bake.warnings if bake else ()), *dict.fromkeys(notes)),
        missed(bake.by_action) if bake else (),
    )


def _recorded(
    scene: bpy.types.Scene, armatures: Sequence[bpy.types.Object], clips: Named, total: int
) -> CountedSteps[_Motions]:
    """Record all clips in steps; return their motions."""
    motions: _Motions = {}
    done = total
    with live_paused(), left_alone(), others_hidden(scene), stage_of(clips) as stage:
        for name, clip in clips.items():
            stage.show(clip)
            motions[name] = yield from _after(
                done, 3 * total, recorded_steps(scene, clip.baked, *clip.frames)
            )
            done += clip.frames[1] - clip.frames[0] + 1
    return motions


def _after(before: int, total: int, steps: Steps[_Result]) -> CountedSteps[_Result]:
    """Return steps that come after others, so many of all."""
    return mapped(steps, lambda told: (before + told, total))


def _keyed(
    names: Sequence[str], motions: _Motions, form: Format
) -> tuple[list[JointsExpected], dict[str, dict[str, str]]]:
    """Key the clips of armatures; return their joints, and the names of their actions by rig and clip."""
    expected, actions = [], {}
    several = len(names) > 1 and form.add_on.startswith("FBX")
    for name in names:
        armature = bpy.data.objects[name]
        its = {clip: motion[name] for clip, motion in motions.items() if name in motion}
        if not its:
            continue
        actions[name] = keyed_clips(
            armature, its, stashed=not form.clip_each, titled=f"{name}|" if several else ""
        )
        expected.append(JointsExpected.of(armature, its))
    return expected, actions


def _written(
    form: Format, folder: str, name: str, motions: _Motions, actions: Mapping[str, Mapping[str, str]]
) -> dict[str, list[str]]:
    """Write the files; return the clips that each holds, by its name."""
    scene = bpy.context.scene
    scene.render.frame_map_old = scene.render.frame_map_new = 100
    scene.frame_start = 0
    scene.frame_end = max(_length(motion) for motion in motions.values()) - 1
    scene.frame_set(_BEFORE)  # at rest: FBX takes the pose of bones that deform nothing for their rest pose
    if not form.clip_each:
        path = os.path.join(folder, name)
        form.write(path)
        if form.is_gltf:
            _set_exact_keys(path, scene, motions)
        return {name: list(motions)}
    stem, ending = os.path.splitext(name)
    files = {}
    for clip, motion in motions.items():
        file = name if len(motions) == 1 else f"{stem}_{_NOT_IN_NAMES.sub('_', clip)}{ending}"
        while file in files:
            file = f"{os.path.splitext(file)[0]}_{ending}"
        for rig in motion:
            animation = bpy.data.objects[rig].animation_data
            action = bpy.data.actions[actions[rig][clip]]
            assign_action(animation, action, first_slot(action))
        scene.frame_end = _length(motion) - 1
        form.write(os.path.join(folder, file))
        files[file] = [clip]
    return files


def _set_exact_keys(path: str, scene: bpy.types.Scene, motions: _Motions) -> None:
    """Give the clips of a glTF file their exact keys."""
    file, rate = ClipFile(path), scene.render.fps / scene.render.fps_base
    for rig in dict.fromkeys(rig for motion in motions.values() for rig in motion):
        its = {clip: motion[rig] for clip, motion in motions.items() if rig in motion}
        file.set_motions(Skeleton.of(bpy.data.objects[rig]), rig, its, rate)
    file.save()


def _length(motion: Mapping[str, RigMotion]) -> int:
    return max(2, *(each.frames for each in motion.values()))


def _compared(
    path: str,
    form: Format,
    time: SceneTime,
    expected: Sequence[JointsExpected],
    clips: Sequence[str],
    told: list[ClipReport],
    notes: list[str],
    total: int,
) -> CountedSteps[None]:
    """Read a file into an empty scene, and add what its clips are to `told`, and warnings to `notes`."""
    empty_file(time)
    pace = form.read(path)
    scene = bpy.context.scene
    with live_paused(), left_alone():
        for rig in expected:
            back = ReadBack(rig)
            notes += back.warnings()
            for clip in [clip for clip in clips if clip in rig.clips]:
                joints = back.play(clip)
                off = []
                for row in range(len(joints)):
                    scene.frame_set(int(pace * row / 2), subframe=pace * row / 2 % 1.0)
                    off.append(back.off(joints[row]))
                    yield min(2 * total + sum(each.frames for each in told) + row // 2, 3 * total), 3 * total
                told.append(
                    ClipReport(
                        clip,
                        rig.rig,
                        os.path.basename(path),
                        (len(joints) + 1) // 2,
                        max(off[::2]),
                        max(off[1::2], default=0.0),
                        max(off[::2]) / max(rig.size, 1e-30),
                    )
                )
                notes += told[-1].warnings(time.units)


def _below(folder: str) -> list[str]:
    return [
        os.path.relpath(os.path.join(above, file), folder)
        for above, _, files in os.walk(folder)
        for file in files
    ]
