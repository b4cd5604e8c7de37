# SPDX-License-Identifier: GPL-3.0-or-later
"""Seeded random chains, starts and targets that the solver tests share."""

import numpy as np

from benchmarks.problems import smooth_path as smooth_path
from ik2d_addon.core import Chain

STARTS = ("random", "straight", "folded", "curled", "nearly straight")
LENGTHS = ("equal", "random", "wide", "one long", "some zero")


def random_lengths(rng: np.random.Generator, n: int, kind: str) -> np.ndarray:
    """Return n lengths whose sum lies anywhere in 1e-4..1e4."""
    lengths = rng.random(n) + 1e-3
    if kind == "equal":
        lengths = np.ones(n)
    elif kind == "wide":
        lengths = 10.0 ** rng.uniform(-4.0, 0.0, n)
    elif kind == "one long":
        lengths[rng.integers(n)] = lengths.sum() * rng.uniform(0.9, 3.0)
    elif kind == "some zero":
        lengths = np.where(rng.random(n) < 0.3, 0.0, lengths)
        lengths[rng.integers(n)] = 1.0
    return lengths / lengths.sum() * 10.0 ** rng.uniform(-4.0, 4.0)


def random_start(rng: np.random.Generator, n: int, kind: str) -> np.ndarray:
    """Return n angles of one kind of pose."""
    start = rng.uniform(-np.pi, np.pi, n)
    if kind == "straight":
        start[1:] = 0.0
    elif kind == "folded":
        start[1:] = rng.choice([0.0, np.pi], n - 1)
    elif kind == "curled":
        start[1:] = rng.uniform(0.5, 3.0)
    elif kind == "nearly straight":
        start[1:] = rng.normal(0.0, 0.03, n - 1)
    return start


def targets_in_annulus(rng: np.random.Generator, chain: Chain, count: int) -> np.ndarray:
    """Return targets (count, 2): two in five anywhere, the others at the borders or within 1e-9 of them."""
    inner, outer = chain.reach
    near = (outer - inner) * 1e-9 * rng.random(count)
    radius = np.choose(
        np.arange(count) % 5,
        [
            inner + (outer - inner) * np.sqrt(rng.random(count)),
            inner + (outer - inner) * rng.random(count),
            inner + near,
            outer - near,
            np.where(rng.random(count) < 0.5, inner, outer),
        ],
    )
    angle = rng.uniform(-np.pi, np.pi, count)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)


ROUND_DEGREES = np.array([5, 10, 15, 20, 30, 36, 45, 60, 72, 90, 120, 135, 150, 180], float)


