# SPDX-License-Identifier: GPL-3.0-or-later
"""One chain over all frames: settings that reach the solver, limits, turns, and what is scaled."""

import math
from dataclasses import replace

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from rigs import (
    add_armature,
    add_chain,
    add_target,
    evaluated_tip,
    leg_with_target,
    played_back_errors,
    stretching_arm,
)
from tentacles import add_tentacle, at_targets, sampled

from ik2d_addon.bake import BakeOptions, bake, solve
from ik2d_addon.bake.solving import frames as solving
from ik2d_addon.bake.solving import problem, stretching
from ik2d_addon.bake.solving.frames import solve_chain
from ik2d_addon.bake.solving.problem import Problem
from ik2d_addon.core import IK2DError, Status
from ik2d_addon.core.solution import drained
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.pose.keyed_pose import KeyedPose, NeighborPoses
from ik2d_addon.rig.pose.kinematics import read_linkage
from ik2d_addon.rig.scene.sampler import sample_steps

PLAYED_BACK = 1e-5  # of reach


def circle(target, turns, frames, radius, center=(0.0, 0.0)):
    """Key a target that goes round in the plane x = 0, some turns over frames from 1 on."""
    for frame in range(1, frames + 1):
        angle = 2 * math.pi * turns * (frame - 1) / (frames - 1)
        target.location = (0, center[0] + radius * math.cos(angle), center[1] + radius * math.sin(angle))
        target.keyframe_insert("location", frame=frame)


def places(armature, names):
    """Return the evaluated heads and tail of bones (n + 1, 2) in the plane x = 0."""
    bones = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    points = [bones[name].head for name in names] + [bones[names[-1]].tail]
    return np.array([(point.y, point.z) for point in points])


def angles(joints):
    """Return the angles (n,) of bones, each relative to the one before."""
    bones = np.diff(joints, axis=0)
    headings = np.arctan2(bones[:, 1], bones[:, 0])
    return np.diff(headings, prepend=0.0)


def solved(rig, samples, *more, **settings):
    """Solve a chain on all sampled frames, numbered from 1 on."""
    times = list(range(1, 1 + len(samples.targets)))
    return drained(solve_chain(rig, samples, times, *more, **settings))


# --- Settings that reach the solver ---------------------------------------------------------------


@pytest.mark.parametrize("solver, count", [('TWO_BONE', 2), ('CCD', 2), ('CCD', 4)])
def test_within_the_tolerance_a_target_out_of_reach_counts_as_reached(solver, count):
    armature, chain = add_tentacle(count, solver=solver)
    chain.target.location = (0, 0.5 * count + 0.05, 0)
    assert solve(armature).chains[0].status.tolist() == [Status.TOO_FAR]
    chain.tolerance = 0.04
    assert solve(armature).chains[0].status.tolist() == [Status.TOO_FAR]
    chain.tolerance = 0.06
    report = solve(armature)
    assert report.all_reached and report.max_residual == pytest.approx(0.05, abs=1e-4)


def test_a_coarse_tolerance_saves_corrections():
    armature, chain = add_tentacle(5, side=0.2, solver='CCD', start_from='REST')
    chain.target.location = (0, 0.9, 0.8)
    fine = solve(armature).chains[0]
    for bone in armature.pose.bones:
        bone.rotation_quaternion = (1, 0, 0, 0)
    chain.tolerance = 0.3
    coarse = solve(armature).chains[0]
    assert coarse.joints.iterations[0] < fine.joints.iterations[0]
    assert coarse.residual[0] <= 0.3


def test_fewer_iterations_stop_earlier():
    armature, chain = add_tentacle(3, side=0.3, solver='CCD', start_from='REST')
    chain.target.location = (0, 0.9, 0.8)
    many = solved(*sampled(armature)).solution.iterations[0]
    chain.iterations = 1
    assert solved(*sampled(armature)).solution.iterations[0] < many


