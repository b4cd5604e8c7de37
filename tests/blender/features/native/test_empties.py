# SPDX-License-Identifier: GPL-3.0-or-later
"""The two hidden empties."""

import bpy
import numpy as np
from native_rigs import random_limb
from rigs import leg_with_target

from ik2d_addon.features.native.empties import add_empties, remove_empties
from ik2d_addon.rig.chain.chain import read_chain


def test_the_probe_has_the_target_in_the_chains_plane():
    armature, chain = random_limb(np.random.default_rng(4))
    rig = read_chain(armature, chain)
    both = add_empties(rig)
    both.stand.hide_viewport = both.probe.hide_viewport = False  # nothing else needs them yet
    bpy.context.scene.frame_set(3)
    body = armature.pose.bones["body"]
    held = armature.matrix_world @ body.matrix @ body.bone.matrix_local.inverted()
    point = np.array(held.inverted() @ chain.target.matrix_world.translation)
    shown = both.probe.evaluated_get(bpy.context.evaluated_depsgraph_get())
    place = both.stand.matrix_world.inverted() @ shown.matrix_world.translation
    assert np.abs(rig.plane.project([point])[0] - np.array(place)[:2]).max() < 1e-5


def test_nothing_shows_them_and_they_stand_beside_the_armature():
    armature, _ = leg_with_target()
    inside = bpy.data.collections.new("inside")
    bpy.context.scene.collection.children.link(inside)
    inside.objects.link(armature)
    bpy.context.scene.collection.objects.unlink(armature)
    both = add_empties(read_chain(armature, armature.ik2d.chains[0]))
    for empty in (both.stand, both.probe):
        assert empty.hide_viewport and empty.hide_render and empty.users_collection == (inside,)


def test_they_go_with_actions_that_are_theirs_alone():
    armature, _ = leg_with_target()
    both = add_empties(read_chain(armature, armature.ik2d.chains[0]))
    both.stand.keyframe_insert("location", frame=1)
    shared = both.probe.animation_data_create()
    shared.action = bpy.data.actions.new("shared")
    shared.action.use_fake_user = True
    remove_empties(None, both.stand, both.probe)
    assert "shared" in bpy.data.actions
    assert sorted(ob.name for ob in bpy.data.objects) == ["Rig", "Target"] and len(bpy.data.actions) == 2
