# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines that people build, over full turns or as far as they go; and what a caller may hand in."""

import pickle

import numpy as np
import pytest
from machines import (
    MACHINES,
    coupled_wheels,
    excavator,
    four_bar,
    geared_five_bar,
    jansen_leg,
    landing_gear,
    openings,
    pantograph,
    peaucellier,
    pinned,
    scissor_lift,
    toggle_clamp,
)

from ik2d_addon.core import IK2DError, Mechanism, MechanismStatus


@pytest.mark.slow
@pytest.mark.parametrize("make", MACHINES, ids=lambda make: make.__name__)
def test_loops_close_to_1e_12_of_size_and_no_joint_jumps(make):
    machine = make()
    solution = machine.mechanism.solve(machine.run(1001))
    assert (solution.status == MechanismStatus.CLOSED).all() and solution.remarks() == []
    assert openings(machine.mechanism, solution).max() < 1e-12
    assert solution.open.max() < 1e-12 * machine.mechanism.size
    # No side was lost: a flip turns some body by tens of degrees.
    limit = 4.0 if make is coupled_wheels else 1.2
    assert np.degrees(np.abs(np.diff(solution.turns, axis=0)).max()) < limit


@pytest.mark.parametrize("make", MACHINES, ids=lambda make: make.__name__)
def test_the_rest_pose_is_the_pose_of_the_rest_values(make):
    machine = make()
    solution = machine.mechanism.solve({})
    assert np.abs(solution.turns).max() < 1e-12
    assert (
        np.abs(solution.places(machine.body, machine.place) - machine.place).max()
        < 1e-12 * machine.mechanism.size
    )


def test_peaucellier_draws_a_straight_line_to_1e_12_of_its_way():
    machine = peaucellier()
    places = machine.mechanism.solve(machine.run(1001)).places(machine.body, machine.place)
    off = places - places.mean(axis=0)
    across = np.linalg.svd(off, full_matrices=False)[2][1]
    assert np.ptp(places[:, 1]) > 2.0 and np.abs(off @ across).max() < 1e-12 * np.ptp(places[:, 1])


def test_the_deck_of_a_scissor_lift_does_not_turn():
    machine = scissor_lift()
    solution = machine.mechanism.solve(machine.run(1001))
    assert np.abs(solution.turn("deck")).max() < 1e-12
    assert np.ptp(solution.places(machine.body, machine.place)[:, 1]) > 5.0


def test_a_pantograph_draws_twice_as_large_to_1e_12():
    machine = pantograph()
    solution = machine.mechanism.solve(machine.run(1001))
    small = np.exp(2.0j) + np.exp(0.9j)
    inner = solution.places("inner", [small.real, small.imag])
    assert np.abs(solution.places(machine.body, machine.place) - 2.0 * inner).max() < 1e-12


def test_a_gear_keeps_its_ratio_to_1e_12():
    machine = geared_five_bar()
    solution = machine.mechanism.solve({"crank": np.linspace(0.0, 40.0, 1001)})
    assert np.abs(solution.turn("wheel") + solution.turn("crank")).max() < 1e-12
    train = (
        pinned((0, "a", 0), (0, "b", 2.0), (0, "c", 5.0)).gear("a", "b", -0.4).gear("c", "b", 3.0).drive("a")
    )
    turns = train.solve({"a": np.linspace(-9.0, 9.0, 50)})
    assert np.abs(turns.turn("c") + 0.4 / 3.0 * turns.turn("a")).max() < 1e-12


def test_the_rams_of_an_excavator_come_back_to_1e_12():
    machine = excavator()
    solution = machine.mechanism.solve(machine.run(1001))
    joints = (("boom",), ("stick", "boom"), ("bucket", "stick"))
    back = excavator(joints).mechanism.solve({one[0]: solution.turn(*one) for one in joints})
    for ram, length in machine.run(1001).items():
        assert np.abs(back.length(ram) - length).max() < 1e-12 * machine.mechanism.size


