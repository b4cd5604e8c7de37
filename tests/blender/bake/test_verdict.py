# SPDX-License-Identifier: GPL-3.0-or-later
"""From numbers to warnings: each with its threshold, from both sides."""

import dataclasses
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from chain_reports import with_changes
from mathutils import Matrix
from rigs import leg_with_target

from ik2d_addon.bake import bake
from ik2d_addon.bake.keys.keying import KeyedChain, KeyPlan
from ik2d_addon.bake.playback import NOT_PLAYED, Played
from ik2d_addon.bake.solving.frames import Miss, Noticed, SolvedChain
from ik2d_addon.bake.verdict import report_of
from ik2d_addon.core import Plane, Solution, Status
from ik2d_addon.rig.animation.bone_channels import BoneRotation
from ik2d_addon.rig.chain.planes import HINGES
from ik2d_addon.rig.scene.rounding import PLAYED_BACK

REACH = 2.0
FRAMES = [10, 12, 13, 17]
# Of two bones, along the plane's x, and a quarter turn from it.
RESTS = [Matrix(), Matrix.Rotation(np.pi / 2.0, 4, 'X')]


def rig(**changes):
    fields = {
        "name": "leg",
        "armature": SimpleNamespace(name="Rig"),
        "bones": ("thigh", "shin"),
        "solver": 'CCD',
        "target": SimpleNamespace(name="Target"),
        "foot": None,
        "forced": (),
        "subtarget": "",
        "warnings": (),
        "plane_taken": "the plane of its bend",
        "other_controls": False,
        "hands": None,
        "swing": None,
        "joints": SimpleNamespace(askew=False, slants=np.zeros(2), fixed=np.zeros(2, bool)),
        "plane": Plane((0, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)),
        "pose_bones": [SimpleNamespace(bone=SimpleNamespace(matrix_local=rest)) for rest in RESTS],
    }
    return SimpleNamespace(**{**fields, **changes})


def keyed(frames=4, chain=None, rotations=(), **changes):
    """Return a chain that reached its target on all frames."""
    solution = Solution(
        angles=np.zeros((frames, 2)),
        status=np.full(frames, Status.REACHED, np.int8),
        residual=np.zeros(frames),
        iterations=np.arange(frames, dtype=np.int32),
        limited=np.zeros((frames, 2), bool),
        slides=np.zeros((frames, 2)),
    )
    numbers = {
        "rig": chain or rig(),
        "turns": np.zeros((frames, 2)),
        "angles": np.zeros((frames, 2)),
        "solution": solution,
        "softness": np.zeros(frames),
        "influence": np.ones(frames),
        "reach": REACH,
        "tolerance": 1e-4,
    }
    records = {
        "miss": Miss(np.zeros(frames), np.zeros(frames), np.zeros(frames)),
        "noticed": Noticed(np.tile([0.5, 0.0], (frames, 1)), 0.0, ""),
    }
    return KeyedChain(with_changes(SolvedChain(**numbers, **records), **changes), list(rotations))


def told(*chains, plan=None, played=None, verified='SAMPLE', **settings):
    """Return the report, its only chain where it has one alone, and that one's warnings."""
    scene = bpy.context.scene
    scene.unit_settings.system = 'METRIC'
    report = report_of(
        SimpleNamespace(name="Rig"),
        scene,
        chains,
        plan or KeyPlan.every(FRAMES),
        [NOT_PLAYED] * len(chains) if played is None else played,
        verb="Baked",
        verified=verified,
        **settings,
    )
    return report, report.chains[0], list(report.chains[0].warnings)


def played(times=(), in_plane=(), off_plane=None):
    """Return where a tip was at some times, in the plane and off it."""
    in_plane = np.array(in_plane, float)
    off_plane = np.zeros(len(in_plane)) if off_plane is None else np.array(off_plane, float)
    return [Played(np.array(times, float), np.hypot(in_plane, off_plane), in_plane, off_plane)]


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
    assert (chain.solver, chain.target, chain.standard.reach, chain.played.keys) == ('CCD', "Target", REACH, 3)
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


# --- Warnings -------------------------------------------------------------------------------------


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
    hinges = rig(plane_taken=HINGES)
    assert told(keyed(joints_off_plane=part * REACH, distance=distance, chain=hinges))[2] == []


@pytest.mark.parametrize("part, warned", [(0.0099, False), (0.0101, True)])
def test_a_target_off_the_plane(part, warned):
    off_plane = np.array([0.0, 0.001, part * REACH, 0.002])
    assert told(keyed(off_plane=off_plane))[2] == warned * [
        "Chain 'leg': its target is up to 2.02 cm off the chain's plane (frame 13); the tip follows it within"
        " the plane"
    ]


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
