# SPDX-License-Identifier: GPL-3.0-or-later
"""What a report says of a bake: that it reached its targets only where Blender plays it back so."""

import dataclasses
import json

import bpy
import numpy as np
import pytest
from chain_reports import with_changes
from rigs import leg_with_target

from ik2d_addon.bake import BakeReport, ChainReport, bake
from ik2d_addon.bake.reporting.chain_result import HALF_WAY
from ik2d_addon.core import Status
from ik2d_addon.rig.scene.rounding import PLAYED_BACK


@pytest.fixture
def baked() -> BakeReport:
    """The report of a leg that reaches its target on all of three frames."""
    leg_with_target()
    bpy.context.scene.unit_settings.system = 'METRIC'
    return bake(bpy.data.objects["Rig"], None, 1, 3)


def with_chains(report: BakeReport, *changes: dict) -> BakeReport:
    """Return the report with one chain for each of the changes, made of its first."""
    chains = tuple(with_changes(report.chains[0], **change) for change in changes)
    return dataclasses.replace(report, chains=chains)


# Played back on two frames, and half-way between two.
FAR_PLAYED = {
    "on_frames": np.array([1.15, np.nan, 0.5]),
    "between_times": np.array([1.5]),
    "between": np.array([0.4]),
    "worse_by": 1.15,
}
MISSED = {
    "status": np.array([Status.REACHED, Status.TOO_FAR, Status.REACHED], np.int8),
    "residual": np.array([0.0, 0.12, 0.0]),
    "distance": np.array([0.0, 0.12, 0.0]),
    "on_frames": np.full(3, np.nan),
}


def chain_of(report: BakeReport, **changes) -> ChainReport:
    """Return the report's first chain, changed."""
    return with_chains(report, changes).chains[0]


def test_the_error_is_what_was_played_back_or_else_what_was_solved(baked):
    chain = chain_of(
        baked,
        distance=np.array([0.5, 0.2, 0.0]),
        on_frames=np.array([0.1, np.nan, 0.25]),
        between=np.array([]),
        between_times=np.array([]),
    )
    assert chain.errors == pytest.approx([0.1, 0.2, 0.25])
    assert chain.max_error == pytest.approx(0.25) and chain.worst_frame == 3
    farther = with_changes(chain, between=np.array([0.3]), between_times=np.array([2.5]))
    assert farther.max_error == 0.3 and farther.max_error_frame == 2.5
    assert farther.max_error_from == "half-way between frames"


def test_a_good_bake_says_nothing_of_its_playback(baked):
    assert baked.all_reached
    assert baked.sentence().startswith("Baked 3 frames on 1 chain; every target reached")
    assert baked.chains[0].sentence().startswith("3 frames, target reached on all")
    assert baked.chains[0].max_error_from == ""


def test_a_bake_that_plays_back_elsewhere_has_not_reached_and_says_so(baked):
    report = with_chains(baked, FAR_PLAYED)
    assert not report.all_reached
    assert report.max_residual < 1e-5 and report.max_error == 1.15
    missed = "2 of 3 frames moved by something other than the keys, worst by 1.15 m at frame 1"
    assert report.chains[0].sentence() == missed
    assert report.sentence() == f"Baked 3 frames on 1 chain; {missed}"
    assert report.chains[0].max_error_from == "moved by something other than the keys"


def test_the_chain_that_is_furthest_off_is_named(baked):
    missed, played = {"name": "leg", **MISSED}, {"name": "arm", **FAR_PLAYED}
    for chains in ((missed, played), (played, missed)):
        assert with_chains(baked, *chains).sentence().endswith("worst by 1.15 m at frame 1 of 'arm'")
    sentence = with_chains(baked, missed, {"name": "arm"}).sentence()
    assert sentence.endswith("; 1 of 3 frames out of reach, worst by 12 cm at frame 2 of 'leg'")


