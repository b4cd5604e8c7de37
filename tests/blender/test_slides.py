# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that slide: where Blender has the tip, which channels are keyed, and how they come back."""

import json

import bpy
import numpy as np
import pytest
from mathutils import Euler
from rigs import (
    add_crane,
    add_target,
    disconnect,
    evaluated_place,
    evaluated_tip,
    every_bit_of_animation,
    played_back_errors,
    set_slide,
)

from ik2d_addon.bake import BakeOptions, bake, bake_steps, solve
from ik2d_addon.bake.request import problems
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.compat import existing_fcurves
from ik2d_addon.ui.baking import clear_bake
from ik2d_addon.ui.chains import take_limits

FRAMES = range(1, 25)
TELESCOPE = {"boom": (-0.5, 1.0), "inner": (0.0, 0.75)}
ALL_SLIDE = {**TELESCOPE, "outer": (0.0, 0.5)}
# Near and far: between them the crane, 4.5 long, slides in and out.
PATH = {1: (0, 3.4, 2.0), 8: (0, 4.6, 2.6), 16: (0, 3.6, 4.2), 24: (0, 3.0, 1.2)}
CLOSE = 1e-5 * 6.25
SOLVERS = ['CCD', 'EVEN']


def crane(slides=TELESCOPE, solver='EVEN', path=PATH, **shape):
    """Add a crane, and a target that moves; return the armature and its chain."""
    armature, chain = add_crane(slides, **shape)
    chain.target, chain.solver = add_target(path), solver
    return armature, chain


def bake_here(armature, first=1, last=24, **options):
    return bake(armature, frame_start=first, frame_end=last, options=BakeOptions(**options))


def worst(armature, chain, frames=FRAMES):
    """Return how far Blender has the tip off its target, at most."""
    return max(error for _, error in played_back_errors(armature, chain, frames))


def keyed(armature, channel="location"):
    """Return which channels of which bones have keys."""
    paths = {bone.path_from_id(channel): bone.name for bone in armature.pose.bones}
    curves = existing_fcurves(armature)
    return {(paths[c.data_path], c.array_index) for c in curves if c.data_path in paths}


def locations(armature):
    return [[x.hex() for x in bone.location] for bone in armature.pose.bones]


def refused(armature, words):
    """Hold check, solve and bake to one sentence, and to changing nothing."""
    animation, places = every_bit_of_animation(armature), locations(armature)
    assert problems(armature) == [words]
    for act in (solve, bake):
        with pytest.raises(IK2DError) as caught:
            act(armature)
        assert str(caught.value) == words
    assert (every_bit_of_animation(armature), locations(armature)) == (animation, places)


# --- The tip --------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [{}, {"drop": 0.4}, {"drop": 0.4, "roll": 0.8}], ids=str)
@pytest.mark.parametrize("slides", [TELESCOPE, {"outer": (0.0, 1.0)}, ALL_SLIDE], ids=len)
def test_the_tip_is_on_its_target_where_blender_evaluates_it(slides, shape, solver):
    armature, chain = crane(slides, solver, **shape)
    report = bake_here(armature)
    assert not report.chains[0].missed.any() and worst(armature, chain) < CLOSE
    assert np.ptp(report.chains[0].slides, axis=0).max() > 0.01


def test_what_only_slides_reach_is_reached():
    armature, chain = crane(path={1: (0, 5.9, 1.5), 24: (0, 5.0, 2.0)})
    assert bake_here(armature).all_reached and worst(armature, chain) < CLOSE
    chain.joints["boom"].use_slide = chain.joints["inner"].use_slide = False
    assert not bake_here(armature).all_reached


def test_a_telescope_whose_inner_joints_do_not_turn():
    armature, chain = crane(path={1: (0, 4.2, 1.5), 12: (0, 4.0, 4.5), 24: (0, 5.8, 1.2)})
    chain.joints["inner"].weight = chain.joints["outer"].weight = 0.0
    report = bake_here(armature)
    assert report.all_reached and worst(armature, chain) < CLOSE
    bpy.context.scene.frame_set(12)
    heads = [np.array(armature.pose.bones[name].matrix.to_3x3()) for name in ("boom", "inner", "outer")]
    assert np.abs(heads[1] - heads[0]).max() < 1e-6 and np.abs(heads[2] - heads[0]).max() < 1e-6


