# SPDX-License-Identifier: GPL-3.0-or-later
"""The report on a chain: each number, each sentence."""

import json
import math

import numpy as np
import pytest
from chain_reports import (
    ANGLE,
    EASED,
    LIMITED,
    REACHED,
    STALLED,
    TOO_CLOSE,
    TOO_FAR,
    chain,
    full,
    missed,
    strayed,
    with_changes,
)

from ik2d_addon.bake import ChainReport
from ik2d_addon.bake.lengths import Units, length_text
from ik2d_addon.bake.reporting.chain_result import HAND_OFF, HandErrors, PlaneAngles

# --- Words on a chain -----------------------------------------------------------------------------


def test_a_chain_that_reached_says_so():
    assert chain(4).sentence() == "4 frames, target reached on all"
    assert chain(1).sentence() == "1 frame, target reached"
    assert chain(2, verified='NONE').sentence() == "2 frames, target reached on all as solved, not verified"
    assert chain(1, verified='NONE').sentence() == "1 frame, target reached as solved, not verified"
    assert chain(4).max_error_from == ""


def test_a_little_between_the_frames_is_told_where_it_is_more_than_the_tolerance():
    assert strayed(1e-3).sentence() == "4 frames, target reached on all"
    assert strayed(2e-3).sentence() == "4 frames, target reached on all, up to 2 mm off between frames"
    assert (strayed(1e-3).max_error_from, strayed(2e-3).max_error_from) == ("", "half-way between frames")


def test_doubts_are_told_where_no_frame_missed():
    assert strayed(0.5).sentence() == (
        "4 frames, target reached on the frames, but up to 50 cm off between them (frame 11.5)"
    )
    assert strayed(0.5, 1234567.0).doubt_words().endswith("(frame 1.23457e+06)")
    sparse = chain(2, verified='NONE', keyed=np.array([True, False]))
    assert sparse.sentence() == "2 frames, target reached on the keys, not verified between them"


@pytest.mark.parametrize(
    "statuses, how",
    [
        ([TOO_FAR], "out of reach"),
        ([TOO_CLOSE], "out of reach"),
        ([TOO_FAR, TOO_CLOSE], "out of reach"),
        ([LIMITED], "stopped by limits"),
        ([STALLED], "stalled"),
        ([LIMITED, TOO_FAR], "out of reach or stopped by limits"),
        ([STALLED, TOO_CLOSE], "out of reach or stalled"),
        ([STALLED, LIMITED, TOO_CLOSE, TOO_FAR], "out of reach or stalled or stopped by limits"),
    ],
)
def test_a_chain_that_missed_says_how(statuses, how):
    words = missed(REACHED, *statuses).sentence()
    assert words == f"{len(statuses)} of {len(statuses) + 1} frames {how}, worst by 10 cm at frame 12"


@pytest.mark.parametrize(
    "numbers, how",
    [
        ({"off_plane": 0.4, "residual": 0.3, "distance": 0.5}, "off the plane"),
        ({"off_plane": 0.4, "residual": 0.4, "distance": 0.5}, "off the plane"),
        ({"off_plane": 0.3, "residual": 0.4, "distance": 0.5, "status": EASED}, "held back by softness"),
        ({"residual": 0.4, "distance": 0.5, "influence": 0.5}, "held back by IK Blend"),
        # As solved it is no more than half of what it is off.
        ({"residual": 0.25, "distance": 0.25, "status": EASED}, "held back by softness"),
        ({"residual": 0.24, "distance": 0.24}, "moved by something other than the keys"),
        ({"residual": 0.24, "distance": 0.24, "keyed": False}, "off between keys"),
        (
            {"residual": 1e-3, "distance": 1e-3, "on_frames": 1.5e-3},
            "moved by something other than the keys",
        ),
        ({}, "moved by something other than the keys"),
    ],
)
def test_a_frame_that_was_reached_but_is_not_there_says_why(numbers, how):
    columns = {"on_frames": 0.5, **numbers}
    one = chain(1, **{name: np.array([value]) for name, value in columns.items()})
    assert one.missed.all() and one.max_error_from == how
    assert one.sentence().startswith(f"1 of 1 frame {how}, worst by ")


