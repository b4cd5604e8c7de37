# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own limits as ranges in the chain's plane."""

import math

import numpy as np
import pytest
from rigs import add_armature, add_crane, connect, disconnect

from ik2d_addon.core import Plane
from ik2d_addon.rig.chain.bone_limits import limits_of_bones, slides_of_bones
from ik2d_addon.rig.chain.slides import slide_directions

FLAT = [(0, 0, 0), (0, 1, 0)]
ABOUT_X = Plane.facing(FLAT, (1, 0, 0))
# A bone along +Y without roll has its own axes along the armature's.
BONE = {"a": ((0, 0, 0), (0, 1, 0), "", 0.0)}


def bone(roll=0.0):
    armature = add_armature({"a": (*BONE["a"][:3], roll)})
    return armature.pose.bones["a"]


def ranges(bone, plane=ABOUT_X):
    """Return the bone's range or None, and whether it is told as slanted."""
    found, slanted = limits_of_bones([bone], plane)
    return found.get("a"), slanted == ["a"]


def limit_rotation(bone, low, high, **settings):
    constraint = bone.constraints.new('LIMIT_ROTATION')
    constraint.owner_space, constraint.use_limit_x = 'LOCAL', True
    constraint.min_x, constraint.max_x = low, high
    for name, value in settings.items():
        setattr(constraint, name, value)
    return constraint


def test_a_bone_without_limits_has_no_range():
    assert ranges(bone()) == (None, False)
    assert ranges(bone(0.7)) == (None, False)


def test_the_axis_of_the_plane_decides():
    limited = bone()
    limited.use_ik_limit_x, limited.ik_min_x, limited.ik_max_x = True, -0.5, 1.0
    limited.use_ik_limit_z, limited.ik_min_z, limited.ik_max_z = True, -0.25, 2.0
    assert ranges(limited)[0] == pytest.approx((-0.5, 1.0))
    against = Plane.facing(FLAT, (-1, 0, 0))
    assert ranges(limited, against)[0] == pytest.approx((-1.0, 0.5))
    assert ranges(limited, Plane.facing(FLAT, (0, 0, 1)))[0] == pytest.approx((-0.25, 2.0))
    assert ranges(limited, Plane.facing(FLAT, (0, 0, -1)))[0] == pytest.approx((-2.0, 0.25))


@pytest.mark.parametrize("roll, told", [(0.045, False), (0.055, True), (0.7, True)])
def test_a_bone_off_the_planes_axis_is_told_where_it_has_limits_at_all(roll, told):
    limited = bone(roll)
    limited.use_ik_limit_y = True
    assert ranges(limited) == (None, told)
    limited.use_ik_limit_y, limited.use_ik_limit_x = False, True
    limited.ik_min_x, limited.ik_max_x = -0.5, 1.0
    found, slanted = ranges(limited)
    assert slanted == told and (found is None) == told


def test_of_several_ranges_what_all_allow_is_left():
    limited = bone()
    limited.use_ik_limit_x, limited.ik_min_x, limited.ik_max_x = True, -1.0, 1.0
    limit_rotation(limited, -0.5, 2.0)
    limit_rotation(limited, -2.0, 0.75)
    assert ranges(limited)[0] == pytest.approx((-0.5, 0.75))


def test_of_ranges_that_exclude_each_other_the_last_holds():
    limited = bone()
    limited.use_ik_limit_x, limited.ik_min_x, limited.ik_max_x = True, -1.0, 0.0
    limit_rotation(limited, 0.5, 2.0)
    assert ranges(limited)[0] == pytest.approx((0.5, 2.0))


def test_ranges_that_touch_leave_one_angle():
    limited = bone()
    limit_rotation(limited, -1.0, 0.5)
    limit_rotation(limited, 0.5, 2.0)
    assert ranges(limited)[0] == pytest.approx((0.5, 0.5))


def test_a_constraints_ends_may_be_given_in_either_order():
    limited = bone()
    constraint = limit_rotation(limited, -0.5, 0.75)
    constraint.min_x, constraint.max_x = 0.75, -0.5
    low, high = sorted((constraint.min_x, constraint.max_x))
    assert ranges(limited)[0] == pytest.approx((low, high))


@pytest.mark.parametrize(
    "settings",
    [{"mute": True}, {"influence": 0.0}, {"owner_space": 'WORLD'}, {"use_limit_x": False}],
    ids=str,
)
def test_a_constraint_that_does_not_act_on_that_axis_limits_nothing(settings):
    limited = bone()
    limit_rotation(limited, -0.5, 0.75, **settings)
    assert ranges(limited) == (None, False)


def test_a_constraint_of_little_influence_limits_still():
    limited = bone()
    limit_rotation(limited, -0.5, 0.75, influence=0.1)
    assert ranges(limited)[0] == pytest.approx((-0.5, 0.75))


