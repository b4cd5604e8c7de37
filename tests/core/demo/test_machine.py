# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo's four-bar."""

import numpy as np
import pytest

from core_demo.machine import DemoMachine


def lengths(machine):
    """Return the lengths of crank, coupler and rocker as they are drawn."""
    return np.hypot(*np.diff(machine.joints(), axis=0).T)


def test_links_keep_their_lengths_while_the_crank_turns():
    machine = DemoMachine()
    for angle in np.linspace(-12.0, 12.0, 50):
        machine.turn(angle)
        assert np.allclose(lengths(machine), [1.0, 2.5, 2.0], atol=1e-12)
        assert machine.result == "Every loop is closed"


def test_a_drag_turns_the_crank_to_the_nearest_place():
    machine = DemoMachine()
    curve = machine.curve()
    machine.drag(*(curve[40] + [0.3, 0.2]))
    nearest = np.hypot(*(curve - curve[40] - [0.3, 0.2]).T).min()
    place = machine.coupler()[1]
    assert np.hypot(*(place - curve[40] - [0.3, 0.2])) < nearest + 1e-4
    assert machine.result.startswith("Dragged: 0.")


def test_a_short_coupler_has_dead_points():
    machine = DemoMachine()
    assert machine.set_length("coupler", 1.5)
    machine.turn(3.0)
    assert "'crank' is held at" in machine.result and np.allclose(lengths(machine), [1.0, 1.5, 2.0])
    machine.set_dead("Ease")
    assert np.allclose(lengths(machine), [1.0, 1.5, 2.0])


def test_a_length_that_closes_no_loop_is_not_taken():
    machine = DemoMachine()
    assert machine.set_length("crank", 0.4) and machine.set_length("coupler", 1.0)
    assert not machine.set_length("rocker", 0.4)
    assert machine.result == "A rocker of 0.40 closes no loop" and machine.lengths["rocker"] == 2.0


@pytest.mark.parametrize("name", ["Stop", "Ease", "Go Through"])
def test_every_way_with_dead_points_closes(name):
    machine = DemoMachine()
    machine.set_dead(name)
    machine.turn(2.0)
    assert machine.pose.open[0] < 1e-12
