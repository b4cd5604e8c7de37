# SPDX-License-Identifier: GPL-3.0-or-later
"""Eased spins: the least of differences and of changes of speed, the pole's own wherever it says much."""

import numpy as np
import pytest

from ik2d_addon.core.swing import POLE, Swing, eased
from ik2d_addon.core.swing.ease import SMOOTHNESS

X, Y, Z = np.eye(3)


def least(spins, sines, times):
    """Return the minimum by numpy's general solver of linear equations."""
    own, steps = np.unwrap(spins), np.diff(times)
    speeds = (np.eye(len(own))[1:] - np.eye(len(own))[:-1]) / steps[:, None]
    changes = speeds[1:] - speeds[:-1]
    weights = np.diag(np.maximum(sines, 1e-6) ** 4)
    return np.linalg.solve(weights + SMOOTHNESS * changes.T @ changes, weights @ own)


def passing(aside, frames=61, step=2.0):
    """Return spins, sines and times of a target that passes its pole; all in degrees, a frame."""
    angles = np.radians(step * (np.arange(frames) - frames // 2))
    points = np.stack((np.cos(angles), np.sin(angles), 0.0 * angles), axis=1)
    pole = np.array((np.cos(np.radians(aside)), 0.0, np.sin(np.radians(aside))))
    poles = np.broadcast_to(pole, points.shape)
    swing = Swing(POLE, Z, -Y, Z)
    return swing.spins(points, 0.0, poles), swing.sines(points, poles), np.arange(frames, dtype=float)


@pytest.mark.parametrize("count", (3, 4, 5, 60))
@pytest.mark.parametrize("even", (True, False), ids=("each frame", "uneven times"))
def test_it_is_the_least_sum(count, even):
    rng = np.random.default_rng(count)
    spins = np.cumsum(0.3 * rng.normal(size=count))
    sines = rng.random(count)
    times = np.arange(count, dtype=float) if even else np.cumsum(rng.choice((0.5, 1.0, 3.0), count))
    assert eased(spins, sines, times) == pytest.approx(least(spins, sines, times), abs=1e-8)


@pytest.mark.parametrize("count", (0, 1, 2))
def test_two_frames_or_less_stay(count):
    spins = np.linspace(0.3, 0.9, count)
    assert (eased(spins, np.zeros(count), np.arange(count)) == spins).all()


def test_an_even_spin_stays():
    times = np.array([1.0, 2.0, 2.5, 4.0, 7.0, 8.0])
    spins = 0.4 * times - 1.0
    for sine in (1.0, 0.01):
        assert eased(spins, np.full(6, sine), times) == pytest.approx(spins, abs=1e-6)


def test_whole_turns_are_none():
    times = np.arange(40, dtype=float)
    spins = 0.5 * times
    wrapped = np.angle(np.exp(1j * spins))
    assert eased(wrapped, np.ones(40), times) == pytest.approx(spins, abs=1e-6)


def test_where_the_pole_says_much_a_slow_spin_is_its_own():
    times = np.arange(80, dtype=float)
    spins = 0.3 * np.sin(times / 12.0)
    found = eased(spins, np.ones(80), times)
    assert np.degrees(np.abs(found - spins)).max() < 0.1


def test_where_it_says_nothing_the_spin_goes_evenly_from_side_to_side():
    times, sines = np.arange(30, dtype=float), np.ones(30)
    spins, sines[10:20] = np.where(times < 15.0, 0.0, 3.0), 0.0
    found = eased(spins, sines, times)
    assert np.abs(np.diff(spins)).max() == 3.0 and np.abs(np.diff(found)).max() < 0.4
    assert np.abs(found - spins)[[0, 1, 28, 29]].max() < 0.01


@pytest.mark.parametrize("aside", (3.0, 1.0, 0.0))
def test_a_flip_past_the_pole_becomes_slow(aside):
    spins, sines, times = passing(aside)
    found = eased(spins, sines, times)
    before, after = (np.degrees(np.abs(np.diff(np.unwrap(one))).max()) for one in (spins, found))
    assert before > 30.0 and after < 16.0
    off = np.degrees(np.abs(found - np.unwrap(spins))) > 5.0
    assert off.sum() <= 14 and not off[:20].any() and not off[-20:].any()


def test_a_pole_ten_degrees_aside_is_followed_as_before():
    spins, sines, times = passing(10.0)
    found = eased(spins, sines, times)
    assert np.degrees(np.abs(found - np.unwrap(spins))).max() < 5.0


def test_thousands_of_frames_are_solved():
    rng = np.random.default_rng(9)
    count = 20_000
    spins, sines = np.cumsum(0.02 * rng.normal(size=count)), rng.uniform(0.5, 1.0, count)
    found = eased(spins, sines, np.arange(count))
    own = np.unwrap(spins)
    # At the minimum no shift of a frame, nor of all of them, makes the sum less.
    changes = np.diff(found, 2)
    pull = sines**4 * (found - own)
    pull[:-2] += SMOOTHNESS * changes
    pull[1:-1] -= 2.0 * SMOOTHNESS * changes
    pull[2:] += SMOOTHNESS * changes
    assert np.abs(pull).max() < 1e-9