def test_slides_stay_within_their_ranges():
    armature, _ = crane(ALL_SLIDE, path={1: (0, 6.2, 1.5), 12: (0, 1.0, 1.2), 24: (0, 4.0, 4.0)})
    slides = bake_here(armature).chains[0].slides
    least, most = np.array([ALL_SLIDE[name] for name in ("boom", "inner", "outer")]).T
    assert (slides >= least - 1e-9).all() and (slides <= most + 1e-9).all()


def test_a_chain_in_a_moved_and_scaled_armature():
    armature, chain = crane(ALL_SLIDE, drop=0.2)
    armature.location, armature.rotation_euler, armature.scale = (1, 2, 3), Euler((0.4, 0.2, 0.1)), (2.0,) * 3
    chain.target.parent = armature
    assert bake_here(armature).all_reached and worst(armature, chain) < 2.0 * CLOSE


@pytest.mark.parametrize("mode", ['NONE', 'ALIGNED', 'FULL'])
def test_bones_that_inherit_scale_in_other_ways(mode):
    armature, chain = crane(ALL_SLIDE)
    for name in ("inner", "outer"):
        armature.data.bones[name].inherit_scale = mode
    armature.pose.bones["boom"].scale = (1.1,) * 3
    assert bake_here(armature).all_reached and worst(armature, chain) < CLOSE


def test_what_stands_beside_the_tail_is_carried_too():
    armature, chain = crane(beside=0.15)
    assert bake_here(armature).all_reached and worst(armature, chain) < CLOSE


def test_solve_poses_the_location_too():
    armature, chain = crane(path={1: (0, 5.8, 1.5)})
    assert solve(armature).all_reached
    assert (evaluated_tip(armature, "outer") - evaluated_place(chain.target)).length < CLOSE
    assert armature.animation_data is None


def test_solve_again_gives_the_same_pose():
    armature, _ = crane(ALL_SLIDE, path={1: (0, 5.8, 1.5)})
    armature.pose.bones["inner"].location = (0.0, 0.1, 0.0)
    solve(armature)
    first = locations(armature)
    solve(armature)
    assert locations(armature) == first


# --- What is keyed --------------------------------------------------------------------------------


def test_only_channels_that_slides_need_are_keyed():
    armature, _ = crane()
    bake_here(armature)
    assert keyed(armature) == {("inner", 1), ("outer", 1)}


def test_a_bent_rest_and_an_own_slide_take_two_channels():
    armature, _ = crane({"boom": (0.0, 1.0), "outer": (0.0, 1.0)}, drop=0.4)
    bake_here(armature)
    assert keyed(armature) == {("inner", 1), ("inner", 2), ("outer", 1), ("outer", 2)}


def test_a_location_that_the_bone_has_is_added_to():
    armature, chain = crane({"boom": (0.0, 1.0)})
    armature.pose.bones["inner"].location = (0.0, 0.2, -0.1)
    report = bake_here(armature)
    assert report.all_reached and worst(armature, chain) < CLOSE
    bpy.context.scene.frame_set(9)
    place = armature.pose.bones["inner"].location
    assert place.y == pytest.approx(0.2 + report.chains[0].slides[8, 0], abs=1e-6)
    assert place.z == np.float32(-0.1)


def test_a_second_bake_gives_the_same_keys():
    armature, _ = crane(ALL_SLIDE)
    armature.pose.bones["inner"].location = (0.0, 0.1, 0.0)
    bake_here(armature)
    first = every_bit_of_animation(armature)
    bpy.context.scene.frame_set(13)
    bake_here(armature)
    assert every_bit_of_animation(armature) == first


def test_slides_turned_off_and_baked_again_leave_no_keys():
    armature, chain = crane()
    before = locations(armature)
    bake_here(armature)
    for name in TELESCOPE:
        chain.joints[name].use_slide = False
    bake_here(armature)
    assert keyed(armature) == set()
    assert locations(armature) == before and worst(armature, chain, [1, 24]) < CLOSE
    bake_here(armature)
    assert locations(armature) == before