def test_the_status_goes_before_all_other_causes():
    one = missed(LIMITED, on_frames=np.array([0.5]), keyed=np.array([False]), off_plane=np.array([0.4]))
    assert one.max_error_from == "stopped by limits"


def test_the_worst_is_the_worst_of_those_missed():
    one = missed(REACHED, TOO_FAR, LIMITED, distance=[5e-4, 1e-4, 2e-4])
    assert one.worst_frame == 11 and one.worst_missed == 2 and one.max_error_from == ""
    assert one.sentence().endswith("worst by 0.2 mm at frame 13")
    assert missed(TOO_FAR, distance=[2.0]).sentence() == "1 of 1 frame out of reach, worst by 2 m at frame 11"


def test_frames_are_told_without_needless_decimals():
    frames = np.array([11.0, 11.5])
    assert missed(TOO_FAR, REACHED, frames=frames).sentence().endswith("at frame 11")
    assert missed(REACHED, TOO_FAR, frames=frames).sentence().endswith("at frame 11.5")


def test_what_strays_further_between_the_frames_is_added():
    between = {"between_times": np.array([11.5]), "between": np.array([0.25])}
    assert (
        missed(TOO_FAR, distance=[0.1], **between)
        .sentence()
        .endswith("worst by 10 cm at frame 11, and by 25 cm between frames")
    )
    for distance in (0.25, 0.3):
        assert missed(TOO_FAR, distance=[distance], **between).sentence().endswith("at frame 11")
    little = {"between_times": np.array([11.5]), "between": np.array([2e-3])}
    assert missed(TOO_FAR, distance=[1e-4], **little).sentence().endswith("at frame 11")


def test_hands_that_are_off_are_told_where_it_matters():
    assert chain().max_hands_off is None and chain().hands_words() == ""
    off = np.array([0.0, 0.2, np.nan, 0.1])
    one = chain(hands=HandErrors(("foot",), off))
    assert (one.max_hands_off, one.max_hands_off_time) == (0.2, 12.0)
    assert one.sentence() == "4 frames, target reached on all; 'foot' up to 0.2 degrees off"
    between = {"between_times": np.array([11.5, 12.5]), "between": np.zeros(2)}
    two = chain(hands=HandErrors(("foot", "toes"), off, np.array([np.nan, 1.25])), **between)
    assert (two.max_hands_off, two.max_hands_off_time) == (1.25, 12.5)
    assert two.sentence().endswith("; 'foot' and 'toes' up to 1.2 degrees off")
    told = json.loads(json.dumps(two.to_dict(), allow_nan=False))
    assert told["hands_between"] == [None, 1.25] and told["hands_off"] == [0.0, 0.2, None, 0.1]
    assert (told["max_hands_off"], told["max_hands_off_time"]) == (1.25, 12.5)
    late = missed(REACHED, TOO_FAR, hands=HandErrors(("foot",), np.array([0.5, 0.0])))
    assert late.sentence().endswith("at frame 12; 'foot' up to 0.5 degrees off")
    for unsaid in (np.full(4, np.nan), np.full(4, 0.99 * math.degrees(HAND_OFF))):
        assert chain(hands=HandErrors(("foot",), unsaid)).sentence() == chain().sentence()
    assert chain(hands=HandErrors(("foot",), np.full(4, np.nan))).max_hands_off_time is None


@pytest.mark.parametrize("lost", [np.nan, np.inf])
def test_what_is_no_number_is_never_reached(lost):
    assert not chain(1, distance=np.array([lost])).reached
    assert not chain(1, on_frames=np.array([lost]), distance=np.array([lost])).reached
    assert not chain(2, between_times=np.array([11.5]), between=np.array([lost])).reached


