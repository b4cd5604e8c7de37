# SPDX-License-Identifier: GPL-3.0-or-later
"""Empties on targets while a scene is sampled, and what its view layer shows."""

import bpy
import pytest
from rigs import add_target

from ik2d_addon.rig.scene.probes import is_shown, may_be_hidden, probes_on, view_layer_of


def test_a_probe_is_where_its_target_is_though_that_is_hidden_and_goes_afterwards():
    target = add_target({1: (1.0, 2.0, 3.0)})
    bpy.context.scene.frame_set(1)
    target.hide_viewport = True
    objects = len(bpy.data.objects)
    with probes_on(bpy.context.scene, [(target, "")]) as (probe,):
        bpy.context.view_layer.update()
        depsgraph = bpy.context.evaluated_depsgraph_get()
        place = tuple(probe.evaluated_get(depsgraph).matrix_world.translation)
        assert place == pytest.approx((1.0, 2.0, 3.0))
    assert len(bpy.data.objects) == objects


def test_an_empty_that_nothing_hides_is_its_own_probe_in_a_scene_of_our_own():
    target, scene = add_target({}), bpy.data.scenes.new("own")
    with probes_on(scene, [(target, "")], own=True) as probes:
        assert probes == [target]
    assert bpy.data.objects.get(target.name) == target


def test_what_is_hidden_now_or_keyed_so_may_be_hidden():
    target, layer = add_target({}), view_layer_of(bpy.context.scene)
    bpy.context.view_layer.update()
    assert is_shown(target, layer) and not may_be_hidden(target, layer)
    target.keyframe_insert("hide_viewport", frame=5)
    assert is_shown(target, layer) and may_be_hidden(target, layer)
    target.animation_data_clear()
    target.hide_set(True)
    assert not is_shown(target, layer) and may_be_hidden(target, layer)
