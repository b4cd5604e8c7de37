# SPDX-License-Identifier: GPL-3.0-or-later
"""The fewest keys within a bound, and their handles."""

import numpy as np
import pytest

from ik2d_addon.bake.keys import fewest


def finished(steps):
    """Work a generator off; return what it yielded and its result."""
    yielded = []
    while True:
        try:
            yielded.append(next(steps))
        except StopIteration as stop:
            return yielded, stop.value


def test_handles_stand_at_a_third_of_the_slopes():
    values = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    slopes = np.array([[[3.0, 0.3], [6.0, 0.6]], [[-3.0, -0.3], [9.0, 0.9]]])
    before, after = fewest.handles_of(values, slopes)
    assert after == pytest.approx(np.array([[2.0, 10.1], [1.0, 19.9], [4.0, 40.0]]))
    assert before == pytest.approx(np.array([[1.0, 10.0], [0.0, 19.8], [1.0, 39.7]]))


class Bounded:
    """Stands in for cubics: a segment's error is how much further it is than a place lets it be."""

    def __init__(self, times, longest):
        channels = np.zeros((times, 2))
        self.times, self.channels = np.arange(times), channels
        self.longest, self.fits = longest, []

    def fit(self, first, last):
        self.fits.append((first, last))
        slopes = np.full((2, 2), 100.0 * first + last)
        return slopes, 1.0 if last - first <= self.longest(first) else 1.0 + 1e-9


@pytest.mark.parametrize("guess", [0, 1, 4, 40])
def test_the_longest_segment_within_the_bound_is_found(guess):
    for length in (1, 2, 3, 5, 6, 7, 11, 19, 30):
        cubics = Bounded(20, lambda first, length=length: length)
        for at in (0, 3, 18):
            found, slopes = fewest._longest(cubics, range(20), at, 1.0, guess)
            assert found == min(at + length, 19)
            assert (slopes == 100.0 * at + found).all()
        assert len(cubics.fits) <= 3 * 12
        assert all(first < last <= 19 for first, last in cubics.fits)


def test_a_neighbour_is_taken_be_it_within_the_bound_or_not():
    cubics = Bounded(5, lambda first: 0)
    assert fewest._longest(cubics, range(5), 2, 1.0, 0)[0] == 3
    assert fewest._longest(cubics, range(5), 3, 1.0, 0)[0] == 4


def test_segments_lead_from_the_first_row_to_the_last_each_as_long_as_it_can_be():
    cubics = Bounded(20, lambda first: 3 if first < 9 else 6)
    yielded, (rows, slopes) = finished(fewest.fewest(cubics, list(range(20)), 1.0))
    assert rows.tolist() == [0, 3, 6, 9, 15, 19]
    assert slopes[:, 0, 0].tolist() == [3.0, 306.0, 609.0, 915.0, 1519.0]
    assert slopes.shape == (5, 2, 2) and yielded == [20] * 5


def test_a_segment_as_long_as_the_one_before_is_found_with_few_fits():
    cubics = Bounded(2001, lambda first: 40)
    _, (rows, _) = finished(fewest.fewest(cubics, list(range(2001)), 1.0))
    assert rows.tolist() == list(range(0, 2001, 40))
    assert len(cubics.fits) < 9 * 50  # its neighbour, as long, twice as long, and halves of the gap


def test_only_the_rows_given_are_keyed():
    cubics = Bounded(20, lambda first: 5)
    _, (rows, _) = finished(fewest.fewest(cubics, [0, 4, 8, 12, 16, 19], 1.0))
    assert rows.tolist() == [0, 4, 8, 12, 16, 19]
    cubics.longest = lambda first: 8
    _, (rows, _) = finished(fewest.fewest(cubics, [0, 4, 8, 12, 16, 19], 1.0))
    assert rows.tolist() == [0, 8, 16, 19]


def test_one_row_is_one_key_without_slopes():
    _, (rows, slopes) = finished(fewest.fewest(Bounded(1, lambda first: 1), [0], 1.0))
    assert rows.tolist() == [0] and slopes.shape == (0, 2, 2)
