# SPDX-License-Identifier: GPL-3.0-or-later
"""The causes of a miss, in words."""

import numpy as np
import pytest

from ik2d_addon.bake.reporting.causes import (
    BLENDED,
    EASED,
    LIMITED,
    LOCKED,
    OFF_THE_PLANE,
    OUT_OF_REACH,
    TURNING,
    UNEVEN,
    cause_of,
    stopped_words,
)
from ik2d_addon.core import Status


@pytest.mark.parametrize(
    "status, solved, off_plane, on_purpose, uneven, cause",
    [
        (Status.TOO_FAR, 0.5, False, EASED, True, OUT_OF_REACH),
        (Status.TOO_CLOSE, 0.5, True, TURNING, False, OUT_OF_REACH),
        (Status.LIMITED, 0.5, True, TURNING, True, LIMITED),
        (Status.STALLED, 0.5, False, EASED, False, "stalled"),
        (Status.STALLED, 0.5, False, EASED, True, UNEVEN),
        (Status.EASED, 0.5, False, TURNING, True, TURNING),
        (Status.EASED, 0.5, False, EASED, True, EASED),
        (Status.REACHED, 0.5, True, BLENDED, False, OFF_THE_PLANE),
        (Status.ANGLE, 0.25, False, BLENDED, False, BLENDED),
        # Less than half of the distance was there as solved.
        (Status.REACHED, 0.24, True, BLENDED, False, ""),
        (Status.REACHED, 0.24, True, BLENDED, True, UNEVEN),
    ],
)
def test_the_cause_that_explains_most_is_told(status, solved, off_plane, on_purpose, uneven, cause):
    assert cause_of(status, 0.5, solved, off_plane, 1e-3, on_purpose, LIMITED, uneven) == cause


def test_what_stops_joints_is_limits_or_locks_or_both():
    at_limit = np.array([True, True, False])
    assert stopped_words(at_limit, None) == stopped_words(at_limit, np.zeros(3, bool)) == LIMITED
    assert stopped_words(at_limit, np.array([True, True, False])) == LOCKED
    assert stopped_words(at_limit, np.array([True, False, True])) == f"{LOCKED} and limits"
