# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the elbow of two bones pops."""

import numpy as np
import pytest

from ik2d_addon.core import Chain, IK2DError, solve_two_bone
from ik2d_addon.core.pops import POP, pop_bands

SHAPES = [(1.0, 1.0), (1.6, 1.0), (1.0, 0.4)]
STEP = 1e-5  # of the reach


def turned(chain: Chain, distance: float, softness: float) -> float:
    """Return the degrees that the elbow turns where the target moves by 1 % of reach, from a small step."""
    reach = chain.reach[1]
    ends = [[distance - 0.5 * STEP * reach, 0.0], [distance + 0.5 * STEP * reach, 0.0]]
    elbow = solve_two_bone(chain, ends, softness=softness).angles[:, 1]
    return float(np.degrees(abs(elbow[1] - elbow[0]))) * 0.01 / STEP


@pytest.mark.parametrize("lengths", SHAPES)
@pytest.mark.parametrize("softness", [0.0, 0.005, 0.02])
def test_the_elbow_turns_faster_inside_a_band_than_outside_of_it(lengths, softness) -> None:
    chain = Chain(lengths)
    bands = pop_bands(chain, softness)
    assert bands
    for low, high in bands:
        inside = low + (high - low) * np.array([0.1, 0.5, 0.9])
        assert all(turned(chain, distance, softness) > POP for distance in inside)
        aside = 2e-3 * chain.reach[1]
        for distance in (low - aside, high + aside):
            if chain.reach[0] + aside < distance and not (softness == 0.0 and distance > chain.reach[1]):
                assert turned(chain, distance, softness) < POP


@pytest.mark.parametrize("lengths", [(1.6, 1.0), (3.0, 1.0), (1.0, 0.1)])
@pytest.mark.parametrize("softness", [0.01, 0.1, 0.6, 1.0])
@pytest.mark.parametrize("most", [1.5, POP])
def test_at_the_ends_of_a_band_the_elbow_turns_as_fast_as_the_bound(lengths, softness, most) -> None:
    """But at the inner reach, where a band begins with the annulus."""
    chain = Chain(lengths)
    ends = np.array(pop_bands(chain, softness, most)).ravel()[1:]
    assert ends.size
    assert [turned(chain, end, softness) for end in ends] == pytest.approx([most] * ends.size, rel=2e-3)


@pytest.mark.parametrize("softness", [0.01, 0.1, 0.3])
def test_a_narrow_band_lies_about_where_softness_begins(softness) -> None:
    """Equal bones turn fastest there: 0.02 / sqrt(s (2 - s)) radians for each 1 % of reach (softness.py)."""
    fastest = np.degrees(0.02 / np.sqrt(softness * (2.0 - softness)))
    ((low, high),) = pop_bands(Chain([0.5, 0.5]), softness, 0.95 * fastest)
    assert low < 1.0 - softness < high < low + softness
    assert pop_bands(Chain([0.5, 0.5]), softness, 1.01 * fastest) == []


@pytest.mark.parametrize("lengths", [(1.6, 1.0), (1.0, 0.1)])
def test_softness_wider_than_the_annulus_is_as_wide_as_that(lengths) -> None:
    chain = Chain(lengths)
    room = 1.0 - chain.reach[0] / chain.reach[1]
    for softness in (1.1 * room, 1.0):
        for most in (1.5, POP):
            assert pop_bands(chain, softness, most) == pop_bands(chain, room, most) != []


@pytest.mark.parametrize("lengths", SHAPES)
def test_enough_softness_leaves_no_band_near_full_reach(lengths) -> None:
    chain = Chain(lengths)
    assert all(high < 0.9 * chain.reach[1] for _, high in pop_bands(chain, 0.1))


def test_equal_bones_pop_where_the_formula_says() -> None:
    (band,) = pop_bands(Chain([3.0, 3.0]))
    rate = np.radians(POP) * 100.0
    assert band == pytest.approx((6.0 * np.sqrt(1.0 - 4.0 / rate**2), 6.0), rel=1e-9)


def test_a_bound_that_is_passed_everywhere_leaves_one_band() -> None:
    chain = Chain([1.0, 0.4])
    assert pop_bands(chain, most=0.01) == [pytest.approx(chain.reach)]


def test_the_bands_grow_with_the_chain() -> None:
    small, large = pop_bands(Chain([1.6, 1.0]), 0.01), pop_bands(Chain([1.6e6, 1e6]), 0.01)
    assert np.array(large) == pytest.approx(1e6 * np.array(small), rel=1e-12)


@pytest.mark.parametrize("lengths", [(0.0, 0.0), (2.0, 0.0)])
def test_a_chain_that_cannot_bend_has_none(lengths) -> None:
    assert pop_bands(Chain(lengths)) == []


def test_other_than_two_bones_are_refused() -> None:
    with pytest.raises(IK2DError, match="not one of 3"):
        pop_bands(Chain([1.0, 1.0, 1.0]))
