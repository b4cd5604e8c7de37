# SPDX-License-Identifier: GPL-3.0-or-later
"""Which frames get keys: the plan, the fewest within a bound, the target's own."""

import math
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from rigs import add_chain, add_leg, add_target, evaluated_tip, leg_with_target, stretching_arm

from ik2d_addon.bake import BakeOptions, bake
from ik2d_addon.bake.keys import handles, keying
from ik2d_addon.bake.keys.handles import HALF_WAY, Draft
from ik2d_addon.bake.keys.keying import KeyedChain, KeyPlan, key_chains, plan_keys, with_gaps
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.bone_channels import BoneRotation
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.chain import read_chain


def finished(steps):
    """Work a generator off; return what it yielded and its result."""
    yielded = []
    while True:
        try:
            yielded.append(next(steps))
        except StopIteration as stop:
            return yielded, stop.value


# --- The plan -------------------------------------------------------------------------------------


def test_the_plan_of_every_frame():
    plan = KeyPlan.every([3, 5, 8])
    assert plan.frames == plan.times == [3, 5, 8]
    assert plan.rows == [0, 1, 2] and plan.half_way == [4.0, 6.5]
    assert (plan.bound, plan.candidates, plan.own, plan.pace) == (0.0, (), {}, 1.0)
    assert plan.keyed("leg").tolist() == [True] * 3
    assert KeyPlan.every([3]).half_way == []


def test_rows_are_where_the_frames_are_among_the_times():
    assert KeyPlan([3, 5], [3.0, 3.5, 4.0, 4.5, 5.0]).rows == [0, 4]


def test_the_keys_put_a_tip_where_it_was_solved_within_the_bound_or_on_keys_of_its_own():
    reduced = KeyPlan([1, 2], [1.0, 1.5, 2.0], 0.25)
    assert reduced.keyed("leg").tolist() == [True] * 3 and reduced.half_way == []
    own = KeyPlan([1, 2, 2.5, 3], [1, 2, 2.5, 3], own={"leg": [1, 2.5], "arm": [2]})
    assert own.keyed("leg").tolist() == [True, False, True, False] and own.half_way == []
    assert own.keyed("arm").tolist() == [False, True, False, False]
    assert own.keyed("tail").tolist() == [True] * 4


def chain_to(target, **settings):
    armature = add_leg()
    return read_chain(armature, add_chain(armature, "shin", target, **settings))


def plan(rig, frames, reduce=0.0, on_target_keys=False):
    return plan_keys(bpy.context.scene, [rig], frames, reduce, on_target_keys)


def test_what_is_reported_is_on_the_frames_alone():
    plan = KeyPlan([1, 2], [1.0, 1.5, 2.0], own={"leg": [1.0, 1.5]})
    assert plan.keyed("leg").tolist() == [True, True, False]
    assert plan.reported_keyed("leg").tolist() == [True, False]
    assert plan.reported_keyed("arm").tolist() == [True, True]


def test_frames_and_times_are_arrays_that_nobody_changes():
    plan = KeyPlan([1, 2], [1.0, 1.5, 2.0])
    assert plan.frame_array.tolist() == [1, 2] and plan.frame_array.dtype == np.int64
    assert plan.time_array.tolist() == [1.0, 1.5, 2.0] and plan.frame_array is plan.frame_array
    for array in (plan.frame_array, plan.time_array):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7


def test_a_plan_to_reduce_looks_half_way_between_frames_too():
    rig = chain_to(add_target({}))
    reduced = plan(rig, [2, 4, 5], reduce=0.5)
    assert reduced.frames == [2, 3, 4, 5] and reduced.candidates == [2, 4, 5] and reduced.bound == 0.5
    assert reduced.times == [2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0]
    assert plan(rig, [-1], reduce=0.5).times == [-1.0]


def test_a_plan_with_steps_looks_at_the_frames_that_it_leaves_out():
    rig = chain_to(add_target({}))
    stepped = plan(rig, [2, 4, 5])
    assert stepped.frames == stepped.times == [2, 3, 4, 5]
    assert stepped.own == {"shin": [2.0, 4.0, 5.0]} and stepped.bound == 0.0
    assert all(isinstance(frame, float) for frame in stepped.own["shin"])
    every = plan(rig, [2, 3, 4])
    assert (every.times, every.own, every.half_way) == ([2, 3, 4], {}, [2.5, 3.5])


