# SPDX-License-Identifier: GPL-3.0-or-later
"""A click mends each fault: it is gone, the tip is on its target once baked, and undo brings it back."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from faults import (
    FAULTS,
    driven,
    examine,
    hinge,
    keyed_leg,
    leg,
    locked_curve,
    other_controls,
    shared_action,
    straight,
    stuck,
    uneven,
    uneven_body,
    zigzag,
)
from mathutils import Vector
from rigs import add_leg, add_target, animation_of, errors_on, every_bit_of_animation

from ik2d_addon.bake import bake
from ik2d_addon.core import IK2DError
from ik2d_addon.features.doctor import operators
from ik2d_addon.features.doctor.fixes import FIXES, mend
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.chain.checks.bones import rest_joints

FRAMES = range(1, 41)
REACHED = 1e-5  # of the reach
WAYS = {way for way, one in FIXES.items() if one.work is not None}
# What says nothing of a rig.
UNSTEADY = {"users", "session_uid", "tag", "is_evaluated", "select", "owner"}
each_fault = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
each_mode = pytest.mark.parametrize("mode", ['OBJECT', 'POSE'])


def click(way):
    """Click the button of a way."""
    operator = getattr(bpy.ops.ik2d, FIXES[way].operator.removeprefix("ik2d."))
    return operator() if FIXES[way].work is None else operator(way=way)


def kinds(armature, chain):
    """Return what is wrong with a chain."""
    bpy.context.view_layer.update()
    return [finding.kind for finding in examine(armature, chain, 1, 40)]


def plain(struct):
    """Return all plain settings of something in Blender; other data by name."""
    found = {}
    for prop in struct.bl_rna.properties:
        if prop.type in ('STRING', 'BOOLEAN', 'INT', 'ENUM', 'FLOAT') and prop.identifier not in UNSTEADY:
            value = getattr(struct, prop.identifier)
            is_array = getattr(prop, "is_array", False)
            found[prop.identifier] = np.array(value).tolist() if is_array else value
        elif prop.type == 'POINTER':
            found[prop.identifier] = getattr(getattr(struct, prop.identifier), "name", None)
    return found


def everything(armature):
    """Return all settings of an armature, its chains, its bones and its animation."""
    return {
        "object": plain(armature),
        "matrix": [tuple(row) for row in armature.matrix_world],
        "data": plain(armature.data),
        "bones": [plain(bone) for bone in armature.data.bones],
        "posed": [plain(bone) for bone in armature.pose.bones],
        "constraints": [plain(one) for bone in armature.pose.bones for one in bone.constraints],
        "chains": [plain(chain) for chain in armature.ik2d.chains],
        "joints": [plain(joint) for chain in armature.ik2d.chains for joint in chain.joints],
        "animation": every_bit_of_animation(armature),
        "scene": sorted((ob.name, ob.parent_type, ob.parent_bone) for ob in bpy.context.scene.objects),
    }


@each_fault
@each_mode
def test_the_click_mends_it_and_the_tip_is_on_its_target(fault, mode):
    armature, chain = fault.build()
    armature.ik2d.active_index = 0
    if mode == 'POSE':
        bpy.ops.object.mode_set(mode='POSE')
    assert click(fault.way) == {'FINISHED'}
    assert armature.mode == mode and bpy.context.view_layer.objects.active == armature
    if fault.solvable:
        assert kinds(armature, chain) == []
        report = bake(armature, [chain.name], 1, 40)
        assert report.all_reached
        assert errors_on(FRAMES, armature, chain).max() <= REACHED * report.chains[0].standard.reach
    else:
        assert fault.kind not in kinds(armature, chain) or "has no target" in str(
            examine(armature, chain, 1, 40)[0]
        )


def test_ik_that_rules_the_chain_can_be_adopted_instead():
    armature, chain = other_controls()
    (finding,) = examine(armature, chain, 1, 40)
    assert [one.way for one in finding.fixes] == ['MUTE_CONSTRAINTS', 'ADOPT']
    assert bpy.ops.ik2d.adopt(all=True) == {'FINISHED'}
    assert kinds(armature, chain) == [] and [one.name for one in armature.ik2d.chains] == [chain.name]


@pytest.mark.parametrize(
    "fault",
    [fault for fault in FAULTS if fault.way != 'UPDATE_JOINTS'],  # undo is an edit, which gives joints
    ids=lambda fault: fault.name,
)
def test_undo_brings_all_back_as_it_was(fault):
    armature, _chain = fault.build()
    armature.ik2d.active_index = 0
    bpy.context.view_layer.update()
    name = armature.name
    bpy.ops.ed.undo_push(message="before")
    before = everything(armature)
    click(fault.way)
    bpy.ops.ed.undo_push(message="after")
    assert everything(armature) != before
    bpy.ops.ed.undo()
    bpy.context.view_layer.update()
    assert everything(bpy.data.objects[name]) == before


@pytest.mark.parametrize(
    "way",
    sorted(
        WAYS
        - {'DISABLE', 'HINGE_PLANE', 'SHOW_POSE', 'CLEAR_TARGET', 'ACCEPT', 'FLATTEN', 'KEEP_PLANE', 'SWING'}
        - {'PLANE_TO_TARGET'}
    ),
)
def test_where_nothing_is_wrong_a_way_says_so_and_changes_nothing(way):
    armature, chain = leg()
    bpy.context.view_layer.update()
    before = everything(armature)
    with pytest.raises(IK2DError, match="Chain 'shin': |'Rig' has no"):
        mend(way, armature, chain)
    assert everything(armature) == before


def test_every_way_has_a_button_with_words_and_every_button_a_way():
    ways = bpy.ops.ik2d.mend.get_rna_type().properties["way"].enum_items
    assert set(ways.keys()) == WAYS
    offered = {fault.way for fault in FAULTS} | {
        *('ACCEPT', 'HINGE_PLANE', 'ADOPT', 'PLANE_TO_TARGET', 'LIMITS_FROM_BONES', 'MECHANISM', 'SHORTEN')
    }
    assert offered == set(FIXES)
    for way in ways:
        words = way.description
        assert way.name and words[0].isupper() and not words.endswith(".")


def test_the_tooltip_says_what_the_click_does():
    for way, words in (
        ('FLATTEN', "Turn the chain's bones in the rest pose"),
        ('ACCEPT', "Leave the joints"),
    ):
        said = operators.IK2D_OT_mend.description(bpy.context, SimpleNamespace(way=way))
        assert said.startswith(words)


def test_the_operator_says_why_it_cannot_and_leaves_all_as_it_was():
    armature, _chain = leg()
    before = everything(armature)
    with pytest.raises(RuntimeError, match="no channel is driven"):
        bpy.ops.ik2d.mend(way='MUTE_DRIVERS')
    with pytest.raises(RuntimeError, match="no chain 'none'"):
        bpy.ops.ik2d.mend(way='ACCEPT', chain="none")
    assert everything(armature) == before


# --- A rest pose that is flattened ---------------------------------------------


def bone_lengths(armature):
    """Return each bone's length in rest."""
    return np.array([bone.length for bone in armature.data.bones])


