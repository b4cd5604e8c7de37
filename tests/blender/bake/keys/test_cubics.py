# SPDX-License-Identifier: GPL-3.0-or-later
"""Cubics between two keys: exact where a cubic is asked for, the nearest where none will do."""

import math

import numpy as np
import pytest
from rigs import leg_with_target

from ik2d_addon.bake.keys import cubics
from ik2d_addon.bake.keys.cubics import Cubics, PlayedChain, hermite, read_played, tips_of
from ik2d_addon.core import Plane
from ik2d_addon.core.solution import drained
from ik2d_addon.rig.animation.bone_channels import BoneRotation
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.pose.kinematics import Link, Linkage
from ik2d_addon.rig.pose.rotations import bone_rotations
from ik2d_addon.rig.scene.sampler import sample_now

TIMES = np.arange(0.0, 10.5, 0.5)


def test_hermite_weights_make_the_cubic_of_ends_and_slopes():
    u = np.linspace(0.0, 1.0, 7)
    at_ends, at_slopes = hermite(u)
    cubic = np.polynomial.Polynomial([0.3, -1.0, 2.0, 0.7])
    slope = cubic.deriv()
    found = at_ends @ [cubic(0.0), cubic(1.0)] + at_slopes @ [slope(0.0), slope(1.0)]
    assert found == pytest.approx(cubic(u))


def test_elimination_solves_normal_equations():
    chance = np.random.default_rng(1)
    for size in (1, 2, 5, 8):
        basis = chance.uniform(-1, 1, (12, size))
        normal, wanted = basis.T @ basis, chance.uniform(-1, 1, (size, 3))
        found = cubics.solved_normal(normal, wanted)
        assert found == pytest.approx(np.linalg.solve(normal, wanted), rel=1e-3, abs=1e-4)
        assert cubics.solved_normal(normal, wanted[:, 0]) == pytest.approx(found[:, 0], rel=1e-9, abs=1e-12)


def test_what_equations_leave_open_stays_small():
    normal = np.array([[2.0, 0.0], [0.0, 0.0]])
    assert cubics.solved_normal(normal, np.array([4.0, 0.0])) == pytest.approx((2.0, 0.0), rel=1e-5)
    assert cubics.solved_normal(np.ones((2, 2)), np.array([2.0, 2.0])) == pytest.approx((1.0, 1.0), rel=1e-5)
    assert (cubics.solved_normal(np.zeros((2, 2)), np.zeros(2)) == 0.0).all()


def test_the_equations_given_stay_as_they_are():
    normal, wanted = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0])
    cubics.solved_normal(normal, wanted)
    assert normal.tolist() == [[2.0, 1.0], [1.0, 3.0]] and wanted.tolist() == [1.0, 2.0]


def tips_in_world(played):
    """Return the tips (times, 3) in the world of one chain."""
    (tips,) = drained(tips_of([played]))
    return tips


def euler(values, bone="a"):
    return BoneRotation(bone, "rotation_euler", np.array(values))


def quaternion(turns, axis=(1.0, 0.0, 0.0), bone="a"):
    half = np.array(turns) / 2.0
    return BoneRotation(
        bone, "rotation_quaternion", np.column_stack((np.cos(half), np.outer(np.sin(half), axis)))
    )


def test_an_angle_swings_its_bone_by_itself_and_a_quaternion_across_itself():
    turns, axis = np.array([0.2, 1.0, -2.0]), np.array([0.0, 0.6, -0.8])
    assert (cubics._swings([euler(np.zeros((3, 3)))]) == 1.0).all()
    swings = cubics._swings([euler(np.zeros((3, 3))), quaternion(turns, axis)])
    assert swings.shape == (3, 7)
    # A turn by dt moves the channels by dq; that is what their swings see of it.
    dq = np.column_stack((-np.sin(turns / 2), np.outer(np.cos(turns / 2), axis))) / 2
    sign = np.sign(
        dq[np.argmax(np.abs(np.sin(turns / 2)))] @ swings[np.argmax(np.abs(np.sin(turns / 2))), 3:]
    )
    assert (swings[:, 3:] * dq).sum(axis=1) * sign == pytest.approx(1.0)
    along = np.column_stack((np.cos(turns / 2), np.outer(np.sin(turns / 2), axis)))
    assert (swings[:, 3:] * along).sum(axis=1) == pytest.approx(0.0, abs=1e-12)


def test_a_quaternion_that_never_turns_swings_nothing():
    assert np.isfinite(cubics._swings([quaternion(np.zeros(3))])).all()


def test_only_the_channels_of_one_quaternion_turn_a_bone_together():
    same = cubics._same_bone([quaternion([0.0]), euler(np.zeros((1, 3))), quaternion([0.0])])
    expected = np.eye(11)
    expected[:4, :4] = expected[7:, 7:] = 1.0
    assert (same == expected).all()


# --- One chain of numbers -------------------------------------------------------------------------


