# SPDX-License-Identifier: GPL-3.0-or-later
"""The plane of a chain: fitted to its bend, stable against rounding."""

from contextlib import suppress

import numpy as np
import pytest

from ik2d_addon.core import IK2DError, Plane
from ik2d_addon.core.plane import _bend_side

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


@pytest.mark.parametrize(
    ("aside", "is_straight"), [(0.5e-4, True), (1.5e-4, False), (0.0, True), (1e-2, False)]
)
@pytest.mark.parametrize("size", (1e-3, 1.0, 1e5))
def test_a_chain_has_its_own_plane_from_a_ten_thousandth_of_its_extent_on(aside, is_straight, size):
    """Three joints, the middle one aside: about their mean the extents are sqrt(2) to height sqrt(2 / 3)."""
    height = np.sqrt(3.0) * aside
    joints = size * np.array([[-1.0, 0.0, 0.0], [0.0, height, 0.0], [1.0, 0.0, 0.0]])
    plane = Plane.fit(joints, (0.0, 1.0, 0.0))
    expected = (0.0, 1.0, 0.0) if is_straight else (0.0, 0.0, -1.0)
    assert np.allclose(plane.normal, expected, rtol=0.0, atol=1e-9)


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


def test_the_matrix_lifts_x_and_y_and_adds_the_height_along_the_normal():
    rng = np.random.default_rng(15)
    plane = Plane.fit(rng.normal(size=(5, 3)), ANY)
    flat, heights = rng.normal(size=(7, 2)), rng.normal(size=(7, 1))
    placed = np.hstack((flat, heights, np.ones((7, 1)))) @ plane.matrix.T
    assert np.allclose(placed[:, :3], plane.lift(flat) + heights * plane.normal, atol=1e-14)
    assert (placed[:, 3] == 1.0).all()


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
    with pytest.raises(IK2DError, match="set Bends In to another plane"):
        Plane.facing([[0, 0, 0], [0, 0, 1], [0, 0, 2]], (0, 0, 1))


def winding(share):
    """Joints that enclose area 1 on the positive side first, then so much that `share` is left over."""
    other = (1.0 - share) / (1.0 + share)
    return [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 1.0, 0.0], [3.0, (3.0 - other) / 2.0, 0.0]]


@pytest.mark.parametrize(
    ("share", "side"), [(0.06, 1), (0.04, 1), (0.0, 1), (-0.04, 1), (-0.06, -1), (-0.5, -1)]
)
def test_a_chain_that_winds_to_both_sides_takes_the_clear_majority_else_its_first_bend(share, side):
    joints = np.array(winding(share))
    assert Plane.fit(joints, ANY).normal[2] == pytest.approx(side)
    assert Plane.fit(joints * [1, -1, 1], ANY).normal[2] == pytest.approx(-side)


@pytest.mark.slow
def test_of_a_chain_that_winds_evenly_the_first_bend_of_half_the_sharpest_decides():
    """By the turns that the chains are made of; the last one is such that the areas about cancel."""
    rng, tried = np.random.default_rng(15), 0
    for _ in range(150):
        turns = rng.uniform(-2.9, 2.9, rng.integers(1, 5)) * rng.choice([0.2, 1.0])
        for last in np.linspace(-2.9, 2.9, 200):
            joints = bent(*turns, last)
            areas = joints[1:-1, 0] * joints[2:, 1] - joints[1:-1, 1] * joints[2:, 0]
            if abs(areas.sum()) <= 0.04 * np.abs(areas).sum():
                sharp = [turn for turn in (*turns, last) if abs(turn) >= 0.5 * np.abs((*turns, last)).max()]
                assert Plane.fit(joints, ANY).normal[2] == pytest.approx(np.sign(sharp[0]))
                assert abs(_bend_side(joints, np.array([0.0, 0.0, 1.0]))) == 1.0
                tried += 1
    assert tried > 100


def test_a_clear_majority_is_plus_or_minus_one():
    joints = bent(0.5, 0.3)
    assert _bend_side(joints, np.array([0.0, 0.0, 1.0])) == 1.0
    assert _bend_side(joints, np.array([0.0, 0.0, -1.0])) == -1.0


@pytest.mark.parametrize(("first", "counts"), [(0.0, False), (0.5e-4, False), (2e-4, True)])
@pytest.mark.parametrize("size", (1e-3, 1.0, 1e3))
def test_x_is_along_the_first_bone_that_has_a_length_in_the_plane(first, counts, size):
    joints = np.array([[5.0, 5.0, 5.0], [5.0, 5.0 + first, 9.0], [6.0, 5.0 + first, 9.0], [6.0, 6.0, 9.0]])
    joints *= size
    plane = Plane.facing(joints, (0.0, 0.0, 3.0))
    assert np.allclose(plane.x, (0.0, 1.0, 0.0) if counts else (1.0, 0.0, 0.0), rtol=0.0, atol=1e-12)
    assert np.allclose(plane.y, (-1.0, 0.0, 0.0) if counts else (0.0, 1.0, 0.0), rtol=0.0, atol=1e-12)
    assert plane.normal.tolist() == [0.0, 0.0, 1.0]
    assert plane.origin.tolist() == joints[0].tolist()


