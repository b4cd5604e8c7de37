# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a bake, of chains that were solved and played back."""

import dataclasses

import numpy as np
import pytest
from rigs import leg_with_target
from solved_chains import FRAMES, REACH, keyed, played, rig, told

from ik2d_addon.bake import bake
from ik2d_addon.bake.keys.keying import KeyPlan
from ik2d_addon.rig.animation.bone_channels import BoneRotation

# --- What is handed on ----------------------------------------------------------------------------


def test_everything_is_handed_on_to_the_report():
    one = keyed(
        rotations=[BoneRotation("shin", "rotation_euler", np.zeros((3, 3)))],
        distance=np.array([0.0, 1e-5, 0.0, 0.0]),
    )
    report, chain, warnings = told(
        one,
        played=played([10, 10.5, 13, 17], [3e-6, 0.125, 0.0, 1e-6], [4e-6, 0.0, 0.0, 0.0]),
        verified='ALL',
        full_scene="why",
        stepped="where",
        warnings=["look"],
        left_out=["gone"],
    )
    assert (report.armature, report.verb, report.full_scene) == ("Rig", "Baked", "why")
    assert report.stepped == "where"
    assert (report.rig_warnings, report.left_out) == (("look",), ("gone",))
    assert (chain.name, chain.armature, chain.bones) == ("leg", "Rig", ("thigh", "shin"))
    assert (chain.solver, chain.target, chain.standard.reach, chain.played.keys) == (
        'CCD',
        "Target",
        REACH,
        3,
    )
    assert chain.standard.tolerance == 1e-4
    assert (chain.standard.verified, chain.standard.bound, chain.circumstances.plane) == (
        'ALL',
        0.0,
        "the plane of its bend",
    )
    assert chain.frames.tolist() == FRAMES and chain.joints.iterations.tolist() == [0, 1, 2, 3]
    assert chain.played.keyed.tolist() == [True] * 4 and chain.distance[1] == 1e-5
    assert chain.joints.limited.shape == (4, 2) and chain.standard.units.system == 'METRIC'
    assert chain.played.on_frames[[0, 2, 3]] == pytest.approx([5e-6, 0.0, 1e-6])
    assert np.isnan(chain.played.on_frames[1])
    assert chain.played.between_times.tolist() == [10.5] and chain.played.between.tolist() == [0.125]
    assert warnings == []
    assert told(keyed(chain=rig(subtarget="hand")))[1].target == "Target/hand"


def test_without_playing_back_nothing_is_known_of_it():
    report, chain, _ = told(keyed(), keyed())
    assert len(report.chains) == 2
    assert np.isnan(chain.played.on_frames).all() and len(chain.played.between) == 0
    assert chain.played.worse_by == 0.0 and report.warnings == ()
    assert chain.standard.verified == 'SAMPLE' and report.rig_warnings == report.left_out == ()
    assert report.full_scene == ""


def test_where_keys_are_sparse_the_report_knows_which_frames_have_them():
    plan = KeyPlan(FRAMES, FRAMES, own={"leg": [10, 17], "arm": [12]})
    report, _, _ = told(keyed(), keyed(chain=rig(name="arm")), keyed(chain=rig(name="tail")), plan=plan)
    assert [chain.played.keyed.tolist() for chain in report.chains] == [
        [True, False, False, True],
        [False, True, False, False],
        [True] * 4,
    ]


def test_what_is_on_the_chains_bones_comes_first():
    one = keyed(chain=rig(warnings=("a", "b")), uneven_scale="bone 'x'")
    assert told(one)[2][:2] == ["a", "b"]


def test_joint_speed_is_by_the_frame_whatever_the_step():
    turns = np.radians([[0.0, 0.0], [4.0, -10.0], [7.0, -10.0], [7.0, 30.0]])
    assert told(keyed(turns=turns))[1].joints.speed == pytest.approx([0.0, 5.0, 3.0, 10.0])


def test_all_frames_between_the_keys_of_a_bake_in_steps_have_their_joint_speed():
    armature, _ = leg_with_target()
    every = bake(armature, frame_start=1, frame_end=41).chains[0]
    stepped = bake(armature, frame_start=1, frame_end=41, step=5).chains[0]
    assert stepped.frames.tolist() == every.frames.tolist() == list(range(1, 42))
    assert stepped.joints.speed == pytest.approx(every.joints.speed) and every.joints.speed[0] == 0.0


def test_only_the_reported_frames_are_reported():
    plan = KeyPlan([10, 11], [10.0, 10.5, 11.0], 0.1)
    one = keyed(3, residual=np.array([0.1, 0.2, 0.3]), turns=np.radians([[0.0] * 2, [5.0] * 2, [4.0] * 2]))
    chain = told(one, plan=plan)[1]
    assert chain.residual.tolist() == [0.1, 0.3] and chain.standard.bound == 0.1
    assert chain.joints.speed == pytest.approx([0.0, 4.0])


# --- Angles ---------------------------------------------------------------------------------------

SOLVED = np.array([[0.1, 0.2], [7.0, 0.3], [0.4, -0.5], [1.0, 2.0]])


def with_angles(solved=SOLVED, /, **changes):
    """Return a chain with these angles from rest at all times."""
    return dataclasses.replace(keyed(len(solved), **changes), angles=solved)


def measured(times, angles, in_plane=0.0):
    """Return the playing back of angles (m, 2) in -pi..pi."""
    (one,) = played(times, np.full(len(times), in_plane))
    return [dataclasses.replace(one, angles=np.array(angles))]


def test_angles_are_as_played_back_where_measured_with_the_whole_turns_of_the_solved():
    _, chain, _ = told(with_angles(), played=measured([12, 12.5, 17], [[0.7, 0.31], [9, 9], [1.01, 2.0]]))
    assert chain.joints.angles.from_rest[[0, 2]].tolist() == SOLVED[[0, 2]].tolist()
    assert chain.joints.angles.from_rest[1] == pytest.approx([0.7 + 2.0 * np.pi, 0.31])
    assert chain.joints.angles.from_rest[3] == pytest.approx([1.01, 2.0])
    assert chain.joints.angles.directions[3] == pytest.approx([1.01, np.pi / 2.0 + 3.01])
    assert chain.joints.angles.plane_axes.tolist() == [[0, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize("how", ["other_controls", "worse", "sparse"])
def test_angles_are_unknown_where_other_things_than_keys_may_turn_the_bones(how):
    plan, off = KeyPlan.every(FRAMES), 0.0
    if how == "sparse":
        plan = KeyPlan(FRAMES, FRAMES, own={"leg": []})
    if how == "worse":
        off = 0.1
    one = with_angles(chain=rig(other_controls=how == "other_controls"))
    _, chain, _ = told(one, plan=plan, played=measured([12], [[0.7, 0.3]], off))
    assert np.isnan(chain.joints.angles.from_rest).all(axis=1).tolist() == [True, False, True, True]


def test_angles_are_those_of_the_reported_frames():
    plan = KeyPlan([10, 12], [10, 11, 12])
    assert (
        told(with_angles(SOLVED[:3]), plan=plan)[1].joints.angles.from_rest.tolist()
        == SOLVED[[0, 2]].tolist()
    )
    assert told(keyed())[1].joints.angles.from_rest is None
