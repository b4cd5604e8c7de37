# SPDX-License-Identifier: GPL-3.0-or-later
"""From numbers to warnings: each with its threshold, from both sides."""

import dataclasses
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from rigs import leg_with_target

from ik2d_addon.bake import bake
from ik2d_addon.bake.keying import KeyedChain, KeyPlan
from ik2d_addon.bake.playback import Played
from ik2d_addon.bake.solving import SolvedChain
from ik2d_addon.bake.verdict import report_of
from ik2d_addon.core import Solution, Status
from ik2d_addon.rig.pose import BoneRotation

REACH = 2.0
FRAMES = [10, 12, 13, 17]


def rig(**changes):
    fields = {
        "name": "leg",
        "armature": SimpleNamespace(name="Rig"),
        "bones": ("thigh", "shin"),
        "solver": 'CCD',
        "target": SimpleNamespace(name="Target"),
        "subtarget": "",
        "warnings": (),
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
    )
    fields = {
        "rig": chain or rig(),
        "turns": np.zeros((frames, 2)),
        "solution": solution,
        "residual": np.zeros(frames),
        "off_plane": np.zeros(frames),
        "reach": REACH,
        "joints_off_plane": 0.0,
        "uneven_scale": "",
    }
    return KeyedChain(SolvedChain(**{**fields, **changes}), list(rotations))


def told(*chains, plan=None, **settings):
    """Return the report, its only chain where it has one alone, and that one's warnings."""
    bpy.context.scene.unit_settings.system = 'METRIC'
    plan = plan or KeyPlan.every(FRAMES)
    report = report_of(SimpleNamespace(name="Rig"), bpy.context.scene, chains, plan, "Baked", **settings)
    return report, report.chains[0], list(report.chains[0].warnings)


def played(errors=(np.nan,) * 4, times=(), between=()):
    return [Played(np.array(errors), np.array(times), np.array(between))]


# --- What is handed on ----------------------------------------------------------------------------


def test_everything_is_handed_on_to_the_report():
    one = keyed(rotations=[BoneRotation("shin", "rotation_euler", np.zeros((3, 3)))])
    report, chain, warnings = told(
        one, played=played([0.0, np.nan, 0.0, 0.0], [10.5], [0.125]), full_scene="why", warnings=["look"]
    )
    assert (report.armature, report.verb, report.full_scene) == ("Rig", "Baked", "why")
    assert report.rig_warnings == ("look",)
    assert (chain.name, chain.armature, chain.bones) == ("leg", "Rig", ("thigh", "shin"))
    assert (chain.solver, chain.target, chain.reach, chain.keys) == ('CCD', "Target", REACH, 3)
    assert chain.frames.tolist() == FRAMES and chain.iterations.tolist() == [0, 1, 2, 3]
    assert chain.unit_system == 'METRIC'
    assert chain.played_back[[0, 2, 3]].tolist() == [0.0] * 3 and np.isnan(chain.played_back[1])
    assert chain.between_times.tolist() == [10.5] and chain.between.tolist() == [0.125]
    assert warnings == []
    assert told(keyed(chain=rig(subtarget="hand")))[1].target == "Target/hand"


def test_without_playing_back_nothing_is_known_of_it():
    report, chain, _ = told(keyed(), keyed())
    assert len(report.chains) == 2
    assert np.isnan(chain.played_back).all() and len(chain.between) == 0
    assert chain.plays_back_worse_by == 0.0 and report.warnings == ()


def test_what_is_on_the_chains_bones_comes_first():
    one = keyed(chain=rig(warnings=("a", "b")), uneven_scale="bone 'x'")
    assert told(one)[2][:2] == ["a", "b"]


def test_joint_speed_is_by_the_frame_whatever_the_step():
    turns = np.radians([[0.0, 0.0], [4.0, -10.0], [7.0, -10.0], [7.0, 30.0]])
    assert told(keyed(turns=turns))[1].joint_speed == pytest.approx([0.0, 5.0, 3.0, 10.0])


def test_joint_speed_of_a_bake_in_steps_is_that_of_its_joints():
    armature, _ = leg_with_target()
    every = bake(armature, frame_start=1, frame_end=41).chains[0].joint_speed
    stepped = bake(armature, frame_start=1, frame_end=41, step=5).chains[0].joint_speed
    assert stepped[0] == 0.0
    for i, speed in enumerate(stepped[1:]):
        within = every[1 + 5 * i : 6 + 5 * i]
        assert 0.5 * within.mean() <= speed <= 1.01 * within.max()


