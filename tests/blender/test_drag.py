# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging a tip, but for the mouse: what is taken hold of, where it goes, and that Escape puts it back."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector
from rigs import (
    add_armature,
    add_chain,
    add_leg,
    add_target,
    animation_of,
    evaluated_place,
    evaluated_tip,
    leg_with_target,
    settings_of,
)

from ik2d_addon.bake import bake, solve
from ik2d_addon.core import IK2DError
from ik2d_addon.features.drag.drag import Drag, chain_to_hold, take_hold, why_not_drag
from ik2d_addon.features.native import make_native
from ik2d_addon.rig.animation.versions import select_bone

REACH = 1.91
ROTATIONS = ("rotation_quaternion", "rotation_euler", "rotation_axis_angle")


def posing(armature, bone="shin"):
    """Go to Pose Mode with one bone active, the only one that is selected."""
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='POSE')
    armature.data.bones.active = armature.data.bones[bone]
    for other in armature.pose.bones:
        select_bone(other, other.name == bone)
    bpy.context.view_layer.update()
    return armature


def leg(bone="shin", **settings):
    """Return the leg in Pose Mode, its chain solved, and its target."""
    armature, target = leg_with_target(**settings)
    solve(armature)
    return posing(armature, bone), target


def loose_leg(bone="shin"):
    """Return the leg in Pose Mode without a chain."""
    return posing(add_leg(), bone)


def tentacle(count=20, **settings):
    """Return a chain of many bones in Pose Mode, slightly curled, and its target."""
    joints = [(0.03 * i * i / count, 0, 0.2 * i) for i in range(count + 1)]
    bones = {f"b{i}": (joints[i], joints[i + 1], f"b{i - 1}" if i else "", 0.0) for i in range(count)}
    armature = add_armature(bones)
    target = add_target({})
    target.location = (0.08 * count, 0, 0.1 * count)
    add_chain(armature, f"b{count - 1}", target, bone_count=count, **settings)
    solve(armature)
    return posing(armature, f"b{count - 1}"), target


def everything(armature, target=None):
    """Return all that a cancelled drag must leave as it was, to the last bit."""
    found = [settings_of(chain) for chain in armature.ik2d.chains]
    for bone in armature.pose.bones:
        found += [[x.hex() for x in getattr(bone, name)] for name in (*ROTATIONS, "location", "scale")]
    if target is not None:
        found += [[x.hex() for x in getattr(target, name)] for name in ("location", "scale")]
    return found


def hold(armature, **options):
    """Take hold of what the context offers."""
    return take_hold(bpy.context.scene, armature, **options)


# --- Where the tip goes ------------------------------------------------------


@pytest.mark.parametrize("offset", [(0.3, 0.1), (-0.2, 0.4), (0.0, 0.0)])
def test_tip_and_target_go_where_they_are_dragged(offset):
    armature, target = leg()
    before = evaluated_tip(armature, "shin")
    drag = hold(armature)
    drag.to(offset)
    # The leg is in the plane x = 0: the plane's axes are the world's Y and Z.
    wanted = before + Vector((0.0, *offset))
    assert (evaluated_tip(armature, "shin") - wanted).length < 1e-5 * REACH
    assert (evaluated_place(target) - wanted).length < 1e-5 * REACH
    assert drag.outcome() == "reached"


@pytest.mark.slow
def test_a_drag_shows_the_pose_that_solve_shows():
    for settings in ({}, {"bend": 'NEGATIVE'}, {"softness": 0.2}, {"influence": 0.4}):
        armature, _ = leg(**settings)
        hold(armature).to((0.25, 0.15))
        dragged = [bone.matrix_basis.copy() for bone in armature.pose.bones]
        solve(armature)
        for bone, matrix in zip(armature.pose.bones, dragged, strict=True):
            assert np.abs(np.array(bone.matrix_basis) - np.array(matrix)).max() < 1e-5, settings
        bpy.ops.object.mode_set(mode='OBJECT')
        bpy.data.objects.remove(armature)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ['AUTO', 'CCD'])
def test_twenty_bones_follow(solver):
    armature, target = tentacle(solver=solver)
    drag, reach = hold(armature), 4.0
    for step in range(10):
        drag.to((0.1 * step, -0.05 * step))
        place = evaluated_place(target)
        assert (evaluated_tip(armature, "b19") - place).length < 1e-5 * reach
    assert drag.outcome() == "reached"


