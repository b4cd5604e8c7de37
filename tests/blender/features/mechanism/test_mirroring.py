# SPDX-License-Identifier: GPL-3.0-or-later
"""Mechanisms mirrored to the other side, where Blender's Symmetrize has made the bones: as mirror images."""

import bpy
import numpy as np
import pytest
from machine_rigs import add_machine, evaluated_openings
from machines import coupled_wheels, excavator, four_bar, geared_five_bar, jansen_leg, slider_crank
from mathutils import Quaternion, Vector
from rigs import add_armature, add_target, edit

from ik2d_addon.bake import bake
from ik2d_addon.chains import add_mechanism, add_pin, drive, mirror_mechanism
from ik2d_addon.core import IK2DError
from ik2d_addon.features.mechanism.editing import take_in
from ik2d_addon.rig.chain.renames import straighten

FRAMES = 25


def symmetrized(armature, mechanism):
    """Give all bones names of the left side, and a right side by Blender's Symmetrize."""
    for bone in armature.data.bones:
        bone.name = f"{bone.name}.L"
    mechanism.name = "machine.L"
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    bpy.ops.armature.select_all(action='SELECT')
    bpy.ops.armature.symmetrize()
    bpy.ops.object.mode_set(mode='OBJECT')
    return armature.ik2d.mechanisms[0]


def key_mirrored(armature, left, right):
    """Key the drivers of the right side on each frame as those of the left, mirrored."""
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        for own, other in zip(left.drivers, right.drivers, strict=True):
            if own.kind == 'RAM':
                other.length = own.length
                armature.keyframe_insert(other.path_from_id("length"), frame=frame)
            else:
                bone = armature.pose.bones[other.bone]
                bone.rotation_mode = 'QUATERNION'
                w, x, y, z = armature.pose.bones[own.bone].matrix_basis.to_quaternion()
                turn = Quaternion((w, x, -y, -z))
                turn.make_compatible(bone.rotation_quaternion)
                bone.rotation_quaternion = turn
                bone.keyframe_insert("rotation_quaternion", frame=frame)


def ends_on_frames(armature, side):
    """Return the ends (frames, bones, 2, 3) of a side's bones as evaluated, in the order of their names."""
    found = []
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        bones = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        its = sorted((bone for bone in bones if bone.name.endswith(side)), key=lambda bone: bone.name)
        found.append([(tuple(bone.head), tuple(bone.tail)) for bone in its])
    return np.array(found)


@pytest.mark.parametrize(
    "make", [four_bar, excavator, jansen_leg, slider_crank, geared_five_bar, coupled_wheels]
)
def test_the_other_side_moves_as_the_mirror_image(make):
    armature, left = add_machine(make(), FRAMES)
    left = symmetrized(armature, left)
    left.softness, left.bones[1].other_side = 0.05, False
    right = mirror_mechanism(left)
    left = armature.ik2d.mechanisms[0]
    assert [one.name for one in armature.ik2d.mechanisms] == ["machine.L", "machine.R"]
    assert right.softness == left.softness and right.dead == left.dead
    key_mirrored(armature, left, right)
    report = bake(armature, frame_start=1, frame_end=FRAMES)
    assert all(machine.is_closed for machine in report.mechanisms)
    both = [ends_on_frames(armature, side) for side in (".L", ".R")]
    size = np.ptp(both[0][0].reshape(-1, 3), axis=0).max()
    assert np.abs(both[0] * (-1.0, 1.0, 1.0) - both[1]).max() < 1e-5 * size
    assert evaluated_openings(right, range(1, FRAMES + 1)).max() < 2e-6
    assert mirror_mechanism(right) == left and len(left.joints) == len(right.joints)  # nothing is doubled


def test_a_bone_on_the_other_side_is_mirrored_too():
    armature, left = add_machine(four_bar(), FRAMES)
    left = symmetrized(armature, left)
    left.bones[left.bones.find("rocker")].other_side = True  # its name is followed next
    assert [bone.name for bone in mirror_mechanism(left).bones if bone.other_side] == ["rocker.R"]


# A crank in the middle moves a rocker on each side, in planes that are parallel.
SHARED = {"crank": ((0, 0, 0), (0, 0.3, 1.0), "", 0.0)} | {
    name: values
    for side, x in ((".L", 0.5), (".R", -0.5))
    for name, values in {
        f"coupler{side}": ((x, 0.3, 1.0), (x, 3.0, 2.0), "crank", 0.0),
        f"rocker{side}": ((x, 3.5, 0), (x, 3.0, 2.0), "", 0.0),
    }.items()
}


def half_of_shared():
    """Return the armature, and the mechanism of the crank and its left side."""
    armature = add_armature(SHARED)
    mechanism = add_mechanism(armature, ["crank", "coupler.L", "rocker.L"], "pump")
    add_pin(mechanism, "coupler.L", 'TAIL', "rocker.L")
    drive(mechanism, "crank")
    return armature, mechanism


