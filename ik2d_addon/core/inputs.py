# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of a caller's input: numbers, and finite ones."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import IK2DError

Floats = NDArray[np.float64]

# Greater lengths and distances are no use to anyone, and their sums overflow; a chain that is shorter, but
# not zero, has no digits left for its tolerance.
LONGEST, SHORTEST = 1e300, 1e-290
# A greater angle (radians) has no digits left for the finest turns: its last one is worth 1e-10 here.
LARGEST_ANGLE = 1e6


def floats(values: ArrayLike, name: str) -> Floats:
    """Return `values` as an array of floats; raise IK2DError where they are no numbers."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise IK2DError(f"{name} must be numbers: {error}") from None


def finite_floats(values: ArrayLike, name: str) -> Floats:
    """Return `values` as an array of floats; raise IK2DError naming the first that is not finite."""
    array = floats(values, name)
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise IK2DError(f"{name} must be finite numbers; at {list(where)} it is {array[where]}")
    return array


def floats_within(values: ArrayLike, name: str, most: float, units: str = "") -> Floats:
    """Return `values` as an array of floats; raise IK2DError naming the first that is not in -most..most."""
    array = floats(values, name)
    if not np.abs(array).max(initial=0.0) <= most:
        finite_floats(array, name)
        where = tuple(int(i) for i in np.argwhere(np.abs(array) > most)[0])
        raise IK2DError(f"{name} must not exceed {most:g}{units}; at {list(where)} it is {array[where]}")
    return array


def frozen(array: Floats) -> Floats:
    """Return a read-only copy."""
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def wrapped(angles: Floats) -> Floats:
    """Return the same rotations in [-pi, pi]; angles that are already there stay as they are."""
    inside = np.abs(angles) <= np.pi
    return np.where(inside, angles, np.remainder(angles + np.pi, 2.0 * np.pi) - np.pi)


def unwrapped(angles: Floats) -> Floats:
    """Return the same rotations (frames, n), each number as near as whole turns allow to the one before.

    The numbers are those of numpy's `unwrap`, which takes as long for columns without a jump.
    """
    if len(angles) < 2:
        return angles.copy()
    steps = np.abs(np.diff(angles, axis=0))
    jumps = ~(steps.max(axis=0) < np.pi)
    found = np.array(angles)  # in the same order in memory
    if jumps.any():
        found[:, jumps] = np.unwrap(angles[:, jumps], axis=0)
    return found


def checked_bend(bend: ArrayLike) -> Floats:
    """Return bend sides (...) as floats; raise IK2DError where one is neither +1 nor -1."""
    sides = finite_floats(bend, "bend")
    if not (np.abs(sides) == 1.0).all():
        raise IK2DError(f"bend must be +1 or -1, not {sides[np.abs(sides) != 1.0].flat[0]}")
    return sides
