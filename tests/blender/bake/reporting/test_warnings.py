# SPDX-License-Identifier: GPL-3.0-or-later
"""The warnings of a bake, of chains that were solved and played back."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from solved_chains import FRAMES, REACH, keyed, played, rig, told

from ik2d_addon.bake.keys.keying import KeyPlan
from ik2d_addon.core import Status
from ik2d_addon.rig.chain.chain import Remarks
from ik2d_addon.rig.chain.joints import TipAngle
from ik2d_addon.rig.chain.planes import HINGES
from ik2d_addon.rig.scene.rounding import PLAYED_BACK


@pytest.mark.parametrize("part, warned", [(0.0099, False), (0.0101, True)])
def test_joints_off_one_plane(part, warned):
    distance = np.array([0.0, 0.1, 0.0, 0.0])
    _, _, warnings = told(keyed(joints_off_plane=part * REACH, distance=distance))
    assert warnings == warned * [
        "Chain 'leg': its joints are up to 2.02 cm off one plane; it is solved as seen along the plane's"
        " normal"
    ]
    assert told(keyed(joints_off_plane=part * REACH))[2] == []  # the tip reaches
    # Hinges choose the plane: it can be no other.
    hinges = rig(remarks=Remarks(HINGES, 0.0))
    assert told(keyed(joints_off_plane=part * REACH, distance=distance, chain=hinges))[2] == []


@pytest.mark.parametrize("part, warned", [(0.0099, False), (0.0101, True)])
def test_a_target_off_the_plane(part, warned):
    off_plane = np.array([0.0, 0.001, part * REACH, 0.002])
    assert told(keyed(off_plane=off_plane))[2] == warned * [
        "Chain 'leg': its target is up to 2.02 cm off the chain's plane (frame 13); the tip follows it within"
        " the plane"
    ]


@pytest.mark.parametrize("part, which", [(0.0099, 0), (0.0101, 1)])
def test_advice_on_joints_and_target_off_the_plane_is_given_once(part, which):
    chain = keyed(
        joints_off_plane=0.02 * REACH,
        distance=np.array([0.0, 0.1, 0.0, 0.0]),
        off_plane=np.array([0.0, 0.001, part * REACH, 0.002]),
    )
    warnings = told(chain, advice={"leg": "; turn the plane"})[2]
    assert [warning.endswith("; turn the plane") for warning in warnings] == [not which, *[True] * which]


@pytest.mark.parametrize("part, warned", [(0.0099, False), (0.0101, True)])
def test_hinges_askew_carry_the_tip_off_its_target(part, warned):
    joints = SimpleNamespace(askew=True, slants=np.radians([3.0, 12.34]), fixed=np.zeros(2, bool))
    off_plane = np.array([0.0, 0.001, part * REACH, 0.002])
    _, _, warnings = told(keyed(off_plane=off_plane, chain=rig(joints=joints)))
    assert warnings == warned * [
        "Chain 'leg': its tip leaves its target by up to 2.02 cm across the chain's plane (frame 13): locks"
        " make 'shin' turn about an axis 12 degrees off the plane's normal; unlock it, change its roll, or"
        " set Bends In to Hinges"
    ]


def test_an_uneven_scale_is_named():
    assert told(keyed(uneven_scale="bone 'hip'"))[2] == [
        "Chain 'leg': bone 'hip' is scaled unevenly, so the bones change their length as they turn; apply the"
        " scale to get exact results"
    ]


LOOK = "; look there, and move the target another way if it should not"


def test_a_joint_that_turns_by_more_than_a_right_angle_is_named():
    aims = np.array([[0.5, 0.0], [0.5, 0.7], [0.9, 0.1], [0.5, -0.6]])  # a target that is fast itself

    def warnings(*turns):
        return told(keyed(turns=np.radians(turns), aims=aims))[2]

    assert warnings((0, 0), (5, -91), (10, -91), (10, -180)) == [
        f"Chain 'leg': bone 'shin' turns by 91 degrees from frame 10 to 12{LOOK}"
    ]
    assert warnings((0, 0), (5, -91), (10, -91), (100, 9)) == [
        "Chain 'leg': bone 'shin' turns by 100 degrees from frame 13 to 17, the furthest of 2 such"
        f" turns from frame 10 to 17{LOOK}"
    ]
    assert "bone 'thigh' turns by 140 degrees" in warnings((0, 0), (5, -91), (10, -91), (150, 9))[0]
    assert warnings((0, 0), (5, -89), (10, 0), (-79, 89)) == []
    assert told(keyed(1), plan=KeyPlan.every([10]))[2] == []


@pytest.mark.parametrize("turn, way, warned", [(19, 0.0, 0), (21, 0.0, 1), (40, 0.24, 0), (45, 0.24, 1)])
def test_a_joint_that_turns_far_for_what_its_target_moves_is_named(turn, way, warned):
    turns, aims = np.zeros((4, 2)), np.tile([0.5, 0.0], (4, 1))
    turns[2:, 1], aims[2:, 1] = np.radians(turn), way
    assert len(told(keyed(turns=turns, aims=aims))[2]) == warned


@pytest.mark.parametrize(
    "where, changes, words",
    [
        (0.05, {}, "its target passes close to the chain's root: move it around the root"),
        (
            0.05,
            {"chain": {"solver": 'EVEN'}},
            "its target passes close to the chain's root: move it around the root, or let CCD follow it",
        ),
        (0.99, {}, "its target comes to full reach: Softness turns the joints more slowly there"),
        (0.99, {"softness": np.full(4, 0.1)}, LOOK[2:]),
        (
            0.5,
            {
                "chain": {
                    "solver": 'EVEN',
                    "joints": SimpleNamespace(askew=False, fixed=[], limits=np.ones((2, 2))),
                }
            },
            "two poses bend alike there: move the target another way, widen the limits, or let CCD go on",
        ),
    ],
)
def test_a_jump_is_told_with_what_helps(where, changes, words):
    turns = np.zeros((4, 2))
    turns[2:, 0] = 1.0
    changes = {name: rig(**value) if name == "chain" else value for name, value in changes.items()}
    (warning,) = told(keyed(turns=turns, aims=np.tile([where, 0.0], (4, 1)), **changes))[2]
    assert warning == f"Chain 'leg': bone 'thigh' turns by 57 degrees from frame 12 to 13; {words}"


ANGLE = TipAngle(follow=True, rest=np.eye(3), offset=0.0, first=False)


@pytest.mark.parametrize(
    "changes, turned, words",
    [
        (
            {},
            0.0,
            "no way without such a turn was found: move or turn the target another way, or widen the limits",
        ),
        (
            {"starts_from_rest": True},
            0.0,
            "each frame is solved by itself: set Start Each Frame From to Frame Before",
        ),
        (
            {"bones": ("thigh", "shin")},
            0.0,
            "its other side comes nearer to its angle there: move or turn the target another way",
        ),
        ({}, 1.0, "the angle of its last bone changes as fast there"),
    ],
)
def test_a_jump_of_a_chain_whose_last_bone_has_an_angle_is_told_with_advice_that_can_be_followed(
    changes, turned, words
):
    turns, angles = np.zeros((4, 2)), np.zeros((4, 2))
    turns[2:, 0], angles[2:, 1] = 1.0, turned
    chain = rig(**{"solver": 'EVEN', "tip_angle": ANGLE, "bones": ("thigh", "shin", "foot"), **changes})
    (warning,) = told(keyed(turns=turns, angles=angles, chain=chain))[2]
    assert warning == f"Chain 'leg': bone 'thigh' turns by 57 degrees from frame 12 to 13; {words}"


@pytest.mark.parametrize(("unproven", "words"), [(None, "which it cannot have"), (1, "but there may be one")])
def test_an_angle_that_is_not_had_is_said_to_be_impossible_only_where_that_is_proven(unproven, words):
    errors, chain = np.array([0.0, 0.2, 0.0, 0.0]), rig(solver='EVEN', tip_angle=ANGLE)
    solution = replace(
        keyed().solved.solution,
        status=np.where(errors > 0.0, Status.ANGLE, Status.REACHED).astype(np.int8),
        unproven=None if unproven is None else np.arange(4) == unproven,
    )
    (warning,) = told(keyed(solution=solution, angle_errors=errors, chain=chain))[2]
    assert "is up to 11.5 degrees off its angle (frame 12)" in warning and words in warning


def test_each_kind_of_jump_is_told_also_where_the_target_passes_the_root_between_frames():
    turns = np.cumsum(np.radians([[0, 0], [27, 0], [0, 60], [100, 0]]), axis=0)
    aims = np.array([[0.01, 0.5], [0.01, 0.505], [0.5, 0.0], [-0.4, -0.1]])
    elsewhere, by_root = told(keyed(turns=turns, aims=aims))[2]
    assert "bone 'thigh' turns by 27 degrees from frame 10 to 12" in elsewhere and elsewhere.endswith(LOOK)
    assert "bone 'thigh' turns by 100 degrees from frame 13 to 17; its target passes close" in by_root


def test_jumps_are_counted_on_the_frames_that_are_reported():
    plan = KeyPlan([10, 11.5], [10.0, 10.5, 11.5], 0.1)
    turns = np.radians([[0.0, 0.0], [60.0, 0.0], [120.0, 0.0]])
    assert told(keyed(3, turns=turns), plan=plan)[2] == [
        f"Chain 'leg': bone 'thigh' turns by 120 degrees from frame 10 to 11.5{LOOK}"
    ]


@pytest.mark.parametrize("part, warned", [(0.9e-5, False), (1.1e-5, True)])
@pytest.mark.parametrize("off_plane", [False, True])
def test_playing_back_worse_than_solved(part, warned, off_plane):
    """In the plane and off it apart: here the tip is much nearer in the other."""
    one = keyed(
        residual=np.array([0.0, 0.3, 0.0, 0.0]),
        off_plane=np.array([0.0, 0.4, 0.0, 0.0]),
        tolerance=PLAYED_BACK * REACH,
    )
    there = [0.1, 0.4 + part * REACH] if off_plane else [0.3 + part * REACH, 0.1]
    result = played([10, 12, 13], [0.0, there[0], 0.0], [0.0, there[1], 0.0])
    _, chain, warnings = told(one, played=result)
    worse = [warning for warning in warnings if "plays it back" in warning]
    assert len(worse) == warned == (chain.played.worse_by > chain.standard.tolerance)
    assert chain.played.worse_by == pytest.approx(part * REACH)
    if warned:
        assert worse[0].startswith(
            "Chain 'leg': Blender plays it back up to 22 µm worse than solved (frame 12)"
        )
        assert worse[0].endswith("; look for constraints, drivers or other animation on its bones")


def test_what_rules_the_bones_is_to_be_muted_where_it_was_named():
    (warning,) = told(keyed(chain=rig(other_controls=True)), played=played([10], [0.5]))[2]
    assert warning.endswith("(frame 10); mute constraints, drivers or other animation on its bones")


def test_within_a_bound_nothing_is_worse_and_beyond_it_it_is_by_what_is_beyond():
    plan = KeyPlan([10, 11], [10.0, 10.5, 11.0], 0.1)
    times = [10, 10.5, 11]
    fine = told(keyed(3), plan=plan, played=played(times, [0.09, 0.1, 0.1], [0.1, 0.1, 0.09]))
    assert fine[2] == [] and fine[1].played.worse_by == 0.0
    between = told(keyed(3), plan=plan, played=played(times, [0.09, 0.35, 0.1]))
    assert between[1].played.worse_by == pytest.approx(0.25)
    assert "back up to 25 cm worse than promised (frame 10.5);" in between[2][0]
    last = told(keyed(3), plan=plan, played=played(times, [0.0, 0.0, 0.0], [0.0, 0.35, 0.4]))
    assert "back up to 30 cm worse than promised (frame 11);" in last[2][0]


def test_times_that_were_not_solved_promise_nothing():
    result = played([9.0, 10, 11.0, 12, 15.0, 99.0], [0.8, 0.0, 0.5, 0.0, 0.6, 0.7])
    _, chain, warnings = told(keyed(), played=result)
    assert warnings == [] and chain.played.worse_by == 0.0
    assert chain.max_between == 0.8 and chain.played.between_times.tolist() == [9.0, 11.0, 15.0, 99.0]
    _, chain, warnings = told(keyed(), played=played([11.0], [0.5]))
    assert warnings == [] and chain.played.worse_by == 0.0


def test_between_keys_of_their_own_anything_is_allowed():
    plan = KeyPlan(FRAMES, FRAMES, own={"leg": [10, 17]})
    assert told(keyed(), plan=plan, played=played(FRAMES, [0.0, 0.5, 0.5, 0.0]))[2] == []
    (warning,) = told(keyed(), plan=plan, played=played(FRAMES, [0.0, 0.5, 0.5, 0.25]))[2]
    assert "back up to 25 cm worse than solved (frame 17)" in warning


def test_playing_back_better_than_solved_is_no_less_than_nothing():
    one = keyed(residual=np.full(4, 0.5), off_plane=np.full(4, 0.5))
    assert told(one, played=played(FRAMES, [0.1] * 4, [0.2] * 4))[1].played.worse_by == 0.0


def test_each_chain_is_judged_for_itself():
    results = [*played(FRAMES, [0.0] * 4), *played(FRAMES, [0.5, 0.0, 0.0, 0.0])]
    report, first, _ = told(keyed(), keyed(chain=rig(name="arm")), played=results)
    assert first.played.worse_by == 0.0 and report.chains[1].played.worse_by > PLAYED_BACK * REACH
    assert [warning[:11] for warning in report.warnings] == ["Chain 'arm'"]
    with pytest.raises(ValueError):
        told(keyed(), played=results)


def test_the_first_of_equally_bad_frames_is_named():
    _, _, warnings = told(keyed(off_plane=np.full(4, 0.5)), played=played(FRAMES, [1.0] * 4))
    assert "(frame 10)" in warnings[0] and "(frame 10)" in warnings[1]
