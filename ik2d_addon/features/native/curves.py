# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys on a driver's F-Curve: the property is then the curve at what the driver's expression comes to."""

import bpy
import numpy as np

from ...core.inputs import Floats


def handles(places: Floats, values: Floats) -> Floats:
    """Return keys (k + 1, 4) of pieces that are cubics: place, value, left handle's value, right handle's.

    places: (k + 1,) rising. values: (k, 4) at each piece's start, a third and two thirds on, and at its end.
    A handle stands a third of the way to the neighbour, so that the place is linear along the piece.
    """
    first, third, second, last = values.T
    keys = np.empty((len(places), 4))
    keys[:, 0] = places
    keys[:-1, 1], keys[-1, 1] = first, last[-1]
    keys[1:, 2] = (2.0 * first - 9.0 * third + 18.0 * second - 5.0 * last) / 6.0
    keys[:-1, 3] = (-5.0 * first + 18.0 * third - 9.0 * second + 2.0 * last) / 6.0
    keys[0, 2], keys[-1, 3] = keys[0, 1], keys[-1, 1]
    return keys


def write_keys(curve: bpy.types.FCurve, keys: Floats) -> None:
    """Give an F-Curve keys (k, 4) as `handles` has them, and no others; beyond the ends it stays constant."""
    places, values, left, right = keys.T
    ways = np.diff(places, prepend=places[0], append=places[-1]) / 3.0
    points = curve.keyframe_points
    points.clear()
    points.add(len(keys))
    for _ in range(2):  # until the handles are free, Blender moves them as it likes
        for name, place, value in (
            ("co", places, values),
            ("handle_left", places - ways[:-1], left),
            ("handle_right", places + ways[1:], right),
        ):
            points.foreach_set(name, np.stack((place, value), axis=1).astype(np.float32).ravel())
        for point in points:
            point.interpolation = 'BEZIER'
            point.handle_left_type = point.handle_right_type = 'FREE'
    curve.extrapolation = 'CONSTANT'
