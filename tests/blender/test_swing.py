# SPDX-License-Identifier: GPL-3.0-or-later
"""Planes that follow a target or a pole, on rigs of any build: Blender has the tips on their targets."""

import bpy
import numpy as np
import pytest
from swing_rigs import LAST, MODES, RULES, follow, misses, move_about, random_limb

from ik2d_addon.bake import BakeOptions, bake

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


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_a_rest_matrix_that_32_bits_leave_askew_costs_nothing(rule):
    told, whole, halves = bake_limb(143, rule)
    rest = np.array(bpy.context.object.pose.bones["b0"].bone.matrix_local)[:3, :3]
    assert np.abs(rest.T @ rest - np.eye(3)).max() > 1e-5
    assert told.reached and whole.max() < 2e-6 and halves.max() < 2e-6
