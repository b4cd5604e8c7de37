# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones read as a mechanism: its joints, its drivers, and what is refused."""

import bpy
import numpy as np
import pytest
from machine_rigs import add_machine
from machines import MACHINES, four_bar, landing_gear, slider_crank
from rigs import add_target

from ik2d_addon.chains import add_mechanism, add_pin, add_slide, drive
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.mechanism.read import outside, read_mechanism


@pytest.mark.parametrize("make", MACHINES, ids=lambda make: make.__name__)
def test_it_has_the_freedoms_of_the_machine(make):
    machine = make()
    rig = read_mechanism(*add_machine(machine))
    there, wanted = rig.core.mobility(), machine.mechanism.mobility()
    assert (there.freedoms, there.drivers, there.fault) == (wanted.freedoms, wanted.drivers, "")
    assert rig.size == pytest.approx(machine.mechanism.size, rel=0.5)


def test_bones_that_hang_on_different_ones_are_refused():
    armature, mechanism = add_machine(four_bar(), base=True)
    bpy.ops.object.mode_set(mode='EDIT')
    armature.data.edit_bones["rocker"].parent = None
    bpy.ops.object.mode_set(mode='OBJECT')
    with pytest.raises(IK2DError, match="'rocker' hangs on 'Rig' and 'crank' on 'base'"):
        read_mechanism(armature, mechanism)


def test_a_line_of_a_bone_that_is_not_of_the_frame_is_refused():
    armature, mechanism = add_machine(slider_crank(), base=True)
    assert read_mechanism(armature, mechanism).frame == "base"
    bpy.ops.object.mode_set(mode='EDIT')
    armature.data.edit_bones["track"].parent = None
    bpy.ops.object.mode_set(mode='OBJECT')
    with pytest.raises(IK2DError, match="'track' is neither a bone of the mechanism nor one of its frame"):
        read_mechanism(armature, mechanism)


def test_a_slide_without_another_bone_is_along_the_bone():
    armature, mechanism = add_machine(slider_crank())
    mechanism.joints.clear()
    add_slide(mechanism, "piston", 'HEAD', None, keeps_angle=True)
    (joint,) = read_mechanism(armature, mechanism).joints
    along = armature.data.bones["piston"].matrix_local.to_3x3().col[1]
    assert joint.other == "" and joint.along == pytest.approx(along, abs=1e-6)


def test_a_ram_needs_a_stroke_and_is_driven_by_its_length():
    armature, mechanism = add_machine(landing_gear())
    (driver,) = read_mechanism(armature, mechanism).drivers
    assert driver.kind == 'RAM' and driver.path == "ik2d.mechanisms[0].drivers[0].length"
    mechanism.joints[-1].stroke = 1.0, 0.5
    with pytest.raises(IK2DError, match="the stroke of 'ram' goes from 1 to 0.5"):
        read_mechanism(armature, mechanism)
    mechanism.drivers[0].kind = 'TURN'
    with pytest.raises(IK2DError, match="'ram' is a part of a ram; drive it by its Length"):
        read_mechanism(armature, mechanism)


def test_targets_that_are_lost_or_moved_by_it_are_refused():
    armature, mechanism = add_machine(four_bar())
    mechanism.drivers.clear()
    driver = drive(mechanism, "coupler", armature, "rocker")
    with pytest.raises(IK2DError, match="it moves the target of 'coupler' itself"):
        read_mechanism(armature, mechanism)
    driver.subtarget = "gone"
    with pytest.raises(IK2DError, match="the target of 'coupler' is lost"):
        read_mechanism(armature, mechanism)
    driver.target, driver.subtarget = add_target({1: (0, 0, 0)}), ""
    rig = read_mechanism(armature, mechanism)
    assert rig.drivers[0].body in ("crank", "rocker") and rig.followed == [(driver.target, "")]
    drive(mechanism, "crank")
    with pytest.raises(IK2DError, match="no freedom left for a target"):
        read_mechanism(armature, mechanism)


def test_it_turns_all_bones_but_those_that_chains_turn():
    armature, mechanism = add_machine(four_bar())
    rig = read_mechanism(armature, mechanism)
    assert set(rig.turned_bones) == {"crank", "coupler", "rocker"}
    assert set(rig.with_chains({"crank"}).turned_bones) == {"coupler", "rocker"}
    with pytest.raises(IK2DError, match="a chain turns 'coupler' too"):
        rig.with_chains({"coupler"})


def test_other_side_and_bones_that_do_not_inherit_rotation():
    armature, mechanism = add_machine(four_bar())
    mechanism.bones["coupler"].other_side = True
    assert read_mechanism(armature, mechanism).core.sides == {"coupler"}
    armature.data.bones["coupler"].use_inherit_rotation = False
    with pytest.raises(IK2DError, match="'coupler' does not inherit rotation"):
        read_mechanism(armature, mechanism)


def test_a_loop_of_a_bone_that_is_not_there_is_refused():
    armature, mechanism = add_machine(four_bar())
    mechanism.bones[0].name = "gone"
    with pytest.raises(IK2DError, match="the armature 'Rig' has no bone 'gone'"):
        read_mechanism(armature, mechanism)
    lone = add_mechanism(armature, ["crank", "coupler"])
    lone.bones.remove(1)
    with pytest.raises(IK2DError, match="a mechanism needs two bones or more"):
        read_mechanism(armature, lone)


def test_a_dead_rest_pose_is_told():
    armature, mechanism = add_machine(four_bar())
    mechanism.joints.clear()
    add_pin(mechanism, "coupler", 'TAIL', None)
    with pytest.raises(IK2DError, match="freedom|drivers|jams|dead point"):
        read_mechanism(armature, mechanism)


def test_places_of_the_world_come_into_the_plane():
    armature, mechanism = add_machine(four_bar())
    rig = read_mechanism(armature, mechanism)
    places = np.array([rig.plane.lift([[0.3, 0.7]])[0], rig.plane.origin])
    worlds = np.tile(np.eye(4), (2, 1, 1))
    assert outside(rig, places, worlds, None) == pytest.approx(np.array([[0.3, 0.7], [0, 0]]), abs=1e-6)
