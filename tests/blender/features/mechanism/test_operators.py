# SPDX-License-Identifier: GPL-3.0-or-later
"""Mechanisms made by buttons: joints proposed, rams with the bones between, drivers in place of others."""

import bpy
import numpy as np
import pytest
from machine_rigs import add_machine, evaluated_openings, key_turns
from machines import excavator
from rigs import add_armature, add_chain, add_target
from test_rams import CYLINDER, ROD, digger

from ik2d_addon.chains import add_mechanism, close_rest_pose, drive, propose_joints
from ik2d_addon.core import IK2DError
from ik2d_addon.features.doctor.circles import circle_of
from ik2d_addon.features.mechanism import words
from ik2d_addon.features.mechanism.panel import IK2D_PT_mechanism, IK2D_PT_mechanism_drivers
from ik2d_addon.rig.animation.versions import existing_fcurves, select_bone
from ik2d_addon.ui.context import active_armature, active_mechanism, shown_chain

FOUR_BAR = {
    "crank": ((0, 0, 0), (0, 0, 1.0), "", 0.0),
    "coupler": ((0, 0, 1.0), (3.0, 0, 2.0), "crank", 0.0),
    "rocker": ((3.5, 0, 0), (3.0, 0, 2.0), "", 0.0),
}


def select(armature, *names):
    """Select bones in Pose Mode; the last one is the active one."""
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='POSE')
    for bone in armature.pose.bones:
        select_bone(bone, bone.name in names)
    armature.data.bones.active = armature.data.bones[names[-1]]


def shown(armature):
    """Return the mechanism that the panel shows."""
    return armature.ik2d.mechanisms[armature.ik2d.active_mechanism]


def key_arm(armature, name, *turns, normal=(0.0, -1.0, 0.0)):
    """Key turns of a bone about a normal, one a frame from frame 1 on; they are the scene's range."""
    armature["normal"] = normal
    key_turns(armature, name, turns)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, len(turns)


def along(bone):
    """Return the direction of a bone at rest."""
    return (bone.tail_local - bone.head_local).normalized()


def joints_of(mechanism):
    """Return the kind of each joint, and its bones."""
    return [(one.kind, {one.bone, one.other}) for one in mechanism.joints]


def test_pins_are_proposed_where_ends_meet_and_no_joint_is_already():
    armature = add_armature(
        {
            **FOUR_BAR,
            "link": ((3.0, 0, 2.0), (5.0, 0, 3.0), "rocker", 0.0),
            "lever": ((6.0, 0.4, 0), (5.0, 0.4, 3.0), "", 0.0),
            "flag": ((5.0, 0.4, 3.0), (5.0, 0.4, 3.5), "lever", 0.0),
        }
    )
    mechanism = add_mechanism(armature, ["crank", "coupler", "rocker", "link", "lever"])
    assert len(propose_joints(mechanism)) == 2
    pairs = [{"coupler", "rocker"}, {"coupler", "link"}], [{"link", "lever"}]
    assert all(any(pair in of_place for _, pair in joints_of(mechanism)) for of_place in pairs)
    drive(mechanism, "crank")
    mobility = words.read(mechanism).core.mobility()
    assert (mobility.freedoms, mobility.fault) == (1, "")
    assert propose_joints(mechanism) == []


def test_the_rams_of_an_excavator_are_proposed():
    armature, mechanism = add_machine(excavator())
    wanted = [pair for kind, pair in joints_of(mechanism) if kind == 'RAM']
    other = add_mechanism(armature, [bone.name for bone in mechanism.bones], "again")
    propose_joints(other)
    found = [pair for kind, pair in joints_of(other) if kind == 'RAM']
    assert len(found) == len(wanted) == 3 and all(pair in wanted for pair in found)


def test_a_four_bar_is_made_driven_baked_and_cleared():
    armature = add_armature(FOUR_BAR)
    select(armature, "crank", "coupler", "rocker")
    assert bpy.ops.ik2d.mechanism_new() == {'FINISHED'}
    mechanism = shown(armature)
    assert joints_of(mechanism) == [('PIN', {"coupler", "rocker"})] and mechanism.live
    assert words.problem(mechanism).startswith("1 freedom left: choose what drives, or add joints")
    assert "'crank', 'rocker' or 'coupler'" in words.problem(mechanism)
    select(armature, "crank")
    bpy.ops.ik2d.mechanism_drive(by='KEYS')
    assert words.description(mechanism) == "3 bones, 1 loop, 1 freedom, driven by 'crank'"
    assert words.problem(mechanism) == ""
    key_arm(armature, "crank", *np.linspace(0.0, 2.4, 21))
    assert bpy.ops.ik2d.bake() == {'FINISHED'}
    assert evaluated_openings(mechanism, range(1, 22)).max() < 2e-6
    assert "closed on 21 frames" in armature.ik2d.last_bake and "closed on 21 frames" in mechanism.last_bake
    assert not mechanism.live and mechanism.was_live
    bpy.ops.ik2d.clear_bake()
    assert armature.ik2d.last_bake == mechanism.last_bake == "" and mechanism.live