def test_a_target_that_is_out_of_reach_is_told():
    armature, target = leg()
    drag = hold(armature)
    drag.to((5.0, 0.0))
    assert drag.outcome().startswith("out of reach by ")
    assert target.location.y > 4.0  # it goes with the mouse, as with Blender's own IK


def test_a_tip_that_stands_off_its_target_is_where_the_drag_begins():
    armature, target = leg_with_target()
    target.animation_data_clear()
    target.location = (0, 5.0, 1.0)
    posing(armature)
    tip = evaluated_tip(armature, "shin")
    drag = hold(armature)
    drag.to((0.0, 0.05))
    assert (evaluated_tip(armature, "shin") - tip - Vector((0, 0, 0.05))).length < 1e-5 * REACH


def test_a_target_keeps_its_height_over_the_plane():
    armature, target = leg()
    target.location.x = 0.3
    drag = hold(armature)
    drag.to((0.1, 0.1))
    assert abs(target.location.x - 0.3) < 1e-6


def test_limits_hold_while_dragged():
    armature, _ = leg()
    joint = armature.ik2d.chains[0].joints["shin"]
    joint.use_limit, joint.limit_min, joint.limit_max = True, 0.2, 0.6
    drag = hold(armature)
    for step in range(12):
        drag.to((0.1 * step, 0.1 * step))
        turn = drag.held_chain.keyed_pose.turns[1]
        assert 0.2 - 1e-6 <= turn <= 0.6 + 1e-6


def test_flip_keeps_the_tip_and_changes_the_side():
    armature, _ = leg()
    drag = hold(armature)
    drag.to((0.2, 0.2))
    tip, knee = evaluated_tip(armature, "shin"), evaluated_tip(armature, "thigh")
    drag.flip()
    assert armature.ik2d.chains[0].bend == 'NEGATIVE'
    assert (evaluated_tip(armature, "shin") - tip).length < 1e-5 * REACH
    assert (evaluated_tip(armature, "thigh") - knee).length > 0.1
    drag.flip()
    assert (evaluated_tip(armature, "thigh") - knee).length < 1e-5


def test_ccd_chains_flip_too():
    armature, _ = tentacle(8, solver='CCD')
    drag = hold(armature)
    drag.to((0.1, 0.0))
    elbow = evaluated_tip(armature, "b3")
    drag.flip()
    assert drag.outcome() == "reached"
    assert (evaluated_tip(armature, "b3") - elbow).length > 0.05


# --- What is taken hold of ---------------------------------------------------


def test_the_active_bones_chain_is_held_before_the_active_chain():
    armature, target = leg("thigh")
    add_chain(armature, "body", target, bone_count=1)
    armature.ik2d.active_index = 1
    assert chain_to_hold(armature) == armature.ik2d.chains["shin"]


def test_the_active_chain_is_held_where_the_active_bone_is_not_selected():
    armature, _ = leg("body")
    assert chain_to_hold(armature) is None
    select_bone(armature.pose.bones["body"], False)
    assert chain_to_hold(armature) == armature.ik2d.chains["shin"]
    armature.ik2d.chains["shin"].enabled = False
    assert chain_to_hold(armature) is None


def test_bones_without_a_chain_follow_from_the_pose_that_they_have():
    armature = loose_leg()
    for name, turn in (("thigh", 0.3), ("shin", -0.5)):
        armature.pose.bones[name].rotation_mode = 'QUATERNION'
        bone = armature.pose.bones[name].bone
        axis = bone.matrix_local.to_3x3().inverted() @ Vector((1, 0, 0))
        armature.pose.bones[name].rotation_quaternion = Quaternion(axis, turn)
    bpy.context.view_layer.update()
    tip, knee = evaluated_tip(armature, "shin"), evaluated_tip(armature, "thigh")
    drag = hold(armature)
    assert drag.bone_count == 2 and drag.target is None
    drag.to((0.0, 0.0))
    assert (evaluated_tip(armature, "shin") - tip).length < 1e-5 * REACH
    assert (evaluated_tip(armature, "thigh") - knee).length < 1e-4 * REACH
    drag.to((0.1, 0.2))
    assert (evaluated_tip(armature, "shin") - tip - Vector((0, 0.1, 0.2))).length < 1e-5 * REACH
    assert not armature.ik2d.chains


