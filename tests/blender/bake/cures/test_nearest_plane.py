# SPDX-License-Identifier: GPL-3.0-or-later
"""The fixed plane nearest to a target's places."""

import math

import numpy as np
import pytest
from straight_arms import BENT, add_arm

from ik2d_addon.bake.cures import nearest_plane as planes
from ik2d_addon.bake.cures.nearest_plane import nearest_plane
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.chain.checks.bones import rest_joints

EXACT = 1e-5


def test_a_plane_of_a_choice_has_no_normal_of_its_own():
    armature, chain = add_arm(BENT, {1: (0, 0.9, 1.2)})
    rig = read_chain(armature, chain)
    assert nearest_plane(chain, rig, np.array([(0, 0.9, 1.2)])) == ('AUTO', None)
    choice, normal = nearest_plane(chain, rig, np.array([(0.5, 0.9, 1.2), (-0.1, 0.3, 0.5)]))
    assert choice == 'CUSTOM' and np.linalg.norm(normal) == pytest.approx(1.0)


def test_what_is_out_of_reach_is_off_too():
    """As seen along a normal the chain may be short: then the target is not got to in that plane."""
    armature, chain = add_arm([(0, 0, 0), (0, 1, 0), (0, 1.0, 0.9)], {1: (0.0, 1.6, 0.0)})
    rig = read_chain(armature, chain)
    joints = rest_joints(rig.pose_bones)
    misses = planes._misses(rig.plane, joints, np.array([(0, 1.6, 0), (0, 0, 2.5), (0.3, 0, 2.5)]))
    assert misses == pytest.approx(math.hypot(0.3, 0.6), abs=EXACT)
    assert planes._misses(rig.plane, joints, np.array([(0.0, 1.0, 0.5)])) == pytest.approx(0, abs=EXACT)
    assert planes._misses(rig.plane, joints, np.array([(-0.25, 1.0, 0.5)])) == pytest.approx(0.25)


def test_a_target_at_the_tip_needs_no_plane_of_its_own():
    joints = np.array(BENT, np.float64)
    assert planes._own_planes(joints, joints[-1:]) == []


def test_planes_of_its_own_go_through_the_tip():
    joints = np.array(BENT, np.float64)
    points = joints[-1] + np.array([(0.5, 0.5, -1.0), (0.1, 0.3, 0.2)])
    found = planes._own_planes(joints, points)
    best = min(abs((points - joints[-1]) @ plane.normal).max() for plane in found)
    assert len(found) == 4 and best < EXACT
