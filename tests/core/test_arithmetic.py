# SPDX-License-Identifier: GPL-3.0-or-later
"""Floats and arrays give the same: each function on an array is the function on each of its numbers."""

import math
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest

from ik2d_addon.core.arithmetic import (
    ARRAYS,
    FEW,
    FLOATS,
    cos_and_sin,
    put_cos_and_sin,
    remainders,
    summed,
    summed_up,
)

SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.pi, -np.pi, 1e-300, 1e300])
NUMBERS = np.concatenate([SPECIAL, np.random.default_rng(0).normal(0.0, 3.0, 200)])
OTHERS = np.concatenate([SPECIAL[::-1], np.random.default_rng(1).normal(0.0, 3.0, 200)])


def same(found, expected):
    """Equal but for the last digit, in which numpy's functions and the math library's may differ."""
    assert np.allclose(found, expected, rtol=4e-16, atol=0.0)
    assert (np.signbit(found) == np.signbit(expected)).all()


def test_cosines_and_sines_together_are_off_by_no_more_than_rounding():
    special = np.concatenate([np.arange(-8, 9) * np.pi / 4.0, [1e-300, 1e-9, -1e-9, 1e6, -1e6]])
    numbers = np.concatenate([NUMBERS[np.abs(NUMBERS) < 1e3], special])
    cosines, sines = cos_and_sin(numbers)
    assert np.abs(cosines - np.cos(numbers)).max() <= 1e-15
    assert np.abs(sines - np.sin(numbers)).max() <= 1e-15
    assert np.abs(cosines * cosines + sines * sines - 1.0).max() <= 2e-15
    still = cos_and_sin(np.zeros(3))
    assert (still[0] == 1.0).all() and (still[1] == 0.0).all()


def test_cosines_and_sines_are_put_where_they_are_wanted():
    angles = np.random.default_rng(2).uniform(-9.0, 9.0, (3, 5))
    both = np.zeros((3, 2, 5))
    put_cos_and_sin(angles.copy(), both[:, 0], both[:, 1])
    given = angles.copy()
    assert (both == np.stack(cos_and_sin(angles), axis=1)).all()
    assert (angles == given).all()


@pytest.mark.parametrize("m", (1, 2, FEW - 1, FEW, 300))
@pytest.mark.parametrize("n", (1, 2, 9, 200))
def test_rows_are_summed_one_after_the_other_whatever_their_length(n, m):
    rows = np.random.default_rng([n, m]).normal(size=(n, m))
    sums = np.array([list(accumulate(column)) for column in rows.T.tolist()]).T
    assert (summed(rows) == sums[-1]).all()
    given = rows.copy()
    assert summed_up(given) is given
    assert (given == sums).all()
    backwards = np.array([list(accumulate(column[::-1])) for column in rows.T.tolist()]).T
    several = np.stack([given, rows])
    assert (summed_up(rows[::-1]) == backwards).all()
    assert (summed_up(several[1:, ::-1])[0] == backwards).all()
    assert (several[0] == given).all()


def test_cosines_and_sines_of_a_list_are_those_of_each():
    numbers = NUMBERS[np.abs(NUMBERS) < 1e3]
    alike = ARRAYS.cos_and_sin_of([numbers, 2.0 * numbers])
    floats = FLOATS.cos_and_sin_of(numbers.tolist())
    for found, expected in zip(alike, floats, strict=True):
        assert np.allclose(found[0], expected, rtol=0.0, atol=1e-15)
        assert len(found) == 2
    assert floats == (list(map(math.cos, numbers)), list(map(math.sin, numbers)))


def test_sine_and_cosine_are_what_they_are_called():
    for lib in (FLOATS, ARRAYS):
        (cosine,), (sine,) = lib.cos_and_sin_of([0.5])
        assert sine == pytest.approx(0.479425538604203)
        assert cosine == pytest.approx(0.8775825618903728)
        assert lib.atan2(1.0, -1.0) == pytest.approx(2.356194490192345)
        assert lib.sqrt(2.0) == pytest.approx(1.4142135623730951)


def test_root_of_numbers_not_below_zero():
    numbers = np.abs(NUMBERS)
    same(ARRAYS.sqrt(numbers), [FLOATS.sqrt(v) for v in numbers.tolist()])


@pytest.mark.parametrize("name", ("atan2", "minimum", "maximum"))
def test_functions_of_two_numbers(name):
    pairs = zip(NUMBERS.tolist(), OTHERS.tolist(), strict=True)
    found = getattr(ARRAYS, name)(NUMBERS, OTHERS)
    assert np.allclose(found, [getattr(FLOATS, name)(a, b) for a, b in pairs], rtol=4e-16, atol=0.0)


def test_minimum_and_maximum_are_what_they_are_called():
    for lib in (FLOATS, ARRAYS):
        assert lib.minimum(1.0, 2.0) == 1.0
        assert lib.maximum(1.0, 2.0) == 2.0


def test_where_takes_the_first_where_the_condition_holds():
    condition = NUMBERS > 0.0
    found = ARRAYS.where(condition, NUMBERS, OTHERS)
    rows = zip(condition.tolist(), NUMBERS.tolist(), OTHERS.tolist(), strict=True)
    assert found.tolist() == [FLOATS.where(c, a, b) for c, a, b in rows]
    assert FLOATS.where(True, 1.0, 2.0) == 1.0
    assert FLOATS.where(False, 1.0, 2.0) == 2.0


def test_a_remainder_is_at_most_half_a_period():
    period = 2.0 * np.pi
    numbers = np.random.default_rng(2).uniform(-60.0, 60.0, 500)
    for number, found in zip(numbers.tolist(), remainders(numbers, period).tolist(), strict=True):
        exact = Fraction(number) - Fraction(period) * round(Fraction(number) / Fraction(period))
        assert abs(found - float(exact)) <= 1e-14
        assert abs(found) <= period / 2.0