def test_the_largest_miss_is_in_the_scenes_units():
    assert missed(TOO_FAR, distance=[0.12], units=Units('NONE')).sentence().split(" worst by ")[1] == (
        f"{length_text(0.12, Units('NONE'))} at frame 11"
    )


# --- For other programs ---------------------------------------------------------------------------


def test_the_dictionary_holds_every_number():
    one = full()
    assert json.loads(json.dumps(one.to_dict())) == {
        "name": "leg",
        "armature": "Rig",
        "bones": ["thigh", "shin"],
        "solver": "TWO_BONE",
        "target": "Target/hand",
        "plane": "the plane of its bend",
        "reach": 2.0,
        "keys": 2,
        "summary": one.sentence(),
        "reached": False,
        "verified": "SAMPLE",
        "max_error": 0.75,
        "max_error_frame": 12.0,
        "max_error_from": "stopped by limits",
        "plays_back_worse_by": 0.5,
        "fk_frames": 0,
        "forced": [],
        "warnings": ["look"],
        "frames": [11, 12],
        "status": ["REACHED", "LIMITED"],
        "residual": [0.0, 0.25],
        "off_plane": [0.5, 0.0],
        "distance": [0.5, 0.25],
        "keyed": [True, False],
        "iterations": [0, 1],
        "limited": [[], ["thigh", "shin"]],
        "joint_speed": [0.0, 2.5],
        "played_back": [None, 0.75],
        "played_back_between": [[11.5, 0.125]],
    }
    assert with_changes(one, worse_by=-0.5).to_dict()["plays_back_worse_by"] == 0.0


def with_angles() -> ChainReport:
    """Return a chain with angles that are not known on its second frame."""
    angles = np.array([[0.5, -0.25], [np.nan, np.nan], [np.pi, 1e-12]])
    axes = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    return chain(3, angles=PlaneAngles(axes, np.array([0.0, 0.125]), angles))


