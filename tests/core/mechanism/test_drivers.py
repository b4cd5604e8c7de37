# SPDX-License-Identifier: GPL-3.0-or-later
"""Drivers: intervals that close, to 1e-12; held, eased and turned over at dead points."""

import numpy as np
import pytest
from machines import coupled_wheels, excavator, four_bar, jansen_leg, openings, pinned, toggle_clamp

from ik2d_addon.core import MechanismStatus


def corner(a, b, c):
    """Return the angle opposite side c of a triangle, in as many digits as a float has."""
    return 2.0 * np.arctan2(np.sqrt((c - a + b) * (c + a - b)), np.sqrt((a + b - c) * (a + b + c)))


def test_an_interval_ends_at_the_dead_points_to_1e_12():
    mechanism = toggle_clamp().mechanism
    ((low, high),) = mechanism.feasible("handle", -2.5, 2.5)
    # Dead where link and arm, 1.6 and 1.0, are one line of 2.6 from the handle's tip to the arm's pivot.
    tip, pivot = -0.15 + 1.2j, 2.0 + 0.2j
    reach = corner(abs(tip), abs(pivot), 2.6)
    ends = np.angle(pivot) + np.array([reach, -reach]) - np.angle(tip)
    assert abs(high - ends[0]) < 1e-12 and low == -2.5
    assert mechanism.feasible("handle", -6.0, 0.0)[-1, 0] == pytest.approx(ends[1], abs=1e-12)


def test_a_driver_that_always_closes_is_one_interval():
    assert four_bar().mechanism.feasible("crank", -3.0, 50.0).tolist() == [[-3.0, 50.0]]


def test_a_narrow_part_that_does_not_close_is_found_between_the_rows_of_the_table():
    # Wheels whose rod is 1e-5 of their distance too short do not pass by .2 degrees, of a table in half ones.
    d, short = 3.0, 3e-5
    b = d + np.exp(0.5j * np.pi + 0.002j)
    b = 1j + (d - short) * (b - 1j) / abs(b - 1j)
    r = abs(b - d)
    mechanism = pinned((0, "front", 0), ("front", "rod", 1j), ("rod", "back", b), ("back", 0, d)).drive(
        "front"
    )
    intervals = mechanism.feasible("front", -np.pi, np.pi)
    assert r < 1.001 and len(intervals) > 1
    gaps = intervals[1:, 0] - intervals[:-1, 1]
    assert 1e-4 < gaps.min() < 0.02


def test_the_ram_of_an_excavator_goes_as_far_as_its_triangle():
    mechanism = excavator().mechanism
    r, d = abs(2.0 + 1.5j), abs(0.9 - 0.2j)
    ((low, high),) = mechanism.feasible("ram boom", 0.1, 10.0)
    assert abs(low - (r - d)) < 1e-12 and abs(high - (r + d)) < 1e-12


def test_a_ram_too_long_is_held_and_the_other_rams_are_not():
    machine = excavator()
    values = machine.run(101)
    values["ram boom"] = values["ram boom"] * 3.0
    solution = machine.mechanism.solve(values)
    assert solution.held["ram boom"].any()
    for ram in ("ram stick", "ram bucket"):
        assert not solution.held[ram].any() and np.allclose(solution.drivers[ram], values[ram], atol=1e-12)
    assert openings(machine.mechanism, solution).max() < 1e-12
    assert np.array_equal(solution.status == MechanismStatus.HELD, solution.held["ram boom"])


def two_cranks():
    """A five-bar whose cranks are driven each by itself: its loop hangs on both."""
    p = 1.5 + 2.0j
    return (
        pinned((0, "a", 0), (0, "b", 3.0), ("a", "x", 1j), ("x", "y", p), ("y", "b", 3.0 + 1j))
        .drive("a")
        .drive("b")
    )


def test_a_loop_on_two_drivers_holds_both_on_their_way_from_rest():
    mechanism = two_cranks()
    rng = np.random.default_rng(4)
    values = {"a": rng.uniform(-3.0, 3.0, 200), "b": rng.uniform(-3.0, 3.0, 200)}
    solution = mechanism.solve(values)
    assert openings(mechanism, solution).max() < 1e-12
    held = solution.status == MechanismStatus.HELD
    assert 20 < held.sum() < 180 and np.array_equal(held, solution.held["a"])
    shares = [solution.drivers[name] / values[name] for name in values]
    assert np.abs(shares[0] - shares[1]).max() < 1e-12 and (shares[0][~held] == 1.0).all()
    # A little farther no triangle closes.
    beyond = {name: used * (1.0 + 1e-9) for name, used in solution.drivers.items()}
    assert (mechanism.solve(beyond).status[held] == MechanismStatus.HELD).all()


