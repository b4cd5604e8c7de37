# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames that are stepped through: how far that is, and whom Blender calls meanwhile."""

import bpy
import pytest
from rigs import evaluated_tip, leg_with_target
from sampled_legs import moving_leg, steps

from ik2d_addon.bake import bake
from ik2d_addon.live import handlers
from ik2d_addon.rig.scene import sampler, stepping


def test_progress_counts_the_times():
    yielded, _ = steps([moving_leg()], way=sampler.STEP)
    assert yielded[-4:] == [1, 2, 3, 4]
    assert set(yielded) <= {1, 2, 3, 4}


def test_times_that_take_no_time_are_told_together(monkeypatch):
    monkeypatch.setattr(stepping, "TURN", 1e9)
    yielded, _ = steps([moving_leg()], way=sampler.STEP)
    assert yielded[-1] == 4 and not {1, 2, 3} & set(yielded[1:])


@pytest.fixture
def called(monkeypatch):
    """Return the frames on which Blender called what poses live chains, which goes on doing so."""
    frames, posing, functions = [], handlers._frame_changed, bpy.app.handlers.frame_change_post

    def noting(scene, depsgraph=None):
        frames.append(scene.frame_current_final)
        posing(scene, depsgraph)

    noting.__module__ = posing.__module__
    monkeypatch.setattr(handlers, "_frame_changed", noting)
    functions[functions.index(posing)] = noting
    yield frames
    functions[functions.index(noting)] = posing


def test_a_bake_calls_nothing_of_ours_on_the_frames_that_it_looks_at(called):
    armature, _ = leg_with_target()
    bpy.context.scene.frame_set(5)
    assert called == [5.0]
    bake(armature, frame_start=1, frame_end=40)
    assert called == [5.0]
    bpy.context.scene.frame_set(6)
    assert called == [5.0, 6.0]


def test_live_chains_are_on_their_targets_after_it_and_on_the_next_frame(called):
    armature, target = leg_with_target(live=True)
    other, _ = leg_with_target()
    bpy.context.scene.frame_set(5)
    bake(other, frame_start=1, frame_end=40)
    for frame in (None, 7):
        if frame is not None:
            bpy.context.scene.frame_set(frame)
        bpy.context.view_layer.update()
        off = evaluated_tip(armature, "shin") - target.matrix_world.translation
        assert off.length < 1e-5
    assert called == [5.0, 7.0]