def test_the_number_of_bones_can_be_changed_and_those_let_go_stand_as_before():
    armature, _ = tentacle(6)
    armature.ik2d.chains.clear()
    before = everything(armature)
    drag = hold(armature)
    assert drag.bone_count == 6
    drag.to((0.2, -0.2))
    drag.take_bones(2)
    assert drag.bone_count == 2
    kept = everything(armature)
    assert kept[: 5 * 4] == before[: 5 * 4] and kept != before
    drag.take_bones(100)
    assert drag.bone_count == 6
    drag.take_bones(0)
    assert drag.bone_count == 1
    drag.put_back()
    assert everything(armature) == before


@pytest.mark.parametrize(
    "spoil",
    [
        lambda target: setattr(target, "lock_location", (True, False, False)),
        lambda target: target.constraints.new('LIMIT_LOCATION'),
        lambda target: target.driver_add("location", 0),
    ],
    ids=["locked", "constrained", "driven"],
)
def test_a_target_that_cannot_be_moved_stays_and_the_bones_are_posed(spoil):
    armature, target = leg()
    spoil(target)
    bpy.context.view_layer.update()
    before, tip = tuple(target.location), evaluated_tip(armature, "shin")
    drag = hold(armature)
    drag.to((0.2, 0.1))
    assert tuple(target.location) == before
    assert (evaluated_tip(armature, "shin") - tip - Vector((0, 0.2, 0.1))).length < 1e-5 * REACH


def test_a_chain_without_its_target_is_posed():
    armature, target = leg()
    bpy.data.objects.remove(target)
    tip = evaluated_tip(armature, "shin")
    hold(armature).to((0.2, 0.1))
    assert (evaluated_tip(armature, "shin") - tip - Vector((0, 0.2, 0.1))).length < 1e-5 * REACH


def test_a_target_with_a_turned_and_scaled_parent_follows():
    armature, target = leg()
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.location, parent.rotation_euler, parent.scale = (1, 2, 3), (0.3, 0.5, 0.7), (2, 0.5, 1)
    target.animation_data_clear()
    target.parent = parent
    bpy.context.view_layer.update()
    target.matrix_world = Matrix.Translation((0, 0.2, 0.5))
    bpy.context.view_layer.update()
    start = evaluated_place(target)
    solve(armature)
    hold(armature).to((0.1, 0.2))
    assert (evaluated_place(target) - start - Vector((0, 0.1, 0.2))).length < 1e-5 * REACH
    assert (evaluated_tip(armature, "shin") - evaluated_place(target)).length < 1e-5 * REACH


def test_a_target_that_is_a_bone_follows():
    armature = add_armature(
        {
            "body": ((0, 0, 2.0), (0, 0, 2.6), "", 0.0),
            "thigh": ((0, 0, 2.0), (0, -0.1, 1.0), "body", 0.4),
            "shin": ((0, -0.1, 1.0), (0, 0, 0.1), "thigh", -0.2),
            "root": ((0, 0, 0), (0, 0.5, 0), "", 0.3),
            "ctrl": ((0, 0.2, 0.3), (0, 0.5, 0.3), "root", 0.8),
        }
    )
    add_chain(armature, "shin", armature, subtarget="ctrl")
    armature.pose.bones["root"].rotation_mode = 'XYZ'
    armature.pose.bones["root"].rotation_euler = (0.2, 0.4, 0.1)
    posing(armature, "ctrl")
    solve(armature)
    start = evaluated_place(armature, "ctrl")
    drag = hold(armature)
    assert drag.chain == armature.ik2d.chains["shin"]
    drag.to((0.1, 0.2))
    assert (evaluated_place(armature, "ctrl") - start - Vector((0, 0.1, 0.2))).length < 1e-5
    assert (evaluated_tip(armature, "shin") - evaluated_place(armature, "ctrl")).yz.length < 1e-5 * REACH


def test_a_live_chain_is_dragged_like_any_other_and_its_bones_get_no_keys():
    armature, target = leg()
    armature.ik2d.chains[0].live = True
    bpy.context.scene.frame_set(2)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    bpy.context.preferences.edit.use_auto_keyframe_insert_needed = False
    before = everything(armature, target)
    drag = hold(armature)
    drag.to((0.1, 0.1))
    drag.flip()
    assert (evaluated_tip(armature, "shin") - evaluated_place(target)).length < 1e-5 * REACH
    drag.put_back()
    assert everything(armature, target) == before
    bpy.ops.ik2d.drag(offset=(0.2, 0.1))
    assert not animation_of(armature) and bpy.context.scene.frame_current in [
        int(key[0]) for key in animation_of(target)["location", 1]
    ]