@pytest.mark.parametrize("rocker", ("coupler", "ground"))
def test_a_base_that_is_selected_too_is_the_frame(rocker):
    ends = ((3.0, 0, 2.0), (4.0, 0, 0)) if rocker == "coupler" else ((4.0, 0, 0), (3.0, 0, 2.0))
    armature = add_armature(
        {
            "ground": ((0, 0, 0), (4.0, 0, 0), "", 0.0),
            "crank": ((0, 0, 0), (0, 0, 1.0), "ground", 0.0),
            "coupler": ((0, 0, 1.0), (3.0, 0, 2.0), "crank", 0.0),
            "rocker": (*ends, rocker, 0.0),
        }
    )
    select(armature, "ground", "crank", "coupler", "rocker")
    bpy.ops.ik2d.mechanism_new()
    mechanism = shown(armature)
    assert {bone.name for bone in mechanism.bones} == {"crank", "coupler", "rocker"}
    assert words.read(mechanism).frame == "ground" and words.read(mechanism).core.mobility().freedoms == 1


@pytest.mark.parametrize("chained", (True, False))
def test_a_ram_of_two_bones_takes_the_arm_between_in_which_drives(chained):
    armature = digger()
    for _ in range(2 if chained else 3):
        armature.ik2d.chains.remove(len(armature.ik2d.chains) - 1)
    objects = len(bpy.data.objects)
    select(armature, ROD, CYLINDER)
    assert bpy.ops.ik2d.mechanism_ram() == {'FINISHED'}
    mechanism = shown(armature)
    assert {bone.name for bone in mechanism.bones} == {CYLINDER, ROD, "arm"}
    assert [(one.kind, one.bone) for one in mechanism.drivers] == [('TURN', "arm")]
    assert len(bpy.data.objects) == objects and words.problem(mechanism) == ""
    if not chained:
        key_arm(armature, "arm", *np.linspace(0.0, 0.4, 20), normal=(1.0, 0.0, 0.0))
    bpy.ops.ik2d.bake(frame_start=1, frame_end=20)
    assert "closed on 20 frames" in armature.ik2d.last_bake
    bpy.ops.object.mode_set(mode='OBJECT')
    tails, line = set(), []
    for frame in range(1, 21):
        bpy.context.scene.frame_set(frame)
        bones = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        way = (bones[ROD].head - bones[CYLINDER].head).normalized()
        line.append([bones[name].y_axis.dot(way) for name in (CYLINDER, ROD)])
        tails.add(round(bones["arm"].tail.z, 4))
    assert np.ptp(line, axis=0).max() < 1e-5 and len(tails) > 10


def test_a_rams_length_drives_in_place_of_the_arm_and_its_keys_go_with_it():
    armature = digger()
    armature.ik2d.chains.clear()
    select(armature, ROD, CYLINDER)
    bpy.ops.ik2d.mechanism_ram()
    mechanism = shown(armature)
    bpy.ops.ik2d.mechanism_drive(by='KEYS')
    assert [(one.kind, one.bone) for one in mechanism.drivers] == [('RAM', CYLINDER)]
    for frame, share in ((1, 0.9), (11, 0.6)):
        mechanism.drivers[0].length = share
        armature.keyframe_insert("ik2d.mechanisms[0].drivers[0].length", frame=frame)
    bpy.ops.ik2d.bake(frame_start=1, frame_end=11)
    assert "closed on 11 frames" in armature.ik2d.last_bake
    with pytest.raises(RuntimeError, match="'cylinder' drives already"):
        bpy.ops.ik2d.mechanism_drive(by='KEYS')
    bpy.ops.ik2d.mechanism_remove_item(what='JOINT', index=0)
    assert not len(armature.ik2d.mechanisms)
    assert not any(curve.data_path.startswith("ik2d") for curve in existing_fcurves(armature))


