# SPDX-License-Identifier: GPL-3.0-or-later
"""One iteration of cyclic coordinate descent, as in the article."""

import cmath

import numpy as np
import pytest
from chains import SLIDING, pose_within, sliding_chain
from hypothesis import given
from hypothesis import strategies as st

from ik2d_addon.core import CCDResult, Chain, IK2DError, ccd_slide_step, ccd_step, forward
from ik2d_addon.core.ccd.step import ccd_joint


def reference_step(lengths, angles, target, tolerance):
    """One iteration on complex numbers: the turn at a joint is the phase of aim / arm."""
    angles, goal = list(angles), complex(*target)
    reach, moved = sum(lengths), False
    for i in reversed(range(len(angles))):
        joints = [0j]
        for k, length in enumerate(lengths):
            joints.append(joints[-1] + cmath.rect(length, sum(angles[: k + 1])))
        arm, aim = joints[-1] - joints[i], goal - joints[i]
        turn = cmath.phase(aim / arm) if abs(arm) * abs(aim) > 1e-12 * reach**2 else 0.0
        angles[i] += turn
        moved |= abs(turn) * abs(arm) > 0.01 * tolerance
        tip = joints[i] + arm * cmath.rect(1.0, turn)
        if abs(goal - tip) <= tolerance:
            return angles, "SUCCESS"
    return angles, "PROCESSING" if moved else "FAILURE"


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 3, 5, 10, 50])
def test_one_iteration_equals_the_articles(n):
    rng = np.random.default_rng(n)
    for _ in range(100):
        lengths = rng.uniform(0.1, 1.0, n) * 10.0 ** rng.uniform(-3, 3)
        chain = Chain(lengths)
        angles = rng.uniform(-np.pi, np.pi, n)
        target = rng.uniform(-1, 1, 2) * chain.reach[1]
        tolerance = 10.0 ** rng.uniform(-6, -1) * chain.reach[1]
        new, result = ccd_step(chain, angles, target, tolerance=tolerance)
        expected, name = reference_step(lengths.tolist(), angles, target, tolerance)
        assert result.name == name
        joints, expected_joints = forward(chain, new), forward(chain, expected)
        assert np.abs(joints - expected_joints).max() <= 1e-7 * chain.reach[1]


def test_figure_2_one_iteration_turns_each_joint_once_from_the_tip():
    chain, start, target = Chain([1.0, 1.0, 1.0]), np.zeros(3), np.array([1.0, 1.5])
    new, result = ccd_step(chain, start, target, tolerance=1e-9)
    # The last joint points bone 3 at the target; the others then turn what hangs on them.
    assert new[2] == pytest.approx(np.arctan2(1.5, -1.0))
    assert (new != start).all()
    assert result is CCDResult.PROCESSING
    before, after = (np.linalg.norm(forward(chain, a)[-1] - target) for a in (start, new))
    assert after < 0.5 * before


def test_an_iteration_never_moves_the_tip_away():
    rng = np.random.default_rng(8)
    for _ in range(300):
        n = rng.integers(1, 12)
        chain = Chain(rng.uniform(0.1, 1.0, n))
        angles, target = rng.uniform(-np.pi, np.pi, n), rng.uniform(-1, 1, 2) * chain.reach[1]
        new, _ = ccd_step(chain, angles, target, tolerance=1e-9)
        before, after = (np.linalg.norm(forward(chain, a)[-1] - target) for a in (angles, new))
        assert after <= before + 1e-12 * chain.reach[1]


def test_success_within_the_tolerance():
    angles, result = ccd_step(Chain([1.0, 1.0]), [0.1, 0.2], [0.0, 1.0], tolerance=10.0)
    assert result is CCDResult.SUCCESS
    assert angles[0] == 0.1  # it stopped at the first joint that brought the tip there


