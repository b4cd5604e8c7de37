# SPDX-License-Identifier: GPL-3.0-or-later
"""A plane that swings about a direction of its own starts from any rotation, and turns little from there."""

import numpy as np
import pytest

from ik2d_addon.core.affine import rotations_about
from ik2d_addon.core.swing import SWING, Swing
from ik2d_addon.core.swing.plain import PlainSwing, rotated


def a_rotation(random: np.random.Generator) -> np.ndarray:
    """Return a rotation matrix (3, 3)."""
    found = np.linalg.qr(random.normal(size=(3, 3)))[0]
    return found * np.sign(np.linalg.det(found))


def a_chain(random: np.random.Generator, turn: np.ndarray) -> Swing:
    """Return the swing of a chain whose plane a pose has turned by `turn`."""
    normal, along, _ = a_rotation(random).T
    return Swing(SWING, normal, along, along, turn @ normal)


@pytest.mark.parametrize("height", [0.0, 0.3])
def test_with_the_normal_of_a_pose_the_rotation_is_that_pose_but_for_a_turn_in_the_plane(height):
    random = np.random.default_rng(1)
    for _ in range(200):
        turn = a_rotation(random)
        swing = a_chain(random, turn)
        tip = np.cos(np.arcsin(height)) * swing.along + height * swing.normal
        in_plane = rotations_about(swing.normal[None], random.uniform(-3.0, 3.0, size=1))[0]
        target = turn @ in_plane @ tip
        (found,) = swing.rotations(target[None], height)
        assert np.abs(found @ swing.normal - turn @ swing.normal).max() < 1e-9
        # What is left is a turn in the plane, which the solver makes.
        assert abs((found.T @ target) @ swing.normal - height) < 1e-9


def test_the_turned_normal_is_as_near_to_the_direction_as_the_target_lets_it():
    random = np.random.default_rng(2)
    for _ in range(50):
        swing, target = a_chain(random, a_rotation(random)), random.normal(size=3)
        (found,) = swing.rotations(target[None])
        line = target / np.linalg.norm(target)
        spun = rotations_about(np.tile(line, (360, 1)), np.radians(np.arange(360.0))) @ (found @ swing.normal)
        assert swing.upright @ found @ swing.normal >= (spun @ swing.upright).max() - 1e-4
        assert abs(found @ swing.normal @ line) < 1e-9


@pytest.mark.parametrize("height", [0.0, 0.3, -0.2])
def test_plain_numbers_turn_it_as_the_arrays_do(height):
    random = np.random.default_rng(3)
    for _ in range(200):
        swing, axes = a_chain(random, a_rotation(random)), a_rotation(random)
        target = random.normal(size=3)
        target *= max(1.0, 0.4 / np.linalg.norm(target))
        (wanted,) = swing.rotations(target[None], height)
        found = PlainSwing(swing, axes).turned(*(target @ axes), height)
        assert found is not None
        turn = np.array([rotated(found[0], *axis) for axis in np.eye(3).tolist()]).T
        assert np.abs(axes @ turn @ axes.T - wanted).max() < 1e-7


def test_it_fails_where_the_target_is_along_the_direction():
    swing = a_chain(np.random.default_rng(4), a_rotation(np.random.default_rng(5)))
    assert swing.sines(np.array((swing.upright, -swing.upright))).max() < 1e-9
    assert PlainSwing(swing, np.eye(3)).turned(*swing.upright.tolist()) is None
    assert np.isfinite(swing.rotations(np.array((swing.upright, -swing.upright)))).all()


def test_without_a_direction_it_is_the_normal_at_rest():
    normal, along, _ = a_rotation(np.random.default_rng(6)).T
    target = np.random.default_rng(7).normal(size=(20, 3))
    one, other = Swing(SWING, normal, along, along), Swing(SWING, normal, along, along, normal)
    assert np.array_equal(one.rotations(target), other.rotations(target))
