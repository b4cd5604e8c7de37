# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading a chain from an armature: what its settings come to, and what is said of a faulty one."""

import math
from dataclasses import replace

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain, add_leg, add_target, set_slide

from ik2d_addon.core import IK2DError, Plane
from ik2d_addon.rig.chain.chain import (
    FAR_OFF_PLANE,
    chain_bones,
    is_joined,
    pose_bones_of,
    problem_of,
    read_chain,
    refuse_own_target,
    rest_joints,
)
from ik2d_addon.rig.chain.planes import bend_plane

EXACT = 1e-6  # of two units' length: 32-bit bones


def leg(**settings):
    """Add the leg with a chain and a target that stays; return armature and chain."""
    armature = add_leg()
    return armature, add_chain(armature, "shin", add_target({}), **settings)


def test_every_setting_reaches_the_chain():
    armature, chain = leg(
        bend='NEGATIVE', iterations=17, tolerance=0.125, softness=0.25, influence=0.5, name="left"
    )
    rig = read_chain(armature, chain)
    assert rig.armature == armature and rig.name == "left"
    assert rig.bones == ("thigh", "shin")
    assert [bone.name for bone in rig.pose_bones] == ["thigh", "shin"]
    assert rig.target == chain.target and rig.subtarget == ""
    assert (rig.bend, rig.iterations, rig.tolerance, rig.softness) == (-1, 17, 0.125, 0.25)
    assert rig.influence == 0.5
    assert armature.path_resolve(rig.path) == chain
    assert rig.plane_taken == "rest pose's bend" and not rig.other_controls
    assert rig.warnings == ()


def test_the_defaults_are_positive_bend_and_the_solvers_own_tolerance():
    rig = read_chain(*leg())
    assert (rig.bend, rig.tolerance, rig.softness, rig.influence) == (1, None, 0.0, 1.0)
    assert np.isnan(rig.joints.limits).all() and not rig.joints.fixed.any()
    assert (rig.joints.weights == 1.0).all()


def test_a_joints_settings_reach_the_chain():
    armature, chain = leg()
    joint = chain.joints["shin"]
    joint.use_limit, joint.limit_min, joint.limit_max, joint.weight = True, -0.5, 0.75, 0.5
    joints = read_chain(armature, chain).joints
    assert np.isnan(joints.limits[0]).all()
    assert joints.limits[1] == pytest.approx((-0.5, 0.75))
    assert joints.weights == pytest.approx((1.0, 0.5))


@pytest.mark.parametrize(
    "solver, count, expected",
    [
        ('AUTO', 2, 'TWO_BONE'),
        ('AUTO', 1, 'EVEN'),
        ('AUTO', 3, 'EVEN'),
        ('CCD', 2, 'CCD'),
        ('TWO_BONE', 2, 'TWO_BONE'),
    ],
)
def test_automatic_is_two_bone_for_two_bones_and_ccd_for_all_others(solver, count, expected):
    armature, chain = leg(bone_count=count, solver=solver, plane='X')
    assert read_chain(armature, chain).solver == expected


@pytest.mark.parametrize("count, words", [(1, "1 bone,"), (3, "3 bones,")])
def test_two_bone_on_other_chains_is_refused_with_their_number(count, words):
    armature, chain = leg(bone_count=count, solver='TWO_BONE')
    with pytest.raises(IK2DError, match=f"'shin' has {words} but the Two-Bone solver takes two"):
        read_chain(armature, chain)


def test_what_joints_are_off_the_plane_is_a_length_in_rest_space():
    armature = add_armature(
        {"a": ((1, 0, 0), (1.5, 1, 0), "", 0.0), "b": ((1.5, 1, 0), (0.75, 2, 0), "a", 0.0)}
    )
    rig = read_chain(armature, add_chain(armature, "b", add_target({}), plane='X'))
    assert rig.plane.origin == pytest.approx((1, 0, 0), abs=EXACT)
    assert rig.off_plane == pytest.approx(0.5, abs=EXACT)


