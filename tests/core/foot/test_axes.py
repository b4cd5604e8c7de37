# SPDX-License-Identifier: GPL-3.0-or-later
"""A foot's plane in rest space: offsets, turns and their angles."""

import numpy as np

from ik2d_addon.core.foot import FootAxes, FootShape
from ik2d_addon.core.foot.roll import turned

AXES = FootAxes(
    FootShape((-0.05, -0.1), (0.12, -0.07), (0.2, -0.1)), np.array((0, -1.0, 0)), np.array((0, 0, 1.0))
)
ANGLES = np.linspace(-3.0, 3.0, 25)


def test_turns_carry_points_as_the_shape_turns_them():
    point = np.array((0.12, -0.07))
    carried = AXES.turns(ANGLES) @ AXES.offsets(point)
    assert np.abs(carried - AXES.offsets(turned(ANGLES, point))).max() < 1e-15


def test_angles_are_those_of_the_turns():
    assert np.abs(AXES.angles(AXES.turns(ANGLES)) - ANGLES).max() < 1e-14


def test_a_positive_angle_raises_the_heel():
    heel = AXES.turns(np.array(0.3)) @ AXES.offsets(np.array(AXES.shape.heel))
    assert heel[2] > -0.1
