# SPDX-License-Identifier: GPL-3.0-or-later
"""Taking away what makes a chain native."""

import bpy
from native_rigs import two_legs
from rigs import leg_with_target

from ik2d_addon.features.native import is_native, make_native, remove_native


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
