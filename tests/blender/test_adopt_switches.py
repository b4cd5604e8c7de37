# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs that switch between FK and IK by the IK's influence are adopted with both sides."""

import bpy
import numpy as np
import pytest
from snapshots import differences
from switch_rigs import (
    FIRST,
    LAST,
    LIMB,
    copying,
    copying_switched,
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
    armature = copying()
    for point in curve_of(armature, '["ik"]').keyframe_points:
        point.co.y = 0.0
    curve_of(armature, '["ik"]').update()
    bpy.context.scene.frame_set(FIRST)
    adopted(armature)
    said = "The IK of 'shin' acts on none of the frames that were looked at: it is FK on all"
    assert said in capfd.readouterr().out


def test_what_it_says_of_the_switch(capfd):
    chain = adopted(copying())
    copies = "'Copy Rotation' of 'thigh', 'Copy Rotation' of 'shin'"
    said = f"the switch to FK: {copies} get 1 minus the influence of the IK, driven"
    assert said in chain.adopted.carried.splitlines() and said in capfd.readouterr().out
    assert "the influence, driven" not in chain.adopted.carried and not chain.adopted.lost


def test_no_dependency_cycle_is_made(capfd):
    armature = copying()
    adopted(armature, live=True)
    bpy.context.scene.frame_set(15)
    captured = capfd.readouterr()
    assert "cycle" not in captured.out + captured.err
    assert np.isfinite(path(armature)).all()
