# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that slide: where Blender has the tip, what is refused, and what is told."""

import json

import bpy
import numpy as np
import pytest
from mathutils import Euler
from rigs import (
    SLIDES,
    TELESCOPE,
    but_jumps,
    connect,
    crane_with_target,
    disconnect,
    evaluated_place,
    evaluated_tip,
    every_bit_of_animation,
    played_back_errors,
)

from ik2d_addon.bake import BakeOptions, bake, check, solve
from ik2d_addon.core import IK2DError
from ik2d_addon.features.setup.limits import take_limits
from ik2d_addon.rig.animation.versions import existing_fcurves

FRAMES = range(1, 25)
CLOSE = 1e-5 * 6.25
SOLVERS = ['CCD', 'EVEN']


def bake_here(armature, first=1, last=24, **options):
    return bake(armature, frame_start=first, frame_end=last, options=BakeOptions(**options))


def worst(armature, chain, frames=FRAMES):
    """Return how far Blender has the tip off its target, at most."""
    return max(error for _, error in played_back_errors(armature, chain, frames))


def locations(armature):
    return [[x.hex() for x in bone.location] for bone in armature.pose.bones]


def refused(armature, words):
    """Hold check, solve and bake to one sentence, and to changing nothing."""
    animation, places = every_bit_of_animation(armature), locations(armature)
    assert check(armature) == [words]
    for act in (solve, bake):
        with pytest.raises(IK2DError) as caught:
            act(armature)
        assert str(caught.value) == words
    assert (every_bit_of_animation(armature), locations(armature)) == (animation, places)


# --- The tip --------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [{}, {"drop": 0.4}, {"drop": 0.4, "roll": 0.8}], ids=str)
@pytest.mark.parametrize("slides", [TELESCOPE, {"outer": (0.0, 1.0)}, SLIDES], ids=len)
def test_the_tip_is_on_its_target_where_blender_evaluates_it(slides, shape, solver):
    armature, chain = crane_with_target(slides, solver, **shape)
    report = bake_here(armature)
    assert not report.chains[0].missed.any() and worst(armature, chain) < CLOSE
    assert np.ptp(report.chains[0].joints.slides, axis=0).max() > 0.01


def test_what_only_slides_reach_is_reached():
    armature, chain = crane_with_target(path={1: (0, 5.9, 1.5), 24: (0, 5.0, 2.0)})
    assert bake_here(armature).all_reached and worst(armature, chain) < CLOSE
    chain.joints["boom"].use_slide = chain.joints["inner"].use_slide = False
    assert not bake_here(armature).all_reached


def test_a_telescope_whose_inner_joints_do_not_turn():
    armature, chain = crane_with_target(path={1: (0, 4.2, 1.5), 12: (0, 4.0, 4.5), 24: (0, 5.8, 1.2)})
    chain.joints["inner"].weight = chain.joints["outer"].weight = 0.0
    report = bake_here(armature)
    assert report.all_reached and worst(armature, chain) < CLOSE
    bpy.context.scene.frame_set(12)
    heads = [np.array(armature.pose.bones[name].matrix.to_3x3()) for name in ("boom", "inner", "outer")]
    assert np.abs(heads[1] - heads[0]).max() < 1e-6 and np.abs(heads[2] - heads[0]).max() < 1e-6


@pytest.mark.slow
def test_slides_stay_within_their_ranges():
    armature, _ = crane_with_target(SLIDES, path={1: (0, 6.2, 1.5), 12: (0, 1.0, 1.2), 24: (0, 4.0, 4.0)})
    slides = bake_here(armature).chains[0].joints.slides
    least, most = np.array([SLIDES[name] for name in ("boom", "inner", "outer")]).T
    assert (slides >= least - 1e-9).all() and (slides <= most + 1e-9).all()


@pytest.mark.slow
def test_a_chain_in_a_moved_and_scaled_armature():
    armature, chain = crane_with_target(SLIDES, drop=0.2)
    armature.location, armature.rotation_euler, armature.scale = (1, 2, 3), Euler((0.4, 0.2, 0.1)), (2.0,) * 3
    chain.target.parent = armature
    assert bake_here(armature).all_reached and worst(armature, chain) < 2.0 * CLOSE


@pytest.mark.slow
@pytest.mark.parametrize("mode", ['NONE', 'ALIGNED', 'FULL'])
def test_bones_that_inherit_scale_in_other_ways(mode):
    armature, chain = crane_with_target(SLIDES)
    for name in ("inner", "outer"):
        armature.data.bones[name].inherit_scale = mode
    armature.pose.bones["boom"].scale = (1.1,) * 3
    assert bake_here(armature).all_reached and worst(armature, chain) < CLOSE


@pytest.mark.slow
def test_what_stands_beside_the_tail_is_carried_too():
    armature, chain = crane_with_target(beside=0.15)
    assert bake_here(armature).all_reached and worst(armature, chain) < CLOSE


