# SPDX-License-Identifier: GPL-3.0-or-later
"""The shapes of the overlay, as arrays: pieces of lines and triangles in a chain's plane. No Blender here.

A piece of line is a pair of points, a triangle three: arrays (m, 2, 2) and (m, 3, 2).
"""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The greatest angle (radians) of one straight piece of a circle.
STEP = math.radians(4.0)
# Lines of the grid on each side of the root, about.
_GRID = 5
# The angle (radians) from one stroke of a hatched band to the next.
_HATCH = math.radians(5.0)
# The same where its inner edge is the origin, at which all strokes meet.
_SPOKES = math.radians(20.0)
# A dashed line has no more dashes than these, however long it is.
_MOST_DASHES = 60


def pieces(points: Floats) -> Floats:
    """Return the pieces (m - 1, 2, k) of a line through points (m, k)."""
    return np.stack((points[:-1], points[1:]), axis=1)


def spanned(flat: Floats, centre: Floats, x: Floats, y: Floats) -> Floats:
    """Return points (..., 2) in a plane through a centre (3,) with axes x and y (3,), (..., 3)."""
    return centre + flat[..., :1] * x + flat[..., 1:] * y


def around(directions: Floats, radius: float) -> Floats:
    """Return the points (m, 2) at a distance from the origin in directions (m,) radians."""
    return radius * np.stack((np.cos(directions), np.sin(directions)), axis=-1)


def arc(radius: float, start: float = 0.0, end: float = 2.0 * math.pi) -> Floats:
    """Return points (m, 2) along an arc about the origin, a full circle for a turn or more."""
    end = min(end, start + 2.0 * math.pi)
    return around(np.linspace(start, end, 2 + int((end - start) / STEP)), radius)


def disc(radius: float) -> Floats:
    """Return the triangles (m, 3, 2) of a disc about the origin."""
    return sector(np.zeros(2), radius, 0.0, 2.0 * math.pi)


def sector(centre: Floats, radius: float, start: float, end: float) -> Floats:
    """Return the triangles (m, 3, 2) of a slice of a disc, between two directions in radians."""
    edge = pieces(centre + arc(radius, start, end))
    return np.concatenate((np.broadcast_to(centre, (len(edge), 1, 2)), edge), axis=1)


def grid(radius: float) -> Floats:
    """Return the lines (m, 2, 2) of a square grid about the origin, cut off at a circle.

    Its step is 1, 2 or 5 times a power of ten.
    """
    if radius <= 0.0:
        return np.zeros((0, 2, 2))
    step = round_step(radius / _GRID)
    count = int(radius / step * (1.0 - 1e-9))
    places = step * np.arange(-count, count + 1)
    half = np.sqrt(np.maximum(radius * radius - places * places, 0.0))
    upright = np.stack((np.stack((places, -half), 1), np.stack((places, half), 1)), axis=1)
    return np.concatenate((upright, upright[..., ::-1]))


def round_step(length: float) -> float:
    """Return the nearest length, by ratio, that is 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(length))
    return min(
        (power * digit for digit in (1.0, 2.0, 5.0, 10.0)), key=lambda step: abs(math.log(step / length))
    )


def band(low: float, high: float) -> tuple[Floats, Floats]:
    """Return the triangles (m, 3, 2) of a ring about the origin, and slanted strokes across it (k, 2, 2)."""
    inner, outer = pieces(arc(low)), pieces(arc(high))
    first = np.stack((inner[:, 0], outer[:, 0], outer[:, 1]), axis=1)
    second = np.stack((inner[:, 0], outer[:, 1], inner[:, 1]), axis=1)
    step = _HATCH if low > 0.0 else _SPOKES
    turns = np.arange(0.0, 2.0 * math.pi - 0.5 * step, step)
    strokes = np.stack((around(turns, low), around(turns + 0.5 * step, high)), axis=1)
    return np.concatenate((first, second)), strokes


def fan(centre: Floats, radius: float, low: float, high: float) -> tuple[Floats, Floats]:
    """Return the triangles (m, 3, 2) of a joint's range (radians) and its outline (k, 2, 2)."""
    edge = centre + arc(radius, low, high)
    outline = pieces(edge)
    if high - low < 2.0 * math.pi:
        outline = pieces(np.concatenate((centre[np.newaxis], edge, centre[np.newaxis])))
    return sector(centre, radius, low, high), outline


def needle(centre: Floats, radius: float, direction: float, stopped: bool) -> Floats:
    """Return the pieces (m, 2, 2) of a needle, with a bar across its end if it is stopped."""
    ahead = around(np.array(direction), 1.0)
    end = centre + radius * ahead
    lines = [np.stack((centre, end))]
    if stopped:
        aside = 0.2 * radius * np.array((-ahead[1], ahead[0]))
        lines.append(np.stack((end - aside, end + aside)))
    return np.array(lines)


def arrow(start: Floats, end: Floats) -> tuple[Floats, Floats]:
    """Return the head (1, 3, 2) and the shaft (1, 2, 2) of an arrow between two points (2,)."""
    way = end - start
    aside = np.array((-way[1], way[0]))
    neck = start + 0.6 * way
    return np.array([(end, neck + 0.22 * aside, neck - 0.22 * aside)]), np.array([(start, neck)])


def dashes(start: Floats, end: Floats, length: float, part: float = 0.6) -> Floats:
    """Return the dashes (m, 2, k) of a line between two points (k,), each about so long with its gap.

    part: the share of a dash in that. The line begins and ends with a dash.
    """
    distance = float(np.linalg.norm(end - start))
    count = max(1, min(_MOST_DASHES, round(distance / length) if length > 0.0 else 1))
    whole = 1.0 / (count - 1 + part)
    starts = whole * np.arange(count)
    parts = np.stack((starts, starts + part * whole), axis=1)
    return start + parts[..., np.newaxis] * (end - start)


def crosses(points: Floats, x: Floats, y: Floats) -> Floats:
    """Return the strokes (2 m, 2, k) of crosses at points (m, k); x and y (k,) go from one to its sides."""
    strokes = [np.stack((points - way, points + way), axis=1) for way in (x + y, x - y)]
    return np.concatenate(strokes)


def ticks(points: Floats, normal: Floats, size: float) -> Floats:
    """Return a stroke (m, 2, 3) across a line through points (m, 3) at each of these, in a plane.

    size: half of a stroke's length. Where the line does not move, its stroke has no length.
    """
    ways = np.gradient(points, axis=0) if len(points) > 1 else np.zeros_like(points)
    across = np.cross(normal, ways)
    lengths = np.linalg.norm(across, axis=1, keepdims=True)
    across = size * np.divide(across, lengths, out=np.zeros_like(across), where=lengths > 0.0)
    return np.stack((points - across, points + across), axis=1)


def bend_arrow(joints: Floats, bend: float, reach: float) -> tuple[Floats, Floats] | None:
    """Return the start and the end (2,) of the arrow to the side of the bend; None for one bone.

    joints: (n + 1, 2). The arrow is near the middle joint, at right angles to the line from root to tip: a
    chain that bends to the positive side turns left at its joints, so these lie right of that line.
    """
    if len(joints) < 3 or reach <= 0.0:
        return None
    chord = joints[-1] - joints[0]
    if float(np.linalg.norm(chord)) <= 1e-6 * reach:  # folded: at right angles to the first bone
        chord = joints[1] - joints[0]
    size = float(np.linalg.norm(chord))
    if size == 0.0:
        return None
    side = bend * np.array((chord[1], -chord[0])) / size
    middle = joints[len(joints) // 2]
    return middle + 0.1 * reach * side, middle + 0.26 * reach * side
