# SPDX-License-Identifier: GPL-3.0-or-later
"""An arm held at both ends, its first joint within a range: less bend, and a nearer heading, by small steps.

With the tip's place and its heading there are three conditions g on a pose, and J (3, n) is how they change
with each joint. Among the joints that are not at their limits,

    step = z - W J^T M^-1 J z,   correction = W J^T M^-1 (goal - g),   M = J W J^T,   z = rest - pose

W: their weights. The first joint's turn costs nothing: its z is zero, and its weight is great.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..chain import joints_at
from ..inputs import Floats, wrapped
from .arm import Arm

# Steps down, corrections after each, and times that joints at their limits are left out of one.
ROUNDS, CORRECTIONS, STOPS = 60, 6, 4
# What is left of the conditions (reach is 1) after corrections; the least part of a step; the first joint's
# weight; what keeps M invertible; a bend that is less (radians squared).
MENDED, LEAST, FREELY, DAMPING, LESS = 1e-10, 1e-3, 100.0, 1e-12, 1e-12
# The longest turn of the heading in a step (radians).
LONGEST_TURN = 0.1

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Clamped:
    """An arm whose tips are held on points."""

    arm: Arm
    points: Floats  # (m, 2)

    def turned(self, poses: Floats, wanted: Floats) -> Floats:
        """Return poses (m, n) whose last bones were turned towards wanted headings (m,), step by step."""
        share = np.ones(len(poses))
        for _ in range(ROUNDS):
            left = wrapped(wanted - poses.sum(axis=1))
            going = (share >= LEAST) & (np.abs(left) > MENDED)
            if not going.any():
                break
            step = share * np.clip(left, -LONGEST_TURN, LONGEST_TURN)
            tried, good = self._mended(poses, poses.sum(axis=1) + step)
            poses = np.where((good & going)[:, np.newaxis], tried, poses)
            share = np.where(good, np.minimum(1.0, 2.0 * share), 0.5 * share)
        return poses

    def with_less_bend(self, poses: Floats) -> Floats:
        """Return poses (m, n) that bend less than others, the tips and the headings the same."""
        headings, share, bent = poses.sum(axis=1), np.ones(len(poses)), self.arm.bend(poses)
        for _ in range(ROUNDS):
            going = share >= LEAST
            if not going.any():
                break
            step = share[:, np.newaxis] * self._step(poses)
            tried, good = self._mended(self._cut(poses + step), headings)
            less = good & going & (self.arm.bend(tried) < bent - LESS)
            poses = np.where(less[:, np.newaxis], tried, poses)
            bent = self.arm.bend(poses)
            share = np.where(less, np.minimum(1.0, 2.0 * share), 0.5 * share)
        return poses

    def _step(self, poses: Floats) -> Floats:
        """Return the steps (m, n) to less bend that lead no joint over its limit."""
        low, high = self.arm.chain.ranges.T
        back = self.arm.rest - poses
        back[:, 0] = 0.0
        jacobian, free = self._jacobian(poses), np.broadcast_to(high > low, poses.shape)
        step = np.zeros_like(poses)
        for _ in range(STOPS):
            back_only = np.where(free, back, 0.0)
            step = back_only - self._through(jacobian, free, np.einsum("mkn,mn->mk", jacobian, back_only))
            stopped = free & (((poses <= low) & (step < 0.0)) | ((poses >= high) & (step > 0.0)))
            if not stopped.any():
                break
            free = free & ~stopped
        return step

    def _mended(self, poses: Floats, headings: Floats) -> tuple[Floats, Flags]:
        """Return poses (m, n) put back onto the points with headings (m,), and which of them (m,) are."""
        low, high = self.arm.chain.ranges.T
        off = self._off(poses, headings)
        for _ in range(CORRECTIONS):
            jacobian, free = self._jacobian(poses), np.broadcast_to(high > low, poses.shape)
            for _ in range(STOPS):
                change = self._through(jacobian, free, off)
                over = free & ((poses + change < low) | (poses + change > high))
                if not over.any():
                    break
                free = free & ~(over & ((poses <= low) | (poses >= high)))
            poses = self._cut(poses + change)
            off = self._off(poses, headings)
        return poses, np.abs(off).max(axis=1) <= MENDED

    def _off(self, poses: Floats, headings: Floats) -> Floats:
        """Return the errors (m, 3) of tip, in x and y, and heading (radians)."""
        away = self.points - joints_at(self.arm.chain, poses)[:, -1]
        return np.column_stack((away, wrapped(headings - poses.sum(axis=1))))

    def _jacobian(self, poses: Floats) -> Floats:
        """Return how tip and heading change with each joint, (m, 3, n)."""
        joints = joints_at(self.arm.chain, poses)
        arms = joints[:, -1:] - joints[:, :-1]
        return np.stack((-arms[..., 1], arms[..., 0], np.ones(poses.shape)), axis=1)

    def _through(self, jacobian: Floats, free: Flags, change: Floats) -> Floats:
        """Return the least turns (m, n) of free joints (m, n) that change tip and heading by (m, 3)."""
        assert self.arm.chain.weights is not None
        weights = np.where(free, self.arm.chain.weights, 0.0)
        weights[:, 0] = np.where(free[:, 0], FREELY, 0.0)
        weighted = jacobian * weights[:, np.newaxis]
        m = weighted @ jacobian.swapaxes(1, 2) + DAMPING * np.eye(3)
        push = np.linalg.solve(m, change[..., np.newaxis])
        turns: Floats = (weighted.swapaxes(1, 2) @ push)[..., 0]
        return turns

    def _cut(self, poses: Floats) -> Floats:
        low, high = self.arm.chain.ranges.T
        return np.clip(poses, low, high)
