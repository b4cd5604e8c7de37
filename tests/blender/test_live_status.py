# SPDX-License-Identifier: GPL-3.0-or-later
"""A live chain says what Blender shows: the distance of the evaluated tip, and why it is there."""

from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Vector
from rigs import add_armature, add_chain, add_target, evaluated_place, evaluated_tip, leg_with_target

from ik2d_addon.chains import make_native, remove_native
from ik2d_addon.live import registry
from ik2d_addon.live.registry import RIGS
from ik2d_addon.live.status import chain as judged
from ik2d_addon.rig.scene.live_pause import live_paused

SAMPLES = Path(__file__).resolve().parents[2] / "sample_scenes"
REACH = 1.9
SAME = 1e-5 * REACH


def live_leg(**settings):
    """Add the leg with its target, live; return the armature, the target and the chain."""
    armature, target = leg_with_target(live=True, **settings)
    bpy.context.scene.frame_set(10)
    chain = armature.ik2d.chains[0]
    assert chain.live_reached and chain.live_status == "On its target" and missed(chain) < SAME
    return armature, target, chain


def missed(chain) -> float:
    """Return how far the evaluated tip is from the evaluated target."""
    tip = evaluated_tip(chain.id_data, chain.tip)
    return (tip - evaluated_place(chain.target, chain.subtarget)).length


def assert_true(chain) -> None:
    """What is said of the distance is so."""
    bpy.context.view_layer.update()
    shown = missed(chain)
    assert abs(chain.live_distance - shown) < SAME
    assert chain.live_reached == (shown < SAME)
    assert (chain.live_status == "On its target") == chain.live_reached


def constrain(armature, kind: str, bone: str = "thigh", **settings):
    """Add a constraint to a bone, aimed at a new empty off to the side."""
    constraint = armature.pose.bones[bone].constraints.new(kind)
    constraint.name = "Other"
    if hasattr(constraint, "target"):
        constraint.target = add_target({1: (0.4, -0.6, 0.9)}, "Aside")
        constraint.target.rotation_euler = (0.9, 0.2, 0.4)
    for name, value in settings.items():
        setattr(constraint, name, value)
    return constraint


@pytest.mark.parametrize(
    "kind, settings",
    [
        ('COPY_ROTATION', {}),
        ('DAMPED_TRACK', {}),
        ('IK', {"bone": "shin", "chain_count": 2}),
        ('LIMIT_ROTATION', {"use_limit_x": True, "max_x": 0.1, "owner_space": 'LOCAL'}),
    ],
)
def test_where_a_constraint_moves_the_bones_live_pauses_and_names_it(kind, settings):
    armature, _target, chain = live_leg()
    held = constrain(armature, kind, **settings)
    assert_true(chain)
    assert not chain.live_reached and chain.live_distance > 0.01 * REACH
    assert "'Other'" in chain.live_status
    bpy.context.scene.frame_set(20)
    assert_true(chain)
    held.mute = True
    assert_true(chain)
    assert chain.live_reached


def test_where_a_native_chain_turns_a_bone_live_pauses_and_names_it():
    armature, _target, chain = live_leg()
    chain.enabled = False
    native = add_chain(armature, "shin", add_target({1: (0, -0.4, 0.5)}, "Near"), name="other")
    make_native(armature, native)
    chain = armature.ik2d.chains[0]
    chain.enabled = True
    assert_true(chain)
    assert "chain 'other' on drivers turns its bone 'shin'" in chain.live_status
    remove_native(armature, native)
    native.enabled = False
    assert_true(chain)
    assert chain.live_reached


def test_of_live_chains_that_share_a_bone_the_second_says_so_for_good():
    armature, target, _first = live_leg()
    other = add_chain(armature, "shin", add_target({1: (0, -0.4, 0.5)}, "Near"), name="other", live=True)
    for frame in (11, 12, 13):
        bpy.context.scene.frame_set(frame)
        target.location.z += 0.01
        bpy.context.view_layer.update()
        assert "share the bone" in other.live_status and not other.live_reached


def test_after_a_pause_live_chains_follow_again():
    armature, _target, chain = live_leg()
    with live_paused():
        bpy.context.scene.frame_set(30)
    assert_true(chain)
    assert chain.live_reached


def test_where_a_driver_moves_a_bone_live_pauses_and_names_it():
    armature, _target, chain = live_leg()
    driver = armature.driver_add(armature.pose.bones["shin"].path_from_id("rotation_quaternion"), 1)
    driver.driver.expression = "0.4"
    assert_true(chain)
    assert not chain.live_reached and "driver moves bone 'shin'" in chain.live_status
    driver.mute = True
    assert_true(chain)
    assert chain.live_reached