def test_the_ram_of_a_landing_gear_comes_back_to_1e_12():
    machine = landing_gear()
    lengths = machine.run(1001)["ram"]
    solution = machine.mechanism.solve({"ram": lengths})
    free = Mechanism(machine.mechanism.bodies, machine.mechanism.joints).drive("upper")
    back = free.solve({"upper": solution.turn("upper")})
    assert np.abs(back.length("ram") - lengths).max() < 1e-12 * machine.mechanism.size
    assert 70.0 < np.degrees(np.ptp(solution.turn("strut"))) < 90.0
    assert np.abs(back.heading("ram") - solution.heading("ram")).max() < 1e-12


def test_the_side_is_kept_through_100_turns():
    machine = jansen_leg()
    once = machine.mechanism.solve({"crank": np.linspace(0.0, 2.0 * np.pi, 101)})
    often = machine.mechanism.solve({"crank": np.linspace(0.0, 200.0 * np.pi, 10001)})
    places = [solution.places(machine.body, machine.place) for solution in (once, often)]
    assert (often.status == 0).all()
    assert np.abs(places[1].reshape(-1, 2)[:10000].reshape(100, 100, 2) - places[0][:100]).max() < 1e-9


def test_the_other_side_is_the_mirror_of_the_triangle_and_twice_it_is_the_first():
    machine = four_bar()
    other = machine.mechanism.other_side("rocker").solve(machine.run(101))
    assert openings(machine.mechanism, other).max() < 1e-12
    first = machine.mechanism.solve(machine.run(101))
    assert np.abs(other.turn("rocker") - first.turn("rocker")).min() > 0.1
    twice = machine.mechanism.other_side("rocker").other_side("coupler").solve(machine.run(101))
    assert np.array_equal(twice.turns, first.turns)
    with pytest.raises(IK2DError, match="'crank' is in no triangle"):
        machine.mechanism.other_side("crank").solve({})


def test_a_toggle_is_held_at_its_dead_point_and_says_so():
    machine = toggle_clamp()
    solution = machine.mechanism.solve({"handle": np.linspace(-1.0, 0.6, 401)})
    assert (solution.status == MechanismStatus.HELD).sum() == 91
    assert openings(machine.mechanism, solution).max() < 1e-12
    assert solution.remarks() == [
        "'handle' is held at 13.6\N{DEGREE SIGN} on 91 of 401 frames (given: 34.4\N{DEGREE SIGN})"
    ]


@pytest.mark.parametrize("least", [1.0, 1e-310, 5e-324])
def test_a_slide_takes_its_direction_from_the_least_numbers(least):
    slider = Mechanism().pin(0, "crank", [0, 0]).pin("crank", "rod", [1, 0]).drive("crank")
    solution = slider.slide(0, "rod", [4, 3], [least, least]).solve({"crank": 0.2})
    at = solution.places("rod", [4, 3])[0]
    assert solution.status[0] == MechanismStatus.CLOSED and abs(at[0] - 4 - (at[1] - 3)) < 1e-12


def test_a_mechanism_is_pickled_without_its_plan():
    machine = jansen_leg()
    first = machine.mechanism.solve(machine.run(20))
    again = pickle.loads(pickle.dumps(machine.mechanism)).solve(machine.run(20))
    assert np.array_equal(again.turns, first.turns)