@pytest.mark.parametrize("bend, sign", [('POSITIVE', 1), ('NEGATIVE', -1)])
@pytest.mark.parametrize("count", [3, 5])
def test_a_straight_chain_of_many_bones_bends_to_the_chosen_side(count, bend, sign):
    armature, chain = add_tentacle(count, bend=bend)
    normal = read_chain(armature, chain).plane.normal[0]
    for frame, distance in ((1, 0.5 * count), (20, 0.3 * count), (40, 0.45 * count)):
        chain.target.location = (0, distance, 0)
        chain.target.keyframe_insert("location", frame=frame)
    report = bake(armature, frame_start=1, frame_end=40)
    assert report.all_reached
    names = [f"t{i}" for i in range(count)]
    for frame in (10, 20, 30, 40):
        bpy.context.scene.frame_set(frame)
        joints = places(armature, names)
        spokes = joints[1:] - joints[0]
        areas = spokes[:-1, 0] * spokes[1:, 1] - spokes[:-1, 1] * spokes[1:, 0]
        assert np.sign(areas.sum()) == sign * np.sign(normal), frame
        assert abs(areas.sum()) > 0.02


def test_softness_keeps_the_tip_a_little_behind_in_either_solver():
    for solver, count in (('TWO_BONE', 2), ('CCD', 3)):
        armature, chain = add_tentacle(count, solver=solver, side=0.3, softness=0.2)
        chain.target.location = (0, 0.495 * count, 0)
        report = solve(armature)
        assert report.chains[0].status.tolist() == [Status.EASED]
        assert not report.all_reached and report.max_residual > 0.005 * count
        chain.softness = 0.0
        report = solve(armature)
        assert report.all_reached and report.max_residual < 1e-5


# --- Stretch --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("stretch_bones", ('ALL', 'LAST'))
def test_rounds_of_lengthening_are_left_to_chains_that_fall_short(stretch_bones, monkeypatch):
    armature, chain = stretching_arm(stretch_bones=stretch_bones, stretch=6.0)
    rounds = []
    corrected = stretching._corrected_factors
    monkeypatch.setattr(stretching, "_corrected_factors", lambda *of: rounds.append(1) or corrected(*of))
    bake(armature)
    assert rounds == []
    chain.joints["bone1"].use_limit, chain.joints["bone1"].limit_min = True, -0.2
    bake(armature)
    assert rounds


# --- Limits ---------------------------------------------------------------------------------------


def limited_arm(low, high, joint="t0", count=2, parent_turn=None, **settings):
    """Add a base and an arm bent by 0.4, one joint of which is limited, with a target going round."""
    bones, head = {"base": ((0, -0.5, 0), (0, 0, 0), "", 0.0)}, np.zeros(3)
    for i in range(count):
        tail = head + 0.5 * np.array([0.0, math.cos(0.4 * i), math.sin(0.4 * i)])
        bones[f"t{i}"] = (tuple(head), tuple(tail), f"t{i - 1}" if i else "base", 0.3 * i)
        head = tail
    armature = add_armature(bones)
    target = add_target({})
    circle(target, 1, 41, 0.3 * count)
    target.parent = armature
    if parent_turn:
        base = armature.pose.bones["base"]
        base.rotation_mode = 'XYZ'
        for frame, turn in ((1, 0.0), (41, parent_turn)):
            base.rotation_euler.x = turn
            base.keyframe_insert("rotation_euler", frame=frame)
    chain = add_chain(armature, f"t{count - 1}", target, bone_count=count, **settings)
    entry = chain.joints[joint]
    entry.use_limit, entry.limit_min, entry.limit_max = True, low, high
    return armature, chain


def local_turn(armature, bone):
    """Return how far the evaluated bone is turned about X from rest, as its evaluated parent carries it."""
    posed = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[bone]
    rest = armature.data.bones[bone]
    carried = posed.parent.matrix @ rest.parent.matrix_local.inverted() @ rest.matrix_local
    turned = posed.matrix.to_3x3() @ carried.to_3x3().inverted()
    rest_space = posed.parent.matrix.to_3x3() @ rest.parent.matrix_local.to_3x3().inverted()
    turned = rest_space.inverted() @ turned @ rest_space
    return math.atan2(turned[2][1], turned[1][1])


