# SPDX-License-Identifier: GPL-3.0-or-later
"""The report: each number, each sentence."""

import dataclasses
import json

import numpy as np
import pytest

from ik2d_addon.bake import BakeReport, ChainReport
from ik2d_addon.bake.report import PLAYED_BACK, length_text
from ik2d_addon.core import Status

REACHED, TOO_FAR, TOO_CLOSE, LIMITED, STALLED = Status


def chain(frames=4, **changes) -> ChainReport:
    """Return the report of a chain of two bones that reached its target on all frames from 11 on."""
    fields = {
        "name": "leg",
        "armature": "Rig",
        "bones": ("thigh", "shin"),
        "solver": 'TWO_BONE',
        "target": "Target/hand",
        "frames": np.arange(11, 11 + frames),
        "status": np.zeros(frames, np.int8),
        "residual": np.zeros(frames),
        "off_plane": np.zeros(frames),
        "iterations": np.arange(frames, dtype=np.int32),
        "limited": np.zeros((frames, 2), bool),
        "joint_speed": 2.5 * np.arange(frames),
        "played_back": np.full(frames, np.nan),
        "between_times": np.empty(0),
        "between": np.empty(0),
        "reach": 2.0,
        "unit_system": 'METRIC',
        "keys": frames,
    }
    return ChainReport(**{**fields, **changes})


def missed(*statuses, residual=(), **changes) -> ChainReport:
    """Return a chain with these statuses, frame by frame."""
    sizes = np.array(residual or [0.1 * (status != REACHED) for status in statuses])
    return chain(len(statuses), status=np.array(statuses, np.int8), residual=sizes, **changes)


def report(*chains, **changes) -> BakeReport:
    return BakeReport("Rig", chains or (chain(),), **changes)


# --- Numbers --------------------------------------------------------------------------------------


def test_the_error_is_solved_or_played_back_whichever_is_more():
    one = chain(
        3,
        residual=np.array([0.3, 0.0, 0.1]),
        off_plane=np.array([0.4, 0.2, 0.0]),
        played_back=np.array([0.1, np.nan, 0.25]),
    )
    assert one.errors == pytest.approx([0.5, 0.2, 0.25])
    assert one.max_error == 0.5
    two = chain(residual=np.array([0.0, 0.0, 0.7, 0.0]), off_plane=np.array([0.9, 0.0, 0.0, 0.0]))
    assert report(one, two).max_error == 0.9 and report(one, two).max_residual == 0.7


@pytest.mark.parametrize("part, worse", [(0.0, False), (0.99, False), (1.01, True)])
def test_beyond_rounding_of_the_reach_is_worse(part, worse):
    one = chain(plays_back_worse_by=part * 1e-5 * 2.0)
    assert one.plays_back_worse == worse and report(one).all_reached == (not worse)
    assert PLAYED_BACK == 1e-5
    assert chain(plays_back_worse_by=part * 1e-5 * 2.0, reach=4.0).plays_back_worse is False


def test_the_largest_that_was_played_back_on_frames_or_between():
    times = {"between_times": np.array([11.5]), "between": np.array([0.2])}
    assert chain().max_played_back == 0.0
    assert chain(played_back=np.array([np.nan, 0.1, 0.3, np.nan])).max_played_back == 0.3
    assert chain(played_back=np.array([np.nan, 0.1, 0.1, np.nan]), **times).max_played_back == 0.2


def test_missed_is_all_but_reached_and_the_worst_frame_has_the_largest_residual():
    one = missed(REACHED, TOO_FAR, STALLED, LIMITED, residual=[0.05, 0.1, 0.3, 0.2])
    assert one.missed.tolist() == [False, True, True, True]
    assert one.worst_frame == 13
    assert not report(one).all_reached and not report(chain(), one).all_reached
    assert report(chain(), chain()).all_reached


