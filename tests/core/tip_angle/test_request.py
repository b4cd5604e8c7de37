# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets and angles as they are asked for, and the solution that poses make of them."""

from typing import Any

import numpy as np
import pytest

from ik2d_addon.core import Chain, IK2DError, Status, solve_pose, solve_pose_path
from ik2d_addon.core.tip_angle.request import PoseRequest, PoseRows

ASKED: dict[str, Any] = {
    "bend": 1,
    "rest": None,
    "root_weight": None,
    "tolerance": None,
    "softness": 0.0,
    "angle_first": False,
}


def test_rows_of_all_shapes_are_spread_and_one_can_be_had() -> None:
    asked = PoseRequest.checked(Chain([1.0, 1.0]), [1.0, 0.5], [[0.1, 0.2]], **ASKED | {"bend": [[1], [-1]]})
    assert asked.shape == (2, 2) and asked.points.shape == (4, 2)
    assert asked.headings.tolist() == [0.1, 0.2, 0.1, 0.2] and asked.sides.tolist() == [1, 1, -1, -1]
    one = asked.at(2)
    assert one.shape == (1,) and one.sides.tolist() == [-1] and one.headings.tolist() == [0.1]


def test_pose_that_misses_its_tip_is_replaced_by_the_nearest_and_an_angle_off_is_said() -> None:
    asked = PoseRequest.checked(Chain([1.0, 1.0]), [[1.0, 1.0], [0.0, 2.0]], 0.0, **ASKED)
    found = asked.solution(PoseRows(np.array([[0.0, np.pi / 2.0], [0.0, 0.0]])))
    assert found.status.tolist() == [Status.ANGLE, Status.ANGLE]
    assert found.residual.max() <= 1e-9 and found.unproven is None
    assert found.angle_error is not None and np.allclose(found.angle_error, np.pi / 2.0)


@pytest.mark.parametrize("weight", [-0.1, 1.5, np.nan])
def test_weight_of_the_root_is_a_part(weight: float) -> None:
    with pytest.raises(IK2DError, match="root_weight"):
        PoseRequest.checked(Chain([1.0, 1.0]), [1.0, 0.0], 0.0, **ASKED | {"root_weight": weight})


def test_root_of_no_weight_keeps_its_angle_where_the_tip_misses() -> None:
    chain, rest = Chain(np.ones(5)), np.full(5, 0.2)
    for solve in (solve_pose, solve_pose_path):
        found = solve(chain, [[-6.0, 1.0], [0.0, -7.0]], 0.5, rest=rest, root_weight=0.0)
        assert (found.angles[:, 0] == 0.2).all() and not found.reached.any()
