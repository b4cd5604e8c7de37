# SPDX-License-Identifier: GPL-3.0-or-later
"""IK constraints become chains that do what they did, and come back to the bit."""

import bpy
import ik_rigs
import numpy as np
import pytest
from ik_rigs import ALL_RIGS, IN_PLANE, LAST
from rigs import evaluated_tip, played_back_errors
from snapshots import differences
from whole_rig import whole_rig

from ik2d_addon.bake import bake
from ik2d_addon.core.inputs import wrapped
from ik2d_addon.features.adopt.adopt import plan_adoption
from ik2d_addon.rig.animation.versions import existing_fcurves

ON_TARGET = 1e-5  # of the reach
# Rigs that Blender's IK poses otherwise: it stretches within reach, sticks at limits, and bends unevenly.
OTHER_SHAPES = (ik_rigs.stretching, ik_rigs.hinges, ik_rigs.tail_of_five)
FRAMES = range(1, LAST + 1)


def built(make) -> bpy.types.Object:
    """Return the rig as it stands evaluated on the first frame."""
    armature = make()
    bpy.context.view_layer.objects.active = armature
    bpy.context.scene.frame_set(2)
    bpy.context.scene.frame_set(1)
    return armature


def reach(armature, chain) -> float:
    """Return how long the chain is, in the world."""
    size = armature.matrix_world.median_scale
    return size * sum(armature.data.bones[joint.name].length for joint in chain.joints)