def test_a_driver_that_jumps_over_a_dead_part_is_held_at_the_near_end_until_it_comes_back():
    machine = toggle_clamp()
    ((_, high),) = machine.mechanism.feasible("handle", -2.0, 2.0)
    # From 3.9 radians on the loop would close again.
    solution = machine.mechanism.solve({"handle": [0.1, 4.2, 4.3, 0.1]})
    assert len(machine.mechanism.feasible("handle", -2.0, 4.5)) == 2
    assert solution.drivers["handle"] == pytest.approx([0.1, high, high, 0.1], abs=1e-12)


def test_ease_keeps_speeds_finite_and_never_passes_the_end():
    machine = toggle_clamp()
    values = np.linspace(-1.0, 0.6, 401)
    ((_, high),) = machine.mechanism.feasible("handle", -2.0, 2.0)
    turns = {}
    for dead in ("STOP", "EASE"):
        solution = machine.mechanism.solve({"handle": values}, dead=dead)
        assert (solution.drivers["handle"] <= high).all()
        assert openings(machine.mechanism, solution).max() < 1e-12
        turns[dead] = np.degrees(np.abs(np.diff(solution.turn("arm"))).max())
    assert turns["STOP"] > 2.0 and turns["EASE"] < 1.0
    used = machine.mechanism.solve({"handle": values}, dead="EASE").drivers["handle"]
    left = np.where(high - values >= 0.02, high - values, 0.02 * np.exp((high - values - 0.02) / 0.02))
    assert np.abs(high - used - left).max() < 1e-12
    status = machine.mechanism.solve({"handle": values}, dead="EASE").status
    assert (status == MechanismStatus.EASED).sum() == 5 and (status == MechanismStatus.HELD).sum() == 91


def test_a_rest_pose_within_the_width_of_ease_stays_where_it_is():
    machine = toggle_clamp()
    solution = machine.mechanism.solve({"handle": 0.0}, dead="EASE", ease=5.0)
    assert solution.drivers["handle"] == 0.0 and solution.status == MechanismStatus.CLOSED


