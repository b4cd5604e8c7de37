# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain starts where constraints on its first bone, or on those above, put that bone in Blender."""

import bpy
import numpy as np
import pytest
from mathutils import Euler
from rigs import add_armature, add_chain, add_leg, add_target, errors_on, evaluated_place, evaluated_tip

from ik2d_addon.bake import bake, solve
from ik2d_addon.chains import make_native, target_to_tip
from ik2d_addon.core import IK2DError
from ik2d_addon.features.doctor.findings import findings
from ik2d_addon.features.drag.drag import take_hold
from ik2d_addon.features.overlay.chain_view import view_chain
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.scene.bone_constraints import other_controls
from ik2d_addon.rig.scene.carried import carried_now

REACH = 1.91
NEAR = 1e-5 * REACH
FRAMES = range(1, 21)


def carrier(turns=True):
    """Return an empty that moves in the plane of the leg, and turns in it."""
    empty = add_target({1: (0, 0.1, 2.1), 10: (0, -0.4, 2.3), 20: (0, 0.3, 1.7)}, "Carrier")
    for frame, angle in ((1, 0.1), (10, -0.5), (20, 0.7)) if turns else ():
        empty.rotation_euler = Euler((angle, 0, 0))
        empty.keyframe_insert("rotation_euler", frame=frame)
    return empty


def other_rig():
    """Return an armature whose bone is carried about."""
    rig = add_armature({"goal": ((0, 0, 1.6), (0, 0, 2.2), "", 0.0)}, "Goals")
    copied = rig.pose.bones["goal"].constraints.new('COPY_TRANSFORMS')
    copied.target = carrier()
    return rig


def curve():
    """Return a curve in the leg's plane that is followed by frame."""
    data = bpy.data.curves.new("Path", 'CURVE')
    data.dimensions, data.twist_mode, data.path_duration = '3D', 'Z_UP', 20
    spline = data.splines.new('NURBS')
    spline.points.add(4)
    for point, place in zip(
        spline.points, ((0, 0.4), (-0.2, 0.5), (0.2, 0.2), (0.4, 0.4), (0.1, 0)), strict=True
    ):
        point.co = (0, *place, 1)
    ob = bpy.data.objects.new("Path", data)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def constrain(armature, kind, bone="thigh", **settings):
    """Give a bone a constraint; return it."""
    constraint = armature.pose.bones[bone].constraints.new(kind)
    if kind == 'ARMATURE':
        target = constraint.targets.new()
        target.target, target.subtarget = other_rig(), "goal"
    elif hasattr(constraint, "target"):
        constraint.target = curve() if kind in ('FOLLOW_PATH', 'CLAMP_TO') else carrier()
    for name, value in settings.items():
        setattr(constraint, name, value)
    return constraint


def key_influence(constraint):
    for frame, value in ((1, 0.0), (8, 1.0), (20, 0.3)):
        constraint.influence = value
        constraint.keyframe_insert("influence", frame=frame)


NO_TURN = {f"use_rotation_{axis}": False for axis in "xyz"}
CASES = {
    "Copy Location": ('COPY_LOCATION', {}),
    "its offset": ('COPY_LOCATION', {"use_offset": True, "influence": 0.2}),
    "one axis": ('COPY_LOCATION', {"use_x": False, "use_z": False, "invert_y": True}),
    "half": ('COPY_LOCATION', {"influence": 0.5}),
    "in local space": (
        'COPY_LOCATION',
        {"target_space": 'LOCAL', "owner_space": 'LOCAL', "influence": 0.2},
    ),
    "Limit Location": ('LIMIT_LOCATION', {"use_max_z": True, "max_z": 1.8}),
    "Limit Distance": ('LIMIT_DISTANCE', {"distance": 0.2}),
    "Transformation": (
        'TRANSFORM',
        {"map_to": 'LOCATION', "from_max_y": 1.0, "from_min_y": -1.0, "to_max_z": 0.4, "to_min_z": -0.4},
    ),
    "Floor": ('FLOOR', {"offset": 0.1, "use_rotation": True}),
    "Clamp To": ('CLAMP_TO', {}),
    "Follow Path": ('FOLLOW_PATH', {"use_curve_follow": True, "forward_axis": 'FORWARD_Y'}),
    "Child Of": ('CHILD_OF', {"influence": 1.0}),
    "its place alone": ('CHILD_OF', NO_TURN),
    "half a Child Of": ('CHILD_OF', {"influence": 0.5}),
    "Armature": ('ARMATURE', {}),
}


def carried_leg(case, bone="thigh", **chain):
    """Return an active leg with a constraint on a bone, a chain to a target in reach, and the constraint."""
    armature = add_leg()
    kind, settings = CASES[case]
    constraint = constrain(armature, kind, bone, **settings)
    bpy.context.view_layer.update()
    if kind == 'CHILD_OF':
        constraint.inverse_matrix = constraint.target.matrix_world.inverted()
    target = add_target({}, "Target")
    chain = add_chain(armature, "shin", target, **chain)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES[0], FRAMES[-1]
    for frame in FRAMES:  # within reach of where Blender has the root
        bpy.context.scene.frame_set(frame)
        head = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["thigh"].head
        target.location = head.x, head.y + 0.5 * np.sin(frame / 3), head.z - 1.4 + 0.02 * frame
        target.keyframe_insert("location", frame=frame)
    armature.data.bones.active = armature.data.bones["shin"]
    bpy.context.view_layer.objects.active = armature
    return armature, chain, constraint