@pytest.mark.parametrize(
    "changes, cause",
    [
        ({"status": np.full(3, Status.TOO_CLOSE, np.int8)}, "out of reach"),
        ({"status": np.full(3, Status.LIMITED, np.int8)}, "stopped by limits"),
        ({"status": np.full(3, Status.STALLED, np.int8)}, "stalled"),
        ({"off_plane": np.full(3, 0.5), "distance": np.full(3, 0.5)}, "off the plane"),
        (
            {"status": np.full(3, Status.EASED), "residual": np.full(3, 0.5), "distance": np.full(3, 0.5)},
            "held back by softness",
        ),
        ({"status": np.full(3, Status.LIMITED), "locked": np.array([True, False])}, "held by locks"),
        (
            {
                "status": np.full(3, Status.LIMITED),
                "locked": np.array([True, False]),
                "limited": np.ones((3, 2), bool),
            },
            "held by locks and limits",
        ),
        ({"status": np.full(3, Status.STALLED), "uneven": True}, "held back by uneven scale"),
        ({"uneven": True}, "held back by uneven scale"),
        (
            {"bound": 0.4, "status": np.full(3, Status.EASED), "distance": np.full(3, 0.15)},
            "off by reducing keys",
        ),
        ({"keyed": np.zeros(3, bool)}, "off between keys"),
        ({}, "moved by something other than the keys"),
    ],
)
def test_every_cause_of_a_miss_is_named(baked, changes, cause):
    chain = chain_of(baked, **{"on_frames": np.full(3, 0.5), **changes})
    assert chain.missed.all() and not chain.reached
    assert chain.sentence() == f"3 of 3 frames {cause}, worst by 50 cm at frame 1"


def test_only_more_than_the_tolerance_and_the_bound_is_a_miss(baked):
    chain = baked.chains[0]
    assert (
        PLAYED_BACK * chain.standard.reach
        < chain.standard.tolerance
        < 1.5 * PLAYED_BACK * chain.standard.reach
    )
    for bound in (0.0, 0.2):
        for part, missed in ((0.99, False), (1.01, True)):
            error = part * (chain.standard.tolerance + bound)
            told = chain_of(baked, on_frames=np.array([0.0, error, 0.0]), bound=bound)
            assert told.missed.tolist() == [False, missed, False]
            assert told.reached is not missed


def test_half_way_the_tip_may_stray_by_a_thousandth_of_the_reach(baked):
    chain = baked.chains[0]
    for bound, allowed in ((0.0, HALF_WAY * chain.standard.reach), (0.2, 0.2)):
        for part, reached in ((0.98, True), (1.02, False)):
            strayed = part * (allowed + chain.standard.tolerance)
            told = chain_of(baked, between=np.array([strayed]), between_times=np.array([2.5]), bound=bound)
            assert told.reached is reached
            assert ("target reached on all, up to" in told.sentence()) is reached
            assert ("target reached on the frames, but up to" in told.sentence()) is not reached
            assert told.max_error == pytest.approx(strayed)
    report = with_chains(baked, {"between": np.array([0.5]), "between_times": np.array([2.5])})
    assert "every target reached" not in report.sentence()
    assert report.sentence().endswith("but up to 50 cm off between them (frame 2.5)")


def test_what_was_not_verified_is_not_claimed(baked):
    nothing = {"verified": 'NONE', "on_frames": np.full(3, np.nan), "between": np.array([])}
    solved = with_chains(baked, nothing)
    assert solved.all_reached
    assert solved.sentence() == "Baked 3 frames on 1 chain; every target reached as solved, not verified"
    sparse = with_chains(baked, {**nothing, "keyed": np.array([True, False, True])})
    assert not sparse.all_reached and "every target reached" not in sparse.sentence()
    assert sparse.sentence().endswith("target reached on the keys, not verified between them")


def test_the_dictionary_is_plain_json_with_the_errors(baked):
    report = with_chains(baked, FAR_PLAYED, {"worse_by": -np.inf})
    written = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert written["max_error"] == 1.15 and written["max_residual"] == report.max_residual
    assert written["all_reached"] is False
    worse, untold = written["chains"]
    assert worse["max_error"] == 1.15 and worse["plays_back_worse_by"] == 1.15
    assert worse["reached"] is False and worse["max_error_frame"] == 1.0
    assert untold["plays_back_worse_by"] == 0.0 and untold["reached"] is True