def test_a_flattened_rest_pose_keeps_lengths_and_the_bones_joined():
    armature, chain = zigzag()
    before, rig = bone_lengths(armature), read_chain(armature, chain)
    assert bpy.ops.ik2d.mend(way='FLATTEN') == {'FINISHED'}
    assert np.abs(bone_lengths(armature) - before).max() <= 1e-6 * before.sum()
    for bone in armature.data.bones[1:]:
        assert bone.use_connect and (bone.head_local - bone.parent.tail_local).length < 1e-6
    flat = read_chain(armature, chain)
    assert flat.remarks.off_plane <= 1e-6 * before.sum()
    assert abs(flat.plane.normal @ rig.plane.normal) > 1 - 1e-9  # it is the same plane


def test_what_hangs_on_a_flattened_bone_moves_with_it():
    armature, chain = zigzag()
    relative = [
        (armature.data.bones[a].matrix_local.inverted() @ armature.data.bones[b].matrix_local).copy()
        for a, b in (("b3", "hand"),)
    ]
    mend('FLATTEN', armature, chain)
    after = armature.data.bones["b3"].matrix_local.inverted() @ armature.data.bones["hand"].matrix_local
    assert np.abs(np.array(after) - np.array(relative[0])).max() < 1e-5


def test_each_flattened_bone_is_turned_the_shortest_way_without_a_roll_of_its_own():
    armature, chain = zigzag()
    before = {bone.name: bone.matrix_local.to_3x3() for bone in armature.data.bones}
    mend('FLATTEN', armature, chain)
    for name in ("b0", "b1", "b2", "b3"):
        after = armature.data.bones[name].matrix_local.to_3x3()
        turn = (after @ before[name].inverted()).to_quaternion()
        along = before[name].col[1].cross(after.col[1])
        assert along.normalized().cross(Vector(turn.axis)).length < 1e-2, name