@pytest.mark.parametrize("frames", [16, 17, 24, 48, 120])
def test_coupled_wheels_go_through_their_change_points_together(frames, some):
    machine, rng = coupled_wheels(), np.random.default_rng(frames)
    for _ in range(some(200) // 10):
        values = np.append(
            0.0, np.linspace(0.0, 4.0 * np.pi, 2 * frames + 1) + rng.uniform(0.01, 0.49) / frames
        )
        solution = machine.mechanism.solve({"front": values}, dead="THROUGH")
        assert np.abs(np.exp(1j * solution.turn("back")) - np.exp(1j * values)).max() < 1e-9
        assert openings(machine.mechanism, solution).max() < 1e-12


def test_one_frame_far_away_is_through_as_often_as_all_frames_on_the_way():
    mechanism = coupled_wheels().mechanism
    for value in (-70.0, -2.0, 2.0, 5.0, 200.0, 628.0):
        turn = mechanism.solve({"front": value}, dead="THROUGH").turn("back")
        assert np.abs(np.exp(1j * turn) - np.exp(1j * value)).max() < 1e-9


def test_wheels_on_their_change_points_are_together_to_the_square_root_of_rounding():
    values = np.linspace(0.0, 6.0 * np.pi, 601)
    solution = coupled_wheels().mechanism.solve({"front": values}, dead="THROUGH")
    assert np.abs(np.exp(1j * solution.turn("back")) - np.exp(1j * values)).max() < 1e-7


def test_without_through_coupled_wheels_keep_their_side_and_cross():
    values = np.linspace(0.0, 2.0 * np.pi, 201)
    for dead in ("STOP", "EASE"):
        solution = coupled_wheels().mechanism.solve({"front": values}, dead=dead)
        assert (solution.status == 0).all() and np.abs(solution.turn("back") - values).max() > 1.0


@pytest.mark.parametrize("short", [1e-1, 1e-2, 1e-3])
@pytest.mark.parametrize("frames", [24, 48, 240])
def test_wheels_that_only_come_near_their_dead_points_are_not_turned_over(short, frames):
    mechanism = coupled_wheels(short).mechanism
    values = {"front": np.linspace(0.0, 2.0 * np.pi, frames + 1)}
    assert np.array_equal(mechanism.solve(values, dead="THROUGH").turns, mechanism.solve(values).turns)


def test_wheels_in_single_precision_are_coupled():
    rng = np.random.default_rng(7)
    for _ in range(20):
        places = np.array([0.0, 1j, 3.0 + 1j, 3.0]) * np.exp(1j * rng.uniform(0.0, 6.0)) + rng.normal()
        a, b, c, d = places.astype(np.complex64).astype(complex)
        mechanism = pinned((0, "front", a), ("front", "rod", b), ("rod", "back", c), ("back", 0, d)).drive(
            "front"
        )
        values = np.linspace(0.0, 4.0 * np.pi, 97)
        solution = mechanism.solve({"front": values}, dead="THROUGH")
        assert (solution.status == 0).all() and openings(mechanism, solution).max() < 1e-6
        assert np.abs(np.exp(1j * solution.turn("back")) - np.exp(1j * values)).max() < 2e-3


def test_wheels_in_a_row_go_through_one_after_the_other():
    pins = [(0, "w0", 0)]
    for i in range(3):
        pins += [
            (f"w{i}", f"rod{i}", 2 * i + 1j),
            (f"rod{i}", f"w{i + 1}", 2 * i + 2 + 1j),
            (f"w{i + 1}", 0, 2 * i + 2),
        ]
    mechanism = pinned(*pins).drive("w0")
    values = np.linspace(0.1, 12.0, 200)
    solution = mechanism.solve({"w0": values}, dead="THROUGH")
    assert np.abs(np.exp(1j * solution.turn("w3")) - np.exp(1j * values)).max() < 1e-7


def test_a_loop_that_never_closes_stays_open_with_the_least_gap():
    mechanism = pinned((0, "crank", 0), ("crank", "rod", 1j)).pin("rod", "arm", [1.0, 1.0], [3.0, 0.1])
    mechanism = mechanism.pin("arm", 0, [3.0, 0.0]).drive("crank")
    values = np.linspace(0.0, 6.0, 50)
    solution = mechanism.solve({"crank": values})
    assert (solution.status == MechanismStatus.OPEN).all() and np.array_equal(
        solution.drivers["crank"], values
    )
    short = np.abs(np.exp(1j * (values + np.pi / 2.0)) - 3.0) - 1.1
    assert np.abs(solution.open - short).max() < 1e-12
    assert solution.remarks()[0].startswith("A loop never closes: 2.9 short")


def test_a_loop_that_does_not_close_at_rest_is_held_where_it_closes_nearest_to_it():
    mechanism = pinned((0, "crank", 0), ("crank", "rod", 1j)).pin("rod", "arm", [1.1, 1.5], [2.2, 0.9])
    mechanism = mechanism.pin("arm", 0, [3, 0]).drive("crank")
    ((low, high),) = mechanism.feasible("crank", -np.pi, np.pi)
    assert -3.0 < low < high < -0.5
    for dead in ("STOP", "EASE", "THROUGH"):
        used = mechanism.solve({"crank": [-3.0, -2.0, 0.0, 1.0]}, dead=dead).drivers["crank"]
        assert used == pytest.approx([low, -2.0, high, high], abs=1e-12)
        alone = mechanism.solve({"crank": 0.0}, dead=dead)
        assert alone.status == MechanismStatus.HELD and alone.open.max() < 1e-12


def test_what_was_found_for_one_range_is_found_for_a_frame_alone():
    machine = jansen_leg()
    values = machine.run(60)["crank"]
    together = machine.mechanism.solve({"crank": values})
    for row in (0, 17, 59):
        alone = jansen_leg().mechanism.solve({"crank": values[row]})
        assert np.abs(np.exp(1j * alone.turns[0]) - np.exp(1j * together.turns[row])).max() < 1e-12


def test_a_ram_of_any_length_is_held_within_its_triangle():
    mechanism = pinned((0, "boom", 0)).ram(0, [1, -1], "boom", [1, 1], "ram").drive("ram")
    with np.errstate(invalid="raise"):
        solution = mechanism.solve({"ram": [0.0, 5e-324, 2.0, 1e4, 1e300]})
    ends = [0.0, 0.0, 2.0, 8.0**0.5, 8.0**0.5]
    assert np.abs(solution.drivers["ram"] - ends).max() < 1e-12
    assert solution.status[2:].tolist() == [
        MechanismStatus.CLOSED,
        MechanismStatus.HELD,
        MechanismStatus.HELD,
    ]


@pytest.mark.parametrize("dead", ["STOP", "EASE"])
def test_a_driver_is_held_at_a_change_point_where_its_kept_side_opens_another_joint(dead):
    # A parallelogram with a third crank: crossed behind the change point, it does not fit any more.
    pins = [(0, "a", 0), (0, "b", 2), (0, "third", 1), ("a", "rod", 1j), ("b", "rod", 2 + 1j)]
    mechanism = pinned(*pins, ("third", "rod", 1 + 1j)).drive("a")
    values = {"a": np.array([-3.0, -1.6, -1.5, 0.5, 1.5, 1.6, 2.5, 6.0, 0.3])}
    solution = mechanism.solve(values, dead=dead, ease=0.02)
    assert (solution.status < MechanismStatus.OPEN).all()
    assert solution.held["a"].tolist() == [True, True, False, False, False, True, True, True, False]
    assert np.abs(np.abs(solution.drivers["a"][[0, 6]]) - np.pi / 2).max() < (
        1e-6 if dead == "STOP" else 0.02
    )
    through = mechanism.solve(values, dead="THROUGH")
    assert (through.status == MechanismStatus.CLOSED).all()