def test_a_native_chain_is_dragged_with_its_control_put_back_and_its_bones_get_no_keys():
    armature, target = leg()
    controls = make_native(armature, armature.ik2d.chains[0]).controls
    bpy.context.scene.frame_set(2)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    bpy.context.preferences.edit.use_auto_keyframe_insert_needed = False
    before = everything(armature, target)
    drag = hold(armature)
    drag.to((0.1, 0.1))
    drag.flip()
    assert controls["bend"] == -1.0
    assert (evaluated_tip(armature, "shin") - evaluated_place(target)).length < 1e-5 * REACH
    drag.put_back()
    assert everything(armature, target) == before and controls["bend"] == 1.0
    bpy.ops.ik2d.drag(offset=(0.2, 0.1))
    assert not animation_of(armature) and ("location", 1) in animation_of(target)


# --- Putting back, keying ----------------------------------------------------


@pytest.mark.slow
def test_put_back_restores_every_bit():
    for solver in ('AUTO', 'EVEN', 'CCD'):
        armature, target = tentacle(5, solver=solver)
        for i, bone in enumerate(armature.pose.bones):
            bone.rotation_mode = ('QUATERNION', 'XYZ', 'AXIS_ANGLE', 'ZYX', 'QUATERNION')[i]
        target.location = (0.1, 1 / 3, 0.7)
        bpy.context.view_layer.update()
        before = everything(armature, target)
        drag = hold(armature)
        for offset in ((0.3, 0.1), (0.1, 0.7), (9.0, 9.0)):
            drag.to(offset)
            drag.flip()
        assert everything(armature, target) != before
        drag.put_back()
        assert everything(armature, target) == before
        bpy.ops.object.mode_set(mode='OBJECT')
        bpy.data.objects.remove(armature)


@pytest.mark.slow
def test_bones_that_slide_or_stretch_follow_and_are_put_back():
    for slides in (True, False):
        armature, target = leg()
        bpy.ops.object.mode_set(mode='EDIT')
        armature.data.edit_bones["shin"].use_connect = False
        bpy.ops.object.mode_set(mode='POSE')
        chain = armature.ik2d.chains[0]
        if slides:
            joint = chain.joints["shin"]
            joint.use_slide, joint.slide_min, joint.slide_max = True, -0.2, 0.8
        else:
            chain.stretch, chain.stretch_bones = 2.0, 'LAST'
        before = everything(armature, target) + [settings_of(joint) for joint in chain.joints]
        drag = hold(armature)
        drag.to((0.1, 0.1))
        drag.to((0.0, -0.9))
        assert drag.outcome() == "reached"
        assert (evaluated_tip(armature, "shin") - evaluated_place(target)).length < 1e-5 * REACH
        assert everything(armature, target) != before
        drag.put_back()
        assert everything(armature, target) + [settings_of(joint) for joint in chain.joints] == before
        bpy.ops.object.mode_set(mode='OBJECT')
        bpy.data.objects.remove(armature)


def key_everything() -> None:
    """Have Auto Keying key all that moves: in Blender 5.2 it keys what has keys, unless told so."""
    edit = bpy.context.preferences.edit
    edit.use_auto_keyframe_insert_needed = edit.use_keyframe_insert_available = False


def test_auto_keying_keys_the_target_and_the_bones_that_follow_it():
    armature, target = leg()
    scene = bpy.context.scene
    scene.tool_settings.use_keyframe_insert_auto = True
    key_everything()
    scene.frame_set(7)
    assert bpy.ops.ik2d.drag(offset=(0.1, 0.1)) == {'FINISHED'}
    place = evaluated_place(target)
    keys = [[key[0] for key in animation_of(target)["location", i]] for i in range(3)]
    assert [frames.count(7.0) for frames in keys] == [1, 1, 1]
    bones = animation_of(armature)
    assert bones and all(key[-1] == 'GENERATED' for curve in bones.values() for key in curve)
    scene.frame_set(20)
    scene.frame_set(7)
    assert (evaluated_place(target) - place).length < 1e-6
    assert (evaluated_tip(armature, "shin") - place).length < 1e-5 * REACH


def test_without_auto_keying_there_are_no_keys():
    armature, target = leg()
    before = animation_of(target)
    bpy.ops.ik2d.drag(offset=(0.1, 0.1))
    assert not animation_of(armature) and animation_of(target) == before


