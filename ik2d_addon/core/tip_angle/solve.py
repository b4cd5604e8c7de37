# SPDX-License-Identifier: GPL-3.0-or-later
"""The solver of a tip with an angle: tip on target, last bone on its heading, and the least bend of that."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..chain import Chain, in_reaches
from ..inputs import Floats
from ..solution import Solution
from .arm import ALIKE, ON_TARGET, Arm, headings_off
from .backwards import least_bend
from .nearest import nearest
from .request import PoseRequest, PoseRows
from .sheet import Side, sheet_of
from .short import poses_of
from .springs import Goal

# A free root is solved backwards for as many targets at once, and where the other side than at rest is asked
# for; the sheet is quicker for fewer.
MANY = 5


def solve_pose(
    chain: Chain,
    target: ArrayLike,
    angle: ArrayLike,
    *,
    bend: ArrayLike = 1,
    rest: ArrayLike | None = None,
    root_weight: float | None = None,
    tolerance: float | None = None,
    softness: ArrayLike = 0.0,
    angle_first: bool = False,
) -> Solution:
    """Return the pose of least bend with the tip on its target and the last bone at an angle.

    A force and a moment at the tip hold that pose (springs.py): the least of the poses that tables of such
    lead to (sheet.py). Many targets of a chain whose first joint turns freely are solved with the chain
    walked backwards from its last bone (backwards.py). Two bones, and two with a hand, are a list of
    triangles (short.py). That no pose has both is proven where a test of positions says so (proofs.py), as
    it always does where the first joint turns freely; elsewhere `unproven` says that none was found.
    Where both cannot be had the tip comes first, and the last bone is at the nearest angle found for it
    there: ANGLE. angle_first: the angle comes first, and the tip as near to its target as that allows.

    target: (..., 2) relative to the root. angle: (...) radians, the last bone's heading from the x axis.
    bend: +1 or -1 (...), the side that the joints between the first bone and the last bend to: +1 is that
    of a bent rest, and of a straight one the positive. Two bones take the side with the nearer angle.
    rest: (n,) angles from which bend is counted; None: straight. root_weight: of the first joint's turn in
    the bend; None: it costs nothing. tolerance, softness: as of `solve_even`. The solution's `angle_error`
    (...) is in radians, 0 to pi.
    Raises IK2DError for one bone, bones that slide, other shapes and numbers.

    >>> solution = solve_pose(Chain([1.0, 1.0, 0.5]), [1.0, 1.0], np.radians(-90), bend=-1)
    >>> np.degrees(solution.angles).round(1), bool(solution.reached)
    (array([  82. ,  -51.3, -120.7]), True)
    """
    named: dict[str, Any] = {"bend": bend, "rest": rest, "root_weight": root_weight, "tolerance": tolerance}
    asked = PoseRequest.checked(chain, target, angle, softness=softness, angle_first=angle_first, **named)
    return alone(asked)


def alone(asked: PoseRequest) -> Solution:
    """Return the solution of all targets, each by itself."""
    return asked.solution(posed(asked))


def posed(asked: PoseRequest) -> PoseRows:
    """Return the poses for all targets, each by itself."""
    chain, m, n = asked.chain, len(asked.aims), len(asked.chain)
    if m == 0 or chain.reach[1] == 0.0:
        return PoseRows(np.array(np.broadcast_to(asked.rest, (m, n))))
    arm, points = asked.arm, in_reaches(chain, asked.aims)
    sides = asked.sides * arm.own_side
    if len(arm) <= 3:
        within = [arm.within(pose) for pose in poses_of(arm, points, asked.headings, asked.angle_first)]
        return PoseRows(_chosen(arm, within, points, asked.headings, sides, asked.angle_first))
    asks_side = any(side_of(arm, side).asked for side in set(sides.tolist()))
    if arm.free_root and arm.root_turns and (m >= MANY or asks_side):
        poses = least_bend(arm, points, asked.headings, sides, asked.angle_first)
        return PoseRows(arm.within(poses), np.zeros(m, np.bool_))
    sheet, poses, unproven = sheet_of(arm), np.empty((m, n)), np.zeros(m, np.bool_)
    for row, (point, heading, side) in enumerate(zip(points, asked.headings.tolist(), sides, strict=True)):
        x, y = point.tolist()
        goal = Goal(x, y, heading)
        pose = sheet.least(goal, side_of(arm, float(side)))
        if pose is not None:
            poses[row] = pose.angles
        elif not asked.angle_first and not arm.region.contains(point):
            poses[row] = arm.rest  # another solver brings the tip as near as it gets
        else:
            poses[row] = nearest(sheet, goal, asked.angle_first)
            unproven[row] = sheet.springs.off(poses[row].tolist(), goal) > ON_TARGET and not (
                sheet.is_forbidden(goal) or sheet.proofs.forbidden_by_arc(point, heading)
            )
    return PoseRows(arm.within(poses), unproven)


def side_of(arm: Arm, side: float) -> Side:
    """Return the side that an arm is to bend to: the other one than at rest wherever that has both."""
    is_bent = bool((np.abs(arm.rest[1:-1]) > 1e-4).any())
    return Side(side, side if is_bent and side != arm.own_side else 0.0)


def _chosen(
    arm: Arm,
    tries: list[Floats],
    points: Floats,
    wanted: Floats,
    sides: Floats,
    angle_first: bool,
) -> Floats:
    """Return the best of poses (m, n) for each row.

    Tip, heading, side and bend count in this order, or the heading before the tip: the later ones between
    those that are alike in the earlier.
    """
    poses = np.stack(tries)  # (k, m, n)
    count, m, n = poses.shape
    flat, every = poses.reshape(-1, n), np.tile(np.arange(m), count)
    misses = arm.misses(flat, points[every]).reshape(count, m)
    off = headings_off(flat, wanted[every]).reshape(count, m)
    inner = flat[:, 1:-1] if n > 2 else flat[:, 1:]
    other_side = (inner.sum(axis=1) * sides[every] < -ON_TARGET).reshape(count, m)
    bend = arm.bend(flat).reshape(count, m)
    left = np.ones((count, m), np.bool_)
    for measure in (*((off, misses) if angle_first else (misses, off)), other_side.astype(float), bend):
        least = np.where(left, measure, np.inf).min(axis=0)
        left &= measure <= least + ALIKE
    chosen: Floats = poses[left.argmax(axis=0), np.arange(m)]
    return chosen
