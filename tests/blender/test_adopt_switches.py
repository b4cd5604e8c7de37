# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs that switch between FK and IK by the IK's influence are adopted with both sides."""

import bpy
import numpy as np
import pytest
from rigs import add_chain, override_from
from snapshots import differences
from switch_rigs import (
    FIRST,
    LAST,
    LIMB,
    copying,
    copying_switched,
    never_acting,
    off,
    own_keys,
    path,
    three_sets,
)
from whole_rig import whole_rig

from ik2d_addon.bake import bake
from ik2d_addon.rig.animation.value_keys import curve_of, driver_of

KINDS = ('COPY_ROTATION', 'COPY_TRANSFORMS')
# Parts of the leg: what Blender's IK leaves on its side, and half-way as it blends otherwise.
FK_SIDE, IK_SIDE, BETWEEN = 2e-5, 8e-5, 0.08


def adopted(armature, live=False):
    """Return the chain of a rig's only limb, adopted."""
    assert bpy.ops.ik2d.adopt(all=True) == {'FINISHED'}
    (chain,) = armature.ik2d.chains
    chain.live = live
    return chain


def assert_both_sides(before, armature):
    apart = off(before, path(armature))
    assert apart.fk < FK_SIDE and apart.ik < IK_SIDE and apart.between < BETWEEN, apart


