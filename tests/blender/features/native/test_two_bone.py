# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan for two bones against the solver, as plain numbers."""

import numpy as np
import pytest
from native_rigs import worked_out

from ik2d_addon.core import Chain, Stretch, solve_two_bone, stretched
from ik2d_addon.features.native.plan import Shape
from ik2d_addon.features.native.two_bone import plan

FREE = np.full((2, 2), np.nan)


def shape(lengths=(1.3, 0.8), angles=(0.4, 0.7), **more):
    return Shape(np.array(lengths), np.cumsum(angles), np.array(angles), FREE, **more)


@pytest.mark.parametrize("lengths", [(1.3, 0.8), (0.8, 1.3), (1.0, 1.0), (1e-3, 2e-3), (1e4, 3e4)], ids=str)
@pytest.mark.parametrize("softness", [0.0, 0.15])
def test_it_is_the_solvers_pose(lengths, softness):
    rng, own = np.random.default_rng(0), shape(lengths)
    chain, found = Chain(lengths), plan(own)
    for _ in range(40):
        x, y = rng.normal(size=2) * own.reach
        side = rng.choice([-1.0, 1.0])
        wanted = solve_two_bone(chain, (x, y), bend=side, softness=softness).angles
        values = worked_out(found, x=x, y=y, bend=side, softness=softness)
        got = np.array((values["turn0"], values["turn1"])) + own.angles
        assert np.abs(np.sin((got - wanted) / 2.0)).max() < 1e-6


def test_a_target_at_the_root_divides_by_nothing():
    for lengths in ((1.0, 1.0), (1.0, 2.0)):
        for stretch in (None, Stretch(1.5, 0.5), Stretch(1.5, 0.5, last_only=True)):
            found = plan(shape(lengths, stretch=stretch))
            values = worked_out(found, x=0.0, y=0.0, stretch=1.5, compress=0.5)
            assert np.isfinite(list(values.values())).all()


@pytest.mark.parametrize("softness", [0.0, 0.2])
@pytest.mark.parametrize("lengths", [(1.3, 0.8), (0.8, 1.3)], ids=str)
@pytest.mark.parametrize("last", [False, True])
def test_factors_are_those_of_the_core(last, lengths, softness):
    stretch = Stretch(1.5, 0.6, last_only=last)
    own = shape(lengths, stretch=stretch)
    found = plan(own)
    for distance in np.linspace(0.01, 2.0, 25) * own.reach:
        factors, _ = stretched(Chain(lengths), distance, softness, stretch)
        values = worked_out(found, x=distance, y=0.0, softness=softness, stretch=1.5, compress=0.6)
        assert abs(values["k"] - factors[-1]) < 1e-6, distance
    assert found.factors == (("", "k") if last else ("k", "k"))


def test_half_turned_over_the_knee_is_straight_and_points_at_the_target():
    own = shape()
    values = worked_out(plan(own), x=0.3, y=1.1, turn_over=0.5)
    assert abs(values["turn1"] + own.angles[1]) < 1e-12
    assert abs(values["turn0"] + own.angles[0] - np.arctan2(1.1, 0.3)) < 1e-12


def test_rest_matrices_that_are_off_are_aimed_again():
    misses = np.zeros((2, 3, 3))
    assert dict(plan(shape(misses=misses)).steps).keys() == {"w", "g", "t", "r"}
    misses[0, 1, 1], misses[1, 2, 2] = 1e-4, -2e-4
    own = shape(misses=misses)
    values = worked_out(plan(own), x=0.7, y=1.1)
    r, t = values["turn0"], values["turn1"] + own.angles[1]
    headings = np.array((0.0, t)) + r + own.angles[0]
    tip = (own.lengths * (np.cos(headings), np.sin(headings))).sum(axis=1)
    terms = np.outer((1.0, np.cos(r), np.sin(r)), (1.0, np.cos(t), np.sin(t)))
    assert np.abs(tip - (misses * terms).sum(axis=(1, 2)) - (0.7, 1.1)).max() < 1e-7
