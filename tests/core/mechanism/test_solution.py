# SPDX-License-Identifier: GPL-3.0-or-later
"""A mechanism's solution: places, turns, rams that aim, and what it says of frames that are not as given."""

import numpy as np
import pytest
from machines import excavator, four_bar, landing_gear

from ik2d_addon.core import IK2DError, MechanismStatus
from ik2d_addon.core.mechanism.solution import status_of


def test_the_two_bodies_of_a_pin_have_it_in_one_place():
    machine = four_bar()
    solution = machine.mechanism.solve(machine.run(50))
    for joint in machine.mechanism.joints:
        place = [joint.at_a.real, joint.at_a.imag]
        a, b = (machine.mechanism.bodies[body] for body in (joint.a, joint.b))
        assert np.abs(solution.places(a, place) - solution.places(b, place)).max() < 1e-13


def test_some_frames_of_a_solution_are_those_of_all():
    machine, rows = excavator(), np.array([3, 4, 17, 49])
    given = machine.run(50)
    some = machine.mechanism.solve(given).on(rows)
    alone = machine.mechanism.solve({name: values[rows] for name, values in given.items()})
    for name in ("turns", "shifts", "open", "status", "residual"):
        assert np.abs(getattr(some, name) - getattr(alone, name)).max() < 1e-13
    for each, expected in ((some.drivers, alone.drivers), (some.given, alone.given), (some.held, alone.held)):
        assert all(np.array_equal(each[name], expected[name]) for name in expected)
    assert some.length("ram stick") == pytest.approx(given["ram stick"][rows], abs=1e-13)


def test_turns_are_against_the_ground_or_another_body():
    machine = four_bar()
    solution = machine.mechanism.solve(machine.run(50))
    relative = solution.turn("coupler") - solution.turn("crank")
    assert np.array_equal(solution.turn("coupler", "crank"), relative)
    assert not solution.turn(0).any() and solution.turns.shape == (50, 4)


def test_a_ram_that_does_not_drive_aims_from_end_to_end():
    machine = excavator((("boom"), ("stick", "boom"), ("bucket", "stick")))
    solution = machine.mechanism.solve({"boom": np.linspace(0.0, 0.3, 20)})
    start, end = solution.places(0, [0.9, -0.2]), solution.places("boom", [2.0, 1.5])
    way = (end - start) @ [1.0, 1j]
    assert np.abs(solution.length("ram boom") - np.abs(way)).max() < 1e-13
    heading = np.angle(way) - np.angle(1.1 + 1.7j)
    assert np.abs(solution.heading("ram boom") - heading).max() < 1e-13


def test_what_it_has_not_is_refused():
    solution = landing_gear().mechanism.solve({})
    with pytest.raises(IK2DError, match="no ram 'rod'"):
        solution.length("rod")
    with pytest.raises(IK2DError, match="no body 'wing'"):
        solution.turn("wing")


def test_the_worst_of_a_frame_is_its_status():
    flags = [np.array([[False, True, False, True]]), np.array([[False, True, True, False]])]
    status = status_of(np.array([0.0, 0.0, 0.0, 1.0]), *flags)
    assert [MechanismStatus(one).name for one in status] == ["CLOSED", "HELD", "EASED", "OPEN"]


def test_a_held_ram_is_told_by_its_length():
    solution = landing_gear().mechanism.solve({"ram": [1.0, 9.0]})
    (said,) = solution.remarks()
    assert said.startswith("'ram' is held at 1.") and said.endswith("on 1 of 2 frames (given: 9)")
