# SPDX-License-Identifier: GPL-3.0-or-later
"""The plane of a chain: fitted to its bend, stable against rounding."""

import numpy as np
import pytest

from ik2d_addon.core import IK2DError, Plane

ANY = (1.0, 0.0, 0.0)


def random_rotation(rng):
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q *= np.sign(np.diag(r))
    return q * np.sign(np.linalg.det(q))


def bent(*turns):
    """Joints (n + 1, 3) of bones of length 1 in the xy plane, each turned from the one before."""
    headings = np.cumsum((0.0, *turns))
    bones = np.stack((np.cos(headings), np.sin(headings), 0 * headings), axis=1)
    return np.concatenate((np.zeros((1, 3)), np.cumsum(bones, axis=0)))


def test_axes_are_orthonormal_and_right_handed():
    rng = np.random.default_rng(11)
    for _ in range(100):
        plane = Plane.fit(rng.normal(size=(rng.integers(3, 9), 3)), ANY)
        axes = np.stack((plane.x, plane.y, plane.normal))
        assert np.allclose(axes @ axes.T, np.eye(3), atol=1e-14)
        assert np.allclose(np.cross(plane.x, plane.y), plane.normal, atol=1e-14)


@pytest.mark.parametrize(
    "turns", [(0.5,), (-0.5,), (0.3, 0.3, 0.2), (-0.1, -0.9), (1.0, -0.2), (2.5,), (-3.0,)]
)
def test_the_rest_poses_own_bend_is_positive(turns):
    plane = Plane.fit(bent(*turns), ANY)
    flat = plane.project(bent(*turns))
    bones = np.diff(flat, axis=0)
    area = np.cross(flat[:-1], flat[1:]).sum()
    assert area > 0.0
    if len(turns) == 1:
        assert np.cross(bones[0], bones[1]) > 0.0


def test_the_fit_turns_with_the_chain():
    rng = np.random.default_rng(12)
    joints = bent(0.4, 0.5, -0.1)
    plane = Plane.fit(joints, ANY)
    for _ in range(20):
        rotation, shift = random_rotation(rng), rng.normal(size=3)
        turned = Plane.fit(joints @ rotation.T + shift, ANY)
        assert np.allclose(turned.normal, rotation @ plane.normal, atol=1e-12)
        assert np.allclose(turned.x, rotation @ plane.x, atol=1e-12)


@pytest.mark.parametrize(
    "turns",
    [(0.01,), (0.5, -0.5), (-0.5, 0.5), (0.4, -0.8, 0.4), (0.3, -0.3, -0.3, 0.3), (0.0, 0.002), (0.0, 0.0)],
)
def test_32_bit_rounding_never_changes_the_side(turns):
    rng = np.random.default_rng(13)
    joints = bent(*turns) @ random_rotation(rng).T
    plane = Plane.fit(joints, ANY)
    for _ in range(200):
        rounded = (joints + rng.uniform(-1, 1, joints.shape) * 1e-6).astype(np.float32)
        assert Plane.fit(rounded, ANY).normal @ plane.normal > 0.999


def test_a_straight_chain_takes_the_given_normal_made_perpendicular():
    joints = [[0, 0, 0], [0, 1, 0], [0, 3, 0]]
    assert np.allclose(Plane.fit(joints, (1, 0, 0)).normal, (1, 0, 0))
    assert np.allclose(Plane.fit(joints, (-2, 1, 0)).normal, (-1, 0, 0))
    assert np.allclose(Plane.fit(joints, (1, 0, 0)).x, (0, 1, 0))


def test_a_chain_folded_on_its_own_line_is_straight():
    plane = Plane.fit([[0, 0, 0], [0, 2, 0], [0, 0, 0]], (1, 0, 0))
    assert np.allclose(plane.normal, (1, 0, 0))
    assert np.allclose(plane.x, (0, 1, 0))


def test_project_and_lift_are_inverse_in_the_plane():
    rng = np.random.default_rng(14)
    plane = Plane.fit(rng.normal(size=(5, 3)), ANY)
    flat = rng.normal(size=(7, 4, 2))
    lifted = plane.lift(flat)
    assert lifted.shape == (7, 4, 3)
    assert np.allclose(plane.project(lifted), flat, atol=1e-14)
    assert plane.distance(lifted).max() < 1e-14


def test_distance_is_off_the_plane_to_either_side():
    plane = Plane.facing([[1, 2, 3], [2, 2, 3]], (0, 0, 1))
    assert plane.distance([[5, 5, 3.5], [9, 9, 2.5], [0, 0, 3]]).tolist() == [0.5, 0.5, 0.0]


def test_the_origin_is_the_root_and_x_is_along_the_first_bone():
    joints = bent(0.5, 0.2) + [1.0, 2.0, 3.0]
    plane = Plane.fit(joints, ANY)
    assert np.allclose(plane.origin, [1, 2, 3])
    assert np.allclose(plane.project(joints)[:2], [[0, 0], [1, 0]], atol=1e-14)


@pytest.mark.parametrize(
    ("points", "normal", "words"),
    [
        ([[0, 0, 0]], ANY, "two or more joints"),
        ([[0, 0], [1, 1]], ANY, "two or more joints"),
        ([[1, 1, 1]] * 3, ANY, "one point"),
        ([[0, 0, 0], [np.nan, 0, 0]], ANY, "finite"),
        ([[0, 0, 0], [1, 0, 0]], (1, 0, 0), "along the chain"),
        ([[0, 0, 0], [1, 0, 0]], (0, 0, 0), "zero|along"),
    ],
)
def test_points_without_a_plane_are_refused(points, normal, words):
    with pytest.raises(IK2DError, match=words):
        Plane.fit(points, normal)


def test_a_plane_at_right_angles_to_the_chain_is_refused():
    with pytest.raises(IK2DError, match="choose another plane"):
        Plane.facing([[0, 0, 0], [0, 0, 1], [0, 0, 2]], (0, 0, 1))