def test_joints_that_locks_hold_are_named_before_all_else():
    armature, chain = leg(bone_count=3)
    armature.pose.bones["shin"].constraints.new('LIMIT_ROTATION')  # no matter of reading
    for name in ("shin", "thigh", "body"):
        armature.pose.bones[name].lock_rotation = (True, True, True)
        rig = read_chain(armature, chain)
        (told,) = rig.warnings
        assert told.startswith("Chain 'shin': locks hold '")
    assert told == "Chain 'shin': locks hold 'body', 'thigh' and 'shin', so they do not turn"
    rig = replace(rig, notes=("First.", "Second."))
    assert rig.warnings == (told, "First.", "Second.")
    armature.pose.bones["body"].lock_rotation = (False, False, False)
    (told,) = read_chain(armature, chain).warnings
    assert told == "Chain 'shin': locks hold 'thigh' and 'shin', so they do not turn"
    armature.pose.bones["thigh"].lock_rotation = (False, False, False)
    (told,) = read_chain(armature, chain).warnings
    assert told == "Chain 'shin': locks hold 'shin', so it does not turn"


def test_a_chain_in_another_plane_has_all_that_depends_on_it_anew():
    armature = add_armature(
        {"a": ((0, 0, 0), (0.2, 1, 0), "", 0.3), "b": ((0.2, 1, 0), (0, 2, 0.5), "a", 0.0)}
    )
    chain = add_chain(armature, "b", add_target({}), plane='X')
    chain.joints["b"].weight = 0.5
    rig = read_chain(armature, chain)
    plane = Plane.facing(rest_joints(rig.pose_bones), (0, 0, 1))
    turned = rig.in_plane(plane, "another one")
    chain.plane = 'Z'
    expected = read_chain(armature, chain)
    assert (turned.plane, turned.plane_taken) == (plane, "another one")
    assert turned.off_plane == expected.off_plane == pytest.approx(0.5, abs=EXACT)
    assert (turned.joints.axes == expected.joints.axes).all()
    assert turned.joints.weights.tolist() == [1.0, 0.5]
    assert rig.off_plane == pytest.approx(0.2, abs=EXACT)
    assert (turned.bones, turned.target) == (rig.bones, rig.target)


def test_problem_of_is_the_sentence_that_reading_raises():
    armature, chain = leg()
    assert problem_of(armature, chain) == ""
    chain.target = None
    assert problem_of(armature, chain) == "Chain 'shin' has no target; choose the object that its tip follows"


# --- Bones ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "count, expected",
    [(0, ["body", "thigh", "shin"]), (1, ["shin"]), (2, ["thigh", "shin"]), (3, ["body", "thigh", "shin"])],
)
def test_bones_are_counted_from_the_tip_and_run_from_the_root(count, expected):
    assert [bone.name for bone in chain_bones(add_leg(), "shin", count)] == expected


@pytest.mark.parametrize("name, start", [("left", "Chain 'left'"), ("", "The chain")])
def test_bones_that_are_not_there_are_told(name, start):
    armature = add_leg()
    with pytest.raises(IK2DError, match=f"^{start} has no tip bone; set Last Bone to one"):
        chain_bones(armature, "", 0, name)
    with pytest.raises(
        IK2DError, match=f"^{start}: armature 'Rig' has no bone 'foot'; set Last Bone to another one"
    ):
        chain_bones(armature, "foot", 0, name)
    with pytest.raises(
        IK2DError,
        match=f"^{start} asks for 4 bones, but 'shin' and those above it are only 3; set Chain Length to 3",
    ):
        chain_bones(armature, "shin", 4, name)


