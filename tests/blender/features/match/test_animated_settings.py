# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain's settings as numbers, and the keys that leave what is beside them as it was."""

import bpy
import numpy as np
import pytest
from rigs import leg_with_target

from ik2d_addon.core import IK2DError
from ik2d_addon.features.match.animated_settings import ChainValue
from ik2d_addon.rig.animation.kept.marks import SNAP
from ik2d_addon.rig.animation.value_keys import curve_of, values_keyed
from ik2d_addon.rig.chain.chain import read_chain


def value_of_leg(name):
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    return chain, ChainValue.of(read_chain(armature, chain), name)


def test_the_bend_is_a_number_that_its_curve_would_show():
    chain, bend = value_of_leg("bend")
    assert (bend.number, bend.steps, bend.is_animated) == (0.0, True, False)
    assert bend.sides(np.array([1.0, -1.0])).tolist() == [0.0, 1.0]
    bend.set(1.0)
    assert chain.bend == 'NEGATIVE' and bend.number == 1.0
    chain.keyframe_insert("bend", frame=1)
    assert bend.is_animated and curve_of(bend.owner, bend.path).evaluate(1) == 1.0


@pytest.mark.parametrize("on", [False, True])
def test_keys_over_frames_leave_those_beside_unless_it_goes_on(on):
    chain, softness = value_of_leg("softness")
    for frame, value in ((0, 0.0), (20, 0.2)):
        chain.softness = value
        chain.keyframe_insert("softness", frame=frame)
        for point in curve_of(softness.owner, softness.path).keyframe_points:
            point.interpolation = 'LINEAR'
    keyed = softness.keys_over(bpy.context.scene, [5, 6, 7, 8], np.zeros(4), on)
    with values_keyed(bpy.context.scene, [keyed], SNAP):
        pass
    curve = curve_of(softness.owner, softness.path)
    shown = [curve.evaluate(frame) for frame in (4, 5, 6, 7, 8, 9)]
    assert np.allclose(shown[:5], (0.04, 0, 0, 0, 0), atol=1e-6)
    assert (abs(shown[5] - 0.09) < 1e-6) is not on
    assert (
        softness.keys_over(bpy.context.scene, [5, 6, 7, 8], np.zeros(4), on) is None
    )  # it shows them by now


def test_a_driver_is_refused_by_name():
    chain, over = value_of_leg("turn_over")
    chain.driver_add("turn_over")
    with pytest.raises(IK2DError, match="its Bend to Other Side has a driver"):
        over.refuse_driver()
