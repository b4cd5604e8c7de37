# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands and feet on drivers: as the add-on turns them, by Blender's evaluated pose."""

import bpy
import numpy as np
import pytest
from foot_rigs import lift_control, plain_leg, random_leg
from native_rigs import contents
from rigs import add_target
from snapshots import differences, everything
from test_feet import EXACT, allowed, leg_in, lowest
from test_hands import FRAMES, add_walker, apart, nod, turns_on

from ik2d_addon.bake import bake, solve
from ik2d_addon.core import IK2DError
from ik2d_addon.features.native import is_native, make_native, remove_native
from ik2d_addon.features.native.changes import changed_since_made

ROLLS = (-0.6, 0.0, 0.4, 1.0)


def set_control(leg, name: str, value: float) -> None:
    """Set a control of a native chain."""
    controls = leg.chain.native_stand
    controls[name] = value
    controls.update_tag()
    bpy.context.view_layer.update()


@pytest.mark.parametrize("plane", ['AUTO', 'SWING', 'POLE'])
@pytest.mark.parametrize("seed", range(8))
def test_a_foot_on_drivers_is_where_a_solve_puts_it(seed, plane):
    leg = leg_in(plane, seed)
    make_native(leg.armature, leg.chain)
    set_control(leg, "toe", 0.2)
    found = []
    for roll in ROLLS:
        set_control(leg, "roll", roll)
        found.append(leg.pivots())
    remove_native(leg.armature, leg.chain)
    leg.chain.foot.toe = 0.2
    for roll, was in zip(ROLLS, found, strict=True):
        leg.chain.foot.roll = roll
        solve(leg.armature)
        for name, place in leg.pivots().items():
            assert np.abs(place - was[name]).max() <= 2.0 * allowed(leg, plane), name


@pytest.mark.parametrize("kind", ['WORLD', 'TARGET'])
@pytest.mark.parametrize("bone_target", [False, True])
def test_a_hand_on_drivers_has_its_rotation(kind, bone_target):
    armature, target, chain = add_walker()
    if bone_target:
        control = armature.pose.bones["control"]
        for frame, place in ((1, (0.0, 0.3, 0.1)), (24, (0.2, 0.0, 0.3))):
            control.location, control.rotation_quaternion = place, (1.0, 0.3 * place[0], place[2], 0.1)
            control.keyframe_insert("location", frame=frame)
            control.keyframe_insert("rotation_quaternion", frame=frame)
        chain.target, chain.subtarget = armature, "control"
    else:
        nod(target, {1: -0.4, 12: 0.5, 24: 0.1})
    chain.hand_rotation = kind
    make_native(armature, chain)
    found = turns_on(FRAMES, armature)
    remove_native(armature, chain)
    bake(armature)
    assert apart(found, turns_on(FRAMES, armature)) <= 1e-5


def test_keys_of_a_roll_come_along_and_a_bake_reads_the_controls():
    leg = plain_leg()
    lift_control(leg, 0.2)
    for frame, roll in ((1, -0.5), (10, 0.0), (20, 1.0)):
        leg.chain.foot.roll = roll
        leg.chain.foot.keyframe_insert("roll", frame=frame)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 20
    make_native(leg.armature, leg.chain)
    found = {}
    for frame in range(1, 21):
        scene.frame_set(frame)
        found[frame] = leg.pivots()
    standing = np.array([found[frame]["heel"] for frame in range(1, 11)])
    assert np.abs(standing - standing[0]).max() <= 2.0 * EXACT
    bake(leg.armature)
    for frame in range(1, 21):
        scene.frame_set(frame)
        for name, place in leg.pivots().items():
            assert np.abs(place - found[frame][name]).max() <= 3.0 * EXACT


def test_a_height_holds_a_foot_on_drivers_up():
    leg = plain_leg()
    lift_control(leg, 0.3)
    floor = add_target({}, "Floor")
    floor.location.z = float(leg.control.matrix_world.translation.z) - 0.04
    leg.chain.foot.ground, leg.chain.foot.use_ground = floor, True
    bpy.context.view_layer.update()
    make_native(leg.armature, leg.chain)
    for roll in ROLLS:
        set_control(leg, "roll", roll)
        assert lowest(leg) == pytest.approx(floor.location.z, abs=3e-6)
    floor.location.z -= 1.0
    set_control(leg, "roll", 0.0)
    assert lowest(leg) > floor.location.z + 0.5


@pytest.mark.parametrize("seed", range(3))
def test_removing_leaves_no_trace(seed):
    leg = random_leg(seed)
    leg.chain.foot.ground, leg.chain.foot.use_ground = add_target({}, "Floor"), True
    leg.chain.foot.ground.location.z = -1000.0
    bpy.context.view_layer.update()
    contents(leg.armature)
    before = everything(), contents(leg.armature)
    make_native(leg.armature, leg.chain)
    assert is_native(leg.chain) and not changed_since_made(leg.chain)
    leg.chain.foot.heel[1] += 0.01
    assert changed_since_made(leg.chain) == "its settings are others"
    leg.chain.foot.heel[1] -= 0.01
    remove_native(leg.armature, leg.chain)
    found = differences(before, (everything(), contents(leg.armature)))
    assert [one for one in found if "heel" not in one] == []


def refused(leg, match: str) -> None:
    before = everything()
    with pytest.raises(IK2DError, match=match):
        make_native(leg.armature, leg.chain)
    assert differences(before, everything()) == []


def test_a_mesh_to_stand_on_is_refused():
    leg = plain_leg()
    bpy.ops.mesh.primitive_plane_add(size=2.0)
    leg.chain.foot.ground = bpy.context.object
    refused(leg, "its foot stands on the mesh 'Plane'.*choose an empty")


def test_a_hand_with_keys_of_its_own_is_refused():
    leg = plain_leg()
    leg.armature.pose.bones["toes"].keyframe_insert("rotation_quaternion", frame=1)
    refused(leg, "has keys of its own")


def test_a_scaled_hand_and_one_without_its_parents_scale_are_refused():
    leg = plain_leg()
    leg.armature.pose.bones["foot"].scale = (1.2, 1.2, 1.2)
    refused(leg, "the bone 'foot' on its tip is scaled")
    leg.armature.pose.bones["foot"].scale = (1.0, 1.0, 1.0)
    leg.armature.data.bones["foot"].inherit_scale = 'NONE'
    refused(leg, "the bone 'foot' on its tip does not inherit scale")
