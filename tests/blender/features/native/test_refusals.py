# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps a chain from being native, in words."""

import bpy
import pytest
from ik_rigs import tail_of_five
from rigs import add_armature, add_chain, add_target, disconnect, errors_on, leg_with_target, set_slide

from ik2d_addon.core import IK2DError
from ik2d_addon.features.native import make_native


def unlocated(armature, chain):
    armature.pose.bones["thigh"].location = (0.0, 0.1, 0.0)


def keyed_location(armature, chain):
    bone = armature.pose.bones["thigh"]
    bone.location = (0.0, 0.1, 0.0)
    bone.keyframe_insert("location", frame=3)
    bone.location = (0.0, 0.0, 0.0)


def driven_location(armature, chain):
    armature.pose.bones["thigh"].driver_add("location", 0)


def driven_scale(armature, chain):
    armature.pose.bones["shin"].driver_add("scale", 1).driver.expression = "1"


def no_rotation(armature, chain):
    armature.data.bones["shin"].use_inherit_rotation = False


def scale_of_root(armature, chain):
    armature.data.bones["thigh"].inherit_scale = 'ALIGNED'


def scale_of_knee(armature, chain):
    armature.data.bones["shin"].inherit_scale = 'NONE'


def scaled(armature, chain):
    armature.pose.bones["shin"].scale = (1.0, 1.0, 2.0)


def locked(armature, chain):
    armature.pose.bones["shin"].lock_rotation = (True, True, True)


def free_along(armature, chain):
    armature.pose.bones["thigh"].lock_rotation = (True, False, True)


def weight(armature, chain):
    chain.joints["shin"].weight = 0.5


def slides(armature, chain):
    set_slide(chain, "thigh", -0.1, 0.1)


def limits_and_stretch(armature, chain):
    armature.data.bones["shin"].inherit_scale = 'ALIGNED'
    chain.stretch, chain.joints["shin"].use_limit, chain.joints["shin"].limit_max = 1.5, True, 1.0


def slow_flip(armature, chain):
    chain.joints["shin"].use_limit, chain.joints["shin"].limit_max = True, 1.0
    chain.keyframe_insert("turn_over", frame=1)


def other_controls(armature, chain):
    armature.pose.bones["shin"].constraints.new('IK').target = chain.target


def shared(armature, chain):
    make_native(armature, add_chain(armature, "shin", chain.target, name="other"))


def below(armature, chain):
    chain.target.parent, chain.target.parent_type = armature, 'BONE'
    chain.target.parent_bone = "shin"


@pytest.mark.parametrize(
    "change, words",
    [
        (unlocated, "bone 'thigh' is moved by its own location; move the bone above"),
        (keyed_location, "bone 'thigh' is moved by its own location.*keys"),
        (
            driven_location,
            "location of the bone 'thigh' has a driver on X; move .* delete or mute that driver",
        ),
        (driven_scale, "scale of the bone 'shin' has a driver on Y; scale .* delete or mute that driver"),
        (no_rotation, "bone 'shin' does not inherit rotation; turn on"),
        (scale_of_root, "bone 'thigh' inherits scale by 'Aligned'; set Inherit Scale to Full"),
        (scale_of_knee, "bone 'shin' inherits scale by 'None'; set Inherit Scale to Full, or to Aligned"),
        (scaled, "bone 'shin' is scaled; scale the bone above"),
        (locked, "locks hold the bone 'shin'; unlock"),
        (free_along, "locks leave the bone 'thigh' only 'Y', about which it does not bend.*unlock"),
        (weight, "bone 'shin' has a flexibility of 0.5; set its Flexibility to 1"),
        (slides, "bones that slide cannot be; turn Slide off"),
        (limits_and_stretch, "limits and stretches.*turn off the limits, or Stretch"),
        (slow_flip, "turns over slowly.*key Bend instead"),
        (other_controls, "moved by the IK constraint 'IK' of bone 'shin'.*mute it"),
        (shared, "bone 'thigh' is turned by chain 'other' on drivers already; make"),
        (below, "its target 'Target' is moved by the chain itself.*choose a target that does not"),
    ],
)
def test_what_cannot_be_is_said_with_the_bone_and_the_way_out(change, words):
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    disconnect(armature)
    change(armature, chain)
    objects = len(bpy.data.objects)
    with pytest.raises(IK2DError, match=words):
        make_native(armature, chain)
    assert len(bpy.data.objects) == objects
    assert not chain.is_property_set("native_constraint")


