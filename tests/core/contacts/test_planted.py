# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet that stand in their contacts: heel and ball keep their places, and the rest goes on as it did."""

import numpy as np
import pytest

from ik2d_addon.core.contacts.planted import FootMotion, planted, turns_of, vectors_of
from ik2d_addon.core.foot import FootAxes, FootShape

SHAPE = FootShape((-0.05, -0.1), (0.12, -0.07), (0.2, -0.1))
AXES = FootAxes(SHAPE, np.array((0.0, -1.0, 0.0)), np.array((0.0, 0.0, 1.0)))
UP = np.array((0.0, 0.0, 1.0))
COUNT = 49
TIMES = np.arange(COUNT) / 24.0
PHASE = np.arange(COUNT) % 24
HEEL, TOE = (PHASE <= 9), (PHASE >= 4) & (PHASE <= 14)
BREAKS = np.full(COUNT, np.pi / 4)
# Lengths of a foot that is near 1 in numbers of 64 bits.
EXACT = 1e-14


def walk(seed: int = 0, slip: float = 0.03, turned: float = 0.0) -> FootMotion:
    """Return a walk along -Y whose foot slides, shakes and, where it stands, is not quite level."""
    rng = np.random.default_rng(seed)
    shake = np.cumsum(rng.normal(0.0, 0.002, (COUNT, 3)), axis=0)
    share = np.clip((PHASE - 14) / 10.0, 0.0, 1.0)
    along = -0.6 * (np.arange(COUNT) // 24 + share * share * (3.0 - 2.0 * share)) - slip * PHASE / 24.0
    ankles = np.stack((np.zeros(COUNT), along, 0.1 + 0.1 * np.sin(np.pi * share)), axis=1) + shake
    angles = np.radians(np.interp(PHASE, (0, 4, 10, 15, 20, 24), (-18, 2, 3, 35, 10, -18)))
    sway = turns_of(turned * np.stack((np.zeros(COUNT), np.sin(TIMES), np.cos(TIMES)), axis=1))
    return FootMotion(
        ankles, sway @ AXES.turns(angles), np.radians(rng.normal(0, 2.0, COUNT)), np.ones(COUNT), BREAKS
    )


def posed(foot, motion):
    """Return where (m, 3) heel, ball and ankle are by the control and the roll."""
    ankles, angles, _ = SHAPE.rolled(foot.rolls, foot.toes, motion.break_angles)
    at = foot.places + (foot.turns @ AXES.offsets(ankles)[..., None])[..., 0]
    turns = foot.turns @ AXES.turns(angles)
    return [at + turns @ AXES.offsets(np.array(point)) for point in (SHAPE.heel, SHAPE.ball)] + [at]


def slides(path, mask):
    """Return how far a path (m, 3) moves within each run of a mask, at most."""
    ends = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False]))))
    return max(np.linalg.norm(path[a:b] - path[a], axis=1).max() for a, b in ends.reshape(-1, 2))


@pytest.mark.parametrize("turned", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_heel_and_ball_keep_their_places_in_their_contacts(seed, turned):
    motion = walk(seed, turned=turned)
    foot = planted(motion, AXES, HEEL, TOE, TIMES, UP)
    heel, ball, _ = posed(foot, motion)
    assert slides(heel, HEEL) < EXACT and slides(ball, TOE) < EXACT
    assert not foot.rolls[HEEL & TOE].any() and np.abs(foot.toes[TOE]).max() < EXACT
    assert (foot.rolls[HEEL] <= 0.0).all() and (foot.rolls[TOE] >= 0.0).all()


def test_in_the_air_the_foot_is_off_its_own_motion_by_no_more_than_beside_it():
    motion = walk(slip=0.05)
    foot = planted(motion, AXES, HEEL, TOE, TIMES, UP)
    off = np.linalg.norm(posed(foot, motion)[2] - motion.ankles, axis=1)
    stands = HEEL | TOE
    assert 0.0 < off[~stands].max() < 1.5 * off[stands].max() < 0.1


def test_a_walk_that_stands_already_stays_as_it_is():
    still = planted(walk(slip=0.05), AXES, HEEL, TOE, TIMES, UP)
    ankles, angles, toes = SHAPE.rolled(still.rolls, still.toes, BREAKS)
    motion = FootMotion(
        still.places + (still.turns @ AXES.offsets(ankles)[..., None])[..., 0],
        still.turns @ AXES.turns(angles),
        toes - angles,
        np.ones(COUNT),
        BREAKS,
    )
    again = planted(motion, AXES, HEEL, TOE, TIMES, UP)
    for one, other in zip(posed(again, motion), posed(still, motion), strict=True):
        assert np.abs(one - other).max() < 1e-12


def test_a_loop_stays_one():
    foot = planted(walk(), AXES, HEEL, TOE, TIMES, UP, loop=True)
    travel = walk().ankles[-1] - walk().ankles[0]
    assert np.abs(foot.places[-1] - foot.places[0] - travel).max() < 1e-12
    assert np.abs(foot.turns[-1] - foot.turns[0]).max() < 1e-12 and foot.rolls[-1] == foot.rolls[0]


def test_vectors_give_their_turns():
    vectors = np.random.default_rng(0).normal(size=(50, 3))
    vectors[0] = 0.0
    assert np.abs(vectors_of(turns_of(vectors)) - vectors).max() < 1e-12
