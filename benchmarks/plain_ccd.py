# SPDX-License-Identifier: GPL-3.0-or-later
"""Plain cyclic coordinate descent in pure Python, as Ryan Juckett's article (2009) describes it.

Written here from the mathematics, on its own, so that the comparison does not run our code. What the
article leaves open is decided in its favour: the angle comes from atan2, which is exact where acos
is not, and it may give up only once no joint moves the tip by a hundredth of the tolerance.
"""

from collections.abc import Sequence
from math import atan2, cos, hypot, pi, sin

Limits = Sequence[tuple[float, float]]

# The part of the tolerance by which a joint must move the tip to count as moving.
TRIVIAL = 0.01


def solve(
    lengths: Sequence[float],
    start: Sequence[float],
    target: tuple[float, float],
    tolerance: float,
    iterations: int,
    limits: Limits | None = None,
) -> list[float]:
    """Iterate until the tip arrives, nothing moves any more, or the iterations are used up."""
    angles = list(start)
    for _ in range(iterations):
        if iterate(lengths, angles, target, tolerance, limits):
            break
    return angles


def iterate(
    lengths: Sequence[float],
    angles: list[float],
    target: tuple[float, float],
    tolerance: float,
    limits: Limits | None,
) -> bool:
    """Turn each joint in place, tip to root, once; return whether that was the last iteration."""
    joints = _joints(lengths, angles)
    (x, y), (tip_x, tip_y) = target, joints[-1]
    if hypot(x - tip_x, y - tip_y) <= tolerance:
        return True
    moved = False
    for i in range(len(angles) - 1, -1, -1):
        joint_x, joint_y = joints[i]
        arm_x, arm_y = tip_x - joint_x, tip_y - joint_y
        aim_x, aim_y = x - joint_x, y - joint_y
        turn = atan2(arm_x * aim_y - arm_y * aim_x, arm_x * aim_x + arm_y * aim_y)
        new = _simplified(angles[i] + turn)
        if limits:
            new = min(max(new, limits[i][0]), limits[i][1])
            turn = new - angles[i]
        c, s = cos(turn), sin(turn)
        tip_x, tip_y = joint_x + c * arm_x - s * arm_y, joint_y + s * arm_x + c * arm_y
        angles[i] = new
        if hypot(x - tip_x, y - tip_y) <= tolerance:
            return True
        moved = moved or abs(turn) * hypot(arm_x, arm_y) > TRIVIAL * tolerance
    return not moved


def _joints(lengths: Sequence[float], angles: Sequence[float]) -> list[tuple[float, float]]:
    x = y = heading = 0.0
    joints = [(x, y)]
    for length, angle in zip(lengths, angles, strict=True):
        heading += angle
        x, y = x + length * cos(heading), y + length * sin(heading)
        joints.append((x, y))
    return joints


def _simplified(angle: float) -> float:
    """Return the same direction within -pi..pi."""
    angle %= 2.0 * pi
    return angle - 2.0 * pi if angle > pi else angle
