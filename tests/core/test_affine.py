# SPDX-License-Identifier: GPL-3.0-or-later
"""Inverses of affine matrices, held to numpy's general ones, and what holds at all frames."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from numpy.typing import NDArray

from ik2d_addon.core.affine import (
    Frames,
    are_finite,
    at_all,
    changed,
    crossed,
    crosses,
    inverse,
    is_constant,
    norms,
    one_or_all,
    orientations,
    picked,
    product,
    repeated,
    rotations_about,
    thinned,
    turned,
)

CHANCE = np.random.default_rng(5)


def affine(*shape: int) -> np.ndarray:
    """Return random affine matrices (*shape, 4, 4): turned, sheared, scaled, some of them mirrored."""
    matrices = np.zeros((*shape, 4, 4)) + np.eye(4)
    matrices[..., :3, :] += CHANCE.uniform(-2.0, 2.0, (*shape, 3, 4))
    return matrices


@pytest.mark.parametrize("shape", [(), (7,), (5, 3)], ids=str)
def test_inverses_are_those_of_the_general_rule(shape):
    matrices = affine(*shape)
    assert np.allclose(inverse(matrices), np.linalg.inv(matrices), rtol=1e-9, atol=1e-9)
    assert inverse(matrices).shape == matrices.shape
    assert (inverse(matrices)[..., 3, :] == (0.0, 0.0, 0.0, 1.0)).all()


@pytest.mark.parametrize("frames", [1, 6])
def test_a_constant_matrix_is_inverted_once_for_all_frames(frames):
    matrices = np.repeat(affine(1), frames, axis=0)
    found = inverse(matrices)
    assert found.shape == (frames, 4, 4) and found.strides[0] == 0
    assert np.allclose(found, np.linalg.inv(matrices), rtol=1e-9)


def test_one_frame_that_differs_is_inverted_for_itself():
    matrices = np.repeat(affine(1), 6, axis=0)
    matrices[4, 1, 3] += 0.5
    found = inverse(matrices)
    assert found.strides[0] != 0
    assert np.allclose(found, np.linalg.inv(matrices), rtol=1e-9, atol=1e-12)


def test_no_frames_have_no_inverses():
    assert inverse(np.zeros((0, 4, 4))).shape == (0, 4, 4)


def test_the_matrices_given_stay_as_they_are():
    matrices = affine(3)
    before = matrices.copy()
    inverse(matrices)
    assert (matrices == before).all()


@pytest.mark.parametrize(
    "values, expected",
    [([1.0], True), ([2.0, 2.0, 2.0], True), ([2.0, 2.0, 2.1], False), ([1.0, 2.0], False), ([], False)],
    ids=str,
)
def test_constant_is_the_same_at_all_frames(values, expected):
    assert is_constant(np.array(values)) is expected
    assert is_constant(np.array([[value, 7.0] for value in values]).reshape(-1, 2)) is expected


def test_values_that_differ_within_a_frame_may_be_constant():
    assert is_constant(np.array([[1.0, 2.0], [1.0, 2.0]]))
    assert not is_constant(np.array([[1.0, 2.0], [2.0, 1.0]]))


# --- What holds at all frames ---------------------------------------------------------------------


def is_thin(values: np.ndarray) -> bool:
    return values.strides[0] == 0


def test_what_holds_at_all_frames_takes_up_one():
    still, moving = np.repeat(affine(1), 5, axis=0), affine(5)
    assert is_thin(thinned(still)) and (thinned(still) == still).all()
    assert thinned(moving) is moving
    assert thinned(np.empty((0, 4, 4))).shape == (0, 4, 4)


@pytest.mark.parametrize("lost", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_told_at_its_frames(lost):
    still, moving = np.repeat(affine(1), 5, axis=0), affine(5)
    moving[3, 1, 1] = lost
    assert are_finite(thinned(still)).tolist() == [True] * 5
    assert are_finite(moving).tolist() == [True, True, True, False, True]
    still[:, 0, 3] = lost
    assert are_finite(thinned(still)).tolist() == [False] * 5
    assert are_finite(np.broadcast_to(still[0], still.shape)).tolist() == [False] * 5


@pytest.mark.parametrize("rows", [[4, 0, 0], np.array([1, 2]), slice(1, 3), []], ids=str)
def test_frames_are_picked_as_thin_as_they_are(rows):
    still, moving = np.repeat(affine(1), 5, axis=0), affine(5)
    assert (picked(thinned(still), rows) == still[rows]).all() and (
        picked(moving, rows) == moving[rows]
    ).all()
    assert picked(thinned(still), rows).shape == still[rows].shape
    assert is_thin(picked(thinned(still), rows))


def test_products_are_thin_where_both_are():
    still, moving = np.repeat(affine(1), 5, axis=0), affine(5)
    thin = thinned(still)
    for a, b in ((thin, thin), (thin, moving), (moving, thin), (moving, moving)):
        assert np.allclose(product(a, b), np.array(a) @ np.array(b), rtol=1e-14, atol=1e-14)
        assert is_thin(product(a, b)) == (a is b is thin)


def test_vectors_are_turned_alike_by_thin_matrices_and_by_others():
    linear, vectors = affine(5)[:, :3, :3], CHANCE.normal(size=(5, 3))
    expected = [matrix @ vector for matrix, vector in zip(linear, vectors, strict=True)]
    assert np.allclose(turned(linear, vectors), expected, rtol=1e-14, atol=1e-14)
    still = np.repeat(linear[:1], 5, axis=0)
    assert np.allclose(turned(thinned(still), vectors), turned(still, vectors), rtol=1e-14, atol=1e-14)


def test_vectors_of_several_chains_are_turned_as_those_of_each():
    vectors = CHANCE.normal(size=(4, 5, 3))
    for matrices in (affine(4, 5), affine(4, 1)):
        linear = matrices[..., :3, :3]
        each = [
            turned(thinned(np.repeat(one, 5 // len(one), axis=0)), own)
            for one, own in zip(linear, vectors, strict=True)
        ]
        assert turned(linear, vectors) == pytest.approx(np.array(each), rel=0.0, abs=1e-14)


def test_values_of_one_frame_hold_at_all():
    moving, still = np.arange(6.0).reshape(3, 2), np.arange(2.0)[None]
    assert at_all(moving, 3) is moving
    assert at_all(still, 3).tolist() == [[0.0, 1.0]] * 3 and is_thin(at_all(still, 3))


@pytest.mark.parametrize("one", [np.eye(4)[:3, 1:], np.arange(4.0), np.array(2.0)], ids=str)
@pytest.mark.parametrize("frames", [0, 1, 3])
def test_what_is_repeated_takes_up_one_frame_and_is_to_read_alone(one, frames):
    found = repeated(one, frames)
    assert np.array_equal(found, np.broadcast_to(one, (frames, *one.shape)))
    assert found.strides[0] == 0 and not found.flags.writeable


def test_norms_are_the_lengths_of_vectors():
    vectors = CHANCE.normal(size=(7, 3))
    assert np.allclose(norms(vectors), np.linalg.norm(vectors, axis=1), rtol=1e-15)


@pytest.mark.parametrize("frame", [0, 2, 4])
def test_one_frame_that_differs_is_found(frame):
    values = np.zeros((5, 3))
    assert is_constant(values)
    values[frame] += 1.0
    assert not is_constant(values)


@pytest.mark.parametrize("shapes", [((3,), (3,)), ((7, 3), (3,)), ((5, 2, 3), (2, 3))], ids=str)
def test_cross_products_are_numpys_to_the_bit(shapes):
    chance = np.random.default_rng(5)
    one, other = (chance.normal(size=shape) for shape in shapes)
    assert (crossed(one, other) == np.cross(one, other)).all()


@dataclass(frozen=True, eq=False)
class Some(Frames):
    places: NDArray[np.float64]
    others: NDArray[np.float64] | None = None
    name: str | None = None


@dataclass(frozen=True, eq=False)
class More(Frames):
    some: Some
    parts: list[NDArray[np.float64]]


@pytest.mark.parametrize("rows", [[3, 0], range(1, 4), slice(1, 3), np.array([2, 2])], ids=str)
def test_some_of_the_frames_are_those_of_every_array_and_the_rest_stays(rows):
    numbers, wide = np.arange(5.0), np.arange(10.0).reshape(5, 2)
    found = More(Some(numbers, thinned(np.ones((5, 2))), "all"), [wide, -wide]).at(rows)
    assert np.array_equal(found.some.places, numbers[rows]) and found.some.name == "all"
    assert is_thin(found.some.others) and found.some.others.shape == (len(numbers[rows]), 2)
    assert all(np.array_equal(*pair) for pair in zip(found.parts, (wide[rows], -wide[rows]), strict=True))
    assert Some(numbers).at(rows).others is None


def test_some_fields_of_a_dataclass_are_changed_and_what_it_remembered_is_not_kept():
    @dataclass(frozen=True)
    class Kept:
        places: int
        name: str = "all"

        @cached_property
        def twice(self) -> int:
            return 2 * self.places

    before = Kept(1)
    assert before.twice == 2
    after = changed(before, places=3)
    assert (after, after.twice, after.name) == (Kept(3), 6, "all") and before == Kept(1)


def test_joined_frames_follow_one_another():
    first, second = Some(np.arange(2.0)), Some(np.arange(3.0))
    assert Some.joined([first]) is first
    found = Some.joined([first, second])
    assert found.places.tolist() == [0.0, 1.0, 0.0, 1.0, 2.0] and found.others is None


def test_of_no_frames_none_is_finite():
    assert are_finite(np.empty((0, 3))).shape == (0,) and are_finite(np.empty((0, 2, 4, 4))).shape == (0,)


def test_values_that_are_the_same_at_all_frames_become_one():
    same, other = np.array([[1.0, 2.0], [1.0, 2.0]]), np.array([[1.0, 2.0], [2.0, 1.0]])
    assert one_or_all(same).tolist() == [1.0, 2.0]
    assert one_or_all(other) is other


def test_axes_are_found_whatever_the_scale() -> None:
    axes = np.linalg.qr(CHANCE.normal(size=(3, 3)))[0]
    axes[:, 2] *= np.linalg.det(axes)
    for scale in ((1, 1, 1), (0.2, 3, 5), (-2, 2, 2)):
        found = orientations(axes @ np.diag(scale))
        assert found == pytest.approx(axes @ np.diag(np.sign(scale)), abs=1e-12)
    sheared = axes @ np.array([[1, 0, 0.5], [0, 1, 0], [0, 0, 1]])
    assert orientations(sheared)[:, 1] == pytest.approx(axes[:, 1], abs=1e-12)
    assert orientations(sheared).T @ orientations(sheared) == pytest.approx(np.eye(3), abs=1e-12)


def test_a_matrix_of_cross_products_gives_numpy_s_own():
    vectors, other = CHANCE.normal(size=(4, 2, 3)), CHANCE.normal(size=3)
    assert crosses(vectors) @ other == pytest.approx(np.cross(vectors, other), abs=1e-15)


def test_rotations_are_right_handed_about_an_axis_of_each_or_of_all():
    x, y, z = np.eye(3)
    each = rotations_about(np.stack((z, x)), np.radians((90.0, 90.0)))
    assert each[0] @ x == pytest.approx(y, abs=1e-15)
    assert each[1] @ y == pytest.approx(z, abs=1e-15)
    about_one = rotations_about(z, np.radians(((90.0, 180.0), (0.0, -90.0))))
    assert about_one @ x == pytest.approx(np.array(((y, -x), (x, -y))), abs=1e-15)


def test_rotations_keep_their_axis_and_lengths():
    axis, angles = np.array((2.0, -3.0, 6.0)) / 7.0, CHANCE.uniform(-9.0, 9.0, 5)
    found = rotations_about(axis, angles)
    assert found @ axis == pytest.approx(np.tile(axis, (5, 1)), abs=1e-15)
    assert found @ found.swapaxes(1, 2) == pytest.approx(np.tile(np.eye(3), (5, 1, 1)), abs=1e-14)
    assert np.trace(found, axis1=1, axis2=2) == pytest.approx(1.0 + 2.0 * np.cos(angles), abs=1e-14)