def awkward_limits(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return limits (n, 2) of one of ten kinds: round ones, one-sided, narrow, free, that exclude rest."""
    one = float(rng.choice(ROUND_DEGREES))
    low = float(rng.choice([0.0, 10.0, 15.0, 30.0, 45.0, 60.0, 90.0]))
    middle, half = rng.uniform(-60.0, 60.0, n), rng.uniform(0.5, 30.0, n)
    each = rng.choice(ROUND_DEGREES, n)
    free = np.tile([-180.0, 180.0], (n, 1))
    free[rng.integers(n)] = [-30.0, 60.0]
    open_ended = np.sort(rng.uniform(-170.0, 170.0, (n, 2)), axis=1)
    open_ended[rng.random(n) < 0.3, 1] = np.inf
    kinds = (
        np.tile([-one, one], (n, 1)),
        np.tile([low, low + float(rng.choice([5.0, 15.0, 30.0, 60.0, 90.0, 120.0, 140.0]))], (n, 1)),
        np.sort(rng.choice(np.arange(-180.0, 181.0, 15.0), (n, 2)), axis=1),
        np.sort(rng.uniform(-170.0, 170.0, (n, 2)), axis=1),
        np.stack([middle - half, middle + half], axis=1),
        np.tile(rng.uniform(1.0, 100.0) * np.array([-1.0, 1.0]), (n, 1)),
        np.stack([-each, each], axis=1),
        free,
        np.sort(rng.choice(np.arange(-90.0, 91.0, 30.0), (n, 2)), axis=1),
        open_ended,
    )
    limits = kinds[rng.integers(len(kinds))].copy()
    if rng.random() < 0.3:
        limits[0] = [-np.inf, np.inf]
    if rng.random() < 0.15:  # one that is rigid
        joint = rng.integers(n)
        limits[joint] = limits[joint].mean() if np.isfinite(limits[joint]).all() else 20.0
    return np.radians(limits)


def awkward_chain(rng: np.random.Generator, n: int) -> Chain:
    """Return a chain with awkward limits, of equal, whole or any bones; one may have no length."""
    lengths = rng.uniform(0.05, 1.0, n)
    if rng.random() < 0.7:
        lengths = np.ones(n) if rng.random() < 0.7 else rng.integers(1, 4, n) * 1.0
    if n > 1 and rng.random() < 0.15:
        lengths[rng.integers(n)] = 0.0
    return Chain(lengths / lengths.sum(), awkward_limits(rng, n))


def poses_within(rng: np.random.Generator, chain: Chain, count: int) -> np.ndarray:
    """Return poses (count, n) within the limits: any, at their ends, and leaning to one side."""
    low, high = chain.ranges.T
    low = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2.0 * np.pi, -np.pi))
    high = np.where(np.isfinite(high), high, low + 2.0 * np.pi)
    parts = rng.random((count, len(chain)))
    kind = np.arange(count)[:, np.newaxis] % 4
    parts = np.where(kind == 1, np.rint(parts), parts)
    parts = np.where(kind == 2, np.clip(rng.random((count, 1)) + parts - 0.5, 0.0, 1.0), parts)
    parts = np.where((kind == 3) & (parts < 0.7), np.rint(rng.random((count, 1))), parts)
    return low + parts * (high - low)


SLIDING = ("one-sided", "two-sided", "from no length", "some", "telescope", "limited")


def sliding_chain(rng: np.random.Generator, n: int, kind: str, scale: float = 1.0) -> Chain:
    """Return a chain whose bones slide, some of them at least; a telescope's do not turn but for two."""
    lengths, added, part = rng.uniform(0.2, 1.0, n), rng.uniform(0.1, 1.0, n), rng.random(n)
    if kind == "from no length":
        lengths = np.where(part < 0.5, 0.0, lengths)
    least = -lengths * part if kind in ("two-sided", "limited") else np.zeros(n)
    slides = np.stack((least, added), axis=-1)
    if kind == "some":
        slides[1:][part[1:] < 0.6] = np.nan
    if kind == "telescope" and n > 1:
        slides[0] = 0.0
    half = rng.uniform(0.3, 2.0, n)
    limits = np.stack((-half, half), axis=-1) if kind == "limited" else None
    weights = np.where(np.arange(n) < 2, 1.0, 0.0) if kind == "telescope" else None
    return Chain(lengths * scale, limits, weights, slides * scale)


def awkward_sliding_chain(rng: np.random.Generator, n: int) -> Chain:
    """Return a chain of reach 1 with awkward limits or a telescope; bones slide, some from no length."""
    lengths = rng.uniform(0.05, 1.0, n) if rng.random() < 0.3 else rng.integers(1, 1 + rng.integers(1, 4), n)
    limits, slides = awkward_limits(rng, n), np.zeros((n, 2))
    telescope = rng.integers(6)
    if telescope < 2:
        limits[rng.random(n) < (0.5, 1.0)[telescope]] = rng.choice([0.0, np.pi / 6.0])
    if n > 1 and rng.random() < 0.2:
        lengths = np.where(np.arange(n) == rng.integers(n), 0.0, lengths)
    slides[:, 1] = (np.full(n, 0.5), rng.uniform(0.0, 1.0, n), 0.5 * rng.integers(0, 3, n))[rng.integers(3)]
    if rng.random() < 0.4:
        slides[:, 0] = -lengths * rng.choice([0.0, 0.25, 0.5, 1.0], n)
    if rng.random() < 0.6:
        slides[rng.random(n) < 0.5] = 0.0
    if not slides.any():
        slides[-1, 1] = 0.5
    return Chain(
        lengths / (lengths + slides[:, 1]).sum(), limits, None, slides / (lengths + slides[:, 1]).sum()
    )


def slides_within(rng: np.random.Generator, chain: Chain, count: int) -> np.ndarray:
    """Return slides (count, n) within their ranges: any, at their ends, and most at the same end."""
    least, most = chain.slide_ranges.T
    parts, kind = rng.random((count, len(chain))), np.arange(count)[:, np.newaxis] % 3
    parts = np.where(kind == 1, np.rint(parts), parts)
    parts = np.where((kind == 2) & (parts < 0.7), np.rint(rng.random((count, 1))), parts)
    return least + parts * (most - least)


def pose_within(
    rng: np.random.Generator, chain: Chain, start: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the angles and slides (n,) of a random pose; joints of weight 0 stand as in the start."""
    low, high = np.clip(chain.ranges.T, -np.pi, np.pi)
    angles = rng.uniform(low, high)
    if start is not None and chain.weights is not None:
        angles = np.where(chain.weights == 0.0, start, angles)
    return angles, rng.uniform(*chain.slide_ranges.T)


def drained(steps):
    """Run a solver's steps to their end and return the result."""
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            return finished.value


def annulus(rng: np.random.Generator, chain: Chain, count: int) -> np.ndarray:
    """Return targets (count, 2) spread evenly over the annulus of reach."""
    inner, outer = chain.reach
    radius, angle = np.sqrt(rng.uniform(inner**2, outer**2, count)), rng.uniform(-np.pi, np.pi, count)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)


def bend_of(angles: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """Return the sums (...) of the squares of what poses (..., n) are bent by from rest."""
    return ((angles - rest) ** 2).sum(axis=-1)
