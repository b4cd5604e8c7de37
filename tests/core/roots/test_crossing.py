# SPDX-License-Identifier: GPL-3.0-or-later
"""The root of a function that changes its sign between 0 and 1."""

import numpy as np
import pytest

from ik2d_addon.core.roots.crossing import crossing


@pytest.mark.parametrize(
    ("function", "zero", "most"),
    [
        (lambda s: s - 0.3, 0.3, 4),
        (lambda s: 0.3 - s, 0.3, 4),
        (lambda s: s**9 - 0.5, 0.5 ** (1 / 9), 16),
        (lambda s: 0.5 - s**9, 0.5 ** (1 / 9), 16),
        (lambda s: (1.0 - s) ** 9 - 0.5, 1.0 - 0.5 ** (1 / 9), 16),
        (lambda s: s * s, 0.0, 3),
    ],
)
def test_a_crossing_is_found_in_a_few_chords(function, zero, most):
    calls = []

    def counted(s):
        calls.append(s)
        return function(s)

    found = crossing(counted, 1e-12, 200)
    assert abs(function(found)) <= 1e-12
    assert found == pytest.approx(zero, abs=1e-11)
    assert len(calls) <= most


def test_a_crossing_stops_after_so_many_chords_and_a_flat_function_divides_by_nothing():
    calls = []
    crossing(lambda s: calls.append(s) or s**9 - 0.5, 0.0, 3)
    assert len(calls) == 2 + 3
    with np.errstate(all="raise"):
        assert np.isfinite(crossing(lambda s: 0.25, 1e-12, 5))
