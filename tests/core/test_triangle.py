# SPDX-License-Identifier: GPL-3.0-or-later
"""The triangle against 50 digits and against complex numbers."""

import cmath

import mpmath
import numpy as np
import pytest

from ik2d_addon.core.arithmetic import ARRAYS
from ik2d_addon.core.triangle import corner, two_bone_pose


def reference_corner(first, second, third):
    """The turn by the law of cosines, in 50 digits."""
    with mpmath.workdps(50):
        a, b, c = (mpmath.mpf(v) for v in (first, second, third))
        cosine = (c * c - a * a - b * b) / (2 * a * b)
        return float(mpmath.acos(max(-1, min(1, cosine))))


def test_the_corner_is_that_of_the_law_of_cosines():
    rng = np.random.default_rng(0)
    for _ in range(300):
        first, second = 10.0 ** rng.uniform(-3.0, 3.0, 2)
        third = rng.uniform(abs(first - second), first + second)
        turn = corner(first, second, third)
        # No better than the third side allows: near the ends a last digit of it moves the turn by its root.
        least = min(first + second - third, third - abs(first - second)) / (first + second)
        assert abs(turn - reference_corner(first, second, third)) <= 1e-15 / np.sqrt(least) + 1e-14 * (
            1.0 + max(first, second) / min(first, second)
        )


@pytest.mark.parametrize("gap", (1e-4, 1e-8, 1e-12))
def test_close_to_the_ends_no_digit_is_lost(gap):
    """Sides of powers of two, so that the third one is exact."""
    gap = 2.0 ** round(np.log2(gap))
    for third in (2.0 - gap, gap):
        assert corner(1.0, 1.0, third) == pytest.approx(reference_corner(1.0, 1.0, third), rel=4e-16)
    for third in (3.0 - gap, 1.0 + gap):
        assert corner(1.0, 2.0, third) == pytest.approx(reference_corner(1.0, 2.0, third), rel=4e-16)


@pytest.mark.parametrize(
    ("sides", "turn"),
    [
        ((3.0, 4.0, 5.0), np.pi / 2.0),
        ((1.0, 1.0, 1.0), 2.0 * np.pi / 3.0),
        ((1.0, 2.0, 3.0), 0.0),
        ((1.0, 2.0, 1.0), np.pi),
        ((1.0, 2.0, 99.0), 0.0),
        ((1.0, 2.0, 0.0), np.pi),
        ((2.0, 1.0, 0.5), np.pi),
    ],
)
def test_known_corners_and_third_sides_that_no_triangle_has(sides, turn):
    assert corner(*sides) == pytest.approx(turn, abs=1e-15)
    assert corner(*sides[:2], np.array([sides[2]]), ARRAYS)[0] == pytest.approx(turn, abs=1e-15)


@pytest.mark.parametrize("bend", (1.0, -1.0))
def test_the_pose_puts_the_tip_on_the_target_bent_to_the_side(bend):
    rng = np.random.default_rng(1)
    for _ in range(300):
        first, second = rng.uniform(0.2, 2.0, 2)
        distance = rng.uniform(abs(first - second), first + second)
        target = cmath.rect(distance, rng.uniform(-np.pi, np.pi))
        angle1, angle2 = two_bone_pose(first, second, target.real, target.imag, distance, bend)
        tip = cmath.rect(first, angle1) + cmath.rect(second, angle1 + angle2)
        assert abs(tip - target) <= 1e-14 * (first + second)
        assert bend * angle2 >= 0.0
        assert abs(abs(angle2) - corner(first, second, distance)) <= 1e-15


@pytest.mark.parametrize("bend", (1.0, -1.0))
@pytest.mark.parametrize(("first", "second"), [(1.0, 0.4), (0.4, 1.0)])
def test_off_the_annulus_the_tip_lies_in_the_targets_direction(first, second, bend):
    for distance in (0.01, 0.3, 1.5, 100.0):
        target = cmath.rect(distance, 2.0)
        angle1, angle2 = two_bone_pose(first, second, target.real, target.imag, distance, bend)
        tip = cmath.rect(first, angle1) + cmath.rect(second, angle1 + angle2)
        assert abs(tip - cmath.rect(1.4 if distance > 1.0 else 0.6, 2.0)) <= 1e-15


def test_arrays_give_what_floats_give():
    rng = np.random.default_rng(2)
    x, y = rng.uniform(-2.0, 2.0, (2, 100))
    bend = rng.choice([-1.0, 1.0], 100)
    distance = np.hypot(x, y)
    arrays = np.stack(two_bone_pose(1.0, 0.7, x, y, distance, bend, ARRAYS), axis=-1)
    floats = [two_bone_pose(1.0, 0.7, *row) for row in np.stack([x, y, distance, bend], axis=-1).tolist()]
    assert np.allclose(arrays, floats, rtol=0.0, atol=1e-14)
