# SPDX-License-Identifier: GPL-3.0-or-later
"""The angle of a post: its plane holds the target, and where it cannot, is as near as it can be."""

import numpy as np
import pytest

from ik2d_addon.core.affine import rotations_about
from ik2d_addon.core.post import HELD, LIMITED, NEAREST, PostRule, side_at_rest

FINE = np.linspace(-np.pi, np.pi, 2881)


def cases(seed: int, count: int = 200):
    rng = np.random.default_rng(seed)
    normals = rng.normal(size=(count, 3))
    return rng.normal(size=(count, 3)), normals, rng.normal(size=count) * 0.4, np.full(count, 1.0)


def gap(axis: int, angles, targets, normals, distances):
    """Return by how much turned planes miss targets."""
    back = rotations_about(np.eye(3)[axis], -angles) @ targets[..., None]
    return np.abs((normals * back[..., 0]).sum(axis=-1) - distances) / np.linalg.norm(normals, axis=-1)


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("side", (1.0, -1.0))
def test_the_plane_holds_the_target_or_is_as_near_as_any_angle_has_it(axis, side):
    given = cases(axis)
    found = PostRule(axis, side).solve(*given)
    targets, normals, distances, _ = given
    missed = gap(axis, found.angles, targets, normals, distances)
    assert missed[found.status == HELD].max() < 1e-12
    others = [gap(axis, np.full(len(targets), angle), *given[:3]) for angle in FINE]
    assert (missed <= np.min(others, axis=0) + 1e-12).all()
    assert {HELD, NEAREST} == set(found.status.tolist())


@pytest.mark.parametrize("limits", (None, (-0.8, 0.3), (1.0, 7.0)))
@pytest.mark.parametrize("over", (False, True))
def test_plain_numbers_and_arrays_agree(limits, over):
    for axis in range(3):
        rule = PostRule(axis, 1.0, limits, over)
        found = rule.solve(*(given := cases(7 + axis)))
        for row, (target, normal, distance, reach) in enumerate(zip(*given, strict=True)):
            angle, status = rule.angle(tuple(target), tuple(normal), distance, reach)
            assert abs(angle - found.angles[row]) < 1e-12 and status == found.status[row]


def test_limits_stop_the_post_at_their_nearer_end():
    rule, free = PostRule(1, 1.0, (-0.5, 0.9)), PostRule(1, 1.0)
    found, wanted = rule.solve(*(given := cases(3))), free.solve(*given)
    from_middle = 0.2 + (wanted.angles - 0.2 + np.pi) % (2.0 * np.pi) - np.pi
    assert np.allclose(found.angles, np.clip(from_middle, -0.5, 0.9))
    assert ((found.status == LIMITED) == (np.abs(from_middle - 0.2) > 0.7)).all()


def test_reaching_over_holds_targets_that_a_limit_would_lose():
    given = cases(5)
    stops = PostRule(2, 1.0, (-1.5, 1.5)).solve(*given)
    over = PostRule(2, 1.0, (-1.5, 1.5), reaches_over=True).solve(*given)
    more = (stops.status == LIMITED) & (over.status == HELD)
    assert more.sum() > 30 and gap(2, over.angles, *given[:3])[more].max() < 1e-12
    kept = stops.status != LIMITED
    assert (over.angles[kept] == stops.angles[kept]).all()


def test_a_target_on_the_axis_leaves_the_post_as_at_rest():
    for axis in range(3):
        normal = np.roll((1.0, 0.0, 0.0), axis + 1)  # square to the axis
        tip = np.roll((0.3, 0.0, 0.8), axis + 1) @ np.eye(3)
        joints = np.stack((np.zeros(3), 0.4 * np.eye(3)[axis], tip))
        side = side_at_rest(axis, normal, joints)
        for noise in (1e-9, -1e-9, 3e-8):
            on_axis = np.eye(3)[axis] * 1.3 + noise
            found = PostRule(axis, side).solve(on_axis[None], normal[None], np.full(1, noise), np.ones(1))
            assert abs(found.angles[0]) < 0.05 and found.near_axis[0]


@pytest.mark.parametrize("seed", range(20))
def test_at_the_tip_of_the_rest_pose_the_post_is_at_rest(seed):
    rng = np.random.default_rng(seed)
    axis = int(rng.integers(3))
    normal = rng.normal(size=3)
    normal /= np.linalg.norm(normal)
    joints = rng.normal(size=(4, 3))
    distance = float(rng.normal() * 0.2)
    joints -= np.multiply.outer(joints @ normal - distance, normal)
    rule = PostRule(axis, side_at_rest(axis, normal, joints))
    angle, status = rule.angle(tuple(joints[-1]), tuple(normal), distance, 1.0)
    assert status == HELD and abs(angle) < 1e-9


def test_a_tip_over_the_axis_leaves_the_side_to_the_joint_before():
    up, normal = np.eye(3)[1], np.eye(3)[2]
    bent_to = {sign: np.array((0 * up, (sign * 0.3, 0.5, 0), up)) for sign in (1.0, -1.0)}
    sides = {sign: side_at_rest(1, normal, joints) for sign, joints in bent_to.items()}
    assert sides[1.0] == -sides[-1.0]
    assert side_at_rest(1, normal, np.array((0 * up, 0.5 * up, up))) == 1.0


def test_angles_go_on_from_one_another_but_not_beyond_limits():
    round_and_round = np.linspace(0.0, 20.0, 80)
    wrapped = (round_and_round + np.pi) % (2 * np.pi) - np.pi
    assert np.allclose(PostRule(0, 1.0).going_on(wrapped), round_and_round)
    assert np.allclose(PostRule(0, 1.0).going_on(wrapped, 4.0 * np.pi + 0.1), round_and_round + 4.0 * np.pi)
    limited = PostRule(0, 1.0, (-3.0, 3.0))
    assert (limited.going_on(wrapped) == wrapped).all()
