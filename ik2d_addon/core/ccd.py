# SPDX-License-Identifier: GPL-3.0-or-later
"""Cyclic coordinate descent: one joint after the other turns the tip towards the target.

After Ryan Juckett, "Cyclic Coordinate Descent in 2D" (2009).
"""

from enum import Enum
from math import atan2, cos, hypot, pi, remainder, sin

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .chain import Chain, Floats, checked_angles, checked_targets
from .errors import IK2DError
from .solution import Solution, Status, annulus_status, distances_to

# A joint whose distances to tip and target multiply to less than this, in squares of the reach,
# stays as it is: there the angle between the two is undefined.
UNDEFINED_ANGLE = 1e-12
# The tip counts as unmoved when each joint moves it by less than this part of the tolerance.
# With the tolerance itself, CCD would give up just before it arrives.
NO_MOTION = 0.01
MAX_ITERATIONS = 500


class CCDResult(Enum):
    """What one iteration of CCD came to."""

    SUCCESS = "SUCCESS"
    """The tip is within the tolerance of the target."""
    PROCESSING = "PROCESSING"
    """The tip moved, but is not there yet."""
    FAILURE = "FAILURE"
    """No joint can bring the tip any nearer."""


def ccd_step(
    chain: Chain, angles: ArrayLike, target: ArrayLike, *, tolerance: float
) -> tuple[Floats, CCDResult]:
    """Turn each joint once, tip to root, so that the tip comes as near the target as it can.

    For joint j, tip e and target t the turn is the signed angle from e - j to t - j:

        sin = (e - j) x (t - j) / (|e - j| |t - j|),   cos = (e - j) . (t - j) / (|e - j| |t - j|)

    angles: (n,); target: (2,) relative to the root; tolerance: a length. Returns the new angles
    (n,), those that turned wrapped to [-pi, pi], and a CCDResult. It stops at the joint that
    brings the tip within the tolerance. Raises IK2DError for other shapes and numbers.
    """
    start = checked_angles(chain, angles)
    point = checked_targets(target)
    if start.ndim != 1 or point.ndim != 1:
        raise IK2DError("ccd_step takes the angles of one chain and one target")
    new, result = _sweep(
        chain.lengths.tolist(), start.tolist(), float(point[0]), float(point[1]),
        chain.tolerance_or_default(tolerance), UNDEFINED_ANGLE * chain.reach[1] ** 2,
    )  # fmt: skip
    return np.array(new), result


def _sweep(
    lengths: list[float], angles: list[float], x: float, y: float, tolerance: float, undefined: float
) -> tuple[list[float], CCDResult]:
    """Do what ccd_step does, on plain floats: for one chain numpy would only cost time."""
    angles = list(angles)
    joints_x, joints_y = _joints(lengths, angles)
    tip_x, tip_y = joints_x[-1], joints_y[-1]
    moved = False
    for i in range(len(angles) - 1, -1, -1):
        joint_x, joint_y = joints_x[i], joints_y[i]
        arm_x, arm_y = tip_x - joint_x, tip_y - joint_y
        aim_x, aim_y = x - joint_x, y - joint_y
        arm, aim = hypot(arm_x, arm_y), hypot(aim_x, aim_y)
        if arm * aim > undefined:
            cosine = (arm_x * aim_x + arm_y * aim_y) / (arm * aim)
            # Adding zero makes -0.0 positive: half a turn is +pi, whichever way the cross product rounds.
            sine = (arm_x * aim_y - arm_y * aim_x) / (arm * aim) + 0.0
            turn = atan2(sine, cosine)
            tip_x = joint_x + cosine * arm_x - sine * arm_y
            tip_y = joint_y + sine * arm_x + cosine * arm_y
            angles[i] = _simplified(angles[i] + turn)
            moved = moved or abs(turn) * arm > NO_MOTION * tolerance
        if hypot(x - tip_x, y - tip_y) <= tolerance:
            return angles, CCDResult.SUCCESS
    return angles, CCDResult.PROCESSING if moved else CCDResult.FAILURE


def _joints(lengths: list[float], angles: list[float]) -> tuple[list[float], list[float]]:
    """Return the x and the y of all joints, root to tip."""
    xs, ys, direction = [0.0], [0.0], 0.0
    for length, angle in zip(lengths, angles, strict=True):
        direction += angle
        xs.append(xs[-1] + length * cos(direction))
        ys.append(ys[-1] + length * sin(direction))
    return xs, ys


def _simplified(angle: float) -> float:
    """Return the same rotation in [-pi, pi]."""
    return angle if -pi <= angle <= pi else remainder(angle, 2.0 * pi)


