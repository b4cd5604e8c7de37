# SPDX-License-Identifier: GPL-3.0-or-later
"""The pull of a path to the poses of least bend: a posture task in the null space of the tip.

Along a path that goes round, least corrections alone wind joints up without end. So before each frame a pose
a is drawn to the goal g, Even's pose for the frame's target:

    z = g - a,   q = (1 - e^(-gain way)) (z - W J^T (J W J^T)^-1 J z)

J is the tip's Jacobian, W the joints' weights, and `way` how far the target went, in reaches. To the first
order q moves no tip; it does nothing while a target rests, and as much over a way in one frame as in many.
No joint turns by more than MOST way: a fast target must not carry a chain off to where it stays wound.
"""

from dataclasses import dataclass, replace
from math import expm1, hypot, inf, pi, remainder
from operator import mul

import numpy as np

from ..ccd.correction import Arms, push
from ..ccd.limited import cut
from ..ccd.rigid import is_rigid, turning_side
from ..ccd.rows import Targets
from ..ccd.sliding import arms_of, coordinates, parted
from ..ccd.sweep import CcdBones
from ..chain import Chain, in_reaches
from ..even import solve_even
from ..inputs import Floats

# The gain, for each reach that the target moves, and the most that a joint turns for it (radians).
GAIN, MOST = 10.0, 15.0
# Goals at a time, in angles: some hundredths of a second's work; within limits they take longer.
ANGLES, LIMITED_ANGLES = 8192, 1024
# Poses whose squared distances from another differ by no more are as near to it; and the one up to which a
# goal needs no comparison.
SAME, CLOSE = 1e-9, 0.1
# Targets farther off than this, in reaches, have the goals of those that are not.
FAR = 2.0


@dataclass(frozen=True, eq=False)
class Posture:
    """The goals of a path, Even's poses, and how strongly they draw."""

    chain: Chain
    rest: Floats  # (n,) angles that Even bends from; rigid joints stay there
    gain: float
    offset: Floats | float = 0.0  # (n,) angles of the chain on the path, more than this chain's

    def goals(self, points: Floats, bend: Floats) -> Floats:
        """Return Even's poses (m, n), or (m, 2 n) where bones slide, for points (m, 2) and bends (m,).

        Lengths and slides are in reaches.
        """
        far = np.maximum(np.hypot(*points.T) / FAR, 1.0)
        poses = solve_even(
            self.chain,
            points / far[:, np.newaxis] * self.chain.reach[1],
            bend=bend,
            rest=self.rest,
        )
        return coordinates(self.chain, poses.angles + self.offset, poses.slides)

    def first(self, target: Floats, bend: float) -> tuple[Floats, Floats]:
        """Return the angles and the slides (n,) of the goal for a target (2,), in the chain's lengths."""
        goals = self.goals(in_reaches(self.chain, target[np.newaxis]), np.array([bend]))
        angles, slides = parted(self.chain, goals[0])
        return angles, np.zeros_like(angles) if slides is None else slides

    def started(self, angles: Floats) -> "Posture":
        """Return the posture of a path that starts with angles (n,): joints of weight 0 stay there."""
        if self.chain.weights is None:
            return self
        return replace(self, rest=np.where(self.chain.weights == 0.0, angles - self.offset, self.rest))

    def nearer(
        self, bones: CcdBones, pose: list[float], point: Floats, bend: float
    ) -> tuple[float, list[list[float]]]:
        """Return the bend, +1 or -1, of the goal for a point (2,) that is nearer to a pose, and that goal.

        Where both are as near it is the side that the pose bends to; a pose on a line is to bend to `bend`.
        """
        side = turning_side(bones, pose[: len(bones.lengths)], 0.0)
        at_side = (side or bend) * turning_side(bones, self.rest.tolist(), 1.0)
        goal = self.goals(point[np.newaxis], np.array([at_side]))
        apart = float(((goal - pose)[:, 1:] ** 2).sum())
        if side != 0.0 and apart > CLOSE:
            other = self.goals(point[np.newaxis], np.array([-at_side]))
            if ((other - pose)[:, 1:] ** 2).sum() + SAME < apart:
                at_side, goal = -at_side, other
        return at_side, goal.tolist()


class Pull:
    """A path's pull to its goals, which are found some frames at a time."""

    def __init__(self, posture: Posture, chain: Chain, rows: Targets) -> None:
        """posture: of a chain with as many bones. rows: the frames; lengths are in reaches."""
        bones = CcdBones.of(chain)
        n = len(bones.lengths)
        self._posture, self._bones, self._rows = posture, bones, rows
        self._weights = [0.0 if i < n and is_rigid(bones, i) else w for i, w in enumerate(bones.weights)]
        is_fast = not (chain.is_limited or chain.is_sliding)
        self._block = max(1, (ANGLES if is_fast else LIMITED_ANGLES) // n)
        self._ends = [*(1 + np.flatnonzero(np.diff(rows.bend))).tolist(), len(rows.points)]
        steps = np.diff(rows.points, axis=0)
        self._ways = [inf, *np.hypot(steps[:, 0], steps[:, 1]).tolist()]  # the first is from the start's tip
        self._goals: list[list[float]] = []
        self._first, self._side = 0, 0.0

    @property
    def has_room(self) -> bool:
        """Whether the chain has poses to choose from, its tip on a target."""
        return sum(weight > 0.0 for weight in self._weights) > 2

    def drawn(self, row: int, pose: list[float], turned_to: float | None) -> list[float]:
        """Return the pose (n or 2 n) from which to solve a frame, drawn to its goal from that before.

        turned_to: the bend, where the pose may have come to another side; else None.
        """
        before = self._side
        if turned_to is not None:
            self._side, goal = self._posture.nearer(self._bones, pose, self._rows.points[row], turned_to)
            if len(self._rows.points) == 1:
                self._goals, before = goal, self._side
        if self._side != before or row == self._first + len(self._goals):
            end = min(row + self._block, next(end for end in self._ends if end > row))
            sides = np.full(end - row, self._side)
            self._goals = self._posture.goals(self._rows.points[row:end], sides).tolist()
            self._first = row
        way = self._ways[row]
        if way == 0.0:
            return pose
        arms = arms_of(self._bones, pose)
        if row == 0:
            x, y = self._rows.points[0].tolist()
            way = hypot(x - arms[0][-1], y - arms[1][-1])
        share = -expm1(-self._posture.gain * way)
        return self._moved(pose, self._goals[row - self._first], arms, share, MOST * way)

    def _moved(
        self, pose: list[float], goal: list[float], arms: Arms, share: float, most: float
    ) -> list[float]:
        """Return the pose a part of the way to a goal, its tip unmoved, no joint turned by over `most`."""
        weights = self._weights
        lacks = [g - a if w else 0.0 for g, a, w in zip(goal, pose, weights, strict=True)]
        short = remainder(lacks[0], 2.0 * pi)  # the root has no need to unwind
        if self._bones.low[0] <= pose[0] + short <= self._bones.high[0]:
            lacks[0] = short
        # Turning by q moves the tip by (-ys . q, xs . q).
        xs, ys = arms[0][::-1], arms[1][::-1]
        ux, uy = push(xs, ys, weights, sum(map(mul, xs, lacks)), sum(map(mul, ys, lacks)))
        turns = [lack - w * (ux * x + uy * y) for lack, w, x, y in zip(lacks, weights, xs, ys, strict=True)]
        largest = max(map(abs, turns))
        share = min(share, most / largest) if largest else share
        return cut(self._bones, [angle + share * turn for angle, turn in zip(pose, turns, strict=True)])