@pytest.mark.slow
@pytest.mark.parametrize("parent_turn", [None, 1.2])
@pytest.mark.parametrize("solver, count", [('TWO_BONE', 2), ('CCD', 2), ('CCD', 4)])
def test_the_first_joint_stays_within_its_limits_and_reaches_where_these_allow(solver, count, parent_turn):
    armature, chain = limited_arm(-0.6, 0.9, "t0", count, parent_turn, solver=solver)
    report = bake(armature, frame_start=1, frame_end=41).chains[0]
    free = replaced_limits(chain, bake, armature)
    low, high = -0.6, 0.9
    inside = outside = 0
    bake(armature, frame_start=1, frame_end=41)
    for i, frame in enumerate(range(1, 42)):
        bpy.context.scene.frame_set(frame)
        turn = local_turn(armature, "t0")
        assert low - 1e-4 <= turn <= high + 1e-4, frame
        tip = (evaluated_tip(armature, chain.tip) - chain.target.matrix_world.translation).length
        assert tip == pytest.approx(math.hypot(report.residual[i], report.off_plane[i]), abs=2e-5)
        if low + 1e-3 < free[i] < high - 1e-3:  # free, it would stand within them too
            assert report.status[i] == Status.REACHED, frame
            inside += 1
        outside += report.status[i] == Status.LIMITED
        if report.status[i] == Status.LIMITED:
            assert report.joints.limited[i, 0]
            assert min(abs(turn - low), abs(turn - high)) < 1e-4
    assert inside >= 5 and outside >= 5


def replaced_limits(chain, bake, armature):
    """Return how far the first joint turns on each frame without its limits."""
    entry = chain.joints[0]
    entry.use_limit = False
    bake(armature, frame_start=1, frame_end=41)
    turns = []
    for frame in range(1, 42):
        bpy.context.scene.frame_set(frame)
        turns.append(local_turn(armature, "t0"))
    entry.use_limit = True
    return turns


@pytest.mark.parametrize("weight", [0.0, 0.25])
def test_weights_and_limits_hold_together(weight):
    armature, chain = limited_arm(-0.3, 0.5, "t1", 4)
    chain.joints["t2"].weight = weight
    report = bake(armature, frame_start=1, frame_end=41)
    turns = []
    for i, frame in enumerate(range(1, 42)):
        bpy.context.scene.frame_set(frame)
        assert -0.3 - 1e-4 <= local_turn(armature, "t1") <= 0.5 + 1e-4
        turns.append(local_turn(armature, "t2"))
        tip = (evaluated_tip(armature, chain.tip) - chain.target.matrix_world.translation).length
        assert tip == pytest.approx(report.chains[0].residual[i], abs=2e-5)
    assert (np.abs(turns).max() < 1e-4) == (weight == 0.0)
    assert report.chains[0].joints.limited[:, 2].all() == (weight == 0.0)
    assert (report.chains[0].status == Status.REACHED).sum() >= 30


def test_a_joint_of_little_weight_turns_less_than_the_others():
    moved = {}
    for weight in (1.0, 0.1):
        armature, chain = add_tentacle(4, side=0.3)
        chain.joints["t1"].weight = weight
        chain.target.location = (0, 1.0, 1.0)
        assert solve(armature).all_reached
        moved[weight] = abs(angles(places(armature, [f"t{i}" for i in range(4)]))[1] - 0.3)
    assert moved[0.1] < 0.5 * moved[1.0]


def test_a_bake_says_what_limits_stopped():
    armature, chain = limited_arm(-0.2, 0.2, "t0")
    report = bake(armature, frame_start=1, frame_end=41)
    count = int((report.chains[0].status == Status.LIMITED).sum())
    assert count > 10
    assert f"{count} of 41 frames stopped by limits, worst by" in report.sentence()
    assert "LIMITED" in report.to_dict()["chains"][0]["status"]


