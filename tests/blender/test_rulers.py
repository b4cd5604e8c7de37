# SPDX-License-Identifier: GPL-3.0-or-later
"""Constraints that rule a chain's bones in place of its keys: found, named, and muted where one bakes."""

import bpy
import pytest
from rigs import (
    add_armature,
    add_chain,
    add_leg,
    add_target,
    animation_of,
    calls_of,
    evaluated_tip,
    leg_with_target,
)

from ik2d_addon.bake import BakeOptions, bake
from ik2d_addon.core import IK2DError
from ik2d_addon.features.doctor.fixes import mend
from ik2d_addon.features.doctor.muting import mute_on_frames
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.scene.bone_constraints import other_controls, sentences

FIRST, LAST = 11, 20
PLACES = {1: (0, 0.2, 0.3), 15: (0, -0.9, 0.8), 40: (0, 0.8, 0.6)}


def leg_with_foot():
    """Return a leg whose foot stands below the chain of thigh and shin, and the foot."""
    armature = add_armature(
        {
            "body": ((0, 0, 2.0), (0, 0, 2.6), "", 0.0),
            "thigh": ((0, 0, 2.0), (0, -0.1, 1.0), "body", 0.0),
            "shin": ((0, -0.1, 1.0), (0, 0, 0.1), "thigh", 0.0),
            "foot": ((0, 0, 0.1), (0, -0.3, 0.0), "shin", 0.0),
        }
    )
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 40
    return armature, add_chain(armature, "shin", add_target(PLACES))


def add_ik(armature, bone, count, tail=True, name="IK"):
    """Give a bone an IK constraint of so many bones."""
    constraint = armature.pose.bones[bone].constraints.new('IK')
    constraint.name, constraint.chain_count, constraint.use_tail = name, count, tail
    constraint.target = add_target({1: (0, 0.6, 0.4)}, f"{name} target")
    return constraint


def other_controls_of(armature, chain=None, first=FIRST, last=LAST):
    """Return what rules the (only) chain over some frames."""
    bpy.context.view_layer.update()
    return other_controls(read_chain(armature, chain or armature.ik2d.chains[0]), first, last)


def errors(armature, chain, frames):
    """Return how far the evaluated tip is from the target on each of the frames."""
    found = {}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found[frame] = (evaluated_tip(armature, chain.tip) - chain.target.matrix_world.translation).length
    return found


# --- Found: exactly what Blender lets act -----------------------------------------------------------


@pytest.mark.parametrize(
    "count, tail, other_controls",
    [
        (0, True, ("thigh", "shin")),
        (1, True, ()),
        (1, False, ("shin",)),
        (2, True, ("shin",)),
        (2, False, ("thigh", "shin")),
        (3, True, ("thigh", "shin")),
        (9, True, ("thigh", "shin")),
    ],
)
def test_ik_below_the_chain_rules_the_bones_that_its_length_reaches(count, tail, other_controls):
    """And those are the bones that Blender turns: measured on the evaluated pose."""
    armature, _chain = leg_with_foot()
    constraint = add_ik(armature, "foot", count, tail)
    assert [ruler.bones for ruler in other_controls_of(armature)] == (
        [other_controls] if other_controls else []
    )
    turned = []
    for name in ("thigh", "shin"):
        turns = []
        for constraint.mute in (True, False):
            bpy.context.view_layer.update()
            pose = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[name]
            above = pose.parent.matrix.inverted() @ pose.matrix
            turns.append(above.to_quaternion())
        if turns[0].rotation_difference(turns[1]).angle > 1e-3:
            turned.append(name)
    assert tuple(turned) == other_controls


def test_the_warning_names_constraint_and_bone_in_one_line_before_and_after_the_bake():
    armature, chain = leg_with_foot()
    add_ik(armature, "foot", 0)
    wanted = (
        "Chain 'shin': bones 'thigh' and 'shin' are moved by the IK constraint 'IK' of bone 'foot' below it;"
        " mute it for these frames, or disable it"
    )
    assert sentences("shin", other_controls_of(armature)) == [wanted]
    report = bake(armature, frame_start=FIRST, frame_end=LAST, options=BakeOptions(verify='ALL'))
    assert [w for w in report.warnings if "moved by" in w] == [wanted]
    assert report.chains[0].max_error > 0.1  # it does rule them
    assert not [w for w in report.warnings if "look for constraints" in w]