FOUR = four_bar().mechanism


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (lambda: Mechanism().pin("a", "a", [0, 0]), "A joint needs two bodies, not 'a' and itself"),
        (lambda: Mechanism().pin(0, 1.5, [0, 0]), "a body must be a name or a whole number, not 1.5"),
        (lambda: Mechanism().pin(0, True, [0, 0]), "a body must be a name or a whole number, not True"),
        (lambda: FOUR.pin("coupler", "crank", [1, 1]), "'coupler' and 'crank' are pinned already: .*"),
        (lambda: Mechanism().pin(0, "a", [0, np.nan]), r"place must be finite numbers; at \[1\] it is nan"),
        (lambda: Mechanism().pin(0, "a", [0, 10**400]), r"place must not exceed 1e\+300; .*"),
        (lambda: Mechanism().pin(0, "a", [0, 1, 2]), r"place must be two numbers, x and y, not \[0, 1, 2\]"),
        (lambda: Mechanism().pin(0, "a", "here"), "place must be numbers, .*"),
        (lambda: Mechanism().slide(0, "a", [0, 0], [0, 0]), "The slide of '0' and 'a' has no direction"),
        (lambda: Mechanism().gear("a", "b", 0.0), "The gear of 'a' and 'b' has a ratio of 0.0"),
        (lambda: Mechanism().ram(0, [0, 0], "a", [1, 1], "a"), "the ram's name must be a text .* not 'a'"),
        (lambda: FOUR.drive("crank"), "'crank' drives already"),
        (lambda: FOUR.drive("nose"), "the mechanism has no body or ram 'nose'"),
        (lambda: FOUR.drive(0), "'0' cannot drive itself"),
        (lambda: FOUR.drive("rocker", "rocker"), "'rocker' cannot drive itself"),
        (lambda: FOUR.solve({"rocker": 0.0}), "'rocker' is no driver of this mechanism"),
        (lambda: FOUR.solve([1.0]), r"drivers must be a Mapping, not \[1.0\]"),
        (lambda: FOUR.solve({"crank": [0.0, np.nan]}), r"driver 'crank' must be finite numbers; at \[1\] .*"),
        (lambda: FOUR.solve({"crank": 10**400}), r"driver 'crank' must not exceed 1e\+300; .*"),
        (lambda: FOUR.solve({"crank": 1e7}), r"driver 'crank' must not exceed 1e\+06; .*"),
        (
            lambda: FOUR.solve({"crank": [[0.0]]}),
            r"driver 'crank' must be one number a frame, not \[\[0.0\]\]",
        ),
        (lambda: FOUR.solve({}, dead="JUMP"), "dead must be one of STOP, EASE, THROUGH, not 'JUMP'"),
        (lambda: FOUR.solve({}, ease=-1), "ease must not be negative, and it is -1.0"),
        (lambda: landing_gear().mechanism.solve({"ram": -1.0}), "the length of 'ram' must not be negative"),
        (lambda: FOUR.feasible("crank", 1.0, 1.0), "least must be below greatest, not 1.0 and 1.0"),
        (lambda: FOUR.feasible("crank", 0.0, 1e5), "a driver's range must lie within 402 radians"),
        (
            lambda: landing_gear().mechanism.feasible("ram", 0.1, 1e6),
            "a driver's range must lie within 64 sizes of the mechanism",
        ),
        (
            lambda: excavator().mechanism.solve({"ram boom": [2, 2], "ram stick": [1, 1, 1]}),
            "hand in as many .*",
        ),
        (lambda: FOUR.solve_target("crank", [0, 0], [0, 0], {"crank": 0.0}), "all drivers are given: .*"),
        (lambda: FOUR.solve_target("crank", [0, 0], [[[0, 0]]]), "target must be pairs of x and y, not .*"),
    ],
)
def test_each_refusal_names_the_thing(work, words):
    with pytest.raises(IK2DError, match=f"^{words}$"):
        work()


@pytest.mark.slow
def test_500_bodies_are_solved_and_more_are_refused():
    mechanism = Mechanism().pin(0, 1, [0, 0]).drive(1)
    for body in range(2, 501, 2):
        # A ladder of triangles, each on the two bodies before.
        x = float(body)
        mechanism = (
            mechanism.pin(body - 1, body, [x, 0.1]).pin(0, body + 1, [x + 1, -2]) if body < 499 else mechanism
        )
        mechanism = mechanism.pin(body, body + 1, [x + 1, 0.4]) if body < 499 else mechanism
    assert len(mechanism.bodies) == 500
    solution = mechanism.solve({1: [0.0, 1e-4]})
    assert openings(mechanism, solution).max() < 1e-12
    with pytest.raises(IK2DError, match="A mechanism has at most 500 bodies"):
        mechanism.pin(0, "more", [0, 0]).pin(0, "and more", [0, 1])
