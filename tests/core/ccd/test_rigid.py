# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains some of whose joints do not turn: the joined chain is the whole one, seen from another place."""

import numpy as np
import pytest

from ik2d_addon.core import Chain, Status, forward, solve_ccd, solve_ccd_path
from ik2d_addon.core.ccd.rigid import is_rigid, joined, mirrored
from ik2d_addon.core.ccd.sweep import CcdBones


def random_chain(rng, n, *, with_limits):
    """A chain with rigid joints, by weight and by equal limits, and a start within its limits."""
    start = rng.uniform(-2.0, 2.0, n)
    weights = rng.choice([0.0, 0.5, 1.0], n, p=[0.3, 0.2, 0.5])
    weights[rng.integers(n)] = 1.0
    width = rng.choice([0.0, 0.5, 2.0], n) if with_limits else np.full(n, np.inf)
    limits = np.stack([start - width * rng.random(n), start + width * rng.random(n)], axis=1)
    limits[width == 0.0] = start[width == 0.0, np.newaxis]
    lengths = rng.uniform(0.2, 1.0, n)
    return Chain(lengths / lengths.sum(), limits if with_limits else None, weights), start


def test_a_joint_is_rigid_by_its_weight_or_by_limits_that_leave_one_angle():
    bones = CcdBones([0.25] * 4, [1.0, 0.0, 1.0, 0.1], [-1.0, -1.0, 0.5, 0.5], [1.0, 1.0, 0.5, 0.6])
    assert [is_rigid(bones, i) for i in range(4)] == [False, True, True, False]


@pytest.mark.parametrize("with_limits", (False, True))
@pytest.mark.parametrize("n", (2, 3, 8))
def test_the_joined_chain_has_its_joints_where_the_whole_one_has_them(n, with_limits):
    rng = np.random.default_rng([n, with_limits])
    for _ in range(100):
        chain, start = random_chain(rng, n, with_limits=with_limits)
        bones = CcdBones.of(chain)
        turning = [i for i in range(n) if not is_rigid(bones, i)]
        part = joined(bones, start.tolist())
        if part is None:
            assert not turning
            continue
        assert part.turning == turning
        greatest = max(bones.weights[i] for i in turning)
        assert part.bones.weights == [bones.weights[i] / greatest for i in turning]
        assert sum(part.bones.lengths) == pytest.approx(1.0)
        pose = start.copy()
        pose[turning] += rng.uniform(-0.3, 0.3, len(turning))
        joints = forward(chain, pose)
        ends = np.array([joints[i] for i in (*turning[1:], n)])
        inner = forward(Chain(part.bones.lengths), part.inner_angles(pose.tolist()))
        assert np.allclose(inner[1:] * part.reach + part.base, ends, rtol=0.0, atol=1e-14)
        assert np.allclose(part.base, joints[turning[0]], rtol=0.0, atol=1e-15)
        # Each range moves with its angle.
        for i, low, high, angle in zip(
            turning, part.bones.low, part.bones.high, part.inner_angles(pose.tolist()), strict=True
        ):
            if with_limits:
                assert angle - low == pytest.approx(pose[i] - bones.low[i], abs=1e-13)
                assert high - angle == pytest.approx(bones.high[i] - pose[i], abs=1e-13)
            else:
                assert low == -np.inf and high == np.inf