def test_failure_when_no_joint_can_move_the_tip_nearer():
    angles, result = ccd_step(Chain([1.0, 1.0]), [0.0, 0.0], [5.0, 0.0], tolerance=1e-6)
    assert result is CCDResult.FAILURE
    assert np.array_equal(angles, [0.0, 0.0])


def test_angles_that_turned_are_wrapped():
    angles, _ = ccd_step(Chain([1.0, 1.0]), [3.0, 3.0], [-0.3, -1.2], tolerance=1e-9)
    assert (np.abs(angles) <= np.pi).all()


def test_half_a_turn_is_positive_whichever_way_the_cross_product_rounds():
    for target in ([-0.5, 0.0], [-0.5, -0.0]):
        assert ccd_step(Chain([1.0]), [0.0], target, tolerance=1e-9)[0][0] == np.pi


@pytest.mark.parametrize(("distance", "turns"), [(0.9e-12, False), (1.1e-12, True)])
@pytest.mark.parametrize("scale", [1.0, 1e5])
def test_a_joint_on_its_target_stays_as_it_is(distance, turns, scale):
    """To a trillionth of the reach squared: there the angle between tip and target is undefined."""
    start = np.array([0.25])
    angles, _ = ccd_step(Chain([scale]), start, [0.0, distance * scale], tolerance=1e-13 * scale)
    assert angles[0] == pytest.approx(np.pi / 2.0 if turns else 0.25)


def test_a_weight_scales_the_turn_and_limits_stop_it():
    target = [0.0, 1.0]
    # Weights count beside one another: a joint without length turns nothing.
    chain = Chain([0.0, 1.0], weights=[0.8, 0.2])
    angles, _ = ccd_step(chain, [0.0, 0.0], target, tolerance=1e-9)
    assert angles.tolist() == pytest.approx([3 * np.pi / 8, np.pi / 8])
    assert ccd_step(Chain([1.0], weights=[0.0]), [0.0], target, tolerance=1e-9) == ([0.0], CCDResult.FAILURE)
    assert ccd_step(Chain([1.0], limits=[[-1.0, 0.5]]), [0.0], target, tolerance=1e-9)[0][0] == 0.5
    assert ccd_step(Chain([1.0], limits=[[-0.5, 9.0]]), [0.0], [0.0, -1.0], tolerance=1e-9)[0][0] == -0.5
    # An angle out of its range comes back into it.
    assert ccd_step(Chain([1.0], limits=[[2.0, 3.0]]), [0.0], [1.0, 0.1], tolerance=1e-9)[0][0] == 2.0


def test_only_free_joints_that_turned_are_wrapped():
    limits = [[-np.inf, np.inf], [-18.0, 18.0], [np.nan, 18.0]]
    chain, start = Chain([1.0] * 3, limits), np.array([7.0, 8.0, 9.0])
    angles, _ = ccd_step(chain, start, [-1.0, 1.0], tolerance=1e-9)
    assert abs(angles[0]) <= np.pi
    expected, _ = reference_step(chain.lengths, start, [-1.0, 1.0], 1e-9)
    assert np.allclose(angles[1:], expected[1:], rtol=0.0, atol=1e-9)


def test_angles_that_stayed_keep_their_number():
    chain = Chain([1.0, 1.0], weights=[0.0, 1.0])
    angles, _ = ccd_step(chain, [7.0, 0.5], [0.3, 1.0], tolerance=1e-9)
    assert angles[0] == 7.0


@pytest.mark.parametrize(("part", "result"), [(0.009, CCDResult.FAILURE), (0.011, CCDResult.PROCESSING)])
@pytest.mark.parametrize(
    ("lengths", "weights", "arm"),
    [([2.0], [1.0], 2.0), ([1.0, 1.0], [1.0, 0.0], 2.0), ([3.0, 1.0], [0.0, 1.0], 1.0)],
)
def test_a_tip_that_moves_less_than_a_hundredth_of_the_tolerance_has_not_moved(
    part, result, lengths, weights, arm
):
    tolerance, heading = 1e-3, 0.7
    start = np.zeros(len(lengths))
    start[0] = heading
    turn = part * tolerance / arm
    joint = forward(Chain(lengths), start)[weights.index(1.0)]
    target = joint + 50.0 * np.array([np.cos(heading + turn), np.sin(heading + turn)])
    assert ccd_step(Chain(lengths, weights=weights), start, target, tolerance=tolerance)[1] is result