def test_the_other_side_of_a_shared_crank_goes_into_the_same_mechanism():
    armature, mechanism = half_of_shared()
    crank = armature.pose.bones["crank"]
    axis = crank.bone.matrix_local.to_3x3().inverted() @ Vector((1.0, 0.0, 0.0))
    for frame, turn in ((1, 0.0), (FRAMES, 2.0)):
        crank.rotation_quaternion = Quaternion(axis, turn)
        crank.keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.view_layer.objects.active = armature
    assert bpy.ops.ik2d.mechanism_mirror() == {'FINISHED'}
    (both,) = armature.ik2d.mechanisms
    assert [driver.bone for driver in both.drivers] == ["crank"]
    assert [(joint.bone, joint.other) for joint in both.joints] == [
        ("coupler.L", "rocker.L"),
        ("coupler.R", "rocker.R"),
    ]
    report = bake(armature, frame_start=1, frame_end=FRAMES)
    assert report.mechanisms[0].is_closed
    sides = [ends_on_frames(armature, side) for side in (".L", ".R")]
    assert np.abs(sides[0] * (-1.0, 1.0, 1.0) - sides[1]).max() < 1e-5
    assert np.ptp(sides[1], axis=0).max() > 0.1


def test_a_target_is_mirrored_with_its_place():
    armature, left = add_machine(four_bar(), FRAMES)
    left = symmetrized(armature, left)
    left.drivers.clear()
    target = add_target({1: (1.0, 0.0, 2.0)}, "Goal.L")
    bpy.context.view_layer.update()
    drive(left, "coupler.L", target)
    right = mirror_mechanism(left)
    (driver,) = right.drivers
    assert (driver.kind, driver.bone, driver.target.name) == ('TARGET', "coupler.R", "Goal.R")
    assert tuple(driver.target.location) == pytest.approx((-1.0, 0.0, 2.0), abs=1e-6)


def pair_of_four_bars():
    """Return an armature with a four-bar on each side, and the mechanism of the left one."""
    armature = add_armature({**SHARED, "crank.L": SHARED["crank"], "crank.R": SHARED["crank"]})

    def hang(bones):
        for side in (".L", ".R"):
            bones[f"coupler{side}"].parent = bones[f"crank{side}"]

    edit(armature, hang)
    left = add_mechanism(armature, ["crank.L", "coupler.L", "rocker.L"], "bar.L")
    add_pin(left, "coupler.L", 'TAIL', "rocker.L")
    drive(left, "crank.L")
    return armature, left


def test_mirroring_again_follows_the_joints_and_keeps_what_drives():
    armature, left = pair_of_four_bars()
    right = add_mechanism(armature, ["crank.R", "coupler.R", "rocker.R"], "by hand")
    add_pin(right, "rocker.R", 'TAIL', "coupler.R")
    drive(right, "rocker.R")
    right.enabled = False
    left = armature.ik2d.mechanisms["bar.L"]
    left.softness = 0.07
    right = mirror_mechanism(left)
    assert (right.name, right.enabled, round(right.softness, 6)) == ("by hand", False, 0.07)
    assert [(one.bone, one.other) for one in right.joints] == [("coupler.R", "rocker.R")]
    assert [one.bone for one in right.drivers] == ["rocker.R"]


def test_a_bone_of_the_other_side_that_is_there_keeps_its_side():
    armature, mechanism = half_of_shared()
    take_in(mechanism, ["rocker.R"])
    mechanism.bones["rocker.L"].other_side = True
    both = mirror_mechanism(mechanism)
    assert [bone.name for bone in both.bones if bone.other_side] == ["rocker.L"]
    assert ("coupler.R", "rocker.R") in [(one.bone, one.other) for one in both.joints]


def test_a_driver_whose_target_is_gone_stays_one_of_a_target():
    armature, left = pair_of_four_bars()
    left.drivers.clear()
    target = add_target({1: (0, 1.0, 1.0)}, "Goal.L")
    drive(left, "coupler.L", target)
    bpy.data.objects.remove(target)
    (driver,) = mirror_mechanism(left).drivers
    assert (driver.kind, driver.bone, driver.target) == ('TARGET', "coupler.R", None)


def refused(mechanism):
    """Return why a mechanism is not mirrored; nothing must have changed."""
    armature = mechanism.id_data
    straighten(armature)
    before = [(one.name, one.bones.keys(), len(one.joints)) for one in armature.ik2d.mechanisms]
    with pytest.raises(IK2DError) as error:
        mirror_mechanism(mechanism)
    assert before == [(one.name, one.bones.keys(), len(one.joints)) for one in armature.ik2d.mechanisms]
    return str(error.value)


def test_what_cannot_be_mirrored_is_told():
    armature, mechanism = add_machine(four_bar(), FRAMES)
    assert "names no side; a name with .L or .R" in refused(mechanism)
    armature.data.bones["rocker"].name = "rocker.L"
    assert refused(armature.ik2d.mechanisms[0]) == (
        "Bone 'rocker.L' has no counterpart; there is no bone 'rocker.R'"
    )
    armature, mechanism = half_of_shared()
    add_mechanism(armature, ["coupler.R", "rocker.R"], "other")
    assert "'other' has the bone 'coupler.R' already" in refused(armature.ik2d.mechanisms[0])
    armature.ik2d.mechanisms.remove(1)
    mirror_mechanism(armature.ik2d.mechanisms[0])
    assert refused(armature.ik2d.mechanisms[0]) == "Mechanism 'pump' has both sides already"
    armature, left = pair_of_four_bars()
    edit(armature, lambda bones: setattr(bones["coupler.R"], "parent", None))
    assert refused(armature.ik2d.mechanisms[0]).startswith(
        "Bone 'coupler.R' has not the parent that 'coupler.L'"
    )
