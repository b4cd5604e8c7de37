# SPDX-License-Identifier: GPL-3.0-or-later
"""The ground under a foot: a level, or a surface cut along the foot."""

import numpy as np

from ..inputs import Floats


def section(triangles: Floats, point: Floats, ahead: Floats, up: Floats) -> Floats:
    """Return the segments (k, 2, 2) in which a surface meets the upright plane through a foot.

    triangles: (m, 3, 3); point: (3,) of the plane; ahead, up: (3,) unit vectors across one another, both in
    the plane. A segment's ends are (distance ahead of the point, height over it), the nearer end first.
    """
    across = np.cross(ahead, up)
    offsets = triangles - point
    sides = offsets @ across  # (m, 3)
    cut = (sides.min(axis=1) <= 0.0) & (sides.max(axis=1) >= 0.0)
    offsets, sides = offsets[cut], sides[cut]
    flat = np.stack((offsets @ ahead, offsets @ up), axis=-1)  # (k, 3, 2)
    ends = np.full((len(flat), 3, 2), np.nan)
    for edge in range(3):
        start, other = edge, (edge + 1) % 3
        gap = sides[:, start] - sides[:, other]
        crossing = sides[:, start] * sides[:, other] <= 0.0
        with np.errstate(all="ignore"):
            share = np.where(gap != 0.0, sides[:, start] / gap, np.nan)[:, None]
        meets = (1.0 - share) * flat[:, start] + share * flat[:, other]
        ends[:, edge] = np.where(crossing[:, None], meets, np.nan)
    # A triangle within the plane, or an edge in it, counts with its corners.
    lying = (sides == 0.0)[..., None]
    points = np.concatenate((ends, np.where(lying, flat, np.nan)), axis=1)
    known = np.isfinite(points).all(axis=-1).sum(axis=1) > 1
    points = points[known]
    rows = np.arange(len(points))
    low, high = (
        points[rows, choose(np.where(np.isnan(points[..., 0]), fill, points[..., 0]), axis=1)]
        for choose, fill in ((np.argmin, np.inf), (np.argmax, -np.inf))
    )
    segments: Floats = np.stack((low, high), axis=1)
    return segments


def lifts(sole: Floats, segments: Floats) -> float:
    """Return how far a sole has to be lifted so that no point of it is below a surface; 0 for nothing.

    sole: (p, 2) its points, in turn; segments: (k, 2, 2) as `section` returns them. Both are straight
    between their points, so the deepest place is at one of these.
    """
    if not len(segments):
        return 0.0
    lift = 0.0
    for one, other in zip(sole[:-1], sole[1:], strict=True):
        first, last = (one, other) if one[0] <= other[0] else (other, one)
        left = np.maximum(segments[:, 0, 0], first[0])
        right = np.minimum(segments[:, 1, 0], last[0])
        meets = left <= right
        for at in (left[meets], right[meets]):
            over = _height(segments[meets], at) - _height_of(first, last, at)
            lift = max(lift, float(over.max(initial=0.0)))
    return lift


def _height(segments: Floats, at: Floats) -> Floats:
    """Return the heights (k,) of segments at distances ahead (k,); the upper end of an upright one."""
    (x0, y0), (x1, y1) = np.moveaxis(segments, (1, 2), (0, 1))
    with np.errstate(all="ignore"):
        share = np.where(x1 > x0, (at - x0) / (x1 - x0), 0.0)
    height: Floats = np.where(x1 > x0, y0 + share * (y1 - y0), np.maximum(y0, y1))
    return height


def _height_of(first: Floats, last: Floats, at: Floats) -> Floats:
    """Return the heights (k,) of a line at distances ahead (k,); the lower end of an upright one."""
    width = last[0] - first[0]
    if width <= 0.0:
        return np.full(len(at), min(first[1], last[1]))
    height: Floats = first[1] + (at - first[0]) / width * (last[1] - first[1])
    return height
