# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations of hands in channels of every mode: they go on from frame to frame, and keep to locks."""

from itertools import product

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Quaternion
from rigs import add_armature, add_chain, add_target

from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.bone_channels import matrices
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.pose.hand_rotations import (
    _channels,
    angles_between,
    own_turns,
    own_turns_now,
    turned_hands,
)
from ik2d_addon.rig.pose.kinematics import rotations_of
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


def spin(count: int = 400) -> np.ndarray:
    """Return rotations (frames, 3, 3) that go several times round about an axis that itself turns."""
    rng = np.random.default_rng(5)
    tilt = rng.normal(size=3)
    return np.array(
        [
            Matrix.Rotation(12.0 * i / count, 3, 'X') @ Quaternion(tilt, 5.0 * i / count).to_matrix()
            for i in range(count)
        ]
    )


def rest_of(mode: str) -> np.ndarray:
    return np.array({'QUATERNION': (1, 0, 0, 0), 'AXIS_ANGLE': (0, 0, 1, 0)}.get(mode, (0, 0, 0)), float)


@pytest.mark.parametrize("mode", MODES)
def test_channels_give_the_rotations_and_go_on(arm, mode):
    bone = arm[0].pose.bones["hand"]
    bone.rotation_mode = mode
    wanted = spin()
    values = _channels(bone, wanted, np.tile(rest_of(mode), (len(wanted), 1)), None)
    assert angles_between(matrices(mode, values), wanted).max() < 1e-5
    if mode in ('QUATERNION', 'AXIS_ANGLE'):  # Euler angles turn fast where two axes meet
        assert np.abs(np.diff(values, axis=0)).max() < 0.5
    again = _channels(bone, wanted[200:], np.tile(rest_of(mode), (200, 1)), values[199])
    assert again == pytest.approx(values[200:], abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("mode", EULERS)
@pytest.mark.parametrize("locks", [locks for locks in product((False, True), repeat=3) if any(locks)])
def test_no_other_angles_are_nearer_within_locks(arm, mode, locks):
    bone = arm[0].pose.bones["hand"]
    bone.rotation_mode, bone.lock_rotation = mode, locks
    rng = np.random.default_rng(7)
    wanted = np.array([Euler(rng.uniform(-1.2, 1.2, 3)).to_matrix() for _ in range(6)])
    own = np.tile(rng.uniform(-0.2, 0.2, 3), (6, 1))
    found = _channels(bone, wanted, own, None)
    assert (found[:, list(locks)] == own[:, list(locks)]).all()
    off = angles_between(matrices(mode, found), wanted)
    free = np.flatnonzero(~np.array(locks))
    for step in rng.normal(scale=0.05, size=(60, len(free))) if len(free) else ():
        nudged = found.copy()
        nudged[:, free] += step
        assert (angles_between(matrices(mode, nudged), wanted) > off - 1e-6).all()


def test_quaternions_turn_about_no_locked_axis(arm):
    bone = arm[0].pose.bones["hand"]
    bone.lock_rotation = (False, True, False)
    wanted = spin(40)
    found = _channels(bone, wanted, np.tile((1.0, 0, 0, 0), (40, 1)), None)
    assert (found[:, 2] == 0.0).all()
    assert (_channels(bone, wanted, np.tile((1.0, 0, 0.1, 0), (40, 1)), None)[:, 2] == 0.1).all()
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(40))
    bone.lock_rotations_4d = bone.lock_rotation_w = True
    assert (_channels(bone, wanted, np.tile((1.0, 0, 0, 0), (40, 1)), None) == (1, 0, 0, 0)).all()


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
        hand.keyframe_insert("rotation_euler", frame=frame, keytype=kind)
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