def played(channels, modes=('XYZ', 'XYZ'), lengths=(1.0, 0.8), scale=1.0):
    """Return a chain of bones along x, in the plane z = 0 and turned about their own Z, at all times."""
    links, at = [], 0.0
    for length in lengths:
        local = np.eye(4)
        local[0, 3] = at
        links.append(Link(True, np.eye(2), np.array([length, 0.0]), local, local, np.eye(4)))
        at = length
    linkage = Linkage(
        tuple(links),
        np.eye(4)[None],
        np.array((lengths[-1], 0.0, 0.0)),
        Plane(np.zeros(3), *np.eye(3)),
        np.tile((0.0, 0.0, 1.0), (len(lengths), 1)),
        True,
        np.zeros(()),
    )
    to_world = scale * np.eye(4)
    to_world[:3, 3] = (1.0, 2.0, 3.0)
    to_world = np.broadcast_to(to_world, (len(channels), 4, 4))
    widths = [4 if mode == 'QUATERNION' else 3 for mode in modes]
    return PlayedChain(linkage, to_world, list(modes), widths, TIMES[: len(channels)], channels)


def about_z(*turns):
    """Return the rotations of bones that turn about their Z by these angles (times,)."""
    return [
        BoneRotation(name, "rotation_euler", np.column_stack((0 * turn, 0 * turn, turn)))
        for name, turn in zip("ab", turns, strict=True)
    ]


def fitted(*turns, scale=1.0):
    rotations = about_z(*turns)
    channels = np.concatenate([rotation.values for rotation in rotations], axis=1)
    return Cubics(played(channels, scale=scale), rotations)


def played_tips(one, slopes, first, last):
    """Return how far the tips of a segment's cubics are from those of all keys, by plain trigonometry."""
    rows = slice(first + 1, last)
    u = (one.played.times[rows] - one.played.times[first]) / (
        one.played.times[last] - one.played.times[first]
    )
    at_ends, at_slopes = hermite(u)

    def tips(channels):
        a, b = channels[:, 2], channels[:, 5]
        return np.column_stack((np.cos(a) + 0.8 * np.cos(a + b), np.sin(a) + 0.8 * np.sin(a + b)))

    channels = at_ends @ one.played.channels[[first, last]] + at_slopes @ slopes
    return np.linalg.norm(tips(channels) - tips(one.played.channels[rows]), axis=1)


def test_tips_are_those_of_the_channels():
    one = fitted(0.3 * TIMES, -0.2 * TIMES)
    tips = one.played.tips(one.played.channels, slice(None))
    a, b = 0.3 * TIMES, 0.1 * TIMES
    expected = np.column_stack((np.cos(a) + 0.8 * np.cos(b), np.sin(a) + 0.8 * np.sin(b), 0 * a))
    assert tips == pytest.approx(expected)
    assert one.played.tips(one.played.channels[3:5], slice(3, 5)) == pytest.approx(expected[3:5])
    larger = fitted(0.3 * TIMES, -0.2 * TIMES, scale=3.0).played
    assert tips_in_world(larger) == pytest.approx(3.0 * expected + (1.0, 2.0, 3.0))


@pytest.mark.parametrize("block", [1, 3, len(TIMES)])
def test_tips_are_the_same_to_the_bit_in_blocks(block, monkeypatch):
    played = fitted(0.3 * TIMES, -0.2 * TIMES, scale=3.0).played
    at_once = tips_in_world(played)
    monkeypatch.setattr(cubics, "_BLOCK", block)
    assert (tips_in_world(played) == at_once).all()


def test_a_bone_that_is_held_plays_no_channels():
    one = played(np.column_stack((0 * TIMES, 0 * TIMES, 0.3 * TIMES)))
    held = PlayedChain(one.linkage, one.to_world, [None, 'XYZ'], [0, 3], TIMES, one.channels)
    a = 0.3 * TIMES
    assert held.tips(held.channels, slice(None))[:, 0] == pytest.approx(1.0 + 0.8 * np.cos(a))


def test_channels_that_are_cubics_are_fitted_exactly():
    cubic = np.polynomial.Polynomial([0.3, 0.1, -0.05, 0.004])
    one = fitted(cubic(TIMES), 0.2 - 0.5 * cubic(TIMES))
    slopes, error = one.fit(2, 18)
    assert error < 1e-8
    gap = TIMES[18] - TIMES[2]
    assert slopes[:, 2] == pytest.approx(gap * cubic.deriv()(TIMES[[2, 18]]), rel=1e-5)
    assert slopes[:, 5] == pytest.approx(-0.5 * gap * cubic.deriv()(TIMES[[2, 18]]), rel=1e-5)


def test_the_error_is_the_largest_of_the_tip_between_the_keys_in_the_world():
    turns = np.sin(TIMES), 0.7 * np.cos(1.3 * TIMES)
    one, larger = fitted(*turns), fitted(*turns, scale=3.0)
    for first, last in ((0, 4), (3, 12), (0, 20)):
        slopes, error = one.fit(first, last)
        assert error == pytest.approx(played_tips(one, slopes, first, last).max(), rel=1e-6)
        assert larger.fit(first, last)[1] == pytest.approx(3.0 * error, rel=1e-3)


