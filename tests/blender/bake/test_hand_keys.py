# SPDX-License-Identifier: GPL-3.0-or-later
"""Few keys for a bone's rotation: cubics that stay within an angle of it."""

import numpy as np
import pytest
from mathutils import Euler

from ik2d_addon.bake.hand_keys import _between, _TurnCubics
from ik2d_addon.bake.keying import KeyPlan, fewest, handles_of, keyed_at
from ik2d_addon.rig.hand_turns import angles_between
from ik2d_addon.rig.pose import BoneRotation, matrices
from ik2d_addon.rig.sampling import finished

TIMES = np.arange(0.0, 40.5, 0.5)


def swaying(mode: str) -> np.ndarray:
    """Return the channels of a rotation that sways about two axes."""
    angles = np.column_stack((np.sin(TIMES / 5.0), 0.4 * np.cos(TIMES / 7.0), 0.1 * TIMES / 40.0))
    if mode == 'XYZ':
        return angles
    return np.array([Euler(each).to_quaternion() for each in angles])


@pytest.mark.parametrize("mode", ['XYZ', 'QUATERNION'])
@pytest.mark.parametrize("bound", [0.03, 0.001])
def test_what_is_played_stays_within_the_angle(mode, bound):
    channels = swaying(mode)
    candidates = list(range(0, len(TIMES), 2))
    rows, slopes = finished(fewest(_TurnCubics(TIMES, channels, mode), candidates, bound))
    assert 3 < len(rows) < len(candidates) / 2
    plan = KeyPlan(TIMES[::2].tolist(), TIMES.tolist(), bound)
    rotation = keyed_at(BoneRotation("hand", "", channels), plan, rows)
    few = BoneRotation(
        "hand", "", rotation.values, "", None, rotation.frames, handles_of(rotation.values, slopes)
    )
    played = _between(plan, few)
    assert played[rows] == pytest.approx(channels[rows])
    assert angles_between(matrices(mode, played), matrices(mode, channels)).max() <= bound


def test_a_smaller_angle_takes_more_keys():
    cubics, candidates = _TurnCubics(TIMES, swaying('XYZ'), 'XYZ'), list(range(len(TIMES)))
    counts = [len(finished(fewest(cubics, candidates, bound))[0]) for bound in (0.1, 0.01, 0.001)]
    assert counts == sorted(counts) and counts[0] < counts[-1]
