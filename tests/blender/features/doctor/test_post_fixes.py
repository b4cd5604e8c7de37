# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains whose plane a post turns, or could turn: what the doctor finds, and what a click mends."""

import bpy
import faulty_posts as bad
import numpy as np
import pytest
from faults import aside, examine
from post_rigs import FRAMES, robot_arm, turret
from rigs import add_target, evaluated_place
from test_bad_posts import worst

from ik2d_addon.bake import bake
from ik2d_addon.core import IK2DError
from ik2d_addon.features.doctor import fixes
from ik2d_addon.features.doctor.fixes import mend
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.chain import reading

FIRST, LAST = FRAMES[0], FRAMES[-1]


def found(armature, chain):
    bpy.context.view_layer.update()
    return examine(armature, chain, FIRST, LAST)


def no_post_above(armature, chain):
    chain.post = ""


def post_below(armature, chain):
    chain.post = "lower"


def missing_post(armature, chain):
    chain.post = "turntable"


def fixed_plane(armature, chain):
    chain.plane, chain.post = 'AUTO', ""


def held_base(armature, chain):
    chain.plane, chain.post, chain.bone_count = 'AUTO', "", 4


CASES = {
    "none": (no_post_above, 'PROBLEM', 'POST'),
    "below": (post_below, 'PROBLEM', 'POST'),
    "missing": (missing_post, 'PROBLEM', 'POST'),
    "fixed plane": (fixed_plane, 'TARGET_OFF_PLANE', 'POST'),
    "post in the chain": (held_base, 'TARGET_OFF_PLANE', 'POST'),
    "on the post": (bad.on_the_post, 'PROBLEM', 'FREE_TARGET'),
    "on a bone of the post": (bad.below_the_post, 'PROBLEM', 'FREE_TARGET'),
    "through an object": (bad.through_an_object, 'PROBLEM', 'FREE_TARGET'),
    "first without Inherit Rotation": (bad.inherits_none("upper"), 'PROBLEM', 'INHERIT_FROM_POST'),
    "between without Inherit Rotation": (bad.inherits_none("plate"), 'PROBLEM', 'INHERIT_FROM_POST'),
    "tracked": (bad.track("plate"), 'PROBLEM', 'MUTE_HOLDING'),
    "backwards": (bad.backwards, 'PROBLEM', 'TURN_POST_LIMITS'),
}


@pytest.mark.parametrize(("spoil", "kind", "way"), CASES.values(), ids=CASES)
def test_a_click_mends_it_and_the_tip_is_on_its_target(spoil, kind, way):
    armature, chain = bad.arm_on_a_plate()
    spoil(armature, chain)
    bpy.context.view_layer.update()
    finding = found(armature, chain)[0]
    assert (finding.kind, finding.fixes[0].way) == (kind, way)
    places = [list(place) for place in places_of(chain.target)]
    mend(way, armature, chain)
    assert found(armature, chain) == []
    assert np.abs(np.array(places_of(chain.target)) - places).max() < 1e-5  # its keys stay, and where it is
    report = bake(armature, None, FIRST, LAST)
    if way not in ('FREE_TARGET', 'TURN_POST_LIMITS'):  # which leaves it where it was, perhaps out of reach
        assert report.all_reached and worst(armature, chain) < 2e-6
    with pytest.raises(IK2DError):
        mend('FREE_TARGET', armature, chain)


def places_of(target):
    places = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        places.append(tuple(evaluated_place(target)))
    bpy.context.scene.frame_set(FIRST)
    return places


@pytest.mark.parametrize("spoil", [bad.by_a_constraint, bad.by_a_driver])
def test_a_target_that_the_post_moves_in_another_way_is_found(spoil):
    armature, chain = bad.arm_on_a_plate()
    spoil(armature, chain)
    (finding,) = [each for each in found(armature, chain) if each.blocks]
    assert finding.kind == 'CARRIED' and "carried by its post 'base'" in finding.sentence
    mend(finding.fixes[0].way, armature, chain)
    assert chain.plane == 'AUTO' and not any(each.blocks for each in found(armature, chain))


def test_of_two_chains_with_one_post_the_plane_of_one_may_stay():
    armature, chain = bad.arm_on_a_plate()
    bad.two_chains(armature, chain)
    second = armature.ik2d.chains["second"]
    finding = found(armature, second)[0]
    assert finding.kind == 'SHARED_BONES' and "'arm' turns its post 'base' too" in finding.sentence
    assert [each.way for each in finding.fixes] == ['PLANE_STAYS', 'DISABLE']
    mend('PLANE_STAYS', armature, second)
    assert second.plane != 'POST'
    assert [each.kind for one in (chain, second) for each in found(armature, one) if each.blocks] == []


@pytest.mark.parametrize("make", [robot_arm, *(lambda seed=seed: of_turret(seed) for seed in range(6))])
def test_a_sound_post_has_no_finding(make):
    armature, chain = make()
    assert [(each.kind, each.sentence) for each in found(armature, chain) if not each.note] == []