def test_a_spline_below_the_chain_rules_it_too():
    armature, _chain = leg_with_foot()
    curve = bpy.data.objects.new("Curve", bpy.data.curves.new("Curve", 'CURVE'))
    bpy.context.scene.collection.objects.link(curve)
    spline = curve.data.splines.new('POLY')
    spline.points.add(2)
    constraint = armature.pose.bones["foot"].constraints.new('SPLINE_IK')
    constraint.target, constraint.chain_count = curve, 2
    assert [(ruler.kind, ruler.bones) for ruler in other_controls_of(armature)] == [('SPLINE_IK', ("shin",))]


def own(armature, kind, bone="shin", **settings):
    """Give a bone of the chain a constraint of its own."""
    constraint = armature.pose.bones[bone].constraints.new(kind)
    for key, value in settings.items():
        setattr(constraint, key, value)
    return constraint


LOCAL = {"owner_space": 'LOCAL'}
QUIET = {
    "IK without a target": ('IK', {}),
    "Copy Rotation without a target": ('COPY_ROTATION', {}),
    "Limit Scale": ('LIMIT_SCALE', {"use_max_x": True, "max_x": 0.5}),
    "muted": ('LIMIT_ROTATION', {"use_limit_x": True, "mute": True}),
    "no influence": ('LIMIT_ROTATION', {"use_limit_x": True, "influence": 0.0}),
    "limits nothing": ('LIMIT_ROTATION', {}),
    "limits other axes": ('LIMIT_ROTATION', {"use_limit_y": True, "use_limit_z": True, **LOCAL}),
    "limits no place": ('LIMIT_LOCATION', {}),
    "place is within": ('LIMIT_LOCATION', {"use_min_x": True, "use_max_x": True, **LOCAL}),
    "no action": ('ACTION', {}),
    "no targets": ('ARMATURE', {}),
}


@pytest.mark.parametrize("case", QUIET)
def test_not_a_word_on_what_cannot_act(case):
    """Neither word nor deed: the bake plays back as promised."""
    armature, chain = leg_with_foot()
    kind, settings = QUIET[case]
    own(armature, kind, **settings)
    assert other_controls_of(armature) == []
    assert not bake(armature, frame_start=FIRST, frame_end=LAST).warnings
    assert max(errors(armature, chain, range(FIRST, LAST + 1)).values()) < 2e-5


ACTING = {
    "Copy Rotation": ('COPY_ROTATION', {"target": True}),
    "limits the axis": ('LIMIT_ROTATION', {"use_limit_x": True, "max_x": 0.05, **LOCAL}),
    "limits in the world": ('LIMIT_ROTATION', {"use_limit_y": True}),
    "limits place": ('LIMIT_LOCATION', {"use_max_z": True, "max_z": 0.5}),
    "place is without": ('LIMIT_LOCATION', {"use_min_x": True, "min_x": 0.1, **LOCAL}),
    "Damped Track": ('DAMPED_TRACK', {"target": True}),
}


@pytest.mark.parametrize("case", ACTING)
def test_what_acts_is_named(case):
    armature, _chain = leg_with_foot()
    kind, settings = ACTING[case]
    if "target" in settings:
        settings = {**settings, "target": add_target({1: (0.3, 0.4, 0.5)}, "Other")}
    constraint = own(armature, kind, **settings)
    (line,) = sentences("shin", other_controls_of(armature))
    assert f"bone 'shin' is moved by its own constraint '{constraint.name}'" in line


def test_a_limit_that_the_joint_keeps_itself_is_not_mentioned():
    armature, chain = leg_with_foot()
    own(armature, 'LIMIT_ROTATION', use_limit_x=True, min_x=-2.0, max_x=2.0, **LOCAL)
    assert other_controls_of(armature)
    joint = chain.joints["shin"]
    joint.use_limit, joint.limit_min, joint.limit_max = True, -1.0, 1.0
    assert not other_controls_of(armature)


