# SPDX-License-Identifier: GPL-3.0-or-later
"""Few keys for a bone's rotation: cubics that stay within an angle of it."""

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain, add_leg, add_target

from ik2d_addon.bake.keys.hand_keys import ASTRAY, _played_at, _TurnCubics, _with_handles, _woven, hand_bounds
from ik2d_addon.bake.keys.handles import halves, played_between
from ik2d_addon.bake.keys.keying import KeyPlan, fewest, handles_of, keyed_at
from ik2d_addon.rig.animation.bone_channels import BoneRotation, matrices
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.pose.hand_rotations import angles_between
from ik2d_addon.rig.scene.sampler import sample_steps
from ik2d_addon.rig.scene.samples import finished

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
    rows, slopes = finished(fewest(_TurnCubics(TIMES, channels, mode), candidates, bound))
    assert 3 < len(rows) < len(candidates) / 2
    plan = KeyPlan(TIMES[::2].tolist(), TIMES.tolist(), bound)
    rotation = keyed_at(BoneRotation("hand", "", channels), plan, rows)
    few = BoneRotation(
        "hand", "", rotation.values, "", None, rotation.frames, handles_of(rotation.values, slopes)
    )
    played = _played_at(TIMES, few)
    assert played[rows] == pytest.approx(channels[rows])
    assert angles_between(matrices(mode, played), matrices(mode, channels)).max() <= bound


def test_a_smaller_angle_takes_more_keys():
    cubics, candidates = _TurnCubics(TIMES, swaying('XYZ'), 'XYZ'), list(range(len(TIMES)))
    counts = [len(finished(fewest(cubics, candidates, bound))[0]) for bound in (0.1, 0.01, 0.001)]
    assert counts == sorted(counts) and counts[0] < counts[-1]


def test_handles_lead_through_what_lies_between_only_where_it_is_known_and_astray():
    armature = add_leg()
    armature.pose.bones["shin"].rotation_mode = 'XYZ'
    values = np.zeros((17, 3))  # frames, and quarters between them
    for middle, most in ((6, 0.1), (10, 0.5 * ASTRAY), (14, 0.1)):
        values[middle - 1 : middle + 2, 0] = 0.75 * most, most, 0.75 * most
    rotation = BoneRotation("shin", "rotation_euler", values)
    found = _with_handles(armature, rotation, np.array([True, True, True, False]))
    assert (found.values == values[::4]).all()
    assert (~np.isnan(found.handles[1, :, 0])).tolist() == [False, True, False, False, False]
    assert halves(found)[1] == pytest.approx(values[6])
    assert played_between(found, 0.25)[1] == pytest.approx(values[5])
    parts = [values[start::4] for start in (1, 2, 3)]
    assert (_woven(values[::4], parts) == values).all()
    steady = BoneRotation("shin", "rotation_euler", np.zeros((9, 3)))
    assert _with_handles(armature, steady, np.ones(2, bool)).handles is None


def test_an_axis_that_flips_near_no_rotation_takes_no_worse_handles_than_a_parabola():
    armature = add_leg()
    armature.pose.bones["shin"].rotation_mode = 'AXIS_ANGLE'
    values = np.column_stack((np.full(9, 1e-3), *np.eye(3)[np.arange(9) % 3].T))
    values[:, 0] = 0.5, 0.3, 0.1, 0.01, 0.001, 0.01, 0.1, 0.3, 0.5
    found = _with_handles(armature, BoneRotation("shin", "rotation_axis_angle", values), np.ones(2, bool))
    assert halves(found) == pytest.approx(values[2::4])


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
        (samples,) = finished(sample_steps(bpy.context.scene, [rig], [1])).chains
        assert hand_bounds(rig, samples, np.full((1, 2), 1.5), 0.01) == {
            "hand": pytest.approx(hand_bounds(rig, samples, None, 0.01)["hand"] / 1.5)
        }
        return hand_bounds(rig, samples, None, 0.01)["hand"]

    assert angle() == pytest.approx(0.01 / (2.0 * 3.5))
    armature.data.bones["sword"].use_inherit_rotation = False  # it moves with its head alone
    assert angle() == pytest.approx(0.01 / (2.0 * 0.5))
