# SPDX-License-Identifier: GPL-3.0-or-later
"""Planes that follow, in the keys of a bake: blended, reduced, sparse, joined to others, eased."""

from math import cos, pi, radians, sin

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector
from rigs import add_armature, add_chain, add_target, animation_of, evaluated_place, evaluated_tip
from swing_rigs import LAST, RULES, evaluated, follow, key_places, misses, move_about, random_limb

from ik2d_addon.bake import BakeOptions, bake, solve
from ik2d_addon.rig.animation.versions import existing_fcurves

FRAMES = range(1, LAST + 1)
HALVES = np.arange(1, LAST) + 0.5
EXACT = 2e-5
MODES = ('QUATERNION', 'XYZ', 'AXIS_ANGLE')


def moving_limb(seed, rule='POLE', count=0, speed=5.0, frames=LAST, **settings):
    """Add a random limb that follows moving targets and poles; return it and its chain."""
    limb = random_limb(seed, count, uneven=False, mode=settings.pop("mode", ""))
    chain = follow(limb, rule, pole_angle=limb.rng.uniform(-pi, pi), **settings)
    move_about(limb, chain, speed=speed, frames=frames)
    return limb, chain


def own_rotations(limb, frames=FRAMES) -> list[list[Quaternion]]:
    """Return the own rotations of all bones on some frames, as evaluated."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
        bones = evaluated(limb.armature).pose.bones
        found.append([bones[name].matrix_basis.to_quaternion() for name in limb.bones])
    return found


def apart(one: Quaternion, other: Quaternion) -> float:
    """Return the degrees between two rotations."""
    turn = one.rotation_difference(other)
    return float(np.degrees(2.0 * np.arctan2(np.linalg.norm(turn[1:]), abs(turn.w))))


def curves_of(limb, bone: str) -> list[bpy.types.FCurve]:
    return [curve for curve in existing_fcurves(limb.armature) if f'["{bone}"]' in curve.data_path]


def path_of(bone) -> str:
    names = {'QUATERNION': "rotation_quaternion", 'AXIS_ANGLE': "rotation_axis_angle"}
    return names.get(bone.rotation_mode, "rotation_euler")


# --- All channels of the first bone ---------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("mode", ('QUATERNION', 'AXIS_ANGLE', 'XYZ', 'ZYX'))
@pytest.mark.parametrize("rule", RULES)
def test_the_first_bone_has_all_its_channels_without_jumps_and_the_others_what_they_had(mode, rule):
    limb, chain = moving_limb(31, rule, 3, mode=mode, frames=40, speed=9.0)
    bake(limb.armature)
    assert limb.first.rotation_mode == mode
    values = np.array([[point.co[1] for point in curve.keyframe_points] for curve in curves_of(limb, "b0")])
    assert values.shape == (3 if mode in ('XYZ', 'ZYX') else 4, 40)
    assert np.abs(np.diff(values, axis=1)).max() < (0.6 if mode in ('QUATERNION', 'AXIS_ANGLE') else 1.2)
    if mode == 'QUATERNION':
        assert np.linalg.norm(values, axis=0) == pytest.approx(1.0, abs=1e-6)
    assert misses(limb, chain, range(1, 41)).max() < EXACT


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_baking_twice_changes_nothing(rule):
    limb, _ = moving_limb(32, rule)
    bake(limb.armature)
    before = animation_of(limb.armature)
    bake(limb.armature)
    assert animation_of(limb.armature) == before


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_solve_is_the_pose_that_a_bake_keys(rule):
    limb, chain = moving_limb(33, rule)
    solved = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        solve(limb.armature)
        solved.append(
            [bone.matrix_basis.to_quaternion() for bone in map(limb.armature.pose.bones.get, limb.bones)]
        )
    bake(limb.armature)
    for one, other in zip(solved, own_rotations(limb), strict=True):
        assert max(map(apart, one, other)) < 0.01


# --- Influence ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("influence", (0.0, 0.5, 1.0))
def test_the_first_bone_is_a_part_of_the_way_between_keys_made_by_hand_and_the_solved_pose(
    rule, mode, influence
):
    limb, chain = moving_limb(34, rule, 2, mode=mode)
    bake(limb.armature)
    solved = own_rotations(limb)
    limb.armature.animation_data_clear()
    by_hand = Quaternion((0.9, 0.2, -0.3, 0.1)).normalized()
    limb.first.matrix_basis = by_hand.to_matrix().to_4x4()
    limb.first.keyframe_insert(path_of(limb.first), frame=1)
    chain.influence = influence
    (told,) = bake(limb.armature, options=BakeOptions(verify='ALL')).chains
    for frame, (one, blended) in enumerate(zip(solved, own_rotations(limb), strict=True), start=1):
        wanted = by_hand.slerp(one[0] if by_hand.dot(one[0]) > 0.0 else -one[0], influence)
        assert apart(wanted, blended[0]) < 0.05, frame
        assert apart(Quaternion().slerp(one[1], influence), blended[1]) < 0.05, frame
    assert told.errors == pytest.approx(misses(limb, chain, FRAMES) * limb.size, abs=1e-5 * limb.size)
    assert "moved by something else" not in told.sentence()


# --- Fewer keys -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rule", RULES)
def test_reduced_keys_are_few_and_within_their_bound(rule, mode):
    limb, chain = moving_limb(35, rule, 3, mode=mode, frames=40, speed=3.0)
    bound = 2e-3
    (told,) = bake(limb.armature, options=BakeOptions(reduce=bound * limb.size)).chains
    assert told.played.keys <= 25
    assert max(misses(limb, chain, range(1, 41)).max(), misses(limb, chain, np.arange(1, 40) + 0.5).max()) < (
        bound + EXACT
    )


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_with_a_step_the_tip_is_on_its_target_where_keys_are(rule):
    limb, chain = moving_limb(36, rule, frames=31, speed=2.0)
    (told,) = bake(limb.armature, step=5).chains
    assert misses(limb, chain, range(1, 32, 5)).max() < EXACT
    between = misses(limb, chain, range(1, 32))
    assert told.errors == pytest.approx(between * limb.size, abs=2e-5 * limb.size)
    assert EXACT < between.max() < 0.05


@pytest.mark.parametrize("rule", RULES)
def test_keys_are_where_target_and_pole_have_theirs(rule):
    limb, chain = moving_limb(37, rule, speed=3.0)
    for ob, frames in ((chain.target, (1, 5, LAST)), (chain.pole, (1, 8, LAST))):
        for curve in existing_fcurves(ob) if ob else ():
            for point in reversed(list(curve.keyframe_points)):
                if point.co[0] not in frames:
                    curve.keyframe_points.remove(point)
    (told,) = bake(limb.armature, options=BakeOptions(on_target_keys=True)).chains
    there = (1, 5, 8, LAST) if chain.pole else (1, 5, LAST)
    assert told.played.keys == len(there)
    assert misses(limb, chain, there).max() < EXACT


@pytest.mark.parametrize("rule", RULES)
def test_single_axis_leaves_the_first_bone_its_channels(rule):
    armature = add_armature(
        {
            "b0": ((0, 0, 0), (0, 1.0, 0.3), "", 0.0),
            "b1": ((0, 1.0, 0.3), (0, 2.0, 0), "b0", 0.0),
        }
    )
    chain = add_chain(armature, "b1", add_target({}), plane=rule, pole=add_target({1: (1, 0, 3)}, "Pole"))
    key_places(chain.target, [Vector((cos(0.3 * f), 0.8 * sin(0.3 * f), 0.4 * sin(f))) for f in FRAMES])
    bpy.context.scene.frame_end = LAST
    report = bake(armature, options=BakeOptions(single_axis=True))
    assert any("Single Axis left 'b0' as it is" in warning for warning in report.warnings)
    paths = {(curve.data_path, curve.array_index) for curve in existing_fcurves(armature)}
    assert {place for place in paths if "b1" in place[0]} == {('pose.bones["b1"].rotation_euler', 0)}
    assert len({place for place in paths if "b0" in place[0]}) == 4
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        assert (evaluated_tip(armature, "b1") - evaluated_place(chain.target)).length < 2.0 * EXACT


# --- Several chains -------------------------------------------------------------------------------


def finger_of(limb, rule, **settings):
    """Add two bones on a limb's tip, in a plane of their own, with a chain; return its chain."""
    armature = limb.armature
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    bones = armature.data.edit_bones
    tip = bones[limb.bones[-1]]
    place, parent = tip.tail.copy(), tip
    for name, way in (("f0", (0.3, 0.1, 0.4)), ("f1", (0.3, -0.3, 0.2))):
        bone = bones.new(name)
        bone.head, bone.tail, bone.parent, bone.roll = place, place + Vector(way), parent, 0.7
        place, parent = bone.tail.copy(), bone
    bpy.ops.object.mode_set(mode='OBJECT')
    return add_chain(armature, "f1", add_target({}, "Finger"), plane=rule, name="finger", **settings)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_a_chain_that_hangs_on_a_swinging_one_reaches_too(rule):
    """Its target goes about what it hangs on, and its pole stands still."""
    limb, chain = moving_limb(38, rule, 3)
    pole = add_target({1: tuple(limb.in_world(2.0 * limb.reach * np.array((0.5, 0.4, 0.8))))}, "Finger Pole")
    finger = finger_of(limb, rule, pole=pole)
    finger.target.parent = chain.target
    size = limb.armature.matrix_world.to_scale().x
    finger.target.location = 0.45 * size * Vector((0.4, 0.6, 0.7))
    report = bake(limb.armature)
    assert len(report.chains) == 2
    assert misses(limb, chain, FRAMES).max() < EXACT
    for frame, status in zip(FRAMES, report.chains[1].status, strict=True):
        bpy.context.scene.frame_set(frame)
        off = (evaluated_tip(limb.armature, "f1") - evaluated_place(finger.target)).length
        assert (off < EXACT * limb.size) == (status == 0), frame
    assert (report.chains[1].status == 0).sum() >= 8


