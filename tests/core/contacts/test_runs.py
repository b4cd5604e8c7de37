# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of a mask."""

import numpy as np
import pytest

from ik2d_addon.core.contacts.runs import runs


@pytest.mark.parametrize(
    "mask, wanted",
    [
        ([], []),
        ([0, 0], []),
        ([1], [(0, 1)]),
        ([1, 1, 0, 1], [(0, 2), (3, 4)]),
        ([0, 1, 0, 0, 1, 1, 0], [(1, 2), (4, 6)]),
    ],
)
def test_runs_begin_at_their_first_index_and_end_after_their_last(mask, wanted):
    assert runs(np.array(mask, bool)) == wanted


def test_runs_make_up_the_mask_again():
    rng = np.random.default_rng(29)
    for _ in range(50):
        mask = rng.random(rng.integers(0, 40)) < 0.5
        again = np.zeros_like(mask)
        for first, end in runs(mask):
            again[first:end] = True
        assert np.array_equal(again, mask)
