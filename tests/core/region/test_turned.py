# SPDX-License-Identifier: GPL-3.0-or-later
"""One step of the boundary: what a joint sweeps with the bones behind it."""

import numpy as np
import pytest
from chains import awkward_chain, drained

from ik2d_addon.core.region import poses
from ik2d_addon.core.region.elements import Elements, unit
from ik2d_addon.core.region.sets import set_steps
from ik2d_addon.core.region.turned import OUT, Turn, _exposed, moved


def turned(outer, length, low, high):
    """Return what a joint makes of a set where circles that cross nothing are not in it."""
    return moved(Turn(outer.shifted(length), low, high), lambda r: np.zeros(r.shape, bool))


def test_one_bone_sweeps_an_arc_seen_from_both_sides_with_its_two_ends():
    level, circles = turned(Elements.tip(), 1.0, -0.5, 0.8)
    arcs = np.flatnonzero(level.radius)
    assert sorted(level.radius[arcs].tolist()) == [-1.0, 1.0]
    assert (level.centre[arcs] == 0.0).all()
    outer, inner = arcs[np.argsort(-level.radius[arcs])]
    assert (level.start[outer], level.end[outer]) == pytest.approx((-0.5, 0.8))
    assert level.end[inner] - level.start[inner] == pytest.approx(1.3)
    corners = np.flatnonzero(level.radius == 0.0)
    assert np.allclose(np.sort(np.angle(level.centre[corners])), [-0.5, 0.8], rtol=0.0, atol=1e-15)
    assert np.allclose(level.end[corners] - level.start[corners], np.pi, rtol=0.0, atol=1e-14)
    assert circles.farthest == 1.0


def test_a_rigid_joint_turns_the_boundary_as_it_is():
    before, _ = turned(Elements.tip(), 0.5, -0.5, 0.8)
    level, _ = turned(before, 0.5, 0.3, 0.3)
    assert np.allclose(level.centre, (before.centre + 0.5) * unit(np.full(4, 0.3)), rtol=0.0, atol=1e-15)
    assert np.array_equal(level.radius, before.radius)
    assert np.allclose(unit(level.start), unit(before.start + 0.3), rtol=0.0, atol=1e-14)
    assert (level.least == 0.3).all() and (level.most == 0.3).all()


@pytest.mark.parametrize(("length", "radii"), [(1.0, [-0.6, 1.4]), (0.4, [0.8]), (0.3, [-0.1, 0.7])])
def test_a_whole_turn_leaves_circles_about_the_joint(length, radii):
    before, _ = turned(Elements.tip(), 0.4, -np.pi, np.pi)
    level, _ = turned(before, length, -np.pi, np.pi)
    assert np.allclose(np.sort(level.radius), radii, rtol=0.0, atol=1e-15)
    assert np.allclose(level.end - level.start, 2.0 * np.pi, rtol=0.0, atol=1e-14)
    assert np.abs(level.centre).max() == 0.0


@pytest.mark.parametrize("seed", range(40))
def test_elements_consist_of_poses_and_border_on_what_is_not_reached(seed):
    """So it is for the boundary of every joint's set, of whatever chain."""
    rng = np.random.default_rng([6, seed])
    chain = awkward_chain(rng, int(rng.choice([1, 2, 3, 5, 9])))
    low, high = chain.ranges.T
    sets = drained(set_steps(chain.lengths / chain.lengths.sum(), low, high))
    for k, level in enumerate(sets.elements[:-1]):
        which = np.repeat(np.arange(len(level)), 3)
        part = np.tile([0.5, 0.02, 0.98], len(level))
        normals = level.start[which] + part * (level.end[which] - level.start[which])
        points = level.at(which, normals)
        angles = poses.of_elements(sets, k, which, normals, np.zeros((len(which), len(sets))))
        headings = np.cumsum(angles, axis=1)
        tips = (sets.lengths[k:] * unit(headings)).sum(axis=1)
        assert np.abs(tips - points).max() <= 1e-13
        assert ((angles >= sets.low[k:]) & (angles <= sets.high[k:])).all()
        if sets.high[k] - sets.low[k] > 1e-9:
            outside = ~sets.ways[k].cover(points + OUT * unit(normals), sets.low[k], sets.high[k])
            assert outside.reshape(-1, 3).any(axis=1).all()


@pytest.mark.parametrize(
    ("ends", "kept"),
    [
        ((-1.0, 0.0), False),  # covered all along
        ((-1.5, -1.2), True),  # bare all along
        ((-1.205, -0.2), True),  # bare at its start alone
        ((0.5, 1.505), True),  # at its end
        ((-0.35, 0.65), True),  # in its middle, in a gap
    ],
)
def test_a_piece_stays_where_the_set_leaves_it_bare_at_its_middle_or_next_to_an_end(ends, kept):
    """A circle is turned by -0.5 to 0.8: about the joint it covers two arcs with a gap between them.

    On the joint's circle of radius 0.6 it lies at +-0.68, so these are -1.18 to 0.12, and 0.18 to 1.48.
    """
    circle, _ = turned(Elements.tip(), 0.4, -np.pi, np.pi)
    _, ways = turned(circle, 0.6, -0.5, 0.8)
    start, end = (np.array([angle]) for angle in ends)
    none, first = np.zeros(1), np.zeros(1, np.intp)
    piece = Elements(none + 0j, none + 0.6, start, end, first, none, none, start, end)
    assert _exposed(piece, first, start, end, ways, -0.5, 0.8).tolist() == [kept]


@pytest.mark.slow
def test_the_list_stays_short():
    for n, most in ((3, 30), (10, 60), (40, 170)):
        for limit in (5.0, 20.0, 45.0, 90.0):
            edge = np.full(n, np.radians(limit))
            sets = drained(set_steps(np.ones(n) / n, -edge, edge))
            assert max(map(len, sets.elements)) <= most