def test_only_the_reported_frames_are_reported():
    plan = KeyPlan([10, 11], [10.0, 10.5, 11.0], 0.1)
    one = keyed(3, residual=np.array([0.1, 0.2, 0.3]), turns=np.radians([[0.0] * 2, [5.0] * 2, [4.0] * 2]))
    chain = told(one, plan=plan)[1]
    assert chain.residual.tolist() == [0.1, 0.3]
    assert chain.joint_speed == pytest.approx([0.0, 4.0])


# --- Warnings -------------------------------------------------------------------------------------


@pytest.mark.parametrize("part, warned", [(0.0099, False), (0.0101, True)])
def test_joints_off_one_plane(part, warned):
    _, _, warnings = told(keyed(joints_off_plane=part * REACH))
    assert len(warnings) == warned
    if warned:
        assert warnings[0].startswith(
            "Chain 'leg': its joints are up to 2.02 cm off one plane; it is solved as"
        )


@pytest.mark.parametrize("part, warned", [(0.0099, False), (0.0101, True)])
def test_a_target_off_the_plane(part, warned):
    _, _, warnings = told(keyed(off_plane=np.array([0.0, 0.001, part * REACH, 0.002])))
    assert len(warnings) == warned
    if warned:
        assert warnings[0].startswith(
            "Chain 'leg': its target is up to 2.02 cm off the chain's plane (frame 13);"
        )


def test_an_uneven_scale_is_named():
    (warning,) = told(keyed(uneven_scale="bone 'hip'"))[2]
    assert warning.startswith("Chain 'leg': bone 'hip' is scaled unevenly, so the bones change their length")


@pytest.mark.parametrize("part, warned", [(0.9e-5, False), (1.1e-5, True)])
def test_playing_back_worse_than_solved(part, warned):
    one = keyed(residual=np.array([0.0, 0.3, 0.0, 0.0]), off_plane=np.array([0.0, 0.4, 0.0, 0.0]))
    errors = [0.0, 0.5 + part * REACH, 0.0, np.nan]
    _, chain, warnings = told(one, played=played(errors))
    worse = [warning for warning in warnings if "plays it back" in warning]
    assert len(worse) == warned == chain.plays_back_worse
    assert chain.plays_back_worse_by == pytest.approx(part * REACH)
    if warned:
        assert "worse than solved (frame 12); look for constraints, drivers or other animation" in worse[0]


def test_within_a_bound_nothing_is_worse_and_beyond_it_it_is_by_what_is_beyond():
    plan = KeyPlan([10, 11], [10.0, 10.5, 11.0], 0.1)
    fine = told(keyed(3), plan=plan, played=played([0.09, 0.1], [10.5], [0.1]))
    assert fine[2] == [] and fine[1].plays_back_worse_by == 0.0
    between = told(keyed(3), plan=plan, played=played([0.09, 0.1], [10.5], [0.35]))
    assert between[1].plays_back_worse_by == pytest.approx(0.25)
    assert "back up to 25 cm worse than promised (frame 10.5);" in between[2][0]
    last = told(keyed(3), plan=plan, played=played([0.0, 0.4], [10.5], [0.35]))
    assert "back up to 30 cm worse than promised (frame 11);" in last[2][0]


def test_times_that_were_not_solved_promise_nothing():
    _, chain, warnings = told(keyed(), played=played([0.0] * 4, [11.0, 15.0, 99.0], [0.5, 0.6, 0.7]))
    assert warnings == [] and chain.plays_back_worse_by == 0.0
    assert chain.max_played_back == 0.7


def test_between_keys_of_their_own_anything_is_allowed():
    plan = KeyPlan(FRAMES, FRAMES, own={"leg": [10, 17]})
    assert told(keyed(), plan=plan, played=played([0.0, 0.5, 0.5, 0.0]))[2] == []
    (warning,) = told(keyed(), plan=plan, played=played([0.0, 0.5, 0.5, 0.25]))[2]
    assert "back up to 25 cm worse than solved (frame 17)" in warning


def test_playing_back_better_than_solved_is_no_less_than_nothing():
    one = keyed(residual=np.full(4, 0.5))
    assert told(one, played=played([0.1] * 4))[1].plays_back_worse_by == 0.0


def test_each_chain_is_judged_for_itself():
    results = [*played([0.0] * 4), *played([0.5, 0.0, 0.0, 0.0])]
    report, first, _ = told(keyed(), keyed(chain=rig(name="arm")), played=results)
    assert not first.plays_back_worse and report.chains[1].plays_back_worse
    assert [warning[:11] for warning in report.warnings] == ["Chain 'arm'"]
    with pytest.raises(ValueError):
        told(keyed(), played=results)


def test_the_first_of_equally_bad_frames_is_named():
    _, _, warnings = told(keyed(off_plane=np.full(4, 0.5)), played=played([1.0] * 4))
    assert "(frame 10)" in warnings[0] and "(frame 10)" in warnings[1]
    assert dataclasses.is_dataclass(Played)
