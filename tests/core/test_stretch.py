# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that lengthen beyond full reach, and shorten where the target is too close: by what factors."""

import numpy as np
import pytest

from ik2d_addon.core import (
    Chain,
    IK2DError,
    Status,
    Stretch,
    forward,
    solve_even,
    solve_two_bone,
    stretched,
    stretched_status,
)

ARM = Chain([1.0, 1.0])
LONG_FIRST, LONG_LAST = Chain([3.0, 1.0, 0.5]), Chain([0.5, 1.0, 3.0])  # inner reach 1.5


def tips(chain, h, softness, stretch):
    """Return the distances of the tips of stretched two-bone chains, and their elbows' angles."""
    factors, goals = stretched(chain, h, softness, stretch)
    angles, tip = [], []
    for factor, goal in zip(factors, goals, strict=True):
        longer = Chain(chain.lengths * factor)
        angles.append(solve_two_bone(longer, [goal, 0.0]).angles)
        tip.append(np.hypot(*forward(longer, angles[-1])[-1]))
    return np.array(tip), np.array(angles)[:, 1]


@pytest.mark.parametrize("softness", (0.0, 0.1, 0.5))
@pytest.mark.parametrize("last_only", (False, True))
def test_the_tip_is_on_every_target_up_to_the_greatest_factor(softness, last_only):
    stretch = Stretch(2.0, last_only=last_only)
    most = stretch.reach(ARM)[1]
    h = np.linspace(0.1, most if softness == 0.0 else most - 0.4 * softness, 200)
    tip, _ = tips(ARM, h, softness, stretch)
    assert np.abs(tip - h).max() <= 1e-9


@pytest.mark.parametrize("last_only, most", ((False, 3.0), (True, 2.5)))
def test_beyond_the_greatest_factor_the_chain_is_as_long_as_it_gets(last_only, most):
    stretch = Stretch(1.5, last_only=last_only)
    assert stretch.reach(ARM) == (0.0, most)
    factors, _ = stretched(ARM, [most, 9.0], 0.0, stretch)
    assert factors.tolist() == ([[1.0, 1.5]] * 2 if last_only else [[1.5, 1.5]] * 2)
    assert stretched_status(ARM, [most, 9.0], stretch, 1e-6).tolist() == [Status.REACHED, Status.TOO_FAR]


@pytest.mark.slow
@pytest.mark.parametrize("last_only", (False, True))
def test_with_softness_the_elbow_turns_as_softly_as_without_stretch(last_only):
    h = np.linspace(1.0, 3.5, 4000)
    fastest = {}
    for softness in (0.0, 0.1):
        _, elbows = tips(ARM, h, softness, Stretch(1.5, last_only=last_only))
        fastest[softness] = np.abs(np.diff(elbows)).max() / (h[1] - h[0])
    rigid = solve_two_bone(ARM, np.stack([h, 0.0 * h], axis=-1), softness=0.1).angles[:, 1]
    allowed = np.abs(np.diff(rigid)).max() / (h[1] - h[0])
    assert fastest[0.1] <= 1.1 * allowed and fastest[0.0] >= 5.0 * allowed


def test_the_factor_grows_without_a_kink_where_softness_sets_in():
    h = np.linspace(1.5, 2.9, 140_001)
    factors, _ = stretched(ARM, h, 0.1, Stretch(2.0))
    slope = np.diff(factors[:, 0]) / np.diff(h)
    assert np.abs(np.diff(slope)).max() <= 1e-4 and slope.min() >= 0.0
    kinked = stretched(ARM, h, 0.0, Stretch(2.0))[0][:, 0]
    assert np.abs(np.diff(kinked, 2)).max() / 1e-5 >= 0.4


def test_all_bones_evenly_keep_the_pose_of_the_rigid_chain():
    chain, h = Chain([1.0, 0.7, 0.4]), np.array([1.9, 2.1, 2.6])
    factors, goals = stretched(chain, h, 0.2, Stretch(2.0))
    rigid = solve_even(chain, np.stack([h, 0.0 * h], axis=-1), softness=0.2).angles
    part = goals / factors[:, 0]
    assert np.allclose(solve_even(chain, np.stack([part, 0.0 * h], axis=-1)).angles, rigid, atol=1e-9)
    assert np.allclose(goals, h)