def test_close_rest_pose_turns_a_rams_bones_to_point_at_each_other():
    armature = digger()
    armature.ik2d.chains.clear()
    select(armature, ROD, CYLINDER)
    bpy.ops.ik2d.mechanism_ram()
    assert "points past" in words.gap_words(shown(armature))
    bpy.ops.ik2d.mechanism_close_rest()
    bones = armature.data.bones
    way = (bones[ROD].head_local - bones[CYLINDER].head_local).normalized()
    assert max(along(bones[name]).cross(way).length for name in (CYLINDER, ROD)) < 1e-6
    assert words.gap_words(shown(armature)) == "" and armature.mode == 'POSE'


def test_close_rest_pose_moves_pinned_ends_and_what_is_connected_to_their_middle():
    armature = add_armature(
        {
            **FOUR_BAR,
            "rocker": ((3.5, 0.01, 0), (3.0, 0.01, 2.06), "", 0.0),
            "tip": ((3.0, 0.01, 2.06), (3.0, 0.01, 3.0), "rocker", 0.0),
        }
    )
    select(armature, "crank", "coupler", "rocker")
    bpy.ops.ik2d.mechanism_new()
    mechanism = shown(armature)
    assert not len(mechanism.joints)
    select(armature, "coupler", "rocker")
    bpy.ops.ik2d.mechanism_pin()
    assert joints_of(mechanism) == [('PIN', {"coupler", "rocker"})] and words.gap_words(mechanism)
    close_rest_pose(mechanism)
    bones = armature.data.bones
    gap = bones["coupler"].tail_local - bones["rocker"].tail_local
    assert np.hypot(gap.x, gap.z) < 1e-6 and bones["coupler"].tail_local.z == pytest.approx(2.03, abs=1e-3)
    assert (bones["tip"].head_local - bones["rocker"].tail_local).length < 1e-6
    assert words.gap_words(mechanism) == ""
    with pytest.raises(IK2DError, match="no ends are apart at rest"):
        close_rest_pose(mechanism)
    other = bpy.data.objects.new("Other", armature.data)
    with pytest.raises(IK2DError, match="Other objects have the bones"):
        close_rest_pose(mechanism)
    bpy.data.objects.remove(other)


def test_a_piston_slides_along_its_track_and_keeps_its_angle():
    armature = add_armature(
        {
            "base": ((0, 0, -1), (0, 0, -0.5), "", 0.0),
            "track": ((0, 0, 0), (5, 0, 0), "base", 0.0),
            "crank": ((0, 0, 0), (0.5, 0, 0.8), "base", 0.0),
            "rod": ((0.5, 0, 0.8), (3, 0, 0), "crank", 0.0),
            "piston": ((3, 0, 0), (3.7, 0, 0), "rod", 0.0),
        }
    )
    select(armature, "crank", "rod", "piston")
    bpy.ops.ik2d.mechanism_new()
    mechanism = shown(armature)
    select(armature, "piston", "track")
    bpy.ops.ik2d.mechanism_slide()
    (joint,) = mechanism.joints
    assert (joint.kind, joint.bone, joint.other) == ('GUIDE', "piston", "track")
    assert "track" not in mechanism.bones and words.read(mechanism).core.mobility().freedoms == 1
    bpy.ops.ik2d.mechanism_remove_item(what='JOINT', index=0)
    bpy.ops.ik2d.mechanism_slide(keeps_angle=False)
    assert mechanism.joints[0].kind == 'SLIDE'


@pytest.mark.parametrize("bones", [("outer", "foot"), ("foot", "outer")])
def test_a_free_tail_is_pinned_rather_than_a_head_that_is_nearer(bones):
    armature = add_armature(
        {
            "lower": ((0, 0, 2.0), (0, 0, 0), "", 0.0),
            "upper": ((0, 0, 2.0), (0.5, 0, 1.0), "", 0.0),
            "foot": ((0, 0, 0), (0, 0, -3.0), "lower", 0.0),
            "outer": ((0.5, 0, 1.0), (-1.0, 0, -1.0), "upper", 0.0),  # 0.2 past the foot's head
        }
    )
    select(armature, "lower", "upper", "foot", "outer")
    bpy.ops.ik2d.mechanism_new()
    select(armature, *bones)
    bpy.ops.ik2d.mechanism_pin()
    (joint,) = shown(armature).joints
    assert (joint.kind, joint.bone, joint.end, joint.other) == ('PIN', "outer", 'TAIL', "foot")


