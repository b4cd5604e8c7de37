# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a posed chain is from its plane and from even scales."""

import bpy
import numpy as np
import pytest
from faults import uneven
from mathutils import Matrix

from ik2d_addon.features.doctor import operators as drawn
from ik2d_addon.rig.pose.measures import is_uneven
from ik2d_addon.rig.pose.measures import uneven as uneven_bones


def test_a_finding_is_of_the_rig_as_it_is_after_undo():
    armature, chain = uneven()
    bpy.ops.ed.undo_push(message="uneven")
    assert len(drawn.findings_of(bpy.context, armature, chain)) == 1
    armature.scale = (1.0, 1.0, 1.0)
    bpy.ops.ed.undo_push(message="even")
    bpy.ops.ed.undo()
    armature = bpy.data.objects["Rig"]
    bpy.context.view_layer.update()
    (finding,) = drawn.findings_of(bpy.context, armature, armature.ik2d.chains[0])
    assert finding.kind == 'UNEVEN_SCALE'


@pytest.mark.parametrize("part, expected", [(0.0, False), (0.4e-3, False), (1e-3, True), (0.5, True)])
def test_scales_that_differ_from_axis_to_axis_are_uneven(part, expected):
    turned = np.array(Matrix.Rotation(0.7, 3, (1, 2, 3)))
    matrices = np.repeat((turned @ np.diag([2.0, 2.0 * (1.0 + part), 2.0]))[None], 3, axis=0)
    assert is_uneven(matrices) == expected
    matrices[:2] = turned  # even, but for the last frame
    assert is_uneven(matrices) == expected
    assert not is_uneven(np.repeat(-2.0 * turned[None], 2, axis=0))


def test_of_several_bones_each_is_told_that_is_uneven_at_some_frame():
    scales = np.array([[[1.0, 1.0, 1.0], [1.0, 1.1, 1.0], [1e-3, 1e-3, 2e-3]], np.ones((3, 3))])
    matrices = scales[..., None] * np.eye(3)
    assert uneven_bones(matrices).tolist() == [False, True, False]  # of a bone's greatest size
    assert uneven_bones(matrices[:1]).tolist() == [False, True, True]
