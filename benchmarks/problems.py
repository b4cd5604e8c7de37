# SPDX-License-Identifier: GPL-3.0-or-later
"""The problems that all contestants get: seeded chains of reach 1, with starts and targets."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ik2d_addon.core import Chain

Floats = NDArray[np.float64]

# How far each joint may turn from the straight chain where joints are limited.
LIMIT = np.radians(60.0)
# Bent by so much at each joint, a chain is on no line: Blender's solver does not move off one.
SLIGHT_BEND = 0.05


@dataclass(frozen=True, eq=False)
class Problems:
    """One chain, whose lengths add up to 1, and targets that some pose of it reaches."""

    lengths: Floats  # (n,)
    starts: Floats  # (m, n) angles, each relative to the bone before
    targets: Floats  # (m, 2) relative to the root
    limit: float | None = None  # radians to both sides, of every joint

    def __len__(self) -> int:
        return len(self.targets)


def free(n: int, count: int) -> Problems:
    """Return targets spread evenly over the annulus of reach, and random poses to start from."""
    rng = np.random.default_rng([1, n])
    lengths = _lengths(rng, n)
    inner = max(0.0, 2.0 * lengths.max() - 1.0)
    radius = np.sqrt(rng.uniform(inner**2, 1.0, count))
    angle = rng.uniform(-np.pi, np.pi, count)
    targets = np.stack((radius * np.cos(angle), radius * np.sin(angle)), axis=1)
    return Problems(lengths, rng.uniform(-np.pi, np.pi, (count, n)), targets)


def limited(n: int, count: int) -> Problems:
    """Return the tips of random poses within the limits, and a slightly bent start."""
    rng = np.random.default_rng([2, n])
    lengths = _lengths(rng, n)
    poses = rng.uniform(-LIMIT, LIMIT, (count, n))
    return Problems(lengths, np.full((count, n), SLIGHT_BEND), tips(lengths, poses), LIMIT)


def paths(n: int, frames: int) -> list[Problems]:
    """Return circles that a target walks round once, of one chain of equal bones.

    Round the root; next to it, between 0.2 and 0.9 of the reach; and close to full reach.
    """
    lengths, starts = np.full(n, 1.0 / n), np.full((frames + 1, n), SLIGHT_BEND)
    turn = np.linspace(0.0, 2.0 * np.pi, frames + 1)
    circle = np.stack((np.cos(turn), np.sin(turn)), axis=1)
    return [
        Problems(lengths, starts, radius * circle + (middle, 0.0))
        for radius, middle in ((0.6, 0.0), (0.35, 0.55), (0.2, 0.75))
    ]


def tips(lengths: Floats, angles: Floats) -> Floats:
    """Return where poses (m, n) have the tip, (m, 2)."""
    headings = np.cumsum(angles, axis=-1)
    return np.stack((np.cos(headings) @ lengths, np.sin(headings) @ lengths), axis=-1)


def _lengths(rng: np.random.Generator, n: int) -> Floats:
    lengths = rng.uniform(1.0, 4.0, n)
    return lengths / lengths.sum()


def smooth_path(rng: np.random.Generator, low: float, high: float, frames: int, step: float) -> Floats:
    """Return a smooth path (frames, 2) between two distances from the root, in steps of at most `step`."""
    middle, swing = (low + high) / 2.0, (high - low) / 2.0
    phases, (slow, fast, turn) = rng.uniform(0.0, 6.0, 4), rng.uniform([0.5, 1.0, -2.0], [2.0, 5.0, 2.0])
    u = np.linspace(0.0, 2.0 * np.pi, 40 * frames)
    radius = middle + swing * (0.6 * np.sin(slow * u + phases[0]) + 0.4 * np.sin(fast * u + phases[1]))
    angle = phases[2] + turn * u + np.sin(0.8 * u + phases[3])
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    at = np.arange(frames) * step * 0.999
    at = np.abs(at - 2.0 * along[-1] * np.round(at / (2.0 * along[-1])))  # to the end, and back again
    return np.stack([np.interp(at, along, points[:, 0]), np.interp(at, along, points[:, 1])], axis=-1)


def smooth_problems(
    n: int, count: int, frames: int, least: float = 0.2
) -> Iterator[tuple[np.random.Generator, Chain, Floats]]:
    """Yield chains of reach 1, no bone longer than four times another, and smooth paths (frames, 2) for them.

    A third have equal bones. The paths keep to the inner reach + half of `least`, at least to that, and to
    0.95, in steps of at most 0.005; a chain that is left no room by that is left out. With each comes its
    random source, for starts.
    """
    for seed in range(count):
        rng = np.random.default_rng([n, seed])
        lengths = rng.uniform(1.0, 4.0, n) if seed % 3 else np.ones(n)
        chain = Chain(lengths / lengths.sum())
        low = max(chain.reach[0] + 0.5 * least, least)
        if low <= 0.9:
            yield rng, chain, smooth_path(rng, low, 0.95, frames, 0.005)