def test_a_bone_alone_is_pinned_to_the_frame_and_what_cannot_be_changes_nothing():
    armature = add_armature({**FOUR_BAR, "rocker": ((3.0, 0, 2.0), (3.5, 0, 0), "coupler", 0.0)})
    select(armature, "crank", "coupler", "rocker")
    bpy.ops.ik2d.mechanism_new()
    mechanism = shown(armature)
    select(armature, "rocker")
    bpy.ops.ik2d.mechanism_pin()
    assert joints_of(mechanism) == [('PIN', {"rocker", ""})]
    select(armature, "crank", "rocker")
    bpy.ops.ik2d.mechanism_gear(ratio=2.0)
    assert mechanism.joints[1].ratio == 2.0
    assert (mechanism.joints[1].bone, mechanism.joints[1].other) == ("crank", "rocker")
    bpy.ops.ik2d.mechanism_remove_item(what='JOINT', index=1)
    assert len(mechanism.joints) == 1


def test_the_other_side_of_a_triangle_and_none_of_a_crank():
    armature = add_armature(FOUR_BAR)
    select(armature, "crank", "coupler", "rocker")
    bpy.ops.ik2d.mechanism_new()
    mechanism = shown(armature)
    select(armature, "crank")
    bpy.ops.ik2d.mechanism_drive(by='KEYS')
    with pytest.raises(RuntimeError, match="'crank' is in no triangle"):
        bpy.ops.ik2d.mechanism_other_side()
    assert not mechanism.bones["crank"].other_side
    select(armature, "coupler")
    bpy.ops.ik2d.mechanism_other_side()
    assert mechanism.bones["coupler"].other_side and words.problem(mechanism) == ""


def test_a_target_drives_in_place_of_keys():
    armature = add_armature(FOUR_BAR)
    select(armature, "crank", "coupler", "rocker")
    bpy.ops.ik2d.mechanism_new()
    mechanism = shown(armature)
    select(armature, "crank")
    bpy.ops.ik2d.mechanism_drive(by='KEYS')
    select(armature, "rocker")
    bpy.ops.ik2d.mechanism_drive(by='TARGET')
    (driver,) = mechanism.drivers
    tail = armature.matrix_world @ armature.data.bones["rocker"].tail_local
    assert driver.kind == 'TARGET' and (driver.target.location - tail).length < 1e-6
    assert words.problem(mechanism) == ""


def test_keys_by_hand_and_chains_drive_without_a_click():
    armature = add_armature(FOUR_BAR)
    key_arm(armature, "crank", 0.0, 1.0)
    select(armature, "crank", "coupler", "rocker")
    bpy.ops.ik2d.mechanism_new()
    assert [one.bone for one in shown(armature).drivers] == ["crank"]
    other = add_armature(FOUR_BAR, "Other")
    add_chain(other, "rocker", add_target({}), 1)
    bpy.ops.object.mode_set(mode='OBJECT')
    select(other, "crank", "coupler", "rocker")
    bpy.ops.ik2d.mechanism_new()
    assert [one.bone for one in shown(other).drivers] == ["rocker"]


def test_a_circle_of_chains_becomes_a_mechanism():
    bones = {
        **FOUR_BAR,
        "coupler end": ((3.0, 0, 2.0), (3.3, 0, 2.3), "coupler", 0.0),
        "rocker end": ((3.0, 0, 2.0), (3.3, 0, 2.5), "rocker", 0.0),
        "arm": ((5.0, 0, 0), (5.0, 0, 1.0), "", 0.0),
    }
    armature = add_armature(bones)
    add_chain(armature, "coupler", armature, 2, subtarget="rocker end")
    add_chain(armature, "rocker", armature, 1, subtarget="coupler end")
    add_chain(armature, "arm", armature, 1, subtarget="rocker end")
    assert circle_of(armature) == ["coupler", "rocker"]
    bpy.context.view_layer.objects.active = armature
    with pytest.raises(RuntimeError, match="bones whose loop closes are a mechanism"):
        bpy.ops.ik2d.bake(frame_start=1, frame_end=2)
    other = add_mechanism(armature, ["crank", "coupler"], "other")
    with pytest.raises(RuntimeError, match="'other' has the bone 'crank' already"):
        bpy.ops.ik2d.mechanism_of_circle()
    assert len(armature.ik2d.mechanisms) == 1 and all(chain.enabled for chain in armature.ik2d.chains)
    other.enabled = False
    assert bpy.ops.ik2d.mechanism_of_circle() == {'FINISHED'}
    mechanism = shown(armature)
    assert {bone.name for bone in mechanism.bones} == {"crank", "coupler", "rocker"}
    assert joints_of(mechanism) == [('PIN', {"coupler", "rocker"})]
    assert [chain.enabled for chain in armature.ik2d.chains] == [False, False, True]
    assert circle_of(armature) == []