@pytest.mark.parametrize(("aside", "is_refused"), [(0.5e-4, True), (2e-4, False)])
def test_the_normal_of_a_straight_chain_must_not_point_along_it(aside, is_refused):
    joints, normal = [[0, 0, 0], [1, 0, 0], [2, 0, 0]], np.array([1.0, aside, 0.0]) * 7.0
    if is_refused:
        with pytest.raises(IK2DError, match="along the chain"):
            Plane.fit(joints, normal)
    else:
        assert np.allclose(Plane.fit(joints, normal).normal, (0.0, 1.0, 0.0), rtol=0.0, atol=1e-14)


def test_all_digits_are_kept_where_a_direction_is_nearly_along_the_normal():
    normal = np.array([1.0, 2.0, 3.0])
    joints = np.array([[0.0, 0.0, 0.0], normal + [1e-9, -2e-9, 0.5e-9]])
    plane = Plane.facing(joints, normal)
    assert abs(plane.x @ plane.normal) <= 1e-15
    assert np.linalg.norm(plane.x) == pytest.approx(1.0, abs=1e-12)
    almost = Plane.facing([[0, 0, 0], [0, 0, 1]], (2e-4, 0.0, 1.0), along=(0.0, 0.0, 5.0))
    assert np.allclose(almost.normal, (1.0, 0.0, 0.0), rtol=0.0, atol=1e-15)


def test_two_bones_that_share_a_joint_have_a_plane_and_one_bone_takes_the_given_normal():
    assert np.allclose(Plane.fit([[0, 0, 0], [0, 0, 2]], (3, 0, 0)).normal, (1, 0, 0))
    assert np.allclose(Plane.fit(bent(np.pi / 2.0), ANY).normal, (0, 0, 1))


def test_one_bone_turns_about_an_axis_however_near_along_it():
    rng = np.random.default_rng(0)
    for _ in range(300):
        joints = rng.normal(size=(2, 3))
        axis = joints[1] - joints[0] + rng.normal(size=3) * 10.0 ** rng.uniform(-17.0, -10.0)
        with suppress(IK2DError):  # along it, to rounding
            plane = Plane.turning_about(joints, axis)
            assert plane.normal @ axis > 0.0


def test_a_plane_cannot_be_changed_and_does_not_follow_its_input():
    axes = np.eye(3)
    plane = Plane(np.zeros(3), *axes)
    axes[:] = 9.0
    assert plane.x.tolist() == [1.0, 0.0, 0.0]
    for name in ("origin", "x", "y", "normal"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(plane, name)[0] = 1.0
    with pytest.raises(IK2DError, match=r"^normal must be finite numbers; at \[2\] it is nan$"):
        Plane(np.zeros(3), *np.eye(3)[:2], [0.0, 0.0, np.nan])


@pytest.mark.parametrize(
    ("points", "words"),
    [
        (np.zeros((2, 2)), r"two or more joints of x, y, z, not shape \(2, 2\)"),
        (np.zeros(3), r"not shape \(3,\)"),
        (np.zeros((1, 3)), r"not shape \(1, 3\)"),
        (np.zeros((2, 2, 3)), r"not shape \(2, 2, 3\)"),
        ([[1.0, 2.0, 3.0]] * 4, "all lie in one point"),
    ],
)
def test_what_is_no_chain_in_space_is_refused(points, words):
    with pytest.raises(IK2DError, match=words):
        Plane.facing(points, (0, 0, 1))


def test_a_normal_or_direction_of_no_length_is_refused():
    for options in ({"normal": (0, 0, 0)}, {"normal": (0, 0, 1), "along": (0, 0, 0)}):
        with pytest.raises(IK2DError, match="^a direction must not be zero$"):
            Plane.facing([[0, 0, 0], [1, 0, 0]], **options)


def test_points_must_be_finite():
    plane = Plane.facing([[0, 0, 0], [1, 0, 0]], (0, 0, 1))
    for method, points in (
        (plane.project, [0, np.nan, 0]),
        (plane.lift, [0, np.nan]),
        (plane.distance, [0, np.nan, 0]),
    ):
        with pytest.raises(IK2DError, match=r"^points must be finite numbers; at \[1\] it is nan$"):
            method(points)


@pytest.mark.parametrize("turns", [(0.5,), (-0.5,), (0.3, 0.3, 0.2), (1.0, -0.2)])
def test_the_plane_of_a_bend_is_the_fit_and_a_straight_chain_has_none(turns):
    joints = bent(*turns)
    found, expected = Plane.of_bend(joints), Plane.fit(joints, ANY)
    for name in ("origin", "x", "y", "normal"):
        assert (getattr(found, name) == getattr(expected, name)).all()
    assert Plane.of_bend(bent(*(0.0 for _ in turns))) is None
