# SPDX-License-Identifier: GPL-3.0-or-later
"""A sweep of cyclic coordinate descent, and the bones that it moves."""

import cmath

import numpy as np
import pytest
from chains import SLIDING, pose_within, sliding_chain

from ik2d_addon.core import Chain
from ik2d_addon.core.arithmetic import ARRAYS
from ik2d_addon.core.ccd.sweep import Bones, sweep, swept


def reference_sweep(bones, angles, target):
    """One sweep on complex numbers, with weights and limits."""
    angles = list(angles)
    for i in reversed(range(len(angles))):
        joints = [0j]
        for k, length in enumerate(bones.lengths):
            joints.append(joints[-1] + cmath.rect(length, sum(angles[: k + 1])))
        arm, aim = joints[-1] - joints[i], target - joints[i]
        turn = cmath.phase(aim / arm) if abs(arm) * abs(aim) > 1e-12 else 0.0
        angles[i] = min(max(angles[i] + bones.weights[i] * turn, bones.low[i]), bones.high[i])
    return angles


@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_a_sweep_heeds_weights_and_limits_and_arrays_give_what_floats_give(n):
    rng = np.random.default_rng(n)
    weights, width = rng.choice([0.0, 0.3, 1.0], n), rng.choice([0.2, 1.0, np.inf], n)
    starts, points = rng.uniform(-2.0, 2.0, (40, n)), rng.uniform(-1.0, 1.0, (40, 2))
    lengths = rng.uniform(0.1, 1.0, n)
    middle = rng.uniform(-1.0, 1.0, n)
    bones = Bones(
        (lengths / lengths.sum()).tolist(), weights.tolist(), *(middle + [[-1], [1]] * width).tolist()
    )
    arrays = np.array(sweep(bones, list(starts.T), *points.T, ARRAYS)).T
    for start, (x, y), array in zip(starts, points.tolist(), arrays, strict=True):
        found = sweep(bones, start.tolist(), x, y)
        assert np.allclose(found, reference_sweep(bones, start, complex(x, y)), rtol=0.0, atol=1e-9)
        assert np.allclose(found, array, rtol=0.0, atol=1e-9)
        assert (np.array(found) >= bones.low).all() and (np.array(found) <= bones.high).all()


def test_bones_are_a_chain_in_reaches():
    bones = Bones.of(Chain([3.0, 1.0], limits=[[np.nan, 1.0], [-2.0, np.nan]], weights=[0.5, 1.0]))
    assert bones == Bones([0.75, 0.25], [0.5, 1.0], [-np.inf, -2.0], [1.0, np.inf])
    assert Bones.of(Chain([2.0, 2.0])) == Bones([0.5] * 2, [1.0] * 2, [-np.inf] * 2, [np.inf] * 2)
    assert Bones.of(Chain([0.0])).lengths == [0.0]


def test_bones_that_slide_have_their_ranges_behind_those_of_the_joints():
    chain = Chain([2.0, 1.0], [[-1.0, 2.0], [0.0, 3.0]], [1.0, 0.5], slides=[(-1.0, 1.0), (0.0, 0.0)])
    bones = Bones.of(chain)
    assert bones == Bones([0.5, 0.25], [1.0, 0.5, 1.0, 0.0], [-1.0, 0.0, -0.25, 0.0], [2.0, 3.0, 0.25, 0.0])
    assert bones.is_sliding and not Bones.of(Chain([2.0, 1.0])).is_sliding
    for other in (chain, Chain([3.0, 1.0], slides=[(-1.0, 0.5), (0.0, 1.0)]), Chain([3.0, 1.0])):
        assert max(0.0, Bones.of(other).inner) * other.reach[1] == pytest.approx(other.reach[0])


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_sweep_slides_within_the_ranges_and_arrays_give_what_floats_give(n):
    rng = np.random.default_rng(n)
    for kind in SLIDING:
        chain = sliding_chain(rng, n, kind)
        bones = Bones.of(chain)
        poses = [pose_within(rng, chain) for _ in range(20)]
        starts = np.array([[*angles, *slides / chain.reach[1]] for angles, slides in poses])
        points = rng.uniform(-1.0, 1.0, (20, 2))
        arrays = np.array(sweep(bones, list(starts.T), *points.T, ARRAYS)).T
        for start, (x, y), array in zip(starts, points.tolist(), arrays, strict=True):
            found = sweep(bones, start.tolist(), x, y)
            assert np.allclose(found, array, rtol=0.0, atol=1e-9)
            assert (np.array(found) >= bones.low).all() and (np.array(found) <= bones.high).all()


def test_a_sweep_that_is_shared_slides_each_bone_by_a_part():
    bones = Bones.of(Chain(np.ones(4), slides=[(0.0, 4.0)] * 4))
    found = sweep(bones.sharing, [0.0] * 8, 0.6, 0.0)
    error = 0.6 - 4 / 20
    assert found[7] == pytest.approx(error / 4)
    assert found[6] == pytest.approx(error * 3 / 16)


def swept_at_once(bones, poses, points):
    n, m = poses.shape
    return swept(bones, poses, points, np.empty(4 * (n + 1) * m))


@pytest.mark.parametrize("weighted", (False, True))
@pytest.mark.parametrize("m", (1, 20, 100))
@pytest.mark.parametrize("n", (1, 2, 3, 8, 50))
def test_each_pose_gets_what_it_gets_alone(n, m, weighted):
    rng = np.random.default_rng([n, m])
    weights = rng.uniform(0.1, 1.0, n) if weighted else None
    whole = Bones.of(Chain(rng.uniform(0.2, 1.0, n), weights=weights))
    poses, points = rng.uniform(-9.0, 9.0, (n, m)), rng.uniform(-1.0, 1.0, (2, m))
    given = poses.copy()
    for bones in (whole, whole.sharing):
        found = swept_at_once(bones, poses, points)
        for row in range(m):
            alone = sweep(bones, poses[:, row].tolist(), *points[:, row].tolist())
            assert np.allclose(found[:, row], alone, rtol=0.0, atol=1e-9)
    assert (poses == given).all()


def test_joints_without_a_defined_angle_stay_as_they_are():
    """A target on a joint, a tip on a joint, a bone without length; beside poses that have none of these."""
    bones = Bones([0.5, 0.25, 0.25, 0.0], [1.0] * 4, [-np.inf] * 4, [np.inf] * 4)
    poses = np.array(
        [[0.0, 0.0, 0.0, 0.0], [0.0, np.pi, 0.0, 0.3], [0.4, 0.3, np.pi, 0.0], [0.2, 0.1, 0.3, 0.7]]
    ).T
    points = np.array([[0.5, 0.0], [0.2, 0.1], [0.3, 0.3], [0.1, 0.6]]).T
    found = swept_at_once(bones, poses, points)
    assert (found[3] == poses[3]).all()
    for row in range(4):
        alone = sweep(bones, poses[:, row].tolist(), *points[:, row].tolist())
        assert np.allclose(found[:, row], alone, rtol=0.0, atol=1e-9)


def test_half_a_turn_is_to_the_left():
    bones = Bones.of(Chain([1.0]))
    found = swept_at_once(bones, np.array([[0.0, 0.0]]), np.array([[-1.0, -0.5], [0.0, -0.0]]))
    assert found[0].tolist() == pytest.approx([np.pi, np.pi])