def test_the_joints_make_up_for_one_another():
    """The tip's error is less than where each channel is fitted for itself."""
    one = fitted(np.sin(TIMES), 0.7 * np.cos(1.3 * TIMES))
    parts = []
    for first, last in ((0, 8), (3, 12), (6, 16)):
        slopes, error = one.fit(first, last)
        u = (TIMES[first + 1 : last] - TIMES[first]) / (TIMES[last] - TIMES[first])
        at_ends, at_slopes = hermite(u)
        channels = one.played.channels
        wanted = channels[first + 1 : last] - at_ends @ channels[[first, last]]
        alone = np.linalg.lstsq(at_slopes, wanted, rcond=None)[0]
        parts.append(error / played_tips(one, alone, first, last).max())
        assert slopes.shape == (2, 6)
    assert max(parts) <= 1.0 and min(parts) < 0.8


def test_neighbours_with_nothing_between_have_no_error():
    one = fitted(np.sin(TIMES), np.cos(TIMES))
    slopes, error = one.fit(4, 5)
    assert error == 0.0
    expected = 0.5 * np.gradient(np.sin(TIMES), TIMES)[[4, 5]]
    assert slopes[:, 2] == pytest.approx(expected, rel=1e-3)


def test_channels_that_stand_still_are_left_to_themselves():
    one = fitted(np.sin(TIMES), 0.4e-5 * np.cos(TIMES))
    slopes, _ = one.fit(0, 12)
    assert np.abs(slopes[:, [0, 1, 3, 4]]).max() < 1e-6
    assert np.abs(slopes[:, 5]).max() < 1e-4
    still = fitted(0.2 + 0 * TIMES, 0.1 + 0 * TIMES)
    slopes, error = still.fit(0, 20)
    assert error < 1e-12 and np.abs(slopes).max() < 1e-9


def test_more_weight_where_the_tip_is_furthest_off_makes_the_largest_error_less():
    bump = np.exp(-((TIMES - 3.0) ** 2) / 0.3)
    one = fitted(0.6 * bump, 0.3 * np.sin(0.7 * TIMES))
    slopes, error = one.fit(0, 12)
    off = played_tips(one, slopes, 0, 12)
    assert error == pytest.approx(off.max(), rel=1e-6)
    # No other slopes near these are better by much: it is close to the least there is.
    chance = np.random.default_rng(2)
    for _ in range(200):
        other = slopes.copy()
        other[:, [2, 5]] += chance.normal(0.0, 0.05, (2, 2))
        assert played_tips(one, other, 0, 12).max() > 0.85 * error


# --- A rig's --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ['QUATERNION', 'XYZ', 'AXIS_ANGLE'])
def test_what_blender_plays_is_read_from_the_rig(mode):
    import bpy

    armature, _ = leg_with_target()
    for bone in armature.pose.bones:
        bone.rotation_mode = mode
    armature.scale, armature.location = (2, 2, 2), (3, -1, 0.5)
    bpy.context.view_layer.update()
    rig = read_chain(armature, armature.ik2d.chains[0])
    (samples,) = sample_now(bpy.context.scene, [rig]).chains
    rotations = bone_rotations(rig, np.array([[0.4, -0.7]]))
    one = read_played(rig, samples, rotations, [1.0])
    width = 3 if mode == 'XYZ' else 4
    assert (one.modes, one.widths) == ([mode] * 2, [width] * 2)
    assert one.channels.shape == (1, 2 * width) and one.times.tolist() == [1.0]
    for rotation in rotations:
        setattr(armature.pose.bones[rotation.bone], rotation.property, rotation.values[0])
    bpy.context.view_layer.update()
    tip = armature.matrix_world @ armature.pose.bones["shin"].tail
    (found,) = tips_in_world(one)
    assert found == pytest.approx(tuple(tip), abs=1e-5)
    single = read_played(rig, samples, bone_rotations(rig, np.array([[0.4, -0.7]]), True), [1.0])
    assert single.channels.shape == one.channels.shape
    alone = read_played(rig, samples, rotations[1:], [1.0])
    assert (alone.modes, alone.widths) == ([None, mode], [0, width])


def test_a_mode_that_a_rotation_will_set_is_the_one_played():
    import bpy

    armature, _ = leg_with_target()
    rig = read_chain(armature, armature.ik2d.chains[0])
    (samples,) = sample_now(bpy.context.scene, [rig]).chains
    rotations = [
        BoneRotation(name, "rotation_euler", np.zeros((1, 3)), mode='ZYX') for name in ("thigh", "shin")
    ]
    assert read_played(rig, samples, rotations, [1.0]).modes == ['ZYX', 'ZYX']
    assert math.isclose(cubics.JOINTS, 0.1)