def knees(armature) -> np.ndarray:
    """Return where the thigh's tail is on all frames, as evaluated."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        found.append(tuple(evaluated_tip(armature, "thigh")))
    return np.array(found)


@pytest.mark.parametrize("make", ALL_RIGS, ids=lambda make: make.__name__)
def test_adopted_and_released_it_is_the_same_to_the_bit(make):
    armature = built(make)
    before = whole_rig(armature)
    assert bpy.ops.ik2d.adopt(all=True) == {'FINISHED'}
    (chain,) = armature.ik2d.chains
    assert chain.adopted.apart and not chain.adopted.apart.startswith("not compared")
    assert differences(before, whole_rig(armature))
    bpy.context.scene.frame_set(7)
    bpy.context.scene.frame_set(1)
    assert bpy.ops.ik2d.release() == {'FINISHED'}
    bpy.context.view_layer.update()
    assert not differences(before, whole_rig(armature))


@pytest.mark.parametrize("make", IN_PLANE, ids=lambda make: make.__name__)
def test_adopted_and_baked_the_tips_are_on_their_targets(make):
    armature = built(make)
    assert bpy.ops.ik2d.adopt(all=True) == {'FINISHED'}
    (chain,) = armature.ik2d.chains
    constraint = next(c for bone in armature.pose.bones for c in bone.constraints if c.type == 'IK')
    bpy.ops.ik2d.bake()
    for frame, error in played_back_errors(armature, chain, FRAMES):
        assert error <= ON_TARGET * reach(armature, chain), frame
        assert constraint.mute or constraint.target is None


@pytest.mark.slow
@pytest.mark.parametrize("make", [*IN_PLANE, ik_rigs.hinges], ids=lambda make: make.__name__)
def test_what_it_says_of_the_pose_before_is_what_a_bake_plays(make):
    armature = built(make)
    bones = [bone.name for bone in armature.pose.bones]
    before = {}
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        before[frame] = poses(armature, bones)
    bpy.context.scene.frame_set(1)
    bpy.ops.ik2d.adopt(all=True)
    (chain,) = armature.ik2d.chains
    bpy.ops.ik2d.bake()
    angles, tips = [], []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        now = poses(armature, bones)
        angles += [
            before[frame][joint.name]
            .to_quaternion()
            .rotation_difference(now[joint.name].to_quaternion())
            .angle
            for joint in chain.joints
        ]
        tail = (0.0, armature.data.bones[chain.tip].length, 0.0, 1.0)
        places = [np.array(poses_[chain.tip]) @ tail for poses_ in (before[frame], now)]
        tips.append(np.linalg.norm(places[0] - places[1]))
    assert chain.adopted.angle == pytest.approx(max(angles), abs=2e-3)
    assert chain.adopted.tip == pytest.approx(max(tips), abs=2e-5)
    if make not in OTHER_SHAPES:
        assert np.degrees(chain.adopted.angle) < 1.0 and chain.adopted.tip < 0.005
    assert f"{np.degrees(chain.adopted.angle):.2f}°" in chain.adopted.apart


def poses(armature, bones) -> dict:
    evaluated = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return {name: evaluated.matrix_world @ evaluated.pose.bones[name].matrix for name in bones}


def test_the_pose_stays_and_nothing_is_keyed():
    armature = built(ik_rigs.from_the_tip)
    bpy.context.scene.frame_set(10)
    knee = evaluated_tip(armature, "thigh")
    bpy.ops.ik2d.adopt(all=True)
    bpy.context.view_layer.update()
    assert armature.animation_data is None
    assert (evaluated_tip(armature, "thigh") - knee).length < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("make", [ik_rigs.pole_in_front, ik_rigs.pole_behind, ik_rigs.pole_goes_behind])
def test_the_pole_is_the_side_that_the_chain_bends_to(make):
    armature = built(make)
    before = knees(armature)
    bpy.context.scene.frame_set(1)
    bpy.ops.ik2d.adopt(all=True)
    bpy.ops.ik2d.bake()
    assert np.abs(knees(armature) - before).max() < 0.01
    forwards = before[:, 1] < 0.0
    assert forwards[2] != (make is ik_rigs.pole_behind)


@pytest.mark.slow
def test_a_side_that_changes_is_keyed_and_holds_until_it_changes():
    armature = built(ik_rigs.hinged_goes_behind)
    before = knees(armature)
    bpy.context.scene.frame_set(1)
    bpy.ops.ik2d.adopt(all=True)
    assert "half a turn" in armature.ik2d.chains[0].adopted.lost  # a hinge cannot turn to the pole
    (curve,) = [curve for curve in existing_fcurves(armature) if curve.data_path.endswith(".bend")]
    assert [key.co[0] for key in curve.keyframe_points] == [1.0, 12.0]
    assert {key.interpolation for key in curve.keyframe_points} == {'CONSTANT'}
    assert len({key.co[1] for key in curve.keyframe_points}) == 2
    bpy.ops.ik2d.bake()
    assert np.abs(knees(armature) - before).max() < 0.01


@pytest.mark.slow
def test_a_straight_leg_bends_in_the_plane_of_its_pole():
    armature = built(lambda: ik_rigs.with_pole(knee=(0, 0.0, 1.05), turned=0.9))
    bpy.ops.ik2d.adopt(all=True)
    chain = armature.ik2d.chains[0]
    assert chain.plane == 'POLE'
    bpy.ops.ik2d.bake()
    assert (knees(armature)[:, 1] < 0.0).all()  # Blender's IK is locked up
    for frame, error in played_back_errors(armature, chain, FRAMES):
        assert error <= ON_TARGET * reach(armature, chain), frame


def test_a_keyed_influence_is_the_chains():
    armature = built(ik_rigs.keyed_influence)
    bpy.ops.ik2d.adopt(all=True)
    chain = armature.ik2d.chains[0]
    constraint = armature.pose.bones["shin"].constraints[0]
    for frame in (1, 4, 10, 17):
        bpy.context.scene.frame_set(frame)
        assert chain.influence == pytest.approx(constraint.influence, abs=1e-6)


def test_a_driven_influence_is_the_chains():
    armature = built(ik_rigs.driven_influence)
    bpy.ops.ik2d.adopt(all=True)
    for value in (0.3, 0.8):
        armature.pose.bones["body"]["IK"] = value
        armature.update_tag()
        bpy.context.view_layer.update()
        assert armature.ik2d.chains[0].influence == pytest.approx(value)


@pytest.mark.slow
def test_limits_locks_and_stiffness_are_the_joints():
    armature = built(ik_rigs.hinges)
    bpy.ops.ik2d.adopt(all=True)
    thigh, knee = armature.ik2d.chains[0].joints
    low, high = knee.limit_min, knee.limit_max
    assert knee.use_limit and sorted((abs(low), abs(high))) == pytest.approx([0.4, 2.0])
    assert thigh.weight == pytest.approx(0.5, abs=0.01) and knee.weight == 1.0
    assert "hinges" in armature.ik2d.chains[0].adopted.carried
    for name in ("shin", "thigh"):  # about the plane's normal, which is the hinge
        assert tuple(armature.pose.bones[name].lock_rotation) == (False, False, False)
    bpy.ops.ik2d.bake()
    for frame, error in played_back_errors(armature, armature.ik2d.chains[0], FRAMES):
        assert error < 1e-4, frame


@pytest.mark.slow
def test_a_hinge_askew_stays_one():
    armature = built(lambda: ik_rigs.hinges(turned=0.1))
    bpy.ops.ik2d.adopt(all=True)
    assert tuple(armature.pose.bones["shin"].lock_rotation) == (False, True, True)
    bpy.ops.ik2d.bake()
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        shin = armature.pose.bones["shin"]
        assert abs(shin.matrix_basis.to_quaternion().y) < 1e-5, frame


def test_stretch_goes_as_far_as_it_takes():
    armature = built(ik_rigs.stretching)
    bpy.ops.ik2d.adopt(all=True)
    chain = armature.ik2d.chains[0]
    assert chain.stretch == 100.0 and chain.stretch_bones == 'ALL'
    assert "stretch, as far as it takes" in chain.adopted.carried and "shear" not in chain.adopted.lost


def test_bones_that_would_shear_inherit_scale_along_themselves_until_the_ik_is_back():
    armature = built(ik_rigs.stretching)
    armature.data.bones["shin"].inherit_scale = 'FULL'
    bpy.context.scene.frame_set(1)
    before = whole_rig(armature)
    bpy.ops.ik2d.adopt(all=True)
    chain = armature.ik2d.chains[0]
    assert chain.stretch_bones == 'ALL' and armature.data.bones["shin"].inherit_scale == 'ALIGNED'
    assert "Inherit Scale of 'shin'" in chain.adopted.carried and "shear" not in chain.adopted.lost
    assert chain.adopted.part < 0.05
    bpy.ops.ik2d.release(all=True)
    bpy.context.scene.frame_set(1)
    assert not differences(before, whole_rig(armature))


def _others_use_it(armature):
    armature.copy()


def _it_inherits_the_average(armature):
    armature.data.bones["shin"].inherit_scale = 'AVERAGE'


@pytest.mark.parametrize("hinder", [_others_use_it, _it_inherits_the_average])
def test_bones_that_would_shear_leave_the_stretch_to_the_last_where_that_cannot_be_set(hinder):
    armature = built(ik_rigs.stretching)
    armature.data.bones["shin"].inherit_scale = 'FULL'
    hinder(armature)
    inherits = armature.data.bones["shin"].inherit_scale
    bpy.ops.ik2d.adopt(all=True)
    chain = armature.ik2d.chains[0]
    assert chain.stretch_bones == 'LAST' and "shear" in chain.adopted.lost
    assert armature.data.bones["shin"].inherit_scale == inherits


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda c: setattr(c, "use_rotation", True), "target's rotation"),
        (lambda c: setattr(c, "weight", 0.5), "weight 0.5"),
        (lambda c: c.id_data.pose.bones["thigh"].constraints.new('COPY_ROTATION'), None),
        (lambda c: setattr(c.id_data.pose.bones["thigh"], "location", (0, 0, 0)), None),
        (lambda c: setattr(c.id_data.pose.bones["shin"], "rotation_quaternion", (1, 0, 0.3, 0)), "besides"),
        (lambda c: setattr(c.id_data.pose.bones["thigh"], "rotation_quaternion", (1, 0, 0.3, 0)), None),
    ],
)
def test_what_cannot_be_carried_over_is_said(change, words):
    armature = built(ik_rigs.from_the_tip)
    change(armature.pose.bones["shin"].constraints[0])
    bpy.ops.ik2d.adopt(all=True)
    lost = armature.ik2d.chains[0].adopted.lost
    assert words in lost if words else not lost


def test_an_influence_in_strips_of_the_nla_is_not_carried_over():
    armature = ik_rigs.keyed_influence()
    animation = armature.animation_data
    animation.nla_tracks.new().strips.new("all", 1, animation.action)
    animation.action = None
    armature = built(lambda: armature)
    bpy.ops.ik2d.adopt(all=True)
    adopted = armature.ik2d.chains[0].adopted
    assert "NLA strips" in adopted.lost and "influence" not in adopted.carried


def mute_in_strips() -> bpy.types.Object:
    """Have the IK's mute keyed in an NLA strip."""
    armature = ik_rigs.keyed_mute()
    animation = armature.animation_data
    animation.nla_tracks.new().strips.new("all", 1, animation.action)
    animation.action = None
    return armature


