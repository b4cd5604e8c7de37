# SPDX-License-Identifier: GPL-3.0-or-later
"""The shape of a chain that expressions may know of."""

import bpy
import numpy as np
import pytest
from mathutils import Quaternion
from native_rigs import random_limb
from rigs import add_armature, add_chain, add_target, stretching_arm

from ik2d_addon.core import IK2DError
from ik2d_addon.features.native.plan import links_of, shape_of
from ik2d_addon.rig.chain.chain import read_chain


def test_lengths_and_angles_make_the_rest_pose():
    armature, chain = random_limb(np.random.default_rng(0), count=4)
    rig = read_chain(armature, chain)
    shape = shape_of(rig)
    headings = shape.angles.cumsum()
    tip = (shape.lengths * (np.cos(headings), np.sin(headings))).sum(axis=1)
    tail = armature.data.bones["bone3"].tail_local
    assert np.allclose(rig.plane.project([tail])[0], tip, atol=1e-5)
    assert (
        np.allclose(np.unwrap(headings), np.unwrap(shape.headings))
        or (np.abs(shape.angles[1:]) <= np.pi).all()
    )
    assert shape.reach == shape.lengths.sum() and shape.misses is None and shape.stretch is None


def test_a_range_of_a_whole_turn_is_no_limit():
    armature, chain = random_limb(np.random.default_rng(1))
    for joint, most in zip(chain.joints, (1.0, 4.0), strict=True):
        joint.use_limit, joint.limit_min, joint.limit_max = True, -most, most
    limits = shape_of(read_chain(armature, chain)).limits
    assert limits[0].tolist() == [-1.0, 1.0] and np.isnan(limits[1]).all()


def test_stretch_is_told_where_it_is_on():
    armature, chain = stretching_arm('ALIGNED')
    assert shape_of(read_chain(armature, chain)).stretch.most == 2.0
    chain.stretch = 1.0
    assert shape_of(read_chain(armature, chain)).stretch is None


def test_what_two_bones_miss_by_is_what_blender_has():
    """Of the tip at rest, where it can be looked up: headings and lengths against the bones' matrices."""
    armature, chain = random_limb(np.random.default_rng(2))
    rig = read_chain(armature, chain)
    shape = shape_of(rig)
    t = shape.angles[1]
    terms = np.outer((1.0, 1.0, 0.0), (1.0, np.cos(t), np.sin(t)))
    assert np.abs((shape.misses * terms).sum(axis=(1, 2))).max() < 1e-6 * shape.reach
    assert 0.0 < np.abs(shape.misses).max() < 1e-4 * shape.reach


def test_a_bone_seen_end_on_is_refused():
    armature = add_armature({"a": ((0, 0, 0), (0, 0, 1), "", 0.0), "b": ((0, 0, 1), (1, 0, 1), "a", 0.0)})
    chain = add_chain(armature, "b", add_target({1: (0, 1, 1)}), plane='X')
    with pytest.raises(
        IK2DError, match="bone 'b' points across the chain's plane.*set Bends In to another plane"
    ):
        shape_of(read_chain(armature, chain))


def chain_towards(heading: float):
    """Return an armature with a chain of four bones in the plane of Y and Z, rolled, and the chain read."""
    headings = heading + 0.02 * np.arange(4)
    steps = np.stack((np.zeros(4), np.cos(headings), np.sin(headings)), axis=1)
    points = [tuple(map(float, point)) for point in np.vstack((np.zeros(3), np.cumsum(steps, axis=0)))]
    armature = add_armature(
        {f"b{i}": (points[i], points[i + 1], f"b{i - 1}" if i else "", 0.3 * i) for i in range(4)}
    )
    add_chain(armature, "b3", add_target({}), 4)
    bpy.context.view_layer.update()
    return armature, read_chain(armature, armature.ik2d.chains[0])


# Nearly along -Y Blender's rest matrices are off by 5e-5.
@pytest.mark.parametrize("heading, skewed", [(0.7, False), (-np.pi + 0.104, True)])
def test_tips_are_those_that_blender_evaluates(heading, skewed):
    armature, rig = chain_towards(heading)
    links, rng = links_of(rig), np.random.default_rng(3)
    assert (np.abs(links.root - np.eye(2)).max() > 1e-5) == skewed
    for _ in range(10):
        turns = rng.uniform(-2.0, 2.0, 4)
        for bone, axis, turn in zip(rig.pose_bones, rig.joints.axes, turns, strict=True):
            bone.rotation_mode = 'QUATERNION'
            bone.rotation_quaternion = Quaternion(axis.tolist(), turn)
        bpy.context.view_layer.update()
        tip = rig.plane.project(np.array(armature.pose.bones["b3"].tail))
        assert np.abs(np.linalg.inv(links.root) @ links.tips(turns) - tip).max() < 2e-6


def test_many_turns_at_once_give_what_each_gives():
    _, rig = chain_towards(0.7)
    links, turns = links_of(rig), np.random.default_rng(4).uniform(-2.0, 2.0, (3, 5, 4))
    assert np.allclose(links.tips(turns)[2, 1], links.tips(turns[2, 1]), atol=1e-12)
