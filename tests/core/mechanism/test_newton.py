# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton's method: an independent way to the same poses; rows are lost where it passes a dead point."""

import numpy as np
import pytest
from machines import MACHINES, coupled_wheels, far_stephenson, openings, stephenson, toggle_clamp

from ik2d_addon.core import MechanismStatus
from ik2d_addon.core.mechanism.newton import Equations, at_rest, independent
from ik2d_addon.core.mechanism.plan import planned
from ik2d_addon.core.mechanism.posing import posed
from ik2d_addon.core.mechanism.steps import Poses


def alone(mechanism, values):
    """Return the turns (frames, bodies) by Newton's method for all bodies, and the margins."""
    plan = planned(mechanism.bodies, mechanism.joints, mechanism.drivers, by_triangles=False)
    sizes = [plan.size if one.ram >= 0 else 1.0 for one in plan.drivers]
    rows = [values[one.name] / size for one, size in zip(plan.drivers, sizes, strict=True)]
    poses, margins = posed(plan, rows)
    return np.stack(
        [np.broadcast_to(poses.turns[body], len(margins)) for body in range(len(plan.names))], 1
    ), margins


@pytest.mark.slow
@pytest.mark.parametrize(
    "make", [make for make in MACHINES if make is not coupled_wheels], ids=lambda make: make.__name__
)
def test_newton_alone_finds_the_same_poses_to_1e_10(make):
    machine = make()
    values = machine.run(51)
    solution = machine.mechanism.solve(values)
    turns, margins = alone(machine.mechanism, values)
    assert (margins > 0.0).all()
    assert np.abs(np.exp(1j * turns) - np.exp(1j * solution.turns)).max() < 1e-10


@pytest.mark.parametrize("make", MACHINES, ids=lambda make: make.__name__)
def test_the_jacobian_is_the_derivative_of_the_equations(make):
    plan = make().mechanism.plan
    bodies = range(1, len(plan.names))
    equations, rng = Equations(plan.joints, plan.drivers, bodies), np.random.default_rng(3)
    rest = at_rest(plan.rest, bodies)

    def at(x):
        poses = Poses(rest.values, plan.rest)
        for body in bodies:
            px, py, turn = x[3 * body - 3 : 3 * body]
            poses.put(body, np.array([turn]), 0j, np.array([complex(px, py)]))
        return [part[0] for part in equations.at(poses)]

    x = 0.3 * rng.normal(size=3 * len(bodies))
    slopes = at(x)[1]
    for column in range(len(x)):
        step = np.zeros(len(x))
        step[column] = 1e-6
        assert np.abs((at(x + step)[0] - at(x - step)[0]) / 2e-6 - slopes[:, column]).max() < 1e-8


@pytest.mark.slow
def test_the_far_link_gives_the_poses_of_the_crank_it_finds():
    far, near = far_stephenson(), stephenson()
    solution = far.mechanism.solve(far.run(101))
    back = near.mechanism.solve({"crank": solution.turn("crank")})
    order = [back.bodies.index(body) for body in solution.bodies]
    assert np.abs(np.exp(1j * back.turns[:, order]) - np.exp(1j * solution.turns)).max() < 1e-10
    assert openings(far.mechanism, solution).max() < 1e-12


def test_a_row_past_a_dead_point_is_lost_and_says_so():
    machine = toggle_clamp()
    values = {"handle": np.array([-0.5, 0.2, 0.24, 0.3, 0.6])}
    _, margins = alone(machine.mechanism, values)
    assert (margins[:, 0] > 0.0).tolist() == [True, True, False, False, False]


def test_independent_rows_leave_out_combinations():
    rows = np.array([[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    kept, left = independent(rows, 3)
    assert len(kept) == 2 and np.linalg.matrix_rank(rows[kept]) == 2 and np.abs(left).max() < 1e-12


@pytest.mark.slow
def test_a_dead_point_without_triangles_is_found_to_1e_12():
    (interval,) = far_stephenson().mechanism.feasible("far", -1.0, 1.0)
    # By the crank, whose triangles close all round: the far link turns back where its turn is extreme.
    near, ends = stephenson().mechanism, []
    for sign in (-1.0, 1.0):
        angles = np.linspace(-np.pi, np.pi, 4001)
        for _ in range(6):
            turns = sign * near.solve({"crank": angles}).turn("far")
            best = angles[turns.argmax()]
            angles = best + np.linspace(-2.0, 2.0, 401) * (angles[1] - angles[0])
        ends.append(sign * turns.max())
    assert np.abs(interval - ends).max() < 1e-12


@pytest.mark.slow
def test_a_row_next_to_a_dead_point_does_not_depend_on_others():
    machine = far_stephenson()
    ((low, high),) = machine.mechanism.feasible("far", -1.0, 1.0)
    values = np.concatenate((np.linspace(low - 0.1, high + 0.1, 9), high - 10.0 ** -np.arange(2.0, 13.0)))
    together = machine.mechanism.solve({"far": values})
    assert (together.status < MechanismStatus.OPEN).all()
    for row in (0, 8, 12, 19):
        alone = machine.mechanism.solve({"far": values[row]})
        assert alone.status[0] == together.status[row]
        assert np.abs(alone.turns[0] - together.turns[row]).max() < 1e-9
