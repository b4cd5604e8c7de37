# SPDX-License-Identifier: GPL-3.0-or-later
"""The headings that a last bone is to have, by the samples of its chain."""

import bpy
import numpy as np
import pytest
from rigs import add_chain, add_leg, add_target

from ik2d_addon.core.inputs import wrapped
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.pose.bone_matrices import rest_to_pose
from ik2d_addon.rig.pose.joint_angles import rest_directions
from ik2d_addon.rig.pose.tip_headings import wanted_headings
from ik2d_addon.rig.scene.sampler import sample_now


def headings(armature, target, turn: float, **settings):
    chain = add_chain(armature, "shin", target, **settings)
    target.rotation_euler.x = turn
    bpy.context.view_layer.update()
    rig = read_chain(armature, chain)
    (samples,) = sample_now(bpy.context.scene, [rig]).chains
    found = wanted_headings(rig, samples, rest_to_pose(rig, samples))
    if found is None:
        return None, None
    sign = float(np.sign(rig.plane.normal[0]))
    return float(wrapped(found[0] - rest_directions(rig)[-1])), sign


def test_free_bone_has_no_heading():
    armature, target = add_leg(), add_target({1: (0, 0.2, 0.4)})
    assert headings(armature, target, 0.4) == (None, None)


@pytest.mark.parametrize("scale", [(1, 1, 1), (2, 2, 2), (-1, 1, 1), (1, -1, 1), (-1, -1, -1)])
def test_object_turns_the_bone_about_the_planes_normal_however_the_armature_is_scaled(scale):
    armature, target = add_leg(), add_target({1: (0, 0.2, 0.4)})
    armature.scale = scale
    turned, sign = headings(armature, target, 0.4, tip_rotation='TARGET')
    mirrored = scale[1] * scale[2] < 0
    assert turned == pytest.approx(-sign * 0.4 if mirrored else sign * 0.4, abs=1e-6)


def test_bone_above_the_chain_turns_a_bone_back_that_keeps_its_heading():
    armature, target = add_leg(), add_target({1: (0, 0.2, 0.4)})
    body = armature.pose.bones["body"]
    body.rotation_mode, body.rotation_euler = 'XYZ', (0.3, 0, 0)
    turned, sign = headings(armature, target, 0.4, tip_rotation='WORLD', tip_angle_offset=0.1)
    assert turned == pytest.approx(-sign * 0.3 + 0.1, abs=1e-6)