@pytest.mark.parametrize("mode", ['REST', 'EDIT'])
def test_at_rest_and_in_edit_mode_the_rest_pose_is_shown_and_said(mode):
    armature, _target, chain = live_leg()
    if mode == 'REST':
        armature.data.pose_position = 'REST'
    else:
        bpy.ops.object.mode_set(mode='EDIT')
    bpy.context.scene.frame_set(20)
    assert not chain.live_reached and "where it shows its rest pose" in chain.live_status
    armature.data.pose_position = 'POSE'
    bpy.ops.object.mode_set(mode='OBJECT')
    bpy.context.scene.frame_set(21)
    assert_true(chain)
    assert chain.live_reached


def test_keys_of_a_location_across_the_plane_are_measured():
    armature, _target, chain = live_leg()
    thigh = armature.pose.bones["thigh"]
    thigh.location = thigh.bone.matrix_local.to_3x3().inverted() @ Vector((0.1, 0.0, 0.0))
    thigh.keyframe_insert("location", frame=10)
    bpy.context.scene.frame_set(10)
    assert_true(chain)
    assert abs(chain.live_distance - 0.1) < 1e-4 and "off the plane" in chain.live_status


def test_the_tips_own_height_counts_and_not_the_planes():
    """Joints a little off one plane: the tip is where the target is, which is off the plane as well."""
    armature = add_armature(
        {
            "a": ((0, 0, 3.0), (0.004, -0.3, 2.0), "", 0.0),
            "b": ((0.004, -0.3, 2.0), (-0.003, -0.2, 1.0), "a", 0.0),
            "c": ((-0.003, -0.2, 1.0), (0.006, 0.1, 0.1), "b", 0.0),
        }
    )
    target = add_target({1: (0.0, 0.3, 0.9)})
    chain = add_chain(armature, "c", target, 3, live=True)
    bpy.context.view_layer.update()
    off = evaluated_tip(armature, "c").x
    target.location = (off, 0.3, 0.9)
    target.animation_data_clear()
    assert_true(chain)
    assert chain.live_distance < 1e-4 and abs(off) > 1e-4


def test_a_target_out_of_reach_and_plane_has_its_distance_in_space():
    armature, target, chain = live_leg()
    target.animation_data_clear()
    target.location = (1.5, -2.5, 1.0)
    assert_true(chain)
    assert chain.live_status.endswith("off its target: out of reach") and chain.live_distance > 1.5


def test_a_constraint_that_acts_at_times_gives_the_same_pose_on_a_frame_however_it_was_got_to():
    armature, _target, chain = live_leg()
    held = constrain(armature, 'IK', "shin", chain_count=2)
    for frame, influence in ((1, 0.0), (18, 0.0), (22, 0.7), (40, 1.0)):
        held.influence = influence
        held.keyframe_insert("influence", frame=frame)
    frames = list(range(1, 41, 3))

    def pose(frame):
        bpy.context.scene.frame_set(frame)
        assert_true(chain)
        return np.array(armature.evaluated_get(bpy.context.view_layer.depsgraph).pose.bones["shin"].matrix)

    forward = {frame: pose(frame) for frame in frames}
    shuffled = np.random.default_rng(5).permutation(frames).tolist()
    for frame in (*reversed(frames), *shuffled):
        assert np.abs(pose(frame) - forward[frame]).max() < SAME, frame
    bpy.context.scene.frame_set(10)
    assert chain.live_reached
    bpy.context.scene.frame_set(30)
    assert "'Other'" in chain.live_status


@pytest.mark.parametrize("kind", ['COPY_LOCATION', 'CHILD_OF'])
def test_a_root_that_a_constraint_carries_is_followed_live(kind):
    armature, _target, chain = live_leg()
    held = constrain(armature, kind)
    held.target.animation_data_clear()
    held.target.location = (0.0, -0.2, 1.9) if kind == 'COPY_LOCATION' else (0.0, -0.05, -0.1)
    held.target.rotation_euler = (0.2, 0.0, 0.0)
    before = evaluated_tip(armature, "thigh")
    for frame in (10, 20, 33, 12):
        bpy.context.scene.frame_set(frame)
        assert_true(chain)
        assert chain.live_reached, chain.live_status
    held.influence = 0.4
    assert_true(chain)
    assert chain.live_reached and (evaluated_tip(armature, "thigh") - before).length > 0.01 * REACH


def test_in_a_pause_a_bone_is_at_rest_once_its_own_keys_are_gone():
    armature, _target, chain = live_leg()
    held = constrain(armature, 'DAMPED_TRACK')
    for frame, influence in ((1, 0.0), (12, 1.0)):
        held.influence = influence
        held.keyframe_insert("influence", frame=frame)
    thigh = armature.pose.bones["thigh"]
    thigh.rotation_quaternion = (0.9, 0.4, 0.0, 0.0)
    thigh.keyframe_insert("rotation_quaternion", frame=1)
    bpy.context.scene.frame_set(20)
    assert "'Other'" in chain.live_status and thigh.rotation_quaternion.angle > 0.1
    for index in range(4):
        armature.keyframe_delete(thigh.path_from_id("rotation_quaternion"), index=index, frame=1)
    bpy.context.scene.frame_set(21)
    assert thigh.rotation_quaternion.angle < 1e-6