def test_a_plan_on_the_targets_keys_reports_these_too():
    own = plan(chain_to(add_target({2.5: (0, 0, 0), 7: (0, 1, 0)})), [1, 4, 6], on_target_keys=True)
    assert own.own == {"shin": [1, 2.5, 6]}
    assert own.frames == own.times == [1, 2, 2.5, 3, 4, 5, 6] and own.bound == 0.0
    with pytest.raises(IK2DError, match="has no keys in its action"):
        plan(chain_to(add_target({}, "Still")), [1, 4], on_target_keys=True)


def test_the_plan_knows_the_pace_of_actions():
    rig = chain_to(add_target({2: (0, 0, 0)}))
    bpy.context.scene.render.frame_map_old, bpy.context.scene.render.frame_map_new = 100, 200
    assert plan(rig, [1, 4], reduce=0.5).pace == 0.5
    own = plan(rig, [1, 9], on_target_keys=True)
    assert plan(rig, [1, 3]).pace == 0.5
    assert own.pace == 0.5 and own.own == {"shin": [1, 4, 9]}


# --- Choosing -------------------------------------------------------------------------------------


TURNS = np.arange(5.0)[:, None]


class Samples:
    """Stands in for samples half-way between frames."""

    influence = np.ones(4)

    def at(self, rows):
        return self


HALVES = Samples()


@pytest.fixture
def choosing(monkeypatch):
    """Return key_chains for a chain that plays five times, with stand-ins for what it asks.

    It returns the keyed chain and the names of the questions asked; settings: what is answered.
    """
    asked = []

    def choose(
        plan, name="leg", given=None, gaps=(), found=None, half_way=HALVES, influence=(1.0,) * 5, single=False
    ):
        chain = SimpleNamespace(
            rig=SimpleNamespace(name=name, stretching=None, post_above=None),
            turns=TURNS,
            influence=np.array(influence),
            factors=None,
            locations=None,
            swings=None,
            aside=None,
        )
        given = [rotation()] if given is None else given
        shaped = [rotation(handles=np.zeros((2, 5, 3)))]

        def rotations(rig, turns, single_axis, before, swings, aside):
            assert (rig, single_axis, before) == (chain.rig, single, "before") and turns is TURNS
            return given

        def doubtful(drawn):
            yield from ()
            asked.extend("doubtful" for _ in drawn)
            assert all((one.chain, one.rotations, one.half_way) == (chain, given, half_way) for one in drawn)
            return [np.array(gaps if found is None else found, np.intp) for _ in drawn]

        def between(solved, samples, rows, times):
            assert (solved, samples, rows.tolist(), times) == (chain, half_way, list(gaps), HALF_WAY)
            return "asked"

        def solve(questions):
            yield 0
            return ["between" for question in questions if question == "asked"]

        def shape(solved, found, single_axis, before):
            asked.append("shaped")
            assert (solved, single_axis, before) == (chain, single, "before")
            assert [(one.gaps.tolist(), one.times, one.solved) for one in found] == [
                (list(gaps), HALF_WAY, "between")
            ]
            return shaped

        monkeypatch.setattr(handles, "bone_rotations", rotations)
        monkeypatch.setattr(keying, "doubtful_gaps", doubtful)
        monkeypatch.setattr(keying, "between_frames", between)
        monkeypatch.setattr(keying, "solve_chains", solve)
        monkeypatch.setattr(keying, "shaped_rotations", shape)
        asked.clear()
        _, drafts = finished(with_gaps([Draft.of(chain, "samples", half_way, single, "before")]))
        _, (keyed,) = finished(key_chains(plan, drafts, single, [None]))
        assert keyed.solved is chain
        return keyed, [*asked], given, shaped

    return choose


def rotation(frames=5, **changes):
    values = np.arange(3.0 * frames).reshape(frames, 3)
    return BoneRotation("shin", "rotation_euler", values, **changes)


def test_without_more_every_time_is_keyed(choosing):
    keyed, asked, given, _ = choosing(KeyPlan.every([1, 2, 3, 4, 5]), single=True)
    assert keyed.rotations is given and keyed.keys == 5
    assert asked == ["doubtful"]


def test_where_automatic_handles_would_lead_off_they_are_shaped(choosing):
    keyed, asked, _, shaped = choosing(KeyPlan.every([1, 2, 3, 4, 5]), gaps=[1, 3])
    assert keyed.rotations == shaped
    assert asked == ["doubtful", "shaped"]


@pytest.mark.parametrize("settings", [{"half_way": None}, {"influence": (0.999,) * 5}])
def test_between_frames_nothing_is_looked_for_where_it_was_not_sampled_or_keys_are_blended(
    choosing, settings
):
    keyed, asked, given, _ = choosing(KeyPlan.every([1, 2, 3, 4, 5]), gaps=[1], **settings)
    assert asked == [] and keyed.rotations is given


