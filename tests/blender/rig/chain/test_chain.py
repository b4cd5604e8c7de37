# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading a chain from an armature: what its settings come to, and what is said of a faulty one."""

import math

import numpy as np
import pytest
from read_legs import EXACT, leg, leg_with_pole, refusal
from rigs import add_armature, add_chain, add_target, set_slide

from ik2d_addon.core import IK2DError, Plane
from ik2d_addon.rig.chain.chain import FAR_OFF_PLANE, problem_of, read_chain
from ik2d_addon.rig.chain.checks.bones import rest_joints
from ik2d_addon.rig.chain.planes import bend_plane


def test_every_setting_reaches_the_chain():
    armature, chain = leg(
        bend='NEGATIVE', iterations=17, tolerance=0.125, softness=0.25, influence=0.5, name="left"
    )
    rig = read_chain(armature, chain)
    assert rig.armature == armature and rig.name == "left"
    assert rig.bones == ("thigh", "shin")
    assert [bone.name for bone in rig.pose_bones] == ["thigh", "shin"]
    assert rig.target == chain.target and rig.subtarget == ""
    settings = rig.settings
    assert (settings.bend, settings.iterations, settings.tolerance) == (-1, 17, 0.125)
    assert (settings.softness, settings.influence) == (0.25, 0.5)
    assert armature.path_resolve(rig.settings.path) == chain
    assert rig.remarks.plane == "rest pose's bend" and not rig.remarks.other_controls
    assert rig.warnings == ()


def test_the_defaults_are_positive_bend_and_the_solvers_own_tolerance():
    rig = read_chain(*leg())
    settings = rig.settings
    assert (settings.bend, settings.tolerance, settings.softness, settings.influence) == (1, None, 0.0, 1.0)


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
    assert read_chain(armature, chain).settings.solver == expected


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
    assert rig.remarks.off_plane == pytest.approx(0.5, abs=EXACT)


def test_joints_that_locks_hold_are_named_before_all_else():
    armature, chain = leg(bone_count=3)
    armature.pose.bones["shin"].constraints.new('LIMIT_ROTATION')  # no matter of reading
    for name in ("shin", "thigh", "body"):
        armature.pose.bones[name].lock_rotation = (True, True, True)
        rig = read_chain(armature, chain)
        (told,) = rig.warnings
        assert told.startswith("Chain 'shin': locks hold '")
    assert told == "Chain 'shin': locks hold 'body', 'thigh' and 'shin', so they do not turn"
    rig = rig.with_remarks(notes=("First.", "Second."))
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
    assert (turned.plane, turned.remarks.plane) == (plane, "another one")
    assert turned.remarks.off_plane == expected.remarks.off_plane == pytest.approx(0.5, abs=EXACT)
    assert (turned.joints.axes == expected.joints.axes).all()
    assert turned.joints.weights.tolist() == [1.0, 0.5]
    assert rig.remarks.off_plane == pytest.approx(0.2, abs=EXACT)
    assert (turned.bones, turned.target) == (rig.bones, rig.target)


def test_problem_of_is_the_sentence_that_reading_raises():
    armature, chain = leg()
    assert problem_of(armature, chain) == ""
    chain.target = None
    assert problem_of(armature, chain) == "Chain 'shin' has no target; choose the object that its tip follows"


# --- The pole -------------------------------------------------------------------------------------


def test_a_pole_is_followed_after_the_target():
    armature, chain = leg_with_pole()
    rig = read_chain(armature, chain)
    assert rig.pole == (chain.pole, "") and rig.followed == [(chain.target, ""), (chain.pole, "")]
    assert rig.swing.rule == 'POLE' and rig.remarks.plane == "towards the pole"
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


@pytest.mark.parametrize("plane", ('SWING', 'ARC'))
def test_a_single_bone_that_slides_stays_in_one_plane(plane):
    armature = add_armature({"boom": ((0, 0, 0), (0, 1.0, 0.0), "", 0.0)})
    chain = add_chain(armature, "boom", add_target({}), bone_count=1, plane=plane)
    assert read_chain(armature, chain).settings.aims
    set_slide(chain, "boom", 0.0, 1.0)
    assert refusal(armature, chain) == (
        "Chain 'boom': a single bone that slides stays in one plane; turn Slide off, or set Bends In to "
        "another plane"
    )
    chain.plane = 'X'
    assert not read_chain(armature, chain).settings.aims


def test_a_single_bone_aims_unless_its_distance_counts():
    armature, chain = leg(bone_count=1)
    assert read_chain(armature, chain).settings.aims
    chain.aim_distance = True
    assert not read_chain(armature, chain).settings.aims
    chain.aim_distance, chain.bone_count = False, 2
    assert not read_chain(armature, chain).settings.aims


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
