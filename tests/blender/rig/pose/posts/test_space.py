# SPDX-License-Identifier: GPL-3.0-or-later
"""The space that a post turns in, and its angles."""

import bpy
import numpy as np
import pytest
from post_rigs import FRAMES, turret

from ik2d_addon.core.solution import drained
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.pose.posts import about, chain_of_post, post_space, solved_post
from ik2d_addon.rig.scene.sampler import sample_steps

TIMES = [float(frame) for frame in FRAMES]


def sampled(made):
    """Return a turret's chain, its samples, and the space of its post."""
    rig = read_chain(made.armature, made.add_chain())
    scene = bpy.context.scene
    own, post = drained(sample_steps(scene, [rig, chain_of_post(rig)], TIMES)).chains
    return rig, own, post_space(scene, rig, post, TIMES)


@pytest.mark.parametrize("seed", range(12))
def test_the_space_and_the_turn_make_the_evaluated_pose(seed):
    made = turret(seed)
    made.turn_post(0.7)
    rig, _, space = sampled(made)
    assert np.allclose(space.angles, 0.7, atol=2e-6)
    for frame in (1, 12, 24):
        bpy.context.scene.frame_set(frame)
        shown = made.armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["post"]
        there = np.array(shown.matrix)[:3, rig.post.rule.axis] / made.post.scale[0]
        turned = space.to_pose[frame - 1][:3, :3] @ about(rig.post.rule.axis, space.angles[frame - 1 :])[0]
        # Axes that turn before the post's own tilt what is seen of it.
        if made.post.rotation_mode in ('QUATERNION', 'AXIS_ANGLE') or not any(
            made.post.rotation_euler[i] for i in range(3) if i != rig.post.rule.axis
        ):
            assert np.allclose(there, turned[:, rig.post.rule.axis], atol=1e-5)


@pytest.mark.parametrize("seed", range(12))
def test_the_angle_is_the_one_that_made_the_target(seed):
    made = turret(seed)
    rig, own, space = sampled(made)
    off = solved_post(rig, own, space).angles - np.array(made.turns)
    assert np.abs(np.angle(np.exp(1j * off))).max() < 1e-5
