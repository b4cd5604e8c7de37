# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains of three bones and more: curves over the target's distance that are the solver's own poses."""

import numpy as np
import pytest

from ik2d_addon.core import Chain, IK2DError, Stretch, forward, solve_arc, solve_even
from ik2d_addon.features.native.family import END, family_of, plan, solver_of
from ik2d_addon.features.native.plan import Shape


def shape_of(lengths, solver='ARC', bends=0.0, **settings) -> Shape:
    """Return the shape of a chain whose first bone goes along x, the others bent."""
    n = len(lengths)
    angles = np.concatenate(([0.3], np.broadcast_to(bends, n - 1)))
    settings = {"limits": np.full((n, 2), np.nan), "weights": np.ones(n)} | settings
    return Shape(np.array(lengths), np.cumsum(angles), angles, solver=solver, **settings)


def cubics_at(found, places):
    """Return what the pieces of a family come to (m, n) at places (m,)."""
    piece = np.clip(np.searchsorted(found.places, places) - 1, 0, len(found.values) - 1)
    start, end = found.places[piece], found.places[piece + 1]
    t = (3.0 * (places - start) / (end - start))[:, None]
    f0, f1, f2, f3 = np.moveaxis(found.values[piece], 1, 0)
    return (
        -f0 * (t - 1) * (t - 2) * (t - 3) / 6
        + f1 * t * (t - 2) * (t - 3) / 2
        - f2 * t * (t - 1) * (t - 3) / 2
        + f3 * t * (t - 1) * (t - 2) / 6
    )


def chains(count):
    """Yield shapes of 3 to 12 bones: equal, unequal, one of them longer than the others together."""
    for seed in range(count):
        rng = np.random.default_rng([seed, 12])
        n = 3 + seed % 10
        lengths = [np.ones(n), rng.uniform(0.3, 1.0, n), rng.uniform(0.3, 1.0, n)][seed % 3]
        if seed % 7 == 3:
            lengths[rng.integers(n)] = lengths.sum() * rng.uniform(0.5, 2.0)
        bends = (0.0, 0.2, rng.uniform(-0.3, 0.3, n - 1))[seed // 2 % 3]
        yield shape_of(lengths, ('ARC', 'EVEN')[seed % 2], bends), rng


@pytest.mark.slow
@pytest.mark.parametrize("bend", [1.0, -1.0])
def test_curves_are_the_solvers_poses_to_a_millionth_of_reach(bend):
    for shape, rng in chains(40):
        unit = Chain(shape.lengths / shape.reach)
        found = family_of(unit.lengths, solver_of(shape))
        u = rng.uniform(0.01, np.pi - 0.01, 60)
        inner = unit.reach[0]
        distance = np.sqrt(inner**2 + (1.0 - inner**2) * np.cos(u / 2.0) ** 2)
        targets = np.stack((distance, 0.0 * u), axis=1)
        if shape.solver == 'ARC':
            exact = forward(unit, solve_arc(unit, targets, bend=bend).angles)
        else:
            exact = forward(unit, solve_even(unit, targets, bend=bend, rest=shape.angles).angles)
        taken = forward(unit, cubics_at(found, bend * u * END / np.pi))
        assert np.abs(taken[:, -1] - targets).max() < 1.01e-5
        assert np.median(np.abs(taken[:, -1] - targets).max(axis=1)) < 2e-7
        assert np.median(np.abs(taken - exact).max(axis=(1, 2))) < 1e-6


@pytest.mark.slow
def test_pieces_start_where_handles_are_exact_numbers():
    for shape, _ in chains(10):
        found = family_of(shape.lengths / shape.reach, solver_of(shape))
        assert found.places[0] == -END and found.places[-1] == END and 0.0 in found.places
        for numbers in (found.places, found.places[:-1] + np.diff(found.places) / 3.0):
            assert np.array_equal(numbers, numbers.astype(np.float32))


@pytest.mark.slow
def test_the_angles_go_on_from_piece_to_piece():
    for shape, _ in chains(20):
        values = family_of(shape.lengths / shape.reach, solver_of(shape)).values
        assert np.abs(values[1:, 0] - values[:-1, 3]).max() < 1e-6


def test_every_joint_reads_the_place_by_a_curve_of_its_own():
    found = plan(shape_of([1.0, 0.7, 0.5], 'EVEN', 0.2))
    steps = dict(found.steps)
    assert steps["c"] == "u" and list(found.curves) == ["c"]
    assert found.turns == ("atan2(y,x)+c", "u", "u") and list(found.turn_curves) == [1, 2]
    assert {"g", "u"} <= set(steps)


def test_bones_that_stretch_evenly_share_a_factor():
    shape = shape_of([1.0, 0.7, 0.5], stretch=Stretch(most=1.5))
    assert plan(shape).factors == ("k", "k", "k")
    assert "k" in dict(plan(shape).steps)


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"solver": 'CCD'}, "set Solver to Automatic or Circle"),
        ({"solver": 'EVEN', "root_turns_freely": False}, "turn First Bone Turns Freely on"),
        ({"limits": np.array([[np.nan] * 2, [-1.0, 1.0], [np.nan] * 2])}, "turn Limit off"),
        ({"weights": np.array([1.0, 0.0, 1.0])}, "give it some"),
        ({"stretch": Stretch(most=1.5, last_only=True)}, "set Stretched Bones to All"),
    ],
)
def test_what_has_no_family_is_refused_with_a_way_out(settings, words):
    with pytest.raises(IK2DError, match=words):
        plan(shape_of([1.0, 0.7, 0.5], **settings))


def test_a_family_that_jumps_is_refused(monkeypatch):
    def jumping(distances, side):
        targets = np.stack((distances, 0.0 * distances), axis=1)
        return solve_arc(Chain([0.5, 0.3, 0.2]), targets, bend=np.where(distances > 0.6, side, -side)).angles

    with pytest.raises(IK2DError, match="changes too abruptly .*; set Solver to Circle"):
        family_of(np.array([0.5, 0.3, 0.2]), jumping)


def test_tips_that_miss_are_refused():
    def short(distances, side):
        targets = np.stack((0.9999 * distances, 0.0 * distances), axis=1)
        return solve_arc(Chain([0.5, 0.3, 0.2]), targets, bend=side).angles

    with pytest.raises(IK2DError, match="its tip would miss targets in reach"):
        family_of(np.array([0.5, 0.3, 0.2]), short)