@pytest.mark.parametrize("make", [ik_rigs.keyed_mute, ik_rigs.driven_mute, mute_in_strips])
def test_a_switch_to_fk_by_the_mute_is_said_to_be_lost(make, capfd):
    armature = built(make)
    line = "the mute of 'IK', which is animated: the chain acts on all frames; key IK Blend"
    planned = plan_adoption(armature, bpy.context.scene, None).plans[0]
    assert line in planned.lost  # as in the dialog
    bpy.ops.ik2d.adopt(all=True)
    adopted, told = armature.ik2d.chains[0].adopted, capfd.readouterr().out
    assert adopted.lost == line and f"Not carried over: {line}" in told
    assert f"Adopted '{armature.ik2d.chains[0].name}'; Bake keys it" in told
    assert "from the pose before; the joint furthest off: " in adopted.apart


def test_bones_that_ik_may_not_turn_are_held():
    armature = built(ik_rigs.from_the_tip)
    thigh = armature.pose.bones["thigh"]
    thigh.lock_ik_x = thigh.lock_ik_y = thigh.lock_ik_z = True
    bpy.ops.ik2d.adopt(all=True)
    assert "hold 'thigh'" in armature.ik2d.chains[0].adopted.carried
    bpy.ops.ik2d.bake()
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        assert thigh.matrix_basis.to_quaternion().angle < 1e-5


