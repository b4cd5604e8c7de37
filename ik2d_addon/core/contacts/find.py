# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts: the frames in which a point of a foot stands on the ground."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import IK2DError
from ..inputs import LONGEST, Floats, number
from .motion import Motion, motion_of
from .runs import Mask, runs

# A contact holds a step slower than the first share of the motion's typical speed, and all steps around it
# that are slower than the second. Between a crawl and a run both speeds grow with the motion.
SLOWEST, SLOW = 0.04, 0.1
# A foot that slides in all of its contacts, by up to the second share of the typical speed, is as slow there
# as in this part of its steps. Then it stands where it is slower than these times that.
OFTEN, SLIDING, CORE, AROUND = 0.15, 0.15, 1.2, 1.5
# Lengths of the leg a second: slower is standing, whatever the typical speed.
STANDING = 0.1
# Share of the lift of a point (the range of its heights, less their trend) that counts as up in the air.
RAISED = 0.3
# A slow run whose neighbours lie lower than this share of the lift is the top of a swing.
BELOW = 0.05
# Seconds over which a speed is taken where that is slower than the step alone: markers and keys jitter.
CALM = 0.1
# Seconds: shorter contacts are none, shorter gaps are closed, and a swing is looked at so far on each side.
SHORTEST, GAP, ASIDE = 0.06, 0.1, 0.1


def find_contacts(
    places: ArrayLike,
    times: ArrayLike,
    *,
    up: ArrayLike = (0.0, 0.0, 1.0),
    ground: ArrayLike | None = None,
    ground_velocity: ArrayLike = (0.0, 0.0, 0.0),
    size: float = 0.0,
    loop: bool = False,
) -> NDArray[np.bool_]:
    """Return a mask of contacts, (frames,) or (frames, points), from the path of one or more points.

    places: (frames, 3) or (frames, points, 3), in the world: ankles, or heels and toes. Give the feet of one
    character together: they share one typical speed, so a foot that stands throughout is seen to stand.
    times: (frames,), seconds, rising. up: the direction away from the ground. ground: its height along `up`,
    one number, (frames,), or one for each place; None where it is unknown. ground_velocity: (3,) or
    (frames, 3), units a second, of a ground that moves, such as the negative speed of a walk in place.
    size: the leg's length; with it a foot that only trembles stands. loop: whether the last frame is the
    first again, with or without travel; contacts then go on over the seam.

    A point is down while it is slow as seen from the ground. Slow is a share of the typical speed v of all
    points, whose weights are the speeds themselves, so long pauses do not count:

        v = sum(speed^2 dt) / sum(speed dt)

    Slow steps are those whose speed over a step, or over a tenth of a second around it, is low. A contact
    starts from its slowest steps and spreads to slow ones (hysteresis). Short gaps are closed if the point
    gets no farther than a slow one would, and short contacts are dropped. The slow top of a swing is told
    from a contact by the ground, or where that is unknown by its neighbours, which are lower; so slopes and
    stairs need no ground.

    >>> x = [0, 0, 0, 0, 0.1, 0.4, 0.7, 0.8, 0.8, 0.8, 0.8]
    >>> z = [0, 0, 0, 0, 0.1, 0.2, 0.1, 0, 0, 0, 0]
    >>> find_contacts(np.stack((x, np.zeros(11), z), axis=1), np.arange(11) / 24).astype(int)
    array([1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1])
    """
    motion, single = motion_of(places, times, up, ground, ground_velocity, loop)
    size = number(size, "size")
    if not 0.0 <= size <= LONGEST:
        raise IK2DError(f"size must be the leg's length, not negative, not {size}")
    contacts = _contacts(motion.unrolled(), size)[motion.middle] if motion.loop else _contacts(motion, size)
    return contacts[:, 0] if single else contacts


