# SPDX-License-Identifier: GPL-3.0-or-later
"""What a chain takes over from an IK constraint, read and said before anything is changed."""

import bpy
import ik_rigs
import numpy as np
import pytest
from ik_rigs import ALL_RIGS, PATH, from_the_tip, with_hinged_hip
from snapshots import differences
from whole_rig import whole_rig

from ik2d_addon.features.adopt.course import targets_of
from ik2d_addon.features.adopt.limbs import limbs_of
from ik2d_addon.features.adopt.plan import read_plan
from ik2d_addon.features.adopt.poses import frames_of, watched
from ik2d_addon.features.adopt.words import in_words


def plan_of(armature):
    """Return the plan of the armature's one limb."""
    scene = bpy.context.scene
    scene.frame_set(1)
    limbs = limbs_of(armature, (1.0, 20.0)).limbs
    targets = targets_of(limbs)
    frames = frames_of(scene, armature, [target for target, _ in targets])
    acting = [limb.constraints[0] for limb in limbs]
    seen = watched(scene, armature, [limb.bones for limb in limbs], targets, frames, acting=acting)
    return in_words(read_plan(limbs[0], seen))


@pytest.mark.parametrize("make", ALL_RIGS, ids=lambda make: make.__name__)
def test_reading_changes_nothing(make):
    armature = make()
    bpy.context.scene.frame_set(1)
    before = whole_rig(armature)
    plan_of(armature)
    assert not differences(before, whole_rig(armature))


@pytest.mark.parametrize(
    "make, sides",
    [
        (ik_rigs.from_the_tip, [(1, 1.0)]),
        (lambda: with_hinged_hip(ik_rigs.pole_in_front()), [(1, 1.0)]),
        (lambda: with_hinged_hip(ik_rigs.pole_behind()), [(1, -1.0)]),
        (ik_rigs.hinged_goes_behind, [(1, 1.0), (12, -1.0)]),
    ],
)
def test_the_sides_are_those_the_limb_bends_to(make, sides):
    assert list(plan_of(make()).sides) == sides


def test_a_target_off_the_plane_is_measured_in_the_world():
    path = {frame: (0.25 if frame == 10 else 0.0, y, z) for frame, (_, y, z) in PATH.items()}
    armature = with_hinged_hip(from_the_tip(path))
    plan = plan_of(armature)
    assert plan.off_plane == (pytest.approx(0.25, abs=1e-5), 10)
    armature.scale = (2.0, 2.0, 2.0)
    assert plan_of(armature).off_plane[0] == pytest.approx(0.25, abs=1e-5)


def test_a_body_that_turns_takes_the_plane_along():
    armature = with_hinged_hip(from_the_tip())
    body = armature.pose.bones["body"]
    body.rotation_mode = 'XYZ'
    for frame, turn in ((1, 0.0), (20, 0.5)):
        body.rotation_euler = (0, turn, 0)
        body.keyframe_insert("rotation_euler", frame=frame)
    plan = plan_of(armature)
    assert plan.off_plane[0] > 0.1 and plan.off_plane[1] > 10


def test_turns_out_of_the_plane_are_said_with_angle_and_frame():
    armature = with_hinged_hip(ik_rigs.with_pole())
    pole = bpy.data.objects["Pole"]
    pole.animation_data_clear()
    pole.location = (3.0 * np.sin(0.5), -3.0 * np.cos(0.5), 1.0)
    # Seen along the lines from the hip to the target, these 28.6 degrees are more.
    (line,) = [line for line in plan_of(armature).lost if line.startswith("turns out")]
    assert float(line.partition("up to ")[2].partition("°")[0]) == pytest.approx(34.0, abs=6.0)


@pytest.mark.parametrize(
    "make, choice",
    [
        (ik_rigs.from_the_tip, 'AUTO'),  # it moves, and stays in the plane
        (lambda: from_the_tip({1: (0.3, 0.2, 0.3), 20: (-0.3, -0.7, 0.7)}), 'SWING'),
        (lambda: from_the_tip({1: (0, 0.2, 0.3)}), 'SWING'),  # it may go anywhere
        (ik_rigs.pole_in_front, 'POLE'),
        (ik_rigs.hinged_goes_behind, 'AUTO'),
        (ik_rigs.hinges, 'AUTO'),
    ],
)
def test_the_plane_is_the_rigs(make, choice):
    assert plan_of(make()).plane.choice == choice


def test_a_pole_that_hangs_on_the_limb_is_left_out():
    armature = ik_rigs.pole_in_front()
    constraint = armature.pose.bones["shin"].constraints[0]
    constraint.pole_target.parent, constraint.pole_target.parent_type = armature, 'BONE'
    constraint.pole_target.parent_bone = "foot"
    constraint.target.location.x = 0.3
    constraint.target.keyframe_insert("location", frame=5)
    plan = plan_of(armature)
    assert plan.pole is None and plan.plane.choice in ('SWING', 'AUTO')
    assert any("depends on the limb itself" in line for line in plan.lost) is (plan.plane.choice == 'SWING')


def test_later_bones_that_inherit_no_rotation_keep_the_plane():
    armature = ik_rigs.pole_in_front()
    armature.data.bones["shin"].use_inherit_rotation = False
    assert plan_of(armature).plane.choice in ('AUTO', 'CUSTOM')


def test_stiffness_about_other_axes_is_no_weight():
    armature = from_the_tip()
    armature.pose.bones["thigh"].ik_stiffness_y = 0.9
    armature.pose.bones["shin"].ik_stiffness_x = 0.25
    assert plan_of(armature).joints.weights == {"shin": pytest.approx(0.75, abs=0.01)}
