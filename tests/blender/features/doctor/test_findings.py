# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with a chain's rig: each fault is found and named, and nothing on a healthy rig."""

from pathlib import Path

import bpy
import pytest
from faults import FAULTS, examine, keyed_leg, leg, lost_tip, other_side, zigzag
from mathutils import Vector
from rigs import add_chain, add_target, calls_of

from ik2d_addon.bake import bake
from ik2d_addon.core import IK2DError
from ik2d_addon.features.doctor import fixes, rest_fixes
from ik2d_addon.features.doctor import operators as drawn
from ik2d_addon.features.doctor.fixes import mend
from ik2d_addon.features.doctor.planes import joints_off_plane
from ik2d_addon.features.mechanism.words import problem
from ik2d_addon.features.native import make_native
from ik2d_addon.rig.animation.versions import existing_fcurves, sharing_channels
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.chain.checks.bones import rest_joints
from ik2d_addon.ui.settings.chain_list import flip

SAMPLES = sorted((Path(__file__).parents[4] / "sample_scenes").glob("*.blend"))
each_fault = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)


def found(armature, chain):
    """Return the kinds of what is wrong with a chain."""
    return [finding.kind for finding in examine(armature, chain, 1, 40)]


@each_fault
def test_a_fault_is_found_and_named_with_a_way_out(fault):
    armature, chain = fault.build()
    (finding,) = examine(armature, chain, 1, 40)
    assert (finding.chain, finding.kind, finding.blocks) == (chain.name, fault.kind, fault.blocks)
    assert fault.words in finding.sentence
    assert fault.way in [fix.way for fix in finding.fixes]


@each_fault
def test_what_blocks_is_what_the_bake_refuses_or_leaves_out(fault):
    armature, chain = fault.build()
    try:
        report = bake(armature, [chain.name] if fault.kind != 'SHARED_BONES' else None, 1, 3)
        refused = bool(report.left_out)
    except IK2DError:
        refused = True
    assert refused == fault.blocks


def test_a_lost_tip_is_named_and_left_to_be_chosen():
    (finding,) = examine(*lost_tip(), 1, 40)
    assert (finding.kind, finding.blocks, finding.fixes) == ('PROBLEM', True, ())
    assert "has no bone 'shin'; set Last Bone to another one" in finding.sentence


def test_nothing_is_wrong_with_a_good_leg_keyed_or_not():
    for build in (leg, keyed_leg):
        assert found(*build()) == []


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_nothing_is_wrong_with_the_sample_scenes(path):
    bpy.ops.wm.open_mainfile(filepath=str(path))
    rigs = [ob for ob in bpy.data.objects if ob.type == 'ARMATURE']
    assert any(len(ob.ik2d.chains) or len(ob.ik2d.mechanisms) for ob in rigs)
    for armature in rigs:
        for chain in armature.ik2d.chains:
            assert found(armature, chain) == []
        for mechanism in armature.ik2d.mechanisms:
            assert problem(mechanism) == ""


def test_a_hand_that_has_keys_of_its_own_is_looked_at_too_and_one_that_is_ruled_is_told():
    armature, chain = zigzag(off=0.0)
    assert found(armature, chain) == []
    chain.hand_rotation = 'WORLD'
    armature.pose.bones["hand"].keyframe_insert("rotation_quaternion", frame=1)
    assert found(armature, chain) == []
    existing_fcurves(armature)[0].lock = True
    assert found(armature, chain) == ['LOCKED']
    with pytest.raises(IK2DError, match="hand.*is locked"):
        bake(armature, [chain.name], 1, 3)
    mend('UNLOCK_CHANNELS', armature, chain)
    assert found(armature, chain) == [] == drawn.findings_of(bpy.context, armature, chain)
    constraint = armature.pose.bones["hand"].constraints.new('COPY_ROTATION')
    (finding,) = drawn.findings_of(bpy.context, armature, chain)
    assert (finding.kind, finding.note) == ('NOTE', True) and "'hand' on its tip is left" in finding.sentence
    constraint.mute = True
    assert drawn.findings_of(bpy.context, armature, chain) == []


@pytest.mark.slow
def test_the_gravest_comes_first():
    armature, chain = zigzag()
    armature.scale = (1.0, 1.2, 1.0)
    armature.pose.bones["b1"].lock_rotation = (True, True, True)
    bpy.context.view_layer.update()
    assert found(armature, chain) == ['UNEVEN_SCALE', 'OFF_PLANE', 'HELD']
    armature.data.pose_position = 'REST'
    assert found(armature, chain)[0] == 'REST_POSITION'


def test_how_far_joints_are_off_the_plane_is_said_and_can_be_accepted():
    armature, chain = zigzag()
    part = joints_off_plane(read_chain(armature, chain))
    (finding,) = examine(armature, chain, 1, 40)
    assert 0.01 < part < 0.1 and f"{100 * part:.2g} % of its reach" in finding.sentence
    chain.accepted_off_plane = 0.9 * part
    assert found(armature, chain) == ['OFF_PLANE']
    chain.accepted_off_plane = 1.1 * part
    assert found(armature, chain) == []


def test_joints_as_good_as_in_the_plane_are_no_finding():
    assert found(*zigzag(off=0.01)) == []


def test_a_scale_that_is_the_same_along_all_axes_is_no_finding():
    armature, chain = leg()
    armature.scale = (2.0, 2.0, -2.0)
    bpy.context.view_layer.update()
    assert found(armature, chain) == []


