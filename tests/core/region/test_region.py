# SPDX-License-Identifier: GPL-3.0-or-later
"""What a chain with limits reaches: never wrong, from inside by sampling, from outside by an optimiser."""

import numpy as np
import pytest
from chains import awkward_chain, awkward_sliding_chain, poses_within, slides_within
from hypothesis import given, settings
from hypothesis import strategies as st

from ik2d_addon.core import Chain, IK2DError, Region, forward, reachable
from ik2d_addon.core.region import as_points
from ik2d_addon.core.region import region as module

SIXTY = np.radians(60.0)
seeds = st.integers(0, 2**32 - 1)


def problem(seed, sizes=(1, 2, 3, 4, 5, 8, 12)):
    """Return a random source, an awkward chain and its region."""
    rng = np.random.default_rng(seed)
    chain = awkward_chain(rng, int(rng.choice(sizes)))
    return rng, chain, reachable(chain)


def tips_of(chain, angles):
    return forward(chain, angles)[..., -1, :]


def distances(points, others):
    """Return the distance from each point to the nearest of some others."""
    return np.array([np.hypot(*(others - point).T).min() for point in points])


def on_the_border(rng, region, count, off=0.0):
    """Return places (count, 2) on the boundary or `off` it along the normal (reach is 1)."""
    level = region.sets.elements[0]
    which = rng.integers(0, len(level), count)
    normals = level.start[which] + rng.random(count) * (level.end[which] - level.start[which])
    points = level.outside(which, normals, 0.0) + off * (
        level.outside(which, normals, 1.0) - level.at(which, normals)
    )
    return np.stack((points.real, points.imag), axis=-1)


def points_around(rng, region):
    """Return 48 places, half of them on the boundary or next to it."""
    border = on_the_border(rng, region, 24, rng.choice([0.0, 1e-2, 1e-4, 1e-6, 1e-8, -1e-2, -1e-6], 24))
    return np.concatenate((rng.uniform(-1.2, 1.2, (24, 2)), border))


def hold_tips(rng, region, tips):
    """Hold a region to tips: each is in it, and of no place is one nearer than the nearest point."""
    away = region.nearest(tips)[1]
    assert (region.contains(tips) | (away <= 1e-9)).all()
    points = rng.uniform(-1.2, 1.2, (30, 2))
    found, away = region.nearest(points)
    assert (distances(points, tips) >= away - 1e-9).all()
    assert ((away == 0.0) == region.contains(points)).all()
    assert region.contains(found).all()
    assert np.allclose(np.hypot(*(found - points).T), away, rtol=0.0, atol=1e-12)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(seed=seeds)
def test_tips_of_poses_are_contained_and_no_point_has_a_tip_nearer_than_the_nearest(seed):
    rng, chain, region = problem(seed)
    hold_tips(rng, region, tips_of(chain, poses_within(rng, chain, 500)))


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(seed=seeds)
def test_poses_reach_or_come_as_near_as_the_nearest_point(seed):
    rng, chain, region = problem(seed)
    points = points_around(rng, region)
    near = None if rng.random() < 0.3 else poses_within(rng, chain, 48)
    angles = region.poses(points, near)
    low, high = chain.ranges.T
    assert ((angles >= low) & (angles <= high)).all()
    residual = np.hypot(*(tips_of(chain, angles) - points).T)
    assert np.abs(residual - region.nearest(points)[1]).max() <= 1e-9


@pytest.mark.parametrize("off", [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9])
def test_just_outside_the_border_is_out_and_just_inside_is_in(off):
    """Points on arcs, whose normals leave no doubt, of chains whose regions are thicker than that."""
    rng = np.random.default_rng(11)
    for n in (2, 3, 5, 10, 30):
        chain = Chain(rng.uniform(0.5, 1.0, n), [[-SIXTY, SIXTY]] * n)
        region = reachable(chain)
        level = region.sets.elements[0]
        arcs = np.flatnonzero(np.abs(level.radius) > 0.02)
        which = arcs[rng.integers(0, len(arcs), 20)]
        normals = 0.5 * (level.start[which] + level.end[which])
        for side, expected in ((1.0, False), (-1.0, True)):
            points = (level.at(which, normals) + side * off * np.exp(1j * normals)) * region.scale
            contained = region.contains(np.stack((points.real, points.imag), axis=-1))
            # Of a far step the nearest border may be another one.
            assert np.mean(contained == expected) >= (1.0 if off <= 1e-4 else 0.8)