def test_bones_at_a_limit_by_name():
    one = chain(2, limited=np.array([[True, False], [True, True]]))
    assert one.limited_bones(0) == ["thigh"] and one.limited_bones(1) == ["thigh", "shin"]


# --- Words on a chain -----------------------------------------------------------------------------


def test_a_chain_that_reached_says_so():
    assert chain(4).sentence() == "4 frames, target reached on all"
    assert chain(1).sentence() == "1 frame, target reached"


@pytest.mark.parametrize(
    "statuses, how",
    [
        ([TOO_FAR], "out of reach"),
        ([TOO_CLOSE], "out of reach"),
        ([TOO_FAR, TOO_CLOSE], "out of reach"),
        ([LIMITED], "stopped by limits"),
        ([STALLED], "stalled"),
        ([TOO_FAR, LIMITED], "too far or stopped by limits"),
        ([STALLED, TOO_CLOSE], "too close or stalled"),
        ([STALLED, LIMITED, TOO_CLOSE, TOO_FAR], "too far or too close or stopped by limits or stalled"),
    ],
)
def test_a_chain_that_missed_says_how(statuses, how):
    words = missed(REACHED, *statuses).sentence()
    assert words == f"{len(statuses)} of {len(statuses) + 1} frames {how}, worst by 10 cm at frame 12"


def test_the_worst_is_the_worst_of_those_missed():
    one = missed(REACHED, TOO_FAR, LIMITED, residual=[0.5, 0.1, 0.25])
    assert one.sentence().endswith("worst by 25 cm at frame 13")
    assert missed(TOO_FAR, residual=[2.0]).sentence() == "1 of 1 frame out of reach, worst by 2 m at frame 11"


def test_what_plays_back_worse_is_added():
    played = {"played_back": np.array([np.nan, 0.3]), "plays_back_worse_by": 0.2}
    assert chain(2, **played).sentence() == (
        "2 frames, target reached on all, but plays back up to 30 cm off"
    )
    assert chain(2, **{**played, "plays_back_worse_by": 1e-6}).played_back_words() == ""


def test_lengths_are_in_the_scenes_units():
    assert length_text(0.12, 'METRIC') == "12 cm"
    assert length_text(1.5, 'IMPERIAL').endswith("'") or "\"" in length_text(1.5, 'IMPERIAL')
    assert length_text(0.12, 'NONE').startswith("0.12")
    assert missed(TOO_FAR, residual=[0.12], unit_system='NONE').sentence().split(" worst by ")[1] == (
        f"{length_text(0.12, 'NONE')} at frame 11"
    )


# --- Words on a bake ------------------------------------------------------------------------------


def test_a_bake_that_reached_everything():
    assert report().sentence() == "Baked 4 frames on 1 chain; every target reached"
    assert report(chain(), chain()).sentence() == "Baked 4 frames on 2 chains; every target reached"
    assert report(chain(1), verb="Solved").sentence() == "Solved 1 frame on 1 chain; every target reached"


def test_the_chain_that_missed_most_is_named_among_several():
    little, most = missed(TOO_FAR, REACHED), missed(LIMITED, REACHED, name="arm", residual=[0.2, 0.0])
    assert report(little).sentence() == (
        "Baked 2 frames on 1 chain; 1 of 2 frames out of reach, worst by 10 cm at frame 11"
    )
    # An untrue residual where the target was reached, by softness, does not count.
    soft = missed(REACHED, TOO_FAR, name="soft", residual=[0.9, 0.01])
    assert report(little, soft, most, chain(2)).sentence() == (
        "Baked 2 frames on 4 chains; 1 of 2 frames stopped by limits, worst by 20 cm at frame 11 of 'arm'"
    )


def test_the_chain_that_plays_back_worst_is_named_among_several():
    def played(name, most):
        return chain(2, name=name, played_back=np.array([most, 0.0]), plays_back_worse_by=most)

    assert report(played("leg", 0.1)).sentence().endswith("reached, but plays back up to 10 cm off")
    both = report(played("leg", 0.1), played("arm", 0.3), chain(2))
    assert both.sentence().endswith("; every target reached, but plays back up to 30 cm off on 'arm'")


