# SPDX-License-Identifier: GPL-3.0-or-later
"""Backwards: drivers that bring a place of a body nearest to its targets."""

import numpy as np
import pytest
from machines import excavator, four_bar, jansen_leg, landing_gear, openings, pantograph, slider_crank, watt

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