@pytest.mark.parametrize(("tolerance", "result"), [(0.99, CCDResult.FAILURE), (1.01, CCDResult.SUCCESS)])
@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_success_is_the_tip_within_the_tolerance(tolerance, result, scale):
    found = ccd_step(Chain([scale]), [0.0], [2.0 * scale, 0.0], tolerance=tolerance * scale)
    assert found[1] is result
    assert ccd_step(Chain([1.0]), [0.0], [2.0, 0.0], tolerance=1.0)[1] is CCDResult.SUCCESS  # exactly


@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_the_iteration_stops_at_the_joint_that_brings_the_tip_there(scale):
    """Joint 1 brings the tip to within 0.1 of the target: with that tolerance joint 0 stays."""
    chain, target = Chain([scale, scale]), [scale, 1.1 * scale]
    for tolerance, stays in ((0.11, True), (0.09, False)):
        angles, _ = ccd_step(chain, [0.0, 0.3], target, tolerance=tolerance * scale)
        assert (angles[0] == 0.0) == stays
        assert angles[1] != 0.3


def test_a_chain_of_no_length_and_targets_of_any_size_give_finite_angles():
    with np.errstate(all="raise", under="ignore"):
        for lengths in ([0.0, 0.0], [1e-120, 1e-120], [1e200, 1e200]):
            for target in ([0.0, 0.0], [1e300, -1e300], [1e-300, 1.0]):
                angles, result = ccd_step(Chain(lengths), [0.1, 0.2], target, tolerance=1e-6)
                assert np.isfinite(angles).all()
    assert ccd_step(Chain([0.0]), [0.1], [0.0, 0.0], tolerance=1e-6)[1] is CCDResult.SUCCESS


@pytest.mark.parametrize(("angles", "target"), [([[0.0, 0.0]], [1.0, 0.0]), ([0.0, 0.0], [[1.0, 0.0]])])
def test_more_than_one_chain_or_target_is_refused(angles, target):
    with pytest.raises(IK2DError, match="^ccd_step takes the angles of one chain and one target$"):
        ccd_step(Chain([1.0, 1.0]), angles, target, tolerance=0.1)


# --- Bones that slide -----------------------------------------------------------------------------


