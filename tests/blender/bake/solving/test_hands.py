# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands of a solved chain, and how far they are off as they are played back."""

import numpy as np
import pytest

from ik2d_addon.bake.solving.hands import KeyedHands
from ik2d_addon.rig.pose.hand_rotations import TurnedHands


def test_what_is_off_is_told_apart_and_only_where_it_is_known():

    def about_x(*angles):
        turned = np.array(
            [((1, 0, 0), (0, np.cos(a), -np.sin(a)), (0, np.sin(a), np.cos(a))) for a in angles]
        )
        return turned[:, None]

    wanted = np.tile(np.eye(3), (3, 1, 1, 1))
    shown, played = about_x(0.0, 0.2, 0.2), about_x(0.0, 0.5, 0.2, 0.7)
    hands = KeyedHands(
        [], TurnedHands([], wanted, shown), np.array([1.0, 2.0, 4.0]), np.array([True, True, False])
    )
    assert hands.turned.off[:, 0] == pytest.approx((0.0, 0.2, 0.2), abs=1e-6)
    off, moved = hands.off(np.array([1.0, 2.0, 4.0, 5.0]), 3.0 * played)
    assert off[:3] == pytest.approx((0.0, 0.5, 0.2), abs=1e-6)
    assert moved[:2] == pytest.approx((0.0, 0.3), abs=1e-6)
    assert np.isnan(off[3]) and np.isnan(moved[2:]).all()
