# SPDX-License-Identifier: GPL-3.0-or-later
"""What many chains cost grows with their number, not with its square: calls are counted, which are exact."""

import bpy
import pytest
from rigs import calls_of

from benchmarks import scenes
from ik2d_addon.bake import bake

FEW, MANY = 10, 80


def _bake(armature):
    bake(armature, frame_start=1, frame_end=8)


def _change_a_setting(armature):
    armature.ik2d.chains[0].softness = 0.2
    bpy.context.view_layer.update()


def _move_a_target(armature):
    armature.ik2d.chains[0].target.location.x += 0.1
    bpy.context.view_layer.update()


def _play(_armature):
    scene = bpy.context.scene
    for frame in range(4, 9):
        scene.frame_set(frame)


def _rename_a_bone(armature):
    armature.data.bones[-1].name = "another"
    bpy.context.view_layer.update()


def _disable_all(armature):
    for chain in armature.ik2d.chains:
        chain.enabled = False
    bpy.context.view_layer.update()


def _open(_armature):
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)


def _undo(_armature):
    bpy.ops.ed.undo()


def _add_a_chain(armature):
    assert bpy.ops.ik2d.chain_add() == {'FINISHED'}
    assert armature.ik2d.chains[-1].live


def prepared(count, live, tmp_path):
    """Save and open a file with so many chains of two bones; return the armature.

    It has two bones more, which are selected.
    """
    armature = scenes.chains(count + 1, 2, 20, 10)
    armature.ik2d.chains.remove(count)
    armature.data.bones.active = armature.data.bones[f"{count}.1"]
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='POSE')
    for chain in armature.ik2d.chains:
        chain.live = live
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / f"{count}.blend"))
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    (armature,) = (ob for ob in bpy.data.objects if ob.type == 'ARMATURE')
    for frame in (1, 2, 3):
        bpy.context.scene.frame_set(frame)
    bpy.ops.ed.undo_push(message="before")
    armature.ik2d.chains[1].softness = 0.1
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="after")
    return armature


@pytest.mark.slow
@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize(
    "task",
    [_bake, _change_a_setting, _move_a_target, _play, _rename_a_bone, _disable_all, _open, _undo],
)
def test_eight_times_as_many_chains_cost_at_most_eight_times_as_much(task, live, tmp_path):
    calls = []
    for count in (FEW, MANY):
        armature = prepared(count, live, tmp_path)
        calls.append(calls_of(lambda armature=armature: task(armature)))
    assert calls[1] <= 1.05 * MANY / FEW * calls[0]


@pytest.mark.parametrize(
    ("task", "live", "most"),
    [
        (_change_a_setting, False, 14),
        (_change_a_setting, True, 26),
        (_add_a_chain, False, 75),
        (_add_a_chain, True, 400),
    ],
)
def test_an_edit_of_one_chain_costs_few_calls_for_each_of_the_others(task, live, most, tmp_path):
    calls = []
    for count in (FEW, MANY):
        armature = prepared(count, live, tmp_path)
        for softness in (0.3, 0.1):  # after a frame, all are followed once
            armature.ik2d.chains[0].softness = softness
            bpy.context.view_layer.update()
        calls.append(calls_of(lambda armature=armature: task(armature)))
    assert calls[1] - calls[0] <= most * (MANY - FEW)