@pytest.mark.parametrize("gaps, others", [([0, 3], [0, 3]), ([0], [0, 1, 2]), ([3], [2, 3])])
def test_gaps_next_to_fk_frames_keep_automatic_handles(choosing, monkeypatch, gaps, others):
    whole = [1.0 if {row - 1, row} & set(gaps) else 0.0 for row in range(5)]
    monkeypatch.setattr(Samples, "influence", np.array([1.0 if gap in gaps else 0.5 for gap in range(4)]))
    keyed, asked, _, shaped = choosing(
        KeyPlan.every([1, 2, 3, 4, 5]), gaps=gaps, found=others, influence=whole
    )
    assert keyed.rotations == shaped and asked == ["doubtful", "shaped"]


def test_a_chain_with_frames_of_its_own_is_keyed_there_in_action_time(choosing):
    own = KeyPlan([1, 2, 3, 4, 5], [1, 2, 3, 4, 5], own={"leg": [1, 4, 5]}, pace=0.5)
    keyed, *_ = choosing(own, half_way=None)
    assert keyed.rotations[0].frames.tolist() == [0.5, 2.0, 2.5] and keyed.keys == 3
    assert keyed.rotations[0].values.tolist() == rotation().values[[0, 3, 4]].tolist()
    assert keyed.rotations[0].handles is None
    other, *_ = choosing(own, "arm", half_way=None)
    assert other.rotations[0].frames is None and other.keys == 5


@pytest.mark.parametrize("count, rotations", [(1, [rotation(1)]), (5, [])])
def test_a_single_time_and_a_chain_that_is_held_have_nothing_to_reduce(choosing, count, rotations):
    reduced = KeyPlan(list(range(count)), list(range(count)), 0.1)
    keyed, *_ = choosing(reduced, given=rotations, half_way=None)
    assert keyed.rotations == rotations


def test_a_chain_without_rotations_has_no_keys():
    assert KeyedChain(None, []).keys == 0
    assert KeyedChain(None, [rotation(2), rotation(3)]).keys == 3


def test_the_last_three_hundredths_of_the_bound_are_for_in_between():
    assert math.isclose(keying.USED, 0.97)


# --- In Blender -----------------------------------------------------------------------------------


@pytest.mark.parametrize("outside", [(), (-20, 60), (-20,), (60,)])
def test_keys_outside_the_range_leave_the_bound_as_it_is(outside):
    armature, target = leg_with_target()
    for frame in outside:
        for name in ("thigh", "shin"):
            armature.pose.bones[name].keyframe_insert("rotation_quaternion", frame=frame)
    options = BakeOptions(reduce=2e-3, verify='ALL')
    report = bake(armature, frame_start=1, frame_end=40, options=options)
    assert report.all_reached and report.chains[0].played.keys < 20
    for half in range(2, 81):
        bpy.context.scene.frame_set(half // 2, subframe=(half % 2) / 2)
        error = (evaluated_tip(armature, "shin") - target.matrix_world.translation).length
        assert error <= 2e-3 + 1e-5 * report.chains[0].standard.reach, half / 2
    for curve in existing_fcurves(armature):
        curve.update()  # as after any edit by hand
    bpy.context.scene.frame_set(5, subframe=0.5)
    assert (evaluated_tip(armature, "shin") - target.matrix_world.translation).length <= 2.1e-3


@pytest.mark.slow
def test_rotations_leave_a_part_of_the_bound_to_the_scales_of_bones_that_stretch(monkeypatch):
    armature, chain = stretching_arm()
    used, reduced = [], keying._reduced
    monkeypatch.setattr(keying, "_reduced", lambda *given: used.append(given[-1]) or reduced(*given))
    for stretch in (2.0, 1.0):
        chain.stretch = stretch
        bake(armature, options=BakeOptions(reduce=0.1))
    assert used == [keying.USED - keying.SCALED, keying.USED]


def test_the_values_of_few_keys_stay_within_the_bound_around_a_kink():
    values = np.maximum(np.linspace(0.5, 2.0, 81) ** 2, 1.0)
    rows = keying._steady(values, range(0, 81, 2), 1e-3)
    assert len(rows) < 12 and np.abs(keying._between_keys(values, rows) - values).max() <= 1e-3
    assert keying._steady(np.ones(81), range(0, 81, 2), 1e-9).tolist() == [0, 80]


def test_between_two_keys_next_to_one_another_the_middle_is_met():
    values = np.array([0.0, 5.0, 1.0])
    assert keying._between_keys(values, np.array([0, 2])) == pytest.approx(values)
