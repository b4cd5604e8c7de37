# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging tips of chains on posts: the post turns so that the chain's plane holds the tip."""

import bpy
import numpy as np
import pytest
from mathutils import Vector
from post_rigs import robot_arm, turret
from rigs import evaluated_place, evaluated_tip
from test_drag import everything

from ik2d_addon.bake import solve
from ik2d_addon.features.ccd_steps.operator import step_chain
from ik2d_addon.features.drag.drag import take_hold
from ik2d_addon.rig.animation.versions import existing_fcurves

NEAR = 3e-6
SEEDS = [0, 4, 8, 16, 34]  # bones between or none; Euler, axis-angle and quaternion


def held(seed, solved=True, **settings):
    """Return a turret with a chain, and hold of its tip."""
    made = turret(seed)
    chain = made.add_chain()
    for name, value in settings.items():
        setattr(chain, name, value)
    bpy.context.scene.frame_set(5)
    made.target.animation_data_clear()
    if solved:
        solve(made.armature)
    return made, chain, take_hold(bpy.context.scene, made.armature, chain.name)


def matrices(made):
    shown = made.armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([shown.pose.bones[name].matrix for name in ("post", *made.bones)])


def off(made):
    return (evaluated_tip(made.armature, made.bones[-1]) - evaluated_place(made.target)).length / made.reach


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_jumps_where_a_drag_begins(seed):
    made, _, drag = held(seed)
    before, target = matrices(made), Vector(made.target.location)
    drag.to((0.0, 0.0))
    assert np.abs(matrices(made) - before).max() <= 5e-6
    assert (Vector(made.target.location) - target).length <= NEAR * made.reach


@pytest.mark.parametrize("seed", SEEDS)
def test_the_tip_of_an_unsolved_pose_stays_where_it_is(seed):
    made, _, drag = held(seed, solved=False)
    tip = evaluated_tip(made.armature, made.bones[-1])
    drag.to((0.0, 0.0))
    assert (evaluated_tip(made.armature, made.bones[-1]) - tip).length <= NEAR * made.reach


@pytest.mark.parametrize("seed", SEEDS)
def test_the_tip_goes_sideways_as_the_post_turns_as_pose_this_frame_has_it(seed):
    made, _, drag = held(seed)
    along = made.armature.matrix_world.to_3x3() @ made.post.matrix.to_3x3()
    drag.face(along.col[made.axis])  # as seen along the post's axis
    before = drag.held_chain.post.space.angles[0]
    for part in np.linspace(0.0, 0.15, 4):
        drag.to((part * made.reach, -part * made.reach))
    assert drag.has_reached and off(made) <= NEAR
    assert abs(drag.held_chain.post.angles[0] - before) > 0.02
    shown = matrices(made)
    solve(made.armature)
    assert np.abs(matrices(made) - shown).max() <= 5e-5


@pytest.mark.parametrize("seed", SEEDS)
def test_a_live_chain_is_dragged_as_one_that_is_not(seed):
    made, chain, _ = held(seed)
    chain.live = True
    bpy.context.view_layer.update()
    drag = take_hold(bpy.context.scene, made.armature, chain.name)
    drag.face((0.0, 0.0, 1.0))
    for part in (0.02, 0.05, 0.08):
        drag.to((part * made.reach, 0.0))
        assert off(made) <= NEAR and drag.has_reached
    shown = matrices(made)
    bpy.context.view_layer.update()
    assert np.abs(matrices(made) - shown).max() <= 5e-5


@pytest.mark.parametrize("seed", (0, 16))
def test_steps_of_ccd_turn_in_the_plane_as_the_post_has_it(seed):
    made, chain, _ = held(seed, solver='CCD')
    post = matrices(made)[0]
    made.target.location = made.armature.matrix_world @ made.armature.pose.bones[made.bones[0]].head.lerp(
        made.armature.pose.bones[made.bones[-1]].tail, 0.7
    )
    for _ in range(60):
        step, _ = step_chain(made.armature, chain, whole=True)
    assert step.distance <= 1e-3 * made.reach
    assert np.abs(matrices(made)[0] - post).max() <= 1e-6


def test_a_tip_without_a_target_is_held_by_itself():
    armature, chain = robot_arm()
    chain.target = None
    armature.pose.bones["upper"].rotation_mode = 'XYZ'
    armature.pose.bones["upper"].rotation_euler.z = 0.3
    bpy.context.view_layer.update()
    drag = take_hold(bpy.context.scene, armature, chain.name)
    tip = evaluated_tip(armature, "lower")
    drag.face((0.0, 0.0, 1.0))
    drag.to((-0.4, 0.5))
    moved = evaluated_tip(armature, "lower") - tip
    assert (moved - Vector((-0.4, 0.5, 0.0))).length <= 1e-5
    base = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["base"]
    assert abs(base.rotation_quaternion.to_euler().y) > 0.3


def test_at_a_limit_the_post_stops_and_the_drag_says_that_the_tip_is_off():
    made, chain, drag = held(0, use_post_limit=True, post_limit_min=-0.1, post_limit_max=0.1)
    along = made.armature.matrix_world.to_3x3() @ made.post.matrix.to_3x3()
    drag.face(along.col[made.axis])
    for side in ((0.5, 0.5), (-0.5, -0.5)):
        drag.to(np.array(side) * made.reach)
        assert -0.1001 <= made.post.rotation_euler[made.axis] <= 0.1001
    assert not drag.has_reached and "off" in drag.outcome()


def test_half_the_influence_turns_the_post_half_the_way():
    made, _, drag = held(1, influence=0.5)
    along = made.armature.matrix_world.to_3x3() @ made.post.matrix.to_3x3()
    drag.face(along.col[made.axis])
    drag.to((0.1 * made.reach, 0.0))
    shown = matrices(made)
    solve(made.armature)
    assert np.abs(matrices(made) - shown).max() <= 5e-5


@pytest.mark.parametrize("seed", SEEDS)
def test_escape_puts_all_back(seed):
    made, _, drag = held(seed)
    before = everything(made.armature, made.target)
    drag.face((0.0, 0.0, 1.0))
    drag.to((0.2 * made.reach, 0.1 * made.reach))
    assert everything(made.armature, made.target) != before
    drag.put_back()
    assert everything(made.armature, made.target) == before


def test_the_post_is_keyed_with_its_chain():
    made, _, drag = held(0)
    drag.face((0.0, 0.0, 1.0))
    drag.to((0.1 * made.reach, 0.0))
    drag.key(bpy.context, in_any_case=True)
    keyed = {(curve.data_path, curve.array_index) for curve in existing_fcurves(made.armature)}
    assert {place for place in keyed if "post" in place[0]} == {
        (made.post.path_from_id("rotation_euler"), made.axis)
    }


def test_the_operator_drags_in_the_plane_that_it_is_given():
    armature, chain = robot_arm()
    chain.target.animation_data_clear()
    solve(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='POSE')
    at = Vector(chain.target.location)
    bpy.ops.ik2d.drag(chain=chain.name, offset=(-0.3, 0.4), facing=(0.0, 0.0, 1.0))
    assert (Vector(chain.target.location) - at - Vector((-0.3, 0.4, 0.0))).length <= 1e-5
    assert (evaluated_tip(armature, "lower") - evaluated_place(chain.target)).length <= 1e-5
