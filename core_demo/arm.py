# SPDX-License-Identifier: GPL-3.0-or-later
"""The arm of the demo: its bones, limits, target and pose, and its solver."""

from collections.abc import Sequence

import numpy as np
from ik2d_core import (
    CCDResult,
    Chain,
    Region,
    Solution,
    Status,
    ccd_step,
    forward,
    reachable,
    solve_arc,
    solve_ccd,
    solve_even,
    solve_two_bone,
)
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TWO_BONE, EVEN, ARC, CCD, STEPS = "Two-bone", "Smooth (Even)", "Circle (Arc)", "CCD", "CCD, step by step"
SOLVERS = (TWO_BONE, EVEN, ARC, CCD, STEPS)
TOLERANCE = 1e-4  # of a step by step solve, as a part of the reach
HALF_TURN = 180.0
MOST_BONES = 5
# The limits that an arm begins with, joint by joint.
LIMITS = ((-90.0, 90.0), (0.0, 135.0), (-90.0, 90.0))
# What solvers that do not take every arm take.
NEEDED = {TWO_BONE: "two bones", ARC: "joints without limits"}
# The result of each status, for the line below the arm.
WORDS = {
    Status.REACHED: "Target reached",
    Status.TOO_FAR: "Too far away",
    Status.TOO_CLOSE: "Too close",
    Status.LIMITED: "Out of reach of the limits: this is proven",
    Status.STALLED: "Not reached: the solver stopped before",
}
STEP_WORDS = {
    CCDResult.SUCCESS: "Target reached",
    CCDResult.PROCESSING: "Nearer, not there yet",
    CCDResult.FAILURE: "Stuck: no joint brings the tip nearer",
}


class DemoArm:
    """An arm, one long in all, posed by one of SOLVERS. Angles are radians, limits degrees."""

    def __init__(self, bones: int, limits: Sequence[tuple[float, float]] = LIMITS) -> None:
        self.solver, self.bend = EVEN, 1
        self.result = ""
        self.steps = 0
        self.target: Floats = np.array([0.45, 0.35])
        self.chain = Chain(np.ones(max(1, len(limits))), np.radians(limits) if limits else None)
        self.set_bones(bones)

    def set_bones(self, bones: int) -> None:
        """Take another number of bones: joints that are there keep their limits, others are free."""
        lengths, ranges = np.linspace(1.2, 0.8, bones), np.tile([-np.inf, np.inf], (bones, 1))
        kept = self.chain.ranges[:bones]
        ranges[: len(kept)] = kept
        self._take(Chain(lengths / lengths.sum(), ranges), np.full(bones, 0.3))

    def _take(self, chain: Chain, angles: Floats) -> None:
        """Take another chain, at angles (n,) or the limits nearest to them, and solve."""
        self.chain, self.angles = chain, np.clip(angles, *chain.ranges.T)
        note = "" if self.offers(self.solver) else f"; {self.solver} takes {NEEDED[self.solver]}"
        if note:
            self.solver = EVEN
        self.solve()
        self.result += note

    def offers(self, solver: str) -> bool:
        """Return whether a solver takes this arm: two-bone two bones, and arc no limits."""
        if solver == TWO_BONE:
            return len(self.chain) == 2
        return solver != ARC or not self.chain.is_limited

    def set_limits(self, joint: int, low: float, high: float) -> None:
        """Limit a joint, in degrees; half a turn to both sides frees it."""
        ranges = self.chain.ranges.copy()
        is_free = low <= -HALF_TURN and high >= HALF_TURN
        ranges[joint] = (-np.inf, np.inf) if is_free else np.radians([low, high])
        self._take(Chain(self.chain.lengths, limits=ranges), self.angles)

    def set_solver(self, solver: str) -> bool:
        """Take another solver; return whether this arm can have it. If not, the result says why."""
        if not self.offers(solver):
            self.result = f"The solver {solver} takes {NEEDED[solver]}"
            return False
        self.solver = solver
        self.solve()
        return True

    def flip(self) -> None:
        """Bend to the other side; the result says where there is none."""
        before = self.angles
        self.bend = -self.bend
        self.angles = np.clip(-self.angles, *self.chain.ranges.T)
        self.solve()
        if np.allclose(self.angles, before, atol=1e-6):
            self.result += "; Flip finds no other bend" + " within the limits" * self.chain.is_limited

    def aim(self, x: float, y: float) -> None:
        """Move the target and solve for it; step by step only the target moves."""
        self.target = np.array([x, y])
        self.solve()

    def solve(self) -> None:
        """Pose the arm with its solver."""
        self.steps = 0
        if self.solver == STEPS:
            self.result = "Press CCD Step"
            return
        solution = self._solution()
        self.angles = solution.angles
        self.result = WORDS[Status(int(solution.status))]
        if self.solver == CCD:
            self.result += f" ({int(solution.iterations)} iterations)"

    def _solution(self) -> Solution:
        if self.solver == TWO_BONE:
            return solve_two_bone(self.chain, self.target, bend=self.bend)
        if self.solver == ARC:
            return solve_arc(self.chain, self.target, bend=self.bend)
        if self.solver == CCD:
            return solve_ccd(self.chain, self.target, start=self.angles, bend=self.bend)
        return solve_even(self.chain, self.target, bend=self.bend)

    def step(self) -> None:
        """Do one iteration of CCD from the present pose."""
        self.solver = STEPS
        tolerance = TOLERANCE * self.chain.reach[1]
        self.angles, result = ccd_step(self.chain, self.angles, self.target, tolerance=tolerance)
        self.steps += 1
        self.result = f"{STEP_WORDS[result]} (step {self.steps})"

    def joints(self) -> Floats:
        """Return the joints (n + 1, 2), root first and tip last."""
        return forward(self.chain, self.angles)

    def distance(self) -> float:
        """Return the distance from the tip to the target."""
        return float(np.hypot(*(self.joints()[-1] - self.target)))

    def region(self) -> Region:
        """Return what the tip reaches."""
        return reachable(self.chain)
