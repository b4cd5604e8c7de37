# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of targets, and the poses for them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..inputs import Floats
from .sweep import CcdBones

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Targets:
    """Rows of targets with their starts and bend sides; all lengths are fractions of the reach."""

    points: Floats  # (m, 2)
    starts: Floats  # (m, n)
    bend: Floats  # (m,)

    @classmethod
    def spread(cls, shape: tuple[int, ...], points: Floats, starts: Floats, bend: Floats) -> "Targets":
        """Return the rows of arrays that are broadcast over a shape."""
        width = starts.shape[-1]
        return cls(
            np.broadcast_to(points, (*shape, 2)).reshape(-1, 2),
            np.broadcast_to(starts, (*shape, width)).reshape(-1, width),
            np.broadcast_to(bend, shape).reshape(-1),
        )


class SolvedTargets(NamedTuple):
    """Poses for m rows of targets."""

    angles: Floats  # (m, n)
    iterations: NDArray[np.int32]  # (m,)
    is_out: Flags  # (m,) whether it is proven that limits or rigid joints keep the tip away

    @classmethod
    def empty(cls, targets: Targets) -> "SolvedTargets":
        """Return arrays to be filled for all targets."""
        m = len(targets.points)
        return cls(np.empty_like(targets.starts), np.zeros(m, np.int32), np.zeros(m, np.bool_))

    @classmethod
    def unmoved(cls, targets: Targets) -> "SolvedTargets":
        """Return the starts, from which nothing can bring a tip to its target."""
        m = len(targets.points)
        return cls(targets.starts, np.zeros(m, np.int32), np.ones(m, np.bool_))

    def fill(self, row: int, angles: list[float], iterations: int, is_out: bool) -> None:
        """Set the pose of one row."""
        self.angles[row], self.iterations[row], self.is_out[row] = angles, iterations, is_out


def are_inside(bones: CcdBones, targets: Targets) -> Flags:
    """Return which targets lie inside the annulus."""
    distance = np.hypot(targets.points[:, 0], targets.points[:, 1])
    return (distance < 1.0) & (distance > bones.inner)