def test_other_constraints_limit_nothing():
    limited = bone()
    limited.constraints.new('LIMIT_LOCATION').owner_space = 'LOCAL'
    assert ranges(limited) == (None, False)


@pytest.mark.parametrize("turn", [0.4, -0.4, 3.0, -3.0])
def test_an_ik_lock_leaves_the_angle_that_the_bone_has(turn):
    locked = bone()
    locked.rotation_mode = 'XYZ'
    locked.rotation_euler.x = turn
    locked.lock_ik_x = True
    assert ranges(locked)[0] == pytest.approx((turn, turn), abs=1e-6)
    locked.lock_ik_x, locked.lock_ik_z = False, True
    assert ranges(locked) == (None, False)


def test_an_ik_locks_angle_is_the_shorter_way_round():
    locked = bone()
    locked.rotation_quaternion = (-math.cos(0.2), -math.sin(0.2), 0.0, 0.0)
    locked.lock_ik_x = True
    assert ranges(locked)[0] == pytest.approx((0.4, 0.4), abs=1e-6)


def test_each_bone_has_its_own():
    armature = add_armature(
        {**BONE, "b": ((0, 1, 0), (0, 2, 0), "a", 0.7), "c": ((0, 2, 0), (0, 3, 0), "b", 0.0)}
    )
    bones = [armature.pose.bones[name] for name in "abc"]
    for each in bones:
        each.use_ik_limit_x, each.ik_min_x, each.ik_max_x = True, -0.5, 1.0
    found, slanted = limits_of_bones(bones, ABOUT_X)
    assert list(found) == ["a", "c"] and slanted == ["b"]


# --- Slides ---------------------------------------------------------------------------------------


def limit_location(bone, axis="y", low=None, high=None, space='LOCAL'):
    """Give a bone a Limit Location along one of its axes."""
    constraint = bone.constraints.new('LIMIT_LOCATION')
    constraint.owner_space = space
    for end, value in (("min", low), ("max", high)):
        if value is not None:
            setattr(constraint, f"use_{end}_{axis}", True)
            setattr(constraint, f"{end}_{axis}", value)
    return constraint


def slides(armature, own=False, bases=None):
    bones = [armature.pose.bones[name] for name in ("boom", "inner", "outer")]
    bases = np.zeros((3, 3)) if bases is None else np.array(bases)
    return slides_of_bones(bones, slide_directions(bones), bases, own)


def test_a_slide_is_limited_by_the_location_of_the_bone_that_carries_it():
    armature, _ = add_crane({})
    limit_location(armature.pose.bones["inner"], low=-0.25, high=1.5)
    assert slides(armature) == ({"boom": (-0.25, 1.5)}, [])


def test_what_limits_the_last_bone_is_the_slide_before_it_or_its_own():
    armature, _ = add_crane({})
    limit_location(armature.pose.bones["outer"], low=0.0, high=1.5)
    assert slides(armature) == ({"inner": (0.0, 1.5)}, [])
    assert slides(armature, own=True) == ({"outer": (0.0, 1.5)}, [])


def test_a_slide_counts_from_where_the_bone_is_without_it():
    armature, _ = add_crane({})
    limit_location(armature.pose.bones["inner"], low=0.0, high=1.5)
    bases = [(0, 0, 0), (0, 0.5, 0), (0, 0, 0)]
    assert slides(armature, bases=bases) == ({"boom": (-0.5, 1.0)}, [])


def test_along_a_bone_that_stands_against_the_axis_the_ends_change_places():
    armature = add_armature(
        {
            "boom": ((0, 0, 0), (0, 2.0, 0), "", 0.0),
            "inner": ((0, 2.0, 0), (0, 1.0, 0), "boom", 0.0),
            "outer": ((0, 1.0, 0), (0, 0.5, 0), "inner", 0.0),
        }
    )
    disconnect(armature)
    limit_location(armature.pose.bones["inner"], low=-1.0, high=0.25)
    (found, _) = slides(armature)
    assert found["boom"] == pytest.approx((-0.25, 1.0))


def test_across_the_slide_limits_say_nothing():
    armature, _ = add_crane({})
    limit_location(armature.pose.bones["inner"], axis="x", low=0.0, high=0.0)
    assert slides(armature) == ({}, [])


@pytest.mark.parametrize("end", ["low", "high"])
def test_a_slide_with_one_end_is_told(end):
    armature, _ = add_crane({})
    limit_location(armature.pose.bones["inner"], **{end: 0.5})
    assert slides(armature) == ({}, ["boom"])


def test_connected_bones_and_other_spaces_give_no_slides():
    armature, _ = add_crane({})
    limit_location(armature.pose.bones["inner"], low=0.0, high=1.0, space='WORLD')
    muted = limit_location(armature.pose.bones["inner"], low=0.0, high=1.0)
    muted.mute = True
    assert slides(armature) == ({}, [])
    muted.mute = False
    connect(armature, "inner")
    assert slides(armature) == ({}, [])
