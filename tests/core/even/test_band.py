# SPDX-License-Identifier: GPL-3.0-or-later
"""Equations in three neighbours each, with two full rows and one full column."""

import numpy as np
import pytest

from ik2d_addon.core.even.band import solved


@pytest.mark.parametrize("n", [1, 2, 3, 10, 200])
@pytest.mark.parametrize("pivots", [1.0, 1e-9, 0.0])
def test_solutions_are_those_of_the_whole_matrix(n, pivots):
    rng = np.random.default_rng(n)
    before, own, after, column = rng.normal(size=(4, n))
    own *= pivots  # where it is nothing, only another row's number can be divided by
    rows, values = rng.normal(size=(2, n + 2)), rng.normal(size=(2, n + 2))
    matrix = np.zeros((n + 2, n + 2))
    for i in range(n):
        if i:
            matrix[i, i - 1] = before[i]
        matrix[i, i], matrix[i, i + 1], matrix[i, n + 1] = own[i], after[i], column[i]
    matrix[n:] = rows
    found = np.array(solved(*(list(part) for part in (before, own, after, column, rows, values))))
    assert np.allclose(matrix @ found.T, values.T, atol=1e-9 * np.abs(found).max())
