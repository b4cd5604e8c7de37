# SPDX-License-Identifier: GPL-3.0-or-later
"""Switch to IK brings target, pole and foot control to the pose of the rig's own FK controls."""

import bpy
import numpy as np
import pytest
from fk_ik_rigs import LAST, REACH, RIGS, key_fk, key_ik, off, show, shown, turn, two_sets
from rigs import every_bit_of_animation

from ik2d_addon.bake import bake, solve
from ik2d_addon.chains import clear_snaps
from ik2d_addon.core import IK2DError
from ik2d_addon.features.match.match import snap_fk, target_to_tip
from ik2d_addon.rig.animation.value_keys import curve_of
from ik2d_addon.rig.animation.versions import existing_fcurves

FRAMES, ROWS = (4, 9), slice(3, 9)
TURNED, PLACED = 1e-4, 1e-5 * REACH
# Copy Rotation changes the length of a bone by what its rest matrix is off a rotation, which moves the knee.
KNEES = 3e-5 * REACH


def leg_in_fk(kind="arp", copy='COPY_TRANSFORMS', mode='XYZ', seed=3, knee=1.0):
    """Add a leg that FK poses, with other IK keys of the person's."""
    make, names = RIGS[kind]
    armature, chain = make(copy, mode)
    if "heel_roll" in armature.pose.bones:
        armature.pose.bones["heel_roll"].rotation_mode = 'XYZ'
        armature.pose.bones["heel_roll"].rotation_euler = (0.3, 0.1, 0.0)
    key_ik(armature, names)
    key_fk(armature, names, seed=seed, knee=knee)
    show(armature, names, 1.0)
    bpy.context.scene.frame_set(6)
    return armature, chain, names


@pytest.mark.parametrize("mode", ['XYZ', 'QUATERNION', 'AXIS_ANGLE'])
@pytest.mark.parametrize("copy", ['COPY_TRANSFORMS', 'COPY_ROTATION'])
@pytest.mark.parametrize("kind", RIGS)
def test_over_a_range_the_chain_solves_to_the_pose_of_fk_knee_and_foot_along(kind, copy, mode):
    armature, _, names = leg_in_fk(kind, copy, mode)
    before = shown(armature, names["shown"])
    report = target_to_tip(armature, None, *FRAMES)
    assert report.matches, report.sentence()
    assert names["control"] in report.sentence()
    show(armature, names, 0.0)
    bake(armature, None, *FRAMES)
    turned, placed = off(before[ROWS], shown(armature, names["shown"])[ROWS])
    assert turned < TURNED and placed < PLACED


@pytest.mark.parametrize("copy", ['COPY_TRANSFORMS', 'COPY_ROTATION'])
@pytest.mark.parametrize("knee", [1.0, -1.0])
@pytest.mark.parametrize("seed", range(4, 8))
def test_whatever_the_pose_and_to_either_side_of_the_knee(seed, knee, copy):
    armature, _, names = leg_in_fk(copy=copy, seed=seed, knee=knee)
    before = shown(armature, names["shown"])
    assert target_to_tip(armature, None, *FRAMES).matches
    show(armature, names, 0.0)
    bake(armature, None, *FRAMES)
    turned, placed = off(before[ROWS], shown(armature, names["shown"])[ROWS])
    assert turned < TURNED and placed < PLACED


@pytest.mark.parametrize("copy", ['COPY_TRANSFORMS', 'COPY_ROTATION'])
@pytest.mark.parametrize("kind", RIGS)
def test_a_switch_leaves_all_frames_before_it_as_they_are(kind, copy):
    armature, _, names = leg_in_fk(kind, copy)
    show(armature, names, 0.0)
    bake(armature, None, 1, LAST)
    in_ik = shown(armature, names["shown"])
    show(armature, names, 1.0)
    before = shown(armature, names["shown"])
    bpy.context.scene.frame_set(6)
    assert target_to_tip(armature, switch=True).matches
    assert off(before, shown(armature, names["shown"]))[0] < 1e-6  # FK acts still
    show(armature, names, 0.0)
    bake(armature, None, 1, LAST)
    after = shown(armature, names["shown"])
    turned, placed = off(before[5:6], after[5:6])
    assert turned < TURNED and placed < KNEES
    assert off(before[5:6, 2:], after[5:6, 2:])[1] < PLACED
    turned, placed = off(in_ik[:5], after[:5])
    assert turned < 1e-5 and placed < 1e-5