def test_the_scale_of_what_the_armature_hangs_on_is_not_its_own_to_apply():
    armature, chain = leg()
    holder = add_target({}, "Holder")
    armature.parent, holder.scale = holder, (1.0, 2.0, 1.0)
    bpy.context.view_layer.update()
    (finding,) = examine(armature, chain, 1, 40)
    assert (finding.kind, finding.fixes) == ('UNEVEN_SCALE', ())
    assert "what armature 'Rig' depends on" in finding.sentence


def test_an_uneven_bone_above_the_chain_is_named_unless_its_scale_is_not_inherited():
    armature, chain = leg()
    armature.pose.bones["body"].scale = (1.0, 2.0, 1.0)
    bpy.context.view_layer.update()
    (finding,) = examine(armature, chain, 1, 40)
    assert "bone 'body' is scaled unevenly" in finding.sentence
    armature.data.bones["thigh"].inherit_scale = 'NONE'
    bpy.context.view_layer.update()
    assert found(armature, chain) == []


def test_a_straight_chain_of_many_bones_or_with_a_plane_of_its_own_is_no_finding():
    armature, chain = leg()
    chain.plane = 'X'
    assert found(armature, chain) == []


def test_objects_without_such_bones_may_play_the_same_action():
    armature, chain = keyed_leg()
    target = add_target({1: (0, 0, 0)}, "Camera")
    target.animation_data.action = armature.animation_data.action
    if hasattr(target.animation_data, "action_slot"):
        target.animation_data.action_slot = armature.animation_data.action_slot
    assert sharing_channels(armature) == [target]
    assert found(armature, chain) == []


@pytest.mark.parametrize("low, high, stuck", [(0.1, 1.0, True), (-1.0, -0.1, True), (-0.1, 0.1, False)])
def test_a_range_without_the_pose_that_locks_hold_is_told(low, high, stuck):
    armature, chain = leg()
    armature.pose.bones["thigh"].lock_rotation = (True, True, True)
    joint = chain.joints["thigh"]
    joint.use_limit, joint.limit_min, joint.limit_max = True, low, high
    assert found(armature, chain) == (['RANGE', 'HELD'] if stuck else ['HELD'])
    if stuck:
        assert "in which locks hold it" in examine(armature, chain, 1, 40)[0].sentence


def test_what_the_panel_asks_of_10_chains_reads_and_evaluates_nothing_in_few_calls(monkeypatch):
    armature, _ = leg()
    chains = armature.ik2d.chains
    for i in range(9):
        chain = add_chain(armature, "shin", armature.ik2d.chains[0].target, name=f"chain {i}")
        chain.enabled = False

    def draw():
        for chain in chains:
            assert drawn.cached_problem(chain) == ""
        assert drawn.findings_of(bpy.context, armature, chains[0]) == []

    def evaluated(*_):
        evaluations.append(True)

    draw()
    evaluations = []
    bpy.app.handlers.depsgraph_update_pre.append(evaluated)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(drawn, "reading", None)  # all was read above
            assert calls_of(draw) < 450 * len(chains)
        assert not evaluations
        bpy.context.view_layer.update()
        assert evaluations  # it would have been noticed
    finally:
        bpy.app.handlers.depsgraph_update_pre.remove(evaluated)


def test_what_was_read_once_is_read_anew_where_anything_of_it_has_changed():
    armature, chain = leg(stretch=1.5)
    for bone in armature.data.bones:
        bone.inherit_scale = 'NONE'
    assert drawn.cached_problem(chain) == ""
    armature.pose.bones["shin"].lock_scale[1] = True
    assert "Y Scale of bone 'shin' is locked" in drawn.cached_problem(chain)
    armature.pose.bones["shin"].lock_scale[1] = False
    assert drawn.cached_problem(chain) == ""
    for frame, scale in ((1, 1.0), (9, 2.0)):
        armature.pose.bones["shin"].scale[1] = scale
        armature.pose.bones["shin"].keyframe_insert("scale", index=1, frame=frame)
    assert "keys change the Y Scale" in drawn.cached_problem(chain)
    armature.animation_data_clear()
    assert drawn.cached_problem(chain) == ""
    chain.target = None
    assert "has no target" in drawn.cached_problem(chain)


def test_of_a_native_chain_the_control_says_which_side_it_bends_to():
    armature, chain = other_side()
    make_native(armature, chain)
    assert found(armature, chain) == ['OTHER_SIDE']
    flip(chain)
    assert found(armature, chain) == []


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_joints_off_one_plane_are_a_note_while_another_cause_is_first_and_flatten_is_offered_where_it_helps(
    share,
):
    """The target as high over the plane as the tip, in the plane, or between."""
    armature, chain = zigzag()
    bpy.context.scene.frame_set(20)
    rig = read_chain(armature, chain)
    tip = (rest_joints(rig.pose_bones)[-1] - rig.plane.origin) @ rig.plane.normal
    chain.target.animation_data_clear()
    chain.target.location += Vector(rig.plane.normal) * tip * share
    bpy.context.view_layer.update()
    told = examine(armature, chain, 20, 20)
    (joints,) = (one for one in told if one.kind == 'OFF_PLANE')
    report = bake(armature, None, 20, 20)
    before = report.chains[0].max_error
    assert report.all_reached is (share == 1.0)
    assert [one.kind for one in told] == ['TARGET_OFF_PLANE'] * (share == 0.4) + ['OFF_PLANE']
    assert joints.note is (share != 0.0) and fixes.accept in joints.fixes
    mend("FLATTEN", armature, chain)
    after = bake(armature, None, 20, 20).chains[0].max_error
    assert any(rest_fixes.flatten in one.fixes for one in told) is (after < before)
