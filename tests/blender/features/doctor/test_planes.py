# SPDX-License-Identifier: GPL-3.0-or-later
"""Planes after targets, where somebody asks for it."""

import math

import bpy
import pytest
from straight_arms import BENT, STRAIGHT, add_arm

from ik2d_addon.core import IK2DError
from ik2d_addon.features.doctor.planes import plane_to_target
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.chain.checks.bones import rest_joints
from ik2d_addon.rig.pose.target_plane import target_points
from ik2d_addon.rig.scene.sampler import sample_now

EXACT = 1e-5


def asked(armature, first=1, last=1):
    bpy.context.view_layer.update()
    return plane_to_target(armature, armature.ik2d.chains[0], bpy.context.scene, first, last)


@pytest.mark.parametrize(
    "points, place, expected",
    [
        (BENT, (0, 0.9, 1.2), 'AUTO'),
        (BENT, (0.9, 0, 1.2), 'Y'),
        (BENT, (0.9, -0.3, 0.0), 'Z'),
        (STRAIGHT, (0.7, 0.7, 1.0), 'AUTO'),
    ],
)
def test_the_first_of_the_planes_that_do_is_set(points, place, expected):
    armature, chain = add_arm(points, {1: place}, plane='CUSTOM')
    chain.plane_normal = (1, 2, 3)
    if expected == 'Z':  # a chain upright has no plane there: lay it down
        armature, chain = add_arm([(0, 0, 0), (0, 1, 0.3), (0, 2, 0)], {1: (0.9, 0.9, 0)}, plane='X')
    assert asked(armature) == chain.plane == expected


def test_where_none_does_it_gets_a_normal_of_its_own():
    armature, chain = add_arm(BENT, {1: (0.5, 0.9, 1.2), 9: (-0.1, 0.3, 0.5)})
    assert asked(armature, 1, 9) == chain.plane == 'CUSTOM'
    rig = read_chain(armature, chain)
    (samples,) = sample_now(bpy.context.scene, [rig]).chains
    off = (target_points(rig, samples) - rest_joints(rig.pose_bones)[-1]) @ rig.plane.normal
    assert abs(off[0]) < 0.1
    assert tuple(chain.plane_normal) != (1, 0, 0)


@pytest.mark.parametrize("off, expected", [(0.9e-3, 'AUTO'), (1.1e-3, 'CUSTOM')])
def test_a_plane_does_that_leaves_the_target_a_thousandth_of_the_reach_off(off, expected):
    reach = 2 * math.hypot(0.3, 1.0)
    armature, _ = add_arm(BENT, {1: (off * reach, -0.9, 1.0)})
    assert asked(armature) == expected


def test_a_chain_that_cannot_be_read_is_refused():
    armature, chain = add_arm(BENT, {1: (0, 0.9, 1.2)})
    chain.target = None
    with pytest.raises(IK2DError, match="has no target"):
        asked(armature)


def test_a_target_at_the_tip_needs_no_plane_of_its_own():
    armature, _ = add_arm(BENT, {1: (0, 0, 2)})
    assert asked(armature) == 'AUTO'
