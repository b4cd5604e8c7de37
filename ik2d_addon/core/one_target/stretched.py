# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains that stretch, for one target, in plain numbers, by the formulas of core/stretch.py."""

from collections.abc import Callable
from math import hypot, isfinite

from ..arithmetic import FLOATS
from ..inputs import LONGEST
from ..solution import Status
from ..stretch import Stretch, Stretcher
from .even import EvenPose
from .solver import PlainAnswer, PlainSolver
from .two_bone import TwoBonePose

# The tip (x, y) of turns (n,) of bones whose lengths have factors (n,), where links are not exact.
Tips = Callable[[list[float], list[float]], tuple[float, float]]


class PlainStretch:
    """A chain without limits whose bones change their length, asked for one target at a time."""

    def __init__(self, solver: PlainSolver, stretch: Stretch, tips: Tips | None = None) -> None:
        """Keep the solver of the chain as it is. tips: None for bones whose links are exact."""
        self.solver, self._tips, self._last_only = solver, tips, stretch.last_only
        self._stretcher = Stretcher.of(solver.bones.chain, stretch)
        self._reach = stretch.reach(solver.bones.chain)

    def solve(self, x: float, y: float, bend: float = 1.0, softness: float = 0.0) -> PlainAnswer | None:
        """Return the answer for a target, with factors; None where the arrays' solver has to do it.

        bend: +1 or -1. None where the target is not finite, and where the last of more bones than two
        changes its length: each length has another family of poses.
        """
        distance = hypot(x, y)
        if not (isfinite(distance) and distance < LONGEST and abs(bend) == 1.0):
            return None
        factor, goal = self._stretcher.stretched(distance, softness, FLOATS)
        factors = [factor] * len(self.solver.bones.lengths)
        pose, bones, size = self.solver.pose(bend), self.solver.bones, factor
        if self._last_only:
            factors[:-1] = [1.0] * (len(factors) - 1)
            size = 1.0
            if factor != 1.0:
                if isinstance(pose, EvenPose):
                    return None
                bones = bones.with_last(factor)
                pose = TwoBonePose(bones, bend) if len(factors) == 2 else pose
        nearer = goal / (distance or 1.0) / size
        turns = pose.ideal_turns(nearer * x, nearer * y)

        def tip(turns: list[float]) -> tuple[float, float]:
            if self._tips is None:
                return bones.tip(turns)
            tip_x, tip_y = self._tips(turns, factors)
            return tip_x / size, tip_y / size

        status = bones.status(nearer * distance, bones.inner, bones.outer)
        if status == Status.REACHED:
            angles = [start + turn for start, turn in zip(bones.unturned, turns, strict=True)]
            turns = bones.aimed(turns, *bones.ideal_tip(angles), pose.ideal_turns, tip)
        tip_x, tip_y = tip(turns)
        residual = hypot(x - size * tip_x, y - size * tip_y)
        status = bones.status(distance, *self._reach) or status
        if status == Status.REACHED and residual > bones.tolerance:
            status = int(Status.EASED if softness > 0.0 else Status.STALLED)
        return PlainAnswer(turns, status, residual, softness > 0.0, factors)
