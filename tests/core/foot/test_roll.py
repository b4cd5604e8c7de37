# SPDX-License-Identifier: GPL-3.0-or-later
"""A rolled foot turns rigidly about the pivot that stands, in arrays and for one pose alike."""

from math import pi

import numpy as np
import pytest

from ik2d_addon.core.foot import FootShape
from ik2d_addon.core.foot.roll import turned

SHAPE = FootShape((-0.05, -0.1), (0.12, -0.07), (0.2, -0.1))
BREAK = pi / 4
EXACT = 1e-15
ROLLS = np.linspace(-pi / 2, pi / 2, 181)


def carried(shape, point, ankle, angle):
    """Return where a point of the foot at rest is for an ankle (m, 2) and angles (m,)."""
    return ankle + turned(angle, np.array(point))


def test_without_roll_nothing_moves():
    ankle, foot, toes = SHAPE.rolled(np.zeros(3), np.zeros(3), np.full(3, BREAK))
    assert not ankle.any() and not foot.any() and not toes.any()


@pytest.mark.parametrize("pivot", ["heel", "ball", "tip"])
def test_the_pivot_that_stands_keeps_its_place(pivot):
    ranges = {"heel": ROLLS <= 0.0, "ball": (ROLLS >= 0.0) & (ROLLS <= BREAK), "tip": ROLLS >= BREAK}
    rolls = ROLLS[ranges[pivot]]
    ankle, foot, toes = SHAPE.rolled(rolls, np.zeros_like(rolls), np.full_like(rolls, BREAK))
    place = carried(SHAPE, getattr(SHAPE, pivot), ankle, foot)
    if pivot == "tip":  # the toes carry it
        joint = carried(SHAPE, SHAPE.ball, ankle, foot)
        place = joint + turned(toes, np.subtract(SHAPE.tip, SHAPE.ball))
    assert np.abs(place - place[0]).max() <= EXACT
    assert np.abs(place[0] - getattr(SHAPE, pivot)).max() <= EXACT


def test_positive_rolls_raise_the_heel_and_toes_stay_up_to_the_break_angle():
    ankle, foot, toes = SHAPE.rolled(ROLLS, np.zeros_like(ROLLS), np.full_like(ROLLS, BREAK))
    heel = carried(SHAPE, SHAPE.heel, ankle, foot)
    assert (np.diff(heel[ROLLS >= 0.0, 1]) > 0.0).all()
    assert (foot == ROLLS).all() or np.abs(foot - ROLLS).max() <= EXACT
    assert not toes[(ROLLS >= 0.0) & (ROLLS <= BREAK)].any()


def test_toes_bend_up_by_their_own_setting():
    _, foot, toes = SHAPE.rolled(np.zeros(1), np.full(1, 0.3), np.full(1, BREAK))
    assert foot[0] == 0.0 and toes[0] == -0.3


def test_rolls_are_continuous():
    rolls = np.concatenate([near + np.array((-1e-9, 0.0, 1e-9)) for near in (0.0, BREAK)])
    ankle, foot, toes = SHAPE.rolled(rolls, np.zeros(6), np.full(6, BREAK))
    for values in (ankle, foot, toes):
        assert np.abs(np.diff(values.reshape(2, 3, -1), axis=1)).max() <= 2e-9


def test_one_pose_is_that_of_arrays():
    rng = np.random.default_rng(3)
    for _ in range(200):
        shape = FootShape(*map(tuple, rng.normal(size=(3, 2)).tolist()))
        roll, toe, limit = rng.uniform(-1.5, 1.5), rng.uniform(-1.0, 1.0), rng.uniform(0.0, 1.5)
        ankle, foot, toes = shape.rolled(np.array(roll), np.array(toe), np.array(limit))
        assert np.allclose((*ankle, foot, toes), shape.rolled_once(roll, toe, limit), rtol=0.0, atol=1e-14)
        sole = shape.sole(np.array(roll), np.array(toe), np.array(limit))
        assert np.allclose(sole, shape.sole_once(roll, toe, limit), rtol=0.0, atol=1e-14)


def test_the_sole_at_rest_goes_from_heel_to_tip():
    sole = SHAPE.sole(np.zeros(1), np.zeros(1), np.zeros(1))[0]
    assert np.allclose(sole, [SHAPE.heel, (0.12, -0.1), (0.12, -0.1), SHAPE.tip], atol=1e-15)
    assert FootShape((0.0, 0.0), (1.0, 1.0), (0.0, 0.0)).under_ball == (0.0, 0.0)