def test_mirrored_a_chain_keeps_its_tip_and_the_angles_of_rigid_joints():
    start, free = [0.3, 0.5, -0.2, 0.7], ([-np.inf] * 4, [np.inf] * 4)
    weights = ([1.0] * 4, [1.0, 1.0, 0.0, 1.0], [0.0, 1.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0])
    held = [CcdBones([0.25] * 4, each, *free) for each in weights]
    stopped = CcdBones([0.25] * 4, [1.0] * 4, [0.3, *free[0][1:]], [0.3, *free[1][1:]])
    for bones in (*held, stopped):
        turned = mirrored(bones, start)
        joints = forward(Chain([0.25] * 4), [start, turned])
        assert np.allclose(*joints[:, -1], rtol=0.0, atol=1e-15)
        rigid = [is_rigid(bones, i) for i in range(4)]
        assert [angle for angle, is_held in zip(turned, rigid, strict=True) if is_held] == [
            angle for angle, is_held in zip(start, rigid, strict=True) if is_held
        ]
        # Each joint between two that turn comes to the other side of the line from the first of them.
        first = rigid.index(False)
        line, arms = joints[0, -1] - joints[0, first], joints[:, first + 1] - joints[:, first]
        sides = line[0] * arms[:, 1] - line[1] * arms[:, 0]
        assert sides[0] == pytest.approx(-sides[1]) or bones is held[1]
        assert np.allclose(mirrored(bones, turned), start, rtol=0.0, atol=1e-14)
    still = CcdBones([0.25] * 4, [0.0] * 4, *free)
    assert mirrored(still, start) == start


@pytest.mark.parametrize("limits", (None, [-3.5, 3.5]))
def test_a_root_of_weight_0_loses_no_change_of_the_bend(limits):
    """The first joint that turns aims, here by more than the others bend: that is not the chain's side."""
    chain = Chain(np.ones(4) / 4, None if limits is None else [limits] * 4, weights=[0.0, 1.0, 1.0, 1.0])
    path, bend = [[0.1, 0.7]] * 4, [1, 1, -1, 1]
    for gain in (0.0, 10.0):
        start = [0.0, 1.2, 0.4, 0.4]
        angles = solve_ccd_path(chain, path, start=start, bend=bend, posture_gain=gain).angles
        assert np.sign(angles[:, 2:]).tolist() == [[side, side] for side in bend]
        assert (angles[:, 0] == 0.0).all()


@pytest.mark.parametrize("limits", (None, [-3.5, 3.5]))
def test_a_target_within_rounding_of_the_first_joint_that_turns_is_on_it(limits):
    n = 3
    chain = Chain([0.5, 0.5, 0.25], None if limits is None else [limits] * n, [0.0, 0.0, 1.0])
    start, rng = [0.4, 0.3, -2.0], np.random.default_rng(0)
    pivot = forward(chain, start)[2]
    for size in (1e-16, 1e-12, 1e-7):
        targets = pivot + size * rng.uniform(-1.0, 1.0, (10, 2))
        for target in targets:
            assert np.array_equal(solve_ccd(chain, target, start=start).angles, start)
        assert np.array_equal(solve_ccd_path(chain, targets, start=start).angles, [start] * 10)
    away = solve_ccd(chain, pivot + [0.0, 1e-5], start=start)
    assert away.angles.sum() == pytest.approx(np.pi / 2.0, abs=1e-6)


def test_nothing_that_turns_or_only_bones_of_no_length_behind_it_leave_the_start():
    start = [0.1, 0.2]
    still = CcdBones([0.5, 0.5], [0.0, 0.0], [-np.inf] * 2, [np.inf] * 2)
    assert joined(still, start) is None
    found = solve_ccd(Chain([0.5, 0.5], weights=[0.0, 0.0]), [0.5, 0.5], start=start)
    assert (found.angles.tolist(), found.status) == (start, Status.LIMITED)
    for length, is_none in ((0.0, True), (0.5e-12, True), (2e-12, False)):
        hidden = CcdBones([1.0 - length, length], [0.0, 1.0], [-np.inf] * 2, [np.inf] * 2)
        assert (joined(hidden, start) is None) == is_none


@pytest.mark.parametrize("n", (3, 6))
def test_the_joined_chain_reaches_what_its_annulus_holds_and_points_at_the_rest(n):
    rng = np.random.default_rng(n)
    for _ in range(40):
        chain, start = random_chain(rng, n, with_limits=False)
        part = joined(CcdBones.of(chain), start.tolist())
        inner, outer = (r * part.reach for r in Chain(part.bones.lengths).reach)
        base = complex(*part.base)
        targets = rng.uniform(-1.0, 1.0, (6, 2))
        solution = solve_ccd(chain, targets, start=start)
        for target, residual, status in zip(targets, solution.residual, solution.status, strict=True):
            distance = abs(complex(*target) - base)
            expected = max(distance - outer, inner - distance, 0.0)
            assert residual == pytest.approx(expected, abs=1e-6)
            if np.hypot(*target) < 1.0 and expected > 1e-5:
                assert status in (Status.LIMITED, Status.TOO_CLOSE)


