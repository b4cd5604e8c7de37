# SPDX-License-Identifier: GPL-3.0-or-later
"""Backwards: drivers that bring a place of a body nearest to its targets."""

import numpy as np
import pytest
from machines import (
    excavator,
    four_bar,
    jansen_leg,
    landing_gear,
    openings,
    pantograph,
    slider_crank,
    toggle_clamp,
    watt,
    xy,
)

MAKERS = (four_bar, jansen_leg, slider_crank, watt)


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_targets_on_the_curve_are_found(make):
    machine = make()
    angles = np.sort(np.random.default_rng(1).uniform(-3.0, 3.0, 1000))
    targets = machine.mechanism.solve({"crank": angles}).places(machine.body, machine.place)
    solution = machine.mechanism.solve_target(machine.body, machine.place, targets)
    assert solution.residual.max() < 1e-9 * machine.mechanism.size
    found = solution.places(machine.body, machine.place)
    assert np.abs(np.hypot(*(found - targets).T) - solution.residual).max() < 1e-12 * machine.mechanism.size
    assert openings(machine.mechanism, solution).max() < 1e-12


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_targets_off_the_curve_get_its_nearest_place(make):
    machine = make()
    size = machine.mechanism.size
    fine = machine.mechanism.solve({"crank": np.linspace(-np.pi, np.pi, 20001)})
    curve = fine.places(machine.body, machine.place)
    targets = curve[::1000] + 0.05 * size * np.random.default_rng(2).normal(size=curve[::1000].shape)
    solution = machine.mechanism.solve_target(machine.body, machine.place, targets)
    nearest = np.array([np.hypot(*(curve - target).T).min() for target in targets])
    assert (solution.residual < nearest + 1e-6 * size).all()


@pytest.mark.slow
def test_the_rams_of_an_excavator_bring_its_teeth_to_targets():
    machine = excavator()
    targets = machine.mechanism.solve(machine.run(200)).places(machine.body, machine.place)
    solution = machine.mechanism.solve_target(machine.body, machine.place, targets)
    assert solution.residual.max() < 1e-9 * machine.mechanism.size
    assert openings(machine.mechanism, solution).max() < 1e-12


def test_drivers_that_are_given_are_kept():
    machine = excavator()
    run = machine.run(60)
    targets = machine.mechanism.solve(run).places(machine.body, machine.place)
    given = {"ram bucket": run["ram bucket"]}
    solution = machine.mechanism.solve_target(machine.body, machine.place, targets, given)
    assert np.abs(solution.drivers["ram bucket"] - run["ram bucket"]).max() < 1e-12
    assert solution.residual.max() < 1e-9 * machine.mechanism.size


def test_two_freedoms_of_a_pantograph_reach_any_target_in_reach():
    machine = pantograph()
    rng = np.random.default_rng(5)
    angle, far = rng.uniform(0.0, 2.0 * np.pi, 300), rng.uniform(0.5, 3.8, 300)
    targets = np.stack((far * np.cos(angle), far * np.sin(angle)), axis=1)
    solution = machine.mechanism.solve_target(machine.body, machine.place, targets)
    assert (solution.residual < 1e-9).mean() > 0.99


@pytest.mark.slow
def test_going_on_does_not_jump_to_the_nearest_place():
    machine = four_bar()
    # The midpoint of the coupler's figure is passed twice a turn.
    angles = np.linspace(0.0, 2.0 * np.pi, 121)
    targets = machine.mechanism.solve({"crank": angles}).places(machine.body, machine.place)
    solution = machine.mechanism.solve_target(machine.body, machine.place, targets, goes_on=True)
    assert solution.residual.max() < 1e-9
    assert np.abs(solution.drivers["crank"] - angles).max() < 1e-6


def test_a_target_out_of_reach_of_a_ram_leaves_it_at_its_end():
    machine = landing_gear()
    solution = machine.mechanism.solve_target(machine.body, machine.place, [[9.0, 9.0], [-9.0, -9.0]])
    assert openings(machine.mechanism, solution).max() < 1e-12 and (solution.residual > 5.0).all()


def rocker_end(machine):
    """Return the end of a four-bar's rocker."""
    return next(xy(one.at_a) for one in machine.joints if (one.a, one.b) == (2, 3))


def test_a_dragged_point_goes_on_from_its_start_and_not_from_the_best_of_all():
    """Two turns of the crank bring the rocker's end to one place, and whole turns count."""
    four = four_bar().mechanism
    there = four.solve({"crank": 0.5}).places("rocker", rocker_end(four))
    near = [
        four.solve_target("rocker", rocker_end(four), there, goes_on=True, start={"crank": start}).drivers[
            "crank"
        ][0]
        for start in (0.4, 0.6, 0.4 + 4.0 * np.pi)
    ]
    assert np.abs(np.subtract(near, (0.5, 0.5, 0.5 + 4.0 * np.pi))).max() <= 1e-6


@pytest.mark.parametrize("along", [(1.0, 0.4), (-1.0, 0.4)])
def test_at_the_end_of_its_swing_a_dragged_point_comes_back_the_way_it_went(along):
    four = four_bar().mechanism
    place, turned, value = rocker_end(four), [], 0.0
    for part in (*np.linspace(0.0, 2.5, 11), *np.linspace(2.5, 0.0, 11)):
        goal = np.array(place) + part * np.array(along)
        found = four.solve_target("rocker", place, goal, goes_on=True, start={"crank": value})
        value = float(found.drivers["crank"][0])
        turned.append(value)
    assert np.abs(np.subtract(turned, turned[::-1])).max() <= 1e-5 and np.ptp(turned) > 0.5


def test_a_dragged_point_stays_within_ranges():
    gear = landing_gear()
    length = gear.run(2)["ram"][0]
    for low, high in ((0.95, 1.02), (0.99, 1.3)):
        found = gear.mechanism.solve_target(
            "strut",
            gear.place,
            [[3.0, 2.0], [-3.0, 2.0], [0.0, -9.0]],
            goes_on=True,
            start={"ram": length},
            ranges={"ram": (low * length, high * length)},
        )
        assert (
            (found.drivers["ram"] / length >= low - 1e-12) & (found.drivers["ram"] / length <= high + 1e-12)
        ).all()
        assert np.ptp(found.drivers["ram"]) > 0.0


@pytest.mark.parametrize("make", [toggle_clamp, landing_gear])
def test_values_given_are_those_that_easing_brings_to_the_pose(make):
    machine = make().mechanism
    driver = machine.drivers[0].name
    body, place = make().body, make().place
    for away in np.linspace(0.0, 2.0 * np.pi, 12):
        goal = np.array(place) + 2.0 * machine.size * np.array((np.cos(away), np.sin(away)))
        found = machine.solve_target(body, place, goal, goes_on=True, dead="EASE", ease=0.05)
        again = machine.solve(found.given, dead="EASE", ease=0.05)
        rest = machine.solve({}).drivers[driver][0]
        width = 0.05 * (rest if machine.drivers[0].is_ram else 1.0)
        assert abs(again.drivers[driver] - found.drivers[driver])[0] <= 1.1e-3 * width


def test_a_target_of_several_drivers_at_a_stretched_arm_is_no_fault():
    """There the equations of a step are singular."""
    arm = pantograph().mechanism
    place = pantograph().place
    found = arm.solve_target("forearm", place, np.array(place) + [[0.0, 0.0], [50.0, 80.0]], goes_on=True)
    assert np.isfinite(found.residual).all() and found.residual[0] <= 1e-9