def solve_ccd(
    chain: Chain,
    target: ArrayLike,
    *,
    start: ArrayLike,
    tolerance: float | None = None,
    max_iterations: int = MAX_ITERATIONS,
) -> Solution:
    """Iterate CCD on each target on its own until its tip is there, or no joint moves any more.

    target: (..., 2) relative to the root. start: (..., n) angles to begin with, such as last
    frame's. tolerance: a length. max_iterations: the most sweeps for one target.
    A target off the annulus of reach gets the nearest pose at once, TOO_FAR or TOO_CLOSE. One
    within it that was not reached, in a local minimum of CCD or for want of sweeps, is STALLED.
    Raises IK2DError for other shapes and numbers.
    """
    targets = checked_targets(target)
    starts = checked_angles(chain, start, "start")
    shape = np.broadcast_shapes(targets.shape[:-1], starts.shape[:-1])
    targets = np.broadcast_to(targets, (*shape, 2)).reshape(-1, 2)
    starts = np.broadcast_to(starts, (*shape, len(chain))).reshape(-1, len(chain))
    angles, iterations = np.empty_like(starts), np.zeros(len(starts), np.int32)
    limit = chain.tolerance_or_default(tolerance)
    for i, point in enumerate(targets):
        angles[i], iterations[i] = _solve_one(chain, point, starts[i].tolist(), limit, max_iterations)
    return _solution(chain, angles, targets, iterations, limit, shape)


def solve_ccd_path(
    chain: Chain,
    targets: ArrayLike,
    *,
    start: ArrayLike,
    tolerance: float | None = None,
    max_iterations: int = MAX_ITERATIONS,
) -> Solution:
    """Solve targets that follow one another: each starts from the angles of the one before.

    targets: (frames, 2) relative to the root. start: (n,) angles for the first one.
    The rest as in solve_ccd.
    """
    points = checked_targets(targets)
    angles = checked_angles(chain, start, "start")
    if points.ndim != 2 or angles.ndim != 1:
        raise IK2DError("a path takes targets of shape (frames, 2) and one start of shape (n,)")
    limit = chain.tolerance_or_default(tolerance)
    solved, iterations = np.empty((len(points), len(chain))), np.zeros(len(points), np.int32)
    last = angles.tolist()
    for i, point in enumerate(points):
        last, iterations[i] = _solve_one(chain, point, last, limit, max_iterations)
        solved[i] = last
    return _solution(chain, solved, points, iterations, limit, (len(points),))


def _solve_one(
    chain: Chain, target: Floats, angles: list[float], tolerance: float, max_iterations: int
) -> tuple[list[float], int]:
    """Return the angles and the number of sweeps for one target."""
    x, y = target.tolist()
    status = Status(int(annulus_status(chain, target, tolerance)))
    if status != Status.REACHED:
        return _nearest_pose(chain, x, y, status, angles), 0
    lengths, undefined = chain.lengths.tolist(), UNDEFINED_ANGLE * chain.reach[1] ** 2
    if float(distances_to(chain, np.array(angles), target)) <= tolerance:
        return angles, 0  # there already: the pose of the frame before stays
    for iteration in range(1, max_iterations + 1):
        angles, result = _sweep(lengths, angles, x, y, tolerance, undefined)
        if result is not CCDResult.PROCESSING:
            return angles, iteration
    return angles, max_iterations


def _nearest_pose(chain: Chain, x: float, y: float, status: Status, start: list[float]) -> list[float]:
    """Return the pose nearest to a target off the annulus.

    Too far: all bones point at it. Too close: the longest bone points at it, and all others away,
    so that the tip comes back to the target's side at the inner reach.
    """
    # At the root itself, where every direction is as good, the chain keeps its own.
    direction = atan2(y, x) if x or y else start[0]
    longest = int(np.argmax(chain.lengths))
    headings = [
        direction if status == Status.TOO_FAR or i == longest else direction + pi for i in range(len(chain))
    ]
    return [_simplified(a - b) for a, b in zip(headings, [0.0, *headings[:-1]], strict=True)]


def _solution(
    chain: Chain,
    angles: Floats,
    targets: Floats,
    iterations: NDArray[np.int32],
    tolerance: float,
    shape: tuple[int, ...],
) -> Solution:
    """Judge flat rows of angles (m, n) by where they really put the tip; give them `shape`."""
    status = annulus_status(chain, targets, tolerance)
    residual = distances_to(chain, angles, targets)
    # Twice the tolerance: a tip that a sweep saw arrive must not fail for a rounding of forward().
    status[(status == Status.REACHED) & (residual > 2.0 * tolerance)] = Status.STALLED
    n = len(chain)
    return Solution(
        angles=angles.reshape(*shape, n),
        status=status.reshape(shape),
        residual=residual.reshape(shape),
        iterations=iterations.reshape(shape),
        limited=np.zeros((*shape, n), np.bool_),
    )
