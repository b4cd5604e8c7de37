# SPDX-License-Identifier: GPL-3.0-or-later
"""Planes after targets: for straight chains by themselves, for others where one asks for it."""

import math

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from rigs import add_armature, add_chain, add_target

from ik2d_addon.core import IK2DError
from ik2d_addon.rig.chain.chain import read_chain, rest_joints
from ik2d_addon.rig.pose import target_plane
from ik2d_addon.rig.pose.target_plane import facing_target, plane_to_target, target_points
from ik2d_addon.rig.scene.sampler import sample_now

EXACT = 1e-5
STRAIGHT = [(0, 0, 0), (0, 0, 1), (0, 0, 2)]
BENT = [(0, 0, 0), (0, -0.3, 1), (0, 0, 2)]


def add_arm(points, keys, rolls=(0.0, 0.0), above=False, **settings):
    """Add a chain through three points with a target that is somewhere at some frames."""
    bones = {"base": ((0, 0, -1), (0, 0, -0.5), "", 0.0)} if above else {}
    bones["a"] = (points[0], points[1], "base" if above else "", rolls[0])
    bones["b"] = (points[1], points[2], "a", rolls[1])
    armature = add_armature(bones)
    return armature, add_chain(armature, "b", add_target(keys), bone_count=2, **settings)


def sampled(armature):
    bpy.context.view_layer.update()
    rig = read_chain(armature, armature.ik2d.chains[0])
    (samples,) = sample_now(bpy.context.scene, [rig]).chains
    return rig, samples


def test_targets_are_seen_in_the_chains_rest_space():
    armature, _ = add_arm(BENT, {1: (0.5, -0.25, 1.0)}, above=True)
    rig, samples = sampled(armature)
    assert target_points(rig, samples)[0] == pytest.approx((0.5, -0.25, 1.0), abs=EXACT)
    move = Matrix.LocRotScale((3, 4, 5), Matrix.Rotation(0.7, 3, (1, 2, 3)), (2, 2, 2))
    armature.matrix_world = move
    base = armature.pose.bones["base"]
    base.matrix_basis = Matrix.LocRotScale((0.1, 0.2, 0.3), Matrix.Rotation(0.4, 3, (3, 1, 2)), (0.5,) * 3)
    bpy.context.view_layer.update()
    rest = armature.pose.bones["base"].bone.matrix_local
    carried = move @ base.matrix @ rest.inverted()
    armature.ik2d.chains[0].target.animation_data_clear()
    armature.ik2d.chains[0].target.location = carried @ Matrix.Translation((0.5, -0.25, 1.0)).translation
    rig, samples = sampled(armature)
    assert target_points(rig, samples)[0] == pytest.approx((0.5, -0.25, 1.0), abs=EXACT)


@pytest.mark.parametrize("angle", [0.4, 1.3, 2.5])
def test_a_straight_chain_faces_its_target_and_says_so(angle):
    place = (math.cos(angle), math.sin(angle), 1.0)
    armature, _ = add_arm(STRAIGHT, {1: place})
    rig, samples = sampled(armature)
    assert rig.plane_taken == "first bone's X"
    found = facing_target(rig, samples)
    assert found.plane_taken == "through the target's path"
    assert found.plane.normal @ place == pytest.approx(0.0, abs=EXACT)
    assert found.plane.normal @ (0, 0, 1) == pytest.approx(0.0, abs=EXACT)
    assert found.joints.axes == pytest.approx(np.array(found.in_plane(found.plane, "").joints.axes))
    assert found.bones == rig.bones


def test_a_chain_keeps_a_plane_of_its_own_or_one_that_does_as_well():
    for points, place, settings in (
        (BENT, (1.0, 1.0, 1.0), {}),
        (STRAIGHT, (1.0, 1.0, 1.0), {"plane": 'Y'}),
        (STRAIGHT, (0.0, 1.0, 1.0), {}),
    ):
        armature, _ = add_arm(points, {1: place}, **settings)
        rig, samples = sampled(armature)
        assert facing_target(rig, samples) is rig


# --- Asked for ------------------------------------------------------------------------------------


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


def test_what_is_out_of_reach_is_off_too():
    """As seen along a normal the chain may be short: then the target is not got to in that plane."""
    armature, chain = add_arm([(0, 0, 0), (0, 1, 0), (0, 1.0, 0.9)], {1: (0.0, 1.6, 0.0)})
    rig = read_chain(armature, chain)
    joints = rest_joints(rig.pose_bones)
    misses = target_plane._misses(rig.plane, joints, np.array([(0, 1.6, 0), (0, 0, 2.5), (0.3, 0, 2.5)]))
    assert misses == pytest.approx(math.hypot(0.3, 0.6), abs=EXACT)
    assert target_plane._misses(rig.plane, joints, np.array([(0.0, 1.0, 0.5)])) == pytest.approx(0, abs=EXACT)
    assert target_plane._misses(rig.plane, joints, np.array([(-0.25, 1.0, 0.5)])) == pytest.approx(0.25)


def test_no_more_than_fifty_frames_are_looked_at(monkeypatch):
    armature, _ = add_arm(BENT, {1: (0, 0.9, 1.2)})
    seen = []
    real = target_plane._sampled
    monkeypatch.setattr(
        target_plane, "_sampled", lambda scene, rig, times: seen.append(times) or real(scene, rig, times)
    )
    asked(armature, 3, 7)
    asked(armature, 10, 59)
    asked(armature, 1, 1000)
    assert seen[0] == [3, 4, 5, 6, 7]
    assert seen[1] == list(range(10, 60))
    assert (len(seen[2]), seen[2][0], seen[2][-1]) == (50, 1, 1000)
    assert all(time == int(time) for time in seen[2])


def test_a_target_at_the_tip_needs_no_plane_of_its_own():
    armature, _ = add_arm(BENT, {1: (0, 0, 2)})
    joints = np.array(BENT, np.float64)
    assert target_plane._own_planes(joints, joints[-1:]) == []
    assert asked(armature) == 'AUTO'


def test_planes_of_its_own_go_through_the_tip():
    joints = np.array(BENT, np.float64)
    points = joints[-1] + np.array([(0.5, 0.5, -1.0), (0.1, 0.3, 0.2)])
    found = target_plane._own_planes(joints, points)
    best = min(abs((points - joints[-1]) @ plane.normal).max() for plane in found)
    assert len(found) == 4 and best < EXACT


def test_a_chain_that_cannot_be_read_is_refused():
    armature, chain = add_arm(BENT, {1: (0, 0.9, 1.2)})
    chain.target = None
    with pytest.raises(IK2DError, match="has no target"):
        asked(armature)