def reopened(tmp_path):
    path = str(tmp_path / "live.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    return bpy.data.objects["Rig"]


@pytest.mark.parametrize("edit", ["mode", "colour", "in front", "frame"])
def test_after_a_file_is_opened_the_pose_is_shown_and_not_what_was_stored(tmp_path, edit):
    _armature, target, _chain = live_leg()
    target.location = (0.0, 0.9, 1.9)
    bpy.context.view_layer.update()
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Beside", None))
    armature = reopened(tmp_path)
    chain = armature.ik2d.chains[0]
    bpy.data.objects["Beside"].location.x = 1.0
    assert_true(chain)
    if edit == "mode":
        bpy.context.view_layer.objects.active = armature
        bpy.ops.object.mode_set(mode='POSE')
    elif edit == "colour":
        armature.color = (1.0, 0.0, 0.0, 1.0)
    elif edit == "in front":
        armature.show_in_front = True
    else:
        bpy.context.scene.frame_set(10)
    assert_true(chain)
    assert chain.live_reached


def test_a_scene_that_is_not_shown_takes_the_pose_no_longer_than_until_the_next_update():
    armature, target, chain = live_leg()
    other = bpy.data.scenes.new("Other")
    for ob in (armature, target):
        other.collection.objects.link(ob)
    other.frame_set(20)
    assert_true(chain)
    assert chain.live_reached


def test_only_live_chains_have_a_distance():
    _armature, _target, chain = live_leg()
    chain.live = False
    assert chain.live_distance == -1.0 and not chain.live_reached and not chain.live_status
    assert not RIGS.failures


@pytest.mark.parametrize("turn", range(3))
def test_a_chain_that_stretches_below_a_bone_is_true_after_each_change_of_a_setting(turn):
    bpy.ops.wm.open_mainfile(filepath=str(SAMPLES / "01_walking_leg.blend"))
    bpy.context.scene.frame_set(5 + turn)
    for chain in bpy.context.object.ik2d.chains:
        assert chain.live and chain.stretch > 1.0
        for softness in (0.3, 0.15, 0.1, 0.0):
            chain.softness = softness
            bpy.context.view_layer.update()
            assert np.isfinite(chain.live_distance)
            assert abs(chain.live_distance - missed(chain)) < SAME
        assert chain.live_reached and missed(chain) < 1e-4


@pytest.mark.parametrize("far", [1e9, 1e20, 3e38])
def test_an_armature_far_away_is_not_on_a_target_at_the_origin(far):
    armature, _target, chain = live_leg()
    armature.location.x = far
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(11)
    assert not chain.live_reached and "off its target" in chain.live_status
    assert chain.live_distance == pytest.approx(far, rel=1e-3)


def test_far_away_a_reach_is_no_rounding():
    armature, target, chain = live_leg()
    armature.location.x = target.location.x = 1e9
    target.animation_data_clear()
    target.location.z = -5.0
    bpy.context.view_layer.update()
    assert not chain.live_reached and chain.live_distance > REACH


def test_a_single_bone_that_aims_points_at_its_target_and_says_so():
    armature = add_armature({"gun": ((0, 0, 0), (0, -0.6, 0.0), "", 0.0)})
    chain = add_chain(armature, "gun", add_target({}, "Aim"), 1, live=True)
    chain.target.location = (0.0, -3.0, 4.0)
    bpy.context.view_layer.update()
    assert missed(chain) == pytest.approx(5.0 - 0.6, abs=1e-5)
    tip = evaluated_tip(armature, "gun")
    assert tip.normalized().dot(evaluated_place(chain.target).normalized()) > 1.0 - 1e-6
    assert chain.live_reached and chain.live_status == "Points at its target"
    assert chain.live_distance < 1e-5


def test_no_translation_changes_whether_a_target_is_reached(monkeypatch):
    """As in a language whose word for a reached target begins otherwise once an angle is added."""
    words = {"{on_target}, {angle:.3g} degrees off its angle": "{angle:.3g} Grad daneben, {on_target}"}
    arm, far = leg_with_target(live=True)[0], 0.3
    chain = arm.ik2d.chains[0]
    bpy.context.scene.frame_set(10)
    outcome = RIGS.chains[registry.key_of(chain)].outcome
    RIGS.chains[registry.key_of(chain)].outcome = replace(outcome, angle_off=far)
    say = judged.say
    monkeypatch.setattr(judged, "say", lambda text, **given: say(words.get(text, text), **given))
    assert chain.live_status.endswith("daneben, On its target") and chain.live_reached
