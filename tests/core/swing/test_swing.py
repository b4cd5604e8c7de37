# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations of a plane that follows a target: the tip is on the line to it, the side where each rule says."""

from itertools import pairwise

import numpy as np
import pytest

from ik2d_addon.core.affine import rotations_about
from ik2d_addon.core.swing import POLE, SHORTEST_WAY, SWING, Swing
from ik2d_addon.core.swing.swing import frames, shortest_turns, units

RULES = (SWING, POLE, SHORTEST_WAY)
EXACT = 1e-12
X, Y, Z = np.eye(3)
ROOT = np.zeros((1, 3))


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def random_swing(rng, rule):
    """Return a swing with random axes; its side for poles is anywhere but along the chain."""
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0].T
    return Swing(rule, axes[0], axes[1], unit(axes[2] + rng.normal(size=3)))


def cases(rule, count=40, seed=4):
    """Yield (swing, points (30, 3), heights (30,), poles (30, 3)), every second with a tip off the plane."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        points = rng.uniform(0.4, 2.0, (30, 1)) * unit(rng.normal(size=(30, 3)))
        heights = rng.uniform(-0.3, 0.3, 30) * (i % 2)
        yield random_swing(rng, rule), points, heights, rng.normal(size=(30, 3))


def back(rotations, vectors):
    """Return vectors (m, 3) turned by the inverses of rotations (m, 3, 3)."""
    return (rotations.swapaxes(1, 2) @ vectors[..., None])[..., 0]


def angles_of(rotations):
    """Return the angles (m,) that rotations (m, 3, 3) turn by, 0 to pi."""
    return np.arccos(np.clip((np.trace(rotations, axis1=1, axis2=2) - 1.0) / 2.0, -1.0, 1.0))


def flat(rule=SWING, side=Y):
    """Return a swing of a chain along X in the plane z = 0."""
    return Swing(rule, Z, X, np.array(side, float))


def closest_turn(rotation, other):
    """Return the angle between two rotations (3, 3)."""
    return float(angles_of((rotation.T @ other)[None])[0])


# --- All rules ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_rotations_keep_lengths_and_handedness(rule):
    for swing, points, heights, poles in cases(rule):
        found = swing.rotations(points, heights, poles)
        assert np.abs(found @ found.swapaxes(1, 2) - np.eye(3)).max() < EXACT
        assert np.linalg.det(found) == pytest.approx(1.0)


@pytest.mark.parametrize("rule", RULES)
def test_the_turned_plane_holds_the_target_at_the_tips_height(rule):
    for swing, points, heights, poles in cases(rule):
        seen = back(swing.rotations(points, heights, poles), points)
        assert np.abs(seen @ swing.normal - heights).max() < 1e-10


@pytest.mark.parametrize("rule", (POLE, SHORTEST_WAY))
def test_a_tip_on_its_rest_line_goes_onto_the_target(rule):
    for swing, points, heights, poles in cases(rule):
        distances = np.linalg.norm(points, axis=1)
        across = np.sqrt(distances**2 - heights**2)
        tips = across[:, None] * swing.along + heights[:, None] * swing.normal
        turned = (swing.rotations(points, heights, poles) @ tips[..., None])[..., 0]
        assert np.abs(turned - points).max() < EXACT


@pytest.mark.parametrize("rule", RULES)
def test_a_spin_says_all_of_a_rotation(rule):
    for swing, points, heights, poles in cases(rule):
        found = swing.rotations(points, heights, poles)
        spins = swing.spins(points, heights, poles)
        assert (np.abs(spins) <= np.pi).all()
        assert np.abs(swing.rotations(points, heights, poles, spins) - found).max() < 1e-9
        assert np.abs(swing.rotations(points, heights, poles, spins + 2.0 * np.pi) - found).max() < 1e-9


@pytest.mark.parametrize("rule", RULES)
def test_frames_do_not_depend_on_one_another(rule):
    for swing, points, heights, poles in cases(rule, count=6):
        whole = swing.rotations(points, heights, poles)
        order = np.random.default_rng(1).permutation(len(points))
        again = swing.rotations(points[order], heights[order], poles[order])
        assert again == pytest.approx(whole[order], abs=EXACT)
        for i in (0, 17):
            alone = swing.rotations(points[i : i + 1], heights[i : i + 1], poles[i : i + 1])
            assert alone[0] == pytest.approx(whole[i], abs=EXACT)


@pytest.mark.parametrize("rule", RULES)
def test_distances_of_target_and_pole_do_not_matter_in_the_plane(rule):
    for swing, points, _, poles in cases(rule, count=6):
        near = swing.rotations(points, 0.0, poles)
        assert swing.rotations(1e3 * points, 0.0, 1e-3 * poles) == pytest.approx(near, abs=EXACT)


@pytest.mark.parametrize("rule", RULES)
def test_the_rest_line_is_where_the_chain_rests(rule):
    swing = flat(rule)
    found = swing.rotations(2.0 * X[None], 0.0, 3.0 * Y[None])
    assert found[0] == pytest.approx(np.eye(3), abs=EXACT)
    assert swing.spins(2.0 * X[None], 0.0, 3.0 * Y[None]) == pytest.approx(0.0, abs=EXACT)


@pytest.mark.parametrize("rule", RULES)
def test_a_turn_in_the_plane_is_found_again_in_the_whole_rotation(rule):
    """Of a chain whose tip is on its target, and of SWING wherever it is."""
    rng = np.random.default_rng(8)
    for swing, points, _, poles in cases(rule, count=10):
        rotations = swing.rotations(points, 0.0, poles)
        seen = back(rotations, points)
        for turn, swung, goal in zip(rng.uniform(-3.0, 3.0, 30), rotations, seen, strict=True):
            about = rotations_about(swing.normal[None], np.array((turn,)))[0]
            tip = about.T @ goal  # which this turn brings onto the target
            assert swing.turn_in(swung @ about, tip) == pytest.approx(turn, abs=1e-9)


# --- Each rule ------------------------------------------------------------------------------------


def test_a_pole_is_faced_by_the_chains_side():
    for swing, points, heights, poles in cases(POLE):
        lines = unit(points)
        faced = swing.rotations(points, heights, poles) @ swing.side
        across = unit(faced - (faced * lines).sum(axis=1, keepdims=True) * lines)
        towards = unit(poles - (poles * lines).sum(axis=1, keepdims=True) * lines)
        assert np.abs(across - towards).max() < 1e-10


def test_a_swinging_normal_turns_no_further_than_it_must():
    for swing, points, heights, _ in cases(SWING):
        found = swing.rotations(points, heights)
        turned = angles_of(found)
        # To any other plane through the target, at the same height, its normal goes further.
        lines, normals = unit(points), found @ swing.normal
        for spin in (-0.1, 0.01, 1.0, 3.0):
            others = rotations_about(lines, np.full(len(lines), spin)) @ normals[..., None]
            assert (others[..., 0] @ swing.normal < normals @ swing.normal).all()
        # And nothing turns about the normal besides.
        assert np.arccos(np.clip(normals @ swing.normal, -1.0, 1.0)) == pytest.approx(turned, abs=1e-6)


def test_a_target_in_the_rest_plane_leaves_a_swinging_plane_alone():
    angles = np.linspace(-3.0, 3.0, 13)
    points = np.stack((np.cos(angles), np.sin(angles), 0.0 * angles), axis=1)
    assert np.abs(flat().rotations(points) - np.eye(3)).max() < EXACT
    lifted = points + 0.2 * Z
    assert np.abs(flat().rotations(lifted, 0.2) - np.eye(3)).max() < 1e-10


def test_the_shortest_way_is_the_shortest():
    for swing, points, heights, _ in cases(SHORTEST_WAY):
        found, lines = swing.rotations(points, heights), unit(points)
        turned = angles_of(found)
        for spin in (-0.2, 0.05, 2.0):
            others = rotations_about(lines, np.full(len(lines), spin)) @ found
            assert (angles_of(others) > turned).all()
        assert (swing.spins(points, heights) == 0.0).all()


def test_a_pole_far_along_the_normal_swings_the_plane_as_without_one():
    for swing, points, heights, _ in cases(SWING):
        there = np.broadcast_to(swing.normal, points.shape)
        pole = Swing(POLE, swing.normal, swing.along, swing.normal)
        normals = pole.rotations(points, heights, there) @ swing.normal
        assert np.abs(normals - swing.rotations(points, heights) @ swing.normal).max() < 1e-10


@pytest.mark.parametrize("rule", RULES)
def test_a_path_that_closes_closes(rule):
    circle = np.linspace(0.0, 2.0 * np.pi, 73)
    points = np.stack((np.cos(circle), 0.3 + 0.0 * circle, np.sin(circle)), axis=1)
    found = flat(rule).rotations(points, 0.0, np.broadcast_to(3.0 * Y, points.shape))
    assert np.abs(found[-1] - found[0]).max() < EXACT
    steps = [closest_turn(one, other) for one, other in pairwise(found)]
    assert max(steps) < np.radians(60.0)


# --- Where a rule fails ---------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_a_target_on_the_root_leaves_the_chain_at_rest(rule):
    swing = flat(rule)
    assert swing.rotations(ROOT, 0.0, 2.0 * Y[None])[0] == pytest.approx(np.eye(3), abs=EXACT)


@pytest.mark.parametrize("sign", (1.0, -1.0))
def test_a_target_along_the_normal_swings_the_rest_line_up_to_it(sign):
    found = flat().rotations(sign * Z[None])[0]
    assert found @ X == pytest.approx(sign * Z, abs=EXACT)
    assert found @ Y == pytest.approx(Y, abs=EXACT)


@pytest.mark.parametrize("sign", (1.0, -1.0))
def test_a_pole_on_the_line_to_the_target_leaves_the_side_where_the_shortest_way_has_it(sign):
    rng = np.random.default_rng(6)
    points = rng.normal(size=(20, 3))
    pole, arc = flat(POLE), flat(SHORTEST_WAY)
    assert np.abs(pole.rotations(points, 0.0, sign * 2.0 * points) - arc.rotations(points)).max() < EXACT


def test_a_pole_on_the_root_is_the_side_at_rest():
    points = np.array([X, X + 0.5 * Z])
    found = flat(POLE).rotations(points, 0.0, np.zeros((2, 3)))
    assert found == pytest.approx(flat(POLE).rotations(points, 0.0, np.stack((Y, Y))), abs=EXACT)


def test_a_target_behind_the_chain_is_half_a_turn_in_the_plane():
    found = flat(SHORTEST_WAY).rotations(-X[None])[0]
    assert found == pytest.approx(np.diag((-1.0, -1.0, 1.0)), abs=EXACT)


def test_a_target_nearer_than_the_tips_height_gives_a_rotation_all_the_same():
    for rule in RULES:
        found = flat(rule).rotations(np.array([[0.05, 0.0, 0.05], [0.0, 0.0, 0.1]]), 0.2, np.stack((Y, Y)))
        assert np.isfinite(found).all()
        assert np.abs(found @ found.swapaxes(1, 2) - np.eye(3)).max() < EXACT


@pytest.mark.parametrize("angle", (90.0, 45.0, 5.0, 0.1, 0.0))
def test_sines_are_of_the_angle_to_where_the_rule_fails(angle):
    sine, cosine = np.sin(np.radians(angle)), np.cos(np.radians(angle))
    on_normal = np.array([sine * X + cosine * Z, sine * X - cosine * Z])
    assert flat(SWING).sines(3.0 * on_normal) == pytest.approx(sine, abs=EXACT)
    behind = np.array([-cosine * X + sine * Z, cosine * X + sine * Z])
    assert flat(SHORTEST_WAY).sines(behind) == pytest.approx((sine, 1.0), abs=EXACT)
    poles = np.array([cosine * X + sine * Z, -cosine * X + sine * Y])
    assert flat(POLE).sines(np.stack((X, X)), 5.0 * poles) == pytest.approx(sine, abs=EXACT)


@pytest.mark.parametrize("rule", RULES)
def test_far_from_where_the_rule_fails_the_plane_turns_no_faster_than_the_target(rule):
    """As it comes nearer, it turns the faster: one over the sine, or twice that behind the chain."""
    step = 1e-6
    for swing, points, _, poles in cases(rule, count=20):
        ahead = points + step * np.random.default_rng(2).normal(size=points.shape)
        sines = swing.sines(points, poles)
        turned = angles_of(
            swing.rotations(points, 0.0, poles).swapaxes(1, 2) @ swing.rotations(ahead, 0.0, poles)
        )
        moved = np.linalg.norm(unit(ahead) - unit(points), axis=1)
        behind = points @ swing.along < 0.0 if rule == SHORTEST_WAY else np.zeros(len(points), bool)
        bound = np.where(behind, 4.0, 3.0) / sines
        assert (turned <= bound * moved + 1e-7).all()


# --- Its parts ------------------------------------------------------------------------------------


def test_unit_vectors_of_nothing_are_the_other():
    found = units(np.array([[0.0, 0.0, 0.0], [0.0, 3.0, 4.0]]), X)
    assert found == pytest.approx(np.array([X, (0.0, 0.6, 0.8)]))


def test_axes_go_along_and_towards():
    rng = np.random.default_rng(3)
    along, towards = unit(rng.normal(size=(50, 3))), rng.normal(size=(50, 3))
    found = frames(along, towards)
    assert np.abs(found.swapaxes(1, 2) @ found - np.eye(3)).max() < EXACT
    assert np.linalg.det(found) == pytest.approx(1.0)
    assert found[:, :, 0] == pytest.approx(along)
    assert ((found[:, :, 1] * towards).sum(axis=1) > 0.0).all()
    assert np.abs((found[:, :, 2] * towards).sum(axis=1)).max() < EXACT


@pytest.mark.parametrize("axis", (X, Y, Z, unit(X + Y + Z)), ids=("X", "Y", "Z", "all"))
def test_axes_towards_what_is_along_are_square_all_the_same(axis):
    found = frames(np.stack((axis, axis)), np.stack((2.0 * axis, -axis)))
    assert np.abs(found.swapaxes(1, 2) @ found - np.eye(3)).max() < EXACT
    assert np.linalg.det(found) == pytest.approx(1.0)


def test_least_turns_lead_from_one_to_the_other():
    rng = np.random.default_rng(7)
    ones, others = unit(rng.normal(size=(50, 3))), unit(rng.normal(size=(50, 3)))
    others[0], others[1] = ones[0], -ones[1]
    found = shortest_turns(ones, others, Z)
    assert (found @ ones[..., None])[..., 0] == pytest.approx(others, abs=EXACT)
    assert np.abs(found @ found.swapaxes(1, 2) - np.eye(3)).max() < EXACT
    between = np.arccos(np.clip((ones * others).sum(axis=1), -1.0, 1.0))
    assert angles_of(found) == pytest.approx(between, abs=1e-6)
    assert found[0] == pytest.approx(np.eye(3), abs=EXACT)


@pytest.mark.parametrize("power", range(1, 13))
def test_turns_of_nearly_opposite_directions_are_exact(power):
    rng = np.random.default_rng(power)
    ones = unit(rng.normal(size=(50, 3)))
    others = unit(-ones + 10.0**-power * rng.normal(size=(50, 3)))
    found = shortest_turns(ones, others, Z)
    assert np.abs((found @ ones[..., None])[..., 0] - others).max() < 5e-8
    assert np.abs(found @ found.swapaxes(1, 2) - np.eye(3)).max() < 1e-7


def test_half_a_turn_is_about_the_spare_axis():
    found = shortest_turns(X[None], -X[None], unit(Z + X))[0]
    assert found == pytest.approx(np.diag((-1.0, -1.0, 1.0)), abs=EXACT)
