# SPDX-License-Identifier: GPL-3.0-or-later
"""Quarters between frames: times and values there."""

import numpy as np
import pytest

from ik2d_addon.bake.keys.quarters import QUARTERS, at_quarters, mixed, woven


def test_values_and_those_between_are_woven_in_order():
    values = np.arange(27.0).reshape(9, 3)
    assert (woven(values[::4], [values[start::4] for start in (1, 2, 3)]) == values).all()
    assert at_quarters(np.array([1.0, 2.0, 4.0])).tolist() == [1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4]
    assert at_quarters(np.array([-2, -1])).tolist() == [-2, -1.75, -1.5, -1.25, -1]


@pytest.mark.parametrize("part", QUARTERS)
def test_what_lies_between_is_on_the_parabola_through_frames_and_half_way(part):
    times = np.arange(4.0)

    def there(time):
        return np.column_stack((3.0 * time**2 - time, 0.5 - time))

    assert mixed(there(times), there(times[:-1] + 0.5), part) == pytest.approx(there(times[:-1] + part))
    same = np.full((3, 4, 4), 0.1)
    assert (mixed(same, same[1:], part) == same[1:]).all()