def test_a_child_of_on_the_limb_itself_is_said():
    armature = built(ik_rigs.hanging_limb)
    bpy.ops.ik2d.adopt(all=True)
    assert "'Child Of' of 'thigh'" in armature.ik2d.chains[0].adopted.lost


@pytest.mark.parametrize("controlled", [False, True])
def test_target_rotation_of_three_bones_becomes_the_angle_of_the_last_one(controlled):
    armature, target = ik_rigs.turning_foot(controlled)
    before = [ik_rigs.foot_heading(armature, frame) for frame in FRAMES]
    built(lambda: armature)
    bpy.ops.ik2d.adopt(all=True)
    chain = armature.ik2d.chains[0]
    assert chain.tip_rotation == 'TARGET' and "target's rotation in the plane" in chain.adopted.carried
    assert "rotation" not in chain.adopted.lost
    report = bake(armature).chains[0]
    assert report.reached and set(report.to_dict()["status"]) == {"REACHED"}
    after = [ik_rigs.foot_heading(armature, frame) for frame in FRAMES]
    wanted = [ik_rigs.heading_along_y(*target, frame) for frame in FRAMES]
    assert np.abs(wrapped(np.subtract(after, wanted))).max() <= 1e-4
    assert np.abs(wrapped(np.subtract(before, wanted))).max() <= 0.02  # as near as Blender's own IK comes
    bpy.ops.ik2d.clear_bake()
    bpy.ops.ik2d.release()
    assert not armature.ik2d.chains
