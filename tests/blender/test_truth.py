# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake says is where Blender has the tips: in space, on all whole frames, and half-way between."""

import bpy
import numpy as np
import pytest
from check_samples import SAMPLES
from rigs import (
    add_armature,
    add_chain,
    add_leg,
    add_target,
    evaluated_place,
    evaluated_tip,
    leg_with_target,
    plays_back_worse,
)

from ik2d_addon.bake import BakeOptions, bake, solve
from ik2d_addon.bake.reporting.chain_result import HALF_WAY
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.scene.rounding import PLAYED_BACK


def distance_at(armature, chain, time: float) -> float:
    """Return how far Blender has the chain's tip from its target at a time, between frames too.

    One bone that aims has its target as far from its root as its tip.
    """
    bpy.context.scene.frame_set(int(time // 1), subframe=time % 1)
    tip, goal = evaluated_tip(armature, chain.tip), evaluated_place(chain.target, chain.subtarget)
    rig = read_chain(armature, chain)
    if rig.settings.aims:
        root = evaluated_place(armature, rig.bones[0])
        goal = root + (goal - root) * ((tip - root).length / (goal - root).length)
    return (tip - goal).length


def hold_to_the_truth(armature, report, start: int, end: int) -> None:
    """Compare what a report says with where Blender has the tips, on all whole and half frames."""
    for chain, told in zip(armature.ik2d.chains, report.chains, strict=True):
        whole = np.array([distance_at(armature, chain, frame) for frame in range(start, end + 1)])
        halves = np.array([distance_at(armature, chain, frame + 0.5) for frame in range(start, end)])
        fine = PLAYED_BACK * told.standard.reach
        quarters = [distance_at(armature, chain, float(t)) for t in told.played.between_times if t % 1 != 0.5]
        assert told.errors == pytest.approx(whole, abs=fine)
        if told.standard.verified == 'ALL' or not told.played.keyed.all():
            assert told.max_error == pytest.approx(max(*whole, *halves, *quarters), abs=fine)
        if told.reached:
            assert whole.max() <= fine + told.standard.bound
            assert halves.max(initial=0.0) <= max(HALF_WAY * told.standard.reach, told.standard.bound) + fine


def open_sample(number: str) -> list[bpy.types.Object]:
    """Open a sample and return its armatures that have chains."""
    (path,) = (path for path in SAMPLES if path.name.startswith(number))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return [ob for ob in bpy.context.scene.objects if ob.type == 'ARMATURE' and ob.ik2d.chains]


@pytest.mark.slow
@pytest.mark.parametrize("number", ["01", "02"])
def test_samples_baked_on_all_frames_reach_every_target(number):
    scene = bpy.context.scene
    for armature in open_sample(number):
        scene = bpy.context.scene
        report = bake(armature)
        assert report.all_reached and "every target reached" in report.sentence()
        hold_to_the_truth(armature, report, scene.frame_start, scene.frame_end)


@pytest.mark.slow
def test_no_foot_slides_between_the_frames_of_the_walk():
    (walker,) = open_sample("01")
    report = bake(walker, options=BakeOptions(verify='ALL'))
    assert max(chain.max_between / chain.standard.reach for chain in report.chains) < 2e-4


@pytest.mark.slow
@pytest.mark.parametrize("verify", ['SAMPLE', 'ALL'])
@pytest.mark.parametrize("step, on_target_keys", [(1, True), (10, False), (13, False)])
def test_feet_that_stray_between_sparse_keys_are_told(step, on_target_keys, verify):
    (walker,) = open_sample("01")
    options = BakeOptions(verify=verify, on_target_keys=on_target_keys)
    report = bake(walker, step=step, options=options)
    assert not report.all_reached and "every target reached" not in report.sentence()
    assert "off between keys" in report.sentence()
    assert report.max_error > 0.1
    scene = bpy.context.scene
    hold_to_the_truth(walker, report, scene.frame_start, scene.frame_end)


def test_a_straight_chain_whose_target_moves_in_another_plane_has_not_reached():
    armature = add_armature({"a": ((0, 0, 2), (0, 0, 1), "", 0.0), "b": ((0, 0, 1), (0, 0, 0), "a", 0.0)})
    add_chain(armature, "b", add_target({1: (0.3, 0.0, 0.8), 20: (1.6, 0.3, 1.0)}), plane='X')
    report = bake(armature, frame_start=1, frame_end=20)
    assert not report.all_reached and "off the plane" in report.sentence()
    assert report.max_error > 1.5
    assert {chain.max_error_from for chain in report.chains} == {"off the plane"}
    hold_to_the_truth(armature, report, 1, 20)


@pytest.mark.parametrize("place", [(0.3, 0.0, 0.0), (0.1, 0.2, -0.1)])
def test_keyed_locations_of_the_chains_own_bones_count(place):
    """The tip leaves the plane of the rest pose with them, and so may reach a target that is off it."""
    armature = add_armature(
        {
            "thigh": ((0, 0, 2.0), (0, -0.1, 1.2), "", 0.0),
            "shin": ((0, -0.3, 1.0), (0, 0, 0.1), "thigh", 0.0),  # stands off: it has a location
        }
    )
    shin = armature.pose.bones["shin"]
    for frame, part in ((1, 0.0), (20, 1.0)):
        shin.location = np.array(place) * part
        shin.keyframe_insert("location", frame=frame)
    local = armature.data.bones["shin"].matrix_local.to_3x3() @ bpy.data.objects["Rig"].location.to_3d()
    offset = armature.data.bones["shin"].matrix_local.to_3x3() @ shin.location + local
    add_chain(armature, "shin", add_target({1: (0, 0.4, 0.6), 20: (offset.x, -0.5, 0.7)}))
    report = bake(armature, frame_start=1, frame_end=20)
    hold_to_the_truth(armature, report, 1, 20)
    assert not any("worse than solved" in warning for warning in report.warnings)
    assert report.all_reached


def test_a_miss_in_the_plane_does_not_hide_behind_one_off_it():
    armature = add_leg()
    add_chain(armature, "shin", add_target({1: (0.5, 0.2, 0.4), 20: (0.5, -0.6, 0.7)}))
    turned = armature.pose.bones["shin"].constraints.new('COPY_ROTATION')
    turned.target, turned.influence = add_target({1: (0, 0, 0)}, "Holder"), 0.01
    (told,) = bake(armature, frame_start=1, frame_end=20).chains
    assert told.off_plane.min() > 0.4 and plays_back_worse(told)
    assert any("worse than solved" in warning for warning in told.warnings)


@pytest.mark.slow
@pytest.mark.parametrize("verify", ['SAMPLE', 'ALL'])
def test_blenders_ik_on_the_chains_own_bones_takes_the_word_away(verify):
    armature, _ = leg_with_target()
    other = add_target({1: (0, 0.6, 1.5)}, "Other")
    ik = armature.pose.bones["shin"].constraints.new('IK')
    ik.target, ik.chain_count = other, 2
    report = bake(armature, frame_start=1, frame_end=40, options=BakeOptions(verify=verify))
    assert not report.all_reached and "every target reached" not in report.sentence()
    hold_to_the_truth(armature, report, 1, 40) if verify == 'ALL' else None
    assert not solve(armature).all_reached


def test_solve_measures_where_the_tip_stands():
    armature, target = leg_with_target()
    report = solve(armature)
    assert report.all_reached
    assert report.chains[0].played.on_frames[0] <= PLAYED_BACK * report.chains[0].standard.reach
    target.animation_data_clear()
    target.location = (0.4, -0.4, 0.7)
    report = solve(armature)
    assert not report.all_reached
    tip = evaluated_tip(armature, "shin")
    assert report.max_error == pytest.approx((tip - evaluated_place(target)).length, abs=1e-5)


def test_softness_that_holds_the_tip_back_takes_the_word_away():
    armature, _ = leg_with_target(softness=0.5)
    report = bake(armature, frame_start=1, frame_end=40)
    assert not report.all_reached and "held back by softness" in report.sentence()
    hold_to_the_truth(armature, report, 1, 40)


def test_a_joint_that_jumps_is_named_with_its_frames():
    armature = add_armature({"a": ((0, 0, 0), (0, 0.3, 1), "", 0.0), "b": ((0, 0.3, 1), (0, 0, 2), "a", 0.0)})
    target = add_target({1: (0, 0.4, 0.2), 10: (0, 0.4, 0.2), 11: (0, -0.4, -0.2), 20: (0, -0.4, -0.2)})
    chain = add_chain(armature, "b", target)
    (told,) = bake(armature, frame_start=1, frame_end=20).chains
    (jump,) = (warning for warning in told.warnings if "turns by" in warning)
    assert "bone 'a' turns by 180 degrees from frame 10 to 11" in jump
    chain.target.animation_data_clear()
    (told,) = bake(armature, frame_start=1, frame_end=20).chains
    assert not any("turns by" in warning for warning in told.warnings)


@pytest.mark.slow
def test_reduced_keys_are_held_to_their_bound():
    armature, _ = leg_with_target()
    report = bake(armature, frame_start=1, frame_end=40, options=BakeOptions(verify='ALL', reduce=0.002))
    assert report.all_reached and report.chains[0].played.keys < 30
    hold_to_the_truth(armature, report, 1, 40)


@pytest.mark.parametrize("solver", ['TWO_BONE', 'ARC', 'EVEN'])
def test_a_target_that_passes_the_root_by_a_hundredth_of_reach_is_named(solver):
    armature = add_armature({"a": ((0, 0, 0), (0, 0.1, 1), "", 0.0), "b": ((0, 0.1, 1), (0, 0, 2), "a", 0.0)})
    places = {frame: (0, 0.01 * (frame - 21), 0.02) for frame in range(1, 42)}  # half a percent of reach
    add_chain(armature, "b", add_target(places), solver=solver)
    (told,) = bake(armature, frame_start=1, frame_end=41).chains
    (warning,) = (warning for warning in told.warnings if "turns by" in warning)
    assert "bone 'a' turns by 27 degrees from frame 2" in warning
    assert "the furthest of 2 such turns from frame 20 to 22; its target passes close to" in warning
