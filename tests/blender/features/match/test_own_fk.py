# SPDX-License-Identifier: GPL-3.0-or-later
"""Switch to FK keys the FK controls that a rig has of its own: its switch then changes nothing one sees."""

import bpy
import numpy as np
import pytest
from fk_ik_rigs import (
    ARP,
    LAST,
    REACH,
    RIGS,
    arp,
    drive,
    key_fk,
    key_ik,
    off,
    show,
    shown,
    two_sets,
)
from rigs import every_bit_of_animation

from ik2d_addon.bake import bake
from ik2d_addon.chains import clear_snaps
from ik2d_addon.core import IK2DError
from ik2d_addon.features.match.match import snap_fk
from ik2d_addon.rig.animation.versions import existing_fcurves

FRAMES, ROWS = (4, 9), slice(3, 9)
TURNED, PLACED = 1e-4, 1e-5 * REACH
COPIES = ('COPY_TRANSFORMS', 'COPY_ROTATION')


def baked_leg(kind="arp", copy='COPY_TRANSFORMS', mode='XYZ'):
    """Add a leg that is baked in IK, with other FK keys of the person's."""
    make, names = RIGS[kind]
    armature, chain = make(copy, mode)
    key_ik(armature, names)
    key_fk(armature, names, seed=3)
    bake(armature, None, 1, LAST)
    show(armature, names, 0.0)
    bpy.context.scene.frame_set(6)
    return armature, chain, names


def keys_of(armature, names):
    """Return the keys (frame, value) of bones' channels."""
    return {
        (curve.data_path, curve.array_index): [tuple(key.co) for key in curve.keyframe_points]
        for curve in existing_fcurves(armature)
        if any(f'"{name}"' in curve.data_path for name in names)
    }


@pytest.mark.parametrize("mode", ['XYZ', 'QUATERNION', 'AXIS_ANGLE'])
@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.parametrize("kind", RIGS)
def test_over_a_range_fk_has_the_pose_of_the_chain_foot_and_joints_along(kind, copy, mode):
    armature, _, names = baked_leg(kind, copy, mode)
    before = shown(armature, names["shown"])
    report = snap_fk(armature, None, *FRAMES)
    assert report.all_reached and set(report.controls) == set(names["fk"])
    show(armature, names, 1.0)
    turned, placed = off(before[ROWS], shown(armature, names["shown"])[ROWS])
    assert turned < TURNED and placed < PLACED


@pytest.mark.parametrize("kind", RIGS)
def test_a_switch_keys_the_controls_and_holds_what_they_were_before(kind):
    armature, chain, names = baked_leg(kind)
    show(armature, names, 1.0)
    in_fk = shown(armature, names["shown"])
    show(armature, names, 0.0)
    before = shown(armature, names["shown"])
    bpy.context.scene.frame_set(6)
    report = snap_fk(armature, switch=True)
    assert not any("influence" in curve.data_path for curve in existing_fcurves(armature))
    assert "now set 'ik_fk_switch' of" in report.sentence()
    assert off(before, shown(armature, names["shown"]))[0] < 1e-6  # IK acts still
    show(armature, names, 1.0)
    after = shown(armature, names["shown"])
    turned, placed = off(before[5:6], after[5:6])
    assert turned < TURNED and placed < PLACED
    assert off(in_fk[:5], after[:5])[0] < 1e-6  # on all frames before it is the person's FK


def test_keys_of_the_person_on_other_frames_stay_bit_wise():
    armature, _, names = baked_leg()
    before = keys_of(armature, names["fk"])
    ik = keys_of(armature, (names["control"], names["pole"]))
    snap_fk(armature, None, *FRAMES)
    after = keys_of(armature, names["fk"])
    for channel, keys in before.items():
        rest = [key for key in keys if not FRAMES[0] <= key[0] <= FRAMES[1]]
        assert rest == [key for key in after[channel] if not FRAMES[0] <= key[0] <= FRAMES[1]]
    assert keys_of(armature, (names["control"], names["pole"])) == ik


def test_clear_snapped_keys_gives_the_persons_keys_back():
    armature, _, names = baked_leg()
    before = every_bit_of_animation(armature)
    snap_fk(armature, switch=True)
    snap_fk(armature, None, *FRAMES)
    clear_snaps(armature)
    assert every_bit_of_animation(armature) == before


@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("kind", RIGS)
def test_without_frames_the_controls_are_posed_and_not_keyed(kind, keyed):
    armature, _, names = baked_leg(kind)
    if not keyed:
        armature.animation_data.action = None
    keys = every_bit_of_animation(armature)
    bpy.context.view_layer.update()
    show(armature, names, 0.0)
    armature.pose.bones[names["control"]].location.z += 0.02  # and not keyed
    bpy.ops.ik2d.solve()
    bpy.context.view_layer.update()

    def now():
        seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        return np.array([[seen.pose.bones[name].matrix for name in names["shown"]]])

    before = now()
    report = snap_fk(armature)
    assert report.moved and every_bit_of_animation(armature) == keys
    show(armature, names, 1.0)
    turned, placed = off(before, now())
    assert turned < TURNED and placed < PLACED


