# SPDX-License-Identifier: GPL-3.0-or-later
"""A native chain says what its drivers do not know of, and nothing else."""

import bpy
import pytest
from rigs import add_target, leg_with_target

from ik2d_addon.bake import bake
from ik2d_addon.core import IK2DError
from ik2d_addon.features.native import make_native, remove_native
from ik2d_addon.features.native.changes import changed_since_made
from ik2d_addon.rig.chain.native_state import acts


def native_leg():
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    return armature, chain, make_native(armature, chain)


def another_target(armature, chain):
    chain.target = add_target({1: (0.0, 0.5, 0.8)}, "Other")


def another_length(armature, chain):
    chain.bone_count = 1


def a_limit(armature, chain):
    chain.joints["shin"].use_limit = True


def a_keyed_foot(armature, chain):
    chain.hand_rotation = 'WORLD'


def another_rest(armature, chain):
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    armature.data.edit_bones["shin"].tail.z += 0.2
    bpy.ops.object.mode_set(mode='OBJECT')


def no_probe(armature, chain):
    bpy.data.objects.remove(chain.native_probe)


def no_constraint(armature, chain):
    bone = armature.pose.bones["thigh"]
    bone.constraints.remove(bone.constraints[0])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (another_target, "its target is another one"),
        (another_length, "it has other bones"),
        (a_limit, "its settings are others"),
        (a_keyed_foot, "its settings are others"),
        (another_rest, "its bones are others in rest"),
        (no_probe, "parts of it are gone"),
        (no_constraint, "parts of it are gone"),
    ],
)
def test_what_its_drivers_do_not_know_of_is_said_and_it_acts_no_more_as_it_was(change, words):
    armature, chain, _ = native_leg()
    bake(armature, frame_start=1, frame_end=5)
    change(armature, chain)
    with pytest.raises(IK2DError, match=f"is on drivers, but {words}; remove these, then convert again"):
        make_native(armature, chain)
    assert not acts(chain) and changed_since_made(chain) == words


def test_a_copy_that_hangs_on_the_originals_empties_says_so():
    armature, chain, _ = native_leg()
    copy = armature.copy()
    bpy.context.scene.collection.objects.link(copy)
    assert changed_since_made(copy.ik2d.chains[0]) == "its empties are those of another armature"
    remove_native(copy, copy.ik2d.chains[0])
    make_native(copy, copy.ik2d.chains[0])
    assert not changed_since_made(copy.ik2d.chains[0]) and not changed_since_made(chain)


def test_what_makes_no_difference_to_the_drivers_is_no_change():
    armature, chain, native = native_leg()
    assert not changed_since_made(chain)
    armature.data.bones["thigh"].name, chain.name = "upper", "leg"
    bpy.context.view_layer.objects.active = armature
    for mode in ('EDIT', 'OBJECT'):
        bpy.ops.object.mode_set(mode=mode)
    bpy.context.view_layer.update()
    chain.softness, chain.tolerance = 0.1, 0.5
    native.controls["softness"] = 0.2
    bake(armature, frame_start=1, frame_end=5)
    assert not changed_since_made(chain)
    make_native(armature, chain)
    assert acts(chain)