@pytest.mark.parametrize("case", CASES)
def test_a_constraint_carries_a_bone_the_same_however_it_turns(case):
    armature, _, _ = carried_leg(case)
    bpy.context.scene.frame_set(12)
    bone, found = armature.pose.bones["thigh"], []
    for turn in ((1, 0, 0, 0), (0.5, -0.5, 0.5, 0.5), (0.2, 0.9, 0.3, -0.1)):
        bone.rotation_quaternion = turn
        bpy.context.view_layer.update()
        found.append(carried_now(bone)[0])
    assert np.abs(found - found[0]).max() < NEAR
    assert np.abs(found[0] - np.eye(4)).max() > 0.01


def near_targets(armature, chain, frames=FRAMES):
    return errors_on(frames, armature, chain).max() < NEAR


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("bone", ["thigh", "body"])
def test_a_bake_starts_where_the_first_bone_is_carried_to(case, bone):
    armature, chain, _ = carried_leg(case, bone)
    report = bake(armature, frame_start=FRAMES[0], frame_end=FRAMES[-1])
    assert report.chains[0].reached and not [line for line in report.warnings if "moved by" in line]
    assert near_targets(armature, chain)


@pytest.mark.parametrize("case", CASES)
def test_a_solve_of_one_frame_starts_there_too(case):
    armature, chain, _ = carried_leg(case)
    for frame in (1, 7, 20):
        bpy.context.scene.frame_set(frame)
        assert solve(armature).all_reached
        assert (evaluated_tip(armature, "shin") - evaluated_place(chain.target)).length < NEAR


@pytest.mark.slow
@pytest.mark.parametrize("inherits", ['rotation', 'scale', 'location'])
@pytest.mark.parametrize("case", ["Copy Location", "Child Of", "Armature"])
def test_bones_that_inherit_not_all_are_carried_as_blender_does(case, inherits):
    armature, chain, _ = carried_leg(case)
    for bone in armature.data.bones[1:]:
        if inherits == 'rotation':
            bone.use_inherit_rotation = False
        elif inherits == 'scale':
            bone.inherit_scale = 'NONE'
        else:
            bone.use_local_location = False
    bake(armature, frame_start=FRAMES[0], frame_end=FRAMES[-1])
    assert near_targets(armature, chain)


@pytest.mark.parametrize("case", ["Copy Location", "Child Of"])
def test_its_influence_may_be_animated(case):
    armature, chain, constraint = carried_leg(case)
    key_influence(constraint)
    bake(armature, frame_start=8, frame_end=14)
    assert near_targets(armature, chain, range(8, 15))


def test_several_constraints_act_in_their_order():
    armature, chain, _ = carried_leg("Child Of")
    constrain(armature, 'LIMIT_LOCATION', use_max_y=True, max_y=0.1)
    bake(armature, frame_start=FRAMES[0], frame_end=FRAMES[-1])
    assert near_targets(armature, chain)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["Copy Location", "Child Of"])
@pytest.mark.parametrize("solver", ['EVEN', 'CCD'])
def test_other_solvers_and_stretching_bones_start_there(case, solver):
    armature, chain, _ = carried_leg(case, solver=solver, stretch=2.0)
    armature.data.bones["shin"].inherit_scale = 'NONE'
    bake(armature, frame_start=FRAMES[0], frame_end=FRAMES[-1])
    assert near_targets(armature, chain)


@pytest.mark.parametrize("case", ["Copy Location", "Child Of"])
def test_a_drag_starts_there(case):
    armature, chain, _ = carried_leg(case)
    bpy.context.scene.frame_set(10)
    chain.target.animation_data_clear()
    solve(armature)
    bpy.ops.object.mode_set(mode='POSE')
    drag = take_hold(bpy.context.scene, armature)
    drag.to((0.1, 0.1))
    assert drag.outcome() == "reached" and drag.held_chain.rig.warnings == ()
    assert (evaluated_tip(armature, "shin") - evaluated_place(chain.target)).length < NEAR


@pytest.mark.slow
def test_a_target_is_matched_to_the_tip_there():
    armature, chain, _ = carried_leg("Child Of")
    target_to_tip(armature, frame_start=FRAMES[0], frame_end=FRAMES[-1])
    assert near_targets(armature, chain)
    bake(armature, frame_start=FRAMES[0], frame_end=FRAMES[-1])
    assert near_targets(armature, chain)


def faults_of(armature, chain):
    rig = read_chain(armature, chain)
    return [found.kind for found in findings(armature, chain, rig, FRAMES[0], FRAMES[-1])]


@pytest.mark.parametrize("case", CASES)
def test_what_is_followed_is_no_fault(case):
    armature, chain, _ = carried_leg(case)
    assert other_controls(read_chain(armature, chain), FRAMES[0], FRAMES[-1]) == []
    assert 'OTHER_CONTROLS' not in faults_of(armature, chain)


