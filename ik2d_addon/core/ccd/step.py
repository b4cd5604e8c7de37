# SPDX-License-Identifier: GPL-3.0-or-later
"""One iteration of cyclic coordinate descent, as in Ryan Juckett's article, for those who want it plain."""

from dataclasses import replace
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike

from ..chain import (
    Chain,
    checked_angles,
    checked_chain,
    checked_slides,
    checked_targets,
    in_reaches,
    joints_at,
    within_slides,
)
from ..errors import IK2DError
from ..inputs import Floats, whole_number, wrapped
from .sliding import coordinates, parted
from .sweep import CcdBones, sweep

# The tip counts as unmoved when each joint and each slide moves it by less than this part of the tolerance.
# With the tolerance itself, CCD would give up just before it arrives.
NO_MOTION = 0.01


class CCDResult(Enum):
    """The result of one iteration of CCD.

    >>> ccd_step(Chain([1.0, 1.0]), [0.0, 0.0], [0.0, 2.0], tolerance=1e-3)[1]
    <CCDResult.PROCESSING: 'PROCESSING'>
    """

    SUCCESS = "SUCCESS"
    """The tip is within the tolerance of the target."""
    PROCESSING = "PROCESSING"
    """The tip moved, but is not there yet."""
    FAILURE = "FAILURE"
    """No joint and no slide can bring the tip any nearer."""


def ccd_step(
    chain: Chain, angles: ArrayLike, target: ArrayLike, *, tolerance: float
) -> tuple[Floats, CCDResult]:
    """Turn each joint once, tip to root, so that the tip comes as near the target as it can.

    For joint j, tip e and target t the turn is the signed angle from e - j to t - j,

        tan(turn) = (e - j) x (t - j) / ((e - j) . (t - j))

    times the joint's weight, as a part of the greatest, and stops at the joint's limits.
    angles: (n,); target: (2,) relative to the root; tolerance: a length. Returns the new angles
    (n,), those that turned wrapped to [-pi, pi] where they are free, and a CCDResult. It stops at
    the joint that brings the tip within the tolerance. Raises IK2DError for other shapes and numbers.

    >>> angles, result = ccd_step(Chain([1.0, 1.0]), [0.0, 0.5], [0.0, 1.5], tolerance=1e-3)
    >>> np.degrees(angles).round(1), result.name
    (array([ 28.2, 123.7]), 'PROCESSING')
    """
    checked_chain(chain)
    if chain.is_sliding:
        raise IK2DError("ccd_step takes chains that do not slide; take ccd_slide_step")
    start, point = checked_angles(chain, angles), checked_targets(target)
    if start.ndim != 1 or point.ndim != 1:
        raise IK2DError("ccd_step takes the angles of one chain and one target")
    new, _, result = _step(chain, start, None, point, tolerance)
    return new, result


def ccd_slide_step(
    chain: Chain, angles: ArrayLike, slides: ArrayLike, target: ArrayLike, *, tolerance: float
) -> tuple[Floats, Floats, CCDResult]:
    """Slide each bone along itself and turn its joint, tip to root, so that the tip nears the target.

    For a bone of direction d, tip e and target t, the slide is the error's component along the bone,

        slide = (t - e) . d

    as far as its range allows; then its joint turns as in ccd_step, with which this is one where no bone
    slides. angles, slides: (n,); slides out of their range are cut to it first. It stops at the slide or turn
    that brings the tip within the tolerance. Returns the new angles (n,), the new slides (n,) and a
    CCDResult. The rest as in ccd_step.

    >>> crane = Chain([1.0, 1.0], slides=[[0.0, 0.0], [0.0, 1.0]])
    >>> angles, slides, result = ccd_slide_step(crane, [0.0, 0.0], [0.0, 0.0], [2.5, 0.0], tolerance=1e-3)
    >>> slides, result.name
    (array([0. , 0.5]), 'SUCCESS')
    """
    checked_chain(chain)
    start, point = checked_angles(chain, angles), checked_targets(target)
    held = within_slides(chain, checked_slides(chain, slides))
    if start.ndim != 1 or held.ndim != 1 or point.ndim != 1:
        raise IK2DError("ccd_slide_step takes the angles and slides of one chain and one target")
    new, slid, result = _step(chain, start, held if chain.is_sliding else None, point, tolerance)
    return new, held if slid is None else slid, result


def _step(
    chain: Chain, start: Floats, held: Floats | None, point: Floats, tolerance: float
) -> tuple[Floats, Floats | None, CCDResult]:
    """Return the pose and the result as ccd_slide_step does. held: the slides, None where none slide."""
    limit, outer = chain.tolerance_or_default(tolerance), chain.reach[1] or 1.0
    x, y = in_reaches(chain, point).tolist()
    pose = start if held is None else coordinates(chain, start, held)
    new, slid = parted(chain, np.array(sweep(CcdBones.of(chain), pose.tolist(), x, y, stop=limit / outer)))
    joints = joints_at(chain, new, slid)
    if np.hypot(*(joints[-1] - point)) <= limit:
        result = CCDResult.SUCCESS
    else:
        # A joint's distance to the tip is the same before its turn and after the whole sweep.
        moved = np.abs(new - start) * np.hypot(*(joints[-1] - joints[:-1]).T)
        if held is not None and slid is not None:
            moved = np.maximum(moved, np.abs(slid - held))
        result = CCDResult.PROCESSING if (moved > NO_MOTION * limit).any() else CCDResult.FAILURE
    return _wrapped_where_free(chain, new, start), slid, result


def _wrapped_where_free(chain: Chain, new: Floats, start: Floats) -> Floats:
    free = np.isinf(chain.ranges).all(axis=1)
    return np.where(free & (new != start), wrapped(new), new)


def ccd_joint(chain: Chain, angles: ArrayLike, target: ArrayLike, joint: int) -> Floats:
    """Turn one joint so that the tip comes as near to the target as this joint can bring it.

    It turns as in `ccd_step`: by its weight, as far as its limits. angles: (n,); target: (2,) relative
    to the root; joint: 0 for the root to n - 1. Returns the new angles (n,), that of the joint wrapped to
    [-pi, pi] if it turned and is free. Raises IK2DError for other shapes and numbers.

    >>> np.degrees(ccd_joint(Chain([1.0, 1.0]), [0.0, 0.0], [1.0, 1.0], joint=1)).round(1)
    array([ 0., 90.])
    """
    checked_chain(chain)
    if chain.is_sliding:
        raise IK2DError("ccd_joint takes chains that do not slide; take ccd_slide_step")
    start, point = checked_angles(chain, angles), checked_targets(target)
    if start.ndim != 1 or point.ndim != 1:
        raise IK2DError("ccd_joint takes the angles of one chain and one target")
    joint = whole_number(joint, "joint", 0, len(chain) - 1)
    x, y = in_reaches(chain, point).tolist()
    bones, held = CcdBones.of(chain), [i != joint for i in range(len(chain))]
    alone = replace(
        bones,
        weights=[0.0 if other else weight for other, weight in zip(held, bones.weights, strict=True)],
        low=[-np.inf if other else low for other, low in zip(held, bones.low, strict=True)],
        high=[np.inf if other else high for other, high in zip(held, bones.high, strict=True)],
    )
    return _wrapped_where_free(chain, np.array(sweep(alone, start.tolist(), x, y)), start)
