# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains solved at the current frame, without keys."""

import bpy
import pytest
from hanging_chains import add_two, poses, worst
from rigs import add_target, leg_with_target

from ik2d_addon.bake import solve
from ik2d_addon.core import IK2DError

PLAYED_BACK = 1e-5  # of two units' reach


def test_solving_one_frame_follows_what_hangs_on_what():
    armature = add_two()
    bpy.context.scene.frame_set(5)
    report = solve(armature)
    assert [chain.name for chain in report.chains] == ["lower", "upper"]
    assert report.verb == "Posed" and report.chains[0].frames.tolist() == [5]
    assert report.all_reached and armature.animation_data is None
    assert worst(armature) < PLAYED_BACK * 3


def test_a_subframe_is_solved_and_reported_as_it_is():
    armature, target = leg_with_target()
    bpy.context.scene.frame_set(5, subframe=0.5)
    told = solve(armature, ["shin"]).chains[0]
    assert told.frames.tolist() == [5.5] and told.reached
    assert worst(armature) < PLAYED_BACK * 2
    target.parent = add_target({1: (0, 0, -9)}, "Holder")
    assert solve(armature).sentence().endswith(" at frame 5.5")
    bpy.context.scene.frame_set(5)
    assert solve(armature).sentence().endswith(" at frame 5")


def test_a_solve_that_fails_in_its_second_round_puts_the_first_back():
    armature = add_two(("upper", "lower"))
    armature.ik2d.chains[1].target.animation_data_clear()
    armature.ik2d.chains[1].target.location.y = float("nan")
    before = poses(armature)
    with pytest.raises(IK2DError, match="has no finite position"):
        solve(armature)
    assert poses(armature) == before