@pytest.mark.parametrize("limits", [None, [[-3.0, 3.0], [-3.2, 3.2]]])
@pytest.mark.parametrize(("hole", "is_in"), [(3e-10, True), (2e-9, False), (1e-8, False)])
def test_a_hole_as_narrow_as_its_border_is_wide_is_one_all_the_same(hole, is_in, limits):
    """Two bones that are not quite equal do not reach the root, but all around it."""
    region = reachable(Chain([0.5 + 0.5 * hole, 0.5 - 0.5 * hole], limits))
    assert region.contains([0.0, 0.0]) == is_in
    assert region.nearest([0.0, 0.0])[1] == pytest.approx(0.0 if is_in else hole, abs=1e-14)


def test_a_point_no_farther_than_the_border_is_wide_is_in():
    region = reachable(Chain([1.0], [[-0.5, 0.5]]))
    off = np.array([-6.0, -4.0, 4.0, 6.0]) * 1e-10  # of the reach; BORDER is 5e-10
    points, is_in = (1.0 + off) * np.exp(0.2j), np.array([False, True, True, False])
    places = np.stack((points.real, points.imag), axis=-1)
    assert np.array_equal(region.contains(places), is_in)
    found, away = region.nearest(places)
    assert np.allclose(away, np.where(is_in, 0.0, np.abs(off)), rtol=0.0, atol=1e-15)
    assert np.array_equal(found[is_in], places[is_in])
    assert np.array_equal(region.posed(points, np.zeros((4, 1))).away == 0.0, is_in)
    away = region.distances(points, 0.0)  # how wide a border is that has each just in it
    assert (away > 0.0).all()
    for point, width in zip(points, away, strict=True):
        own, no_angles = np.array([point]), np.zeros((1, 1))
        assert region.distances(own, width) == region.posed(own, no_angles, width).away == 0.0
        less = np.nextafter(width, 0.0)
        assert region.distances(own, less) == region.posed(own, no_angles, less).away == width


def brought_near(chain, angles, target, sweeps):
    """Turn one joint after the other so that the tip is nearest to a target: all poses (m, n) at once."""
    angles = angles.copy()
    low, high = chain.limits.T
    for _ in range(sweeps):
        for i in range(len(chain) - 1, -1, -1):
            joints = forward(chain, angles)
            arm, aim = joints[:, -1] - joints[:, i], target - joints[:, i]
            across = arm[:, 0] * aim[:, 1] - arm[:, 1] * aim[:, 0]
            wanted = angles[:, i] + np.arctan2(across, (arm * aim).sum(axis=1))
            angles[:, i] = np.clip(wanted, low[i], high[i])
    return angles


@pytest.mark.slow
@pytest.mark.parametrize("n", (2, 3, 6))
def test_no_optimiser_comes_nearer_and_most_starts_come_as_near(n):
    rng = np.random.default_rng([12, n])
    for limits in ([-0.4, 0.4], [0.2, 1.0]):
        chain = Chain(np.ones(n) / n, [limits] * n)
        region = reachable(chain)
        targets = rng.uniform(-1.0, 1.0, (25, 2))
        targets = targets[~region.contains(targets)][:8]
        away = region.nearest(targets)[1]
        for target, distance in zip(targets, away, strict=True):
            starts = rng.uniform(*limits, (60, n))
            starts[0], starts[1] = limits
            angles = brought_near(chain, starts, target, 60)
            reached = np.hypot(*(tips_of(chain, angles) - target).T).min()
            assert distance - 1e-9 <= reached <= distance + 1e-2