def test_a_bake_says_where_it_stalled(monkeypatch):
    armature, chain = add_tentacle(4, side=0.3)
    circle(chain.target, 0.2, 5, 1.2)
    all_at_once = problem.solved_steps

    def stalls(*arguments):
        solution = yield from all_at_once(*arguments)
        status = solution.status.copy()
        if len(status) == 5:
            status[2] = Status.STALLED
            solution.angles[2, 0] += 0.1
        return replace(solution, status=status)

    monkeypatch.setattr(problem, "solved_steps", stalls)
    report = bake(armature, frame_start=1, frame_end=5)
    assert report.chains[0].status.tolist() == [0, 0, Status.STALLED, 0, 0]
    assert "; 1 of 5 frames stalled, worst by " in report.sentence() and "at frame 3" in report.sentence()
    assert not report.all_reached
    assert report.to_dict()["chains"][0]["status"][2] == "STALLED"


# --- Turns that go on -----------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ['QUATERNION', 'XYZ', 'AXIS_ANGLE'])
@pytest.mark.parametrize("count, turns", [(2, 3), (3, -3)])
def test_keys_go_on_where_a_target_circles_the_root(count, turns, mode):
    armature, chain = add_tentacle(count, side=0.4)
    for bone in armature.pose.bones:
        bone.rotation_mode = mode
    circle(chain.target, turns, 121, 0.3 * count)
    report = bake(armature, frame_start=1, frame_end=121, options=BakeOptions(verify='NONE'))
    assert report.all_reached
    for curve in existing_fcurves(armature):
        values = [key.co.y for key in curve.keyframe_points]
        assert len(values) == 121
        assert np.abs(np.diff(values)).max() < 0.35, (curve.data_path, curve.array_index)
        if mode != 'QUATERNION' and (curve.array_index == 0):
            assert abs(values[0]) <= math.pi + 1e-6
    span = [np.ptp([key.co.y for key in curve.keyframe_points]) for curve in existing_fcurves(armature)]
    if mode != 'QUATERNION':
        assert max(span) > 0.9 * 6 * math.pi
    for frame, error in played_back_errors(armature, chain, range(1, 122, 7)):
        assert error <= PLAYED_BACK * report.chains[0].standard.reach, frame
    for frame in range(1, 121, 7):  # and between the keys it takes the short way, too
        bpy.context.scene.frame_set(frame, subframe=0.5)
        tip = evaluated_tip(armature, chain.tip)
        assert (tip - chain.target.matrix_world.translation).length < 0.02 * report.chains[
            0
        ].standard.reach, frame


@pytest.mark.parametrize("half", [0, 1, -1])
def test_the_first_frame_is_within_half_a_turn_of_rest(half):
    armature, chain = add_tentacle(2, side=0.4)
    for bone in armature.pose.bones:
        bone.rotation_mode = 'XYZ'
    for frame in (1, 2):
        angle = half * 0.9 * math.pi
        chain.target.location = (0, 0.7 * math.cos(angle), 0.7 * math.sin(angle))
        chain.target.keyframe_insert("location", frame=frame)
    bake(armature, frame_start=1, frame_end=2)
    for bone in armature.pose.bones:
        assert abs(bone.rotation_euler.x) <= math.pi + 1e-6


# --- Numbers of a solved chain --------------------------------------------------------------------


def test_each_frame_starts_from_the_one_before():
    armature, chain = add_tentacle(5, side=0.2, solver='CCD')
    rig, samples = sampled(armature)
    path = [(0, 1.6 * math.cos(a), 1.6 * math.sin(a)) for a in np.linspace(0.3, 2.3, 41)]
    found = solved(rig, at_targets(samples, path))
    assert found.steps[0].max() == 0.0
    assert np.degrees(found.steps[1:].max()) < 8.0  # degrees; the path itself turns by 2.9
    alone = solved(rig, at_targets(samples, path[-1:]))
    assert np.abs(found.turns[-1] - alone.turns[0]).max() > 0.01


def test_steps_are_the_turns_of_joints_from_the_frame_before_to_either_side():
    armature, _ = add_tentacle(2, side=0.4)
    found = solved(*sampled(armature))
    turns = np.radians([[0.0, 0.0], [3.0, -5.0], [3.0, -5.0], [-4.0, -4.0]])
    steps = np.degrees(replace(found, turns=turns).steps)
    assert steps == pytest.approx(np.array([[0.0, 0.0], [3.0, 5.0], [0.0, 0.0], [7.0, 1.0]]))


