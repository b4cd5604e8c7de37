# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations of hands in channels of every mode: they go on from frame to frame, and keep to locks."""

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain, add_target, as_baked

from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.bone_channels import matrices
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.pose.bone_matrices import rotations_of
from ik2d_addon.rig.pose.hand_rotations import (
    angles_between,
    own_turns,
    own_turns_now,
    turned_hands,
)
from ik2d_addon.rig.scene.sampler import sample_now

EULERS = ['XYZ', 'XZY', 'YXZ', 'YZX', 'ZXY', 'ZYX']
MODES = [*EULERS, 'QUATERNION', 'AXIS_ANGLE']


@pytest.fixture
def arm():
    """Return an arm with a hand, and its chain."""
    armature = add_armature(
        {
            "upper": ((0, 0, 0), (1, 0.1, 0), "", 0.0),
            "fore": ((1, 0.1, 0), (2, 0, 0), "upper", 0.0),
            "hand": ((2, 0, 0), (2.3, 0.1, 0), "fore", 0.6),
        }
    )
    return armature, add_chain(armature, "fore", add_target({1: (1.5, 0.5, 0)}), hand_rotation='WORLD')


@pytest.mark.parametrize("mode", MODES)
def test_a_hand_is_brought_back_to_its_orientation_in_rest(arm, mode):
    armature, chain = arm
    armature.pose.bones["hand"].rotation_mode = mode
    bpy.context.view_layer.update()
    rig = read_chain(armature, chain)
    (samples,) = sample_now(bpy.context.scene, [rig]).chains
    own = own_turns(bpy.context.scene, rig, [1.0])
    turned = turned_hands(rig, samples, rotations_of(rig, np.array([[0.5, -1.1]])), own, rig.hands)
    rest = np.array(armature.data.bones["hand"].matrix_local.to_3x3())
    assert angles_between(turned.shown[:, 0], rest).max() < 1e-5
    assert turned.off.max() < 1e-6
    (rotation,) = turned.rotations
    plane = matrices(mode, rotation.values)
    assert angles_between(plane, np.eye(3)).max() == pytest.approx(0.6, abs=1e-5)


@pytest.mark.parametrize("made", ['KEYFRAME', 'GENERATED', 'both'])
def test_own_turns_are_those_of_keys_made_by_hand(arm, made):
    armature, chain = arm
    hand = armature.pose.bones["hand"]
    hand.rotation_mode = 'XYZ'
    for frame in (1, 10):
        hand.rotation_euler = (0.1 * frame, 0, 0)
        kind = made if made != 'both' else ('KEYFRAME' if frame == 1 else 'GENERATED')
        hand.keyframe_insert("rotation_euler", frame=frame)
        for curve in existing_fcurves(armature) if kind == 'GENERATED' else ():
            as_baked(next(key for key in curve.keyframe_points if key.co.x == frame))
    scene = bpy.context.scene
    scene.frame_set(10)
    rig = read_chain(armature, chain)
    expected = {'KEYFRAME': 1.0, 'GENERATED': 0.0, 'both': 0.1}[made]
    assert own_turns(scene, rig, [10.0]).values[0][0] == pytest.approx((expected, 0, 0))
    if made == 'both':
        with pytest.raises(IK2DError, match="clear the bake"):
            own_turns_now(scene, rig)
    else:
        assert own_turns_now(scene, rig).values[0][0] == pytest.approx((expected, 0, 0))


def test_a_key_that_is_no_rotation_is_refused(arm):
    armature, chain = arm
    hand = armature.pose.bones["hand"]
    hand.rotation_quaternion = (0, 0, 0, 0)
    hand.keyframe_insert("rotation_quaternion", frame=3)
    with pytest.raises(IK2DError, match="'hand' on its tip has no rotation at frame 3"):
        own_turns(bpy.context.scene, read_chain(armature, chain), [3.0])
