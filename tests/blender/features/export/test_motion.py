# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion as keys: bones that nothing but keys moves get the pose that they had, between frames too."""

import numpy as np

from ik2d_addon.features.export.motion import (
    RigMotion,
    Skeleton,
    curves_of,
    joined,
    local_transforms,
    moved_properties,
    parts,
    quaternions,
)


def some_rotations(count: int, seed: int) -> np.ndarray:
    """Return rotations (count, 3, 3) that lead on from one another, through more than a turn."""
    random = np.random.default_rng(seed)
    axis = random.normal(size=3)
    axis /= np.linalg.norm(axis)
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    angles = np.linspace(0.0, 9.0, count)[:, None, None]
    return np.eye(3) + np.sin(angles) * cross + (1 - np.cos(angles)) * cross @ cross


def test_quaternions_stay_on_one_side_and_are_the_rotations():
    rotations = some_rotations(41, 1)
    turns = quaternions(rotations)
    assert ((turns[1:] * turns[:-1]).sum(axis=1) > 0.0).all() and turns[0, 0] >= 0.0
    w, x, y, z = turns.T
    assert np.abs(1 - 2 * (y * y + z * z) - rotations[:, 0, 0]).max() < 1e-12
    assert np.abs(2 * (x * y + z * w) - rotations[:, 1, 0]).max() < 1e-12
    assert np.abs(2 * (y * z + x * w) - rotations[:, 2, 1]).max() < 1e-12


def test_cubics_meet_frames_and_half_way():
    random = np.random.default_rng(2)
    values = np.cumsum(random.normal(size=(21, 3)), axis=0)
    keys = curves_of(values)
    half = (keys.values[:-1] + 3 * keys.after[:-1] + 3 * keys.before[1:] + keys.values[1:]) / 8
    assert np.abs(keys.values - values[::2]).max() == 0.0
    assert np.abs(half - values[1::2]).max() < 1e-12


def test_cubics_of_quaternions_meet_their_directions_and_are_at_right_angles_to_the_keys():
    turns = quaternions(some_rotations(61, 3))
    keys = curves_of(turns)
    half = (keys.values[:-1] + 3 * keys.after[:-1] + 3 * keys.before[1:] + keys.values[1:]) / 8
    half /= np.linalg.norm(half, axis=1)[:, None]
    assert np.abs(half - turns[1::2]).max() < 1e-7
    assert np.abs(((keys.after - keys.values) * keys.values).sum(axis=1)).max() < 1e-12


def test_what_does_not_move_has_two_keys():
    assert len(curves_of(np.ones((21, 3))).values) == 2
    still = {"location": np.zeros((5, 3)), "scale": np.ones((5, 3))}
    still["rotation_quaternion"] = np.tile([1.0, 0.0, 0.0, 0.0], (5, 1))
    turned = {**still, "rotation_quaternion": quaternions(some_rotations(5, 4))}
    assert moved_properties([still, turned]) == ("rotation_quaternion",)
    assert moved_properties([still]) == ()


def test_heads_and_directions_are_exact_below_a_parent_that_is_stretched():
    random = np.random.default_rng(5)
    rests = np.tile(np.eye(4), (3, 1, 1))
    rests[:, :3, 3] = [(0, 0, 0), (0, 1, 0), (0, 1.8, 0)]
    skeleton = Skeleton(("a", "b", "c"), (-1, 0, 1), rests, np.array([1.0, 0.8, 0.5]))
    poses = np.zeros((9, 3, 4, 4))
    for row in range(3):
        scale = 1.0 + random.uniform(0.0, 0.5, (9, 3))
        poses[:, row] = joined(random.normal(size=(9, 3)), some_rotations(9, 6 + row), scale)
    motion = RigMotion(("a", "b", "c"), poses, np.tile(np.eye(4), (9, 1, 1)))
    found = local_transforms(skeleton, motion)
    shown = np.tile(np.eye(4), (9, 1, 1))
    for row, bone in enumerate(skeleton.bones):
        above = np.eye(4) if row == 0 else np.linalg.inv(rests[row - 1])
        w, x, y, z = found[bone]["rotation_quaternion"].T
        turn = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
        ).transpose(2, 0, 1)
        shown = shown @ above @ rests[row] @ joined(found[bone]["location"], turn, found[bone]["scale"])
        assert np.abs(shown[:, :3, 3] - poses[:, row, :3, 3]).max() < 1e-9
        assert np.abs(shown[:, :3, 1] - poses[:, row, :3, 1]).max() < 1e-9


def test_parts_make_the_matrix_again_where_nothing_shears():
    matrices = joined(np.ones((7, 3)), some_rotations(7, 9), np.tile([1.0, 2.0, 0.5], (7, 1)))
    assert np.abs(joined(*parts(matrices)) - matrices).max() < 1e-12