def test_some_rows_of_a_solved_chain():
    armature, _ = add_tentacle(3, side=0.4)
    rig, samples = sampled(armature)
    found = solved(rig, at_targets(samples, [(0.1 * i, 1.0, 0.1 * i) for i in range(4)] + [(0, 9, 0)]))
    some = found.at([0, 4])
    assert (some.turns == found.turns[[0, 4]]).all()
    for name in ("residual", "off_plane"):
        assert (getattr(some.miss, name) == getattr(found.miss, name)[[0, 4]]).all()
    for name in ("angles", "status", "residual", "iterations", "limited"):
        assert (getattr(some.solution, name) == getattr(found.solution, name)[[0, 4]]).all()
    assert some.solution.status.tolist() == [Status.REACHED, Status.TOO_FAR]
    assert (some.reach, some.noticed.uneven_scale) == (found.reach, found.noticed.uneven_scale)


@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_lengths_are_the_worlds(scale):
    armature, chain = add_tentacle(2, side=0.4)
    armature.matrix_world = Matrix.LocRotScale((1, 2, 3), Matrix.Rotation(0.7, 3, (1, 2, 3)), (scale,) * 3)
    rig, samples = sampled(armature)
    world = np.array(armature.matrix_world)

    def there(*place):
        return world[:3, :3] @ place + world[:3, 3]

    found = solved(rig, at_targets(samples, [there(0.3, 0.5, 0.4), there(-0.1, 1.5, 0.0)]))
    assert found.reach == pytest.approx(scale * 1.0, rel=1e-5)
    assert found.miss.off_plane == pytest.approx([0.3 * scale, 0.1 * scale], abs=1e-5)
    assert found.miss.residual == pytest.approx([0.0, 0.5 * scale], abs=1e-5)
    assert found.noticed.joints_off_plane == pytest.approx(0.0, abs=1e-5)


def test_heights_over_the_plane_are_kept():
    """The tip stays as far off the plane as it is in rest."""
    armature = add_armature(
        {"a": ((0, 0, 0), (0.1, 1, 0), "", 0.0), "b": ((0.1, 1, 0), (0.3, 2, 0.4), "a", 0.0)}
    )
    add_chain(armature, "b", add_target({}), plane='X')
    armature.scale = (2, 2, 2)
    rig, samples = sampled(armature)
    found = solved(rig, at_targets(samples, [(0.6, 2.0, 1.0), (0.0, 2.0, 1.0), (0.9, 2.0, 1.0)]))
    assert found.miss.off_plane == pytest.approx([0.0, 0.6, 0.3], abs=1e-5)
    assert found.noticed.joints_off_plane == pytest.approx(0.6, abs=1e-5)


def test_frames_out_of_reach_are_not_aimed_again():
    armature, _ = add_tentacle(2, side=0.4)
    rig, samples = sampled(armature)
    found = solved(rig, at_targets(samples, [(0, 0.5, 0.5), (0, 3.0, 0.0)]))
    assert found.miss.residual == pytest.approx([0.0, 2.0], abs=1e-5)
    assert found.turns[1] == pytest.approx((0.0, -0.4), abs=1e-5)


# --- Chains that stretch --------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ['TWO_BONE', 'CCD'])
def test_a_chain_that_stretches_is_another_on_each_frame(solver):
    armature, chain = add_tentacle(2, side=0.4, solver=solver)
    rig, samples = sampled(armature)
    sizes = np.array([1.0, 1.3, 1.7, 1.7])
    held = at_targets(samples, [(0, 0.4, 0.6)] * 3 + [(0, 1.6, 0.0)])
    bases = held.bases.copy()
    bases[:, 0, :3, :3] *= sizes[:, None, None]
    held = replace(held, bases=bases)
    found = solved(rig, held)
    assert (found.solution.status == Status.REACHED).all()
    assert found.miss.residual.max() < 1e-6
    assert found.reach == pytest.approx(1.7, abs=1e-5)
    assert found.noticed.uneven_scale == ""
    assert found.turns.shape == (4, 2) and np.isfinite(found.turns).all()
    tips = read_linkage(rig, held).tips(found.turns)
    assert tips == pytest.approx(rig.plane.project(held.targets), abs=1e-6)
    assert np.abs(np.diff(found.turns[:3], axis=0)).max() > 0.05