@pytest.mark.parametrize("bound", [0.001, 0.02])
def test_few_keys_keep_the_tip_within_the_bound(bound):
    armature, chain = crane(ALL_SLIDE)
    report = bake_here(armature, reduce=bound, verify='ALL')
    assert report.chains[0].keys < len(FRAMES) - 4
    assert worst(armature, chain) < bound + CLOSE
    assert report.chains[0].max_error < bound + CLOSE


def test_between_frames_handles_keep_the_tip_on_its_way():
    steps = {1: (0, 3.4, 2.0), 5: (0, 3.4, 2.0), 7: (0, 5.6, 2.2), 9: (0, 5.6, 2.2), 24: (0, 3.4, 2.0)}
    armature, chain = crane(path=steps)
    for curve in existing_fcurves(chain.target):
        for key in curve.keyframe_points:
            key.interpolation = 'LINEAR'
    report = bake_here(armature, last=12, verify='ALL')
    assert report.chains[0].max_between < 2e-3 * report.chains[0].reach


def test_influence_blends_slides_too():
    armature, chain = crane()
    whole = bake_here(armature).chains[0].slides
    chain.influence = 0.25
    assert bake_here(armature).chains[0].slides == pytest.approx(0.25 * whole, abs=1e-9)
    chain.influence = 0.0
    bake_here(armature)
    bpy.context.scene.frame_set(9)
    assert all(bone.location.length < 1e-6 for bone in armature.pose.bones)


def test_ccd_goes_on_from_the_slides_before_the_range():
    armature, chain = crane(solver='CCD')
    whole = bake_here(armature).chains[0].slides
    clear_bake(armature)
    bake_here(armature, 1, 12)
    assert bake_here(armature, 13, 24).chains[0].slides == pytest.approx(whole[12:], abs=1e-5)


def test_ccd_from_rest_starts_each_frame_from_no_slide():
    armature, chain = crane(solver='CCD')
    chain.start_from = 'REST'
    slides = bake_here(armature).chains[0].slides
    assert bake_here(armature, 13, 24).chains[0].slides == pytest.approx(slides[12:], abs=1e-9)


def test_a_chain_that_hangs_on_one_that_slides():
    armature, chain = crane(path={1: (0, 3.4, 2.0), 24: (0, 2.5, 3.6)})
    chain.bone_count, chain.tip = 2, "inner"
    set_slide(chain, "boom", 0.0, 1.0)
    hung = armature.ik2d.chains.add()
    hung.name, hung.tip, hung.bone_count = "hung", "outer", 1
    hung.target = add_target({1: (0, 4.0, 3.0), 24: (0, 6.0, 1.0)})
    set_slide(hung, "outer", -0.9, 4.0)
    assert bake_here(armature).all_reached
    assert worst(armature, chain) < CLOSE and worst(armature, hung) < CLOSE


# --- Taking it back -------------------------------------------------------------------------------


def test_clear_bake_puts_all_back_to_the_last_bit():
    armature, _ = crane(ALL_SLIDE, drop=0.3)
    armature.pose.bones["inner"].location = (0.1, 0.2, 0.3)
    armature.pose.bones["outer"].location = (0.0, -0.1, 0.0)
    before = locations(armature)
    bake_here(armature)
    bpy.context.scene.frame_set(9)
    assert clear_bake(armature) > 0
    assert locations(armature) == before
    assert existing_fcurves(armature) == [] or not list(existing_fcurves(armature))


def test_clear_bake_leaves_keys_made_by_hand():
    armature, _ = crane()
    inner = armature.pose.bones["inner"]
    for frame in (40, 50):
        inner.location.y = frame / 100.0
        inner.keyframe_insert("location", index=1, frame=frame)
    before = every_bit_of_animation(armature)["curves"]
    bake_here(armature)
    clear_bake(armature)
    assert every_bit_of_animation(armature)["curves"].keys() == before.keys()
    assert [key.co.x for key in existing_fcurves(armature)[0].keyframe_points] == [40, 50]


def test_clear_bake_leaves_locations_that_no_slide_has_written():
    armature, _ = crane({"boom": (0.0, 1.0)})
    outer = armature.pose.bones["outer"]
    outer.keyframe_insert("location", index=0, frame=3)
    (curve,) = existing_fcurves(armature)
    curve.keyframe_points[0].type = 'GENERATED'  # by another tool
    bake_here(armature)
    clear_bake(armature)
    assert keyed(armature) == {("outer", 0)}