@pytest.mark.slow
def test_a_pole_that_another_chain_moves_is_followed():
    """The elbow of the second one faces where the first one's tip is by then."""
    limb, chain = moving_limb(39, 'SWING', 2)
    finger = finger_of(limb, 'POLE', pole=limb.armature, pole_subtarget="f2")
    bpy.context.view_layer.objects.active = limb.armature
    bpy.ops.object.mode_set(mode='EDIT')
    bones = limb.armature.data.edit_bones
    for name, parent, shift in (("f2", "b1", 0.4), ("f0", "p", 0.0), ("f1", "f0", 0.0)):
        bone = bones.get(name) or bones.new(name)
        if shift:
            bone.head, bone.tail = bones[parent].tail, bones[parent].tail + Vector((0.0, 0.0, shift))
        bone.parent = bones[parent]
    bpy.ops.object.mode_set(mode='OBJECT')
    size = limb.armature.matrix_world.to_scale().x
    bpy.context.scene.frame_set(1)
    root = limb.armature.matrix_world @ evaluated(limb.armature).pose.bones["f0"].head
    finger.target.location = root + 0.5 * size * Vector((0.3, 0.5, 0.4))
    assert bake(limb.armature).all_reached
    before = None
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        posed = evaluated(limb.armature).pose.bones
        root, knee, tip, pole = posed["f0"].head, posed["f1"].head, posed["f1"].tail, posed["f2"].head
        line = (tip - root).normalized()
        sides = [place - place.dot(line) * line for place in (knee - root, pole - root)]
        angle = sides[1].angle(sides[0])
        assert before is None or angle == pytest.approx(before, abs=1e-3)
        before = angle


