# SPDX-License-Identifier: GPL-3.0-or-later
"""One step of the boundary where bones slide: what a slide sweeps, and what a joint does with segments."""

import numpy as np
import pytest
from chains import awkward_sliding_chain, drained

from ik2d_addon.core.region import poses
from ik2d_addon.core.region.elements import Elements, unit
from ik2d_addon.core.region.segments import ElementsWithSegments
from ik2d_addon.core.region.sets import set_steps
from ik2d_addon.core.region.slid import Slide, TurnWithSegments
from ik2d_addon.core.region.turned import OUT, moved

TIP = ElementsWithSegments.of(Elements.tip())


def nothing(r):
    return np.zeros(r.shape, bool)


def ends(level, which):
    """Return the two ends of some elements, by their x."""
    points = np.stack((level.at(which, level.start[which]), level.at(which, level.end[which])))
    return np.sort(points.real, axis=0)


def test_a_bone_that_only_slides_sweeps_a_segment_seen_from_both_sides_with_its_two_ends():
    level, ways = moved(Slide(TIP, 0.4, 1.0), nothing)
    straight = np.flatnonzero(level.is_straight)
    assert np.allclose(np.sort(np.sin(level.normal[straight])), [-1.0, 1.0], rtol=0.0, atol=1e-15)
    assert np.allclose(ends(level, straight), [[0.4, 0.4], [1.0, 1.0]], rtol=0.0, atol=1e-15)
    corners = np.flatnonzero(level.radius == 0.0)
    assert np.allclose(np.unique(level.centre[corners].real), [0.4, 1.0], rtol=0.0, atol=1e-15)
    assert np.sum(level.end[corners] - level.start[corners]) == pytest.approx(2.0 * np.pi)
    assert ways.farthest == np.inf and not ways.full.any()


def test_a_segment_along_the_bone_is_lengthened_by_its_slide():
    level, _ = moved(Slide(TIP, 0.4, 0.6), nothing)
    longer, _ = moved(Slide(level, 0.1, 0.3), nothing)
    straight = np.flatnonzero(longer.is_straight)
    assert len(straight) == 2
    assert np.allclose(ends(longer, straight), [[0.5, 0.5], [0.9, 0.9]], rtol=0.0, atol=1e-15)


def test_a_bone_that_slides_and_turns_covers_a_piece_of_an_annulus():
    level, _ = moved(Slide(TIP, 0.4, 1.0), nothing)
    turned, _ = moved(TurnWithSegments(level, -0.5, 0.8), nothing)
    arcs = np.flatnonzero(np.isfinite(turned.radius) & (turned.radius != 0.0))
    assert np.allclose(np.sort(turned.radius[arcs]), [-0.4, 1.0], rtol=0.0, atol=1e-15)
    straight = np.flatnonzero(turned.is_straight)
    assert np.allclose(
        np.sort(turned.normal[straight]), [-0.5 - 0.5 * np.pi, 0.8 + 0.5 * np.pi], rtol=0.0, atol=1e-15
    )


def test_what_slides_past_a_corner_leaves_no_trace_of_it():
    """An arc that slides: its middle part is bounded by the segments of its highest and lowest points."""
    arc, _ = moved(TurnWithSegments(TIP.shifted(0.3), -2.0, 2.0), nothing)
    level, _ = moved(Slide(arc, 0.2, 0.7), nothing)
    straight = np.flatnonzero(level.is_straight)
    height = np.abs(level.centre[straight].imag)
    assert np.allclose(height[np.cos(level.normal[straight]) < 1e-9].max(), 0.3, rtol=0.0, atol=1e-15)
    assert (np.abs(level.at(straight, level.start[straight]).real) <= 1.0).all()


@pytest.mark.parametrize("seed", range(50))
def test_elements_consist_of_poses_and_border_on_what_is_not_reached(seed):
    rng = np.random.default_rng([16, seed])
    chain = awkward_sliding_chain(rng, int(rng.choice([1, 2, 3, 5, 9])))
    sets = drained(set_steps(chain.lengths, *chain.ranges.T, *chain.slide_ranges.T))
    for k, level in enumerate(sets.elements[:-1]):
        which = np.repeat(np.arange(len(level)), 3)
        part = np.tile([0.5, 0.02, 0.98], len(level))
        normals = level.start[which] + part * (level.end[which] - level.start[which])
        points = level.at(which, normals)
        moves = np.zeros((len(which), len(sets)))
        moves[:, k:] = poses.of_elements(sets, k, which, normals, np.zeros(moves.shape))
        assert np.abs(tips_from(sets, k, moves) - points).max() <= 1e-12
        assert ((moves >= sets.low) & (moves <= sets.high))[:, k:].all()
        if sets.high[k] - sets.low[k] > 1e-9:
            outside = ~sets.ways[k].cover(level.outside(which, normals, OUT), sets.low[k], sets.high[k])
            assert outside.reshape(-1, 3).any(axis=1).all()


def tips_from(sets, k, moves):
    """Return the tips of moves k and on, as seen from joint k."""
    tips = np.zeros(len(moves), complex)
    for move in range(len(sets) - 1, k - 1, -1):
        tips = (
            tips + moves[:, move] if sets.slides[move] else (tips + sets.lengths[move]) * unit(moves[:, move])
        )
    return tips


@pytest.mark.slow
def test_the_list_stays_short():
    for n, most in ((3, 30), (10, 90), (40, 270)):
        for limit in (5.0, 20.0, 45.0, 90.0):
            edge, bone = np.full(n, np.radians(limit)), np.full(n, 0.5 / n)
            sets = drained(set_steps(bone, -edge, edge, np.zeros(n), bone))
            assert max(map(len, sets.elements)) <= most


def test_that_of_a_telescope_does_not_grow():
    still, bone = np.zeros(40), np.full(40, 0.5 / 40)
    sets = drained(set_steps(bone, still, still, still, bone))
    assert max(map(len, sets.elements)) <= 5
    straight = np.flatnonzero(sets.elements[0].is_straight)
    assert np.allclose(ends(sets.elements[0], straight), [[0.5, 0.5], [1.0, 1.0]], rtol=0.0, atol=1e-13)
