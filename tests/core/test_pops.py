# SPDX-License-Identifier: GPL-3.0-or-later
"""Where an elbow pops, and a chain whirls round its root."""

import numpy as np
import pytest

from ik2d_addon.core import (
    Chain,
    reachable,
    solve_arc,
    solve_ccd_path,
    solve_even,
    solve_two_bone,
)
from ik2d_addon.core.pops import POP, Bands, pop_bands

# At this many reaches from the root, 1 % of reach is 5 degrees.
WHIRL = 0.01 / np.radians(POP)
SHAPES = [(1.0, 1.0), (1.6, 1.0), (1.0, 0.4)]
STEP = 1e-5  # of the reach


def turned(chain: Chain, distance: float, softness: float) -> float:
    """Return the degrees that the elbow turns where the target moves by 1 % of reach, from a small step."""
    reach = chain.reach[1]
    ends = [[distance - 0.5 * STEP * reach, 0.0], [distance + 0.5 * STEP * reach, 0.0]]
    elbow = solve_two_bone(chain, ends, softness=softness).angles[:, 1]
    return float(np.degrees(abs(elbow[1] - elbow[0]))) * 0.01 / STEP


def elbow_bands(chain: Chain, softness: float = 0.0, most: float = POP) -> Bands:
    """Return the bands of two bones but the one round the root, which is no part of another one."""
    (inner, whirls), *bands = pop_bands(chain, softness, most)
    assert inner == chain.reach[0] and whirls == pytest.approx(chain.reach[1] * WHIRL * POP / most)
    return bands


@pytest.mark.parametrize("lengths", SHAPES)
@pytest.mark.parametrize("softness", [0.0, 0.005, 0.02])
def test_the_elbow_turns_faster_inside_a_band_than_outside_of_it(lengths, softness) -> None:
    chain = Chain(lengths)
    bands = pop_bands(chain, softness) if chain.reach[0] else elbow_bands(chain, softness)
    assert bands
    for low, high in bands:
        inside = low + (high - low) * np.array([0.1, 0.5, 0.9])
        assert all(turned(chain, distance, softness) > POP for distance in inside)
        aside = 2e-3 * chain.reach[1]
        for distance in (low - aside, high + aside):
            if chain.reach[0] + aside < distance and not (softness == 0.0 and distance > chain.reach[1]):
                assert turned(chain, distance, softness) < POP


@pytest.mark.parametrize("lengths", [(3.0, 1.0), (1.0, 0.1)])
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
    chain = Chain([0.5, 0.5])
    ((low, high),) = elbow_bands(chain, softness, 0.95 * fastest)
    assert low < 1.0 - softness < high < low + softness
    ((low, high),) = elbow_bands(chain, softness, (1.0 - 1e-9) * fastest)
    assert low < 1.0 - softness < high < low + 1e-8
    assert elbow_bands(chain, softness, (1.0 + 1e-9) * fastest) == []


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
    (band,) = elbow_bands(Chain([3.0, 3.0]))
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


def root_turned(solve, chain: Chain, distance: float, direction: float, **settings) -> float:
    """Return the degrees that the root turns where the target goes round it by 1 % of reach."""
    directions = direction + np.array([-0.5, 0.5]) * STEP / distance
    ends = distance * chain.reach[1] * np.stack([np.cos(directions), np.sin(directions)], axis=1)
    root = solve(chain, ends, **settings).angles[:, 0]
    return abs(float(np.degrees(np.angle(np.exp(1j * (root[1] - root[0])))))) * 0.01 / STEP


@pytest.mark.parametrize(
    ("solve", "lengths", "settings"),
    [
        (solve_two_bone, (1.0, 1.0), {}),
        (solve_two_bone, (1.05, 1.0), {"softness": 0.3}),
        (solve_arc, (1.0, 2.0, 1.5), {}),
        (solve_arc, (1.0,) * 12, {}),
        (solve_even, (1.0, 2.0, 1.5), {}),
        (solve_even, (1.0,) * 8, {"rest": [0.3] * 8}),
        (solve_even, (1.0,) * 8, {"rest": [0.3] * 8, "bend": -1}),
    ],
)
def test_the_root_turns_as_fast_as_the_bound_at_the_end_of_its_band(solve, lengths, settings) -> None:
    chain = Chain(lengths)
    inner, whirls = pop_bands(chain)[0]
    assert (inner, whirls) == (chain.reach[0], pytest.approx(WHIRL * chain.reach[1], rel=1e-15))
    for direction in (0.1, 2.0, -1.3):
        assert root_turned(solve, chain, WHIRL, direction, **settings) == pytest.approx(POP, rel=1e-6)


@pytest.mark.slow
def test_a_limited_root_turns_as_fast_within_its_range() -> None:
    limits = np.radians([(-100.0, 100.0)] + [(-160.0, 160.0)] * 4)
    chain, rest = Chain([0.2] * 5, limits=limits), [0.0, 0.3, 0.3, 0.3, 0.3]
    ((_, whirls),) = pop_bands(chain)
    directions = np.linspace(-np.pi, np.pi, 9)
    turned = [root_turned(solve_even, chain, whirls, direction, rest=rest) for direction in directions]
    assert reachable(chain).contains([[whirls, 0.0], [-whirls, 0.0]]).all()
    stopped = np.array(turned) < 1e-6
    assert stopped.any() and np.array(turned)[~stopped] == pytest.approx(POP, rel=1e-6)
    assert (~stopped).sum() >= 3


def test_ccd_along_a_path_does_not_whirl() -> None:
    chain, x = Chain([0.2] * 5), np.arange(-0.3, 0.3, 0.005)
    path = np.stack([x, np.full_like(x, 0.01)], axis=1)
    even, ccd = (solve(chain, path).angles for solve in (solve_even, solve_ccd_path))
    turns = [np.degrees(np.abs(np.angle(np.exp(1j * np.diff(poses, axis=0))))).max() for poses in (even, ccd)]
    assert turns[0] > 25.0 and turns[1] < 5.0


@pytest.mark.parametrize(
    ("chain", "bands"),
    [
        (Chain([2.0]), []),
        (Chain([1.0, 1.0, 1.0], weights=[0.0, 1.0, 1.0]), []),  # the root does not turn
        (Chain([5.0, 1.0, 1.0]), []),  # the inner reach is further from the root
        (Chain([2.0], slides=[[-2.0, 1.0]]), [(0.0, pytest.approx(3.0 * WHIRL))]),
        (Chain([1.0, 1.0], slides=[[0.0, 0.0], [0.0, 1.0]]), [(0.0, pytest.approx(3.0 * WHIRL))]),
    ],
)
def test_other_chains_have_the_band_round_their_root_where_they_whirl(chain, bands) -> None:
    assert pop_bands(chain) == bands


def test_bands_that_overlap_are_one() -> None:
    """With the inner reach at 0.1, the fold's band ends at 0.101 of reach, within the one round the root."""
    chain = Chain([0.55, 0.45])
    (low, high), (full, outer) = pop_bands(chain)
    assert (low, high) == (chain.reach[0], pytest.approx(WHIRL))
    assert full > 0.9 and outer == 1.0