@pytest.mark.slow
def test_a_joint_that_moves_by_itself_keeps_its_limit_relative_to_rest():
    """The parts of a chain that changes are solved one by one, each from the one before, with its limits."""
    armature, chain = add_tentacle(3, side=0.4)
    entry = chain.joints["t1"]
    entry.use_limit, entry.limit_min, entry.limit_max = True, -0.2, 0.2
    rig, samples = sampled(armature)
    held = at_targets(samples, [(0, 0.3, 0.2 + 0.01 * i) for i in range(6)])
    bases = held.bases.copy()
    bases[:, 0, :3, :3] *= (1.0 + 0.05 * np.arange(6))[:, None, None]
    found = solved(rig, replace(held, bases=bases))
    assert np.abs(found.turns[:, 1]).max() <= 0.2 + 1e-6
    assert np.degrees(found.steps[1:].max()) < 30.0


# --- Uneven scale ---------------------------------------------------------------------------------


def scaled_arm():
    """Add two bones above a chain of two."""
    armature = add_armature(
        {
            "root": ((0, -2, 0), (0, -1, 0), "", 0.0),
            "hip": ((0, -1, 0), (0, 0, 0), "root", 0.0),
            "a": ((0, 0, 0), (0, 1, 0.2), "hip", 0.0),
            "b": ((0, 1, 0.2), (0, 2, 0), "a", 0.0),
        }
    )
    add_chain(armature, "b", add_target({}))
    return armature


@pytest.mark.parametrize("name", ["root", "hip", "a", "b"])
def test_the_bone_that_is_scaled_unevenly_is_named(name):
    armature = scaled_arm()
    assert solved(*sampled(armature)).noticed.uneven_scale == ""
    armature.pose.bones[name].scale = (1.0, 1.2, 1.0)
    assert solved(*sampled(armature)).noticed.uneven_scale == f"bone '{name}'"
    armature.scale = (1, 1, 2)
    assert solved(*sampled(armature)).noticed.uneven_scale == "armature 'Rig'"
    armature.scale = (2, 2, 2)
    armature.pose.bones[name].scale = (1.2, 1.2, 1.2)
    assert solved(*sampled(armature)).noticed.uneven_scale == ""


def test_a_bone_above_that_was_scaled_at_another_frame_may_be_any():
    armature = scaled_arm()
    armature.pose.bones["hip"].scale = (1.0, 1.2, 1.0)
    rig, samples = sampled(armature)
    armature.pose.bones["hip"].scale = (1.0, 1.0, 1.0)
    bpy.context.view_layer.update()
    assert solved(rig, samples).noticed.uneven_scale == "bone 'hip', or one above it,"


def test_a_plain_bake_of_the_leg_is_not_uneven():
    armature, _ = leg_with_target()
    assert solved(*sampled(armature)).noticed.uneven_scale == ""


# --- Chains of one kind ---------------------------------------------------------------------------


def several_legs(seed, count=7):
    """Return the chains of legs of other lengths and rolls, with targets that move in and out of reach."""
    rng = np.random.default_rng(seed)
    bones = {}
    for k in range(count):
        knee, foot = rng.uniform(0.3, 1.2, 2)
        roll, aside = rng.uniform(-3, 3), rng.uniform(0.05, 0.3)
        bones[f"thigh{k}"] = ((0, 2 * k, 2), (aside, 2 * k, 2 - knee), "", float(roll))
        bones[f"shin{k}"] = ((aside, 2 * k, 2 - knee), (0, 2 * k, 2 - knee - foot), f"thigh{k}", float(-roll))
    armature = add_armature(bones)
    for k in range(count):
        keys = {
            frame: (float(rng.uniform(-1.5, 1.5)), 2.0 * k, float(rng.uniform(0, 2)))
            for frame in (1, 8, 15, 20)
        }
        settings = {"softness": 0.2} if k % 3 == 0 else {}
        add_chain(armature, f"shin{k}", add_target(keys, f"Target {k}"), **settings)
    return [read_chain(armature, chain) for chain in armature.ik2d.chains]