@pytest.mark.parametrize("kind", ['CHILD_OF', 'ARMATURE'])
def test_a_bone_that_hangs_on_another_by_a_constraint_is_told_of_it(kind):
    armature = add_armature({"a": ((0, 0, 0), (0, 1, 0), "", 0.0), "b": ((0, 1, 0), (0, 2, 0.5), "", 0.0)})
    constraint = armature.pose.bones["b"].constraints.new(kind)
    constraint.name = "Hold"
    source = constraint if kind == 'CHILD_OF' else constraint.targets.new()
    plain = "are only 1; set Chain Length to 1 or less"

    def told():
        with pytest.raises(IK2DError) as caught:
            chain_bones(armature, "b", 2, "arm")
        return str(caught.value)

    assert told().endswith(plain)
    source.target = armature
    assert told().endswith(plain)  # on the object
    source.subtarget = "a"
    assert told() == (
        "Chain 'arm': 'b' hangs on 'a' by its constraint 'Hold', and a chain goes along parents alone; make"
        " 'a' its parent and disable the constraint, or set Chain Length to fewer"
    )
    constraint.mute = True
    assert told().endswith(plain)
    constraint.mute, constraint.influence = False, 0.0
    assert told().endswith(plain)
    constraint.influence = 0.1
    assert "hangs on" in told()
    source.target = add_leg("Other")
    source.subtarget = "shin"
    assert told().endswith(plain)


def test_other_constraints_hold_no_bone_of_another():
    armature = add_armature({"a": ((0, 0, 0), (0, 1, 0), "", 0.0), "b": ((0, 1, 0), (0, 2, 0.5), "", 0.0)})
    constraint = armature.pose.bones["b"].constraints.new('COPY_LOCATION')
    constraint.target, constraint.subtarget = armature, "a"
    with pytest.raises(IK2DError, match="are only 1"):
        chain_bones(armature, "b", 2)


def test_an_armature_that_no_scene_has_shown_has_no_bones_yet():
    armature = bpy.data.objects.new("New", bpy.data.armatures.new("New"))
    with pytest.raises(IK2DError, match="'New' is new and has no pose yet; update the view layer first"):
        pose_bones_of(armature)
    assert pose_bones_of(add_leg()).keys() == ["body", "thigh", "shin"]


def test_joints_are_the_heads_and_the_tips_tail_in_rest():
    armature = add_armature(
        {"a": ((0, 0, 0), (1, 0, 0), "", 0.0), "b": ((1.5, 0, 0.25), (2, 0.5, 0), "a", 0.0)}
    )
    armature.pose.bones["a"].location = (3, 3, 3)  # rest is what counts
    bpy.context.view_layer.update()
    joints = rest_joints([armature.pose.bones[name] for name in "ab"])
    assert joints == pytest.approx(np.array([(0, 0, 0), (1.5, 0, 0.25), (2, 0.5, 0)]), abs=EXACT)


# --- Targets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("gap, joined", [(0.0, True), (0.0009, True), (0.0011, False)])
def test_a_bone_joins_its_parent_within_a_thousandth_of_its_length(gap, joined):
    armature = add_armature(
        {"a": ((0, 0, 2), (0, 0, 1), "", 0.0), "b": ((2.0 * gap, 0, 1), (2.0 * gap, 0, -1), "a", 0.0)}
    )
    bones = armature.data.bones
    assert is_joined(bones["b"]) == joined and not is_joined(bones["a"])


def test_a_bone_that_the_target_has_not_is_told():
    armature, chain = leg(subtarget="control")
    with pytest.raises(IK2DError, match="target 'Target' has no bone 'control'; choose another bone or none"):
        read_chain(armature, chain)
    chain.target = add_leg("Other")
    with pytest.raises(IK2DError, match="target 'Other' has no bone 'control'"):
        read_chain(armature, chain)
    chain.subtarget = "body"
    assert read_chain(armature, chain).subtarget == "body"


def test_a_target_on_the_chains_own_bone_is_refused():
    armature, chain = leg()
    chain.target, chain.subtarget = armature, "thigh"
    with pytest.raises(
        IK2DError, match="its target bone 'thigh' is moved by the chain itself: it depends on bone 'thigh'"
    ):
        read_chain(armature, chain)
    chain.subtarget = "body"
    assert not problem_of(armature, chain)


