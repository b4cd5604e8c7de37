# SPDX-License-Identifier: GPL-3.0-or-later
"""Planes that follow a target or a pole, on rigs of any build: Blender has the tips on their targets."""

import bpy
import numpy as np
import pytest
from mathutils import Vector
from rigs import add_armature, add_chain, add_target, errors_on
from swing_rigs import LAST, MODES, RULES, follow, key_places, misses, move_about, random_limb

from ik2d_addon.bake import BakeOptions, bake
from ik2d_addon.core import IK2DError

WHOLE, HALF = 2e-5, 1e-4
FRAMES, HALVES = range(1, LAST + 1), np.arange(1, LAST) + 0.5


def bake_limb(seed, rule, **limb):
    """Bake a random limb; return its report, and the misses on frames and half-way, parts of its length."""
    limb = random_limb(seed, **limb)
    chain = follow(limb, rule, pole_angle=limb.rng.uniform(-np.pi, np.pi))
    move_about(limb, chain)
    (told,) = bake(limb.armature, options=BakeOptions(verify='ALL')).chains
    return told, misses(limb, chain, FRAMES), misses(limb, chain, HALVES)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_tips_are_on_their_targets_on_rigs_of_any_build(rule, some):
    for seed in range(some(160)):
        told, whole, halves = bake_limb(seed, rule)
        assert told.reached, (seed, told.sentence())
        assert whole.max() < WHOLE, seed
        assert halves.max() < HALF, seed


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_half_way_between_frames_each_rotation_mode_keeps_the_tip_on_its_target(mode, some):
    for seed in range(300, 300 + some(10, 5)):
        for rule in RULES:
            told, whole, halves = bake_limb(seed, rule, mode=mode)
            assert whole.max() < WHOLE and halves.max() < HALF, (seed, rule)


@pytest.mark.parametrize("rule", RULES)
def test_a_rest_matrix_that_32_bits_leave_askew_costs_nothing(rule):
    told, whole, halves = bake_limb(143, rule)
    rest = np.array(bpy.context.object.pose.bones["b0"].bone.matrix_local)[:3, :3]
    assert np.abs(rest.T @ rest - np.eye(3)).max() > 1e-5
    assert told.reached and whole.max() < 2e-6 and halves.max() < HALF


# --- Where the rule says nothing ------------------------------------------------------------------


def bake_through(rule, places, pole=(0.0, 3.0, 0.0), joints=((0, 0, 0), (1, 0.3, 0), (1.9, 0, 0))):
    """Bake an arm in the plane z = 0 through places from frame 1 on; return its report and its misses.

    pole: its place; None: the target is the pole, too.
    """
    bones = {
        f"b{i}": (one, other, f"b{i - 1}" if i else "", 0.0)
        for i, (one, other) in enumerate(zip(joints, joints[1:], strict=False))
    }
    armature, target = add_armature(bones), add_target({})
    key_places(target, [Vector(place) for place in places], 'LINEAR')
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, len(places)
    there = target if pole is None else add_target({1: pole}, "Pole")
    chain = add_chain(armature, f"b{len(bones) - 1}", target, len(bones), plane=rule, pole=there, name="arm")
    (told,) = bake(armature, options=BakeOptions(verify='ALL')).chains
    return told, errors_on(range(1, len(places) + 1), armature, chain)


OPEN = {
    "SWING": [(0.5, 0.5, 0.9), (0.0, 0.0, 1.2), (-0.5, 0.2, 0.9), (0.0, 0.0, -1.0)],
    "POLE": [(0.9, 0.6, 0.2), (0.0, 1.2, 0.0), (-0.5, 0.9, 0.1), (0.0, -1.0, 0.0)],
    "ARC": [(-1.2, 0.5, 0.5), (-1.2, 0.0, 0.0), (-1.2, 0.1, -0.4), (-0.9, 0.0, 0.0)],
}


@pytest.mark.parametrize("rule", OPEN)
def test_where_the_rule_leaves_the_plane_open_the_tip_is_on_its_target_and_it_is_told(rule):
    told, off = bake_through(rule, OPEN[rule])
    assert off.max() < 1e-4
    assert any("where its plane may turn over" in warning for warning in told.warnings)


@pytest.mark.parametrize("pole", (None, (0.0, 0.0, 0.0)), ids=("the target", "on the root"))
def test_with_a_pole_that_says_nothing_the_tip_is_on_its_target(pole):
    places = [(0.9, 0.6, 0.2), (0.3, 1.2, 0.4), (-0.5, 0.9, 0.6), (0.2, -1.0, 0.3)]
    told, off = bake_through('POLE', places, pole)
    assert off.max() < 1e-4 and told.reached


@pytest.mark.parametrize("rule", RULES)
def test_a_target_on_the_root_is_out_of_reach_and_the_next_frame_is_not(rule):
    told, off = bake_through(rule, [(1.0, 0.4, 0.3), (0, 0, 0), (0.9, 0.2, 0.5)])
    assert told.missed.tolist() == [False, True, False] and "out of reach" in told.sentence()
    assert off[[0, 2]].max() < 1e-4 and off[1] == pytest.approx(told.errors[1], abs=1e-5)


@pytest.mark.parametrize("rule", RULES)
def test_a_target_nearer_than_the_tip_is_off_the_plane_is_missed_and_told(rule):
    joints = ((0, 0, 0), (1, 0.6, 0.0), (1.8, 0.5, 0.3), (2.2, -0.4, 0.1), (2.9, -0.6, 0.5))
    far, near = (1.2, 0.5, 0.9), (0.02, 0.01, 0.02)
    told, off = bake_through(rule, [far, near, far], joints=joints)
    assert off[[0, 2]].max() < 1e-4
    assert told.missed.tolist() == [False, True, False]
    assert off[1] == pytest.approx(told.errors[1], abs=1e-4)


def test_a_deleted_pole_is_refused():
    with pytest.raises(IK2DError, match="has no pole; choose the object that its knee or elbow points at"):
        limb = random_limb(1)
        chain = follow(limb, 'POLE')
        bpy.data.objects.remove(chain.pole)
        bake(limb.armature)
