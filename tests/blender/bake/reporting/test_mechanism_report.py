# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of a bake for a mechanism, in words."""

import numpy as np
import pytest

from ik2d_addon.bake.reporting.mechanism_report import MechanismReport


def report(opened, between=0.0, held=(False, False), missed=(0.0, 0.0)):
    """Return a report on two frames."""
    numbers = np.array([0.0, opened]), np.array([between])
    held, missed = np.array(held), np.array(missed)
    bones, frames, dead_points = ("a", "b"), np.array([1, 2]), {"a": (0.5,)}
    return MechanismReport(
        "leg", "Rig", bones, frames, 2.0, *numbers, 1e-4, 2, held, dead_points, missed, unit=3.0
    )


@pytest.mark.parametrize(
    "opened, between, words, closed",
    [
        (0.0, 0.0, "closed on 2 frames", True),
        (0.0, 1e-4, "closed on 2 frames, between them open by 5e-05 of its size", True),
        (0.0, 0.2, "closed on 2 frames, between them open by 0.1 of its size", False),
        (0.2, 0.0, "open on 1 of 2 frames, by 0.1 of its size at most (frame 2)", False),
        (np.nan, 0.0, "closed on 2 frames", True),
    ],
)
def test_it_says_how_far_joints_are_open(opened, between, words, closed):
    told = report(opened, between)
    assert (told.sentence(), told.is_closed) == (words, closed)
    assert bool(told.warnings) != closed and told.to_dict()["closed"] == closed


def test_held_frames_are_told():
    told = report(0.0, held=(False, True))
    assert told.sentence() == "closed on 2 frames; held on 1 frame" and told.held_frames == (2,)
    assert told.to_dict()["dead_points"] == {"a": [0.5]}


def test_a_target_that_is_missed_is_warned_of():
    told = report(0.0, missed=(0.25, 1e-5))
    assert told.sentence() == "closed on 2 frames; off its target by 0.12 of its size at most (frame 1)"
    assert told.is_closed and not told.is_good
    assert told.warnings == (f"Mechanism 'leg': {told.sentence()}",)
    assert told.max_error == pytest.approx(0.75) and not report(0.0).warnings
    assert told.to_dict()["max_missed"] == 0.125
    assert [row["distance"] for row in told.rows()] == pytest.approx([0.75, 3e-5])
    assert report(0.0, missed=(1e-4, 0.0)).sentence() == "closed on 2 frames"
