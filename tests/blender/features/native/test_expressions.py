# SPDX-License-Identifier: GPL-3.0-or-later
"""Simple expressions as text."""

import numpy as np
import pytest
from mathutils import Matrix

from ik2d_addon.core import IK2DError
from ik2d_addon.features.native.expressions import LONGEST, checked, euler_angles, names_in, num


def test_numbers_may_have_a_sign_before_them():
    assert num(0.5) == "0.5" and num(-0.5) == "(-0.5)" and num(1 / 3, 3) == "0.333"
    assert eval(f"2-{num(-1e-7)}") == 2 + 1e-7


def test_variables_are_what_is_no_function_and_no_exponent():
    assert names_in("max(x*1e-06,y)+sin(turn0) if x>=2.5e3 else pi*a_b") == ["x", "y", "turn0", "a_b"]


def test_what_blender_would_cut_is_refused():
    assert checked("x" * LONGEST) == "x" * LONGEST
    with pytest.raises(IK2DError, match="256 characters"):
        checked("x" * (LONGEST + 1))


def test_a_turn_about_an_axis_of_its_own_is_one_angle():
    assert euler_angles(np.array((0.0, 0.0, -1.0)), "t") == ("", "", "-t")
    assert euler_angles(np.array((1.0, 1e-7, 0.0)), "t") == ("t", "", "")


@pytest.mark.parametrize("seed", range(5))
def test_euler_angles_are_the_turn(seed):
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    names = {"sin": np.sin, "cos": np.cos, "atan2": np.arctan2, "asin": np.arcsin, "clamp": np.clip}
    for turn in rng.uniform(-6.0, 6.0, 8):
        x, y, z = (eval(angle, {"turn": turn, **names}) for angle in euler_angles(axis, "turn"))
        found = Matrix.Rotation(z, 3, 'Z') @ Matrix.Rotation(y, 3, 'Y') @ Matrix.Rotation(x, 3, 'X')
        assert np.abs(np.array(found) - np.array(Matrix.Rotation(turn, 3, axis))).max() < 1e-6
