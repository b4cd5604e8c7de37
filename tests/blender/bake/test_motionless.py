# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains with one pose: told before and after a bake; any motion of target or body keeps it quiet."""

import bpy
import pytest
from rigs import add_armature, add_chain, add_leg, add_target, leg_with_target

from ik2d_addon.bake import bake
from ik2d_addon.bake.motionless import may_move
from ik2d_addon.features.baking.operators import unmoved_by_bake
from ik2d_addon.features.baking.results import store_bake
from ik2d_addon.features.setup.lists import sign_of

WORDS = "target does not move: key it (Key Target)"


@pytest.fixture
def leg():
    """A leg whose target has no keys, and the target."""
    armature, target = leg_with_target()
    target.animation_data_clear()
    bpy.context.view_layer.objects.active = armature
    return armature, target


def key(holder, name, values, **options):
    """Key a property on frames 1, 2, .."""
    for frame, value in enumerate(values, start=1):
        setattr(holder, name, value)
        holder.keyframe_insert(name, frame=frame, **options)


def told(armature):
    """Return whether the panel says it before a bake, the report and the list after it."""
    before = unmoved_by_bake(armature)
    report = bake(armature, frame_start=1, frame_end=5)
    store_bake(armature, report)
    chain = armature.ik2d.chains[0]
    said = {
        WORDS in before,
        WORDS in report.sentence(),
        armature.ik2d.last_bake_alert,
        not report.is_good,
        sign_of(chain) != 'CHECKMARK',
    }
    assert len(said) == 1, (before, report.sentence(), report.warnings, said)
    assert report.all_reached
    return said.pop()


def test_a_target_without_keys_is_told_and_the_result_has_no_tick(leg):
    armature, _ = leg
    armature.ik2d.chains[0].name = "Leg"
    assert told(armature)
    assert bake(armature, frame_start=1, frame_end=5).sentence().endswith(". Leg's " + WORDS)


def test_keys_on_the_shin_move_no_target(leg):
    armature, _ = leg
    for name in ("location", "rotation_quaternion", "scale"):
        key(armature.pose.bones["shin"], name, [getattr(armature.pose.bones["shin"], name)[:]] * 3)
    key(armature.pose.bones["shin"], "rotation_quaternion", [(1, 0, 0, 0), (0.9, 0.3, 0, 0), (1, 0, 0, 0)])
    assert told(armature)


def test_one_key_on_the_target_says_that_it_is_meant(leg):
    armature, target = leg
    target.keyframe_insert("location", frame=3)
    assert not told(armature)


def parent_keyed(_armature, target):
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    target.parent = parent
    key(parent, "location", [(0, 0, 0), (0, 0.05, 0)])


def constrained(_armature, target):
    other = bpy.data.objects.new("Other", None)
    bpy.context.scene.collection.objects.link(other)
    other.location = target.location
    target.constraints.new('COPY_LOCATION').target = other


def driven(_armature, target):
    curve = target.driver_add("location", 1)
    curve.driver.expression = f"{target.location.y} + frame * 0.001"


def in_a_strip(_armature, target):
    key(target, "location", [target.location[:], target.location[:]])
    action = target.animation_data.action
    target.animation_data.nla_tracks.new().strips.new("Walk", 1, action)
    target.animation_data.action = None


def body_keyed(armature, _target):
    key(armature, "location", [(0, 0, 0), (0, 0, -0.05)])


@pytest.mark.parametrize("move", [parent_keyed, constrained, driven, in_a_strip, body_keyed])
def test_what_moves_it_keeps_it_quiet(leg, move):
    armature, target = leg
    move(armature, target)
    bpy.context.view_layer.update()
    assert not told(armature)


def test_a_hip_bone_that_moves_keeps_it_quiet_and_constant_keys_do_not():
    bones = {
        "hip": ((0, 0, 2.5), (0, 0, 2), "", 0.0),
        "thigh": ((0, 0, 2), (0, 0.2, 1), "hip", 0.0),
        "shin": ((0, 0.2, 1), (0, 0, 0), "thigh", 0.0),
    }
    armature, target = add_armature(bones), add_target({})
    target.location = (0, 0.3, 0.3)
    add_chain(armature, "shin", target)
    chain, hip = armature.ik2d.chains[0], armature.pose.bones["hip"]
    key(hip, "location", [(0, 0, 0), (0, 0, 0)])
    assert not may_move(chain)
    key(hip, "location", [(0, 0, 0), (0, 0.1, 0)])
    assert may_move(chain)


def test_a_target_on_another_chains_bone_moves_with_it():
    armature, target = leg_with_target()
    carried = add_target({})
    carried.parent, carried.parent_type, carried.parent_bone = armature, 'BONE', "shin"
    other = add_leg()
    add_chain(other, "shin", carried)
    assert may_move(other.ik2d.chains[0])
    armature.ik2d.chains[0].enabled = False
    assert not may_move(other.ik2d.chains[0])


def test_keys_of_a_foot_keep_it_quiet(leg):
    armature, _ = leg
    chain = armature.ik2d.chains[0]
    assert not may_move(chain)
    chain.foot.keyframe_insert("roll", frame=1)
    assert may_move(chain)


def test_several_chains_share_a_sentence_and_one_frame_is_no_motion(leg):
    armature, _ = leg
    assert WORDS not in bake(armature, frame_start=1, frame_end=1).sentence()
    bones = {
        f"{bone}.{side}": ((x, *head), (x, *tail), f"thigh.{side}" if bone == "shin" else "", 0.0)
        for side, x in (("L", 1), ("R", -1))
        for bone, head, tail in (("thigh", (0, 2), (0.2, 1)), ("shin", (0.2, 1), (0, 0)))
    }
    walker = add_armature(bones, name="Walker")
    for side, x in (("L", 1), ("R", -1)):
        target = add_target({}, name=f"Target.{side}")
        target.location = (x, 0.3, 0.3)
        add_chain(walker, f"shin.{side}", target)
    words = "The targets of {} do not move: key them (Key Target)"
    assert unmoved_by_bake(walker) == words.format("'shin.L' and 'shin.R'")
    assert words.format("'shin.L' and 'shin.R'") in bake(walker, frame_start=1, frame_end=5).sentence()
    assert unmoved_by_bake(walker, "shin.R") == "shin.R's " + WORDS
    walker.ik2d.chains["shin.L"].target.keyframe_insert("location", frame=1)
    bpy.context.view_layer.update()
    assert unmoved_by_bake(walker) == "shin.R's " + WORDS