def test_solve_poses_the_location_too():
    armature, chain = crane_with_target(path={1: (0, 5.8, 1.5)})
    assert solve(armature).all_reached
    assert (evaluated_tip(armature, "outer") - evaluated_place(chain.target)).length < CLOSE
    assert armature.animation_data is None


def test_solve_again_gives_the_same_pose():
    armature, _ = crane_with_target(SLIDES, path={1: (0, 5.8, 1.5)})
    armature.pose.bones["inner"].location = (0.0, 0.1, 0.0)
    solve(armature)
    first = locations(armature)
    solve(armature)
    assert locations(armature) == first


# --- Refused --------------------------------------------------------------------------------------


def test_bones_that_are_connected():
    armature, _ = crane_with_target()
    connect(armature, "inner")
    words = (
        "Chain 'crane': bone 'boom' cannot slide: bone 'inner', which it carries, is connected to its parent"
        " and has no location; disconnect it in Edit Mode (Alt P)"
    )
    refused(armature, words)
    disconnect(armature)
    assert check(armature) == []


def test_locations_that_are_locked():
    armature, _ = crane_with_target()
    armature.pose.bones["outer"].lock_location = (False, True, False)
    words = "Chain 'crane': bone 'inner' cannot slide: Y Location of 'outer' is locked; unlock it"
    refused(armature, words)


@pytest.mark.slow
def test_locations_whose_keys_are_locked():
    armature, _ = crane_with_target()
    armature.pose.bones["outer"].keyframe_insert("location", index=1, frame=1)
    existing_fcurves(armature)[0].lock = True
    words = """'Rig': channel pose.bones["outer"].location is locked; unlock it to bake"""
    assert check(armature) == [words]
    with pytest.raises(IK2DError, match="is locked; unlock it to bake"):
        bake_here(armature)


def test_the_two_bone_solver():
    armature, chain = crane_with_target()
    chain.bone_count, chain.solver = 2, 'TWO_BONE'
    words = (
        "Chain 'crane' has bones that slide, but the Two-Bone solver takes rigid ones; turn Slide off or set"
        " the solver to Automatic"
    )
    refused(armature, words)


# --- Told -----------------------------------------------------------------------------------------


def test_the_report_has_the_slides_by_frame():
    armature, _ = crane_with_target()
    report = bake_here(armature)
    told = json.loads(json.dumps(report.to_dict()))["chains"][0]["slides"]
    assert np.shape(told) == (24, 3) and np.array(told) == pytest.approx(report.chains[0].joints.slides)
    bpy.context.scene.frame_set(9)
    assert armature.pose.bones["inner"].location.y == pytest.approx(told[8][0], abs=1e-6)
    row = list(report.chains[0].rows())[8]
    assert row["slides"] == f"boom={told[8][0]:.6g} inner={told[8][1]:.6g} outer=0"


def test_the_report_of_a_rigid_chain_says_nothing_of_slides():
    armature, _ = crane_with_target({})
    report = bake_here(armature)
    assert "slides" not in report.to_dict()["chains"][0]
    assert "slides" not in next(iter(report.chains[0].rows()))


def test_a_constraint_that_stops_a_slide_is_told():
    armature, _ = crane_with_target()
    limit = armature.pose.bones["inner"].constraints.new('LIMIT_LOCATION')
    limit.owner_space, limit.use_max_y, limit.max_y = 'LOCAL', True, 0.1
    (warning, *_) = bake_here(armature).warnings
    assert warning.startswith("Chain 'crane': bone 'inner' is moved by its own constraint 'Limit Location'")


@pytest.mark.slow
def test_limits_of_locations_become_slides():
    armature, chain = crane_with_target({})
    limit = armature.pose.bones["inner"].constraints.new('LIMIT_LOCATION')
    limit.owner_space, limit.use_min_y, limit.use_max_y, limit.min_y, limit.max_y = (
        'LOCAL',
        True,
        True,
        -0.25,
        2,
    )
    take_limits(armature, chain)
    boom = chain.joints["boom"]
    assert (boom.use_slide, boom.slide_min, boom.slide_max) == (True, -0.25, 2.0)
    assert not (chain.joints["inner"].use_slide or chain.joints["outer"].use_slide)
    assert but_jumps(bake_here(armature).warnings) == []
    bpy.context.scene.frame_set(9)
    take_limits(armature, chain)  # where the bone stands says nothing
    assert (boom.slide_min, boom.slide_max) == (-0.25, 2.0)
    limit.use_max_y = False
    take_limits(armature, chain)
    assert chain.left_out == (
        "Left out the slides of 'boom': their Limit Location has no minimum or no maximum"
    )


def test_a_location_that_is_held_in_one_place_is_no_slide():
    armature, chain = crane_with_target({})
    limit = armature.pose.bones["inner"].constraints.new('LIMIT_LOCATION')
    limit.owner_space, limit.use_min_y, limit.use_max_y = 'LOCAL', True, True
    limit.min_y = limit.max_y = 0.25
    take_limits(armature, chain)
    assert not any(joint.use_slide for joint in chain.joints)
    assert (chain.joints["boom"].slide_min, chain.joints["boom"].slide_max) == (0.25, 0.25)
