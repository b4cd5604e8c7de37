# SPDX-License-Identifier: GPL-3.0-or-later
"""F-Curves outside a range play as before, whatever keys are written in it."""

import bpy
import numpy as np
import pytest

from ik2d_addon.rig.animation.kept.held import held, hold
from ik2d_addon.rig.animation.kept.marks import SNAP
from ik2d_addon.rig.animation.value_keys import ValueKeys, curve_of, values_keyed

HANDLES = ('AUTO_CLAMPED', 'AUTO', 'VECTOR', 'ALIGNED', 'FREE')


def moving(seed, handle, smoothing, interpolation='BEZIER'):
    """Add an object with random keys on its location's x; return it and its F-Curve."""
    rng = np.random.default_rng(seed)
    ob = bpy.data.objects.new("Moving", None)
    bpy.context.scene.collection.objects.link(ob)
    for frame in np.sort(rng.choice(np.arange(1, 60), 12, replace=False)).tolist():
        ob.location.x = float(rng.normal())
        ob.keyframe_insert("location", index=0, frame=frame)
    curve = curve_of(ob, "location")
    curve.auto_smoothing = smoothing
    for key in curve.keyframe_points:
        key.handle_left_type = key.handle_right_type = handle
        key.interpolation = interpolation
        if handle == 'FREE':  # longer than their gaps, too
            key.handle_left = key.co[0] - rng.uniform(0, 8), key.co[1] + rng.normal()
            key.handle_right = key.co[0] + rng.uniform(0, 8), key.co[1] + rng.normal()
    curve.update()
    return ob, curve


@pytest.mark.parametrize("interpolation", ['BEZIER', 'LINEAR', 'CONSTANT'])
@pytest.mark.parametrize("smoothing", ['NONE', 'CONT_ACCEL'])
@pytest.mark.parametrize("handle", HANDLES)
@pytest.mark.parametrize("seed", range(4))
def test_what_is_outside_plays_as_before(seed, handle, smoothing, interpolation):
    ob, curve = moving(seed, handle, smoothing, interpolation)
    times = np.arange(-3.0, 70.0, 0.25)
    before = np.array([curve.evaluate(time) for time in times])
    first, last = 20 + seed, 33
    kept = held(bpy.context.scene, [(ob, "location", 0)], [first, last])
    later = [key.co[0] for key in curve.keyframe_points if key.co[0] > last]
    values = np.random.default_rng(seed + 9).normal(size=last - first + 1)
    with values_keyed(
        bpy.context.scene, [ValueKeys(ob, "location", 0, list(range(first, last + 1)), values, "Group")], SNAP
    ):
        pass
    for one in kept:
        hold(one, SNAP, pinned=True)
    after = np.array([curve_of(ob, "location").evaluate(time) for time in times])
    outside = (times <= first) | (times >= min(later, default=99.0))
    assert np.abs(before - after)[outside].max() < 2e-5
    inside = np.isin(times, np.arange(first + 1, last + 1))
    assert np.abs(after[inside] - values[1:]).max() < 1e-6


def test_a_curve_that_was_not_there_or_is_gone_is_left_alone():
    ob, _ = moving(0, 'AUTO', 'NONE')
    assert held(bpy.context.scene, [(ob, "location", 2)], [1, 2]) == []
    kept = held(bpy.context.scene, [(ob, "location", 0)], [1, 2])
    ob.animation_data_clear()
    hold(kept[0], SNAP)
    assert ob.animation_data is None
