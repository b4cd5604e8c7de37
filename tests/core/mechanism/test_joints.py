# SPDX-License-Identifier: GPL-3.0-or-later
"""The data of a mechanism."""

import numpy as np
import pytest

from ik2d_addon.core import IK2DError
from ik2d_addon.core.mechanism.joints import Joint, Kind, pairs, point


def test_a_joint_has_two_ends():
    ram = Joint(Kind.RAM, 1, 2, 1j, 3.0 + 5j, name="ram")
    assert (ram.other(1), ram.other(2), ram.end(1), ram.end(2)) == (2, 1, 1j, 3.0 + 5j)
    assert ram.rest_length == 5.0


def test_places_are_pairs_outside_and_complex_numbers_inside():
    assert point([1, -2], "place") == 1.0 - 2.0j
    assert np.array_equal(pairs(np.array([1.0 - 2.0j, 3.0j])), [[1.0, -2.0], [0.0, 3.0]])
    with pytest.raises(IK2DError, match="^place must be two numbers, x and y, not 1j$|place must be numbers"):
        point(1j, "place")