@pytest.mark.parametrize("pole", [False, True], ids=["free", "pole"])
@pytest.mark.parametrize("by", ["driver", "keys"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_limb_that_copies_fk_bones_keeps_both_sides_live_and_baked(kind, by, pole):
    armature = copying(kind, by, pole)
    before = path(armature)
    chain = adopted(armature, live=True)
    assert chain.influence == 1.0 and driver_of(armature, chain.path_from_id("influence")) is None
    assert [armature.pose.bones[name].constraints[0].mute for name in LIMB] == [False, False]
    assert armature.pose.bones["shin"].constraints["IK"].mute
    assert_both_sides(before, armature)
    chain.live = False
    bake(armature, None, FIRST, LAST)
    assert_both_sides(before, armature)


@pytest.mark.parametrize("by", ["driver", "keys"])
@pytest.mark.parametrize("kind", KINDS)
def test_restored_it_is_the_same_to_the_bit(kind, by):
    armature = copying(kind, by)
    armature.pose.bones["thigh"].constraints[0].influence = 0.75
    bpy.context.view_layer.update()
    before = whole_rig(armature)
    adopted(armature)
    copy = armature.pose.bones["thigh"].constraints[0]
    animated = driver_of if by == "driver" else curve_of
    assert animated(armature, copy.path_from_id("influence")) is not None
    for frame in (25, 5, FIRST):
        bpy.context.scene.frame_set(frame)
    assert bpy.ops.ik2d.release() == {'FINISHED'}
    bpy.context.view_layer.update()
    assert not differences(before, whole_rig(armature))


def test_a_copy_of_a_part_gets_that_part():
    armature = copying()
    copies = [armature.pose.bones[name].constraints[0] for name in LIMB]
    copies[0].influence = 0.5
    adopted(armature)
    shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    for frame, expected in ((FIRST, [0.5, 1.0]), (25, [0.0, 0.0]), (34, [0.25, 0.5])):
        bpy.context.scene.frame_set(frame)
        found = [shown.pose.bones[name].constraints[0].influence for name in LIMB]
        assert found == pytest.approx(expected, abs=1e-6), frame


@pytest.mark.parametrize("kind", KINDS)
def test_copies_that_their_maker_switched_stay_as_they_are(kind, capfd):
    armature = copying_switched(kind)
    before = path(armature)
    drivers = [each.data_path for each in armature.animation_data.drivers]
    chain = adopted(armature)
    assert [each.data_path for each in armature.animation_data.drivers] == drivers
    assert "the switch to FK" in chain.adopted.carried and "stay as they are" in capfd.readouterr().out
    bake(armature, None, FIRST, LAST)
    apart = off(before, path(armature))
    assert apart.fk < FK_SIDE and apart.ik < IK_SIDE


def test_of_three_sets_of_bones_nothing_is_switched():
    armature = three_sets()
    before = path(armature)
    chain = adopted(armature)
    assert chain.tip == "shin_ik" and "switch" not in chain.adopted.carried
    bake(armature, None, FIRST, LAST)
    apart = off(before, path(armature))
    assert apart.fk == 0.0 and apart.ik < IK_SIDE and apart.between < 5e-3


@pytest.mark.parametrize("frame", [1, 10, 25, 40])
@pytest.mark.parametrize("make", [copying, own_keys])
def test_the_poles_angle_is_that_of_the_frames_on_which_the_ik_acts(make, frame):
    armature = make(pole=True, frame=frame)
    before = path(armature, "head")
    bpy.context.scene.frame_set(frame)
    adopted(armature)
    bake(armature, None, FIRST, LAST)
    assert off(before, path(armature, "head")).ik < 0.015


def test_ik_that_acts_on_no_frame_is_named(capfd):
    adopted(never_acting())
    said = "The IK of 'shin' acts on none of the frames that were looked at: it is FK on all"
    assert said in capfd.readouterr().out


def test_what_it_says_of_the_switch(capfd):
    chain = adopted(copying())
    copies = "'Copy Rotation' of 'thigh', 'Copy Rotation' of 'shin'"
    said = f"the switch to FK: {copies} get 1 minus the influence of the IK, driven"
    assert said in chain.adopted.carried.splitlines() and said in capfd.readouterr().out
    assert "the influence, driven" not in chain.adopted.carried and not chain.adopted.lost


def test_frames_between_fk_and_ik_are_not_compared(capfd):
    chain = adopted(copying())
    assert chain.adopted.part < 0.03 and chain.adopted.tip < 1e-4
    said = "Not compared: 18 frames on which a limb is between FK and IK, and is blended otherwise"
    assert said in capfd.readouterr().out


def test_no_dependency_cycle_is_made(capfd):
    armature = copying()
    adopted(armature, live=True)
    bpy.context.scene.frame_set(15)
    captured = capfd.readouterr()
    assert "cycle" not in captured.out + captured.err
    assert np.isfinite(path(armature)).all()


@pytest.mark.parametrize("twist", [0.0, 0.05, 0.2, 1.0])
def test_fk_keys_of_the_limbs_own_bones_are_kept_whole(twist):
    armature = own_keys(twist)
    before = path(armature)
    chain = adopted(armature, live=True)
    said = "turns of 'thigh' and 'shin' besides the IK, where its influence is below 1"
    assert said in chain.adopted.carried.splitlines() and not chain.adopted.lost
    live = off(before, path(armature))
    assert live.fk < 1e-6 and live.ik < 1e-4 and live.between < 0.08
    chain.live = False
    report = bake(armature, None, FIRST, LAST)
    assert off(before, path(armature)).fk < 1e-6 and not report.warnings


@pytest.mark.parametrize("kind", KINDS)
def test_frames_that_copies_pose_are_no_misses(kind):
    armature = copying(kind)
    chain = adopted(armature, live=True)
    bpy.context.scene.frame_set(5)
    assert chain.live_status.endswith("posed by the FK bones that it copies")
    chain.live = False
    (result,) = bake(armature, None, FIRST, LAST).chains
    assert result.fk_frames == 11 and result.fk[0] and not result.fk[19]
    assert not result.missed[19:30].any() and not result.warnings


def test_an_influence_that_cannot_be_turned_round_leaves_the_copies_muted():
    armature = copying(by="keys")
    curve = curve_of(armature, armature.pose.bones["shin"].constraints["IK"].path_from_id("influence"))
    curve.modifiers.new('NOISE').strength = 0.1
    bpy.context.scene.frame_set(FIRST + 1)
    bpy.context.scene.frame_set(FIRST)
    before = whole_rig(armature)
    chain = adopted(armature)
    assert armature.pose.bones["thigh"].constraints[0].mute and "cannot be turned round" in chain.adopted.lost
    assert bpy.ops.ik2d.release() == {'FINISHED'}
    bpy.context.view_layer.update()
    assert not differences(before, whole_rig(armature))


def test_bones_without_a_copy_blend_with_their_own_keys():
    armature = copying()
    shin = armature.pose.bones["shin"]
    shin.constraints.remove(shin.constraints[0])
    before = path(armature)
    chain = adopted(armature)
    assert driver_of(armature, chain.path_from_id("influence")) is not None
    bake(armature, None, FIRST, LAST)
    apart = off(before, path(armature))
    assert apart.fk < FK_SIDE and apart.ik < IK_SIDE


def test_a_taker_mutes_the_copies():
    armature = copying()
    chain = add_chain(armature, "shin", bpy.data.objects["Target"])
    assert bpy.ops.ik2d.adopt(all=True) == {'FINISHED'}
    assert len(armature.ik2d.chains) == 1 and armature.pose.bones["thigh"].constraints[0].mute
    assert driver_of(armature, armature.pose.bones["thigh"].constraints[0].path_from_id("influence")) is None
    assert chain.enabled


def test_renamed_bones_and_copies_are_restored():
    armature = copying()
    adopted(armature)
    copy = armature.pose.bones["thigh"].constraints[0]
    copy.name, armature.data.bones["shin"].name = "Other", "lower"
    assert bpy.ops.ik2d.release() == {'FINISHED'}
    for name in ("thigh", "lower"):
        copy = armature.pose.bones[name].constraints[0]
        assert driver_of(armature, copy.path_from_id("influence")) is None and copy.influence == 1.0


def test_adopting_is_one_step_of_undo():
    armature = copying()
    before = whole_rig(armature)
    bpy.ops.ed.undo_push()
    adopted(armature)
    bpy.ops.ed.undo_push()
    bpy.ops.ed.undo()
    armature = bpy.data.objects["Rig"]
    bpy.context.view_layer.update()
    assert not differences(before, whole_rig(armature))


def linked(by, path):
    """Return the override of that rig in another file, in an empty scene."""
    copying(by=by)
    bpy.ops.object.mode_set(mode='OBJECT')
    bpy.ops.wm.save_as_mainfile(filepath=path)
    armature = override_from(path, "Rig", "Target")
    bpy.context.view_layer.objects.active = armature
    return armature


@pytest.mark.parametrize("by", ["driver", "keys"])
def test_a_library_override_keeps_both_sides_too(by, tmp_path):
    armature = linked(by, str(tmp_path / "library.blend"))
    before = path(armature)
    adopted(armature, live=True)
    assert_both_sides(before, armature)
    assert bpy.ops.ik2d.release() == {'FINISHED'}
    assert np.abs(path(armature) - before).max() < 1e-6 and not len(armature.ik2d.chains)
    assert [each.data_path for each in armature.animation_data.drivers if "Copy" in each.data_path] == []


def test_a_linked_rig_is_refused(tmp_path):
    armature = linked("driver", str(tmp_path / "library.blend"))
    original = armature.override_library.reference
    bpy.context.scene.collection.objects.unlink(armature)
    bpy.context.scene.collection.objects.link(original)
    bpy.context.view_layer.objects.active = original
    with pytest.raises(RuntimeError, match="is linked from another file"):
        bpy.ops.ik2d.adopt(all=True)


def test_locked_channels_are_turned_round_and_restored():
    armature = copying(by="keys")
    ik = armature.pose.bones["shin"].constraints["IK"]
    curve_of(armature, ik.path_from_id("influence")).lock = True
    for name in LIMB:
        armature.pose.bones[name].lock_rotation = (False, True, False)
    before = path(armature)
    bpy.context.scene.frame_set(FIRST)
    rig = whole_rig(armature)
    adopted(armature)
    assert off(before, path(armature)).fk < FK_SIDE
    bpy.context.scene.frame_set(FIRST)
    assert bpy.ops.ik2d.release() == {'FINISHED'}
    bpy.context.view_layer.update()
    assert not differences(rig, whole_rig(armature))


def test_a_chain_of_one_bone_keeps_both_sides():
    armature = copying()
    armature.pose.bones["shin"].constraints["IK"].chain_count = 1
    before = path(armature)
    adopted(armature)
    bake(armature, None, FIRST, LAST)
    apart = off(before, path(armature))
    assert apart.fk < FK_SIDE and apart.ik < 2e-3


@pytest.mark.parametrize("by", ["driver", "keys"])
def test_a_modifier_in_place_of_keys_is_turned_round(by):
    armature = copying(by=by)
    ik = armature.pose.bones["shin"].constraints["IK"]
    find = driver_of if by == "driver" else curve_of
    curve = find(armature, ik.path_from_id("influence"))
    modifier = curve.modifiers.new('GENERATOR')
    modifier.coefficients = (0.25, 0.5) if by == "driver" else (0.1, 0.02)
    bpy.context.scene.frame_set(FIRST)
    bpy.context.view_layer.update()
    adopted(armature)
    shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    for frame in (FIRST, 15, 34):
        bpy.context.scene.frame_set(frame)
        copied = shown["thigh"].constraints[0].influence
        assert copied == pytest.approx(1.0 - shown["shin"].constraints["IK"].influence, abs=1e-6)
        assert 0.0 < copied < 1.0
