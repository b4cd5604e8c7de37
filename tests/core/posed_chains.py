# SPDX-License-Identifier: GPL-3.0-or-later
"""Random chains with limits, and poses of theirs."""

import numpy as np

from ik2d_addon.core import Chain, forward
from ik2d_addon.core.inputs import Floats

# A joint without limits.
FREE = [-np.inf, np.inf]


def limited_chain(rng: np.random.Generator, n: int, *, free_root: bool = True) -> Chain:
    middle, half = rng.uniform(-0.8, 0.8, n), rng.uniform(0.3, 1.2, n)
    limits = np.stack((middle - half, middle + half), axis=1)
    if free_root:
        limits[0] = FREE
    return Chain(rng.uniform(0.5, 1.5, n), limits)


def known_poses(rng: np.random.Generator, chain: Chain, count: int) -> tuple[Floats, Floats, Floats]:
    """Return random poses (count, n) within the limits, their tips and their headings."""
    low, high = np.clip(chain.ranges, -2.0, 2.0).T
    poses = rng.uniform(low, high, (count, len(chain)))
    return poses, forward(chain, poses)[:, -1], poses.sum(axis=1)


def assert_within(chain: Chain, angles: Floats) -> None:
    low, high = chain.ranges.T
    assert ((angles >= low) & (angles <= high)).all()
