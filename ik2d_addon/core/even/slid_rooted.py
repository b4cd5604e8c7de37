# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose of least bend of a chain whose bones slide, found step by step from any other.

As in rooted.py, with each bone's slide for a further column of J and 0 for its rest; a slide at an end of its
range is left out where it would go beyond. For roots whose turn counts, or that do not turn, and for poses
that the family of a free root does not have.
"""

from dataclasses import dataclass

import numpy as np

from ..inputs import Floats
from .family import summed_across
from .rooted import DAMPING, MENDING, NOTHING, Settled, cut, descended

# Rounds in which slides at their ends are told from those that come off them.
HOLDS = 3


@dataclass(frozen=True, eq=False)
class Slider:
    """A chain of reach 1, with weights of turns and slides. A pose (2 n,) is its angles, then its slides."""

    lengths: Floats  # (n,)
    least: Floats  # (n,) slides
    most: Floats  # (n,)
    weights: Floats  # (2 n,) of angles and slides
    rest: Floats  # (2 n,) the slides' being zero
    free_root: bool = False  # whether the root's turn costs nothing

    def settled(self, start: Floats, points: Floats) -> Settled:
        """Return the poses (m, 2 n) that starts (m, 2 n) settle in, the steps (m,), and which have settled.

        points: (m, 2). A pose that has not settled is the last one, its tip put back onto its point as far
        as that goes.
        """

        def changed(pose: Floats, change: Floats) -> tuple[Floats, Floats]:
            after = self.moved(pose, change)
            return after, after - pose

        poses, steps, done, last = descended(
            start, points, lambda pose, target: self._changes(pose, target)[:3], self.bend, changed
        )
        if last.size:
            poses[~done] = self.mended(last, points[~done])
        return poses, steps, done

    def mended(self, pose: Floats, target: Floats) -> Floats:
        """Return poses (m, 2 n) with their tips put onto the targets, as far as that goes."""
        for _ in range(MENDING):
            pose = self.moved(pose, self._changes(pose, target)[1])
        return pose

    def bend(self, pose: Floats) -> Floats:
        """Return the sums (m,) of squares that are to be the least."""
        costs = np.where(self.weights > 0.0, 1.0 / np.maximum(self.weights, NOTHING), 0.0)
        costs[0] *= not self.free_root
        return summed_across((pose - self.rest) ** 2 * costs)

    def moved(self, pose: Floats, change: Floats) -> Floats:
        """Return poses (m, 2 n) changed, by less where that is too far, the slides within their ranges."""
        after = pose + cut(change)
        after[:, self.lengths.size :] = np.clip(after[:, self.lengths.size :], self.least, self.most)
        return after

    def force(self, pose: Floats, target: Floats) -> Floats:
        """Return the force (m, 2) on the tips of poses (m, 2 n), against their bend."""
        return self._changes(pose, target)[3]

    def _changes(self, pose: Floats, target: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the changes (m, 2 n) to less bend, those to correct the tip's error, it, the force."""
        n = self.lengths.size
        headings, slides = np.cumsum(pose[:, :n], axis=1), pose[:, n:]
        along, across = np.cos(headings), np.sin(headings)
        lengths = self.lengths + slides
        arms_x = np.cumsum((lengths * along)[:, ::-1], axis=1)[:, ::-1]
        arms_y = np.cumsum((lengths * across)[:, ::-1], axis=1)[:, ::-1]
        off_x, off_y = target[:, 0] - arms_x[:, 0], target[:, 1] - arms_y[:, 0]
        x, y = np.hstack((-arms_y, along)), np.hstack((arms_x, across))
        back = np.where(self.weights > 0.0, self.rest - pose, 0.0)
        back[:, 0] *= not self.free_root
        held = np.zeros_like(pose, np.bool_)
        for _ in range(HOLDS):
            weights = np.where(held, 0.0, self.weights)
            own = np.where(held, 0.0, back)
            xx, xy = summed_across(weights * x * x) + DAMPING, summed_across(weights * x * y)
            yy = summed_across(weights * y * y) + DAMPING
            determinant = xx * yy - xy * xy
            there_x, there_y = summed_across(x * own), summed_across(y * own)
            force_x = (yy * there_x - xy * there_y) / determinant
            force_y = (xx * there_y - xy * there_x) / determinant
            mend_x, mend_y = (yy * off_x - xy * off_y) / determinant, (xx * off_y - xy * off_x) / determinant
            slack = back - self.weights * (force_x[:, np.newaxis] * x + force_y[:, np.newaxis] * y)
            mend = self.weights * (mend_x[:, np.newaxis] * x + mend_y[:, np.newaxis] * y)
            wish = (slack + mend)[:, n:]
            held[:, n:] = (slides <= self.least) & (wish <= 0.0) | (slides >= self.most) & (wish >= 0.0)
        error, force = np.hypot(off_x, off_y), np.stack((force_x, force_y), axis=1)
        return np.where(held, 0.0, slack), np.where(held, 0.0, mend), error, force
