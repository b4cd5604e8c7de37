# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses settle where no turn or slide that keeps the tip costs less."""

import numpy as np
import pytest

from ik2d_addon.core import Chain, forward
from ik2d_addon.core.even import rooted
from ik2d_addon.core.even.slid_rooted import Slider


def slider_of(n, free_root=False):
    """Return a seeded chain of reach 1, and starts for it with their tips' points."""
    rng = np.random.default_rng(n)
    lengths = rng.uniform(0.5, 1.5, n)
    least, most = -0.3 * lengths, 0.4 * lengths
    outer = (lengths + most).sum()
    rest = np.concatenate((np.full(n, 0.3), np.zeros(n)))
    weights = np.append(rng.uniform(0.4, 1.0, n), np.full(n, 0.8))
    slider = Slider(lengths / outer, least / outer, most / outer, weights, rest, free_root)
    starts = np.tile(rest, (20, 1))
    starts[:, :n] += rng.normal(0.0, 0.3, (20, n))
    starts[:, n:] = rng.uniform(slider.least, slider.most, (20, n))
    points = forward(Chain(slider.lengths), starts[:, :n], starts[:, n:])[:, -1]
    return slider, starts, points


@pytest.mark.slow
@pytest.mark.parametrize("free_root", [False, True])
@pytest.mark.parametrize("n", [1, 3, 8])
def test_no_change_that_keeps_the_tip_costs_less(n, free_root):
    slider, starts, points = slider_of(n, free_root)
    poses, _, done = slider.settled(starts, points)
    assert done.mean() > 0.8
    assert (slider.bend(poses[done]) <= slider.bend(starts[done]) + 1e-12).all()
    slides = poses[:, n:]
    assert (slides >= slider.least).all() and (slides <= slider.most).all()
    tips = forward(Chain(slider.lengths), poses[:, :n], slides)[:, -1]
    assert np.abs(tips - points)[done].max() < 1e-12
    rng = np.random.default_rng(0)
    for pose, point in zip(poses[done][:8], points[done], strict=False):
        near = slider.moved(np.tile(pose, (40, 1)), rng.normal(0.0, 0.02, (40, 2 * n)))
        near = slider.mended(near, np.tile(point, (40, 1)))
        tips = forward(Chain(slider.lengths), near[:, :n], near[:, n:])[:, -1]
        kept = np.abs(tips - point).max(axis=1) < 1e-10
        assert (slider.bend(near[kept]) >= slider.bend(pose[np.newaxis]) - 1e-9).all()


def test_a_slide_leaves_its_end_where_that_costs_less():
    slider = Slider(np.array([0.5]), np.zeros(1), np.array([0.5]), np.ones(2), np.zeros(2), True)
    poses, _, done = slider.settled(np.array([[0.0, 0.5], [0.0, 0.0]]), np.array([[0.6, 0.0], [0.0, 0.8]]))
    assert done.all() and np.allclose(poses, [[0.0, 0.1], [np.pi / 2.0, 0.3]])


@pytest.mark.parametrize("n", [3, 8])
def test_a_pose_that_has_not_settled_is_put_back_onto_its_point(n, monkeypatch):
    monkeypatch.setattr(rooted, "ROUNDS", 3)
    slider, starts, points = slider_of(n)
    poses, _, done = slider.settled(starts, points)
    tips = forward(Chain(slider.lengths), poses[:, :n], poses[:, n:])[:, -1]
    assert not done.any() and (np.abs(tips - points).max(axis=1) < 1e-12).mean() > 0.9  # as far as that goes
    assert (poses[:, n:] >= slider.least).all() and (poses[:, n:] <= slider.most).all()
    assert (slider.bend(poses) < slider.bend(starts)).all()
