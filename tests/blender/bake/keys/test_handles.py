# SPDX-License-Identifier: GPL-3.0-or-later
"""Between two frames: where automatic handles lead the tip off, and the handles that do not."""

import math
from dataclasses import replace

import bpy
import numpy as np
import pytest
from chain_reports import with_changes
from rigs import add_armature, add_chain, add_target, evaluated_place, evaluated_tip, leg_with_target

from ik2d_addon.bake import BakeOptions, bake
from ik2d_addon.bake.keys import handles, keying
from ik2d_addon.bake.keys.cubics import hermite
from ik2d_addon.bake.keys.handles import (
    DOUBTFUL,
    HALF_WAY,
    Between,
    Draft,
    between_frames,
    shaped_rotations,
)
from ik2d_addon.bake.solving.frames import solve_chain, solve_chains
from ik2d_addon.core import Status
from ik2d_addon.core.solution import drained
from ik2d_addon.rig.animation import key_columns
from ik2d_addon.rig.animation.bone_channels import BoneRotation
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.pose.rotations import bone_rotations
from ik2d_addon.rig.scene.sampler import sample_steps

FINE = 1e-6  # of the reach
MODES = ['QUATERNION', 'XYZ', 'ZYX', 'AXIS_ANGLE']
FAST = {1: (0, 0.2, 0.3), 5: (0, -0.9, 0.8), 9: (0, 0.8, 0.6), 12: (0, 0.3, 0.9)}
# It swings, stands from frame 6 to 12, and leaves at once.
STEP = {1: (0, -0.7, 0.5), 6: (0, 0.2, 0.25), 12: (0, 0.2, 0.25), 15: (0, 0.7, 0.6)}


def leg(keys=FAST, mode='QUATERNION', **settings):
    """Add a leg whose target goes straight from key to key."""
    armature, target = leg_with_target(**settings)
    target.animation_data_clear()
    for frame, place in keys.items():
        target.location = place
        target.keyframe_insert("location", frame=frame)
    for curve in existing_fcurves(target):
        for key in curve.keyframe_points:
            key.interpolation = 'LINEAR'
    for bone in armature.pose.bones:
        bone.rotation_mode = mode
    bpy.context.view_layer.update()
    return armature


def solved(armature, last, first=1):
    """Return the chain solved on the frames, the rotations to key, and samples between the frames."""
    rig = read_chain(armature, armature.ik2d.chains[0])
    frames = list(range(first, last + 1))
    halves = [frame + 0.5 for frame in frames[:-1]]
    (samples,) = drained(sample_steps(bpy.context.scene, [rig], frames, halves)).chains
    chain = drained(solve_chain(rig, samples.at(slice(len(frames))), frames))
    return chain, bone_rotations(rig, chain.turns), samples.at(slice(len(frames), None))


def doubtful_gaps(*chain):
    """Return the doubtful gaps of one chain."""
    solved_chain, rotations, between = chain
    draft = Draft(solved_chain, between, between, None, rotations)
    (found,) = drained(handles.doubtful_gaps([draft]))
    return found


def shaped_in(chain, halves, gaps, before=None):
    """Return the rotations of a solved chain with handles in some gaps."""
    (found,) = drained(solve_chains([between_frames(chain, halves.at(gaps.tolist()), gaps)]))
    return shaped_rotations(chain, [Between(gaps, HALF_WAY, found)], False, before)


def _returned(value):
    """Return a value in steps."""
    yield from ()
    return value


