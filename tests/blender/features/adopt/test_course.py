# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose that an IK starts from, the course of a limb, and the spin of a pole."""

from math import radians

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector
from stranger_rigs import limb_with_pole

from ik2d_addon.features.adopt.course import own_pose, read_course, span, spins, targets_of
from ik2d_addon.features.adopt.limbs import limbs_of
from ik2d_addon.features.adopt.poses import watched

TOLERANCE = 1e-5  # of the limb's length


@pytest.mark.parametrize("seed", range(4))
def test_the_own_pose_is_blenders_without_the_ik(seed):
    armature = limb_with_pole(seed, count=3, own=radians(40.0), scaled=True)
    bones = [armature.pose.bones[f"b{i}"] for i in range(3)]
    bones[2].constraints[0].mute = True
    bpy.context.view_layer.update()
    joints, first = own_pose(bones)
    torso = armature.pose.bones["torso"]
    held = torso.matrix @ torso.bone.matrix_local.inverted()
    shown = [held.inverted() @ place for place in (*(bone.head for bone in bones), bones[2].tail)]
    reach = np.linalg.norm(np.diff(joints, axis=0), axis=1).sum()
    assert np.abs(joints - np.array(shown)).max() <= TOLERANCE * reach
    axes = np.array((held.inverted() @ bones[0].matrix).to_quaternion().to_matrix())
    assert np.abs(first - axes).max() <= TOLERANCE


def test_the_course_is_in_the_space_that_holds_the_limb():
    armature = limb_with_pole(3)
    scene = bpy.context.scene
    limbs = limbs_of(armature, (1.0, 9.0)).limbs
    course = read_course(limbs[0], watched(scene, armature, [limbs[0].bones], targets_of(limbs), [1, 5, 9]))
    root = np.array(armature.data.bones["b0"].head_local)
    reach = sum(armature.data.bones[name].length for name in limbs[0].bones)
    assert np.abs(course.joints[:, 0] - root).max() <= TOLERANCE * reach
    assert np.linalg.norm(course.joints[:, -1] - course.targets, axis=1).max() <= 1e-3 * reach  # by the IK
    assert course.poles is not None and len(course.poles) == 3


def test_the_spin_is_the_angle_about_the_line_and_weighs_as_much_as_it_says():
    line, side = np.array([[0.0, 0.0, 2.0]]), np.array([[1.0, 0.0, 5.0]])
    for angle in (-3.0, -0.4, 1.2):
        area = np.array(Matrix.Rotation(angle, 3, 'Z') @ Vector((3.0, 0.0, 1.0)))[None]
        found, weights = spins(line, side, area)
        assert found[0] == pytest.approx(angle, abs=1e-6) and weights[0] > 0.0
    for nothing in ((line, line, area), (line, side, line), (line, side, 0.0 * area)):
        assert spins(*nothing)[1][0] <= 1e-12


def test_a_span_is_twice_the_area_that_the_limb_encloses():
    joints = np.array([(0.0, 0.0, 0.0), (1.0, 1.0, 0.0), (2.0, 0.0, 0.0)])
    assert span(joints).tolist() == [0.0, 0.0, -2.0]