def test_the_tolerance_is_that_of_the_whole_chain():
    """The part that turns is a thousandth of the reach: a tolerance in its own reaches would be coarser."""
    chain = Chain([0.999, 0.0005, 0.0005], weights=[0.0, 1.0, 1.0])
    target = forward(chain, [0.3, 0.2, 0.9])[-1]
    solution = solve_ccd(chain, target, start=[0.3, 0.0, 2.0], tolerance=1e-9)
    assert solution.status == Status.REACHED
    assert solution.residual <= 1e-9


def test_of_two_bones_with_limits_a_rigid_one_stays():
    chain = Chain([1.0, 1.0], [[-2.0, 2.0], [-2.0, 2.0]], weights=[1.0, 0.0])
    solution = solve_ccd(chain, [[1.0, 0.5], [0.5, -1.0]], start=[0.2, 0.7])
    assert (solution.angles[:, 1] == 0.7).all()
    directions = np.arctan2([0.5, -1.0], [1.0, 0.5])
    assert np.allclose(solution.angles[:, 0], directions - 0.35, rtol=0.0, atol=1e-12)
    assert (solution.status == Status.LIMITED).all()


@pytest.mark.parametrize("limits", (None, [-3.5, 3.5]))
@pytest.mark.parametrize(
    ("lengths", "turning", "start", "pose", "residual"),
    [
        ([1.0, 0.75], 1, [0.0, 0.7], [0.0, 0.7], 0.75),
        ([0.5, 0.5, 0.25], 2, [0.0, 0.0, -2.0], [0.0, 0.0, -2.0], 0.25),
        ([1.0, 1.0, 0.5], 1, [0.0, 0.7, 0.4], [0.0, 0.7, np.pi], 0.5),
        ([1.0, 0.75, 0.75], 1, [0.0, 0.7, 0.4], [0.0, 0.7, np.pi], 0.0),
    ],
    ids=("of two bones", "of three bones", "folds", "closes"),
)
def test_a_target_on_the_first_joint_that_turns_turns_it_nowhere(
    lengths, turning, start, pose, residual, limits
):
    """Every direction is as good there; a second bone that turns folds back along the first."""
    n = len(lengths)
    weights = [float(joint >= turning) for joint in range(n)]
    chain = Chain(lengths, None if limits is None else [limits] * n, weights)
    pivot = forward(chain, start)[turning]
    for solution in (solve_ccd(chain, pivot, start=start), solve_ccd_path(chain, [pivot], start=start)):
        assert np.allclose(solution.angles, pose, rtol=0.0, atol=2e-6)
        assert solution.residual == pytest.approx(residual, abs=2.5e-6)
        assert (solution.status == (Status.LIMITED if residual else Status.REACHED)).all()


@pytest.mark.parametrize("with_limits", (False, True))
def test_rigid_joints_hold_along_a_path(with_limits):
    limits = [[-2.0, 2.0], [-2.0, 2.0], [0.4, 0.4], [-2.0, 2.0]] if with_limits else None
    chain = Chain([1.0] * 4, limits, weights=[1.0, 0.0, 1.0, 1.0])
    u = np.linspace(0.0, 2.0 * np.pi, 60)
    path = np.stack([3.2 + 0.2 * np.cos(u), 0.2 * np.sin(u)], axis=-1)
    solution = solve_ccd_path(chain, path, start=[0.3, -0.5, 0.4, 0.3])
    assert (solution.status == Status.REACHED).all()
    assert (solution.angles[:, 1] == -0.5).all()
    assert not with_limits or (solution.angles[:, 2] == 0.4).all()