def test_what_carries_a_chain_keeps_it_from_being_native():
    armature, chain, _ = carried_leg("Copy Location")
    with pytest.raises(IK2DError, match="moved by its own constraint 'Copy Location'"):
        make_native(armature, chain)


@pytest.mark.parametrize("kind", ['COPY_ROTATION', 'DAMPED_TRACK'])
def test_with_a_constraint_that_turns_the_bone_all_are_named(kind):
    armature, _chain, _ = carried_leg("Copy Location")
    constrain(armature, kind)
    report = bake(armature, frame_start=FRAMES[0], frame_end=FRAMES[-1])
    assert len([line for line in report.warnings if "moved by" in line]) == 2


def test_a_carrier_may_turn_the_chain_out_of_its_plane():
    armature, chain, constraint = carried_leg("Child Of")
    held, carrying = chain.target, constraint.target
    carrying.animation_data_clear()
    for frame, turn in ((1, (0.3, 0.2, 1.0)), (20, (-0.5, 1.4, 0.1))):
        carrying.location, carrying.rotation_euler, carrying.scale = turn[::-1], turn, (1.5, 1.5, 1.5)
        for name in ("location", "rotation_euler", "scale"):
            carrying.keyframe_insert(name, frame=frame)
    held.animation_data_clear()
    held.parent, held.location = carrying, (0, -0.3, -1.2)
    constraint.inverse_matrix.identity()
    armature.pose.bones["thigh"].location = -armature.data.bones["thigh"].head_local
    armature.location, armature.rotation_euler = (1, 2, 3), (0.3, 0.2, 0.1)
    constraint.inverse_matrix[2][3] = -2.0
    report = bake(armature, frame_start=FRAMES[0], frame_end=FRAMES[-1])
    off = errors_on(FRAMES, armature, chain)
    assert np.allclose(off[[0, -1]], report.chains[0].distance[[0, -1]], atol=1.5 * NEAR)
    assert not [line for line in report.warnings if "mute" in line or "look for" in line]


@pytest.mark.slow
def test_a_chain_may_be_carried_by_the_tip_of_another():
    armature, chain, constraint = carried_leg("Child Of")
    other = add_armature(
        {"a": ((0, 0.5, 2.0), (0, 0, 2.6), "", 0.1), "b": ((0, 0, 2.6), (0, 0.5, 3.2), "a", 0.2)}, "Other"
    )
    for ob in (other, armature):
        ob.select_set(True)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.join()
    place = {1: (0, 0.4, 3.1), 20: (0, 0.1, 3.3)}
    second = add_chain(armature, "b", add_target(place, "Second"))
    constraint.target, constraint.subtarget = armature, "b"
    bpy.context.scene.frame_set(1)
    solve(armature, [second.name])
    bpy.context.view_layer.update()
    constraint.inverse_matrix = (armature.matrix_world @ armature.pose.bones["b"].matrix).inverted()
    chain.target.animation_data_clear()
    chain.target.location = (0, 0.1, 0.6)
    bake(armature, frame_start=FRAMES[0], frame_end=FRAMES[-1])
    assert near_targets(armature, second) and near_targets(armature, armature.ik2d.chains[0])


def test_a_carrier_that_was_moved_and_not_keyed_counts_for_a_solve():
    armature, chain, constraint = carried_leg("Copy Location")
    constraint.target.animation_data_clear()
    chain.target.animation_data_clear()
    constraint.target.location, chain.target.location = (0, 0.3, 1.9), (0, 0.1, 0.5)
    solve(armature)
    assert (evaluated_tip(armature, "shin") - evaluated_place(chain.target)).length < NEAR
    bake(armature, frame_start=1, frame_end=5)
    assert near_targets(armature, chain, range(1, 6))


@pytest.mark.slow
def test_a_foot_keeps_its_rotation_where_the_chain_is_carried():
    armature, chain, _ = carried_leg("Child Of")
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    foot = armature.data.edit_bones.new("foot")
    foot.head, foot.tail, foot.parent = (0, 0, 0.1), (0, -0.3, 0.0), armature.data.edit_bones["shin"]
    bpy.ops.object.mode_set(mode='OBJECT')
    chain = armature.ik2d.chains[0]
    chain.hand_rotation = 'WORLD'
    bake(armature, frame_start=FRAMES[0], frame_end=FRAMES[-1])
    rest = armature.data.bones["foot"].matrix_local.to_quaternion()
    for frame in (1, 9, 20):
        bpy.context.scene.frame_set(frame)
        shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["foot"]
        assert rest.rotation_difference(shown.matrix.to_quaternion()).angle < 1e-3
    assert near_targets(armature, chain)


def test_the_drawn_chain_starts_there():
    armature, chain, _ = carried_leg("Child Of")
    bpy.context.scene.frame_set(12)
    solve(armature)
    bpy.context.view_layer.update()
    seen = view_chain(read_chain(armature, chain), chain)
    assert np.linalg.norm(seen.joints[0]) < NEAR