def test_by_the_operator_it_is_one_undo_step_and_auto_keying_keys_the_controls():
    armature, _, names = baked_leg()
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    counted = {channel: len(keys) for channel, keys in keys_of(armature, names["fk"]).items()}
    assert bpy.ops.ik2d.snap_fk() == {'FINISHED'}
    show(armature, names, 1.0)
    assert {channel: len(keys) for channel, keys in keys_of(armature, names["fk"]).items()} == counted
    assert 'UNDO' in bpy.types.IK2D_OT_snap_fk.bl_options


# --- What forbids it ---------------------------------------------------------


def test_a_lock_is_named_with_its_channel_and_the_rest_is_keyed():
    armature, _, names = baked_leg(mode='XYZ')
    control = armature.pose.bones["c_foot_fk"]
    control.lock_rotation[2] = True
    before, locked = shown(armature, names["shown"]), keys_of(armature, ["c_foot_fk"])
    report = snap_fk(armature, None, *FRAMES)
    assert not report.all_reached
    (told,) = [text for text in report.warnings if "c_foot_fk" in text]
    assert "locks on 'Rotation Z' leave 'foot' up to" in told
    show(armature, names, 1.0)
    after = shown(armature, names["shown"])
    turned, placed = off(before[ROWS, :2], after[ROWS, :2])
    assert turned < TURNED and placed < PLACED
    path = 'pose.bones["c_foot_fk"].rotation_euler', 2
    assert keys_of(armature, ["c_foot_fk"])[path] == locked[path]
    assert off(before[ROWS], after[ROWS])[0] == pytest.approx(report.turned, abs=1e-4)


def test_a_control_that_is_locked_altogether_is_named():
    armature, _, names = baked_leg(mode='XYZ')
    armature.pose.bones["c_leg_fk"].lock_rotation = (True,) * 3
    report = snap_fk(armature, None, *FRAMES)
    assert any("Control 'c_leg_fk': locks on 'Rotation X'" in text for text in report.warnings)


def test_a_limit_is_named_with_its_channel():
    armature, _, names = baked_leg(mode='XYZ')
    limit = armature.pose.bones["c_thigh_fk"].constraints.new('LIMIT_ROTATION')
    limit.name, limit.owner_space = "Hip Limit", 'LOCAL'
    limit.use_limit_x, limit.min_x, limit.max_x = True, -0.01, 0.01
    report = snap_fk(armature, None, *FRAMES)
    (told,) = [text for text in report.warnings if "c_thigh_fk" in text]
    assert "'Hip Limit' limits its 'Rotation X'" in told


def test_a_driver_and_a_locked_curve_on_a_control_are_refused_with_nothing_changed():
    armature, _, names = baked_leg(mode='XYZ')
    curve = next(each for each in existing_fcurves(armature) if '"c_leg_fk"' in each.data_path)
    curve.lock = True
    before = every_bit_of_animation(armature)
    with pytest.raises(IK2DError, match="c_leg_fk.*is locked"):
        snap_fk(armature, None, *FRAMES)
    assert every_bit_of_animation(armature) == before
    curve.lock = False
    before = every_bit_of_animation(armature)
    armature.pose.bones["c_foot_fk"].driver_add("rotation_euler", 0).driver.expression = "0.1"
    with pytest.raises(IK2DError, match="c_foot_fk.*has a driver"):
        snap_fk(armature, switch=True)
    armature.pose.bones["c_foot_fk"].driver_remove("rotation_euler", 0)
    assert every_bit_of_animation(armature) == before


# --- Rigs without FK controls ------------------------------------------------


def test_copies_that_nothing_switches_are_no_fk_controls():
    armature, chain = two_sets()
    for name in ("thigh", "leg", "foot"):
        for copy in armature.pose.bones[name].constraints:
            copy.driver_remove("influence")
            copy.influence = 1.0
    report = snap_fk(armature, None, 1, 2)
    assert not hasattr(report, "controls")


def test_a_limb_of_which_one_bone_has_no_fk_bone_keeps_its_own_keys():
    armature, chain = arp()
    bone = armature.pose.bones["leg"]
    bone.constraints.remove(bone.constraints[0])
    assert not hasattr(snap_fk(armature, None, 1, 2), "controls")


def test_a_switch_of_the_whole_rig_is_named():
    armature, _, names = baked_leg()
    armature["fk"] = 0.0
    for copy in armature.pose.bones["thigh"].constraints:
        copy.driver_remove("influence")
        drive(armature, copy, '["fk"]', "s" if copy.name.startswith("FK") else "1 - s")
    assert "'fk' of 'Rig'" in snap_fk(armature, None, *FRAMES).sentence()


def test_keyed_influences_count_as_a_switch():
    armature, _, names = baked_leg()
    for name in names["shown"]:
        for copy in armature.pose.bones[name].constraints:
            copy.driver_remove("influence")
            for frame, value in ((1, 0.0), (LAST, 1.0)):
                copy.influence = value if copy.name.startswith("FK") else 1.0 - value
                copy.keyframe_insert("influence", frame=frame)
    before = every_bit_of_animation(armature)
    assert snap_fk(armature, None, *FRAMES).all_reached
    clear_snaps(armature)
    assert every_bit_of_animation(armature) == before
    assert ARP["fk"] == names["fk"]