def test_angles_are_told_by_bone_in_radians():
    told = json.loads(json.dumps(with_angles().to_dict(), allow_nan=False))
    assert told["angles"] == {
        "from_rest": {"thigh": [0.5, None, 3.1415927], "shin": [-0.25, None, 0.0]},
        "in_plane": {"thigh": [0.5, None, 3.1415927], "shin": [0.375, None, 3.2665927]},
    }
    assert told["plane_axes"] == [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    assert not {"angles", "plane_axes"} & full().to_dict().keys() and chain().joints.angles is None


def test_angles_of_a_row_are_numbered_columns_in_degrees_after_all_others():
    first, second, _ = with_angles().rows()
    assert list(first)[-5:] == [
        "bones",
        "angle_1_degrees",
        "angle_1_in_plane_degrees",
        "angle_2_degrees",
        "angle_2_in_plane_degrees",
    ]
    assert list(first.values())[-5:] == ["thigh shin", 28.64789, 28.64789, -14.32394, 21.48592]
    assert list(second.values())[-5:] == ["thigh shin", "", "", "", ""]
    assert list(first)[:-5] == list(next(chain(3).rows()))


def test_rows_are_one_a_frame():
    assert list(full().rows()) == [
        {
            "armature": "Rig",
            "chain": "leg",
            "frame": 11,
            "status": "REACHED",
            "residual": 0.0,
            "off_plane": 0.5,
            "distance": 0.5,
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
            "distance": 0.25,
            "played_back": 0.75,
            "limited": "thigh shin",
            "joint_speed": 2.5,
            "iterations": 1,
        },
    ]


def test_tip_on_its_target_whose_last_bone_is_off_its_angle_is_no_miss():
    report = chain(
        status=np.array([REACHED, ANGLE, ANGLE, REACHED]), angle_error=np.array([0.0, 0.1, 0.2, 0.0])
    )
    assert not report.missed.any() and report.reached
    assert report.to_dict()["status"] == ["REACHED", "ANGLE", "ANGLE", "REACHED"]
    assert report.to_dict()["angle_error"] == [0.0, 0.1, 0.2, 0.0]
    assert [row["angle_error_degrees"] for row in report.rows()] == pytest.approx([0, 5.72958, 11.45916, 0])


# --- FK frames ------------------------------------------------------------------------------------


def switched(*influence, **changes) -> ChainReport:
    """Return a chain that is off its target by 10 cm, 20 cm and so on where its IK Blend is below 1."""
    blend = np.array(influence)
    off = np.where(blend < 1.0, 0.1 * np.arange(1, len(blend) + 1), 0.0)
    fields = {"influence": blend, "residual": off, "distance": off, **changes}
    return chain(len(blend), **fields)


def test_fk_frames_are_counted_apart_and_miss_nothing():
    one = switched(1.0, 1.0, 0.0, 0.0)
    assert one.fk.tolist() == [False, False, True, True] and one.fk_frames == 2 and not one.is_off
    assert one.reached and not one.misses and not one.missed.any()
    assert (one.max_error, one.max_residual, one.worst_frame, one.max_error_from) == (0.0, 0.0, 11, "")
    assert one.sentence() == "2 of 4 frames are FK, target reached on all others"
    assert switched(0.0, 1.0).sentence() == "1 of 2 frames is FK, target reached on all others"
    told = json.loads(json.dumps(one.to_dict(), allow_nan=False))
    assert told["fk_frames"] == 2 and told["fk"] == [False, False, True, True] and told["reached"]
    assert [row["fk"] for row in one.rows()] == told["fk"] and "fk" not in next(chain().rows())


def test_a_miss_beside_fk_frames_is_told_with_them():
    one = switched(1.0, 0.5, 0.0)
    assert one.missed.tolist() == [False, True, False] and (one.max_error, one.worst_frame) == (0.2, 12)
    assert one.sentence() == (
        "1 of 3 frames held back by IK Blend, worst by 20 cm at frame 12; 1 of 3 frames is FK"
    )


def test_between_frames_the_gaps_next_to_fk_frames_do_not_count():
    times, far = np.array([11.25, 12.5, 13.75]), np.array([0.25, 0.5, 0.75])
    off = {"between_times": times, "between": far}
    counted = switched(1.0, 1.0, 0.0, 0.0, **off)
    assert (counted.max_between, counted.max_error_frame) == (0.25, 11.25) and counted.strays
    assert counted.sentence() == (
        "4 frames, target reached on the frames, but up to 25 cm off between them (frame 11.25);"
        " 2 of 4 frames are FK"
    )
    assert (switched(0.0, 0.0, 1.0, 1.0, **off).max_error_frame) == 13.75
    assert switched(1.0, 0.0, 1.0, 0.0, **off).reached
    assert counted.to_dict()["played_back_between"] == [[11.25, 0.25], [12.5, 0.5], [13.75, 0.75]]


def test_a_chain_that_is_fk_on_all_frames_has_not_reached_its_target():
    for count, frames in ((1, "1 frame"), (3, "3 frames")):
        one = switched(*[0.0] * count)
        assert one.is_off and not one.reached and not one.misses and not one.missed.any()
        assert (one.max_error, one.max_error_frame, one.max_error_from) == (0.0, 11.0, "")
        assert one.sentence() == f"{frames} FK, as IK Blend is 0: raise it, or disable the chain"
        json.dumps(one.to_dict(), allow_nan=False)


def test_a_foot_is_not_lifted_on_fk_frames():
    off = {"lifted": np.array([0.0, 0.02, 0.5]), "ground": "Floor"}
    assert "lifted above 'Floor' by up to 2 cm on 1 frame, at frame 12" in switched(1, 1, 0, **off).sentence()
    assert "lifted" not in switched(1, 0, 0, **off).sentence()