def test_too_many_bones_are_refused():
    bones = {
        f"b{i}": ((0, i, 0.1 * (i % 2)), (0, i + 1, 0.1 * ((i + 1) % 2)), f"b{i - 1}" if i else "", 0.0)
        for i in range(13)
    }
    armature = add_armature(bones)
    chain = add_chain(armature, "b12", add_target({1: (0, 1, 1)}), 13)
    with pytest.raises(IK2DError, match="13 bones, and up to 12 can be; bake it"):
        make_native(armature, chain)


@pytest.mark.parametrize(
    "scale, words",
    [
        ((1.0, 1.0, 1.2), "'Rig', or a bone from 'body' up, is scaled unevenly"),
        ((-1.0, 1.0, 1.0), "mirrored"),
    ],
)
@pytest.mark.parametrize("rule", ['SWING', 'POLE', 'ARC'])
def test_a_plane_that_swings_takes_even_scale(rule, scale, words):
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    chain.pole, chain.plane = add_target({1: (0.5, -2.0, 1.0)}, "Pole"), rule
    armature.scale = scale
    bpy.context.view_layer.update()
    if rule == 'ARC' and scale[0] < 0.0:
        make_native(armature, chain)
        assert errors_on([1, 10, 20], armature, chain).max() < 1e-5
        return
    with pytest.raises(IK2DError, match=rf"{words}.*apply the scale, or bake it instead"):
        make_native(armature, chain)
    chain.plane = 'AUTO'
    make_native(armature, chain)


def test_a_foot_with_a_rotation_and_keys_of_its_own_is_refused():
    armature = add_armature(
        {
            "thigh": ((0, 0, 2), (0, -0.1, 1), "", 0.0),
            "shin": ((0, -0.1, 1), (0, 0, 0.1), "thigh", 0.0),
            "foot": ((0, 0, 0.1), (0, -0.3, 0), "shin", 0.0),
        }
    )
    chain = add_chain(armature, "shin", add_target({1: (0, 0.2, 0.4)}), hand_rotation='WORLD')
    armature.pose.bones["foot"].keyframe_insert("rotation_quaternion", frame=1)
    with pytest.raises(IK2DError, match="'foot' on its tip has keys of its own.*delete them"):
        make_native(armature, chain)
    chain.hand_rotation = 'NONE'
    make_native(armature, chain)


@pytest.mark.slow
def test_ik_that_goes_on_above_the_chain_is_refused_even_where_it_is_muted():
    armature = tail_of_five()
    constraint = armature.pose.bones["tail4"].constraints[0]
    constraint.mute = True
    chain = add_chain(armature, "tail4", constraint.target, 3)
    with pytest.raises(IK2DError, match="continues up to 'tail0'.*lower its Chain Length to 3, or remove it"):
        make_native(armature, chain)
    constraint.chain_count = 3
    make_native(armature, chain)
    assert errors_on([1, 10, 20], armature, chain).max() < 1e-5


def test_muted_constraints_and_keys_at_rest_are_no_hindrance():
    armature, _ = leg_with_target()
    disconnect(armature)
    armature.pose.bones["thigh"].keyframe_insert("location", frame=1)
    armature.pose.bones["shin"].constraints.new('IK').mute = True
    make_native(armature, armature.ik2d.chains[0])