def test_a_target_that_hangs_on_the_chains_bone_is_refused():
    armature, chain = leg()
    chain.target.parent, chain.target.parent_type, chain.target.parent_bone = armature, 'BONE', "shin"
    with pytest.raises(IK2DError, match="its target 'Target' is moved by the chain itself"):
        read_chain(armature, chain)
    chain.target.parent_bone = "body"
    assert not problem_of(armature, chain)


def test_only_this_armatures_bones_are_the_chains_own():
    armature, other = add_leg(), add_leg("Other")
    refuse_own_target("leg", armature, ["shin"], [(other, "shin"), (armature, "body"), (armature, "")])
    with pytest.raises(IK2DError, match="Chain 'leg': its target bone 'end' .* it depends on bone 'shin'"):
        refuse_own_target("leg", armature, ["shin"], [(other, "end"), (armature, "shin")])


# --- The pole -------------------------------------------------------------------------------------


def leg_with_pole(pole="Pole", **settings):
    """Add the leg with a chain whose plane is towards a pole; return armature and chain."""
    armature, chain = leg(plane='POLE', **settings)
    chain.pole = add_target({}, pole) if pole else None
    return armature, chain


def refusal(armature, chain):
    """Return the error that reading a chain raises; `problem_of` has the same."""
    with pytest.raises(IK2DError) as caught:
        read_chain(armature, chain)
    assert problem_of(armature, chain) == str(caught.value)
    return str(caught.value)


def test_a_pole_is_followed_after_the_target():
    armature, chain = leg_with_pole()
    rig = read_chain(armature, chain)
    assert rig.pole == (chain.pole, "") and rig.followed == [(chain.target, ""), (chain.pole, "")]
    assert rig.swing.rule == 'POLE' and rig.plane_taken == "towards the pole"
    chain.pole, chain.pole_subtarget = armature, "body"
    assert read_chain(armature, chain).followed[1] == (armature, "body")


@pytest.mark.parametrize("plane", ('AUTO', 'X', 'SWING', 'ARC'))
def test_in_other_planes_a_pole_does_not_count(plane):
    armature, chain = leg_with_pole()
    chain.plane, chain.pole_subtarget = plane, "nowhere"
    rig = read_chain(armature, chain)
    assert rig.pole is None and rig.followed == [(chain.target, "")] and not problem_of(armature, chain)


def test_a_first_bone_with_locks_follows_no_pole():
    armature, chain = leg_with_pole()
    armature.pose.bones["thigh"].lock_rotation[1] = True
    rig = read_chain(armature, chain)
    assert rig.swing is None and rig.pole is None
    assert any("locks on the rotation of 'thigh' keep its plane" in warning for warning in rig.warnings)


def test_a_plane_towards_a_pole_needs_one():
    assert refusal(*leg_with_pole("")) == (
        "Chain 'shin' has no pole; choose the object that its knee or elbow points at, or set Bends In to "
        "another plane"
    )


def test_a_bone_that_the_pole_has_not_is_told():
    armature, chain = leg_with_pole()
    chain.pole_subtarget = "control"
    words = "Chain 'shin': its pole '{}' has no bone 'control'; choose another bone or none"
    assert refusal(armature, chain) == words.format("Pole")
    chain.pole = add_leg("Other")
    assert refusal(armature, chain) == words.format("Other")
    chain.pole_subtarget = "body"
    assert not problem_of(armature, chain)


@pytest.mark.parametrize("bone", ("thigh", "shin"))
def test_a_pole_on_the_chains_own_bone_is_refused(bone):
    armature, chain = leg_with_pole()
    chain.pole, chain.pole_subtarget = armature, bone
    assert refusal(armature, chain) == (
        f"Chain 'shin': its pole bone '{bone}' is moved by the chain itself: it depends on bone '{bone}';"
        " choose a pole that does not"
    )
    chain.pole_subtarget = "body"
    assert not problem_of(armature, chain)