def strayed(armature, time):
    """Return how far Blender has the tip from its target at a time."""
    bpy.context.scene.frame_set(int(time // 1), subframe=time % 1)
    chain = armature.ik2d.chains[0]
    return (evaluated_tip(armature, chain.tip) - evaluated_place(chain.target)).length


def half_way(armature, last, first=1):
    """Return how far Blender has the tip from its target half-way between all frames."""
    return np.array([strayed(armature, frame + 0.5) for frame in range(first, last)])


@pytest.fixture
def gaps(monkeypatch):
    """What the bakes found doubtful, the last chain's last."""
    found = []

    def watched(drawn):
        found.extend((yield from handles.doubtful_gaps(drawn)))
        return found[len(found) - len(drawn) :]

    monkeypatch.setattr(keying, "doubtful_gaps", watched)
    return found


# --- Where they would lead off -----------------------------------------------------------------


@pytest.mark.parametrize(
    "values",
    [
        [0.0, 1.0, 3.0, 2.0, 2.5],
        [0.0, 1.0, 1.0, 1.0, 4.0, 5.0],
        [0.0, 0.001, 5.0, 5.001, 4.0, -3.0, -3.0],
        [1.0, 2.0],
        [0.5, 0.5, 0.5],
        [0.0, -1.0, -2.5, -2.6, -9.0, -1.0],
    ],
)
@pytest.mark.parametrize("part", [0.25, 0.5, 0.75, 0.9])
def test_channels_between_frames_are_those_of_blenders_automatic_handles(values, part):
    armature, _ = leg_with_target()
    armature.animation_data_create()
    armature.animation_data_clear()
    for frame, value in enumerate(values):
        armature.location.x = value
        armature.keyframe_insert("location", index=0, frame=frame)
    (curve,) = existing_fcurves(armature)
    curve.auto_smoothing = 'NONE'
    for key in curve.keyframe_points:
        key.interpolation = 'BEZIER'
        key.handle_left_type = key.handle_right_type = 'AUTO_CLAMPED'
    curve.update()
    expected = [curve.evaluate(frame + part) for frame in range(len(values) - 1)]
    channels = np.array(values)[:, None] * (1.0, -2.0)
    found = handles.automatic_between(channels, part)
    assert found[:, 0] == pytest.approx(expected, abs=1e-4)
    assert found[:, 1] == pytest.approx(-2.0 * found[:, 0])
    assert (channels == np.array(values)[:, None] * (1.0, -2.0)).all()


@pytest.mark.parametrize("seed", range(20))
def test_channels_between_frames_are_blenders_beside_free_handles_too(seed):
    rng = np.random.default_rng(seed)
    armature, _ = leg_with_target()
    armature.animation_data_create()
    armature.animation_data_clear()
    armature.keyframe_insert("location", index=0, frame=0)
    (curve,) = existing_fcurves(armature)
    curve.auto_smoothing = 'NONE'
    values = rng.uniform(-1.0, 1.0, (9, 1)) * 10.0 ** rng.uniform(-3.0, 0.0, (9, 1))
    shaped = np.full((2, 9, 1), np.nan)
    for gap in np.flatnonzero(rng.random(8) < 0.5):
        shaped[1, gap], shaped[0, gap + 1] = values[gap : gap + 2] + rng.uniform(-1.0, 1.0, (2, 1))
    (columns,) = key_columns.new_keys(np.arange(9, dtype="f4"), values, shaped)
    key_columns.add([curve], [columns])
    rotation = BoneRotation("", "location", values, handles=shaped)
    for part in (0.25, 0.5, 0.75):
        expected = [curve.evaluate(frame + part) for frame in range(8)]
        assert handles.played_between(rotation, part)[:, 0] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("first", [0.25, 1.0 / 3.0])
def test_a_cubic_through_the_middle_leans_as_those_around_it_do(first):
    rng = np.random.default_rng(5)
    factors = rng.uniform(-1.0, 1.0, (4, 3))
    parts = (0.0, first, 0.5, 1.0 - first, 1.0)
    values = np.array([[part**0, part, part**2, part**3] for part in parts]) @ factors
    rotation = BoneRotation("", "rotation_euler", values)
    found = handles.shaped(rotation, np.array([0, 4]), np.array([1, 2, 3]), np.zeros(3, np.intp), first)
    for part in (0.1, 0.25, 0.5, 0.75):
        expected = np.array([1.0, part, part**2, part**3]) @ factors
        assert handles.played_between(found, part)[0] == pytest.approx(expected)


def test_new_f_curves_smooth_over_no_neighbours():
    armature = leg(FAST)
    bake(armature, frame_start=1, frame_end=12)
    assert {curve.auto_smoothing for curve in existing_fcurves(armature)} == {'NONE'}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("keys", [FAST, STEP], ids=["fast", "step"])
def test_gaps_are_doubtful_where_blender_would_have_the_tip_off(monkeypatch, mode, keys):
    armature, last = leg(keys, mode), max(keys)
    found = doubtful_gaps(*solved(armature, last))
    monkeypatch.setattr(keying, "doubtful_gaps", lambda drawn: _returned([np.empty(0, np.intp)] * len(drawn)))
    reach = bake(armature, frame_start=1, frame_end=last).chains[0].standard.reach
    parts = half_way(armature, last) / reach
    clear = np.abs(parts - DOUBTFUL) > 0.02 * DOUBTFUL
    assert np.isin(np.arange(last - 1), found)[clear].tolist() == (parts > DOUBTFUL)[clear].tolist()
    assert clear.sum() > 8 and len(found) > 3
    assert found.dtype.kind == "i" and parts.max() > 10 * DOUBTFUL
    assert DOUBTFUL == 1e-4


def test_smooth_and_slow_motion_needs_nothing(gaps):
    armature, _ = leg_with_target()
    target = armature.ik2d.chains[0].target
    target.animation_data_clear()
    for frame in range(1, 62):
        turn = math.radians(1.5 * frame)
        target.location = (0, 0.4 * math.sin(turn), 0.8 - 0.3 * math.cos(turn))
        target.keyframe_insert("location", frame=frame)
    chain, rotations, halves = solved(armature, 50, first=10)
    inside = doubtful_gaps(chain, rotations, halves)
    assert set(inside.tolist()) <= {0, 39}  # at the ends automatic handles are level
    bake(armature, frame_start=10, frame_end=50)
    assert gaps[0].tolist() == inside.tolist()
    for curve in existing_fcurves(armature):
        keys = curve.keyframe_points
        assert {key.handle_right_type for key in keys[2:-2]} <= {'AUTO_CLAMPED'}


def test_a_target_that_stands_still_needs_nothing(gaps):
    armature = leg({1: (0, 0.2, 0.3)})
    report = bake(armature, frame_start=1, frame_end=12)
    assert gaps[0].tolist() == [] and report.all_reached
    for curve in existing_fcurves(armature):
        assert {key.handle_right_type for key in curve.keyframe_points} == {'AUTO_CLAMPED'}


def test_a_target_out_of_reach_is_no_doubt():
    """What the tip is off on both frames is no fault of the handles."""
    armature = leg({1: (0, -6.0, -3.0), 12: (0, 6.0, -3.0)})
    chain, rotations, halves = solved(armature, 12)
    assert (chain.solution.status == Status.TOO_FAR).all()
    assert doubtful_gaps(chain, rotations, halves).tolist() == []
    nearer = with_changes(chain, distance=np.zeros(12))
    assert doubtful_gaps(nearer, rotations, halves).tolist() == list(range(11))


def test_it_is_the_farther_of_the_two_frames_that_counts():
    armature = leg({1: (0, 0.2, 0.3)})
    chain, rotations, halves = solved(armature, 4)
    away = replace(halves, targets=halves.targets + (0.0, 0.0, 0.2))
    for distance, expected in (
        ([0.0, 0.0, 0.0, 0.0], [0, 1, 2]),
        ([0.3, 0.0, 0.0, 0.0], [1, 2]),
        ([0.0, 0.3, 0.0, 0.0], [2]),
        ([0.0, 0.0, 0.0, 0.3], [0, 1]),
        ([0.0, 0.2 - 0.9e-4 * chain.reach, 0.0, 0.0], [2]),
        ([0.0, 0.2 - 1.1e-4 * chain.reach, 0.0, 0.0], [0, 1, 2]),
    ):
        one = with_changes(chain, distance=np.array(distance))
        assert doubtful_gaps(one, rotations, away).tolist() == expected


def test_a_single_frame_and_a_chain_that_is_held_have_no_gaps():
    armature = leg()
    chain, rotations, halves = solved(armature, 1)
    two, turned, middle = solved(armature, 2)
    for found in (
        doubtful_gaps(chain, rotations, halves),
        doubtful_gaps(two, [], middle),
        doubtful_gaps(replace(chain, turns=chain.turns[:0]), rotations, halves),
    ):
        assert found.tolist() == [] and found.dtype == np.intp
    assert doubtful_gaps(two, turned, middle).tolist() == [0]


def test_an_influence_below_one_is_left_alone(gaps):
    armature = leg()
    bake(armature, frame_start=1, frame_end=12)
    assert len(gaps[0]) > 3
    gaps.clear()
    armature.ik2d.chains[0].influence = 0.9
    bake(armature, frame_start=1, frame_end=12)
    assert gaps == []
    for curve in existing_fcurves(armature):
        assert {key.handle_right_type for key in curve.keyframe_points} == {'AUTO_CLAMPED'}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("solver", ['TWO_BONE', 'CCD'])
def test_where_a_target_is_nowhere_between_two_frames_no_handles_are_shaped(gaps, solver):
    armature = leg(solver=solver)
    target, holder = armature.ik2d.chains[0].target, add_target({}, "Holder")
    target.parent = holder
    armature.location = target.delta_location = (0, 1e3, 0)
    for frame, scale in ((2, 1.0), (2.5, 1e38), (3, 1.0)):
        holder.scale = (scale,) * 3
        holder.keyframe_insert("scale", frame=frame)
    report = bake(armature, frame_start=1, frame_end=8, options=BakeOptions(verify='ALL'))
    assert 1 not in gaps[0] and {0, 2} <= set(gaps[0].tolist())
    assert 2.5 not in report.chains[0].played.between_times and report.all_reached


@pytest.mark.filterwarnings("error")
def test_where_a_rig_is_scaled_to_nothing_between_two_frames_no_handles_are_shaped(gaps):
    armature = leg()
    for frame, scale in ((4, 1.0), (5, -1.0)):
        armature.scale = (scale,) * 3
        armature.keyframe_insert("scale", frame=frame)
    bpy.context.view_layer.update()
    bake(armature, frame_start=1, frame_end=8)
    assert 3 not in gaps[0] and {2, 4} & set(gaps[0].tolist())


# --- Handles that do not --------------------------------------------------------------------------


def rotation(values, **changes):
    return BoneRotation("shin", "rotation_euler", np.array(values, float), **changes)


def test_handles_are_those_of_the_parabola_through_the_middle():
    start, speed, bend = np.array([0.3, -2.0]), np.array([1.5, 0.25]), np.array([-0.7, 4.0])

    def parabola(t):
        return start + speed * t + bend * t * t

    rows = rotation([(9.0, 9.0), parabola(0.0), parabola(0.5), parabola(1.0), (7.0, 7.0)])
    found = handles.shaped(rows, np.array([0, 1, 3, 4]), np.array([2]), np.array([1]), 0.25)
    assert found.values.tolist() == rows.values[[0, 1, 3, 4]].tolist()
    before, after = found.handles
    assert after[1] == pytest.approx(start + speed / 3.0)
    assert before[2] == pytest.approx(parabola(1.0) - (speed + 2.0 * bend) / 3.0)
    assert np.isnan(after[[0, 2, 3]]).all() and np.isnan(before[[0, 1, 3]]).all()
    assert (found.bone, found.property, found.mode) == ("shin", "rotation_euler", "")
    assert rows.handles is None and found.handles.shape == (2, 4, 2)


def in_between(rotation, gap, u):
    """Return what channels are between two keys, by their handles."""
    first, last = rotation.values[[gap, gap + 1]]
    slopes = 3.0 * np.array((rotation.handles[1, gap] - first, last - rotation.handles[0, gap + 1]))
    at_ends, at_slopes = hermite(np.array([u]))
    return (at_ends @ (first, last) + at_slopes @ slopes)[0]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("solver", ['TWO_BONE', 'CCD'])
def test_shaped_rotations_pass_through_the_solution_half_way(solver, mode):
    armature = leg(mode=mode, solver=solver)
    chain, rotations, halves = solved(armature, 12)
    gaps = np.array([0, 3, 4, 10])
    shaped = shaped_in(chain, halves, gaps)
    assert [one.bone for one in shaped] == [one.bone for one in rotations] == ["thigh", "shin"]
    middles = [handles.automatic_between(one.values, 0.5).copy() for one in shaped]
    for one, plain, middle in zip(shaped, rotations, middles, strict=True):
        assert one.values == pytest.approx(plain.values, abs=1e-12)
        known = np.isfinite(one.handles).all(axis=2)
        assert known.tolist() == [
            [i - 1 in gaps for i in range(12)],
            [i in gaps for i in range(12)],
        ]
        assert (np.isnan(one.handles).all(axis=2) == ~known).all()
        for gap in gaps:
            middle[gap] = in_between(one, gap, 0.5)
    played = [replace(one, values=middle) for one, middle in zip(shaped, middles, strict=True)]
    (tips,) = drained(handles.tips_of([handles.read_played(chain.rig, halves, played, np.arange(11) + 0.5)]))
    off = np.linalg.norm(tips - halves.targets, axis=1)
    assert off[gaps].max() < FINE * chain.reach < off[[1, 2]].max()


@pytest.mark.parametrize("single_axis", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_half_way_the_tip_is_where_its_target_is(gaps, mode, single_axis):
    armature = leg(mode=mode)
    if single_axis:
        bpy.ops.object.mode_set(mode='EDIT')
        for bone in armature.data.edit_bones:
            bone.roll = 0.0
        bpy.ops.object.mode_set(mode='OBJECT')
    report = bake(armature, frame_start=1, frame_end=12, options=BakeOptions(single_axis=single_axis))
    told, off = report.chains[0], half_way(armature, 12)
    shaped = np.isin(np.arange(11), gaps[0])
    assert shaped.sum() > 6 and report.all_reached
    assert off[shaped].max() < 1e-4 * told.standard.reach
    assert off[~shaped].max(initial=0.0) <= 1.02 * DOUBTFUL * told.standard.reach
    assert told.played.between_times.tolist() == (np.arange(1, 12) + 0.5).tolist()
    assert told.played.between == pytest.approx(off, abs=FINE * told.standard.reach)
    for curve in existing_fcurves(armature):
        keys = curve.keyframe_points
        if single_axis:
            assert (curve.data_path[-14:], curve.array_index) == ("rotation_euler", 0)
        for gap, is_shaped in enumerate(shaped):
            right, left = keys[gap].handle_right_type, keys[gap + 1].handle_left_type
            if is_shaped:
                assert (right, left) == ('FREE', 'FREE')
            elif 0 < gap < 10:
                assert (right, left) == ('AUTO_CLAMPED', 'AUTO_CLAMPED')


def test_at_the_ends_of_the_range_the_tip_does_not_stay_behind(gaps):
    """Automatic handles are level there, where the target goes on as fast as before."""
    armature = leg({1: (0, -0.7, 0.5), 31: (0, 0.7, 0.5)})
    told = bake(armature, frame_start=6, frame_end=26).chains[0]
    assert {0, 19} <= set(gaps[0].tolist())
    assert (
        strayed(armature, 6.5) < FINE * told.standard.reach
        and strayed(armature, 25.5) < FINE * told.standard.reach
    )


def test_a_planted_foot_stays_until_it_leaves(gaps):
    armature = leg(STEP)
    told = bake(armature, frame_start=1, frame_end=15).chains[0]
    assert {4, 11} <= set(gaps[0].tolist())  # before it is planted, and as it leaves
    for time in (5.5, 6.5, 11.5, 12.5):
        assert strayed(armature, time) < DOUBTFUL * told.standard.reach, time
    for time in np.arange(6.0, 12.01, 0.125):
        assert strayed(armature, time) < 2e-5 * told.standard.reach, time


def test_handles_go_on_where_a_target_circles_the_root(gaps):
    armature = add_armature({"a": ((0, 0, 0), (0, 0.3, 1), "", 0.0), "b": ((0, 0.3, 1), (0, 0, 2), "a", 0.0)})
    target = add_target({})
    for frame in range(1, 42):
        turn = math.radians(40.0 * frame)
        target.location = (0, 1.2 * math.cos(turn), 1.2 * math.sin(turn))
        target.keyframe_insert("location", frame=frame)
    add_chain(armature, "b", target)
    for mode in ('AXIS_ANGLE', 'XYZ', 'QUATERNION'):
        for bone in armature.pose.bones:
            bone.rotation_mode = mode
        chain, rotations, halves = solved(armature, 41)
        assert np.ptp(chain.turns[:, 0]) > 7 * math.pi
        for one in shaped_in(chain, halves, np.arange(40)):
            steps = np.abs(np.diff(one.values, axis=0))
            assert (np.abs(one.handles[1, :-1] - one.values[:-1]) < 0.5 * steps + 0.2).all()
            assert (np.abs(one.handles[0, 1:] - one.values[1:]) < 0.5 * steps + 0.2).all()


def test_euler_angles_go_on_from_those_before():
    """The bones' rolls leave none of their axes alone to turn about."""
    chain, rotations, halves = solved(leg(mode='XYZ'), 12)
    before = {name: np.array((2.0 * math.pi, 0.0, 0.0)) for name in chain.rig.bones}
    shaped = shaped_in(chain, halves, np.array([2, 5]), before)
    expected = bone_rotations(chain.rig, chain.turns, False, before)
    for one, other, plain in zip(shaped, expected, rotations, strict=True):
        assert one.values == pytest.approx(other.values, abs=1e-9)
        assert np.abs(one.values - plain.values).max() > 3.0
        assert np.abs(one.handles[1, [2, 5]] - one.values[[2, 5]]).max() < 0.5
