# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of one chain in numbers."""

import numpy as np
import pytest
from chain_reports import (
    LIMITED,
    REACHED,
    STALLED,
    TOO_FAR,
    chain,
    full,
    missed,
    report,
    strayed,
    with_changes,
)

from ik2d_addon.bake.reporting.chain_result import HALF_WAY, HandErrors


def test_the_error_is_as_played_back_or_else_as_solved():
    one = chain(3, distance=np.array([0.3, 0.2, 0.1]), on_frames=np.array([0.1, np.nan, 0.25]))
    assert one.errors == pytest.approx([0.1, 0.2, 0.25])
    assert (one.max_error, one.max_error_frame, one.worst_frame) == (0.25, 13.0, 13)
    two = chain(residual=np.array([0.0, 0.0, 0.7, 0.0]), distance=np.array([0.9, 0.0, 0.7, 0.0]))
    assert report(one, two).max_error == 0.9 and report(one, two).max_residual == 0.7
    assert report(two, one).max_error == 0.9 and report(two, one).max_residual == 0.7


def test_between_frames_the_tip_may_be_further_off_than_on_them():
    for on_frames, between, expected in ((0.1, 0.3, (0.3, 11.5)), (0.3, 0.1, (0.3, 12.0))):
        one = strayed(between, distance=np.array([0.0, on_frames, 0.05, 0.0]))
        assert one.max_between == between
        assert (one.max_error, one.max_error_frame) == expected
    near = strayed(0.1, distance=np.array([0.0, 0.3, 0.05, 0.0]))
    assert near.max_error_from == "off the plane"
    same = strayed(0.3, distance=np.array([0.0, 0.3, 0.0, 0.0]))
    assert same.max_error_frame == 12.0
    assert chain().max_between == chain().max_error == 0.0


def test_missed_is_what_was_not_solved_or_is_not_there():
    one = missed(REACHED, TOO_FAR, STALLED, LIMITED, distance=[5e-4, 0.1, 0.3, 0.2])
    assert one.missed.tolist() == [False, True, True, True]
    assert one.worst_frame == 13 and one.worst_missed == 2
    assert not one.reached and one.max_error_from == "stalled"
    assert not report(one).all_reached and not report(chain(), one).all_reached
    assert report(chain(), chain()).all_reached
    # One that was not reached is missed even where Blender has the tip on its target.
    lucky = missed(REACHED, TOO_FAR, on_frames=np.zeros(2))
    assert lucky.missed.tolist() == [False, True] and lucky.worst_missed == 1


@pytest.mark.parametrize("bound", [0.0, 0.25])
def test_more_than_the_tolerance_and_the_bound_is_a_miss(bound):
    errors = np.array([0.0, 0.999, 1.001, np.nan]) * (1e-3 + bound)
    one = chain(on_frames=errors, bound=bound)
    assert one.missed.tolist() == [False, False, True, False]
    assert not one.reached and one.worst_missed == 2


@pytest.mark.parametrize("bound, allowed", [(0.0, 2e-3), (1e-3, 2e-3), (0.25, 0.25)])
def test_between_frames_a_thousandth_of_the_reach_or_the_bound_is_allowed(bound, allowed):
    assert HALF_WAY == 1e-3
    for part, strays in ((0.99, False), (1.01, True)):
        one = strayed(part * (allowed + 1e-3), bound=bound)
        assert one.strays is strays and one.reached is not strays
        assert not one.missed.any() and report(one).all_reached is not strays


def test_between_keys_nothing_is_known_until_it_was_played_back():
    sparse = np.array([True, False, True, True])
    for verified, keyed, reached in (
        ('NONE', sparse, False),
        ('NONE', sparse | True, True),
        ('SAMPLE', sparse, True),
        ('ALL', sparse, True),
    ):
        assert chain(verified=verified, keyed=keyed).reached is reached


def test_bones_at_a_limit_by_name():
    one = chain(2, limited=np.array([[True, False], [True, True]]))
    assert one.limited_bones(0) == ["thigh"] and one.limited_bones(1) == ["thigh", "shin"]


# --- For scripts that were written for 1.0.0 ------------------------------------------------------


def test_numbers_are_where_1_0_0_had_them_too():
    one = full()
    assert (one.reach, one.tolerance, one.bound, one.verified) == (2.0, 1e-3, 0.0, 'SAMPLE')
    assert (one.keys, one.plays_back_worse_by, one.plane) == (2, 0.5, "the plane of its bend")
    assert one.played_back is one.played.on_frames and one.between is one.played.between
    assert one.joint_speed is one.joints.speed and one.limited is one.joints.limited
    assert (one.hands, one.hands_off, one.lifted, one.unmoved, one.forced) == ((), None, None, False, ())
    for name in ("angles", "directions", "plane_axes", "stretch", "slides", "influence", "parted"):
        assert getattr(one, name) is None
    hands = with_changes(one, hands=HandErrors(("foot",), np.zeros(2)))
    assert hands.hands == ("foot",) and hands.hands_off.tolist() == [0.0, 0.0]
    with pytest.raises(AttributeError, match="'ChainReport' object has no attribute 'reeach'"):
        one.reeach  # noqa: B018