def test_joints_that_no_bone_connects_are_flattened_too():
    armature, chain = zigzag()
    bpy.ops.object.mode_set(mode='EDIT')
    for bone in armature.data.edit_bones:
        bone.use_connect = False
    armature.data.edit_bones["b2"].head += Vector((0.05, 0.1, 0.1))
    bpy.ops.object.mode_set(mode='OBJECT')
    before = np.linalg.norm(np.diff(rest_joints(read_chain(armature, chain).pose_bones), axis=0), axis=1)
    mend('FLATTEN', armature, chain)
    rig = read_chain(armature, chain)
    after = np.linalg.norm(np.diff(rest_joints(rig.pose_bones), axis=0), axis=1)
    assert np.abs(after - before).max() <= 1e-6 * before.sum()
    assert rig.remarks.off_plane <= 1e-6 * before.sum()


def test_a_bone_across_the_plane_is_not_flattened():
    armature, chain = zigzag()
    chain.plane = 'CUSTOM'
    chain.plane_normal = armature.data.bones["b1"].tail_local - armature.data.bones["b1"].head_local
    before = everything(armature)
    with pytest.raises(IK2DError, match="bone 'b1' points across the plane"):
        mend('FLATTEN', armature, chain)
    assert everything(armature) == before


@pytest.mark.parametrize("way, build", [('FLATTEN', zigzag), ('APPLY_SCALE', uneven)])
def test_bones_that_other_objects_have_too_or_that_are_hidden_are_left_alone(way, build):
    armature, chain = build()
    armature.hide_viewport = True
    with pytest.raises(IK2DError, match="is hidden; show it first"):
        mend(way, armature, chain)
    armature.hide_viewport = False
    twin = bpy.data.objects.new("Twin", armature.data)
    bpy.context.scene.collection.objects.link(twin)
    bpy.context.view_layer.update()
    before = everything(armature)
    with pytest.raises(IK2DError, match="Other objects have the bones of 'Rig' too"):
        mend(way, armature, chain)
    assert everything(armature) == before


def test_mending_leaves_the_active_object_the_selection_and_the_mode_as_they_were():
    armature, chain = zigzag()
    other = add_leg("Other")
    bpy.context.view_layer.objects.active = other
    armature.select_set(False)
    bpy.ops.object.mode_set(mode='POSE')
    mend('FLATTEN', armature, chain)
    assert bpy.context.view_layer.objects.active == other and other.mode == 'POSE'
    assert [ob.name for ob in bpy.context.selected_objects] == ["Other"]
    assert armature.mode == 'OBJECT'


def test_accepted_joints_are_said_no_more_until_they_are_further_off():
    armature, chain = zigzag()
    assert bpy.ops.ik2d.mend(way='ACCEPT') == {'FINISHED'}
    assert kinds(armature, chain) == []
    bpy.ops.object.mode_set(mode='EDIT')
    armature.data.edit_bones["b2"].head.x -= 0.2
    armature.data.edit_bones["b1"].tail.x -= 0.2
    bpy.ops.object.mode_set(mode='OBJECT')
    assert kinds(armature, chain)[-1] == 'OFF_PLANE'


# --- Applied scale -----------------------------------------------------------


def test_what_is_parented_to_a_scaled_armature_stays_where_it_is():
    armature, chain = uneven()
    armature.rotation_euler = (0.3, 0.2, 0.1)
    held, on_bone = add_target({1: (0.1, 0.2, 0.3), 20: (0.4, 0.1, 0.3)}, "Held"), add_target({}, "On bone")
    held.parent, held.rotation_euler = armature, (0.4, 0.5, 0.6)
    on_bone.parent, on_bone.parent_type, on_bone.parent_bone = armature, 'BONE', "body"
    places = {}
    for after in (False, True):
        if after:
            mend('APPLY_SCALE', armature, chain)
        for frame in (1, 12, 20):
            bpy.context.scene.frame_set(frame)
            for ob in (held, on_bone):
                places.setdefault((ob.name, frame), []).append(np.array(ob.matrix_world))
    for name, (before, now) in places.items():
        assert np.abs(now - before).max() < 1e-5, name


def test_bones_of_a_scaled_armature_stay_where_they_are_at_rest():
    armature, chain = uneven()
    heads = [armature.matrix_world @ bone.head_local for bone in armature.data.bones]
    mend('APPLY_SCALE', armature, chain)
    assert tuple(armature.scale) == (1.0, 1.0, 1.0)
    for bone, head in zip(armature.data.bones, heads, strict=True):
        assert (armature.matrix_world @ bone.head_local - head).length < 1e-6


def test_an_animated_scale_is_not_applied():
    armature, chain = uneven()
    armature.keyframe_insert("scale", frame=1)
    before = everything(armature)
    with pytest.raises(IK2DError, match="is animated: it cannot be applied"):
        mend('APPLY_SCALE', armature, chain)
    assert everything(armature) == before


