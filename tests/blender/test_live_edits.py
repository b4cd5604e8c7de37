# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits by scripts that Blender has not told of before the next frame: kept frames do not hide them."""

import bpy
import numpy as np
import pytest
from foot_rigs import lift_control, plain_leg
from test_live import SAME, arm_with_target, far, poses
from test_live_feet import apart, posed, stand, walk
from test_live_kept import go, play

from ik2d_addon.live.registry import RIGS

ON = (9.0, 10.0, 20.0)


def fresh(armature, frame):
    """Return the joints on a frame of which nothing is known."""
    RIGS.drop()
    return poses(armature, [frame])


# --- Locks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("evaluated", [False, True])
@pytest.mark.parametrize("is_kept", [False, True])
def test_a_bone_that_a_script_locks_stays_as_it_is_and_the_status_says_so(is_kept, evaluated):
    armature, _, chain = arm_with_target(2, live=True)
    if is_kept:
        play()
    else:
        go(41)
    assert (RIGS.kept is not None) is is_kept
    bone = armature.pose.bones["b1"]
    before = tuple(bone.rotation_quaternion)
    bone.lock_rotation, bone.lock_rotation_w = (True, True, True), True
    if evaluated:
        bpy.context.view_layer.update()
    for frame in ON:
        go(frame)
        assert tuple(bone.rotation_quaternion) == before
        assert chain.live_status.endswith("held by locks")


# --- Settings that call nothing when they are reset ------------------------------------------------


@pytest.mark.parametrize("evaluated", [False, True])
@pytest.mark.parametrize("name, value", [("softness", 0.3), ("bend", 'NEGATIVE'), ("turn_over", 1.0)])
def test_a_setting_that_a_script_resets_counts_on_the_next_frame(name, value, evaluated):
    armature, _, chain = arm_with_target(3, live=True)
    setattr(chain, name, value)
    play()
    chain.property_unset(name)
    if evaluated:
        bpy.context.view_layer.update()
    for frame in ON:
        shown = poses(armature, [frame])
        assert far(shown, fresh(armature, frame)) <= 3.0 * SAME


def test_settings_that_a_script_sets_in_bulk_count_on_the_next_frame():
    armature, _, chain = arm_with_target(3, live=True)
    play()
    armature.ik2d.chains.foreach_set("softness", [0.3])
    bpy.context.view_layer.update()
    for frame in ON:
        shown, status = poses(armature, [frame]), chain.live_status
        assert far(shown, fresh(armature, frame)) <= 3.0 * SAME and status == chain.live_status


# --- Grounds ----------------------------------------------------------------------------------------


def turns(ground):
    ground.rotation_euler.x = 0.1


def scales(ground):
    ground.scale.z = 3.0


def moves_a_vertex(ground):
    for vertex in ground.data.vertices:
        vertex.co.z += 0.05


def displaces(ground):
    ground.modifiers["Displace"].strength = 0.06


def hooks(_ground):
    bpy.data.objects["Hook"].location.z = 0.06


def shapes(ground):
    ground.shape_key_add(name="Basis")
    ground.shape_key_add(name="Up").value = 1.0
    for point in ground.data.shape_keys.key_blocks["Up"].data:
        point.co.z += 0.05


def swaps(ground):
    ground.data = ground.data.copy()
    for vertex in ground.data.vertices:
        vertex.co.z += 0.05


@pytest.mark.parametrize("edit", [turns, scales, moves_a_vertex, displaces, hooks, shapes, swaps])
def test_a_foot_is_on_a_surface_that_a_script_has_changed(edit):
    leg = plain_leg()
    lift_control(leg, 0.3)
    stand(leg, "mesh")
    ground = leg.chain.foot.ground
    displace = ground.modifiers.new("Displace", 'DISPLACE')
    displace.strength, displace.mid_level = 0.01, 0.0
    hook = ground.modifiers.new("Hook", 'HOOK')
    hook.object = bpy.data.objects.new("Hook", None)
    bpy.context.scene.collection.objects.link(hook.object)
    hook.vertex_indices_set(range(len(ground.data.vertices)))
    walk(leg, np.random.default_rng(3))
    leg.chain.live = True
    play(24)
    edit(ground)
    for frame in ON:
        shown, status = posed(leg.armature, [frame]), leg.chain.live_status
        RIGS.drop()
        assert apart(shown, posed(leg.armature, [frame])) <= 3.0 * SAME
        assert status == leg.chain.live_status


# --- Without an edit --------------------------------------------------------------------------------


def test_a_kept_frame_says_by_how_much_the_last_bone_is_off_its_angle():
    _, _, chain = arm_with_target(3)
    chain.tip_rotation, chain.solver = 'WORLD', 'EVEN'
    joint = chain.joints[0]
    joint.use_limit, joint.limit_min, joint.limit_max = True, -0.3, 0.3
    chain.live = True
    for frame in (9, 10, 30):
        play()
        go(frame)
        status = chain.live_status
        RIGS.drop()
        go(frame)
        assert status == chain.live_status and "degrees off its angle" in status


@pytest.mark.parametrize("bones", [2, 3, 4])
def test_bones_that_shear_those_after_them_are_posed_as_a_bake_poses_them(bones):
    armature, _, chain = arm_with_target(bones)
    armature.pose.bones["b1"].scale = (1.0, 1.3, 1.0)
    chain.live = True
    play()
    for frame in ON:
        shown, status = poses(armature, [frame]), chain.live_status
        assert far(shown, fresh(armature, frame)) <= 3.0 * SAME and status == chain.live_status
        assert bones == 2 or status.endswith("held back by uneven scale")
        play()
