# SPDX-License-Identifier: GPL-3.0-or-later
"""The tips that links tell are those that Blender evaluates, also of rest matrices that are skewed."""

import bpy
import numpy as np
import pytest
from mathutils import Quaternion
from rigs import add_armature, add_chain, add_target

from ik2d_addon.features.native.plan import links_of
from ik2d_addon.rig.chain.chain import read_chain


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