def test_a_keyed_scale_of_a_bone_is_left_alone():
    armature, chain = uneven_body()
    armature.pose.bones["body"].keyframe_insert("scale", frame=1)
    before = everything(armature)
    with pytest.raises(IK2DError, match="scale of bone 'body' is animated"):
        mend('CLEAR_SCALE', armature, chain)
    assert everything(armature) == before


def test_locations_that_keep_their_lengths_are_named():
    armature, chain = uneven()
    armature.pose.bones["body"].location.x = 0.2
    assert "look at the location of 'body'" in mend('APPLY_SCALE', armature, chain)


# --- The others --------------------------------------------------------------


def test_an_own_action_leaves_the_others_keys_alone():
    armature, chain = shared_action()
    other = bpy.data.objects["Other"]
    before = animation_of(other)
    mend('SINGLE_USER', armature, chain)
    assert animation_of(armature) == before == animation_of(other)
    bake(armature, [chain.name], 1, 40)
    assert animation_of(other) == before != animation_of(armature)


def test_muted_drivers_and_unlocked_channels_keep_all_they_hold():
    armature, chain = driven()
    mend('MUTE_DRIVERS', armature, chain)
    (driver,) = armature.animation_data.drivers
    assert driver.mute and driver.driver.expression == "0.2"
    armature, chain = locked_curve()
    before = animation_of(armature)
    mend('UNLOCK_CHANNELS', armature, chain)
    assert animation_of(armature) == before


def test_a_kept_plane_gives_the_same_pose_whatever_the_target_does_elsewhere():
    armature, chain = straight()
    bake(armature, [chain.name], 1, 40)
    before = animation_of(armature)
    assert bpy.ops.ik2d.mend(way='KEEP_PLANE') == {'FINISHED'}
    normal = Vector(chain.plane_normal)
    bake(armature, [chain.name], 1, 40)
    for path, keys in animation_of(armature).items():
        assert np.allclose([key[1] for key in keys], [key[1] for key in before[path]], atol=1e-5)
    chain.target.location.x += 1.0
    assert (Vector(read_chain(armature, chain).plane.normal) - normal).length < 1e-6


def test_hinges_that_agree_offer_their_plane():
    armature, chain = hinge(rolls=(6.0, 6.0), locked=("shin",))
    (finding,) = examine(armature, chain, 1, 40)
    assert [one.way for one in finding.fixes] == ['HINGE_PLANE', 'UNLOCK_HINGES']
    mend('HINGE_PLANE', armature, chain)
    assert 'HINGE_ASKEW' not in kinds(armature, chain)
    axis = armature.data.bones["shin"].matrix_local.col[0].xyz
    for frame, place in ((1, (0.3, 0.4)), (40, (-0.5, 0.6))):
        plane = read_chain(armature, chain).plane
        chain.target.animation_data_clear()
        ankle = armature.data.bones["shin"].tail_local  # the tip stays as far off the plane as it is
        beside = (np.array(ankle) - plane.origin) @ plane.normal
        chain.target.location = plane.lift(place) + beside * plane.normal
        report = bake(armature, [chain.name], frame, frame)
        assert report.all_reached and abs(Vector(plane.normal) @ axis) > 1 - 1e-6


def test_a_plane_to_target_brings_the_tip_to_a_target_that_left_the_plane():
    armature, chain = straight()
    chain.plane = 'Y'
    chain.target.animation_data_clear()
    chain.target.location = (0.0, -0.6, 0.7)
    (finding,) = examine(armature, chain, 1, 40)
    assert finding.kind == 'TARGET_OFF_PLANE' and "off the chain's plane" in finding.sentence
    assert click('PLANE_TO_TARGET') == {'FINISHED'}
    assert 'TARGET_OFF_PLANE' not in kinds(armature, chain)
    report = bake(armature, [chain.name], 1, 2)
    assert report.all_reached
    assert errors_on((1, 2), armature, chain).max() <= REACHED * report.chains[0].standard.reach


def test_a_widened_range_holds_the_rest_pose_and_what_it_held():
    armature, chain = stuck()
    mend('WIDEN', armature, chain)
    joint = chain.joints["thigh"]
    assert (joint.limit_min, joint.limit_max) == (0.0, 1.0)


def test_mending_works_from_the_target_as_the_active_object():
    armature, chain = keyed_leg()
    armature.data.pose_position = 'REST'
    bpy.context.view_layer.objects.active = chain.target
    assert bpy.ops.ik2d.mend(way='SHOW_POSE') == {'FINISHED'}
    assert kinds(armature, chain) == []