def reference_slide_step(chain, angles, slides, target, tolerance):
    """One iteration on complex numbers: a bone slides by the part of the error that lies along it."""
    angles, slides, goal = list(angles), list(slides), complex(*target)
    reach, moved = chain.reach[1], False

    def joints():
        headings, lengths = np.cumsum(angles), chain.lengths + slides
        return np.append(0.0, np.cumsum(lengths * np.exp(1j * headings)))

    for i in reversed(range(len(angles))):
        along = (goal - joints()[-1]) * cmath.rect(1.0, -sum(angles[: i + 1]))
        slide = min(max(slides[i] + along.real, chain.slides[i, 0]), chain.slides[i, 1])
        moved |= abs(slide - slides[i]) > 0.01 * tolerance
        slides[i] = slide
        if abs(goal - joints()[-1]) <= tolerance:
            return angles, slides, "SUCCESS"
        arm, aim = joints()[-1] - joints()[i], goal - joints()[i]
        turn = cmath.phase(aim / arm) if abs(arm) * abs(aim) > 1e-12 * reach**2 else 0.0
        turn *= 1.0 if chain.weights is None else chain.weights[i]
        turn = min(max(angles[i] + turn, chain.ranges[i, 0]), chain.ranges[i, 1]) - angles[i]
        angles[i] += turn
        moved |= abs(turn) * abs(arm) > 0.01 * tolerance
        if abs(goal - joints()[-1]) <= tolerance:
            return angles, slides, "SUCCESS"
    return angles, slides, "PROCESSING" if moved else "FAILURE"


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 3, 5, 10, 30])
def test_one_iteration_slides_each_bone_along_itself_and_then_turns_its_joint(n):
    rng = np.random.default_rng(n)
    for _ in range(60):
        chain = sliding_chain(rng, n, rng.choice(SLIDING), scale=10.0 ** rng.uniform(-3, 3))
        angles, slides = pose_within(rng, chain)
        target = rng.uniform(-1, 1, 2) * chain.reach[1]
        tolerance = 10.0 ** rng.uniform(-6, -1) * chain.reach[1]
        new, slid, result = ccd_slide_step(chain, angles, slides, target, tolerance=tolerance)
        expected, expected_slides, name = reference_slide_step(chain, angles, slides, target, tolerance)
        assert result.name == name
        joints, others = forward(chain, new, slid), forward(chain, expected, expected_slides)
        assert np.abs(joints - others).max() <= 1e-7 * chain.reach[1]
        assert np.abs(slid - expected_slides).max() <= 1e-7 * chain.reach[1]
        assert (slid >= chain.slides[:, 0]).all() and (slid <= chain.slides[:, 1]).all()


def test_without_slides_an_iteration_is_that_of_turns_alone():
    rng = np.random.default_rng(3)
    for n in (1, 2, 5, 12):
        lengths, angles, target = rng.uniform(0.1, 1.0, n), rng.uniform(-2.0, 2.0, n), rng.uniform(-n, n, 2)
        for slides in (None, np.zeros((n, 2)), np.full((n, 2), np.nan)):
            chain = Chain(lengths, [[-2.5, 2.5]] * n, slides=slides)
            turned, result = ccd_step(chain, angles, target, tolerance=1e-3)
            new, slid, other = ccd_slide_step(chain, angles, np.zeros(n), target, tolerance=1e-3)
            assert np.array_equal(new, turned) and not slid.any() and other is result


def test_repeated_iterations_bring_the_tip_to_the_target_where_nothing_blocks():
    rng = np.random.default_rng(4)
    for _ in range(40):
        n = int(rng.integers(2, 8))
        chain = Chain(rng.uniform(0.5, 1.0, n), slides=np.tile([-0.4, 1.0], (n, 1)))
        angles, slides = rng.uniform(-1.0, 1.0, n), np.zeros(n)
        target = rng.uniform(0.3, 0.9) * n * np.array([np.cos(n), np.sin(n)])
        for _ in range(200):
            angles, slides, result = ccd_slide_step(chain, angles, slides, target, tolerance=1e-9)
            if result is not CCDResult.PROCESSING:
                break
        assert result is CCDResult.SUCCESS
        assert np.hypot(*(forward(chain, angles, slides)[-1] - target)) <= 1e-9


def test_slides_come_back_into_their_range_and_stand_at_its_very_ends():
    chain = Chain([1.0, 1.0, 0.3], slides=[(0.0, 0.5), (0.0, 0.0), (-0.1, 0.1)])
    for target, expected in (([9.0, 0.0], [0.5, 0.0, 0.1]), ([-9.0, 0.0], [0.0, 0.0, -0.1])):
        for start in ([9.0, 1.0, 0.2], [-9.0, -1.0, -0.2], expected):
            _, slid, _ = ccd_slide_step(chain, np.zeros(3), start, target, tolerance=1e-9)
            assert slid.tolist() == expected