# --- Memory ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_ccd_goes_on_from_the_frame_before_and_joins_the_keys_around(rule):
    limb, chain = moving_limb(40, rule, 4, solver='CCD', frames=40)
    bake(limb.armature)
    assert misses(limb, chain, range(1, 41)).max() < EXACT
    before = own_rotations(limb, range(1, 41))
    report = bake(limb.armature, frame_start=15, frame_end=25)
    assert report.all_reached and not [w for w in report.warnings if "does not join" in w]
    after = own_rotations(limb, range(1, 41))
    assert max(max(map(apart, *rows)) for rows in zip(before, after, strict=True)) < 0.1
    assert misses(limb, chain, range(1, 41)).max() < EXACT


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_a_later_range_goes_on_from_the_one_before(rule):
    limb, chain = moving_limb(41, rule, 4, solver='CCD', frames=40)
    bake(limb.armature)
    whole = own_rotations(limb, range(1, 41))
    limb.armature.animation_data_clear()
    bake(limb.armature, frame_start=1, frame_end=20)
    bake(limb.armature, frame_start=21, frame_end=40)
    parts = own_rotations(limb, range(1, 41))
    assert max(max(map(apart, *rows)) for rows in zip(whole, parts, strict=True)) < 0.1


# --- Ease Flips -----------------------------------------------------------------------------------


