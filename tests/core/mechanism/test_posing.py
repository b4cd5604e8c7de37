# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses of a plan: margins of its steps, change points, gaps of joints."""

import numpy as np
import pytest
from machines import coupled_wheels, far_stephenson, four_bar, pinned, slider_crank, xy

from ik2d_addon.core import IK2DError, Mechanism, MechanismStatus
from ik2d_addon.core.mechanism.joints import Joint, Kind
from ik2d_addon.core.mechanism.posing import gap, posed
from ik2d_addon.core.mechanism.steps import Poses


def test_margins_are_of_steps_with_two_sides_and_infinite_for_others():
    plan = slider_crank().mechanism.plan
    _, margins = posed(plan, [np.linspace(0.0, 6.0, 7)])
    assert margins.shape == (7, 2) and np.isinf(margins[:, 0]).all()
    # The rod is 3 long, and the crank's pin at most 1.2 off the piston's line.
    assert (margins[:, 1] * plan.size > 1.79).all()


def test_a_step_is_on_its_other_side_behind_an_odd_number_of_change_points():
    plan = coupled_wheels().mechanism.plan
    values = [np.array([-0.5, 0.5, 1.5, 2.5])]
    sides = [
        np.sign((poses.c[2].conj() * poses.c[3]).imag)
        for poses in (posed(plan, values)[0], posed(plan, values, {1: (0, np.array([1.0, 2.0]))})[0])
    ]
    before, after = posed(plan, values)[0], posed(plan, values, {1: (0, np.array([1.0, 2.0]))})[0]
    same = np.abs(before.c[3] - after.c[3]) < 1e-12
    assert same.tolist() == [True, True, False, True] and len(sides) == 2


def test_gaps_of_joints_are_distances_and_angles():
    poses = Poses([], [])
    poses.put(1, np.array([0.0, 0.3]), 0j, np.array([0.0, 1.0j]))
    assert gap(poses, Joint(Kind.PIN, 0, 1, 0j, 0j)).tolist() == [0.0, 1.0]
    assert gap(poses, Joint(Kind.SLIDE, 0, 1, 0j, 0j, along=1j)) == pytest.approx([0.0, 0.0])
    assert gap(poses, Joint(Kind.GUIDE, 0, 1, 0j, 0j, along=1j)) == pytest.approx([0.0, 0.3])
    assert gap(poses, Joint(Kind.GEAR, 0, 1, ratio=2.0)) == pytest.approx([0.0, 0.3])


def test_more_bodies_without_triangles_than_40_are_refused():
    places = [i + 1j * (i % 3) for i in range(43)]
    pins = [(f"b{i}", f"b{i + 1}", places[i]) for i in range(1, 42)]
    mechanism = pinned((0, "b1", 0), *pins, ("b42", 0, 50)).drive("b1")
    for i in range(2, 41):
        ends = [xy(places[one] + 0.3j) for one in (i, i + 2)]
        mechanism = mechanism.ram(f"b{i}", ends[0], f"b{i + 2}", ends[1], f"ram{i}").drive(f"ram{i}")
    with pytest.raises(IK2DError, match="^41 bones hang together without triangles: at most 40 bodies may$"):
        mechanism.solve({})


def test_one_value_stays_one_row():
    assert posed(four_bar().mechanism.plan, [np.zeros(1)])[1].shape == (1, 2)


def test_drivers_that_newton_would_be_led_to_for_ever_are_refused():
    slider = Mechanism().slide(0, "table", [0, 0], [1, 0], True).ram(0, [-1, 0.3], "table", [0, 0], "ram")
    slider = slider.drive("ram")
    assert slider.solve({"ram": 20.0}).status[0] == MechanismStatus.CLOSED
    for length in (1e3, 1e300):
        with pytest.raises(IK2DError, match="Drivers of 'table' are too far from rest"):
            slider.solve({"ram": length})


def test_a_row_is_led_in_steps_of_its_own_however_far_others_are():
    plan = far_stephenson().mechanism.plan
    values = np.array([0.1, -0.4, 0.157, 5.0, 0.3])
    together, margins = posed(plan, [values])
    for row in range(len(values)):
        alone, margin = posed(plan, [values[row : row + 1]])
        assert np.array_equal(margin[0], margins[row])
        assert all(alone.turns[body][0] == together.turns[body][row] for body in alone.turns if body)
