# SPDX-License-Identifier: GPL-3.0-or-later
"""Live mechanisms: as a bake poses them, on any frame, by hand, in rounds with live chains."""

from dataclasses import replace

import bpy
import numpy as np
import pytest
from machine_rigs import TILT, add_machine, key_turns, make_linear, set_turn
from machines import MACHINES, excavator, four_bar, geared_five_bar, jansen_leg, slider_crank, toggle_clamp
from rigs import add_chain, add_target

from ik2d_addon.bake.pipeline import bake
from ik2d_addon.chains import add_mechanism, add_pin, drive
from ik2d_addon.live.registry import RIGS
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.renames import straighten
from ik2d_addon.rig.mechanism.posing import evaluated_motions, openings, pose_of
from ik2d_addon.rig.mechanism.read import read_mechanism
from ik2d_addon.rig.mechanism.values import turning_axis


def pose(armature):
    """Return the evaluated pose matrices (bones, 4, 4)."""
    shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([bone.matrix for bone in shown.pose.bones])


def on(frame, armature):
    """Return the evaluated pose on a frame."""
    bpy.context.scene.frame_set(frame)
    return pose(armature)


def open_now(mechanism):
    """Return how far joints are open in the evaluated pose, in sizes."""
    rig, armature = read_mechanism(mechanism.id_data, mechanism), mechanism.id_data
    shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return openings(rig, evaluated_motions(rig, [pose_of(rig, shown)])).max() / rig.size


def assert_as_baked(mechanism, frames=13):
    """Assert that frames, shuffled, are shown live as a bake shows them, with the chains of the armature."""
    armature = mechanism.id_data
    mechanism.live = True
    order = (np.random.default_rng(3).permutation(frames) + 1).tolist()
    found = [(frame, on(frame, armature)) for frame in [*order, *range(1, frames + 1), *order[::-1]]]
    assert mechanism.live_status and not RIGS.problems, RIGS.problems
    size = read_mechanism(armature, mechanism).size
    bake(armature)
    assert not mechanism.live and mechanism.was_live
    baked = {frame: on(frame, armature) for frame in range(1, frames + 1)}
    for frame, matrices in found:
        assert np.abs(baked[frame] - matrices).max() < 1e-5 * size, frame


@pytest.mark.parametrize("make", MACHINES, ids=lambda make: make.__name__)
def test_shuffled_frames_are_shown_as_baked(make):
    assert_as_baked(add_machine(make(), 13, tilt=TILT, roll=0.3)[1])


@pytest.mark.parametrize("mode", ['QUATERNION', 'YXZ', 'AXIS_ANGLE'])
def test_keys_of_people_are_shown_as_baked(mode):
    """Few keys with Bezier handles and a cyclic modifier, over whole turns of a geared machine."""
    armature, mechanism = add_machine(geared_five_bar(), 31, mode=mode, tilt=TILT, roll=0.3)
    armature.animation_data_clear()
    driver = mechanism.drivers[0].bone
    key_turns(armature, driver, np.linspace(0.0, 2.5, 4))
    for curve in existing_fcurves(armature):
        for number, point in enumerate(curve.keyframe_points):
            point.co.x = point.handle_left.x = point.handle_right.x = 1.0 + 5.0 * number
        curve.modifiers.new('CYCLES').mode_after = 'REPEAT_OFFSET' if mode == 'YXZ' else 'REPEAT'
        curve.update()
    assert_as_baked(mechanism, 31)


def test_a_machine_behind_a_live_chain_is_shown_as_baked():
    machine = excavator(("boom", ("stick", "boom"), ("bucket", "stick")))
    still = dict.fromkeys(("boom", "stick", "bucket"), np.zeros(13))
    armature, mechanism = add_machine(replace(machine, run=lambda _: still), 13)
    armature.animation_data_clear()
    x, _, z = armature.data.bones["bucket"].tail_local
    target = add_target({1: (x, 0, z), 7: (x - 0.3, 0, z - 0.2), 13: (x - 0.4, 0, z + 0.2)})
    chain = add_chain(armature, "bucket", target, bone_count=3)
    for joint in chain.joints:
        joint.use_limit, joint.limit_min, joint.limit_max = True, -0.4, 0.4
    chain.live = True
    assert_as_baked(mechanism)
    assert chain.was_live
    bpy.ops.object.select_all(action='DESELECT')
    bpy.context.view_layer.objects.active = armature
    assert bpy.ops.ik2d.live_again() == {'FINISHED'} and chain.live and mechanism.live