def arm_past_its_pole(aside: float):
    """Add an arm whose target passes its pole at so many degrees, by 2 degrees a frame; 61 frames.

    Of these alone the knee goes 0.0175 of the reach a frame.
    """
    knee = Vector((0.5, 0.3, 0.0)) / 0.5831 / 2.0
    armature = add_armature(
        {"b0": ((0, 0, 0), tuple(knee), "", 0.0), "b1": (tuple(knee), (2 * knee.x, 0, 0), "b0", 0.0)}
    )
    far = radians(aside)
    pole = add_target({1: (3.0 * cos(far), 0.0, 3.0 * sin(far))}, "Pole")
    chain = add_chain(armature, "b1", add_target({}), plane='POLE', pole=pole, pole_angle=pi / 2.0)
    angles = np.radians(2.0 * np.arange(-30, 31))
    key_places(chain.target, [0.8 * Vector((cos(a), sin(a), 0.0)) for a in angles], 'LINEAR')
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 61
    return armature, chain


def knee_steps(armature) -> np.ndarray:
    """Return how far the knee goes from frame to frame, in parts of the reach, which is 1."""
    knees = []
    for frame in range(1, 62):
        bpy.context.scene.frame_set(frame)
        knees.append(np.array(evaluated(armature).pose.bones["b0"].tail))
    return np.linalg.norm(np.diff(knees, axis=0), axis=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("aside", "stateless", "eased"),
    ((10.0, 0.06, 0.057), (3.0, 0.17, 0.08), (1.0, 0.3, 0.085), (0.0, 0.4, 0.09)),
)
def test_eased_flips_are_slow_and_the_tip_stays_where_it_is(aside, stateless, eased):
    armature, chain = arm_past_its_pole(aside)
    found = {}
    for ease in (False, True):
        report = bake(armature, options=BakeOptions(ease_flips=ease))
        assert report.all_reached
        for frame in range(1, 62):
            bpy.context.scene.frame_set(frame)
            assert (evaluated_tip(armature, "b1") - evaluated_place(chain.target)).length < EXACT
        found[ease] = knee_steps(armature).max()
    assert found[False] > stateless and found[True] < eased
    assert found[True] <= 1.01 * found[False]


@pytest.mark.slow
def test_easing_is_no_matter_of_a_fixed_plane():
    limb, chain = moving_limb(42, 'SWING', 2)
    chain.plane = 'AUTO'
    bake(limb.armature)
    before = animation_of(limb.armature)
    bake(limb.armature, options=BakeOptions(ease_flips=True))
    assert animation_of(limb.armature) == before


# --- Actions --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_above_a_strip_the_keys_of_a_bake_are_what_plays(rule):
    limb, chain = moving_limb(43, rule, 3)
    armature = limb.armature
    limb.first.matrix_basis = Quaternion((0.7, 0.5, 0.1, -0.2)).normalized().to_matrix().to_4x4()
    limb.first.keyframe_insert(path_of(limb.first), frame=1)
    animation = armature.animation_data
    action, slot = animation.action, getattr(animation, "action_slot", None)
    animation.action = None
    strip = animation.nla_tracks.new().strips.new("Strip", 1, action)
    if slot is not None:
        strip.action_slot = slot
    assert not bake(armature).chains[0].missed.any()
    assert animation.action not in (None, action)
    assert misses(limb, chain, FRAMES).max() < EXACT
