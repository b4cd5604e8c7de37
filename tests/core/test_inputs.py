# SPDX-License-Identifier: GPL-3.0-or-later
"""What counts as numbers, as a rotation and as a side, and how a refusal names the culprit."""

import cmath
import re
from fractions import Fraction

import numpy as np
import pytest

from ik2d_addon.core import IK2DError
from ik2d_addon.core.inputs import (
    checked_bend,
    finite_floats,
    floats,
    frozen,
    largest,
    unwrapped,
    wrapped,
)


@pytest.mark.parametrize(
    "values", [[1, 2], (1.0, 2.0), np.array([1, 2], np.int32), range(1, 3), [1, Fraction(2)]]
)
def test_anything_that_numpy_reads_as_numbers_becomes_floats(values):
    array = floats(values, "lengths")
    assert array.dtype == np.float64
    assert array.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("values", [["1", "2"], [[1.0], [1.0, 2.0]], {"a": 1.0}, [1j], None, True, [b"1"]])
def test_what_are_no_numbers_is_refused_by_name(values):
    words = f"lengths must be numbers, in rows of one length, not {values!r}"
    with pytest.raises(IK2DError, match=f"^{re.escape(words)}$"):
        floats(values, "lengths")


def test_limits_may_be_infinite_or_nan_until_asked_for_finite_ones():
    assert np.isnan(floats([np.nan, np.inf], "limits")[0])


def test_the_first_number_that_is_not_finite_is_named_with_its_place():
    values = np.zeros((2, 3))
    values[1, 0], values[1, 2] = -np.inf, np.nan
    with pytest.raises(IK2DError, match=r"^start must be finite numbers; at \[1, 0\] it is -inf$"):
        finite_floats(values, "start")
    with pytest.raises(IK2DError, match=r"^bend must be finite numbers; at \[\] it is nan$"):
        finite_floats(np.nan, "bend")


def test_finite_numbers_pass_as_they_are():
    values = np.array([[1.0, -1e300], [0.0, 5e-324]])
    assert finite_floats(values, "start") is values


def test_a_frozen_array_is_a_read_only_copy():
    values = np.array([1.0, 2.0])
    copy = frozen(values)
    values[0] = 9.0
    assert copy.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        copy[0] = 5.0


def test_wrapped_angles_are_the_phase_of_their_rotation():
    angles = np.random.default_rng(0).uniform(-40.0, 40.0, 500)
    expected = [cmath.phase(cmath.rect(1.0, angle)) for angle in angles]
    assert np.allclose(wrapped(angles), expected, rtol=0.0, atol=1e-13)


def test_angles_within_half_a_turn_keep_every_digit():
    angles = np.array([-np.pi, -1.1, -1e-300, 0.0, 0.1, np.pi])
    assert wrapped(angles).tolist() == angles.tolist()
    beyond = wrapped(np.array([np.nextafter(np.pi, 4.0), np.nextafter(-np.pi, -4.0)]))
    assert np.allclose(beyond, [-np.pi, np.pi], rtol=0.0, atol=1e-14)


@pytest.mark.parametrize("bend", [1, -1, 1.0, [1, -1], [[1], [-1]]])
def test_sides_are_plus_or_minus_one(bend):
    assert checked_bend(bend).tolist() == np.asarray(bend, float).tolist()


@pytest.mark.parametrize(
    ("bend", "words"),
    [(0, "not 0.0"), (0.999, "not 0.999"), ([1, 2, 3], "not 2.0"), ([-1, -1.5], "not -1.5"), (np.inf, "inf")],
)
def test_another_side_is_refused_and_the_first_one_named(bend, words):
    with pytest.raises(IK2DError, match=f"^bend must be .*{words}$"):
        checked_bend(bend)


@pytest.mark.parametrize("steepest", [0.5, 3.0, 20.0])
@pytest.mark.parametrize("frames", [0, 1, 2, 50])
def test_unwrapped_angles_are_numpys_to_the_bit(steepest, frames):
    angles = wrapped(np.random.default_rng(3).uniform(-steepest, steepest, (frames, 4)).cumsum(axis=0))
    angles[:, 1] = 0.25
    assert (unwrapped(angles) == np.unwrap(angles, axis=0)).all()
    assert not np.shares_memory(unwrapped(angles), angles)


def test_what_is_no_number_unwraps_to_what_it_does_with_numpy():
    angles = np.array([[0.0, 3.0], [np.nan, -3.0], [1.0, 3.0]])
    assert np.array_equal(unwrapped(angles), np.unwrap(angles, axis=0), equal_nan=True)


@pytest.mark.parametrize("count", [3, 10_000])
@pytest.mark.parametrize("value", [-7.5, 7.5, np.inf, -np.inf, np.nan])
def test_the_largest_of_few_and_of_many_numbers_is_by_its_size(count, value):
    numbers = np.linspace(-5.0, 6.0, count)
    assert largest(numbers) == 6.0 and largest(np.empty((0, 2))) == 0.0
    numbers[1] = value
    assert largest(numbers) == abs(value) or np.isnan(largest(numbers)) and np.isnan(value)
