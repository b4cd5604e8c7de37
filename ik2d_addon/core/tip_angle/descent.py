# SPDX-License-Identifier: GPL-3.0-or-later
"""From a pose to one with tip and heading on a goal: by the least turns, or of least bend."""

from math import remainder

import numpy as np

from ..inputs import Floats
from .springs import CONDITIONS, TURN, Goal, HeldPose, HeldSprings, HeldStep

# No joint of a settled pose is farther from where its spring has it, nor tip or heading from the goal; one
# more step then leaves far less.
SETTLED = 1e-9
# Newton's rounds. To put tip and heading back onto their goal: the stiffness that keeps the pose as it is,
# and rounds. Steps down: the stiffness at first, rounds in each, how often one may fail, and how many there
# are for each such time.
NEWTON, STIFF, RESTORING, STIFFNESS, ROUNDS, FAILURES, DOWN = 16, 1e5, 14, 0.1, 8, 4, 4
# On success stiffness falls to this part, and below the least to nothing; on failure it rises.
FALLS, LEAST, RISES, RISE = 0.2, 0.1, 5.0, 0.05
# Rounds in which joints that would pass their limits are put on them, and what is no way past one (radians).
PUT, PAST = 3, 1e-12
# Damped steps: rounds, times that joints at their limits are left out, damping at first, least and most, the
# longest turn, and the square of the errors that is good enough.
DAMPED, STOPS, DAMPING, LEAST_DAMPING, MOST_DAMPING, LONGEST, GOOD = 60, 4, 1e-3, 1e-14, 1e3, 0.5, 1e-20


def settled(
    springs: HeldSprings,
    pose: HeldPose,
    goal: Goal,
    rounds: int = NEWTON,
    stiff: float = 0.0,
    anchor: list[float] | None = None,
) -> tuple[HeldPose, bool]:
    """Return the pose that Newton's method leads to, and whether it has settled as one of least bend.

    anchor, stiff: a pose that second springs draw to, and how stiff they are.
    """
    for _ in range(rounds):
        step = springs.step(pose, goal, stiff, anchor)
        if step.off < SETTLED and step.error < SETTLED:
            return springs.moved(pose, step, stiff), step.is_least
        if anchor is not None:
            step = _put_on_limits(springs, step, pose, goal, stiff, anchor)
        pose = springs.moved(pose, step, stiff)
    return pose, False


def _put_on_limits(
    springs: HeldSprings, step: HeldStep, pose: HeldPose, goal: Goal, stiff: float, anchor: list[float]
) -> HeldStep:
    """Return the step in which joints that would pass a limit go to it, and the others make up for that."""
    put: list[float | None] = [None] * len(pose.angles)
    for _ in range(PUT):
        past = 0
        for i, (angle, turn) in enumerate(zip(pose.angles, step.turns, strict=True)):
            if not step.held[i] and not springs.low[i] - PAST <= angle + turn <= springs.high[i] + PAST:
                put[i], past = springs.low[i] if turn < 0.0 else springs.high[i], past + 1
        if not past or step.held.count(False) - past < CONDITIONS:
            break
        step = springs.step(pose, goal, stiff, anchor, put)
    return step


def restored(springs: HeldSprings, angles: list[float], goal: Goal) -> list[float] | None:
    """Return the angles that the least turns from a pose bring onto a goal; None where that leads nowhere."""
    pose, done = settled(springs, HeldPose(angles), goal, RESTORING, STIFF, angles)
    return pose.angles if done else None


def descended(springs: HeldSprings, angles: list[float], goal: Goal) -> HeldPose | None:
    """Return the pose of least bend that a pose on a goal goes down to, second springs growing weaker."""
    pose, stiff, failures = HeldPose(angles), STIFFNESS, 0
    for _ in range(DOWN * FAILURES):
        lower, done = settled(springs, pose, goal, ROUNDS, stiff, pose.angles if stiff else None)
        if done:
            pose = lower
            if stiff == 0.0:
                return pose
            stiff = 0.0 if stiff <= LEAST else FALLS * stiff
        else:
            stiff, failures = RISES * stiff + RISE, failures + 1
            if failures == FAILURES:
                break
    return None


def led_down(springs: HeldSprings, angles: list[float], goal: Goal) -> HeldPose | None:
    """Return the pose of least bend that a pose leads to, once it is on the goal."""
    on_goal = restored(springs, angles, goal)
    return None if on_goal is None else descended(springs, on_goal, goal)


def cornered(springs: HeldSprings, angles: list[float], goal: Goal) -> list[float] | None:
    """Return the angles of a pose on a goal, by damped steps within the ranges; None where these end before.

    For poses with so many joints at their limits that no force is determined.
    """
    low, high = np.array(springs.low), np.array(springs.high)
    pose, damping = np.clip(angles, low, high), DAMPING
    off, jacobian = _errors(springs, pose, goal)
    for _ in range(DAMPED):
        square = float(off @ off)
        step = _damped(pose, off, jacobian, damping, low, high)
        if square < GOOD * 1e-4 or step is None:
            break
        tried = np.clip(pose + step, low, high)
        tried_off, tried_jacobian = _errors(springs, tried, goal)
        if tried_off @ tried_off < square:
            pose, off, jacobian = tried, tried_off, tried_jacobian
            damping = max(0.1 * damping, LEAST_DAMPING)
        else:
            damping *= 10.0
            if damping > MOST_DAMPING:
                break
    return pose.tolist() if float(off @ off) < GOOD else None


def _errors(springs: HeldSprings, pose: Floats, goal: Goal) -> tuple[Floats, Floats]:
    """Return the errors (3,) of tip and heading, and how these change with each joint, (3, n)."""
    headings = np.cumsum(pose)
    lengths = np.array(springs.lengths)
    along, across = lengths * np.cos(headings), lengths * np.sin(headings)
    left = remainder(goal.heading - float(headings[-1]), TURN)
    off = np.array([goal.x - along.sum(), goal.y - across.sum(), left])
    levers = np.cumsum(along[::-1])[::-1], np.cumsum(across[::-1])[::-1]
    return off, np.stack((-levers[1], levers[0], np.ones(len(pose))))


def _damped(
    pose: Floats, off: Floats, jacobian: Floats, damping: float, low: Floats, high: Floats
) -> Floats | None:
    """Return the damped step of the joints that it leads over no limit; None where all are held."""
    slope = jacobian.T @ off
    free = ~(((pose <= low) & (slope < 0.0)) | ((pose >= high) & (slope > 0.0)))
    if not free.any():
        return None
    step = np.zeros_like(pose)
    for _ in range(STOPS):
        own = jacobian * free
        step = own.T @ np.linalg.solve(own @ own.T + damping * np.eye(CONDITIONS), off)
        over = free & (((pose <= low) & (step < 0.0)) | ((pose >= high) & (step > 0.0)))
        if not over.any():
            break
        free &= ~over
    return step * min(1.0, LONGEST / max(float(np.abs(step).max()), 1e-12))