def test_a_live_chain_behind_a_machine_is_shown_as_baked_also_by_hand():
    armature, mechanism = add_machine(four_bar(), 13)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    upper, lower = (armature.data.edit_bones.new(name) for name in ("upper", "lower"))
    upper.head, upper.tail, lower.head, lower.tail = (3, 0, 0), (3.3, 0, 2.2), (3.3, 0, 2.2), (2.6, 0, 4.4)
    lower.parent = upper
    bpy.ops.object.mode_set(mode='OBJECT')
    chain = add_chain(armature, "lower", armature, bone_count=2)
    chain.subtarget, chain.live, mechanism.live = "coupler", True, True
    on(4, armature)
    set_turn(armature.pose.bones["crank"], turning_axis(read_mechanism(armature, mechanism), "crank"), 1.1)
    bpy.context.view_layer.update()
    bones = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    assert (bones["lower"].tail - bones["coupler"].head).length < 1e-4 and open_now(mechanism) < 2e-6
    assert_as_baked(mechanism)


def test_a_target_is_followed_on_frames_and_by_hand_and_hidden():
    armature, mechanism = add_machine(four_bar(), 13)
    armature.animation_data_clear()
    mechanism.drivers.clear()
    x, _, z = armature.data.bones["coupler"].tail_local
    target = add_target({1: (x, 0, z), 7: (x + 0.4, 0, z + 0.1), 13: (x + 0.2, 0, z + 0.2)})
    drive(mechanism, "coupler", target)
    mechanism.live = True
    shown = on(5, armature)
    target.location.x += 0.2
    bpy.context.view_layer.update()
    assert np.abs(pose(armature) - shown).max() > 0.01 and open_now(mechanism) < 2e-6
    target.hide_viewport = True
    assert np.abs(on(5, armature) - shown).max() < 1e-5
    target.hide_viewport = False
    assert_as_baked(mechanism)


def test_a_lost_bone_and_one_that_two_turn_are_told():
    armature, mechanism = add_machine(slider_crank(), 5)
    mechanism.live = True
    on(2, armature)
    slid, mechanism.joints[0].bone = mechanism.joints[0].bone, "gone"
    on(3, armature)
    assert "gone" in mechanism.live_status and not mechanism.live_closed
    mechanism.joints[0].bone = slid
    on(4, armature)
    assert mechanism.live_closed, mechanism.live_status
    chain = add_chain(armature, "rod", add_target({1: (1, 0, 1)}), bone_count=1)
    chain.live = True
    on(2, armature)
    assert "a chain turns 'rod' too" in mechanism.live_status
    chain.live = False
    on(3, armature)
    assert mechanism.live_closed
    mechanism.drivers.clear()
    on(4, armature)
    assert "freedom" in mechanism.live_status


def test_a_driver_turned_by_hand_moves_the_machine_at_once():
    armature, mechanism = add_machine(four_bar(), tilt=TILT)
    mechanism.live = True
    on(3, armature)
    assert mechanism.live_closed and mechanism.live_status == "All joints closed"
    axis = turning_axis(read_mechanism(armature, mechanism), "crank")
    before = pose(armature)
    set_turn(armature.pose.bones["crank"], axis, 2.5)
    bpy.context.view_layer.update()
    assert np.abs(pose(armature) - before).max() > 0.1 and open_now(mechanism) < 2e-6
    assert armature.pose.bones["crank"].rotation_euler[:] == pytest.approx((axis * 2.5).tolist(), abs=1e-6)


def test_a_held_driver_is_held_on_frames_and_stays_where_a_hand_has_it():
    armature, mechanism = add_machine(toggle_clamp(), 10)
    key_turns(armature, "handle", np.linspace(0.2, 1.6, 10))
    make_linear(armature)
    mechanism.live = True
    rig = read_mechanism(armature, mechanism)
    axis, handle = turning_axis(rig, "handle"), armature.pose.bones["handle"]
    for frame in (10, 9, 10, 1):
        on(frame, armature)
    assert mechanism.live_status == "All joints closed"
    on(10, armature)
    held = np.dot(handle.rotation_euler, axis)
    assert 0.2 < held < 0.24 and open_now(mechanism) < 1e-5 and mechanism.live_closed
    assert mechanism.live_status == f"'handle' is held at {np.degrees(held):.1f}\N{DEGREE SIGN}"
    armature.update_tag()
    bpy.context.view_layer.update()
    assert np.dot(handle.rotation_euler, axis) == held  # not eased once more
    set_turn(handle, axis, 1.5)
    bpy.context.view_layer.update()
    assert np.dot(handle.rotation_euler, axis) == pytest.approx(1.5, abs=1e-6)
    assert not mechanism.live_closed and "is held at" in mechanism.live_status
    assert "open by" in mechanism.live_status


