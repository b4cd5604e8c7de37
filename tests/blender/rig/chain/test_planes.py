# SPDX-License-Identifier: GPL-3.0-or-later
"""Which plane a chain takes, by its settings, its hinges and its rest pose, and what each is called."""

import math

import numpy as np
import pytest
from rigs import add_armature, add_chain

from ik2d_addon.core import IK2DError, Plane
from ik2d_addon.core.words import noted
from ik2d_addon.rig.chain import planes
from ik2d_addon.rig.chain.checks.bones import rest_joints
from ik2d_addon.rig.chain.joints import HINGE
from ik2d_addon.rig.chain.planes import (
    FOLLOWING,
    bend_plane,
    choose_plane,
    line_of,
    plane_through,
    pole_side,
    reach_of,
    read_swing,
    swing_note,
)

EXACT = 1e-6
X, Y, Z = np.eye(3)
STRAIGHT = np.array([(0, 0, 0), (0, 0, 1), (0, 0, 2)], np.float64)


def add_arm(points, rolls=None):
    """Add a chain of bones through points; return it and its bones."""
    bones = {
        f"b{i}": (tuple(a), tuple(b), f"b{i - 1}" if i else "", rolls[i] if rolls else 0.0)
        for i, (a, b) in enumerate(zip(points, points[1:], strict=False))
    }
    armature = add_armature(bones)
    chain = add_chain(armature, list(bones)[-1], None, bone_count=0, name="arm")
    return chain, [armature.pose.bones[name] for name in bones]


def lock_all_but(bone, *axes):
    bone.rotation_mode = 'XYZ'
    bone.lock_rotation = [index not in axes for index in range(3)]


def chosen(chain, bones, choice='AUTO'):
    plane, taken = choose_plane(chain, choice, bones, rest_joints(bones))
    return plane.normal, taken


BENT = [(0, 0, 0), (0, 1, 0), (0, 2, 0.5)]


# --- Chosen ---------------------------------------------------------------------------------------


def test_every_plane_is_noted_for_translators():
    chain, bones = add_arm([(0, 0, 0), (1, 1, 1), (2, 3, 2)])
    chain.plane_normal = (0, 3, 4)
    for choice in ('AUTO', 'X', 'Y', 'Z', 'CUSTOM', *FOLLOWING):
        assert type(choose_plane(chain, choice, bones, rest_joints(bones))[1]) is noted


def test_the_axes_and_an_own_normal_are_called_what_they_are():
    chain, bones = add_arm([(0, 0, 0), (1, 1, 1), (2, 3, 2)])
    for choice, axis in (('X', X), ('Y', Y), ('Z', Z)):
        normal, taken = chosen(chain, bones, choice)
        assert normal == pytest.approx(axis) and taken == f"across the armature's {choice}"
    chain.plane_normal = (0, 3, 4)
    normal, taken = chosen(chain, bones, 'CUSTOM')
    assert normal == pytest.approx((0, 0.6, 0.8)) and taken == "its own normal"
    chain.plane = 'Y'
    assert bend_plane(chain, bones, rest_joints(bones)).normal == pytest.approx(Y)


def test_an_own_normal_of_nothing_is_refused():
    chain, bones = add_arm(BENT)
    chain.plane_normal = (0, 0, 0)
    with pytest.raises(IK2DError) as caught:
        chosen(chain, bones, 'CUSTOM')
    assert str(caught.value) == (
        "Chain 'arm': its own plane has no normal; give it one, or set Bends In to another plane"
    )


def test_hinges_are_refused_where_there_are_none():
    chain, bones = add_arm(BENT)
    with pytest.raises(IK2DError) as caught:
        chosen(chain, bones, 'HINGES')
    assert str(caught.value) == (
        "Chain 'arm': no joint of it has locks that leave it one axis to bend about; lock two axes of a"
        " bone's rotation, or set Bends In to another plane"
    )


# --- Automatic ------------------------------------------------------------------------------------


def test_a_bent_chain_without_hinges_takes_its_bend():
    normal, taken = chosen(*add_arm(BENT))
    assert normal == pytest.approx(X, abs=EXACT) and taken == "rest pose's bend"


@pytest.mark.parametrize("roll", [0.0, 0.7])
def test_a_straight_chain_takes_its_first_bones_x(roll):
    chain, bones = add_arm(STRAIGHT, (roll, 0.3))
    normal, taken = chosen(chain, bones)
    assert taken == "first bone's X"
    assert normal == pytest.approx(np.array(bones[0].bone.matrix_local.col[0].xyz), abs=EXACT)