def test_buttons_say_why_they_are_greyed_out():
    armature = add_armature(FOUR_BAR)
    for name in ("new", "pin", "slide", "ram", "gear", "drive", "other_side", "remove", "close_rest"):
        assert not getattr(bpy.ops.ik2d, f"mechanism_{name}").poll(), name
    select(armature, "crank", "coupler")
    assert bpy.ops.ik2d.mechanism_new.poll() and bpy.ops.ik2d.mechanism_ram.poll()
    assert not bpy.ops.ik2d.mechanism_pin.poll() and not bpy.ops.ik2d.bake.poll()


def test_a_slide_where_a_bone_of_the_mechanism_is_gone_is_refused_in_words():
    armature = add_armature({**FOUR_BAR, "slider": ((3.0, 0, 2.0), (4.0, 0, 2.0), "rocker", 0.0)})
    mechanism = add_mechanism(armature, [*FOUR_BAR, "slider"])
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    armature.data.edit_bones.remove(armature.data.edit_bones["slider"])
    bpy.ops.object.mode_set(mode='OBJECT')
    select(armature, "coupler", "rocker")
    with pytest.raises(RuntimeError, match="has no bone 'slider'"):
        bpy.ops.ik2d.mechanism_slide()
    assert len(mechanism.joints) == 0 and len(mechanism.bones) == 4


def test_a_new_mechanism_has_the_name_of_the_active_bone():
    armature = add_armature(FOUR_BAR)
    select(armature, "coupler", "rocker", "crank")
    assert bpy.ops.ik2d.mechanism_new() == {'FINISHED'}
    assert shown(armature).name == "crank"


def test_an_active_bone_that_is_not_selected_gives_no_name():
    armature = add_armature({**FOUR_BAR, "flag": ((5, 0, 0), (5, 0, 1.0), "", 0.0)})
    select(armature, "crank", "coupler", "rocker")
    armature.data.bones.active = armature.data.bones["flag"]
    select_bone(armature.pose.bones["flag"], False)  # which Blender 4.2 has selected with it
    assert bpy.ops.ik2d.mechanism_new() == {'FINISHED'}
    assert shown(armature).name == "crank" and "flag" not in shown(armature).bones


def test_the_panels_stay_while_a_mechanisms_target_is_active():
    armature, target = add_armature(FOUR_BAR), add_target({1: (3.0, 0, 2.0)})
    other = add_armature(FOUR_BAR)
    for rig in (other, armature):
        for name in ("first", "second"):
            mechanism = add_mechanism(rig, list(FOUR_BAR), name)
            propose_joints(mechanism)
    dragged = armature.ik2d.mechanisms["second"]
    drive(dragged, "coupler", target=target)
    armature.ik2d.active_mechanism = 0
    bpy.ops.object.mode_set(mode='OBJECT')
    bpy.context.view_layer.objects.active = target
    bpy.context.view_layer.update()
    assert active_armature(bpy.context) == armature and active_mechanism(armature) == dragged
    assert shown_chain(bpy.context) is None
    assert IK2D_PT_mechanism.poll(bpy.context) and IK2D_PT_mechanism_drivers.poll(bpy.context)
    assert bpy.ops.ik2d.mechanism_remove() == {'FINISHED'}
    assert [one.name for one in armature.ik2d.mechanisms] == ["first"]
    assert active_armature(bpy.context) is None  # nothing follows it


def test_a_button_takes_no_bone_of_another_mechanism_unless_that_is_disabled():
    armature, first = add_machine(excavator())
    bones = [bone.name for bone in first.bones]
    ram = next(one for one in first.joints if one.kind == 'RAM')
    select(armature, *bones)
    with pytest.raises(RuntimeError, match="has the bone '.*' already; disable it, or add to it"):
        bpy.ops.ik2d.mechanism_new()
    assert len(armature.ik2d.mechanisms) == 1 and [bone.name for bone in first.bones] == bones
    rod, barrel = ram.bone, ram.other
    first.enabled = False
    add_mechanism(armature, [bone for bone in bones if bone not in (rod, barrel)], "again")
    first, again = armature.ik2d.mechanisms
    first.enabled = True
    counts = len(first.joints), len(again.bones)
    for button in (bpy.ops.ik2d.mechanism_pin, bpy.ops.ik2d.mechanism_ram):
        select(armature, rod, "boom")
        with pytest.raises(RuntimeError, match="already; disable it, or add to it"):
            button()
    assert counts == (len(first.joints), len(again.bones))
    first.enabled = again.enabled = False
    select(armature, *bones)
    assert bpy.ops.ik2d.mechanism_new() == {'FINISHED'} and len(armature.ik2d.mechanisms) == 3