def test_a_bake_that_is_left_changes_nothing():
    armature, chain = crane()
    armature.pose.bones["inner"].location = (0.0, 0.2, 0.0)
    animation, places = every_bit_of_animation(armature), locations(armature)
    steps = bake_steps(armature, None, 1, 24)
    for _ in range(40):
        next(steps)
    steps.close()
    assert (every_bit_of_animation(armature), locations(armature)) == (animation, places)
    assert not any(any(joint.slid) for joint in chain.joints)


# --- Refused --------------------------------------------------------------------------------------


def test_bones_that_are_connected():
    armature, _ = crane()
    bpy.ops.object.mode_set(mode='EDIT')
    armature.data.edit_bones["inner"].use_connect = True
    bpy.ops.object.mode_set(mode='OBJECT')
    words = (
        "Chain 'crane': bone 'boom' cannot slide: bone 'inner', which it carries, is connected to its parent"
        " and has no location; disconnect it in Edit Mode (Alt P)"
    )
    refused(armature, words)
    disconnect(armature)
    assert problems(armature) == []


def test_locations_that_are_locked():
    armature, _ = crane()
    armature.pose.bones["outer"].lock_location = (False, True, False)
    words = "Chain 'crane': bone 'inner' cannot slide: Y Location of 'outer' is locked; unlock it"
    refused(armature, words)


def test_locations_whose_keys_are_locked():
    armature, _ = crane()
    armature.pose.bones["outer"].keyframe_insert("location", index=1, frame=1)
    existing_fcurves(armature)[0].lock = True
    words = """'Rig': channel pose.bones["outer"].location is locked; unlock it to bake"""
    assert problems(armature) == [words]
    with pytest.raises(IK2DError, match="is locked; unlock it to bake"):
        bake_here(armature)


def test_the_two_bone_solver():
    armature, chain = crane()
    chain.bone_count, chain.solver = 2, 'TWO_BONE'
    words = (
        "Chain 'crane' has bones that slide, but the Two-Bone solver takes rigid ones; turn Slide off or set"
        " the solver to Automatic"
    )
    refused(armature, words)


# --- Told -----------------------------------------------------------------------------------------


def test_the_report_has_the_slides_by_frame():
    armature, _ = crane()
    report = bake_here(armature)
    told = json.loads(json.dumps(report.to_dict()))["chains"][0]["slides"]
    assert np.shape(told) == (24, 3) and np.array(told) == pytest.approx(report.chains[0].slides)
    bpy.context.scene.frame_set(9)
    assert armature.pose.bones["inner"].location.y == pytest.approx(told[8][0], abs=1e-6)
    row = list(report.chains[0].rows())[8]
    assert [float(word) for word in row["slides"].split()] == pytest.approx(told[8], rel=1e-5, abs=1e-5)


def test_the_report_of_a_rigid_chain_says_nothing_of_slides():
    armature, _ = crane({})
    report = bake_here(armature)
    assert "slides" not in report.to_dict()["chains"][0]
    assert "slides" not in next(iter(report.chains[0].rows()))


def test_a_constraint_that_stops_a_slide_is_told():
    armature, _ = crane()
    limit = armature.pose.bones["inner"].constraints.new('LIMIT_LOCATION')
    limit.owner_space, limit.use_max_y, limit.max_y = 'LOCAL', True, 0.1
    (warning, *_) = bake_here(armature).warnings
    assert warning.startswith("Chain 'crane': bone 'inner' is ruled by its own constraint 'Limit Location'")


def test_limits_of_locations_become_slides():
    armature, chain = crane({})
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
    assert bake_here(armature).warnings == ()
    bpy.context.scene.frame_set(9)
    take_limits(armature, chain)  # where the bone stands says nothing
    assert (boom.slide_min, boom.slide_max) == (-0.25, 2.0)
    limit.use_max_y = False
    take_limits(armature, chain)
    assert chain.left_out == (
        "Left out the slides of 'boom': their Limit Location has no minimum or no maximum"
    )
