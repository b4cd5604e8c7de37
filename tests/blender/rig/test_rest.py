# SPDX-License-Identifier: GPL-3.0-or-later
"""A bone at rest, held to Blender's own numbers."""

import numpy as np
import pytest
from rigs import add_leg, add_target

from ik2d_addon.rig.rest import rest_axes, rest_bone, rest_matrix, rest_tail


def test_a_rest_matrix_has_blender_s_own_numbers():
    bone = add_leg().data.bones["shin"]
    rest = rest_matrix(bone)
    assert rest.shape == (4, 4) and rest.dtype == np.float64
    assert rest.tolist() == [list(row) for row in bone.matrix_local]


def test_rest_axes_are_orthonormal_along_the_bone():
    bone = add_leg().data.bones["shin"]
    axes = rest_axes(bone)
    assert axes.T @ axes == pytest.approx(np.eye(3), abs=1e-12)
    assert axes == pytest.approx(rest_matrix(bone)[:3, :3], abs=1e-4)
    assert axes[:, 1] == pytest.approx(np.array((bone.tail_local - bone.head_local).normalized()), abs=1e-4)


def test_a_bone_at_rest_is_one_of_an_armature_object():
    armature, target = add_leg(), add_target({})
    assert rest_bone(armature, "shin") == armature.data.bones["shin"]
    for ob, name in ((armature, "tail"), (armature, ""), (target, "shin"), (None, "shin")):
        assert rest_bone(ob, name) is None


def test_the_tail_is_where_the_matrix_has_it():
    bone = add_leg().data.bones["shin"]
    head, axes = rest_matrix(bone)[:3, 3], rest_matrix(bone)[:3, :3]
    assert rest_tail(bone) == pytest.approx(head + bone.length * axes[:, 1], abs=1e-15)
    assert rest_tail(bone) == pytest.approx(np.array(bone.tail_local), abs=1e-4)
