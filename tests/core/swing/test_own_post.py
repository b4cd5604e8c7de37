# SPDX-License-Identifier: GPL-3.0-or-later
"""Planes that a first bone turns as its own post: the plane holds the target, in arrays and plain numbers."""

from dataclasses import replace

import numpy as np
import pytest

from ik2d_addon.core.affine import rotations_about
from ik2d_addon.core.post import HELD, LIMITED, NEAREST, PostRule
from ik2d_addon.core.swing import POST, OwnPost, Swing
from ik2d_addon.core.swing.plain import PlainSwing, rotated
from ik2d_addon.core.swing.swing import angle_about


def a_swing(rng, limits=None) -> Swing:
    """Return a swing about a post with random axes, and a plane that leans to its axis."""
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    axes *= np.linalg.det(axes)
    axis = int(rng.integers(0, 3))
    normal = axes[:, (axis + 1) % 3] + 0.3 * rng.uniform(-1.0, 1.0) * axes[:, axis]
    normal /= np.linalg.norm(normal)
    along = np.cross(normal, rng.normal(size=3))
    rule = PostRule(axis, float(rng.choice([-1.0, 1.0])), limits)
    return Swing(POST, normal, along / np.linalg.norm(along), normal, post=OwnPost(rule, axes, 1.0))


def matrix_of(turn) -> np.ndarray:
    return np.array([rotated(turn, *axis) for axis in np.eye(3).tolist()]).T


@pytest.mark.parametrize("height", (0.0, 0.2))
def test_the_plane_holds_the_target_and_turns_about_the_axis_alone(height):
    rng = np.random.default_rng(1)
    for _ in range(50):
        swing = a_swing(rng)
        points = rng.normal(size=(20, 3))
        status = swing.post_angles(points, height).status
        turns = swing.rotations(points, height)
        assert np.abs(turns @ swing.post.axis - swing.post.axis).max() < 1e-12
        off = (points * (turns @ swing.normal)).sum(axis=1) - height
        assert np.abs(off[status == HELD]).max(initial=0.0) < 1e-12
        assert set(status.tolist()) <= {HELD, NEAREST}


def test_plain_numbers_are_those_of_the_arrays():
    rng = np.random.default_rng(2)
    for number in range(200):
        swing = a_swing(rng, (-0.5, 0.9) if number % 2 else None)
        target = rng.normal(size=3)
        (wanted,) = swing.rotations(target[None], 0.1)
        axes = swing.post.axes
        plain = PlainSwing(swing, axes)
        turn, back = plain.turned(*(target @ axes), 0.1)
        assert axes @ matrix_of(turn) @ axes.T == pytest.approx(wanted, abs=1e-12)
        assert axes @ back == pytest.approx(wanted.T @ target, abs=1e-12)
        assert plain.post_status == swing.post_angles(target[None], 0.1).status[0]


def test_no_direction_leaves_it_open_and_it_has_no_spins():
    rng = np.random.default_rng(3)
    swing, points = a_swing(rng), rng.normal(size=(9, 3))
    assert (swing.sines(points) == 1.0).all() and (swing.spins(points) == 0.0).all()


def test_the_turn_in_the_plane_is_found_in_both_together():
    rng = np.random.default_rng(4)
    for _ in range(50):
        swing = a_swing(rng)
        angle, turn = rng.uniform(-3.0, 3.0, 2)
        both = rotations_about(swing.post.axis, angle) @ rotations_about(swing.normal, turn)
        assert swing.turn_in(both, swing.along) == pytest.approx(turn, abs=1e-9)


def test_without_limits_it_goes_on():
    rng = np.random.default_rng(5)
    swing, points = a_swing(rng, (-0.1, 0.1)), rng.normal(size=(30, 3))
    free = swing.without_limits
    assert (swing.post_angles(points).status == LIMITED).any()
    assert not (free.post_angles(points).status == LIMITED).any()
    whole = replace(swing, post=replace(swing.post, rule=replace(swing.post.rule, limits=None)))
    assert (free.rotations(points) == whole.rotations(points)).all()


def test_the_angle_about_an_axis():
    axis, one = np.array((0.0, 0.0, 1.0)), np.array((1.0, 0.0, 0.4))
    for angle in (-3.0, -1.0, 0.0, 2.0):
        other = rotations_about(axis, np.array(angle)) @ one
        assert angle_about(axis, one, other) == pytest.approx(angle)
