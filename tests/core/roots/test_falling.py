# SPDX-License-Identifier: GPL-3.0-or-later
"""Roots of many functions that fall, each in its bracket."""

import numpy as np
import pytest

from ik2d_addon.core.roots.falling import falling_root, falling_roots

WANTED = np.linspace(0.01, 0.99, 40)
LOW, HIGH, START = np.zeros(40), np.ones(40), np.full(40, 0.5)


def found(functions, start=START, rounding=1e-15, short=0.0):
    """Return the roots and the rounds."""
    places, steps, rounds = falling_roots(functions, start, LOW, HIGH, rounding, short)
    return places + steps, rounds


def ninth_powers(rows, u):
    """Return values that fall through zero at the ninth roots of WANTED, and their slopes."""
    return WANTED[rows] - u**9, -9.0 * u**8


def test_each_root_is_found_in_a_few_rounds():
    roots, rounds = found(ninth_powers)
    assert roots == pytest.approx(WANTED ** (1.0 / 9.0), abs=1e-13)
    assert rounds.min() >= 1 and rounds.max() <= 16


def test_functions_without_slopes_are_halved():
    roots, rounds = found(lambda rows, u: (ninth_powers(rows, u)[0], np.zeros(u.size)), rounding=2.3e-16)
    assert roots == pytest.approx(WANTED ** (1.0 / 9.0), abs=1e-13)
    assert 40 <= rounds.max() <= 60


def test_a_value_without_end_only_says_its_sign():
    roots, _ = found(
        lambda rows, u: (np.where(u < WANTED[rows], np.inf, -np.inf), np.zeros(u.size)), rounding=2.3e-16
    )
    assert roots == pytest.approx(WANTED, abs=1e-15)


def test_the_last_step_is_taken_without_another_look():
    exact, rounds = found(ninth_powers)
    short, fewer = found(ninth_powers, short=1e-8)
    assert short == pytest.approx(exact, abs=1e-13)
    assert (fewer <= rounds).all() and fewer.sum() < rounds.sum()


def test_a_slope_that_leads_out_of_the_bracket_does_not():
    start = np.full(40, 1e-3)  # where the slope is nearly level
    roots, _ = found(ninth_powers, start)
    assert roots == pytest.approx(WANTED ** (1.0 / 9.0), abs=1e-13)


def test_no_functions_have_no_roots():
    none = np.empty(0)
    assert falling_roots(ninth_powers, none, none, none, 1e-15)[0].size == 0


@pytest.mark.parametrize("wanted", WANTED.tolist())
def test_one_root_is_that_of_many(wanted):
    root, slope = falling_root(lambda u: (wanted - u**9, -9.0 * u**8), 0.5, 0.0, 1.0, 1e-15, 1e-8)
    assert root == pytest.approx(wanted ** (1.0 / 9.0), abs=1e-12)
    assert slope == pytest.approx(-9.0 * root**8, rel=1e-3)


def test_one_function_without_a_slope_is_halved():
    root, _ = falling_root(lambda u: (0.3 - u, 0.0), 0.5, 0.0, 1.0, 2.3e-16, 0.0)
    assert root == pytest.approx(0.3, abs=1e-15)
