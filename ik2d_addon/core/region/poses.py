# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses for points of a set, near the angles of another pose where there is a choice."""

import numpy as np

from ..inputs import Floats
from .elements import EPS, Indices, Points, near
from .sets import Sets

# The distance of a pose from the ends of a joint's possible interval, as a part of it; the second where
# rounding spoils the first.
INSETS = 0.25, 0.5
# A pose has arrived when its tip is no farther off than this (the reach is 1).
ARRIVED = 1e-11


def of_elements(sets: Sets, k: int, which: Indices, normals: Floats, like: Floats) -> Floats:
    """Return the angles (b, n - k) of joints k and on that put the tip on elements of F(k) at normals.

    like: (b, n) the angles to be near to.
    """
    angles = np.empty((len(which), len(sets) - k))
    for joint in range(k, len(sets)):
        level = sets.elements[joint]
        angles[:, joint - k], normals = level.before(which, normals, _like(sets, joint, like))
        which = level.parent[which]
    return angles


def reaching(sets: Sets, points: Points, like: Floats) -> Floats:
    """Return poses (b, n) that reach points (b,) of F(0), each joint near to `like` (b, n) in turn."""
    angles = np.empty((len(points), len(sets)))
    left = np.arange(len(points))
    for inset in INSETS:
        angles[left] = _descended(sets, points[left], like[left], inset)
        left = left[np.abs(sets.tips(angles[left]) - points[left]) > ARRIVED]
    for row in left:
        angles[row] = _by_a_boundary(sets, points[row : row + 1], like[row : row + 1])
    return angles


def _like(sets: Sets, joint: int, like: Floats) -> Floats:
    """Return the wanted angles of a joint, for a free joint within half a turn of zero."""
    wanted: Floats = like[:, joint]
    return near(wanted, np.zeros(1)) if sets.free[joint] else wanted


def _descended(sets: Sets, points: Points, like: Floats, inset: float) -> Floats:
    """Return poses that reach points of F(0), found joint by joint from the root."""
    n = len(sets)
    angles, rows, seen = np.empty((len(points), n)), np.arange(len(points)), points
    for k in range(n - 1):
        angle = _possible(sets, k, seen, like[rows], inset)
        lost = np.isnan(angle)  # by rounding, so close to the boundary that its own pose will do
        if lost.any():
            _, which, normals = sets.elements[k].nearest(seen[lost])
            angles[rows[lost], k:] = of_elements(sets, k, which, normals, like[rows[lost]])
            rows, seen, angle = rows[~lost], seen[~lost], angle[~lost]
        angles[rows, k] = angle
        seen = sets.seen(k, seen, angle)
    angles[rows, -1] = sets.towards(n - 1, seen)
    return angles


def _possible(sets: Sets, k: int, points: Points, like: Floats, inset: float) -> Floats:
    """Return angles (b,) of joint k after which the others reach points (b,) of F(k); NaN: none found.

    From the interval nearest to `like`, off its ends: there the next joints would have no choice.
    """
    low, high = sets.low[k], sets.high[k]
    r, place = sets.ways[k].of_points(points)
    row, start, length = sets.ways[k].stretches(r)
    slack = 4.0 * EPS
    first = low - slack + np.remainder(place[row] - start - length - low + slack, 2.0 * np.pi)
    row, first, length = np.tile(row, 2), np.append(first, first - 2.0 * np.pi), np.tile(length, 2)
    last = np.minimum(first + length, high)
    first = np.maximum(first, low)
    some = last >= first - 2.0 * slack
    row, first, last = row[some], first[some], last[some]
    wanted = _like(sets, k, like)[row]
    margin = inset * (last - first)
    angle = np.clip(wanted, first + margin, np.maximum(last - margin, first))
    order = np.lexsort((-np.abs(angle - wanted), row))
    chosen = np.full(len(points), np.nan)
    chosen[row[order]] = np.clip(angle[order], low, high)  # of a row the last one stays: the nearest
    return chosen


def _by_a_boundary(sets: Sets, point: Points, like: Floats) -> Floats:
    """Return the moves (m,) to one point (1,): those at the middle, until one meets a boundary."""
    moves = sets.middle
    for k, ways in enumerate(sets.ways):
        corners = sets.elements[k + 1].centre[sets.elements[k + 1].radius == 0.0] + sets.lengths[k]
        (r, place), (corners_r, corners_place) = ways.of_points(point), ways.of_points(corners)
        met = corners_place[np.abs(corners_r - r) <= 4.0 * EPS]
        nearest = near(place - np.append(ways.crossings(r)[2], met), moves[k : k + 1])
        beyond = np.maximum(sets.low[k] - nearest, nearest - sets.high[k])
        if beyond.min(initial=np.inf) <= 4.0 * EPS:
            moves[k] = np.clip(nearest[beyond.argmin()], sets.low[k], sets.high[k])
            point = sets.seen(k, point, moves[k])
            _, which, normals = sets.elements[k + 1].nearest(point)
            moves[k + 1 :] = of_elements(sets, k + 1, which, normals, like)[0]
            break
        point = sets.seen(k, point, moves[k])
    return moves
