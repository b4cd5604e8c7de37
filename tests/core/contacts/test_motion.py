# SPDX-License-Identifier: GPL-3.0-or-later
"""The checked input of the functions for contacts."""

import numpy as np
import pytest

from ik2d_addon.core import IK2DError
from ik2d_addon.core.contacts.motion import motion_of

PATH = np.arange(12.0).reshape(4, 3)
TIMES = [0.0, 1.0, 2.0, 4.0]
UP, STILL = (0.0, 0.0, 2.0), (0.0, 0.0, 0.0)


def test_one_point_is_a_path_of_points_of_its_own():
    motion, single = motion_of(PATH, TIMES, UP, None, STILL, False)
    assert single and motion.places.shape == (4, 1, 3)
    assert np.array_equal(motion.up, [0, 0, 1])
    assert np.array_equal(motion.heights[:, 0], PATH[:, 2])


def test_the_ground_carries_by_its_velocity_over_the_time():
    constant, _ = motion_of(PATH, TIMES, UP, None, [2.0, 0, 0], False)
    assert np.array_equal(constant.carried[:, 0], [0, 2, 4, 8])
    growing, _ = motion_of(PATH, TIMES, UP, None, np.outer(TIMES, [1.0, 0, 0]), False)
    assert np.array_equal(growing.carried[:, 0], [0, 0.5, 2, 8])


def test_heights_are_over_the_ground_where_it_is_known():
    motion, _ = motion_of(PATH, TIMES, UP, [1.0, 2.0, 3.0, 4.0], STILL, False)
    assert np.array_equal(motion.heights[:, 0], PATH[:, 2] - [1, 2, 3, 4])


def test_an_unrolled_loop_travels_on_and_has_the_loop_in_its_middle():
    motion, _ = motion_of(PATH, TIMES, UP, None, STILL, True)
    long = motion.unrolled()
    assert len(long.times) == 10 and (np.diff(long.times) > 0.0).all()
    assert np.array_equal(long.places[:4], motion.places)
    assert np.array_equal(long.places[motion.middle], motion.places + motion.places[-1] - motion.places[0])


@pytest.mark.parametrize(
    "change, message",
    [
        ({"places": np.zeros((4, 2))}, r"places must be \(frames, 3\)"),
        ({"places": np.full((4, 3), np.nan)}, "places must be finite"),
        ({"times": [0, 1, 2]}, "times must be one for each of the 4 frames"),
        ({"times": [0, 1, 1, 2]}, "times must rise"),
        ({"up": (0, 0, 0)}, "up must be a direction"),
        ({"ground": [1.0, 2.0]}, "ground must be one height"),
        ({"ground_velocity": [1.0]}, r"ground_velocity must be \(3,\) or \(4, 3\)"),
        ({"loop": 1}, "loop must be True or False"),
        ({"places": np.zeros((2, 3)), "times": [0, 1], "loop": True}, "a loop must have at least 3 frames"),
    ],
)
def test_bad_input_is_named(change, message):
    good = {"places": PATH, "times": TIMES, "up": UP, "ground": None, "ground_velocity": STILL, "loop": False}
    with pytest.raises(IK2DError, match=message):
        motion_of(**{**good, **change})
