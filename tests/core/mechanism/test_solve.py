# SPDX-License-Identifier: GPL-3.0-or-later
"""The solution of a plan: continuous turns, open joints, and what is held."""

import numpy as np
import pytest
from machines import four_bar, pinned

from ik2d_addon.core import Mechanism, MechanismStatus
from ik2d_addon.core.mechanism.solve import solved


def test_turns_go_on_over_whole_turns():
    solution = solved(four_bar().mechanism.plan, [np.linspace(0.0, 40.0, 400)])
    assert np.abs(np.diff(solution.turns, axis=0)).max() < 0.3
    parallel = pinned((0, "a", 0), ("a", "b", 1.0), ("b", "c", 1.5 + 1.7j), ("c", 0, 0.3j)).drive("a")
    turns = parallel.solve({"a": np.linspace(0.0, 40.0, 400)}).turns
    assert np.abs(np.diff(turns, axis=0)).max() < 0.6 and turns[-1].min() > -3.2


def test_a_press_is_driven_by_its_ram():
    press = Mechanism().slide(0, "press", [1, 1], [0, 1], keeps_angle=True)
    press = press.ram(0, [0, 0], "press", [1, 1]).drive("ram")
    lengths = np.linspace(1.2, 2.0, 50)
    solution = press.solve({"ram": lengths})
    assert (solution.status == MechanismStatus.CLOSED).all() and solution.open.max() < 1e-12
    heights = np.sqrt(lengths**2 - 1.0)
    assert np.abs(solution.places("press", [1, 1]) - np.stack((np.ones(50), heights), 1)).max() < 1e-12
    assert press.feasible("ram", 0.5, 2.0)[0, 0] == pytest.approx(1.0, abs=1e-12)


def test_a_driver_that_turns_farther_than_half_a_turn_a_frame_keeps_its_number():
    values = np.array([9.0, 20.0, -30.0])
    assert np.array_equal(solved(four_bar().mechanism.plan, [values]).turn("crank"), values)


def test_a_rest_pose_that_is_not_closed_is_closed_by_the_lengths_of_its_bodies():
    mechanism = pinned((0, "crank", 0), ("crank", "rod", 1j)).pin("rod", "arm", [2.0, 2.0], [2.02, 1.98])
    mechanism = mechanism.pin("arm", 0, [3.0, 0.0]).drive("crank")
    solution = mechanism.solve({"crank": [0.0, 1.0]})
    assert (solution.open < 1e-12).all() and 0.1 < np.degrees(abs(solution.turn("arm")[0])) < 2.0


def test_three_wheels_on_one_rod_agree_and_jam_where_a_pivot_is_off():
    def wheels(middle):
        pins = [(0, "w1", 0), ("w1", "rod", 1j), ("rod", "w3", 4 + 1j), ("w3", 0, 4)]
        return pinned(*pins, (0, "w2", middle), ("w2", "rod", 2 + 1j)).drive("w1")

    solution = wheels(2.0).solve({"w1": np.linspace(0.1, 6.0, 401)}, dead="THROUGH")
    assert (solution.status == MechanismStatus.CLOSED).all() and solution.open.max() < 1e-7
    off = solved(wheels(2.05).plan, [np.linspace(0.1, 6.0, 401)], "THROUGH")
    assert 0.04 < off.open.max() < 0.06 and (off.status == MechanismStatus.OPEN).any()


def test_a_geared_wheel_turns_by_its_ratio_however_far_apart_frames_are():
    mechanism = pinned((0, "crank", 0), (0, "wheel", 5), (0, "third", 9)).gear("crank", "wheel", 0.5)
    mechanism = mechanism.gear("wheel", "third", 9.0).drive("crank")
    angles = np.array([0.0, 5.0, 10.0, 15.0, -40.0])
    together = mechanism.solve({"crank": angles})
    assert np.abs(together.turn("wheel") - 0.5 * angles).max() < 1e-12
    assert np.abs(together.turn("third") - 4.5 * angles).max() < 1e-12


def test_a_wheel_geared_to_a_rocker_keeps_its_turns_from_frame_to_frame():
    mechanism = four_bar().mechanism.pin(0, "wheel", [5, 5]).gear("rocker", "wheel", 37.3)
    solution = mechanism.solve({"crank": np.linspace(0.0, 6.0, 13)})
    assert np.abs(solution.turn("wheel") - 37.3 * solution.turn("rocker")).max() < 1e-9


def test_a_wheel_geared_to_a_rocker_is_at_rest_where_the_rocker_is():
    mechanism = pinned(
        (0, "crank", 0), ("crank", "rod", 1j), ("rod", "rocker", -2 + 1j), ("rocker", 0, -2 - 1j)
    )
    mechanism = mechanism.pin(0, "wheel", [5, 5]).gear("rocker", "wheel", 0.5).drive("crank")
    for angle in (-0.3, 0.3):
        solution = mechanism.solve({"crank": angle})
        assert abs(solution.turn("rocker")[0]) < 1.0
        assert abs(solution.turn("wheel")[0] - 0.5 * solution.turn("rocker")[0]) < 1e-12
