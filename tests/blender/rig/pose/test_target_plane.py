# SPDX-License-Identifier: GPL-3.0-or-later
"""Planes of straight chains, after their targets."""

import math

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from straight_arms import BENT, STRAIGHT, add_arm

from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.pose.target_plane import facing_target, sampled_path, target_points
from ik2d_addon.rig.scene.sampler import sample_now

EXACT = 1e-5


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
    assert rig.remarks.plane == "first bone's X"
    found = facing_target(rig, samples)
    assert found.remarks.plane == "through the target's path"
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


def test_no_more_than_fifty_frames_of_a_path_are_looked_at():
    armature, _ = add_arm(BENT, {1: (0, 0.9, 1.2)})
    rig, _ = sampled(armature)
    seen = []
    for first, last in ((3, 7), (10, 59), (1, 1000)):
        samples, times = sampled_path(bpy.context.scene, rig, first, last)
        assert len(samples.targets) == len(times)
        seen.append(times)
    assert seen[0] == [3, 4, 5, 6, 7]
    assert seen[1] == list(range(10, 60))
    assert (len(seen[2]), seen[2][0], seen[2][-1]) == (50, 1, 1000)
    assert all(time == int(time) for time in seen[2])
