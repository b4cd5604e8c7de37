# SPDX-License-Identifier: GPL-3.0-or-later
"""Few keys for a bone's rotation: cubics that stay within an angle of it."""

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain, add_target

from ik2d_addon.bake.keys.few_hand_keys import TurnCubics, hand_bounds, played_at
from ik2d_addon.bake.keys.keying import KeyPlan, fewest, handles_of, keyed_at
from ik2d_addon.core.solution import drained
from ik2d_addon.rig.animation.bone_channels import BoneRotation, matrices
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.pose.hand_rotations import angles_between
from ik2d_addon.rig.scene.sampler import sample_steps

TIMES = np.arange(0.0, 40.5, 0.5)


def swaying(mode: str) -> np.ndarray:
    """Return the channels of a rotation that sways about two axes."""
    angles = np.column_stack((np.sin(TIMES / 5.0), 0.4 * np.cos(TIMES / 7.0), 0.1 * TIMES / 40.0))
    if mode == 'XYZ':
        return angles
    quaternions = np.column_stack((np.ones(len(TIMES)), 0.5 * angles))
    return quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)


@pytest.mark.parametrize("mode", ['XYZ', 'QUATERNION'])
@pytest.mark.parametrize("bound", [0.03, 0.001])
def test_what_is_played_stays_within_the_angle(mode, bound):
    channels = swaying(mode)
    candidates = list(range(0, len(TIMES), 2))
    rows, slopes = drained(fewest(TurnCubics(TIMES, channels, mode), candidates, bound))
    assert 3 < len(rows) < len(candidates) / 2
    plan = KeyPlan(TIMES[::2].tolist(), TIMES.tolist(), bound)
    rotation = keyed_at(BoneRotation("hand", "", channels), plan, rows)
    few = BoneRotation(
        "hand", "", rotation.values, "", None, rotation.frames, handles_of(rotation.values, slopes)
    )
    played = played_at(TIMES, few)
    assert played[rows] == pytest.approx(channels[rows])
    assert angles_between(matrices(mode, played), matrices(mode, channels)).max() <= bound


def test_a_smaller_angle_takes_more_keys():
    cubics, candidates = TurnCubics(TIMES, swaying('XYZ'), 'XYZ'), list(range(len(TIMES)))
    counts = [len(drained(fewest(cubics, candidates, bound))[0]) for bound in (0.1, 0.01, 0.001)]
    assert counts == sorted(counts) and counts[0] < counts[-1]


def test_all_that_turns_with_a_hand_counts_for_its_angle():
    armature = add_armature(
        {
            "arm": ((0, 0, 2), (0, -0.1, 1), "", 0.0),
            "forearm": ((0, -0.1, 1), (0, 0, 0), "arm", 0.0),
            "hand": ((0, 0, 0), (0, 0, -0.2), "forearm", 0.0),
            "finger": ((0, 0, -0.2), (0, 0, -0.5), "hand", 0.0),
            "sword": ((0, 0, -0.5), (0, 0, -3.5), "finger", 0.0),
        }
    )
    armature.scale = (2.0, 2.0, 2.0)
    add_chain(armature, "forearm", add_target({1: (0, 0.5, 0.5)}), hand_rotation='WORLD')
    bpy.context.view_layer.update()

    def angle():
        rig = read_chain(armature, armature.ik2d.chains[0])
        (samples,) = drained(sample_steps(bpy.context.scene, [rig], [1])).chains
        assert hand_bounds(rig, samples, np.full((1, 2), 1.5), 0.01) == {
            "hand": pytest.approx(hand_bounds(rig, samples, None, 0.01)["hand"] / 1.5)
        }
        return hand_bounds(rig, samples, None, 0.01)["hand"]

    assert angle() == pytest.approx(0.01 / (2.0 * 3.5))
    armature.data.bones["sword"].use_inherit_rotation = False  # it moves with its head alone
    assert angle() == pytest.approx(0.01 / (2.0 * 0.5))
