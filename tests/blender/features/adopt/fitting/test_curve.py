# SPDX-License-Identifier: GPL-3.0-or-later
"""A curve through measured numbers is near all of them, has few keys, and steps where they do."""

import numpy as np
import pytest
from rigs import add_armature

from ik2d_addon.features.adopt.fitting.curve import fitted, key_curve
from ik2d_addon.rig.animation.value_keys import curve_of

TIMES = np.arange(1.0, 40.5, 0.5)
PATH = "rotation_euler"


def played(curve) -> np.ndarray:
    """Return a curve's values at all times, as Blender has them."""
    import bpy

    armature = add_armature({"bone": ((0, 0, 0), (0, 0, 1), "", 0.0)})
    key_curve(armature, PATH, "Group", curve, bpy.context.scene)
    made = curve_of(armature, PATH)
    return np.array([made.evaluate(time) for time in TIMES])


@pytest.mark.parametrize("bend", [0.02, 0.2, 1.0])
def test_it_is_near_all_numbers_with_few_keys(bend):
    values = np.sin(bend * TIMES) + 0.01 * TIMES
    curve = fitted(TIMES, values, np.array([9.0]))
    assert np.abs(played(curve) - values).max() <= 1e-3
    assert 9.0 in curve.frames and (curve.frames == curve.frames.round()).all()
    assert len(curve.frames) <= (4 if bend < 0.1 else 12 if bend < 0.5 else 40)


def test_a_step_is_held():
    values = np.where(TIMES < 12.0, 0.1, 0.9)
    curve = fitted(TIMES, values, np.array([]))
    assert np.abs(played(curve) - values).max() <= 1e-3
    assert curve.held.sum() == 1


def test_two_numbers_are_enough():
    curve = fitted(np.array([3.0, 7.0]), np.array([0.0, 1.0]), np.array([100.0]))
    assert curve.frames.tolist() == [3.0, 7.0]
