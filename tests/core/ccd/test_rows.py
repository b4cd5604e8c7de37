# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of targets."""

import numpy as np

from ik2d_addon.core import Chain
from ik2d_addon.core.ccd.rows import Targets, are_inside
from ik2d_addon.core.ccd.sweep import CcdBones


def test_rows_are_spread_over_the_shape_of_all():
    rows = Targets.spread((2, 3), np.arange(6.0).reshape(3, 2), np.zeros(4), np.array([[1.0], [-1.0]]))
    assert rows.points.tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]] * 2
    assert rows.starts.shape == (6, 4)
    assert rows.bend.tolist() == [1.0] * 3 + [-1.0] * 3


def test_what_lies_inside_the_annulus_is_told_with_slides_too():
    points = np.array([[0.0, 0.1], [0.0, 0.3], [0.6, 0.0], [0.9, 0.9]])
    rows = Targets(points, np.zeros((4, 4)), np.ones(4))
    long_one = Chain([3.0, 1.0], slides=[(-1.0, 0.0), (0.0, 0.0)])  # its reach is 4, inner 1
    assert are_inside(CcdBones.of(long_one), rows).tolist() == [False, True, True, False]
    assert are_inside(CcdBones.of(Chain([3.0, 1.0])), rows).tolist() == [False, False, True, False]