def test_many_bones_with_the_same_constraint_are_one_line():
    bones = {
        f"b{i}": ((0, 0.1 * (i % 2), i), (0, 0.1 * (1 - i % 2), i + 1), f"b{i - 1}" if i else "", 0.0)
        for i in range(12)
    }
    armature = add_armature(bones)
    add_chain(armature, "b11", add_target({1: (0, 3, 5)}), bone_count=0)
    other = add_target({1: (1, 2, 3)}, "Other")
    for name in list(bones)[:9]:
        own(armature, 'COPY_ROTATION', name, target=other)
    lines = sentences("b11", other_controls_of(armature))
    assert lines == [
        "Chain 'b11': bones 'b0', 'b1', 'b2' and 6 more are moved by Copy Rotation constraints of their own;"
        " mute them for these frames, or disable them"
    ]


# --- Influence over the frames ----------------------------------------------------------------------


def test_influence_that_is_keyed_counts_where_it_acts():
    armature, _chain = leg_with_foot()
    constraint = add_ik(armature, "foot", 0)
    for frame, influence in ((30, 0.0), (40, 1.0)):
        constraint.influence = influence
        constraint.keyframe_insert("influence", frame=frame)
    bpy.context.scene.frame_set(1)
    assert constraint.influence == 0.0
    assert other_controls_of(armature, first=1, last=30) == []
    assert len(other_controls_of(armature, first=1, last=35)) == 1
    assert len(other_controls_of(armature, first=36, last=50)) == 1


def test_influence_that_is_driven_counts_and_the_driver_is_named_as_the_way_out():
    armature, _chain = leg_with_foot()
    constraint = add_ik(armature, "foot", 0)
    constraint.influence = 0.0
    constraint.driver_add("influence").driver.expression = "frame > 15"
    rulers = other_controls_of(armature)
    assert [ruler.driven for ruler in rulers] == [True]
    assert "its influence is driven" in sentences("shin", rulers)[0]
    muted, driven = mute_on_frames(armature, rulers, bpy.context.scene, FIRST, LAST)
    assert (muted, driven) == ([], rulers)
    assert animation_of(armature) == {}


# --- Muted for these frames -------------------------------------------------------------------------


def mute(armature, first=FIRST, last=LAST):
    return mute_on_frames(
        armature, other_controls_of(armature, first=first, last=last), bpy.context.scene, first, last
    )


@pytest.mark.parametrize("keyed", [None, "before", "across"])
def test_muted_for_a_part_the_bake_reaches_there_and_all_else_plays_as_before(keyed):
    armature, chain = leg_with_foot()
    constraint = add_ik(armature, "foot", 0)
    keys = {"before": {2: 1.0, 8: 0.25}, "across": {5: 1.0, 14: 0.5, 30: 0.75}}.get(keyed, {})
    for frame, influence in keys.items():
        constraint.influence = influence
        constraint.keyframe_insert("influence", frame=frame)
    outside = [*range(1, FIRST), *range(LAST + 1, 41)]
    before = influences(armature, constraint, outside)
    muted, driven = mute(armature)
    assert (len(muted), driven) == (1, [])
    assert other_controls_of(armature) == []
    assert not constraint.mute
    after = influences(armature, constraint, outside)
    assert max(abs(before[frame] - after[frame]) for frame in outside) < 1e-5
    report = bake(armature, frame_start=FIRST, frame_end=LAST, options=BakeOptions(verify='ALL'))
    assert report.all_reached and not report.warnings
    assert max(errors(armature, chain, range(FIRST, LAST + 1)).values()) < 2e-5
    assert len(other_controls_of(armature, first=1, last=40)) == 1


def influences(armature, constraint, frames):
    """Return the evaluated influence of a constraint on each of the frames."""
    found = {}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found[frame] = constraint.influence
    return found


def test_muted_for_the_whole_scene_it_is_simply_muted():
    armature, chain = leg_with_foot()
    constraint = add_ik(armature, "foot", 0)
    mute(armature, 1, 40)
    assert constraint.mute and animation_of(armature) == {}
    report = bake(armature, frame_start=1, frame_end=40, options=BakeOptions(verify='ALL'))
    assert report.all_reached and not report.warnings
    assert max(errors(armature, chain, range(1, 41)).values()) < 2e-5


def test_muting_twice_changes_nothing_more():
    armature, _chain = leg_with_foot()
    add_ik(armature, "foot", 0)
    mute(armature)
    keys = animation_of(armature)
    assert mute(armature) == ([], [])
    assert animation_of(armature) == keys


