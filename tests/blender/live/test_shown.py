# SPDX-License-Identifier: GPL-3.0-or-later
"""The matrix of a target that Blender does not evaluate: the one that it would have."""

import bpy
import numpy as np
import pytest
from rigs import add_target

from ik2d_addon.live.shown import place_by_curves, turn_by_curves
from ik2d_addon.rig.animation.bone_channels import rotation_property
from ik2d_addon.rig.animation.versions import existing_fcurves


@pytest.mark.parametrize("mode", ['XYZ', 'ZYX', 'QUATERNION', 'AXIS_ANGLE'])
@pytest.mark.parametrize("channels", [(), ("rotation",), ("rotation", "scale", "location")])
def test_its_place_and_axes_are_those_that_blender_gives_it(mode, channels):
    rng = np.random.default_rng(5)
    target, scene = add_target({}), bpy.context.scene
    target.rotation_mode = mode
    names = {"location": "location", "scale": "scale", "rotation": rotation_property(mode)}
    for frame in (1, 9):
        for name in names.values():
            size = len(getattr(target, name))
            setattr(target, name, rng.uniform(0.5, 2.0, size) * rng.choice([-1.0, 1.0], size))
        for channel in channels:
            target.keyframe_insert(names[channel], frame=frame)
    target.delta_location = (0.3, -0.2, 0.1)
    target.delta_rotation_euler = (0.4, 0.2, -0.3)
    target.delta_rotation_quaternion = (0.9, 0.1, -0.3, 0.2)
    target.delta_scale = (1.5, 0.5, -2.0)
    for frame in (1, 4, 9):
        scene.frame_set(frame)
        shown, depsgraph = target.matrix_world.copy(), bpy.context.evaluated_depsgraph_get()
        place = place_by_curves((target, ""), "its target", scene, depsgraph)
        assert np.array(place) == pytest.approx(np.array(shown.translation), abs=1e-6)
        axes = turn_by_curves(target, scene)
        assert np.array(axes) == pytest.approx(np.array(shown.to_3x3()), abs=1e-5)


def test_a_curve_without_keys_sets_nothing():
    target = add_target({1: (1.0, 2.0, 3.0)})
    for curve in existing_fcurves(target):
        curve.keyframe_points.clear()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    place = place_by_curves((target, ""), "its target", bpy.context.scene, depsgraph)
    assert tuple(place) == (1.0, 2.0, 3.0)
