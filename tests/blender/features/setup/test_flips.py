# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that turn a chain over."""

import bpy
import pytest
from rigs import leg_with_target

from ik2d_addon.core import IK2DError
from ik2d_addon.features.setup.flips import key_flip
from ik2d_addon.rig.animation.versions import existing_fcurves


def test_two_keys_turn_over_slowly_at_both_ends_and_back():
    armature, _ = leg_with_target()
    chain, scene = armature.ik2d.chains[0], bpy.context.scene
    scene.frame_set(5)
    assert key_flip(armature, chain, scene, 10) == (5, 15)
    (curve,) = existing_fcurves(armature)
    assert [tuple(key.co) for key in curve.keyframe_points] == [(5, 0), (15, 1)]
    assert curve.evaluate(10) == pytest.approx(0.5) and curve.evaluate(6) < 0.05
    scene.frame_set(30)
    assert key_flip(armature, chain, scene, 4) == (30, 34)
    assert curve.evaluate(30) == 1.0 and curve.evaluate(34) == 0.0 and curve.evaluate(20) == 1.0


@pytest.mark.parametrize("old, new", [(100, 200), (100, 130), (100, 24)])
def test_a_flip_takes_the_frames_of_a_scene_whose_time_is_remapped(old, new):
    armature, _ = leg_with_target()
    chain, scene = armature.ik2d.chains[0], bpy.context.scene
    scene.render.frame_map_old, scene.render.frame_map_new = old, new
    scene.frame_set(10)
    assert key_flip(armature, chain, scene, 10) == (10, 20)
    amounts = []
    for frame in (8, 10, 12, 15, 20, 30):
        scene.frame_set(frame)
        shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        amounts.append(shown.ik2d.chains[0].turn_over)
    assert amounts[:2] == [0.0, 0.0] and amounts[4:] == [1.0, 1.0]
    assert 0.0 < amounts[2] < 0.2 and amounts[3] == pytest.approx(0.5, abs=1e-4)


def test_a_driven_setting_is_refused():
    armature, _ = leg_with_target()
    armature.driver_add("ik2d.chains[0].turn_over")
    with pytest.raises(IK2DError, match="has a driver"):
        key_flip(armature, armature.ik2d.chains[0], bpy.context.scene, 4)