@pytest.mark.parametrize("aside, expected", [(0.009, "first bone's Z"), (0.011, "first bone's X")])
def test_where_x_is_along_the_line_z_is_taken(aside, expected):
    """As of a first bone that stands across a long line of others."""
    first = 1e-4  # so short that the line is that of the others
    direction = np.array((math.cos(aside), 0.0, math.sin(aside)))
    points = [(0, -first, 0), (0, 0, 0), direction, 2 * direction]
    chain, bones = add_arm(points)
    assert abs(bones[0].bone.matrix_local.col[0].x) == pytest.approx(1.0)
    normal, taken = chosen(chain, bones)
    assert taken == expected
    assert abs(normal @ direction) < 1e-5


def test_hinges_that_agree_are_taken_where_all_that_turn_are_hinges():
    rolls = (0.05, -0.05)
    chain, bones = add_arm(BENT, rolls)
    lock_all_but(bones[0], 0)
    assert chosen(chain, bones)[1] == "rest pose's bend"  # the other turns freely
    lock_all_but(bones[1], 0)
    normal, taken = chosen(chain, bones)
    assert taken == "the hinges' axis"
    axes = [np.array(bone.bone.matrix_local.col[0].xyz) for bone in bones]
    mean = axes[0] + axes[1] * np.sign(axes[0] @ axes[1])
    mean /= np.linalg.norm(mean)
    assert normal == pytest.approx(mean * np.sign(mean @ X), abs=EXACT)
    assert chosen(chain, bones, 'HINGES')[0] == pytest.approx(normal)


def test_a_bone_that_is_held_needs_to_be_no_hinge():
    chain, bones = add_arm(BENT)
    lock_all_but(bones[0], 0)
    lock_all_but(bones[1])
    assert chosen(chain, bones)[1] == "the hinges' axis"


def test_of_a_straight_chain_one_hinge_is_enough():
    chain, bones = add_arm(STRAIGHT)
    lock_all_but(bones[1], 2)
    normal, taken = chosen(chain, bones)
    assert taken == "the hinges' axis"
    assert np.abs(normal) == pytest.approx(np.abs(bones[1].bone.matrix_local.col[2].xyz), abs=EXACT)


def test_a_hinge_about_the_chains_own_line_is_none():
    chain, bones = add_arm(STRAIGHT)
    lock_all_but(bones[1], 1)
    assert chosen(chain, bones)[1] == "first bone's X"
    with pytest.raises(IK2DError, match="no joint of it"):
        chosen(chain, bones, 'HINGES')


@pytest.mark.parametrize("lever, counts", [(0.009, False), (0.011, True)])
def test_a_hinge_bends_where_its_axis_passes_the_tip_by_a_hundredth_of_the_chain(lever, counts):
    chain, bones = add_arm([(0, 0, 0), (0, 0, 1), (0, 2 * lever, 2)])
    lock_all_but(bones[0], 1)  # about itself, along Z
    try:
        found = chosen(chain, bones, 'HINGES')[1] == "the hinges' axis"
    except IK2DError:
        found = False
    assert found == counts


@pytest.mark.parametrize("apart, agree", [(0.99 * HINGE, True), (1.01 * HINGE, False)])
def test_hinges_agree_within_fifteen_degrees_to_either_side(apart, agree):
    for turned in (0.0, math.pi):
        chain, bones = add_arm(STRAIGHT, (0.0, apart + turned))
        for bone in bones:
            lock_all_but(bone, 0)
        assert (chosen(chain, bones)[1] == "the hinges' axis") == agree


def test_the_most_hinges_that_agree_are_taken_and_the_first_where_two_tie():
    points = [(0, 0, i) for i in range(4)]
    chain, bones = add_arm(points, (1.0, 0.0, 0.1))
    for bone in bones:
        lock_all_but(bone, 0)
    assert chosen(chain, bones)[1] == "first bone's X"  # they do not all agree
    axes = [np.array(bone.bone.matrix_local.col[0].xyz) for bone in bones]
    expected = axes[1] + axes[2]
    assert abs(chosen(chain, bones, 'HINGES')[0] @ expected) == pytest.approx(np.linalg.norm(expected))
    bones[2].lock_rotation = (True, True, True)
    assert abs(chosen(chain, bones, 'HINGES')[0] @ axes[0]) == pytest.approx(1.0)


# --- Following ------------------------------------------------------------------------------------


def add_following(points, plane, rolls=None, **settings):
    """Add a chain whose plane follows its target; return it, its bones and their joints."""
    chain, bones = add_arm(points, rolls)
    chain.plane = plane
    for name, value in settings.items():
        setattr(chain, name, value)
    return chain, bones, rest_joints(bones)


def swing_of(chain, bones, joints):
    return read_swing(chain, bones, joints, bend_plane(chain, bones, joints))