def test_an_object_as_target_and_pole_and_a_bone_for_the_foot():
    armature, chain = two_sets()
    names = RIGS["two sets"][1]
    empties = [bpy.data.objects.new(name, None) for name in ("Target", "Pole")]
    for empty, place in zip(empties, ((0, 0, 0.1), (0, -1.0, 0.5)), strict=True):
        bpy.context.scene.collection.objects.link(empty)
        empty.location = place
    chain.target, chain.subtarget = empties[0], ""
    chain.pole, chain.pole_subtarget = empties[1], ""
    armature.location, armature.rotation_euler = (0.3, -0.2, 0.1), (0.2, 0.4, 1.0)
    key_fk(armature, names, seed=3)
    show(armature, names, 1.0)
    before = shown(armature, names["shown"])
    report = target_to_tip(armature, None, *FRAMES)
    assert report.matches, report.sentence()
    show(armature, names, 0.0)
    bake(armature, None, *FRAMES)
    turned, placed = off(before[ROWS], shown(armature, names["shown"])[ROWS])
    assert turned < TURNED and placed < PLACED


def test_a_foot_that_the_chain_turns_with_its_target_comes_along():
    armature, chain = two_sets()
    names = RIGS["two sets"][1]
    foot = armature.pose.bones["foot"]
    foot.constraints.remove(next(copy for copy in foot.constraints if copy.name.startswith("IK")))
    chain.hand_rotation = 'TARGET'
    key_fk(armature, names, seed=3)
    show(armature, names, 1.0)
    before = shown(armature, names["shown"])
    report = target_to_tip(armature, None, *FRAMES)
    assert report.matches, report.sentence()
    show(armature, names, 0.0)
    bake(armature, None, *FRAMES)
    in_ik = shown(armature, names["shown"])
    turned, placed = off(before[ROWS], in_ik[ROWS])
    assert turned < TURNED and placed < PLACED
    for frame in (1, LAST):
        key_fk(armature, names, (frame,), seed=5)
    assert snap_fk(armature, None, *FRAMES).all_reached
    show(armature, names, 1.0)
    turned, placed = off(in_ik[ROWS], shown(armature, names["shown"])[ROWS])
    assert turned < TURNED and placed < PLACED


@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("kind", RIGS)
def test_without_frames_the_controls_are_moved_and_not_keyed(kind, keyed):
    armature, _, names = leg_in_fk(kind)
    if not keyed:
        armature.animation_data.action = None
    keys = every_bit_of_animation(armature)
    show(armature, names, 1.0)
    hip = armature.pose.bones[names["fk"][0]]
    turn(hip, (0.1, -0.2, 0.15))  # and not keyed

    def now():
        bpy.context.view_layer.update()
        seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        return np.array([[seen.pose.bones[name].matrix for name in names["shown"]]])

    before = now()
    report = target_to_tip(armature)
    assert report.matches and report.moved and every_bit_of_animation(armature) == keys
    show(armature, names, 0.0)
    solve(armature)
    turned, placed = off(before, now())
    assert turned < TURNED and placed < 3e-5


def test_ik_blend_is_keyed_only_where_the_chain_does_not_act_in_full():
    armature, chain, _ = leg_in_fk()
    target_to_tip(armature, switch=True)
    assert not any(curve.data_path.endswith("influence") for curve in existing_fcurves(armature))
    clear_snaps(armature)
    chain.influence = 0.0
    target_to_tip(armature, switch=True)
    (curve,) = [each for each in existing_fcurves(armature) if each.data_path.endswith("influence")]
    assert [tuple(key.co) for key in curve.keyframe_points] == [(5.0, 0.0), (6.0, 1.0)]


def test_clear_snapped_keys_gives_the_persons_keys_back():
    armature, _, _ = leg_in_fk()
    before = every_bit_of_animation(armature)
    target_to_tip(armature, None, *FRAMES)
    target_to_tip(armature, switch=True)
    assert every_bit_of_animation(armature) != before
    clear_snaps(armature)
    assert every_bit_of_animation(armature) == before


def test_by_the_operators_there_and_back():
    armature, _, names = leg_in_fk()
    before = shown(armature, names["shown"])
    bpy.context.scene.frame_set(6)
    assert bpy.ops.ik2d.target_to_tip(frame_start=4, frame_end=9) == {'FINISHED'}
    for name in names["fk"]:
        armature.pose.bones[name].rotation_euler = (0.0, 0.0, 0.0)
    assert bpy.ops.ik2d.snap_fk(frame_start=4, frame_end=9) == {'FINISHED'}
    turned, placed = off(before[ROWS], shown(armature, names["shown"])[ROWS])
    assert turned < TURNED and placed < PLACED