def of_turret(seed):
    made = turret(seed)
    return made.armature, made.add_chain()


def test_the_advice_names_the_post_and_what_it_leaves():
    armature, chain = bad.arm_on_a_plate()
    fixed_plane(armature, chain)
    (finding,) = found(armature, chain)
    assert "; Turn About Post ('base') brings the tip to it" in finding.sentence
    said = [*bake(armature, None, FIRST, LAST).warnings]
    assert any("Turn About Post ('base')" in sentence for sentence in said), said


def test_no_post_is_advised_where_no_lock_shows_one_or_another_chain_has_it():
    armature, chain = aside()
    assert 'POST' not in [one.way for each in found(armature, chain) for one in each.fixes]
    armature, chain = bad.arm_on_a_plate()
    fixed_plane(armature, chain)
    other = armature.ik2d.chains.add()
    other.name, other.tip, other.bone_count, other.target = "second", "base", 1, chain.target
    assert 'POST' not in [one.way for each in found(armature, chain) for one in each.fixes]
    with pytest.raises(IK2DError, match="locks show no bone above it that turns"):
        mend('POST', armature, chain)


def test_a_target_out_of_the_way_of_a_post_gets_no_advice_for_planes():
    armature, chain = robot_arm()
    chain.use_post_limit, chain.post_limit_min, chain.post_limit_max = True, -0.2, 0.2
    for each in found(armature, chain):
        assert not {one.way for one in each.fixes} & {'SWING', 'PLANE_TO_TARGET', 'FLATTEN', 'POST'}
    for sentence in bake(armature, None, FIRST, LAST).warnings:
        assert "Swing" not in sentence and "Plane to Target" not in sentence, sentence


def test_every_fix_of_posts_has_its_words():
    ways = {'POST', 'PLANE_STAYS', 'FREE_TARGET', 'INHERIT_FROM_POST', 'MUTE_HOLDING', 'TURN_POST_LIMITS'}
    assert ways <= set(fixes.FIXES) and all(fixes.FIXES[way].tooltip for way in ways)
    assert isinstance(reading(*robot_arm()).name, str)


@pytest.mark.parametrize("kind", ['COPY_ROTATION', 'IK', 'LIMIT_ROTATION'])
def test_a_control_of_the_post_is_found_and_muted(kind):
    armature, chain = bad.arm_on_a_plate()
    constraint = armature.pose.bones["lower" if kind == 'IK' else "base"].constraints.new(kind)
    if kind == 'LIMIT_ROTATION':
        constraint.use_limit_y, constraint.max_y, constraint.owner_space = True, 0.1, 'LOCAL'
    else:
        constraint.target = add_target({1: (3, 1, 2)}, "Outside")
    (finding,) = found(armature, chain)
    assert finding.kind == 'OTHER_CONTROLS' and "'base'" in finding.sentence
    assert len(finding.sentence.splitlines()) == 1
    mend('MUTE_CONSTRAINTS', armature, chain)
    assert found(armature, chain) == [] and constraint.mute
    assert bake(armature, None, FIRST, LAST).all_reached and worst(armature, chain) < 2e-6


@pytest.mark.parametrize("fault", ["locked", "muted", "driven"])
def test_a_channel_of_the_post_that_does_not_play_is_found_and_mended(fault):
    armature, chain = bad.arm_on_a_plate()
    base = armature.pose.bones["base"]
    base.rotation_mode = 'XYZ'
    kind, way = {
        "locked": ('LOCKED', 'UNLOCK_CHANNELS'),
        "muted": ('MUTED', 'UNMUTE_CHANNELS'),
        "driven": ('DRIVEN', 'MUTE_DRIVERS'),
    }[fault]
    if fault == "driven":
        base.driver_add("rotation_euler", 1).driver.expression = "0.3"
    else:
        base.keyframe_insert("rotation_euler", index=1, frame=1)
        (curve,) = existing_fcurves(armature)
        curve.lock, curve.mute = fault == "locked", fault == "muted"
    (finding,) = found(armature, chain)
    assert (finding.kind, finding.fixes[0].way) == (kind, way)
    mend(way, armature, chain)
    assert found(armature, chain) == []
    assert bake(armature, None, FIRST, LAST).all_reached and worst(armature, chain) < 2e-6


@pytest.mark.parametrize("post", ["base", "upper"])
def test_a_first_bone_that_is_its_own_post_has_no_finding(post):
    armature, chain = robot_arm()
    if post == "base":  # a turntable alone
        chain.tip, chain.bone_count = "base", 1
    else:  # pans and tilts
        bad.unlock(armature, "upper", "y")
        armature.pose.bones["upper"].rotation_mode, chain.post = 'ZXY', "upper"
    assert [(each.kind, each.sentence) for each in found(armature, chain) if not each.note] == []
    chain.post = ""
    assert found(armature, chain)[0].fixes[0].way == ('POST' if post == "base" else 'PLANE_STAYS')
