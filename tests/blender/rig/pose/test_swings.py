# SPDX-License-Identifier: GPL-3.0-or-later
"""Swings of a plane in the samples of a chain: the target lies in it, and Blender turns the bones so."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from rigs import add_armature, add_chain, add_target, evaluated_tip
from swing_rigs import RULES, follow, move_about, random_limb

from ik2d_addon.core.affine import inverse, product, rotations_about, turned
from ik2d_addon.core.solution import drained
from ik2d_addon.core.swing import eased
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.pose.bone_matrices import (
    first_rotations,
    rest_to_pose,
    rotations_of,
)
from ik2d_addon.rig.pose.kinematics import read_linkage
from ik2d_addon.rig.pose.swings import NEAR, STEP, blended_swings, eased_spins, flips, swung
from ik2d_addon.rig.scene.sampler import sample_now, sample_steps

EXACT = 1e-9
FRAMES = list(range(1, 7))
SEEDS = range(900, 906)


def sampled(rig, times=FRAMES):
    return drained(sample_steps(bpy.context.scene, [rig], times)).chains[0]


def moving(seed, rule, **limb):
    """Return a random limb that follows moving target and pole, its chain as read, and its samples."""
    limb = random_limb(seed, **limb)
    chain = follow(limb, rule, pole_angle=limb.rng.uniform(-3.0, 3.0))
    move_about(limb, chain, speed=12.0, frames=len(FRAMES))
    rig = read_chain(limb.armature, chain)
    return limb, rig, sampled(rig)


def seen(rig, samples, places):
    """Return places (frames, 3) of the world from the root, in rest space as the plane is turned."""
    into = inverse(product(samples.world, rest_to_pose(rig, samples)))
    return turned(into[:, :3, :3], places) + into[:, :3, 3] - rig.plane.origin


def arm(target=(0.5, 0.4, 0.3), count=2, pole=(0.0, 3.0, 0.0), **settings):
    """Add an arm along X in the plane z = 0, the elbow towards Y; return its chain as read, and a sample."""
    places = [(0, 0, 0), (1, 0.2, 0), (2, 0, 0)][: count + 1]
    bones = {
        f"b{i}": (one, other, f"b{i - 1}" if i else "", 0.0)
        for i, (one, other) in enumerate(zip(places, places[1:], strict=False))
    }
    settings = {"plane": 'SWING', **settings}
    if settings["plane"] == 'POLE':
        settings["pole"] = add_target({1: pole}, "Pole")
    armature = add_armature(bones)
    chain = add_chain(armature, f"b{count - 1}", add_target({1: target}), count, **settings)
    bpy.context.scene.frame_set(1)
    rig = read_chain(armature, chain)
    return rig, sample_now(bpy.context.scene, [rig]).chains[0]


# --- Swung ----------------------------------------------------------------------------------------


def test_samples_of_a_fixed_plane_stay_as_they_are():
    rig, samples = arm(plane='AUTO')
    assert swung(rig, samples) is samples
    assert eased_spins(rig, samples, [1.0]) is None
    assert flips(rig, samples) is None


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_the_turned_plane_holds_the_target_at_the_tips_height(rule):
    for seed in SEEDS:
        limb, rig, samples = moving(seed, rule)
        found = swung(rig, samples)
        assert found.swings.shape == (len(FRAMES), 3, 3)
        assert np.linalg.det(found.swings) == pytest.approx(1.0)
        heights = read_linkage(rig, samples).heights
        points = seen(rig, found, samples.targets)
        assert np.abs(points @ rig.plane.normal - heights).max() < 1e-7 * limb.reach, seed


@pytest.mark.parametrize("rule", RULES)
def test_swings_do_not_depend_on_other_frames_nor_on_earlier_swings(rule):
    _, rig, samples = moving(901, rule)
    whole = swung(rig, samples)
    assert swung(rig, samples.at([4])).swings[0] == pytest.approx(whole.swings[4], abs=EXACT)
    assert swung(rig, whole).swings == pytest.approx(whole.swings, abs=EXACT)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_blender_has_the_tip_where_a_swung_linkage_has_it(rule):
    for seed in SEEDS:
        limb, rig, samples = moving(seed, rule)
        samples = swung(rig, samples)
        turns = limb.rng.uniform(-0.5, 0.5, (len(FRAMES), len(limb.bones)))
        linkage = read_linkage(rig, samples)
        tips = linkage.tips_turned(turns)
        to_world = product(samples.world, linkage.to_pose)
        there = turned(to_world[:, :3, :3], tips) + to_world[:, :3, 3]
        rotations = rotations_of(rig, turns, samples.swings)
        for i, frame in enumerate(FRAMES):
            for name, rotation in zip(limb.bones, rotations, strict=True):
                bone = limb.armature.pose.bones[name]
                bone.matrix_basis = Matrix(rotation[i].tolist()).to_4x4()
            bpy.context.scene.frame_set(frame)
            tip = evaluated_tip(limb.armature, limb.bones[-1])
            assert np.linalg.norm(np.array(tip) - there[i]) < 2e-5 * limb.size, (seed, frame)


# --- Aims -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("plane", ("Z", *RULES))
@pytest.mark.parametrize("far", (0.01, 1.0, 50.0))
def test_a_single_bone_has_its_target_as_far_as_its_tip(plane, far):
    way = np.array((0.6, 0.48, 0.0 if plane == 'Z' else 0.64))
    rig, samples = arm(tuple(far * way), 1, plane=plane)
    found = swung(rig, samples).targets[0]
    assert np.linalg.norm(found) == pytest.approx(np.hypot(1.0, 0.2), abs=1e-6)
    assert found / np.linalg.norm(found) == pytest.approx(way / np.linalg.norm(way), abs=1e-6)


def test_off_a_fixed_plane_a_single_bone_aims_at_the_targets_place_in_it():
    rig, samples = arm((3.0, 4.0, 5.0), 1, plane='Z')
    assert swung(rig, samples).targets[0] == pytest.approx(
        (*np.array((0.6, 0.8)) * np.hypot(1.0, 0.2), 5.0), abs=1e-6
    )


@pytest.mark.parametrize("plane", ("Z", *RULES))
def test_a_target_on_the_root_leaves_a_single_bone_at_rest(plane):
    rig, samples = arm((0.0, 0.0, 0.0), 1, plane=plane)
    assert swung(rig, samples).targets[0] == pytest.approx((1.0, 0.2, 0.0), abs=1e-6)


def test_where_the_distance_counts_a_single_bone_keeps_its_target():
    rig, samples = arm((3.0, 4.0, 5.0), 1, aim_distance=True)
    assert (swung(rig, samples).targets == samples.targets).all()
    assert swung(rig, samples).swings is not None


# --- Spins ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_spins_that_are_given_are_taken(rule):
    _, rig, samples = moving(902, rule)
    own = swung(rig, samples)
    spins = np.linspace(0.0, 2.0, len(FRAMES))
    other = swung(rig, samples, spins)
    assert np.abs(other.swings - own.swings).max() > 0.1
    height = read_linkage(rig, samples).heights
    assert seen(rig, other, samples.targets) @ rig.plane.normal == pytest.approx(height, abs=1e-6)


def test_eased_spins_are_the_planes_own_but_smooth():
    _, rig, samples = moving(903, 'POLE')
    found = eased_spins(rig, samples, FRAMES)
    points = seen(rig, samples, samples.targets)
    poles = seen(rig, samples, samples.poles)
    spins = rig.swing.spins(points, read_linkage(rig, samples).heights, poles)
    assert found == pytest.approx(eased(spins, rig.swing.sines(points, poles), FRAMES), abs=1e-6)
    assert np.abs(np.diff(found, 2)).sum() < np.abs(np.diff(np.unwrap(spins), 2)).sum()


# --- Flips ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("degrees", (90.0, 10.0, 4.0, 0.0))
def test_the_angle_to_where_the_plane_is_open_is_told(degrees):
    sine, cosine = np.sin(np.radians(degrees)), np.cos(np.radians(degrees))
    for plane, place in (
        ('SWING', (sine, 0, cosine)),
        ('ARC', (-cosine, 0, sine)),
        ('POLE', (sine, cosine, 0)),
    ):
        rig, samples = arm(place, plane=plane)
        turns = flips(rig, samples)
        assert np.degrees(turns.openness) == pytest.approx(degrees, abs=1e-4), plane
        assert (turns.openness < NEAR).all() == (degrees < 5.0) and turns.steps.tolist() == [0.0]


def test_a_flip_is_a_step_of_the_spin_and_a_whole_turn_is_none():
    rig, samples = arm(plane='POLE')
    places = {1: (1.0, 1.0, 0.1), 2: (1.0, 1.0, -0.1), 3: (1.0, 0.9, -0.1)}
    rig.target.animation_data_clear()
    for frame, place in places.items():
        rig.target.location = place
        rig.target.keyframe_insert("location", frame=frame)
    rig.pole[0].animation_data_clear()
    rig.pole[0].location = (2.0, 2.0, 0.0)
    samples = sampled(rig, [1, 2, 3])
    steps = flips(rig, samples).steps
    assert steps[0] == 0.0 and steps[1] > STEP > steps[2]
    still = samples.at([2, 2, 2])
    given = flips(rig, still, np.array((0.1, 0.2, 0.2 + 2.0 * np.pi))).steps
    assert given == pytest.approx((0.0, 0.1, 0.0), abs=1e-7)


# --- Blended --------------------------------------------------------------------------------------


def test_a_part_of_the_influence_turns_the_first_bone_a_part_of_the_way():
    limb, rig, samples = moving(904, 'POLE', count=3)
    swings = swung(rig, samples).swings
    rng = limb.rng
    own = rotations_about(np.array((0.6, 0.0, 0.8)), rng.uniform(-1.0, 1.0, len(FRAMES)))
    solved, posed = rng.uniform(-1.0, 1.0, (2, len(FRAMES)))
    for part in (0.0, 0.3, 1.0):
        influence = np.full(len(FRAMES), part)
        found = blended_swings(rig, swings, own, (solved, posed), influence)
        assert np.linalg.det(found) == pytest.approx(1.0, abs=1e-5)
        shown, whole = first_rotations(rig, posed, found), first_rotations(rig, solved, swings)
        for i in range(len(FRAMES)):
            one, other = (Matrix(each[i].tolist()).to_quaternion() for each in (own, whole))
            wanted = np.array(one.slerp(other, part).to_matrix())
            assert shown[i] == pytest.approx(wanted, abs=1e-5)