def test_a_pole_that_hangs_on_the_chains_bone_is_refused():
    armature, chain = leg_with_pole()
    chain.pole.parent, chain.pole.parent_type, chain.pole.parent_bone = armature, 'BONE', "thigh"
    assert "its pole 'Pole' is moved by the chain itself: it depends on bone 'thigh'" in refusal(
        armature, chain
    )
    chain.pole.parent_bone = "body"
    assert not problem_of(armature, chain)


@pytest.mark.parametrize("plane", ('SWING', 'ARC'))
def test_a_single_bone_that_slides_stays_in_one_plane(plane):
    armature = add_armature({"boom": ((0, 0, 0), (0, 1.0, 0.0), "", 0.0)})
    chain = add_chain(armature, "boom", add_target({}), bone_count=1, plane=plane)
    assert read_chain(armature, chain).aims
    set_slide(chain, "boom", 0.0, 1.0)
    assert refusal(armature, chain) == (
        "Chain 'boom': a single bone that slides stays in one plane; turn Slide off, or set Bends In to "
        "another plane"
    )
    chain.plane = 'X'
    assert not read_chain(armature, chain).aims


def test_a_single_bone_aims_unless_its_distance_counts():
    armature, chain = leg(bone_count=1)
    assert read_chain(armature, chain).aims
    chain.aim_distance = True
    assert not read_chain(armature, chain).aims
    chain.aim_distance, chain.bone_count = False, 2
    assert not read_chain(armature, chain).aims


# --- The plane ------------------------------------------------------------------------------------


@pytest.mark.parametrize("letter, normal", [('X', (1, 0, 0)), ('Y', (0, 1, 0)), ('Z', (0, 0, 1))])
def test_a_chosen_plane_faces_the_armatures_axis(letter, normal):
    armature = add_armature({"a": ((0, 0, 0), (1, 1, 1), "", 0.0), "b": ((1, 1, 1), (2, 3, 2), "a", 0.0)})
    rig = read_chain(armature, add_chain(armature, "b", add_target({}), plane=letter))
    assert rig.plane.normal == pytest.approx(normal, abs=1e-12)


def test_the_automatic_planes_normal_makes_the_rest_bend_positive():
    for side in (1, -1):
        armature = add_armature(
            {"a": ((0, 0, 0), (0, 1, 0), "", 0.0), "b": ((0, 1, 0), (0, 2, 0.5 * side), "a", 0.0)}
        )
        rig = read_chain(armature, add_chain(armature, "b", add_target({})))
        assert rig.plane.normal == pytest.approx((side, 0, 0), abs=EXACT)


@pytest.mark.parametrize("roll", [0.0, 0.7, -2.0])
def test_a_straight_chains_plane_faces_its_first_bones_x(roll):
    armature = add_armature({"a": ((0, 0, 0), (0, 0, 1), "", roll), "b": ((0, 0, 1), (0, 0, 2), "a", 0.0)})
    rig = read_chain(armature, add_chain(armature, "b", add_target({})))
    assert rig.plane.normal == pytest.approx(armature.data.bones["a"].matrix_local.col[0].xyz, abs=EXACT)


def test_a_chain_that_has_no_such_plane_is_named():
    armature = add_armature({"a": ((0, 0, 0), (0, 0, 1), "", 0.0)})
    chain = add_chain(armature, "a", None, bone_count=1, plane='Z')
    bones = [armature.pose.bones["a"]]
    with pytest.raises(IK2DError, match="^Chain 'a': the chain is at right angles to its plane"):
        bend_plane(chain, bones, rest_joints(bones))


def test_a_hundredth_of_the_reach_off_the_plane_is_far():
    assert math.isclose(FAR_OFF_PLANE, 0.01)
