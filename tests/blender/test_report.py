# SPDX-License-Identifier: GPL-3.0-or-later
"""What a report says of a bake: that it reached its targets only where Blender plays it back so."""

import dataclasses
import json

import bpy
import numpy as np
import pytest
from rigs import leg_with_target

from ik2d_addon.bake import BakeReport, ChainReport, bake
from ik2d_addon.bake.report import PLAYED_BACK
from ik2d_addon.core import Status


@pytest.fixture
def baked() -> BakeReport:
    """The report of a leg that reaches its target on all of three frames."""
    leg_with_target()
    bpy.context.scene.unit_settings.system = 'METRIC'
    return bake(bpy.data.objects["Rig"], None, 1, 3)


def with_chains(report: BakeReport, *changes: dict) -> BakeReport:
    """Return the report with one chain for each of the changes, made of its first."""
    chains = tuple(dataclasses.replace(report.chains[0], **change) for change in changes)
    return dataclasses.replace(report, chains=chains)


# Played back on two frames, and half-way between two.
FAR_PLAYED = {
    "played_back": np.array([1.15, np.nan, 0.5]),
    "between_times": np.array([1.5]),
    "between": np.array([0.4]),
}
MISSED = {
    "status": np.array([Status.REACHED, Status.TOO_FAR, Status.REACHED], np.int8),
    "residual": np.array([0.0, 0.12, 0.0]),
}


def chain_of(report: BakeReport, **changes) -> ChainReport:
    """Return the report's first chain, changed."""
    return with_chains(report, changes).chains[0]


def test_the_error_is_the_larger_of_what_was_solved_and_what_was_played_back(baked):
    chain = chain_of(
        baked,
        residual=np.array([0.3, 0.0, 0.0]),
        off_plane=np.array([0.4, 0.2, 0.0]),
        played_back=np.array([0.1, np.nan, 0.25]),
    )
    assert chain.errors == pytest.approx([0.5, 0.2, 0.25])
    assert chain.max_error == pytest.approx(0.5)


def test_the_error_is_known_where_nothing_was_played_back(baked):
    report = with_chains(baked, {**MISSED, "played_back": np.full(3, np.nan), "off_plane": np.zeros(3)}, {})
    assert report.max_error == report.max_residual == 0.12


def test_a_good_bake_says_nothing_of_its_playback(baked):
    assert baked.all_reached
    assert baked.sentence() == "Baked 3 frames on 1 chain; every target reached"
    assert baked.chains[0].sentence() == "3 frames, target reached on all"


def test_a_bake_that_plays_back_worse_has_not_reached_and_says_so(baked):
    report = with_chains(baked, {**FAR_PLAYED, "plays_back_worse_by": 1.15})
    assert not report.all_reached
    assert report.max_residual < 1e-5 and report.max_error == 1.15
    off = "plays back up to 1.15 m off"
    assert report.chains[0].sentence() == f"3 frames, target reached on all, but {off}"
    assert report.sentence() == f"Baked 3 frames on 1 chain; every target reached, but {off}"


def test_what_missed_and_what_plays_back_worse_are_told_each_with_its_chain(baked):
    missed, played = {"name": "leg", **MISSED}, {"name": "arm", **FAR_PLAYED, "plays_back_worse_by": 0.9}
    sentence = with_chains(baked, missed, played).sentence()
    assert "1 of 3 frames out of reach, worst by 12 cm at frame 2 of 'leg'" in sentence
    assert sentence.endswith(", but plays back up to 1.15 m off on 'arm'")


def test_only_more_than_blenders_rounding_is_worse(baked):
    rounding = PLAYED_BACK * baked.chains[0].reach
    for excess in (-np.inf, 0.0, 0.9 * rounding):
        assert with_chains(baked, {"plays_back_worse_by": excess}).all_reached
    assert not with_chains(baked, {"plays_back_worse_by": 1.1 * rounding}).all_reached


def test_a_distance_that_was_promised_is_no_worse(baked):
    # As with reduced keys: off, but within the bound that was asked for.
    report = with_chains(baked, {**FAR_PLAYED, "plays_back_worse_by": 0.0})
    assert report.all_reached and "plays back" not in report.sentence()
    assert report.max_error == 1.15


def test_the_dictionary_is_plain_json_with_the_errors(baked):
    report = with_chains(baked, {**FAR_PLAYED, "plays_back_worse_by": 0.9}, {"plays_back_worse_by": -np.inf})
    written = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert written["max_error"] == 1.15 and written["max_residual"] == report.max_residual
    worse, untold = written["chains"]
    assert worse["max_error"] == 1.15 and worse["plays_back_worse_by"] == 0.9
    assert untold["plays_back_worse_by"] == 0.0
