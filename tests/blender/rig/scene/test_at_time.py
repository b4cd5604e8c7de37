# SPDX-License-Identifier: GPL-3.0-or-later
"""Places at one time are those that Blender evaluates; F-Curves that come or go are noticed."""

import random

import bpy
import numpy as np
import pytest
from random_keys import MODES, animate, vary
from rigs import add_armature, add_target

from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.scene.at_time import PlacesAtTime
from ik2d_addon.rig.scene.by_curves import hindrance, nodes_on_way

TIMES = [1.0, 2.25, 4.5, 9.75, 31.0, 47.5]
OBJECT = ("location", "scale", "delta_location", "delta_scale")
BONE = ("location", "scale")


def turn_of(owner):
    return {'QUATERNION': "rotation_quaternion", 'AXIS_ANGLE': "rotation_axis_angle"}.get(
        owner.rotation_mode, "rotation_euler"
    )


def random_scene(seed: int):
    """Add an armature and a target, both with a parent, of random channels and keys."""
    rng = random.Random(seed)
    armature = add_armature(
        {
            "root": ((0, 0, 0), (0.1, 0.0, 1.0), "", 0.2),
            "next": ((0.1, 0.0, 1.0), (0.3, 0.2, 2.0), "root", -0.4),
            "free": ((0.5, 0.1, 1.0), (0.9, 0.1, 1.4), "root", 1.0),
        }
    )
    target, above, holder = (add_target({1: (0.2, 0.3, 0.4)}, name) for name in ("Own", "Above", "Holder"))
    for ob in (armature, target, above, holder):
        ob.animation_data_clear()
    armature.parent, target.parent = holder, above
    above.parent, above.parent_type, above.parent_bone = armature, 'BONE', "free"
    bpy.context.view_layer.update()
    target.matrix_parent_inverse = above.matrix_world.inverted()
    often = rng.choice((0.0, 0.3, 0.8))
    for ob in (armature, target, above, holder):
        ob.rotation_mode = rng.choice(MODES)
        turn = turn_of(ob)
        more = () if turn == "rotation_axis_angle" else (turn, f"delta_{turn}")
        animate(rng, ob, (*OBJECT, *more), often)
    for bone in armature.pose.bones:
        bone.rotation_mode = rng.choice(MODES[:-1])
        animate(rng, bone, (*BONE, turn_of(bone)), often)
    for ob in (armature, target, above, holder):
        vary(rng, ob)
    return armature, target


@pytest.mark.parametrize("seed", range(12))
def test_places_are_those_that_blender_evaluates(seed):
    armature, target = random_scene(seed)
    nodes = [(target, ""), (armature, "next")]
    if found := hindrance(armature, ["next"], nodes):
        pytest.fail(found)
    scene = bpy.context.scene
    scene.frame_set(20)
    places = PlacesAtTime(nodes_on_way(armature, ["next"], nodes), bpy.context.evaluated_depsgraph_get())
    for time in TIMES:
        scene.frame_set(int(time), subframe=time % 1)
        assert places.go_to(scene.frame_current_final)
        graph = bpy.context.evaluated_depsgraph_get()
        shown = armature.evaluated_get(graph)
        world, pose = np.array(shown.matrix_world), np.array(shown.pose.bones["next"].matrix)
        assert np.allclose(places.world(armature), world, rtol=0.0, atol=2e-6 * np.abs(world).max())
        assert np.allclose(places.pose(armature, "next"), pose, rtol=0.0, atol=2e-6 * np.abs(pose).max())
        place = np.array(target.evaluated_get(graph).matrix_world.translation)
        size = max(1.0, np.abs(place).max(), np.abs(world).max() * np.abs(pose).max())
        assert np.allclose(places.place(target, ""), place, rtol=0.0, atol=4e-6 * size)
        head = np.array(shown.matrix_world @ shown.pose.bones["next"].head)
        assert np.allclose(places.place(armature, "next"), head, rtol=0.0, atol=4e-6 * size)


def test_an_f_curve_that_comes_or_goes_is_noticed():
    target = add_target({1: (0.0, 0.0, 0.0), 20: (1.0, 2.0, 3.0)})
    places = PlacesAtTime([(target, "")], bpy.context.evaluated_depsgraph_get())
    assert places.go_to(20.0) and tuple(places.place(target, "")) == (1.0, 2.0, 3.0)
    target.keyframe_insert("rotation_euler", index=1, frame=3)
    assert not places.go_to(20.0)
    places = PlacesAtTime([(target, "")], bpy.context.evaluated_depsgraph_get())
    assert places.go_to(20.0)
    target.keyframe_delete("location", index=1, frame=1)
    assert places.go_to(20.0)
    target.keyframe_delete("location", index=1, frame=20)
    assert len(existing_fcurves(target)) == 3 and not places.go_to(20.0)
    target.animation_data_clear()
    assert not places.go_to(20.0)