@pytest.mark.parametrize("seed", range(3))
def test_chains_of_one_kind_are_solved_as_each_alone(seed, monkeypatch):
    rigs, frames = several_legs(seed), list(range(1, 21))
    samples = drained(sample_steps(bpy.context.scene, rigs, frames)).chains
    asked = [solving.Asked(rig, own, frames) for rig, own in zip(rigs, samples, strict=True)]
    joined, real = [], Problem.of
    monkeypatch.setattr(Problem, "of", lambda rigs, *own: joined.append(len(rigs)) or real(rigs, *own))
    together = drained(solving.solve_chains(asked))
    assert joined == [7]
    for one, rig, own in zip(together, rigs, samples, strict=True):
        alone = drained(solving.solve_chain(rig, own, frames))
        for name in ("turns", "angles"):
            assert getattr(one, name).tolist() == getattr(alone, name).tolist(), name
        for name in ("distance", "residual", "off_plane"):
            assert getattr(one.miss, name).tolist() == getattr(alone.miss, name).tolist(), name
        assert one.solution.status.tolist() == alone.solution.status.tolist()
        assert (one.reach, one.tolerance) == (alone.reach, alone.tolerance)
    assert len({int(status) for one in together for status in one.solution.status}) > 1


def test_each_of_one_kind_joins_its_own_keys():
    rigs, frames = several_legs(1), list(range(1, 21))
    samples = drained(sample_steps(bpy.context.scene, rigs, frames)).chains
    turns = [np.array([2.0 * math.pi * k, -2.0 * math.pi * (k % 2)]) for k in range(len(rigs))]
    joins = [
        NeighborPoses(KeyedPose(0.0, each, {})) if k else NeighborPoses() for k, each in enumerate(turns)
    ]
    asked = [solving.Asked(*one, frames, join) for *one, join in zip(rigs, samples, joins, strict=True)]
    for one, alone, each in zip(drained(solving.solve_chains(asked)), asked, turns, strict=True):
        (found,) = drained(solving.solve_chains([alone]))
        assert one.turns.tolist() == found.turns.tolist()
        assert (np.abs(one.turns[0] - each) <= math.pi).all()


def test_many_frames_of_one_kind_are_solved_in_parts(monkeypatch):
    rigs, frames = several_legs(0), list(range(1, 21))
    samples = drained(sample_steps(bpy.context.scene, rigs, frames)).chains
    asked = [solving.Asked(rig, own, frames) for rig, own in zip(rigs, samples, strict=True)]
    joined, real = [], Problem.of
    monkeypatch.setattr(Problem, "of", lambda rigs, *own: joined.append(len(rigs)) or real(rigs, *own))
    monkeypatch.setattr(solving, "_TOGETHER", 60)
    together = drained(solving.solve_chains(asked))
    assert joined == [3, 3, 1]
    for one, rig, own in zip(together, rigs, samples, strict=True):
        assert one.turns.tolist() == drained(solving.solve_chain(rig, own, frames)).turns.tolist()


def test_an_error_names_the_chain_among_several(monkeypatch):
    rigs, frames = several_legs(0, 3), [1, 2]
    samples = list(drained(sample_steps(bpy.context.scene, rigs, frames)).chains)
    asked = [solving.Asked(rig, own, frames) for rig, own in zip(rigs, samples, strict=True)]
    real = Problem.of

    def failing(some, *others):
        if rigs[1] in some:
            raise IK2DError("no")
        return real(some, *others)

    monkeypatch.setattr(Problem, "of", failing)
    with pytest.raises(IK2DError, match=f"Chain '{rigs[1].name}' cannot be solved: no"):
        drained(solving.solve_chains(asked))