def test_auto_keying_keys_the_controls_also_their_first_keys():
    armature, _, names = leg_in_fk()
    pole = f'"{names["pole"]}"'
    for curve in [curve for curve in existing_fcurves(armature) if pole in curve.data_path]:
        existing_fcurves(armature).remove(curve)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    assert bpy.ops.ik2d.target_to_tip() == {'FINISHED'}
    for name in ("control", "pole"):
        path = f'pose.bones["{names[name]}"].location'
        curves = [curve for curve in existing_fcurves(armature) if curve.data_path == path]
        assert len(curves) == 3
        assert all(6.0 in [key.co[0] for key in curve.keyframe_points] for curve in curves)


# --- What forbids it ---------------------------------------------------------


def test_a_locked_foot_control_is_named_and_the_rest_is_moved():
    armature, _, names = leg_in_fk()
    armature.pose.bones[names["control"]].lock_rotation[0] = True
    before = shown(armature, names["shown"])
    report = target_to_tip(armature, None, *FRAMES)
    assert not report.matches and "bone 'foot_ik_target'" in report.sentence()
    told = "Control 'c_foot_ik': locks on 'Rotation X' leave 'foot_ik_target'"
    assert any(told in text for text in report.warnings)
    show(armature, names, 0.0)
    bake(armature, None, *FRAMES)
    turned, placed = off(before[ROWS, :2], shown(armature, names["shown"][:2])[ROWS])
    assert turned < TURNED and placed < PLACED


def test_a_limit_of_the_foot_control_and_a_locked_pole_are_named():
    armature, _, names = leg_in_fk()
    armature.pose.bones[names["pole"]].lock_location = (True,) * 3
    limit = armature.pose.bones[names["control"]].constraints.new('LIMIT_LOCATION')
    limit.owner_space = 'LOCAL'
    limit.use_max_y, limit.max_y = True, 0.05
    warnings = target_to_tip(armature, None, *FRAMES).warnings
    assert any("Control 'c_foot_ik': 'Limit Location' limits its 'Location Y'" in text for text in warnings)
    assert any("Control 'c_leg_pole': locks on 'Location X'" in text for text in warnings)


def test_a_driver_on_the_pole_is_refused_with_nothing_changed():
    armature, _, names = leg_in_fk()
    armature.pose.bones[names["pole"]].driver_add("location", 1).driver.expression = "0.1"
    bpy.context.view_layer.update()
    before = every_bit_of_animation(armature)
    with pytest.raises(IK2DError, match="c_leg_pole.*has a driver"):
        target_to_tip(armature, None, *FRAMES)
    assert every_bit_of_animation(armature) == before


def test_a_linked_rig_is_refused(tmp_path):
    armature, _, _ = leg_in_fk()
    path = str(tmp_path / "rig.blend")
    bpy.data.libraries.write(path, {armature})
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (there, here):
        here.objects = there.objects
    linked = next(ob for ob in here.objects if ob.type == 'ARMATURE')
    bpy.context.scene.collection.objects.link(linked)
    bpy.context.view_layer.update()
    with pytest.raises(IK2DError, match="linked from another file"):
        target_to_tip(linked, None, *FRAMES)


@pytest.mark.parametrize("plane", ['AUTO', 'SWING'])
def test_a_limb_without_a_pole_has_its_plane_turned_as_fk_has_the_knee(plane):
    armature, chain, _ = leg_in_fk()
    chain.pole, chain.plane = None, plane
    report = target_to_tip(armature, None, *FRAMES)
    assert report.matches and chain.plane == 'SWING'
    assert any("Swings with Target now" in text for text in report.warnings) == (plane == 'AUTO')
    assert curve_of(armature, f"{chain.path_from_id()}.plane_turn") is not None


def test_at_the_current_frame_its_plane_is_turned_without_keys():
    armature, chain, names = leg_in_fk()
    chain.pole, chain.plane = None, 'SWING'
    before = shown(armature, names["shown"])[5]
    bpy.context.scene.frame_set(6)
    assert target_to_tip(armature).matches and chain.plane_turn != 0.0
    assert curve_of(armature, f"{chain.path_from_id()}.plane_turn") is None
    armature.animation_data.action = None
    solve(armature)
    show(armature, names, 0.0)
    found = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    after = np.array([np.array(found[name].matrix) for name in names["shown"]])
    turned, placed = off(before[None], after[None])
    assert turned < 1e-3 and placed < 1e-4


def test_a_limb_that_cannot_turn_its_plane_to_where_fk_has_the_knee_is_told():
    armature, chain, _ = leg_in_fk()
    chain.pole, chain.plane = None, 'X'
    report = target_to_tip(armature, None, *FRAMES)
    assert not report.matches and chain.plane == 'X'
    assert any("has no pole to turn 'thigh_ik'" in text for text in report.warnings)