@pytest.mark.parametrize("plane", FOLLOWING)
def test_a_bent_chain_whose_plane_follows_takes_its_bend_in_rest(plane):
    chain, bones, joints = add_following(BENT, plane, pole_angle=0.7)
    normal, taken = chosen(chain, bones, plane)
    assert normal == pytest.approx(Plane.of_bend(joints).normal) and taken == FOLLOWING[plane]
    swing = swing_of(chain, bones, joints)
    assert swing.rule == plane and swing.normal == pytest.approx(normal)
    assert swing.along == pytest.approx(np.array((0.0, 2.0, 0.5)) / np.hypot(2.0, 0.5))


@pytest.mark.parametrize("angle", (0.0, 0.5, math.pi, -2.0))
@pytest.mark.parametrize("roll", (0.0, 0.8))
def test_a_straight_chain_bends_to_the_side_that_faces_its_pole(angle, roll):
    chain, bones, joints = add_following(STRAIGHT, 'POLE', [roll, 0.3], pole_angle=angle)
    side = pole_side(bones[0], angle)
    assert chosen(chain, bones, 'POLE')[0] == pytest.approx(np.cross(side, Z), abs=EXACT)
    assert swing_of(chain, bones, joints).side == pytest.approx(side, abs=EXACT)


def test_a_straight_chain_without_a_pole_takes_its_own_normal_where_it_has_one():
    for plane in ('SWING', 'ARC'):
        chain, bones, _ = add_following(STRAIGHT, plane, [0.4, 0.0])
        assert chosen(chain, bones, plane)[0] == pytest.approx(chosen(chain, bones, 'AUTO')[0])
        chain.plane_normal = (0.6, 0.8, 0.3)
        normal, taken = chosen(chain, bones, plane)
        assert normal == pytest.approx((0.6, 0.8, 0.0), abs=EXACT) and taken == FOLLOWING[plane]
        chain.plane_normal = (0.0, 0.0, 1.0)  # along the chain: none
        assert chosen(chain, bones, plane)[0] == pytest.approx(chosen(chain, bones, 'AUTO')[0])


def test_the_side_for_a_pole_is_the_first_bones_x_turned_about_it():
    _, (first, _) = add_arm(BENT, [0.9, 0.0])
    x, y, z = (np.array(axis) for axis in first.bone.matrix_local.to_3x3().col)
    assert pole_side(first, 0.0) == pytest.approx(x)
    assert pole_side(first, math.pi / 2.0) == pytest.approx(z, abs=EXACT)
    assert pole_side(first, math.pi) == pytest.approx(-x, abs=EXACT)
    assert pole_side(first, 1.1) @ y == pytest.approx(0.0, abs=EXACT)


@pytest.mark.parametrize("plane", ('AUTO', 'X', 'CUSTOM'))
def test_a_fixed_plane_does_not_swing(plane):
    chain, bones, joints = add_following(BENT, plane)
    assert swing_of(chain, bones, joints) is None and not list(swing_note(chain, bones[0]))


@pytest.mark.parametrize("plane", FOLLOWING)
@pytest.mark.parametrize("lock", (0, 1, 2, "w"))
def test_a_first_bone_with_a_lock_keeps_its_plane_and_says_so(plane, lock):
    chain, bones, joints = add_following(BENT, plane)
    if lock == "w":
        bones[0].rotation_mode = 'QUATERNION'
        bones[0].lock_rotations_4d = bones[0].lock_rotation_w = True
    else:
        bones[0].lock_rotation[lock] = True
    assert swing_of(chain, bones, joints) is None
    normal, taken = chosen(chain, bones, plane)
    assert (normal == chosen(chain, bones, 'AUTO')[0]).all() and taken == chosen(chain, bones, 'AUTO')[1]
    assert list(swing_note(chain, bones[0])) == [
        "Chain 'arm': locks on the rotation of 'b0' keep its plane as it is in rest; unlock it, so that the"
        " plane can follow"
    ]


def test_locks_of_later_bones_do_not_hold_the_plane():
    chain, bones, joints = add_following(BENT, 'SWING')
    bones[1].lock_rotation = (True, True, True)
    assert swing_of(chain, bones, joints) is not None and not list(swing_note(chain, bones[0]))


@pytest.mark.parametrize("plane", FOLLOWING)
def test_a_later_bone_that_inherits_no_rotation_is_refused(plane):
    chain, bones, joints = add_following(BENT, plane)
    bones[0].bone.use_inherit_rotation = False
    assert swing_of(chain, bones, joints) is not None
    bones[1].bone.use_inherit_rotation = False
    with pytest.raises(IK2DError) as caught:
        swing_of(chain, bones, joints)
    assert str(caught.value) == (
        "Chain 'arm': 'b1' inherits no rotation, so it does not turn with a plane that follows its target;"
        " turn Inherit Rotation on, or set Bends In to another plane"
    )


