# SPDX-License-Identifier: GPL-3.0-or-later
"""A plane turned for one target in plain numbers is turned as the arrays turn it."""

import numpy as np
import pytest

from ik2d_addon.core.affine import rotations_about
from ik2d_addon.core.swing import POLE, SHORTEST_WAY, SWING, Swing
from ik2d_addon.core.swing.plain import PlainSwing, multiplied, quaternion_about, rotated

RULES = (SWING, POLE, SHORTEST_WAY)


def a_swing(random: np.random.Generator, rule: str) -> tuple[Swing, np.ndarray]:
    """Return a rule with any rest pose, and axes (3, 3) that vectors are given in."""
    normal, along, axes = np.linalg.qr(random.normal(size=(3, 3)))[0], None, random.normal(size=(3, 3))
    along = normal[1]
    side = random.normal(size=3)
    return Swing(rule, normal[0], along, side / np.linalg.norm(side)), np.linalg.qr(axes)[0]


def matrix_of(turn) -> np.ndarray:
    return np.array([rotated(turn, *axis) for axis in np.eye(3).tolist()]).T


@pytest.mark.parametrize("height", [0.0, 0.3, -0.2])
@pytest.mark.parametrize("rule", RULES)
def test_the_rotation_is_that_of_the_arrays_and_turns_the_target_back_by_it(rule, height):
    random = np.random.default_rng(5)
    for _ in range(200):
        swing, axes = a_swing(random, rule)
        target, pole = random.normal(size=3), random.normal(size=3)
        target *= max(1.0, 0.4 / np.linalg.norm(target))
        (wanted,) = swing.rotations(target[None], height, pole[None])
        found = PlainSwing(swing, axes).turned(*(target @ axes), height, (pole @ axes).tolist())
        assert found is not None
        turn, back = found
        assert np.abs(axes @ matrix_of(turn) @ axes.T - wanted).max() < 1e-7  # halves of nearly opposite ones
        assert np.abs(axes @ back - wanted.T @ target).max() < 1e-7


@pytest.mark.parametrize("height", [0.0, 0.3])
@pytest.mark.parametrize("rule", RULES)
def test_a_turn_more_is_that_of_spins_with_it_added(rule, height):
    random = np.random.default_rng(8)
    for turn in random.uniform(-3.0, 3.0, 200):
        swing, axes = a_swing(random, rule)
        axes[:, 0] *= np.linalg.det(axes)  # a bone's axes are right-handed
        target, pole = random.normal(size=3), random.normal(size=3)
        target *= max(1.0, 0.4 / np.linalg.norm(target))
        spins = swing.spins(target[None], height, pole[None]) + turn
        (wanted,) = swing.rotations(target[None], height, pole[None], spins)
        found = PlainSwing(swing, axes).turned(*(target @ axes), height, (pole @ axes).tolist(), turn)
        assert found is not None
        assert np.abs(axes @ matrix_of(found[0]) @ axes.T - wanted).max() < 1e-6
        assert np.abs(axes @ found[1] - wanted.T @ target).max() < 1e-6
    assert PlainSwing(swing, axes).turned(0.3, 0.2, 0.4, 0.0, (0.1, 1.0, 0.0), np.nan) is None


@pytest.mark.parametrize("rule", RULES)
def test_there_is_no_answer_where_the_rule_fails(rule):
    swing, axes = a_swing(np.random.default_rng(6), rule)
    plain, pole = PlainSwing(swing, axes), np.array((0.3, -0.5, 0.2))
    for way in (1.0, -1.0):
        open_ = {SWING: way * swing.normal, POLE: way * pole, SHORTEST_WAY: -swing.along}[rule]
        assert plain.turned(*(open_ @ axes), 0.0, (pole @ axes).tolist()) is None
    assert plain.turned(0.0, 0.0, 0.0, 0.0, pole.tolist()) is None
    assert plain.turned(*(swing.along @ axes), 1.5, pole.tolist()) is None  # nearer than the tip is high


def test_no_pole_is_faced_by_a_side_along_the_chain():
    swing, axes = a_swing(np.random.default_rng(7), POLE)
    plain = PlainSwing(Swing(POLE, swing.normal, swing.along, swing.along), axes)
    assert plain.turned(0.3, 0.2, 0.1, 0.0, (0.0, 0.0, 1.0)) is None


def test_a_product_turns_by_the_second_first():
    axis, place = (0.6, 0.0, 0.8), np.array((0.3, -0.2, 0.5))
    one, other = quaternion_about(axis, 0.7), quaternion_about((0.0, 1.0, 0.0), -1.2)
    by_matrices = rotations_about(np.array([axis, (0.0, 1.0, 0.0)]), np.array((0.7, -1.2)))
    assert np.allclose(rotated(multiplied(one, other), *place), by_matrices[0] @ by_matrices[1] @ place)