@pytest.mark.parametrize(
    "keys, words",
    [
        ((4,), ""),
        ((4, 4), ""),
        ((5,), ""),
        ((2,), " with 2 keys each"),
        ((1,), " with 1 key each"),
        ((2, 2), " with 2 keys each"),
        ((2, 3), " with 2 to 3 keys each"),
        ((4, 3), " with 3 to 4 keys each"),
        ((0,), ""),
        ((0, 2), " with 0 to 2 keys each"),
    ],
)
def test_keys_are_told_where_there_are_fewer_than_frames(keys, words):
    chains = [chain(keys=count) for count in keys]
    noun = f"{len(keys)} chain" + "s" * (len(keys) > 1)
    assert report(*chains).sentence() == f"Baked 4 frames on {noun}{words}; every target reached"


def test_warnings_are_the_rigs_and_then_the_chains():
    one, two = chain(warnings=("c",)), chain(warnings=("d", "e"))
    assert report(one, two, rig_warnings=("a", "b")).warnings == ("a", "b", "c", "d", "e")


# --- For other programs ---------------------------------------------------------------------------


def full() -> ChainReport:
    return missed(
        REACHED,
        LIMITED,
        residual=[0.0, 0.25],
        off_plane=np.array([0.5, 0.0]),
        limited=np.array([[False, False], [True, True]]),
        played_back=np.array([np.nan, 0.75]),
        between_times=np.array([11.5]),
        between=np.array([0.125]),
        warnings=("look",),
        keys=2,
        plays_back_worse_by=0.5,
    )


def test_the_dictionary_holds_every_number():
    one = full()
    assert json.loads(json.dumps(one.to_dict())) == {
        "name": "leg",
        "armature": "Rig",
        "bones": ["thigh", "shin"],
        "solver": "TWO_BONE",
        "target": "Target/hand",
        "reach": 2.0,
        "keys": 2,
        "summary": one.sentence(),
        "max_error": 0.75,
        "plays_back_worse_by": 0.5,
        "warnings": ["look"],
        "frames": [11, 12],
        "status": ["REACHED", "LIMITED"],
        "residual": [0.0, 0.25],
        "off_plane": [0.5, 0.0],
        "iterations": [0, 1],
        "limited": [[], ["thigh", "shin"]],
        "joint_speed": [0.0, 2.5],
        "played_back": [None, 0.75],
        "played_back_between": [[11.5, 0.125]],
    }
    assert dataclasses.replace(one, plays_back_worse_by=-0.5).to_dict()["plays_back_worse_by"] == 0.0


def test_the_bakes_dictionary_holds_its_chains():
    one = full()
    told = report(one, rig_warnings=("rig",))
    assert told.to_dict() == {
        "armature": "Rig",
        "summary": told.sentence(),
        "max_residual": 0.25,
        "max_error": 0.75,
        "sampled": "only what the chains need",
        "warnings": ["rig"],
        "chains": [one.to_dict()],
    }
    assert report(one, full_scene="because").to_dict()["sampled"] == "the full scene: because"


def test_rows_are_one_a_frame():
    assert list(full().rows()) == [
        {
            "armature": "Rig",
            "chain": "leg",
            "frame": 11,
            "status": "REACHED",
            "residual": 0.0,
            "off_plane": 0.5,
            "played_back": "",
            "limited": "",
            "joint_speed": 0.0,
            "iterations": 0,
        },
        {
            "armature": "Rig",
            "chain": "leg",
            "frame": 12,
            "status": "LIMITED",
            "residual": 0.25,
            "off_plane": 0.0,
            "played_back": 0.75,
            "limited": "thigh shin",
            "joint_speed": 2.5,
            "iterations": 1,
        },
    ]