def test_a_single_bone_slides_to_a_target_ahead_and_fails_at_the_end_of_its_range():
    chain = Chain([1.0], slides=[(0.0, 0.5)])
    _, slid, result = ccd_slide_step(chain, [0.0], [0.0], [1.25, 0.0], tolerance=1e-9)
    assert slid[0] == pytest.approx(0.25) and result is CCDResult.SUCCESS
    assert ccd_slide_step(chain, [0.0], [0.5], [2.0, 0.0], tolerance=1e-9)[2] is CCDResult.FAILURE
    # The slide alone is the motion.
    assert ccd_slide_step(chain, [0.0], [0.4], [2.0, 0.0], tolerance=1e-9)[2] is CCDResult.PROCESSING


def test_the_plain_iteration_refuses_chains_that_slide_and_the_other_what_is_not_one_pose():
    chain = Chain([1.0, 1.0], slides=[(0.0, 1.0), (0.0, 0.0)])
    with pytest.raises(IK2DError, match="take ccd_slide_step$"):
        ccd_step(chain, [0.0, 0.0], [1.0, 0.0], tolerance=0.1)
    message = "^ccd_slide_step takes the angles and slides of one chain and one target$"
    for angles, slides, target in (
        (np.zeros((1, 2)), [0.0, 0.0], [1.0, 0.0]),
        ([0.0, 0.0], np.zeros((1, 2)), [1.0, 0.0]),
        ([0.0, 0.0], [0.0, 0.0], np.ones((1, 2))),
    ):
        with pytest.raises(IK2DError, match=message):
            ccd_slide_step(chain, angles, slides, target, tolerance=0.1)
    with pytest.raises(IK2DError, match="^slides must hold 2 numbers"):
        ccd_slide_step(chain, [0.0, 0.0], [0.0], [1.0, 0.0], tolerance=0.1)


ANGLES = st.lists(st.floats(-3.0, 3.0), min_size=4, max_size=4)


@pytest.mark.slow
@given(angles=ANGLES, x=st.floats(-4.0, 4.0), y=st.floats(-4.0, 4.0))
def test_all_joints_from_tip_to_root_make_one_iteration(angles, x, y):
    chain = Chain(
        [1.0, 0.8, 0.6, 0.7], limits=[(-2, 2), (np.nan, np.nan), (-1, 1), (-3, 3)], weights=[1, 0.5, 1, 0.2]
    )
    angles = np.clip(angles, *np.nan_to_num(chain.ranges.T, neginf=-9, posinf=9))
    whole, _ = ccd_step(chain, angles, (x, y), tolerance=1e-15)
    for joint in (3, 2, 1, 0):
        angles = ccd_joint(chain, angles, (x, y), joint)
    assert np.abs(forward(chain, angles) - forward(chain, whole)).max() < 1e-9


def test_the_joint_points_the_tip_at_the_target_and_no_other_turns():
    chain, target = Chain([1.0, 1.0, 1.0]), np.array((0.5, 2.0))
    start = np.array((0.2, 0.4, -0.3))
    new = ccd_joint(chain, start, target, 1)
    assert (new[[0, 2]] == start[[0, 2]]).all() and new[1] != start[1]
    joints = forward(chain, new)
    along, aim = joints[3] - joints[1], target - joints[1]
    assert abs(along[0] * aim[1] - along[1] * aim[0]) < 1e-12 and along @ aim > 0


def test_others_stay_though_they_stand_outside_of_their_limits():
    chain = Chain([1.0, 1.0], limits=[(-0.1, 0.1), (-2.0, 2.0)])
    assert ccd_joint(chain, (0.5, 0.2), (0.0, 1.5), 1)[0] == 0.5


def test_a_straight_chain_with_its_target_on_the_line_is_locked():
    chain = Chain([1.2, 0.9])
    for joint in (1, 0):
        assert np.abs(np.sin(ccd_joint(chain, (0.0, 0.0), (0.6, 0.0), joint))).max() < 1e-12


@pytest.mark.parametrize("joint", [-1, 2])
def test_a_joint_that_is_not_there_is_refused(joint):
    with pytest.raises(IK2DError, match="joint must be a whole number of 0 to 1"):
        ccd_joint(Chain([1.0, 1.0]), (0, 0), (1, 1), joint)