def test_a_locked_influence_is_refused_with_nothing_changed():
    armature, _chain = leg_with_foot()
    constraint = add_ik(armature, "foot", 0)
    add_ik(armature, "foot", 0, name="Second")
    constraint.keyframe_insert("influence", frame=1)
    existing_fcurves(armature)[0].lock = True
    keys = animation_of(armature)
    with pytest.raises(IK2DError, match="locked; unlock it"):
        mute(armature)
    assert animation_of(armature) == keys


def test_one_click_mutes_them_and_one_undo_brings_them_back():
    armature, _chain = leg_with_foot()
    add_ik(armature, "foot", 0)
    settings = armature.ik2d
    settings.use_custom_range, settings.frame_start, settings.frame_end = True, FIRST, LAST
    bpy.context.view_layer.objects.active = armature
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.ik2d.mend('EXEC_DEFAULT', True, way='MUTE_CONSTRAINTS') == {'FINISHED'}
    assert other_controls_of(armature) == [] and animation_of(armature)
    bpy.ops.ed.undo()
    armature = bpy.data.objects["Rig"]
    assert len(other_controls_of(armature)) == 1 and animation_of(armature) == {}


def test_a_click_that_can_do_nothing_says_why():
    armature, _chain = leg_with_foot()
    bpy.context.view_layer.objects.active = armature
    bpy.context.view_layer.update()
    with pytest.raises(RuntimeError, match="no constraint overrides its bones on these frames"):
        bpy.ops.ik2d.mend(way='MUTE_CONSTRAINTS')
    add_ik(armature, "foot", 0).driver_add("influence").driver.expression = "frame > 15"
    bpy.context.scene.frame_end = 100  # the leg bakes a part
    armature.ik2d.use_custom_range, armature.ik2d.frame_end = True, LAST
    bpy.context.view_layer.update()
    with pytest.raises(RuntimeError, match="influence of 'IK' of bone 'foot' is driven"):
        bpy.ops.ik2d.mend(way='MUTE_CONSTRAINTS')
    add_ik(armature, "foot", 0, name="Other")
    bpy.context.view_layer.update()
    words = mend('MUTE_CONSTRAINTS', armature, armature.ik2d.chains[0])
    assert words.startswith(
        "Muted 1 constraint from frame 1 to 20. The influence of 'IK' of bone 'foot' is driven"
    )


# --- No noise, and no waiting -----------------------------------------------------------------------


def test_a_mesh_that_plays_the_same_action_gets_no_word():
    armature, _target = leg_with_target()
    bake(armature, frame_start=1, frame_end=3)
    mesh = bpy.data.objects.new("Skin", bpy.data.meshes.new("Skin"))
    bpy.context.scene.collection.objects.link(mesh)
    animation = mesh.animation_data_create()
    animation.action = armature.animation_data.action
    if hasattr(animation, "action_slot"):
        animation.action_slot = armature.animation_data.action_slot
    assert not bake(armature, frame_start=1, frame_end=3).warnings


def test_seven_hundred_bones_are_looked_through_in_a_few_calls_each():
    """With all of them below the chain and two constraints on each."""
    bones = {
        bone.name: (bone.head_local, bone.tail_local, bone.parent.name if bone.parent else "", 0.0)
        for bone in add_leg("Leg").data.bones
    }
    above = ["thigh", *(f"b{i}" for i in range(689))]
    for i in range(690):
        bones[f"b{i}"] = ((i % 30, 0, i // 30), (i % 30, 0.1, i // 30 + 0.5), above[i // 3], 0.0)
    armature = add_armature(bones)
    chain = add_chain(armature, "shin", add_target(PLACES))
    other = add_target({1: (0, 0, 0)}, "Other")
    for i in range(690):
        for _ in range(2):
            own(armature, 'COPY_ROTATION', f"b{i}", target=other)
    add_ik(armature, "b5", 0)
    bpy.context.view_layer.update()
    reads = sum(1 + len(bone.constraints) for bone in armature.pose.bones)  # as often as any look must ask
    found = []
    assert calls_of(lambda: found.extend(other_controls(read_chain(armature, chain), 1, 40))) < 8 * reads
    assert len(found) == 1
