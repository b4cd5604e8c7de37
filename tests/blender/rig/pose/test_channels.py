# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations in channels of every mode: they go on from frame to frame, and keep to locks."""

from itertools import product

import numpy as np
import pytest
from mathutils import Euler, Matrix, Quaternion
from rigs import add_armature

from ik2d_addon.rig.animation.bone_channels import matrices
from ik2d_addon.rig.pose.channels import blended, channels_of
from ik2d_addon.rig.pose.hand_rotations import angles_between

EULERS = ['XYZ', 'XZY', 'YXZ', 'YZX', 'ZXY', 'ZYX']
MODES = [*EULERS, 'QUATERNION', 'AXIS_ANGLE']


@pytest.fixture
def hand():
    """Return a bone."""
    return add_armature({"hand": ((2, 0, 0), (2.3, 0.1, 0), "", 0.6)}).pose.bones["hand"]


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
def test_channels_give_the_rotations_and_go_on(hand, mode):
    hand.rotation_mode = mode
    wanted = spin()
    values = channels_of(hand, wanted, np.tile(rest_of(mode), (len(wanted), 1)), None)
    assert angles_between(matrices(mode, values), wanted).max() < 1e-5
    if mode in ('QUATERNION', 'AXIS_ANGLE'):  # Euler angles turn fast where two axes meet
        assert np.abs(np.diff(values, axis=0)).max() < 0.5
    again = channels_of(hand, wanted[200:], np.tile(rest_of(mode), (200, 1)), values[199])
    assert again == pytest.approx(values[200:], abs=1e-5)


@pytest.mark.parametrize("mode", EULERS)
@pytest.mark.parametrize("locks", [locks for locks in product((False, True), repeat=3) if any(locks)])
def test_no_other_angles_are_nearer_within_locks(hand, mode, locks):
    hand.rotation_mode, hand.lock_rotation = mode, locks
    rng = np.random.default_rng(7)
    wanted = np.array([Euler(rng.uniform(-1.2, 1.2, 3)).to_matrix() for _ in range(6)])
    own = np.tile(rng.uniform(-0.2, 0.2, 3), (6, 1))
    found = channels_of(hand, wanted, own, None)
    assert (found[:, list(locks)] == own[:, list(locks)]).all()
    off = angles_between(matrices(mode, found), wanted)
    free = np.flatnonzero(~np.array(locks))
    for step in rng.normal(scale=0.05, size=(60, len(free))) if len(free) else ():
        nudged = found.copy()
        nudged[:, free] += step
        assert (angles_between(matrices(mode, nudged), wanted) > off - 1e-6).all()


def test_quaternions_turn_about_no_locked_axis(hand):
    hand.lock_rotation = (False, True, False)
    wanted = spin(40)
    found = channels_of(hand, wanted, np.tile((1.0, 0, 0, 0), (40, 1)), None)
    assert (found[:, 2] == 0.0).all()
    assert (channels_of(hand, wanted, np.tile((1.0, 0, 0.1, 0), (40, 1)), None)[:, 2] == 0.1).all()
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(40))
    hand.lock_rotations_4d = hand.lock_rotation_w = True
    assert (channels_of(hand, wanted, np.tile((1.0, 0, 0, 0), (40, 1)), None) == (1, 0, 0, 0)).all()


@pytest.mark.parametrize(("influence", "turn"), [(0.0, 0.2), (0.25, 0.4), (1.0, 1.0)])
def test_a_blend_is_on_the_way_between(influence, turn):
    one, other = (np.array([Matrix.Rotation(angle, 3, 'Y')]) for angle in (0.2, 1.0))
    found = blended(one, other, np.array([influence]))
    assert angles_between(found, np.array([Matrix.Rotation(turn, 3, 'Y')])).max() < 1e-6
