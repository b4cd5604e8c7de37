# SPDX-License-Identifier: GPL-3.0-or-later
"""The two hidden empties."""

import bpy
import numpy as np
from native_rigs import random_limb, two_legs
from rigs import leg_with_target

from ik2d_addon.features.native import is_native, make_native, remove_native
from ik2d_addon.features.native.empties import add_empties, remove_empties
from ik2d_addon.rig.chain.chain import read_chain


def test_the_probe_has_the_target_in_the_chains_plane():
    armature, chain = random_limb(np.random.default_rng(4))
    rig = read_chain(armature, chain)
    both, _ = add_empties(rig)
    both.controls.hide_viewport = both.target_copy.hide_viewport = False  # nothing else needs them yet
    bpy.context.scene.frame_set(3)
    body = armature.pose.bones["body"]
    held = armature.matrix_world @ body.matrix @ body.bone.matrix_local.inverted()
    point = np.array(held.inverted() @ chain.target.matrix_world.translation)
    shown = both.target_copy.evaluated_get(bpy.context.evaluated_depsgraph_get())
    place = both.controls.matrix_world.inverted() @ shown.matrix_world.translation
    assert np.abs(rig.plane.project([point])[0] - np.array(place)[:2]).max() < 1e-5


def test_nothing_shows_them_and_they_stand_beside_the_armature():
    armature, _ = leg_with_target()
    inside = bpy.data.collections.new("inside")
    bpy.context.scene.collection.children.link(inside)
    inside.objects.link(armature)
    bpy.context.scene.collection.objects.unlink(armature)
    both, _ = add_empties(read_chain(armature, armature.ik2d.chains[0]))
    for empty in (both.controls, both.target_copy):
        assert empty.hide_viewport and empty.hide_render and empty.users_collection == (inside,)


def test_they_go_with_actions_that_are_theirs_alone():
    armature, _ = leg_with_target()
    both, _ = add_empties(read_chain(armature, armature.ik2d.chains[0]))
    both.controls.keyframe_insert("location", frame=1)
    shared = both.target_copy.animation_data_create()
    shared.action = bpy.data.actions.new("shared")
    shared.action.use_fake_user = True
    remove_empties(None, both.controls, both.target_copy)
    assert "shared" in bpy.data.actions
    assert sorted(ob.name for ob in bpy.data.objects) == ["Rig", "Target"] and len(bpy.data.actions) == 2


def test_a_chain_that_is_not_native_stays_as_it_is():
    armature, _ = leg_with_target()
    remove_native(armature, armature.ik2d.chains[0])
    assert not armature.ik2d.chains[0].is_property_set("native_constraint")


def test_other_native_chains_and_drivers_stay():
    armature = two_legs()
    for chain in armature.ik2d.chains:
        make_native(armature, chain)
    armature.pose.bones["body"].driver_add("location", 0).driver.expression = "0.5"
    remove_native(armature, armature.ik2d.chains[0])
    assert is_native(armature.ik2d.chains["right"]) and armature.pose.bones["right shin"].constraints
    assert not armature.pose.bones["left shin"].constraints
    assert any(curve.data_path.endswith("location") for curve in armature.animation_data.drivers)
    remove_native(armature, armature.ik2d.chains["right"])
    assert len(armature.animation_data.drivers) == 1 and len(bpy.data.objects) == 3


def test_constraints_are_found_after_their_bones_left_the_chain():
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    make_native(armature, chain)
    chain.bone_count = 1
    remove_native(armature, chain)
    assert not any(len(bone.constraints) for bone in armature.pose.bones)
