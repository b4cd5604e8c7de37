# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan: which steps place a machine, and on which drivers each hangs."""

import numpy as np
import pytest
from machines import (
    MACHINES,
    excavator,
    far_stephenson,
    four_bar,
    jansen_leg,
    openings,
    pantograph,
    pinned,
    scissor_lift,
    slider_crank,
)

from ik2d_addon.core import IK2DError, Mechanism
from ik2d_addon.core.mechanism.plan import planned


def groups(mechanism):
    """Return the bodies that each step places."""
    plan = mechanism.plan
    return [tuple(plan.names[body] for body in step.bodies) for step in plan.steps]


def test_a_machine_falls_into_triangles():
    assert groups(four_bar().mechanism) == [("crank",), ("coupler", "rocker")]
    assert groups(slider_crank().mechanism) == [("crank",), ("rod", "piston")]
    assert groups(jansen_leg().mechanism) == [("crank",), ("j", "upper"), ("k", "c"), ("f", "foot")]


@pytest.mark.parametrize("make", MACHINES, ids=lambda make: make.__name__)
def test_14_of_15_machines_need_no_newton_and_use_each_joint_once(make):
    plan = make().mechanism.plan
    assert bool(plan.groups) == (make is far_stephenson)
    assert plan.left == plan.idle == plan.flat == ()
    assert bool(plan.unused) == bool(plan.groups)


def test_each_loop_hangs_on_the_drivers_that_move_it_against_itself():
    plan = excavator().mechanism.plan
    names = [{plan.drivers[one].name for one in on} for on in plan.hangs]
    assert names == [{"ram boom"}, {"ram stick"}, {"ram bucket"}, {"ram bucket"}]
    assert [set(on) for on in pantograph().mechanism.plan.hangs] == [{0}, {0, 1}, {0, 1}]


def test_a_joint_more_than_needed_is_kept_to_look_at():
    pins = [(0, "w1", 0), ("w1", "rod", 1j), ("rod", "w3", 4 + 1j), ("w3", 0, 4)]
    plan = pinned(*pins, (0, "w2", 2), ("w2", "rod", 2 + 1j)).drive("w1").plan
    assert [{plan.names[one.a], plan.names[one.b]} for one in plan.unused] == [{"rod", "w2"}]


def test_joints_are_parts_of_the_size_about_their_centre():
    mechanism = four_bar().mechanism
    plan = mechanism.plan
    ends = np.array([end for one in plan.joints for end in (one.at_a, one.at_b)])
    assert abs(ends.mean()) < 1e-15 and np.abs(ends).max() == pytest.approx(0.5)
    assert np.allclose(ends[::2] * plan.size + plan.centre, [one.at_a for one in mechanism.joints])


def test_a_least_group_is_left_to_newton_and_triangles_go_on_from_it():
    lift = scissor_lift().mechanism
    lift = Mechanism(lift.bodies, lift.joints).ram("b0", [1.4, 0.2], "a0", [1.4, 0.8]).drive("ram")
    assert groups(lift) == [("a0", "b0"), ("a1", "b1"), ("a2", "b2"), ("deck",)]
    assert list(lift.plan.groups) == [0] and lift.plan.left == ()
    solution = lift.solve({"ram": np.linspace(0.5, 0.7, 30)})
    assert (solution.status == 0).all() and openings(lift, solution).max() < 1e-12
    assert np.abs(solution.turn("deck")).max() < 1e-12


def test_without_triangles_all_is_left():
    mechanism = four_bar().mechanism
    plan = planned(mechanism.bodies, mechanism.joints, mechanism.drivers, by_triangles=False)
    assert [step.bodies for step in plan.steps] == [(1, 2, 3)] and list(plan.groups) == [0]


def test_two_joints_in_one_place_of_a_body_are_refused():
    mechanism = pinned((0, "a", 0), ("a", "b", 1j), ("b", "c", 1j), ("c", 0, 2)).drive("a")
    with pytest.raises(IK2DError, match="^Two joints of 'b' are in one place: move one$"):
        mechanism.solve({})