def test_a_tip_that_rests_on_the_root_has_a_line_of_its_plane():
    chain, bones, joints = add_following([(0, 0, 0), (0, 1, 0), (0, 1, 1), (0, 0, 0.001)], 'SWING')
    swing, plane = swing_of(chain, bones, joints), bend_plane(chain, bones, joints)
    assert swing.along == pytest.approx(plane.x)
    assert abs(swing.along @ swing.normal) < EXACT and np.linalg.norm(swing.along) == pytest.approx(1.0)


def test_a_tip_off_the_plane_has_its_line_in_it():
    chain, bones, joints = add_following([(0, 0, 0), (1, 0.5, 0.1), (2, 0.6, -0.2), (2.5, 0, 0.3)], 'ARC')
    swing = swing_of(chain, bones, joints)
    assert abs(swing.along @ swing.normal) < EXACT
    line = joints[-1] - joints[0]
    assert swing.along == pytest.approx(
        (line - line @ swing.normal * swing.normal)
        / np.linalg.norm(line - line @ swing.normal * swing.normal)
    )


# --- Through points -------------------------------------------------------------------------------


def test_the_line_of_a_chain_is_that_nearest_to_its_joints():
    assert np.abs(line_of(STRAIGHT + (3, 4, 5))) == pytest.approx(Z)
    assert np.abs(line_of(np.array([(0, 0, 0), (1, 1, 0)], float))) == pytest.approx(
        [math.sqrt(0.5), math.sqrt(0.5), 0]
    )


def through(points, joints=STRAIGHT, normal=X):
    return plane_through(joints, np.array(points, np.float64), Plane.facing(joints, normal))


@pytest.mark.parametrize("angle", [0.3, 1.2, 1.9, 2.8, -0.7])
def test_points_beside_the_line_lay_the_plane_to_the_side_of_the_other_one(angle):
    aside = np.array((math.cos(angle), math.sin(angle), 0.0))
    for origin in ((0, 0, 0), (5, -3, 1)):
        plane = through([origin + aside + (0, 0, 1), origin - 2 * aside + (0, 0, 0.3)], STRAIGHT + origin, X)
        expected = np.cross(Z, aside)
        assert abs(plane.normal @ expected) == pytest.approx(1.0)
        assert plane.normal @ X > 0.0
        assert plane.origin == pytest.approx(origin)
    again = through([aside, aside * 0.5])
    assert again.normal == pytest.approx(plane.normal)  # of all paths in the same plane


@pytest.mark.parametrize("cosine, side", [(0.11, X), (-0.11, X), (0.09, Y), (-0.09, Y)])
def test_where_the_normals_are_across_one_another_the_side_is_another_ones(cosine, side):
    sine = math.sqrt(1 - cosine**2)
    for sign in (1, -1):
        plane = through([(-sign * sine, sign * cosine, 0.5)])
        expected = np.array((cosine, sine, 0.0))
        if side is X:
            expected *= np.sign(cosine)
        else:
            expected *= np.sign(np.cross(X, line_of(STRAIGHT)) @ expected)
        assert plane.normal == pytest.approx(expected)


@pytest.mark.parametrize("off, none", [(0.99e-6, True), (1.01e-6, False)])
def test_points_that_lie_in_the_other_plane_leave_it_as_it_is(off, none):
    assert (through([(2 * off, 0.5, 0.5), (0, 1.0, 1.0)]) is None) == none
    assert through([(0, 0.5, 0.5), (0, 1.0, 1.0)]) is None
    assert through([(0, 0, 0.5), (0, 0, 1.0)]) is None  # on the line


@pytest.mark.parametrize("across, none", [(0.96, True), (0.94, False), (1.0, True)])
def test_points_all_round_the_line_say_nothing(across, none):
    points = [(0, 1, 0), (0, -1, 1), (across, 0, 0), (-across, 0, 1)]
    plane = through(points)
    assert (plane is None) == none
    if plane is not None:
        assert plane.normal == pytest.approx(X, abs=1e-9)


def test_one_point_is_enough():
    assert np.abs(through([(1, 0, 0.5)]).normal) == pytest.approx(Y)


def test_words_for_planes_are_different():
    fixed = [planes.BEND, planes.HINGES, planes.FIRST_X, planes.FIRST_Z, planes.TARGET, planes.CUSTOM]
    words = [*fixed, *FOLLOWING.values()]
    assert len(set(words)) == 9 and planes.TARGET == "through the target's path"


def test_a_chains_reach_is_the_length_of_its_bones():
    assert reach_of(np.array([(1, 1, 1), (1, 4, 5), (1, 4, 7)], np.float64)) == 7.0
    assert reach_of(STRAIGHT[:1]) == 0.0