@pytest.mark.parametrize("degrees", (30.0, 45.0, 60.0, 90.0, 180.0))
@pytest.mark.parametrize("n", (3, 4, 8))
def test_equal_bones_with_round_limits(n, degrees):
    """Here many arcs and corners coincide."""
    rng = np.random.default_rng(n)
    edge = np.radians(degrees)
    chain = Chain(np.ones(n), [[-edge, edge]] * n)
    region = reachable(chain)
    steps = np.radians(15.0)
    round_poses = steps * np.rint(rng.uniform(-edge, edge, (400, n)) / steps)
    tips = tips_of(chain, np.clip(round_poses, -edge, edge))
    assert region.contains(tips).all()
    angles = region.poses(tips)
    assert np.hypot(*(tips_of(chain, angles) - tips).T).max() <= 1e-9 * n
    mirrored = region.nearest(tips * [1.0, -1.0] + [0.0, 0.1])[1]
    assert np.abs(mirrored - region.nearest(tips - [0.0, 0.1])[1]).max() <= 1e-9 * n


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(seed=seeds, scale=st.sampled_from([1e-250, 1e-4, 3.0, 1e6, 1e250]))
def test_the_size_of_the_chain_changes_nothing_but_the_size_of_the_region(seed, scale):
    rng, chain, region = problem(seed)
    large = reachable(Chain(chain.lengths * scale, chain.limits))
    points = rng.uniform(-1.2, 1.2, (30, 2))
    clear = np.abs(region.sets.elements[0].nearest(points[:, 0] + 1j * points[:, 1])[0]) > 1e-8
    assert (large.contains(points * scale) == region.contains(points))[clear].all()
    assert np.allclose(large.nearest(points * scale)[1] / scale, region.nearest(points)[1], rtol=0, atol=1e-9)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_mirrored_limits_leave_the_mirrored_region(seed):
    rng, chain, region = problem(seed)
    mirrored = reachable(Chain(chain.lengths, -chain.ranges[:, ::-1]))
    points = rng.uniform(-1.2, 1.2, (30, 2))
    away = mirrored.nearest(points * [1.0, -1.0])[1]
    assert np.allclose(away, region.nearest(points)[1], rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("turns", (-2, 1, 2))
def test_limits_some_turns_on_leave_the_same_region_with_other_numbers(turns):
    rng = np.random.default_rng(13)
    limits = np.sort(rng.uniform(-2.0, 2.0, (4, 2)), axis=1)
    limits[3] = [-np.inf, 1.0]
    chain, turned = Chain(np.ones(4), limits), Chain(np.ones(4), limits + 2.0 * np.pi * turns)
    tips = tips_of(chain, poses_within(rng, chain, 50))
    angles = reachable(turned).poses(tips, np.full(4, 2.0 * np.pi * turns))
    low, high = turned.limits.T
    assert ((angles >= low) & (angles <= high)).all()
    assert np.abs(tips_of(chain, angles) - tips).max() <= 1e-7


@pytest.mark.parametrize("seed", range(8))
def test_an_angle_at_an_end_of_its_range_is_the_limit_itself(seed):
    """Ranges are kept with their middles within half a turn of zero; to bring one there and back rounds."""
    rng = np.random.default_rng([17, seed])
    small = rng.uniform(0.1, 1.0, 6) * 10.0 ** rng.integers(-6.0, 0.0, 6)
    limits = np.stack((small, np.full(6, 2.0 * np.pi)), axis=-1)
    limits[::2] = -limits[::2, ::-1]
    region = reachable(Chain(np.ones(6), limits))
    sets, like = region.sets, np.zeros((1, 6))
    assert np.array_equal(region._numbers(sets.low[np.newaxis], like)[0], limits[:, 0])
    assert np.array_equal(region._numbers(sets.high[np.newaxis], like)[0], limits[:, 1])
    for beyond in (-1.0, 1.0):
        for end in (sets.low, sets.high):
            (found,) = region._numbers(np.nextafter(end, 9.0 * beyond)[np.newaxis], like)
            assert ((found >= limits[:, 0]) & (found <= limits[:, 1])).all()


@pytest.mark.parametrize("seed", range(8))
def test_a_joint_with_room_for_one_turn_has_each_number_within_it(seed):
    rng = np.random.default_rng([18, seed])
    low = rng.uniform(-18.0, 12.0, 6)
    limits = np.stack((low, np.nextafter(low + 2.0 * np.pi, np.inf)), axis=-1)
    region = reachable(Chain(np.ones(6), limits))
    for angles in (low, np.nextafter(low, -99.0), np.nextafter(low, 99.0), rng.uniform(-3.0, 3.0, 6)):
        for like in (low, limits[:, 1], np.zeros(6)):
            (found,) = region._numbers(angles[np.newaxis], like[np.newaxis])
            assert ((found >= limits[:, 0]) & (found <= limits[:, 1])).all()
            assert np.allclose(np.cos(found - angles), 1.0, rtol=0.0, atol=1e-12)


def test_a_free_chain_reaches_its_annulus():
    chain = Chain([3.0, 1.0, 1.0])
    region = reachable(chain)
    radius = np.array([0.0, 0.5, 1.0 - 1e-6, 1.0 + 1e-6, 3.0, 5.0 - 1e-6, 5.0 + 1e-6, 9.0])
    points = np.stack((0.6 * radius, 0.8 * radius), axis=-1)
    assert region.contains(points).tolist() == [False, False, False, True, True, True, False, False]
    expected = np.maximum(np.maximum(1.0 - radius, radius - 5.0), 0.0)
    assert np.allclose(region.nearest(points)[1], expected, rtol=0.0, atol=1e-12)
    assert len(region.outline()) == 2


def test_a_joint_of_weight_0_keeps_the_angle_that_it_has():
    chain = Chain([1.0, 1.0, 1.0], [[-1.0, 1.0]] * 3, weights=[1.0, 0.0, 0.5])
    with pytest.raises(IK2DError, match=r"^a joint of weight 0 keeps its angle; hand in the chain's angles$"):
        reachable(chain)
    with pytest.raises(IK2DError, match=r"^a region takes the angles of one pose, not shape \(2, 3\)$"):
        reachable(chain, np.zeros((2, 3)))
    region = reachable(chain, [9.0, 0.7, -9.0])
    poses = poses_within(np.random.default_rng(14), chain, 200)
    poses[:, 1] = 0.7
    assert region.contains(tips_of(chain, poses)).all()
    assert (region.poses(tips_of(chain, poses))[:, 1] == 0.7).all()
    poses[:, 1] = 0.2
    assert not region.contains(tips_of(chain, poses)).all()
    held = reachable(chain, [0.0, 5.0, 0.0])  # beyond its limit: it is at the limit then
    assert (held.poses([[1.0, 1.0]])[:, 1] == 1.0).all()


@pytest.mark.parametrize("lengths", ([0.0, 0.0], [1.0, 0.0], [0.0, 1.0, 0.0]))
def test_bones_of_no_length(lengths):
    n = len(lengths)
    region = reachable(Chain(lengths, [[-0.5, 0.5]] * n))
    reach = sum(lengths)
    assert region.contains([reach, 0.0])
    assert not region.contains([0.5, 0.0])
    assert region.nearest([reach + 1.0, 0.0])[1] == pytest.approx(1.0)
    assert region.poses([0.3, 0.3]).shape == (n,)


def test_shapes_and_refusals():
    region = reachable(Chain(np.ones(3), [[-1.0, 1.0]] * 3))
    assert isinstance(region, Region)
    assert region.contains(np.zeros((4, 5, 2))).shape == (4, 5)
    points, away = region.nearest(np.zeros((4, 5, 2)))
    assert points.shape == (4, 5, 2) and away.shape == (4, 5)
    assert region.poses(np.zeros((4, 5, 2))).shape == (4, 5, 3)
    assert region.poses(np.zeros((0, 2))).shape == (0, 3)
    assert region.contains(np.zeros((0, 2))).shape == (0,)
    assert region.nearest(np.zeros((0, 2)))[1].shape == (0,)
    with pytest.raises(IK2DError, match="target must be finite numbers"):
        region.contains([np.nan, 0.0])
    with pytest.raises(IK2DError, match="a target is two numbers, x and y, not shape"):
        region.nearest([1.0, 2.0, 3.0])
    for near in (np.zeros(2), 1.0):
        with pytest.raises(IK2DError, match="^near must hold 3 numbers, one a bone, not shape"):
            region.poses([1.0, 0.0], near)
    with pytest.raises(IK2DError, match=r"^near must be finite numbers; at \[1\] it is inf$"):
        region.poses([1.0, 0.0], [0.0, np.inf, 0.0])


def test_many_points_are_asked_for_in_blocks():
    rng = np.random.default_rng(15)
    region = reachable(Chain(np.ones(3), [[-1.0, 1.0]] * 3))
    points = rng.uniform(-3.0, 3.0, (2 * module.BLOCK + 7, 2))
    rows = [0, module.BLOCK - 1, module.BLOCK, len(points) - 1]
    assert (region.contains(points)[rows] == [region.contains(p) for p in points[rows]]).all()
    assert np.allclose(region.nearest(points)[0][rows], region.nearest(points[rows])[0], rtol=0, atol=1e-14)
    assert np.allclose(region.poses(points)[rows], region.poses(points[rows]), rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("distance", [1e3, 1e8, 1e200])
def test_of_a_point_far_away_the_nearest_depends_on_its_direction(distance):
    region = reachable(Chain(np.ones(4), [[-0.5, 0.5]] * 4))
    directions = np.linspace(-3.0, 3.0, 40)
    ways = np.stack((np.cos(directions), np.sin(directions)), axis=-1)
    points, away = region.nearest(distance * ways)
    outline = np.concatenate(region.outline())
    farthest = (outline @ ways.T).max(axis=0)
    assert ((points * ways).sum(axis=1) >= farthest - 4.0 * 4.0 / distance - 1e-6).all()
    assert np.allclose(away, distance, rtol=4.0 / distance + 1e-15)
    assert np.isfinite(region.poses(distance * ways)).all()


def test_of_places_that_are_equally_near_the_pose_near_the_one_asked_for_is_taken():
    """The inner border of a chain with a free root is made by bending to one side, and to the other."""
    chain = Chain(np.ones(5), [[-np.inf, np.inf]] + [[-0.5, 0.5]] * 4)
    region = reachable(chain)
    for side in (1.0, -1.0):
        near = np.append(0.3, np.full(4, 0.45 * side))
        found = region.poses([1.0, 0.0], near)
        assert np.allclose(found[1:], 0.5 * side, rtol=0.0, atol=1e-12)


@pytest.mark.slow
def test_the_outline_is_the_boundary():
    rng = np.random.default_rng(16)
    chain = Chain([1.0, 0.8, 0.6], [[-0.6, 0.9], [0.1, 1.5], [-1.0, 1.2]])
    region = reachable(chain)
    lines = region.outline()
    assert all(line.shape[1] == 2 and len(line) >= 2 for line in lines)
    places = np.concatenate(lines)
    assert region.nearest(places)[1].max() <= 1e-9
    tips = tips_of(chain, poses_within(rng, chain, 20_000))
    assert distances(places, tips).max() <= 0.25
    for axis in range(2):
        assert places[:, axis].max() >= tips[:, axis].max() - 1e-3
        assert places[:, axis].min() <= tips[:, axis].min() + 1e-3
    point = reachable(Chain([1.0, 1.0], [[0.5, 0.5], [0.0, 0.0]])).outline()
    assert len(point) == 1
    assert np.allclose(point[0], 2.0 * np.array([np.cos(0.5), np.sin(0.5)]), rtol=0.0, atol=1e-12)


def test_the_last_regions_are_kept_and_made_once(monkeypatch):
    monkeypatch.setattr(module, "_regions", type(module._regions)())
    made = []
    function = module.set_steps

    def counted(lengths, *ranges):
        made.append(len(lengths))
        return function(lengths, *ranges)

    monkeypatch.setattr(module, "set_steps", counted)
    chains = [Chain(np.ones(n), [[-1.0, 1.0]] * n) for n in range(1, module.KEPT + 2)]
    first = reachable(chains[0])
    assert reachable(Chain([1.0], [[-1.0, 1.0]])) is first
    assert made == [1]
    for chain in chains:
        reachable(chain)
    assert made == list(range(1, module.KEPT + 2))
    assert reachable(chains[1]) is reachable(chains[1])
    assert len(made) == module.KEPT + 1
    reachable(chains[0])  # the one that was asked for least lately is gone
    assert made[-1] == 1 and len(made) == module.KEPT + 2
    reachable(Chain([1.0], [[-1.0, 1.1]]))
    reachable(Chain([2.0], [[-1.0, 1.0]]))
    assert len(made) == module.KEPT + 4
    sliding = reachable(Chain([2.0], [[-1.0, 1.0]], slides=[[0.0, 1.0]]))
    assert len(made) == module.KEPT + 5
    assert reachable(Chain([2.0], [[-1.0, 1.0]], slides=[[0.0, 1.0]])) is sliding
    assert len(made) == module.KEPT + 5


def test_ranges_too_narrow_are_refused_and_that_is_kept_too(monkeypatch):
    narrow = Chain(np.ones(20), [[-1e-8, 1e-8]] * 20)
    message = "^the ranges of the chain's joints are too narrow to tell what it reaches; widen them$"
    with pytest.raises(IK2DError, match=message):
        reachable(narrow)
    monkeypatch.setattr(module, "set_steps", None)
    with pytest.raises(IK2DError, match=message):
        reachable(narrow)


def test_poses_in_reaches_have_no_slides_where_no_bone_slides():
    region = reachable(Chain([2.0, 1.0], [[-1.0, 1.0]] * 2))
    found = region.posed(np.array([0.9 + 0.1j, 2.0 + 0.0j]), np.zeros((2, 2)))
    assert found.angles.shape == (2, 2)
    assert found.slides.shape == (2, 2) and not found.slides.any()
    assert found.away == pytest.approx([0.0, 1.0], abs=1e-12)


def sliding_problem(seed, sizes=(1, 2, 3, 4, 5, 8, 12)):
    """Return a random source, a chain of reach 1 that slides, and its region."""
    rng = np.random.default_rng(seed)
    chain = awkward_sliding_chain(rng, int(rng.choice(sizes)))
    return rng, chain, reachable(chain)


def slid_tips(chain, angles, slides):
    return forward(chain, angles, slides)[..., -1, :]


def random_tips(rng, chain, count):
    return slid_tips(chain, poses_within(rng, chain, count), slides_within(rng, chain, count))


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(seed=seeds)
def test_with_slides_too_tips_are_contained_and_none_is_nearer_than_the_nearest(seed):
    rng, chain, region = sliding_problem(seed)
    hold_tips(rng, region, random_tips(rng, chain, 500))


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(seed=seeds)
def test_poses_with_slides_reach_or_come_as_near_as_the_nearest_point(seed):
    rng, chain, region = sliding_problem(seed)
    points = points_around(rng, region)
    near = (None, None)
    if rng.random() < 0.7:
        near = poses_within(rng, chain, 48), slides_within(rng, chain, 48)
    angles, slides = region.slid_poses(points, *near)
    (low, high), (least, most) = chain.ranges.T, chain.slide_ranges.T
    assert ((angles >= low) & (angles <= high)).all()
    assert ((slides >= least) & (slides <= most)).all()
    residual = np.hypot(*(slid_tips(chain, angles, slides) - points).T)
    assert np.abs(residual - region.nearest(points)[1]).max() <= 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("n", (20, 50))
def test_long_chains_with_slides(n):
    for kind in range(2):
        rng = np.random.default_rng([22, n, kind])
        limits = np.radians([[-30.0, 45.0]] * n) if kind else None
        chain = Chain(np.full(n, 0.6 / n), limits, slides=[[0.0, 0.4 / n]] * n)
        region = reachable(chain)
        tips = random_tips(rng, chain, 100)
        assert region.contains(tips).all()
        found = region.slid_poses(tips, np.zeros(n), np.zeros(n))
        assert np.abs(slid_tips(chain, *found) - tips).max() <= 1e-9
        points = rng.uniform(-1.2, 1.2, (30, 2))
        assert (distances(points, tips) >= region.nearest(points)[1] - 1e-9).all()


@pytest.mark.parametrize("degrees", (30.0, 45.0, 60.0, 90.0))
def test_round_limits_of_equal_bones_that_slide_by_round_lengths(degrees):
    """Their extreme points, and so their arcs and segments, coincide wherever they can."""
    edge = np.radians(degrees)
    for n, least, most in ((2, 0.0, 0.5), (3, -0.5, 0.5), (5, 0.0, 1.0), (7, -1.0, 0.0)):
        chain = Chain(np.ones(n), [[-edge, edge]] * n, slides=[[least, most]] * n)
        region = reachable(chain)
        rng = np.random.default_rng([23, n])
        angles = np.clip(edge * rng.integers(-2, 3, (300, n)) / 2.0, -edge, edge)
        tips = slid_tips(chain, angles, least + (most - least) * rng.integers(0, 3, (300, n)) / 2.0)
        assert region.contains(tips).all()
        assert np.hypot(*(slid_tips(chain, *region.slid_poses(tips)) - tips).T).max() <= 1e-9 * region.scale
        mirrored = region.nearest(tips * [1.0, -1.0] + [0.0, 0.1])[1]
        assert np.abs(mirrored - region.nearest(tips - [0.0, 0.1])[1]).max() <= 1e-9 * region.scale


@pytest.mark.parametrize("off", [1e-2, 1e-4, 1e-6, 1e-8, 1e-9])
def test_with_slides_too_just_outside_the_border_is_out_and_just_inside_is_in(off):
    rng = np.random.default_rng(27)
    for n in (1, 2, 3, 5, 10):
        lengths = rng.uniform(0.5, 1.0, n)
        region = reachable(Chain(lengths, [[-SIXTY, SIXTY]] * n, slides=[[-0.2, 0.5]] * n))
        level = region.sets.elements[0]
        long = np.flatnonzero((np.abs(level.radius) > 0.02) & (level.end - level.start > 0.02))
        which = long[rng.integers(0, len(long), 20)]
        normals = 0.5 * (level.start[which] + level.end[which])
        for side, expected in ((1.0, False), (-1.0, True)):
            out = level.outside(which, normals, 1.0) - level.at(which, normals)
            points = (level.at(which, normals) + side * off * out) * region.scale
            contained = region.contains(np.stack((points.real, points.imag), axis=-1))
            assert np.mean(contained == expected) >= (1.0 if off <= 1e-4 else 0.8)


def test_segments_that_are_nearly_along_the_bone_are_crossed_within_their_ends():
    """Ranges of a ten-thousandth of a degree: the set is no larger than a millionth of the reach."""
    rng = np.random.default_rng(28)
    for n in (3, 4, 5):
        narrow, short = 10.0 ** rng.uniform(-5.5, -5.0), 10.0 ** rng.uniform(-7.0, -6.0)
        chain = Chain(np.ones(n) / n, [[0.0, narrow]] * n, slides=[[0.0, short / n]] * n)
        region = reachable(chain)
        points = on_the_border(rng, region, 300, 1e-8)
        residual = np.hypot(*(slid_tips(chain, *region.slid_poses(points)) - points).T)
        assert np.abs(residual - region.nearest(points)[1]).max() <= 1e-9


def test_a_single_bone_that_only_slides_reaches_a_piece_of_a_line():
    region = reachable(Chain([1.0], [[0.5, 0.5]], slides=[[-1.0, 2.0]]))
    way = np.array([np.cos(0.5), np.sin(0.5)])
    assert region.contains(np.array([0.0, 1e-3, 1.0, 3.0])[:, np.newaxis] * way).all()
    assert not region.contains(np.array([-1e-3, 3.001])[:, np.newaxis] * way).any()
    points, away = region.nearest([2.0 * way + [-way[1], way[0]], 5.0 * way])
    assert np.allclose(points, [2.0 * way, 3.0 * way], rtol=0.0, atol=1e-12)
    assert np.allclose(away, [1.0, 2.0], rtol=0.0, atol=1e-12)
    angles, slides = region.slid_poses([2.5 * way, 9.0 * way, -way])
    assert np.allclose(slides, [[1.5], [2.0], [-1.0]], rtol=0.0, atol=1e-12)
    assert (angles == 0.5).all()
    assert all(len(line) == 2 for line in region.outline())
    assert region.scale == 3.0


def test_a_telescope_that_turns_reaches_a_piece_of_an_annulus():
    chain = Chain([1.0] * 4, [[-0.5, 0.8]] + [[0.0, 0.0]] * 3, slides=[[0.0, 0.0]] + [[0.0, 0.5]] * 3)
    region = reachable(chain)
    radius = np.array([3.99, 4.0, 4.7, 5.5, 5.51])
    for angle, is_in in ((-0.51, False), (-0.5, True), (0.1, True), (0.8, True), (0.81, False)):
        points = radius[:, np.newaxis] * [np.cos(angle), np.sin(angle)]
        expected = [False, True, True, True, False] if is_in else [False] * 5
        assert region.contains(points).tolist() == expected
    lines = region.outline()
    assert sorted(len(line) == 2 for line in lines) == [False, False, True, True]
    assert region.nearest(np.concatenate(lines))[1].max() <= 1e-9
    angles, slides = region.slid_poses([0.0, 4.9], near_slides=[0.0, 0.1, 0.2, 0.3])
    assert angles == pytest.approx([0.8, 0.0, 0.0, 0.0], abs=1e-12)
    assert 4.0 + slides.sum() == pytest.approx(4.0)


def test_poses_stay_near_the_slides_asked_for():
    chain = Chain(np.ones(3), None, slides=[[0.0, 1.0]] * 3)
    region = reachable(chain)
    for slide in (0.2, 0.7):
        angles = np.array([0.3, 0.5, 0.4])
        target = slid_tips(chain, angles, np.full(3, slide))
        found = region.slid_poses(target, angles, np.full(3, slide))
        assert np.abs(found[0] - angles).max() <= 0.1
        assert np.abs(found[1] - slide).max() <= 0.15
        without = region.slid_poses(target, angles)
        assert np.abs(without[1] - slide).max() >= 2.0 * np.abs(found[1] - slide).max()
        assert np.array_equal(region.poses(target, angles), without[0])


@pytest.mark.parametrize("seed", range(8))
def test_a_slide_at_an_end_of_its_range_is_no_farther_out(seed):
    """For places far ahead all bones are long, and for those behind short; in reaches and back they round."""
    rng = np.random.default_rng([19, seed])
    lengths = rng.uniform(0.5, 3.0, 5)
    slides = np.stack((-lengths * rng.uniform(0.1, 0.9, 5), rng.uniform(0.1, 2.0, 5)), axis=-1)
    region = reachable(Chain(lengths, [[-0.05, 0.05]] * 5, slides=slides))
    places = np.concatenate((100.0 * rng.normal(size=(10, 2)), [[0.0, 0.0], [0.1, 0.1], [-0.1, 0.0]]))
    _, found = region.slid_poses(places)
    least, most = slides.T
    assert ((found >= least) & (found <= most)).all()
    assert (found == most).any() and (found == least).any()
    posed = region.posed(as_points(places, region.scale), np.zeros((13, 5)))
    assert ((posed.slides >= least / region.scale) & (posed.slides <= most / region.scale)).all()


def test_slides_without_room_are_lengths():
    fixed = reachable(Chain([1.0, 1.0], [[-1.0, 1.0]] * 2, slides=[[0.5, 0.5], [-0.2, -0.2]]))
    plain = reachable(Chain([1.5, 0.8], [[-1.0, 1.0]] * 2))
    points = np.random.default_rng(24).uniform(-2.5, 2.5, (50, 2))
    assert np.array_equal(fixed.nearest(points)[1], plain.nearest(points)[1])
    angles, slides = fixed.slid_poses(points)
    assert np.array_equal(angles, plain.poses(points))
    assert (slides == [0.5, -0.2]).all()
    assert not plain.slid_poses(points)[1].any()


def test_kept_angles_hold_with_slides():
    chain = Chain(np.ones(3), None, [1.0, 0.0, 1.0], [[0.0, 0.5]] * 3)
    region = reachable(chain, [0.0, 0.7, 0.0])
    rng = np.random.default_rng(25)
    angles = rng.uniform(-3.0, 3.0, (100, 3))
    angles[:, 1] = 0.7
    tips = slid_tips(chain, angles, slides_within(rng, chain, 100))
    assert region.contains(tips).all()
    assert (region.slid_poses(tips)[0][:, 1] == 0.7).all()


def test_slides_to_be_near_to_are_checked():
    region = reachable(Chain(np.ones(3), None, slides=[[0.0, 1.0]] * 3))
    assert [found.shape for found in region.slid_poses(np.zeros((4, 5, 2)))] == [(4, 5, 3)] * 2
    assert [found.shape for found in region.slid_poses(np.zeros((0, 2)))] == [(0, 3)] * 2
    with pytest.raises(IK2DError, match="^near_slides must hold 3 numbers, one a bone, not shape"):
        region.slid_poses([1.0, 0.0], None, np.zeros(2))


def slid_near(chain, angles, slides, target, sweeps):
    """Turn joints and slide bones, one after the other, so that the tips of poses (m, n) are nearest."""
    (low, high), (least, most) = chain.limits.T, chain.slide_ranges.T
    angles, slides = angles.copy(), slides.copy()
    for _ in range(sweeps):
        for i in range(len(chain) - 1, -1, -1):
            joints = forward(chain, angles, slides)
            arm, aim = joints[:, -1] - joints[:, i], target - joints[:, i]
            across = arm[:, 0] * aim[:, 1] - arm[:, 1] * aim[:, 0]
            wanted = angles[:, i] + np.arctan2(across, (arm * aim).sum(axis=1))
            angles[:, i] = np.clip(wanted, low[i], high[i])
            heading = angles[:, : i + 1].sum(axis=1)
            off = target - forward(chain, angles, slides)[:, -1]
            along = off[:, 0] * np.cos(heading) + off[:, 1] * np.sin(heading)
            slides[:, i] = np.clip(slides[:, i] + along, least[i], most[i])
    return angles, slides


@pytest.mark.slow
@pytest.mark.parametrize("n", (1, 2, 4))
def test_with_slides_no_optimiser_comes_nearer_and_some_start_comes_as_near(n):
    rng = np.random.default_rng([26, n])
    for limits in ([-0.4, 0.4], [0.2, 1.0]):
        chain = Chain(np.full(n, 0.5 / n), [limits] * n, slides=[[-0.2 / n, 0.5 / n]] * n)
        region = reachable(chain)
        targets = rng.uniform(-1.0, 1.0, (25, 2))
        targets = targets[~region.contains(targets)][:6]
        away = region.nearest(targets)[1]
        for target, distance in zip(targets, away, strict=True):
            starts = rng.uniform(*limits, (60, n)), rng.uniform(-0.2 / n, 0.5 / n, (60, n))
            starts[0][0], starts[0][1] = limits
            found = slid_near(chain, *starts, target, 60)
            reached = np.hypot(*(slid_tips(chain, *found) - target).T).min()
            assert distance - 1e-9 <= reached <= distance + 1e-2


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(seed=seeds, scale=st.sampled_from([1e-250, 1e-4, 1e6, 1e250]))
def test_with_slides_too_the_size_changes_nothing_but_the_size(seed, scale):
    rng, chain, region = sliding_problem(seed)
    large = reachable(Chain(chain.lengths * scale, chain.limits, None, chain.slides * scale))
    points = rng.uniform(-1.2, 1.2, (30, 2))
    assert np.allclose(large.nearest(points * scale)[1] / scale, region.nearest(points)[1], rtol=0, atol=1e-9)


def test_bones_that_slide_from_no_length_leave_no_hole():
    chain = Chain([0.0, 0.0], slides=[[0.0, 1.0], [0.0, 2.0]])
    region = reachable(chain)
    points = np.array([[0.0, 0.0], [1e-13, 0.0], [0.0, -1e-6], [1.0, 1.0], [3.0, 0.0], [2.2, 2.2]])
    assert region.contains(points).tolist() == [True] * 5 + [False]
    found = slid_tips(chain, *region.slid_poses(points))
    assert np.hypot(*(found - points)[:5].T).max() <= 3e-9
    assert len(region.outline()) == 1


def test_more_bones_than_take_a_few_seconds_are_refused():
    with pytest.raises(IK2DError, match=r"^a region is of up to 1000 bones, not 1001; solve with CCD alone$"):
        reachable(Chain(np.ones(1001)))