def test_bones_without_a_target_get_keys_of_the_kind_that_is_set():
    armature = loose_leg()
    key_everything()
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    bpy.context.scene.tool_settings.keyframe_type = 'BREAKDOWN'
    bpy.ops.ik2d.drag(offset=(0.1, 0.1))
    kinds = {key[-1] for curve in animation_of(armature).values() for key in curve}
    assert kinds == {'BREAKDOWN'}


# --- The operator ------------------------------------------------------------


def test_the_operator_does_what_its_function_does():
    armature, _ = leg()
    tip = evaluated_tip(armature, "shin")
    assert bpy.ops.ik2d.drag(offset=(0.2, 0.1), flipped=True) == {'FINISHED'}
    assert (evaluated_tip(armature, "shin") - tip - Vector((0, 0.2, 0.1))).length < 1e-5 * REACH
    assert armature.ik2d.chains[0].bend == 'NEGATIVE'


def test_a_drag_after_a_bake_leaves_the_keys():
    armature, _ = leg()
    bake(armature, frame_start=1, frame_end=5)
    before = animation_of(armature)
    bpy.ops.ik2d.drag(offset=(0.2, 0.1))
    assert animation_of(armature) == before


def refused(armature, words):
    """The operator is greyed out, and says why."""
    assert not bpy.ops.ik2d.drag.poll()
    assert words in why_not_drag(bpy.context)
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.ik2d.drag()


def test_outside_pose_mode_it_is_refused():
    armature, _ = leg()
    bpy.ops.object.mode_set(mode='OBJECT')
    refused(armature, "Pose Mode")
    bpy.context.view_layer.objects.active = None
    refused(armature, "Make an armature the active object")


@pytest.mark.slow
def test_a_linked_rig_is_refused(tmp_path):
    path = str(tmp_path / "rig.blend")
    armature, _ = leg()
    bpy.ops.object.mode_set(mode='OBJECT')
    bpy.data.libraries.write(path, {armature})
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Rig"]
    (linked,) = wanted.objects
    bpy.context.scene.collection.objects.link(linked)
    bpy.context.view_layer.objects.active = linked
    refused(linked, "linked from another file; make a library override")


def test_a_hidden_bone_is_refused():
    armature, _ = leg()
    bone = armature.pose.bones["shin"]
    if hasattr(bone, "hide"):
        bone.hide = True
    else:
        bone.bone.hide = True
    refused(armature, "hidden")


def test_a_bone_of_a_hidden_collection_is_refused():
    armature, _ = leg()
    collection = armature.data.collections.new("Legs")
    collection.assign(armature.data.bones["shin"])
    collection.is_visible = False
    refused(armature, "hidden")


def test_the_rest_position_is_refused():
    armature, _ = leg()
    armature.data.pose_position = 'REST'
    refused(armature, "rest position")


def test_no_bone_and_no_chain_is_refused():
    armature = loose_leg()
    armature.data.bones.active = None
    refused(armature, "Select the bone")


def test_a_chain_that_is_not_there_is_refused():
    armature, _ = leg()
    with pytest.raises(IK2DError, match="no chain 'tail'"):
        hold(armature, chain_name="tail")


def test_a_faulty_chain_is_refused_with_its_sentence():
    armature, _ = leg()
    armature.ik2d.chains[0].bone_count = 9
    before = everything(armature)
    with pytest.raises(RuntimeError, match="asks for 9 bones"):
        bpy.ops.ik2d.drag(chain="shin")
    assert everything(armature) == before


def test_an_armature_that_hangs_on_its_own_target_is_followed():
    armature, target = leg()
    armature.parent = target
    armature.matrix_parent_inverse = target.matrix_world.inverted()
    bpy.context.view_layer.update()
    drag = Drag(bpy.context.scene, armature, armature.ik2d.chains[0])
    drag.to((0.1, 0.1))
    # It goes along as a whole, and the tip stays on the target.
    assert (evaluated_tip(armature, "shin") - evaluated_place(target)).length < 1e-5 * REACH


def test_bones_that_are_no_chain_are_dragged_where_another_chains_settings_have_keys():
    armature, _target = leg_with_target()
    armature.ik2d.chains[0].keyframe_insert("turn_over", frame=1)
    posing(armature)
    drag = take_hold(bpy.context.scene, armature, tip="shin", bone_count=2)
    before = evaluated_tip(armature, "shin")
    drag.to((0.1, 0.1))
    assert drag.outcome() == "reached"
    assert abs((evaluated_tip(armature, "shin") - before).length - 0.02**0.5) < 1e-5