def test_an_unkeyed_driver_is_eased_once_on_however_many_frames():
    armature, mechanism = add_machine(toggle_clamp())
    armature.animation_data_clear()
    mechanism.live = True
    axis, handle = turning_axis(read_mechanism(armature, mechanism), "handle"), armature.pose.bones["handle"]
    set_turn(handle, axis, 1.5)
    on(5, armature)
    held = np.dot(handle.rotation_euler, axis)
    assert held < 1.0
    for frame in (6, 9, 2, 5):
        on(frame, armature)
        assert np.dot(handle.rotation_euler, axis) == held


def kept_frames():
    """Return the frames that are kept in memory."""
    return {frame for poses in RIGS.kept._poses.values() for _, frame in poses._rows._places}


def test_frames_are_kept_and_dropped_by_an_edit():
    armature, mechanism = add_machine(jansen_leg(), 13)
    mechanism.live = True
    shown = {frame: on(frame, armature) for frame in range(1, 14)}
    assert len(kept_frames()) >= 10
    machine = next(iter(RIGS.chains.values()))
    followed, follow = [], machine.follow
    machine.follow = lambda *arguments: followed.append(1) or follow(*arguments)
    for frame in (3, 7, 4, 9):
        assert np.abs(on(frame, armature) - shown[frame]).max() < 1e-6
    assert not followed and mechanism.live_closed
    mechanism.drivers[0].bone = mechanism.drivers[0].bone
    on(5, armature)
    assert RIGS.kept is None
    assert np.abs(on(6, armature) - shown[6]).max() < 1e-6


def test_undo_save_and_load_leave_it_live(tmp_path):
    armature, mechanism = add_machine(jansen_leg(), 13)
    mechanism.live = True
    shown = on(7, armature)
    path = str(tmp_path / "machine.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    armature = bpy.data.objects[0]
    mechanism = armature.ik2d.mechanisms[0]
    on(1, armature)
    assert np.abs(on(7, armature) - shown).max() < 1e-6 and mechanism.live_closed
    bpy.ops.ed.undo_push(message="before")
    mechanism.live = False
    bpy.ops.ed.undo_push(message="off")
    bpy.ops.ed.undo()
    armature = bpy.data.objects[0]
    assert armature.ik2d.mechanisms[0].live
    on(1, armature)
    assert np.abs(on(7, armature) - shown).max() < 1e-6


def test_a_driver_that_a_hand_leaves_where_it_would_be_eased_is_not_eased_again():
    """As a drag, and Pose This Frame, leave it; and where Live is turned on."""
    armature, mechanism = add_machine(toggle_clamp(), 10, tilt=TILT)
    armature.animation_data_clear()
    mechanism.softness = 0.2
    axis, handle = turning_axis(read_mechanism(armature, mechanism), "handle"), armature.pose.bones["handle"]
    set_turn(handle, axis, 0.15)
    mechanism.live = True
    bpy.context.view_layer.update()
    assert open_now(mechanism) < 2e-6 and mechanism.live_status == "All joints closed"
    for turn in (0.1, 0.05, 0.2):
        set_turn(handle, axis, turn)
        bpy.context.view_layer.update()
        assert open_now(mechanism) < 2e-6 and mechanism.live_status == "All joints closed"
        assert np.dot(handle.rotation_euler, axis) == pytest.approx(turn, abs=1e-6)
    on(5, armature)
    assert np.dot(handle.rotation_euler, axis) != pytest.approx(0.2, abs=1e-3)  # eased, as a bake does
    assert open_now(mechanism) < 2e-6


@pytest.mark.parametrize("bone", ["coupler", "base"])
def test_a_renamed_bone_raises_nothing_in_handlers(bone, capfd):
    armature, mechanism = add_machine(four_bar(), 5, base=True)
    mechanism.live = True
    on(3, armature)
    axis = turning_axis(read_mechanism(armature, mechanism), "crank")
    set_turn(armature.pose.bones["crank"], axis, 0.4)
    bpy.context.view_layer.update()
    armature.data.bones[bone].name = "other"
    mechanism.name = "renamed"
    bpy.context.view_layer.update()
    assert "Traceback" not in capfd.readouterr().err
    straighten(armature)
    on(2, armature)
    assert mechanism.live_closed and open_now(mechanism) < 2e-6


def test_of_two_live_ones_that_share_a_bone_the_second_names_both():
    armature, first = add_machine(four_bar())
    second = add_mechanism(armature, ["crank", "coupler", "rocker"], "second")
    add_pin(second, "coupler", 'TAIL', "rocker")
    drive(second, "crank")
    first.live = second.live = True
    bpy.context.view_layer.update()
    assert first.live_closed and not second.live_closed
    assert second.live_status == "'machine' and 'second' share the bone 'crank'; disable one of them"
