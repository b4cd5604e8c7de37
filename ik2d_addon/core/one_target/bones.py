# SPDX-License-Identifier: GPL-3.0-or-later
"""Forward kinematics of one pose, with bones as they are held rather than as lengths and angles alone.

A rig's rest matrices are not quite rotations, so that its tip is some 1e-5 of the reach off the tip of the
chain that a solver sees. The miss of a pose is measured here, and the target aimed at again.
"""

from collections.abc import Callable, Sequence
from copy import copy
from math import cos, hypot, pi, sin

from ..chain import Chain
from ..inputs import Floats
from ..solution import Status

# How a bone is held by the one before, (a, b, c, d) of the matrix ((a, b), (c, d)), and where it ends in its
# own axes, (x, y).
Link = tuple[float, float, float, float, float, float]
TURN = 2.0 * pi
# The part of a length that 32 bits cannot hold: a tip that misses by less is not aimed again.
FINE = 1e-8
# Rounds of aiming again; each leaves some 1e-4 of the miss, two leave nothing that 32 bits hold.
CORRECTIONS = 2


def links_of(chain: Chain, unturned: Floats) -> list[Link]:
    """Return the exact links of a chain, by angles (n,) each to the bone before."""
    return [
        (cos(angle), -sin(angle), sin(angle), cos(angle), length, 0.0)
        for length, angle in zip(chain.lengths.tolist(), unturned.tolist(), strict=True)
    ]


class PlainBones:
    """The bones of a chain before any turns, root to tip, in the chain's plane."""

    def __init__(self, chain: Chain, unturned: Floats, links: Sequence[Link], tolerance: float) -> None:
        """Keep a chain. unturned: (n,) the solver's angles where nothing turns. tolerance: a length."""
        self.chain = chain
        self.lengths: list[float] = chain.lengths.tolist()
        self.inner, self.outer = chain.reach
        self.unturned: list[float] = unturned.tolist()
        self._hold(links)
        self.tolerance = tolerance
        self.fine = FINE * float(chain.lengths.sum())

    def tip(self, turns: Sequence[float]) -> tuple[float, float]:
        """Return the tip of turns (n,) from the root."""
        x, y = self.arm(turns)
        a, b, c, d, _, _ = self.links[0]
        cosine, sine = cos(turns[0]), sin(turns[0])
        x, y = cosine * x - sine * y, sine * x + cosine * y
        return a * x + b * y, c * x + d * y

    def arm(self, turns: Sequence[float]) -> tuple[float, float]:
        """Return the tip in the axes of the first bone, which turns with it."""
        x, y = self._end
        for turn, (a, b, c, d, end_x, end_y) in zip(turns[:0:-1], self._joints, strict=True):
            cosine, sine = cos(turn), sin(turn)
            x, y = cosine * x - sine * y, sine * x + cosine * y
            x, y = a * x + b * y + end_x, c * x + d * y + end_y
        return x, y

    def _hold(self, links: Sequence[Link]) -> None:
        """Keep how the bones are held; from the tip on, each joint with the end of the bone before."""
        self.links = list(links)
        self._end = self.links[-1][4:]
        pairs = zip(self.links, self.links[1:], strict=False)
        self._joints = [(*link[:4], *before[4:]) for before, link in pairs][::-1]

    def ideal_tip(self, angles: Sequence[float]) -> tuple[float, float]:
        """Return the tip of the solver's angles (n,) by lengths and angles alone."""
        x = y = heading = 0.0
        for length, angle in zip(self.lengths, angles, strict=True):
            heading += angle
            x += length * cos(heading)
            y += length * sin(heading)
        return x, y

    def aimed(
        self,
        turns: list[float],
        x: float,
        y: float,
        again: Callable[[float, float], list[float]],
        tip: Callable[[list[float]], tuple[float, float]] | None = None,
    ) -> list[float]:
        """Return turns (n,) that bring the tip to (x, y), aimed again by their miss.

        again: returns the turns of the solver's pose for a point. tip: the tip of turns, else by the links.
        """
        tip = tip or self.tip
        aim_x, aim_y = x, y
        for _ in range(CORRECTIONS):
            tip_x, tip_y = tip(turns)
            off_x, off_y = x - tip_x, y - tip_y
            if abs(off_x) <= self.fine and abs(off_y) <= self.fine:
                break
            aim_x, aim_y = aim_x + off_x, aim_y + off_y
            turns = again(aim_x, aim_y)
        return turns

    def status(self, distance: float, inner: float, outer: float) -> int:
        """Return TOO_FAR or TOO_CLOSE for a distance out of a reach, else REACHED."""
        if distance > outer + self.tolerance:
            return int(Status.TOO_FAR)
        return int(Status.TOO_CLOSE if distance < inner - self.tolerance else Status.REACHED)

    def with_last(self, factor: float) -> "PlainBones":
        """Return the bones with the last one longer by a factor."""
        bones = copy(self)
        a, b, c, d, x, y = self.links[-1]
        bones.lengths = [*self.lengths[:-1], factor * self.lengths[-1]]
        bones._hold([*self.links[:-1], (a, b, c, d, factor * x, factor * y)])
        bones.outer = sum(bones.lengths)
        bones.inner = max(0.0, 2.0 * max(bones.lengths) - bones.outer)
        return bones

    def before_root(self, x: float, y: float) -> tuple[float, float]:
        """Return a point in the axes of the first bone before it turns."""
        a, b, c, d, _, _ = self.links[0]
        determinant = a * d - b * c
        return (d * x - b * y) / determinant, (a * y - c * x) / determinant

    def into_reach(self, x: float, y: float) -> tuple[float, float]:
        """Return the point in reach nearest to a point other than the root."""
        distance = hypot(x, y)
        share = min(max(distance, self.inner), self.outer) / distance
        return x * share, y * share
