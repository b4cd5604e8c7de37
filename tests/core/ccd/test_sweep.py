# SPDX-License-Identifier: GPL-3.0-or-later
"""A sweep of cyclic coordinate descent, and the bones that it moves."""

import cmath

import numpy as np
import pytest
from chains import SLIDING, pose_within, sliding_chain

from ik2d_addon.core import Chain
from ik2d_addon.core.ccd.sweep import CcdBones, sweep


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
    bones = CcdBones(
        (lengths / lengths.sum()).tolist(), weights.tolist(), *(middle + [[-1], [1]] * width).tolist()
    )
    for start, (x, y) in zip(starts, points.tolist(), strict=True):
        found = sweep(bones, start.tolist(), x, y)
        assert np.allclose(found, reference_sweep(bones, start, complex(x, y)), rtol=0.0, atol=1e-9)
        assert (np.array(found) >= bones.low).all() and (np.array(found) <= bones.high).all()


def test_bones_are_a_chain_in_reaches():
    bones = CcdBones.of(Chain([3.0, 1.0], limits=[[np.nan, 1.0], [-2.0, np.nan]], weights=[0.5, 1.0]))
    assert bones == CcdBones([0.75, 0.25], [0.5, 1.0], [-np.inf, -2.0], [1.0, np.inf])
    assert CcdBones.of(Chain([2.0, 2.0])) == CcdBones([0.5] * 2, [1.0] * 2, [-np.inf] * 2, [np.inf] * 2)
    assert CcdBones.of(Chain([0.0])).lengths == [0.0]


def test_bones_that_slide_have_their_ranges_behind_those_of_the_joints():
    chain = Chain([2.0, 1.0], [[-1.0, 2.0], [0.0, 3.0]], [1.0, 0.5], slides=[(-1.0, 1.0), (0.0, 0.0)])
    bones = CcdBones.of(chain)
    assert bones == CcdBones(
        [0.5, 0.25], [1.0, 0.5, 1.0, 0.0], [-1.0, 0.0, -0.25, 0.0], [2.0, 3.0, 0.25, 0.0]
    )
    assert bones.is_sliding and not CcdBones.of(Chain([2.0, 1.0])).is_sliding
    for other in (chain, Chain([3.0, 1.0], slides=[(-1.0, 0.5), (0.0, 1.0)]), Chain([3.0, 1.0])):
        assert max(0.0, CcdBones.of(other).inner) * other.reach[1] == pytest.approx(other.reach[0])


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_sweep_slides_within_the_ranges(n):
    rng = np.random.default_rng(n)
    for kind in SLIDING:
        chain = sliding_chain(rng, n, kind)
        bones = CcdBones.of(chain)
        poses = [pose_within(rng, chain) for _ in range(20)]
        starts = np.array([[*angles, *slides / chain.reach[1]] for angles, slides in poses])
        points = rng.uniform(-1.0, 1.0, (20, 2))
        for start, (x, y) in zip(starts, points.tolist(), strict=True):
            found = sweep(bones, start.tolist(), x, y)
            assert (np.array(found) >= bones.low).all() and (np.array(found) <= bones.high).all()


def test_a_sweep_that_is_shared_slides_each_bone_by_a_part():
    bones = CcdBones.of(Chain(np.ones(4), slides=[(0.0, 4.0)] * 4))
    found = sweep(bones.sharing, [0.0] * 8, 0.6, 0.0)
    error = 0.6 - 4 / 20
    assert found[7] == pytest.approx(error / 4)
    assert found[6] == pytest.approx(error * 3 / 16)


def test_joints_without_a_defined_angle_stay_as_they_are():
    """A target on a joint, a tip on a joint, a bone without length."""
    bones = CcdBones([0.5, 0.25, 0.25, 0.0], [1.0] * 4, [-np.inf] * 4, [np.inf] * 4)
    for pose, (x, y), still in (
        ([0.0, 0.0, 0.0, 0.0], (0.5, 0.0), (1, 3)),
        ([0.0, np.pi, 0.0, 0.3], (0.2, 0.1), (3,)),
        ([0.4, 0.3, np.pi, 0.0], (0.3, 0.3), (3,)),
        ([0.2, 0.1, 0.3, 0.7], (0.1, 0.6), (3,)),
    ):
        found = sweep(bones, pose, x, y)
        assert [found[i] for i in still] == [pose[i] for i in still]
        assert np.allclose(found, reference_sweep(bones, np.array(pose), complex(x, y)), rtol=0.0, atol=1e-9)


def test_half_a_turn_is_to_the_left():
    bones = CcdBones.of(Chain([1.0]))
    assert [sweep(bones, [0.0], x, y)[0] for x, y in ((-1.0, 0.0), (-0.5, -0.0))] == [np.pi, np.pi]