@pytest.mark.parametrize("softness", (0.0, 0.1))
@pytest.mark.parametrize(
    "chain, last_only", ((LONG_FIRST, False), (LONG_LAST, False), (LONG_LAST, True)), ids=str
)
def test_bones_shorten_where_the_target_is_too_close(chain, last_only, softness):
    stretch = Stretch(1.0, 0.6, last_only)
    least = stretch.reach(chain)[0]
    h = np.linspace(least + 2.0 * softness, 1.5, 20)
    factors, goals = stretched(chain, h, softness, stretch)
    assert factors.max() <= 1.0 and factors[0].min() < 0.95
    assert (factors[:, :-1] == 1.0).all() == last_only
    assert np.allclose(goals, h)
    for factor, goal in zip(factors, goals, strict=True):
        assert solve_even(Chain(chain.lengths * factor), [goal, 0.0]).reached
    assert stretched_status(chain, [0.0, least], stretch, 1e-6).tolist() == [Status.TOO_CLOSE, Status.REACHED]


@pytest.mark.parametrize("softness", (0.0, 0.1, 0.5, 0.9))
@pytest.mark.parametrize(
    "lengths", ([0.96, 1.04], [0.5, 1.0], [0.2, 0.9, 1.2], [0.6, 0.4, 1.4], [0.0, 1.0, 1.1], [1.3]), ids=str
)
def test_a_last_bone_that_shortens_never_keeps_the_tip_off_a_target_next_to_the_root(lengths, softness):
    """It eases to shorter than the bones before it, and then kept the tip off by up to 0.15 of the reach."""
    chain = Chain(lengths)
    stretch, h = Stretch(2.0, 0.1, last_only=True), np.linspace(0.0, 0.3, 301) * chain.reach[1]
    h = h[h >= stretch.reach(chain)[0]]
    factors, goals = stretched(chain, h, softness, stretch)
    assert np.abs(goals - h).max() <= 1e-12
    for factor, goal in zip(factors, goals, strict=True):
        longer = Chain(chain.lengths * factor)
        assert longer.reach[0] <= goal + 1e-12
        assert solve_even(longer, [goal, 0.0]).reached


def test_next_to_the_root_the_elbow_turns_as_softly_as_elsewhere():
    """Where the last bone stops shortening, the elbow goes on at its speed, to folded at the root."""
    chain, h = Chain([0.9, 1.1]), np.linspace(1e-6, 0.6, 6001)
    tip, elbows = tips(chain, h, 0.5, Stretch(1.0, 0.1, last_only=True))
    assert np.abs(tip - h).max() <= 1e-9
    speed = np.diff(elbows) / (h[1] - h[0])
    assert np.abs(np.diff(speed)).max() <= 0.1 and np.abs(speed).max() <= 1.6
    assert np.pi - elbows[0] <= 1e-5


def test_a_shorter_last_bone_is_no_help_where_another_is_too_long():
    stretch = Stretch(1.0, 0.5, last_only=True)
    factors, goals = stretched(LONG_FIRST, [1.0, 2.0], 0.1, stretch)
    assert (factors == 1.0).all() and stretch.reach(LONG_FIRST) == LONG_FIRST.reach


def test_within_reach_nothing_changes():
    h = np.linspace(0.0, 1.7, 50)
    factors, goals = stretched(ARM, h, 0.1, Stretch(2.0, 0.5))
    assert (factors == 1.0).all() and (goals == h).all()


def test_turned_off_softness_eases_as_it_did():
    h = np.linspace(0.0, 9.0, 100)
    for chain in (ARM, LONG_FIRST):
        factors, goals = stretched(chain, h[h >= chain.reach[0]], 0.1, Stretch())
        rigid = solve_even(chain, np.stack([h, 0.0 * h], axis=-1)[h >= chain.reach[0]], softness=0.1).angles
        assert (factors == 1.0).all() and Stretch().is_off
        assert np.allclose(np.hypot(*forward(chain, rigid)[:, -1].T), goals)


def test_a_factor_above_one_compresses_as_its_reciprocal():
    assert Stretch(1.0, 2.0) == Stretch(1.0, 0.5) and not Stretch(1.0, 2.0).is_off


@pytest.mark.parametrize(
    "settings, words", (((0.9,), "most must be"), ((float("nan"),), "most"), ((1.0, 0.0), "least"))
)
def test_factors_out_of_range_are_refused(settings, words):
    with pytest.raises(IK2DError, match=words):
        Stretch(*settings)


def test_chains_without_length_stay_as_they_are():
    for last_only in (False, True):
        factors, _ = stretched(Chain([0.0, 0.0]), [0.0, 1.0], 0.1, Stretch(2.0, 0.5, last_only))
        assert (factors == 1.0).all()
