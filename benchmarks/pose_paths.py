# SPDX-License-Identifier: GPL-3.0-or-later
"""Tips with angles that a chain's own smooth poses have: paths that can be followed without a jump."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ik2d_addon.core import Chain, forward
from ik2d_addon.core.inputs import Floats, wrapped

FRAMES = 200
# A joint that turns by more degrees from a frame to the next pops; the poses that paths are made of turn by
# a third of that at most.
POP = 15.0
# What limits single poses, and the bones of their chains.
KINDS = ("no limits", "limits", "first joint too", "first joint counted")
BONES = (4, 5, 6, 8, 10, 12)


class PosePath(NamedTuple):
    """A chain, and the poses (frames, n) that the targets are made of."""

    chain: Chain
    poses: Floats

    @property
    def goals(self) -> tuple[Floats, Floats]:
        """The tips (frames, 2) and the headings (frames,)."""
        return forward(self.chain, self.poses)[:, -1], self.poses.sum(axis=1)


@dataclass(frozen=True)
class Ranges:
    """Bones, and the ranges (n,) that they swing in."""

    lengths: Floats
    low: Floats
    high: Floats

    @classmethod
    def drawn(
        cls,
        rng: np.random.Generator,
        n: int,
        least: tuple[float, float] = (20.0, 100.0),
        shortest: float = 0.5,
    ) -> "Ranges":
        """Return random ones. least: between how many degrees the ranges begin below zero."""
        lengths = rng.uniform(shortest, 1.0, n)
        low, high = -np.radians(rng.uniform(*least, n)), np.radians(rng.uniform(20.0, 120.0, n))
        return cls(lengths / lengths.sum(), low, high)

    def waves(
        self,
        rates: NDArray[np.int64],
        phases: Floats,
        limited: bool,
        frames: int = FRAMES,
        part: float = 0.42,
    ) -> PosePath:
        """Return a path of poses that swing within the ranges, which are limits or of no account."""
        time = np.linspace(0.0, 2.0 * np.pi, frames)[:, np.newaxis]
        middle, room = 0.5 * (self.low + self.high), part * (self.high - self.low)
        limits = np.stack((self.low, self.high), axis=1) if limited else None
        return PosePath(Chain(self.lengths, limits), middle + room * np.sin(0.5 * time * rates + phases))


def path_of(rng: np.random.Generator, n: int, limited: bool, frames: int = FRAMES) -> PosePath:
    """Return a random path of random bones."""
    ranges = Ranges.drawn(rng, n)
    return ranges.waves(rng.integers(1, 3, n), rng.uniform(0.0, 6.28, n), limited, frames)


def eighty() -> Iterator[PosePath]:
    """Yield 40 paths without limits and 40 with, of 3 to 12 bones."""
    rng = np.random.default_rng(1)
    for n in (3, 4, 6, 7, 12):
        for limited in (False, True):
            ranges = Ranges.drawn(rng, n)
            for _ in range(8):
                phases = rng.uniform(0.0, 6.28, n)
                yield ranges.waves(rng.integers(1, 3, n), phases, limited)


def others(seed: int) -> Iterator[PosePath]:
    """Yield 56 paths within limits, half of them narrow and one-sided, up to 5 degrees a frame."""
    rng = np.random.default_rng(1000 + seed)
    for n in (3, 4, 5, 6, 8, 10, 12):
        for least in ((20.0, 100.0), (5.0, 40.0)):
            ranges = Ranges.drawn(rng, n, least, 0.3)
            for _ in range(4):
                phases = rng.uniform(0.0, 6.28, n)
                yield ranges.waves(rng.integers(1, 4, n), phases, True, part=0.49)


def baked() -> Iterator[PosePath]:
    """Yield the 32 paths that are baked: 3 to 7 bones, without limits and with."""
    for n in (3, 4, 5, 7):
        for limited in (False, True):
            for seed in range(4):
                yield path_of(np.random.default_rng(100 * n + seed), n, limited)


def posed(kind: str, count: int) -> Iterator[tuple[Chain, list[tuple[Floats, float]]]]:
    """Yield chains of a kind, each with tips and headings of so many random poses."""
    rng = np.random.default_rng(7)
    for n in BONES:
        drawn = Ranges.drawn(rng, n)
        limits = np.stack((drawn.low, drawn.high), axis=1)
        if kind == "limits":
            limits[0] = -np.inf, np.inf
        chain = Chain(drawn.lengths, None if kind == "no limits" else limits)
        poses = rng.uniform(drawn.low, drawn.high, (count, n))
        yield chain, list(zip(forward(chain, poses)[:, -1], poses.sum(axis=1).tolist(), strict=True))


def turns(angles: Floats) -> Floats:
    """Return the largest turn (frames - 1,) of a joint from each frame to the next, in degrees."""
    furthest: Floats = np.degrees(np.abs(wrapped(np.diff(angles, axis=0))).max(axis=1))
    return furthest