def _contacts(motion: Motion, size: float) -> Mask:
    """Return the mask (frames, points) of contacts."""
    steps = np.diff(motion.times)
    ways = np.linalg.norm(np.diff(motion.relative, axis=0), axis=2)
    speeds = ways / steps[:, None]
    typical = float((speeds * ways).sum() / ways.sum()) if ways.any() else 0.0
    standing = STANDING * size
    slowest, slow = max(SLOWEST * typical, 0.5 * standing), max(SLOW * typical, standing)
    sliding = SLIDING * typical
    mask = np.zeros(motion.places.shape[:2], bool)
    speeds = np.minimum(speeds, _calm_speeds(motion))
    for point, heights in enumerate(motion.heights.T):
        down, speed = _low(motion, heights), speeds[:, point]
        still = _spread(speed <= slowest, speed <= slow) & down[1:] & down[:-1]
        rest = speed[~still]
        if len(rest) and (least := float(np.quantile(rest, OFTEN))) <= sliding:
            near = _near_ground(motion, heights, still)
            core, around = near & (speed <= CORE * least), near & (speed <= max(slow, AROUND * least))
            still = _spread(core | still, around | still) & down[1:] & down[:-1]
        for first, end in _joined(motion, runs(still), motion.relative[:, point], slow):
            if _lasts(motion.times, first, end) and not _is_top(motion, heights, first, end):
                # Two contacts with a single fast step between them stay apart by a frame.
                mask[first + bool(first and mask[first - 1, point]) : end + 1, point] = True
    return mask


def _calm_speeds(motion: Motion) -> Floats:
    """Return the speed (frames - 1, points) around each step, from the ends of the time CALM."""
    times, path = motion.times, motion.relative
    middles, last = 0.5 * (times[1:] + times[:-1]), np.arange(1, len(times))
    half = 0.5 * CALM * (1.0 + 1e-6)
    first = np.minimum(np.searchsorted(times, middles - half), last - 1)
    end = np.maximum(np.searchsorted(times, middles + half, side="right") - 1, last)
    speeds: Floats = np.linalg.norm(path[end] - path[first], axis=2) / (times[end] - times[first])[:, None]
    return speeds


def _near_ground(motion: Motion, heights: Floats, still: Mask) -> Mask:
    """Return the steps of a point about as low as the still ones beside; all where there are none."""
    if not still.any():
        return np.ones_like(still)
    middles, low = 0.5 * (motion.times[1:] + motion.times[:-1]), 0.5 * (heights[1:] + heights[:-1])
    ground = np.interp(middles, middles[still], low[still])
    near: Mask = low <= ground + BELOW * _lift(motion.times, heights)
    return near


def _spread(core: Mask, around: Mask) -> Mask:
    """Return the runs of `around` that hold some of `core`."""
    spread = np.zeros_like(around)
    for first, end in runs(around):
        spread[first:end] = core[first:end].any()
    return spread


def _lift(times: Floats, heights: Floats) -> float:
    """Return the range of heights less their straight trend, which a slope or stairs have."""
    moments = times - times.mean()
    spread = (moments**2).sum()
    trend = (moments * (heights - heights.mean())).sum() / spread * moments if spread > 0.0 else 0.0
    return float(np.ptp(heights - trend))


def _low(motion: Motion, heights: Floats) -> Mask:
    """Return where a point (frames,) is near the known ground, as near as it ever comes to it."""
    if motion.ground is None:
        return np.ones(len(heights), bool)
    low: Mask = heights <= heights.min() + RAISED * np.ptp(heights)
    return low


def _joined(motion: Motion, still: list[tuple[int, int]], path: Floats, slow: float) -> list[tuple[int, int]]:
    """Return runs of steps with short gaps closed over which the point gets nowhere."""
    joined: list[tuple[int, int]] = []
    for first, end in still:
        if joined:
            before = joined[-1][1]
            gap = motion.times[first] - motion.times[before]
            if gap <= GAP and np.linalg.norm(path[first] - path[before]) <= slow * GAP:
                joined[-1] = (joined[-1][0], end)
                continue
        joined.append((first, end))
    return joined


def _lasts(times: Floats, first: int, end: int) -> bool:
    """Return whether a run of steps lasts long enough, or reaches an end of the motion."""
    return bool(times[end] - times[first] >= SHORTEST) or first == 0 or end == len(times) - 1


def _is_top(motion: Motion, heights: Floats, first: int, end: int) -> bool:
    """Return whether a slow run of steps is the top of a swing: the point comes from below and goes there."""
    if motion.ground is not None:
        return False
    times, middle = motion.times, float(np.median(heights[first : end + 1]))
    before = heights[:first][times[:first] >= times[first] - ASIDE]
    after = heights[end + 1 :][times[end + 1 :] <= times[end] + ASIDE]
    sides = [side for side in (before, after) if len(side)]
    bound = middle - BELOW * _lift(times, heights)
    return bool(sides) and all(side.mean() < bound for side in sides)
